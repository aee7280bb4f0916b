//! No fetch, prune or forced refspec takes a fact or lifts a halt.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::Stage;
use crate::sync::{GREEN, RED, hub, iterate, notes, refs, root, sync};

/// The line that pages of older versions had.
const OLD: [&str; 2] = ["+refs/notes/andon*:refs/notes/andon*", "+refs/andon/*:refs/andon/*"];

fn halt(stage: &Stage) {
    for number in 1..4 {
        iterate(stage, stage.dir(), &format!("{number}\n"), RED, &format!("Try {number}")).ok();
    }
    stage.andon(&["status"]).ok().says("HALTED");
}

fn ledger(stage: &Stage) -> String {
    let found = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    found.lines().next().unwrap().to_owned()
}

#[test]
fn what_a_fetch_overwrites_or_prunes_is_put_back() {
    let mirror = ["+refs/*:refs/copies/*", "+refs/notes/*:refs/notes/*", "refs/andon/*:refs/andon/*"];
    for (specs, prune, sent) in [
        (&OLD[..], "true", "nothing"),
        (&OLD[..], "true", "records"),
        (&OLD[..], "false", "all but the halt"),
        (&OLD[..], "true", "all but the halt"),
        (&mirror[..], "true", "nothing"),
    ] {
        let how = format!("{specs:?}, prune {prune}, sent {sent}");
        let (stage, hub) = hub();
        if sent == "all but the halt" {
            // A ledger that the remote has in part: a halt that was answered.
            stage.steps("andon pause; andon resume --reason looked");
        }
        if sent != "nothing" {
            sync(&stage, stage.dir()).ok();
            if sent == "all but the halt" {
                // As plain git pushes notes.
                stage.git(&["push", "-q", "origin", "refs/notes/andon"]).ok();
            }
        }
        halt(&stage);
        let before = refs(&stage, stage.dir());
        let shown =
            stage.andon(&["status"]).ok().stdout.split("HALTED").next().unwrap().to_owned() + "HALTED";
        stage.git(&["config", "fetch.prune", prune]).ok();
        stage.git(&[&["fetch", "-q", "origin"], specs].concat()).ok();
        assert_ne!(refs(&stage, stage.dir()), before, "{how}");
        assert!(hub.exists());
        stage.andon(&["status"]).ok().says(&shown);
        assert_eq!(refs(&stage, stage.dir()), before, "{how}");
        stage.git(&[&["fetch", "-q", "origin"], specs].concat()).ok();
        iterate(&stage, stage.dir(), "on\n", GREEN, "On").refused();
        assert_eq!(refs(&stage, stage.dir()), before, "{how}");
        // An answer is a fact too: a ledger without it halts nobody again.
        stage.andon(&["resume", "--reason", "looked"]).ok();
        stage.git(&[&["fetch", "-q", "origin"], specs].concat()).ok();
        iterate(&stage, stage.dir(), "on\n", GREEN, "On").ok();
        assert_eq!(notes(&stage, stage.dir()).lines().count(), 5, "{how}");
        stage.andon(&["check", "HEAD~1..HEAD"]).lacks("missing-ledger").lacks("no record");
    }
}

#[test]
fn a_halt_stands_by_its_trace_where_nothing_can_be_put_back() {
    for gone in [&[".git/andon/cache"][..], &[".git/andon/cache", ".git/andon/written"], &[]] {
        let (stage, _) = hub();
        halt(&stage);
        stage.git(&["config", "fetch.prune", "true"]).ok();
        stage.git(&[&["fetch", "-q", "origin"], &OLD[..]].concat()).ok();
        stage.git(&["gc", "-q", "--prune=now"]).ok();
        for path in gone {
            std::fs::remove_dir_all(stage.path(path)).unwrap();
        }
        stage.andon(&["status"]).ok().says("HALTED");
        stage.andon(&["status", "--line"]).ok().says("HALTED");
        iterate(&stage, stage.dir(), "on\n", GREEN, "On").refused();
        stage.andon(&["resume", "--reason", "looked"]).ok();
        iterate(&stage, stage.dir(), "on\n", GREEN, "On").ok();
    }
}

/// Deletes what is ours of the refs, and the files of `.git/andon` that are named.
fn take_away(stage: &Stage, files: &[&str]) {
    for line in refs(stage, stage.dir()).lines().filter(|line| line.starts_with("refs/")) {
        stage.git(&["update-ref", "-d", line.split(' ').next().unwrap()]).ok();
    }
    stage.git(&["update-ref", "-d", "refs/notes/andon"]).ok();
    for file in files {
        remove(stage, &format!(".git/andon/{file}"));
    }
}

fn remove(stage: &Stage, path: &str) {
    let path = stage.path(path);
    if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
}

#[test]
fn every_door_puts_back_what_was_taken_away() {
    type Door = fn(&Stage);
    let doors: [(&str, Door); 6] = [
        ("check", |stage| drop(stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("open-halt"))),
        ("status", |stage| drop(stage.andon(&["status"]).ok().says("Loop 4/100  HALTED"))),
        ("off", |stage| {
            stage.set("ANDON", "0");
            stage.andon(&["status"]).ok().says("Loop 4/100").says("not answered yet");
            stage.unset("ANDON");
        }),
        ("complete", |stage| drop(stage.andon(&["complete"]).refused().says("repeated-failures"))),
        ("push", |stage| drop(stage.git(&["push", "-q", "origin", "HEAD:refs/heads/x"]).refused())),
        ("commit", |stage| drop(iterate(stage, stage.dir(), "on\n", GREEN, "On").refused())),
    ];
    for (door, open) in doors {
        for files in [&[][..], &["written"], &["written", "cache/results"]] {
            let (stage, _) = hub();
            halt(&stage);
            let before = refs(&stage, stage.dir());
            take_away(&stage, files);
            open(&stage);
            assert_eq!(refs(&stage, stage.dir()), before, "{door} without {files:?}");
        }
    }
}

#[test]
fn looking_from_a_clone_without_hooks_writes_nothing() {
    let (stage, _) = hub();
    halt(&stage);
    let root = root(&stage);
    stage.git_in(&root, &["clone", "-q", "--no-local", stage.dir().to_str().unwrap(), "plain"]).ok();
    let plain = root.join("plain");
    stage.git_in(&plain, &["fetch", "-q", "origin", "refs/notes/andon:refs/notes/andon"]).ok();
    let before = refs(&stage, &plain);
    stage.andon_in(&plain, &["status"]).ok();
    assert_eq!(refs(&stage, &plain), before);
    assert!(!plain.join(".andon/CHECKPOINT.md").exists());
    // The next commit would be refused where the hooks are.
    stage.andon_in(&plain, &["install"]).ok();
    stage.andon_in(&plain, &["status"]).ok().says("HALTED");
}

#[test]
fn records_come_back_from_what_was_sent_and_are_named_where_nothing_has_them() {
    let (stage, _) = hub();
    iterate(&stage, stage.dir(), "1\n", GREEN, "One").ok();
    sync(&stage, stage.dir()).ok();
    let before = notes(&stage, stage.dir());
    take_away(&stage, &["written", "cache/results"]);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    assert_eq!(notes(&stage, stage.dir()), before);
    take_away(&stage, &["written", "cache"]);
    remove(&stage, ".git/refs/andon");
    stage.git(&["gc", "-q", "--prune=now"]).ok();
    stage.andon(&["status"]).ok().says("the records of 2 commits that were made here are gone");
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(3);
    iterate(&stage, stage.dir(), "2\n", GREEN, "Two").ok();
    stage
        .andon(&["status"])
        .ok()
        .says("the records of 2 commits that were made here are gone")
        .lacks("without andon");
}

/// Neither ledger nor journal tells of the halt, and the records give it all the same.
fn lose(stage: &Stage) {
    halt(stage);
    let name = ledger(stage);
    stage.git(&["update-ref", "-d", &name]).ok();
    for gone in [".andon", ".git/andon/cache", ".git/andon/journal.jsonl"] {
        remove(stage, gone);
    }
}

#[test]
fn a_halt_that_only_records_tell_of_binds_and_is_answered_at_once() {
    for door in ["status", "complete", "resume"] {
        let (stage, _) = hub();
        lose(&stage);
        match door {
            "status" => drop(stage.andon(&["status"]).ok().says("HALTED")),
            "complete" => drop(stage.andon(&["complete"]).refused().says("repeated-failures")),
            _ => {}
        }
        stage.andon(&["resume", "--reason", "looked"]).ok().says("answered the halt");
        iterate(&stage, stage.dir(), "on\n", GREEN, "On").ok();
    }
}

/// Reading writes neither entry nor file, and whichever way the next commit is made, it is refused.
#[test]
fn a_halt_that_is_only_shown_is_written_by_the_next_commit() {
    type Commit = fn(&Stage) -> crate::support::Out;
    let commits: [Commit; 4] = [
        |stage| iterate(stage, stage.dir(), "on\n", GREEN, "On"),
        |stage| stage.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "On"]),
        |stage| stage.git(&["merge", "-q", "--no-edit", "side"]),
        |stage| stage.git(&["cherry-pick", "side"]),
    ];
    for commit in commits {
        let (stage, _) = hub();
        stage.steps("git switch -qc side");
        stage.add("side.md", "text\n");
        stage.steps("git commit -qm Side; git switch -q main");
        lose(&stage);
        let before = refs(&stage, stage.dir());
        for line in
            [&["status"][..], &["status", "--line"], &["log"], &["show"], &["watch", "--once"], &["report"]]
        {
            stage.andon(line).ok();
        }
        // Its file is not there yet.
        stage.andon(&["status"]).ok().says("HALTED").says("look").lacks(".andon/");
        stage.andon(&["status", "--exit-code"]).exits(1);
        assert_eq!(refs(&stage, stage.dir()), before);
        assert!(
            !stage.path(".andon/BLOCKER_REPORT.md").exists() && !stage.path(".andon/CHECKPOINT.md").exists()
        );
        commit(&stage).refused().says("repeated-failures");
        assert_ne!(refs(&stage, stage.dir()), before);
    }
}

#[test]
fn a_halt_of_another_clone_stays_when_its_remote_loses_it() {
    let (stage, hub) = hub();
    halt(&stage);
    sync(&stage, stage.dir()).ok();
    stage.git(&["push", "-q", "--no-verify", "origin", "main"]).ok();
    let two = crate::sync::clone(&stage, "two");
    stage.steps_in(&two, "andon install --fetch --no-push; git config fetch.prune true; git fetch -q");
    stage.andon_in(&two, &["status"]).ok().says("HALTED");
    for name in stage.git_in(&hub, &["for-each-ref", "--format=%(refname)", "refs/andon"]).ok().stdout.lines()
    {
        stage.git_in(&hub, &["update-ref", "-d", name]).ok();
    }
    stage.git_in(&two, &["fetch", "-q"]).ok();
    iterate(&stage, &two, "on\n", GREEN, "On").refused();
    stage.andon_in(&two, &["status"]).ok().says("HALTED");
}

#[test]
fn an_old_line_is_named_by_doctor_and_replaced_by_install() {
    let (stage, _) = hub();
    for spec in OLD {
        stage.git(&["config", "--add", "remote.origin.fetch", spec]).ok();
    }
    stage.andon(&["doctor"]).exits(1).says("overwrite or prune").says("andon install");
    stage.andon(&["install", "--dry-run"]).ok().says("refs/notes/remotes/origin/andon*");
    stage.andon(&["install"]).ok().says("refs/notes/remotes/origin/andon*");
    stage.andon(&["doctor"]).lacks("overwrite or prune").says("git fetch brings records and ledger");
    let left = stage.git(&["config", "--get-all", "remote.origin.fetch"]).ok().stdout;
    assert!(OLD.iter().all(|spec| !left.lines().any(|line| line == *spec)), "{left}");
    halt(&stage);
    let before = refs(&stage, stage.dir());
    stage.git(&["fetch", "-q", "--prune"]).ok();
    assert_eq!(refs(&stage, stage.dir()), before);
    // Without an old line nothing is added unasked.
    stage.steps("git config --unset-all remote.origin.fetch andon; andon install");
    assert!(!stage.git(&["config", "--get-all", "remote.origin.fetch"]).stdout.contains("andon"));
}

#[test]
fn plain_notes_of_a_remote_are_taken_in() {
    let (stage, _) = hub();
    stage.git(&["push", "-q", "origin", "refs/notes/andon"]).ok();
    stage.git_in(&root(&stage), &["clone", "-q", "hub.git", "ci"]).ok();
    let ci = root(&stage).join("ci");
    stage.git_in(&ci, &["fetch", "-q", "origin", "+refs/notes/andon*:refs/notes/remotes/origin/andon*"]).ok();
    stage.andon_in(&ci, &["check", "HEAD"]).ok();
    assert_eq!(notes(&stage, &ci).lines().count(), 1);
}

#[test]
fn a_halted_tip_without_its_ledger_is_named_though_its_tests_pass() {
    let (stage, _) = hub();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\niteration-cap = { max = 3 }\n");
    stage.commit_of("andon.toml", "Count to three");
    for number in 1..9 {
        iterate(&stage, stage.dir(), &format!("{number}\n"), GREEN, &format!("Try {number}"));
    }
    stage.andon(&["status"]).ok().says("HALTED");
    stage.git(&["push", "-q", "origin", "main", "refs/notes/andon"]).ok();
    stage.git_in(&root(&stage), &["clone", "-q", "hub.git", "ci"]).ok();
    let ci = root(&stage).join("ci");
    stage.git_in(&ci, &["fetch", "-q", "origin", "refs/notes/andon:refs/notes/andon"]).ok();
    stage.andon_in(&ci, &["check", "--test", "HEAD~1..HEAD"]).exits(1).says("error[missing-ledger]");
    sync(&stage, stage.dir()).ok();
    stage.andon_in(&ci, &["sync", "--fetch-only"]).ok();
    stage.andon_in(&ci, &["check", "HEAD~1..HEAD"]).exits(1).says("open-halt").lacks("missing-ledger");
}

#[test]
fn the_command_that_is_named_leads_out_of_a_damaged_ledger() {
    for object in ["", "^{tree}", ":entry.json"] {
        for cached in ["cached", "fresh"] {
            let (stage, _) = hub();
            halt(&stage);
            let name = ledger(&stage);
            let id = stage.git(&["rev-parse", &format!("{name}{object}")]).ok().stdout;
            std::fs::remove_file(stage.path(&format!(".git/objects/{}/{}", &id[..2], id[2..].trim())))
                .unwrap();
            if cached == "fresh" {
                std::fs::remove_dir_all(stage.path(".git/andon/cache")).unwrap();
            }
            let said = iterate(&stage, stage.dir(), "on\n", GREEN, "On").refused();
            let hint = said.stderr.lines().find_map(|line| line.split_once("with a sync: "));
            let (_, command) = hint.unwrap_or_else(|| panic!("{object} {cached}: {said}"));
            stage.run_in(stage.dir(), "sh", &["-c", command], None).ok();
            stage.andon(&["status"]).ok().says("HALTED");
            iterate(&stage, stage.dir(), "on\n", GREEN, "On").refused();
            stage.andon(&["resume", "--reason", "looked"]).ok();
            iterate(&stage, stage.dir(), "on\n", GREEN, "On").ok();
        }
    }
}
