//! `guard.ack = "signed"`: a halt ends by the signature of a witness and by nothing else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::Value;

use crate::rounds::{cast, open};
use crate::support::Stage;
use crate::support::people::{by, halted_and_signed, public, resolving, sit_down, steady};

fn is_halted(stage: &Stage) {
    let out = stage.iterate("more\n", &["ok a", "ok b"], "Go on").refused();
    assert!(out.stderr.contains("loop halted") || out.stderr.contains("halted"), "{out}");
}

#[test]
fn a_witness_answers_and_the_loop_goes_on() {
    let stage = halted_and_signed();
    is_halted(&stage);
    insta::assert_snapshot!("signed_list", steady(&stage, &by(&stage, "ann", &["review"])));
    insta::assert_snapshot!("signed_show", steady(&stage, &by(&stage, "ann", &["review", "show", "halt"])));
    // A person without a key of the policy answers nothing.
    let answer = resolving("b was never meant to pass");
    insta::assert_snapshot!("signed_stranger", steady(&stage, &by(&stage, "bo", &answer)));
    is_halted(&stage);
    insta::assert_snapshot!("signed_resolve", steady(&stage, &by(&stage, "ann", &answer)));
    assert!(!stage.exists(".andon/CHECKPOINT.md"));
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
    // Nothing waits any more, and the answer counts once.
    assert_eq!(by(&stage, "ann", &["review"]).ok().stdout, "");
    insta::assert_snapshot!("signed_twice", steady(&stage, &stage.andon(&["ledger", "verify"])));
    let log = stage.andon(&["log"]).ok();
    assert!(log.stdout.contains("human:ann with a signed resolution"), "{log}");
}

/// A STOP that a person put up beside the halt is no part of what the witness answers.
#[test]
fn a_signed_answer_lifts_no_stop_that_it_does_not_name() {
    for file in ["STOP", "PAUSE"] {
        let stage = halted_and_signed();
        stage.write(&format!(".andon/{file}"), "lunch\nby: Pat\nat: noon\n");
        let answer = [
            "review",
            "resolve",
            "halt",
            "--decision",
            "accept_proposer",
            "--rationale",
            "b was never meant to pass",
        ];
        by(&stage, "ann", &answer).ok();
        assert!(stage.exists(&format!(".andon/{file}")), "{file} is gone");
        stage.iterate("4\n", &["ok a", "ok b"], "Green").refused().says("user-stop");
    }
}

#[test]
fn no_other_door_ends_it() {
    let stage = halted_and_signed();
    // Deleting the file brings it back, and it says who answers.
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    is_halted(&stage);
    let report = stage.read(".andon/CHECKPOINT.md");
    assert!(report.contains("    andon review resolve halt\n"), "{report}");
    // Neither does the command without a key, nor the loosened file in the working tree.
    stage.unset("GIT_CONFIG_COUNT");
    insta::assert_snapshot!("signed_resume", steady(&stage, &stage.andon(&["resume", "--reason", "go on"])));
    let strict = stage.read("andon.toml");
    stage.write(
        "andon.toml",
        strict
            .replace("signed", "delete")
            .lines()
            .filter(|line| !line.starts_with("ledger"))
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    is_halted(&stage);
    stage.andon(&["resume", "--reason", "go on"]).refused();
    stage.andon(&["resume", "--counter", "repeated-failures", "--reason", "x"]).refused();
    stage.write("andon.toml", &strict);
    is_halted(&stage);
    // An agent cannot, whatever key it has.
    sit_down(&stage, "ann");
    stage.set("CLAUDECODE", "1");
    let answer = resolving("x");
    insta::assert_snapshot!("signed_agent", steady(&stage, &stage.andon(&answer)));
    stage.unset("CLAUDECODE");
    is_halted(&stage);
}

/// Appends an entry of the old kind with plain git, as an agent would that knows the format, without the member `without`.
fn forge_answer(stage: &Stage, how: &str, without: &str) {
    let name = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger/"]).ok().stdout;
    let name = name.trim();
    let halt = stage.git(&["show", &format!("{name}:entry.json")]).ok().json();
    let raw = stage.git(&["cat-file", "commit", name]).ok().stdout;
    let id = sha256(stage, &raw);
    let mut forged = serde_json::json!({
        "schema": "andon/ledger@1", "type": "loop.acknowledged", "at": halt["at"], "writer": halt["writer"],
        "lamport": halt["lamport"].as_u64().unwrap() + 1, "by": "A. Person <p@example.org>", "how": how,
        "reason": "looks fine", "halt": id, "head": halt["head"], "worktree": "main",
    });
    forged.as_object_mut().unwrap().remove(without);
    let blob = stage
        .run_in(stage.dir(), "git", &["hash-object", "-w", "--stdin"], Some(forged.to_string().as_bytes()))
        .ok();
    let tree = format!("100644 blob {}\tentry.json\n", blob.stdout.trim());
    let tree = stage.run_in(stage.dir(), "git", &["mktree"], Some(tree.as_bytes())).ok().stdout;
    let commit = stage.git(&["commit-tree", tree.trim(), "-p", name, "-m", "loop.acknowledged"]).ok().stdout;
    stage.git(&["update-ref", name, commit.trim()]).ok();
}

fn sha256(stage: &Stage, text: &str) -> String {
    let out = stage.run_in(stage.dir(), "sha256sum", &[], Some(text.as_bytes())).ok();
    out.stdout.split(' ').next().unwrap().to_owned()
}

#[test]
fn a_forged_answer_ends_nothing() {
    for (how, without) in [("resume", "halt"), ("signed", ""), ("file_deleted", ""), ("resume", "")] {
        ends_nothing(how, without);
    }
}

fn ends_nothing(how: &str, without: &str) {
    let stage = halted_and_signed();
    forge_answer(&stage, how, without);
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    is_halted(&stage);
    let page = stage.andon(&["report"]).ok().stdout;
    assert!(page.contains("1 unanswered") && page.contains("No answer yet"), "{how}");
    // It is shown as what it is, at every door.
    stage
        .andon(&["check", "HEAD~1..HEAD"])
        .refused()
        .says("open-halt")
        .says("without a signature, which ends nothing");
    stage.andon(&["check", "HEAD"]).refused().says("open-halt");
    let out = stage.andon(&["log"]).ok().says("not answered by A. Person");
    out.says("without a signature, which ends nothing");
    stage.andon(&["ledger", "verify"]).refused().says("is unsigned: it ends nothing");
    stage.andon(&["log", "--events"]).ok().says("unsigned  ").lacks("answered  ");
    stage.andon(&["status"]).says("HALTED").lacks("answered by").says("Loop 5/100");
    // The real one does.
    by(&stage, "ann", &resolving("go on")).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
}

#[test]
fn an_answer_from_another_clone_is_for_the_code_that_was_halted() {
    let (stage, _) = crate::sync::hub();
    crate::support::people::signed(&stage);
    crate::support::people::fail(&stage);
    stage.steps("git push -q --no-verify; andon sync");
    let two = crate::sync::clone(&stage, "two");
    stage.andon_in(&two, &["sync"]).ok();
    let answer = resolving("go on");
    insta::assert_snapshot!("answer_elsewhere", steady(&stage, &stage.andon_in(&two, &answer)));
    stage.andon_in(&two, &["sync"]).ok();
    stage.andon(&["sync"]).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
}

#[test]
fn drafts_with_mistakes_are_kept_and_nothing_is_appended() {
    let stage = halted_and_signed();
    let refs = stage.git(&["for-each-ref", "refs/andon/ledger/"]).ok().stdout;
    let resolve = ["review", "resolve", "halt"];
    // An editor that leaves the template as it is.
    insta::assert_snapshot!("draft_unchanged", steady(&stage, &by(&stage, "ann", &resolve)));
    stage.write("../editor.sh", "sed -i 's/^decision = \"\"/decision = \"perhaps\"/' \"$1\"\n");
    stage.set("GIT_EDITOR", &format!("sh {}/editor.sh", stage.root().canonicalize().unwrap().display()));
    insta::assert_snapshot!("draft_wrong", steady(&stage, &stage.andon(&resolve)));
    let draft = stage.read(".git/andon/RESOLUTION_EDITMSG");
    assert!(draft.contains("decision = \"perhaps\""), "{draft}");
    assert_eq!(stage.git(&["for-each-ref", "refs/andon/ledger/"]).ok().stdout, refs);
    // Repaired, it is continued.
    let whole = draft.replace("perhaps", "accept_proposer").replacen(
        "rationale = \"\"",
        "rationale = \"b was never meant to pass\"",
        1,
    );
    stage.write(".git/andon/RESOLUTION_EDITMSG", whole);
    let from = ["review", "resolve", "halt", "--from", ".git/andon/RESOLUTION_EDITMSG"];
    insta::assert_snapshot!("draft_mended", steady(&stage, &stage.andon(&from)));
    assert!(!stage.exists(".git/andon/RESOLUTION_EDITMSG"));
}

#[test]
fn resume_is_the_short_form_for_who_holds_a_key() {
    let stage = halted_and_signed();
    insta::assert_snapshot!(
        "resume_signed",
        steady(&stage, &by(&stage, "ann", &["resume", "--reason", "b was never meant to pass"]))
    );
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
}

#[test]
fn a_witness_says_that_a_halt_was_mistaken() {
    for door in [
        &[
            "review",
            "resolve",
            "halt",
            "--decision",
            "accept_proposer",
            "--rationale",
            "no loop",
            "--mistaken",
        ][..],
        &["resume", "--mistaken", "--reason", "no loop"],
    ] {
        let stage = halted_and_signed();
        by(&stage, "ann", door).ok();
        let counts = stage.andon(&["status", "--rules", "--format", "json"]).ok();
        assert!(counts.stdout.contains("\"mistaken\":1"), "{counts}");
    }
}

#[test]
fn one_key_without_the_other_is_a_mistake() {
    let stage = Stage::installed();
    let toml = stage.read("andon.toml");
    stage.write("andon.toml", format!("{toml}[guard]\nack = \"signed\"\n"));
    insta::assert_snapshot!("signed_without_ledger", stage.andon(&["config", "check"]));
    stage.write("andon.toml", format!("{toml}[guard]\nledger = \"{}\"\n", "0".repeat(64)));
    insta::assert_snapshot!("ledger_without_signed", stage.andon(&["config", "check"]));
    assert!(public(&stage, "ann").ends_with("ann.key.pub"));
}

/// `check` in a clone that fetched everything and trusts nothing.
fn checked(stage: &Stage, range: &str) -> crate::support::Out {
    let root = stage.root().canonicalize().unwrap();
    let _gone = std::fs::remove_dir_all(root.join("fresh"));
    stage.git_in(&root, &["clone", "-q", "--no-local", "repo", "fresh"]).ok();
    let fresh = root.join("fresh");
    let refs = ["+refs/notes/andon:refs/notes/andon", "+refs/andon/*:refs/andon/*"];
    stage.git_in(&fresh, &["fetch", "-q", "origin", refs[0], refs[1]]).ok();
    stage.andon_in(&fresh, &["check", range])
}

/// The lines of a check that are about witnesses.
fn about_witnesses(stage: &Stage, out: &crate::support::Out) -> String {
    let text = steady(stage, out);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = vec![lines[0].to_owned()];
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("[witness]")) {
        found.push((*line).to_owned());
        found.extend(
            lines[at + 1..].iter().take_while(|line| line.starts_with("  ")).map(|line| (*line).to_owned()),
        );
    }
    found.join("\n")
}

#[test]
fn check_derives_every_answer_again() {
    let stage = halted_and_signed();
    let base = stage.git(&["rev-parse", "HEAD~3"]).ok().stdout.trim().to_owned();
    let range = format!("{base}..HEAD");
    by(&stage, "ann", &resolving("go on")).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
    let all = checked(&stage, &range).ok();
    insta::assert_snapshot!("check_answered", about_witnesses(&stage, &all));
    // No terminal was there, and no process above can be seen in a test: what was known goes with the answer.
    let given = "by human:ann was given without a terminal; nothing is known of the processes above";
    assert_eq!(unseen(&stage, &range, &all), [("resolution".to_owned(), given.to_owned())]);
    // Replaced objects are named.
    let head = stage.head();
    let parent = stage.git(&["rev-parse", "HEAD~1"]).ok().stdout.trim().to_owned();
    stage.git(&["replace", &head, &parent]).ok();
    insta::assert_snapshot!("check_replaced", about_witnesses(&stage, &stage.andon(&["check", &range])));
    stage.git(&["replace", "-d", &head]).ok();
    // A configuration that asks for less.
    let toml = stage.read("andon.toml");
    let loose: String = toml
        .lines()
        .filter(|line| !line.starts_with("ledger"))
        .map(|line| line.replace("signed", "delete") + "\n")
        .collect();
    stage.write("andon.toml", loose);
    stage.tested_commit("-qam", "Loosen");
    insta::assert_snapshot!("check_loosened", about_witnesses(&stage, &checked(&stage, &range)));
}

/// The kind of each vote without a sign of a person, and what the check says about it, as text and as JSON.
#[test]
fn a_resolution_lets_one_branch_leave_the_halted_commit() {
    let stage = halted_and_signed();
    let halted = stage.head();
    let base = stage.git(&["rev-parse", "HEAD~3"]).ok().stdout.trim().to_owned();
    by(&stage, "ann", &resolving("go on")).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
    let first = stage.head();
    // What goes on from there is the same branch, also after a merge.
    stage.git(&["checkout", "-q", "-b", "onward"]).ok();
    stage.iterate("5\n", &["ok a", "ok b"], "Onward").ok();
    checked(&stage, &format!("{base}..HEAD")).ok().lacks("lets one branch");
    stage.git(&["checkout", "-q", "-b", "second", &halted]).ok();
    stage.iterate("6\n", &["ok a", "ok b"], "Again").ok();
    let told = format!("{} has used it", &first[..12]);
    checked(&stage, &format!("{base}..HEAD")).exits(1).says("lets one branch leave").says(&told);
    stage.git(&["checkout", "-q", "onward"]).ok();
    checked(&stage, &format!("{base}..HEAD")).ok().lacks("lets one branch");
    stage.git(&["merge", "-q", "-s", "ours", "-m", "Both", "second"]).ok();
    checked(&stage, &format!("{base}..HEAD")).says("lets one branch leave");
}

#[test]
fn a_merge_of_the_halted_commit_leaves_it_too() {
    let stage = halted_and_signed();
    let halted = stage.head();
    let base = stage.git(&["rev-parse", "HEAD~3"]).ok().stdout.trim().to_owned();
    let answer = resolving("go on");
    by(&stage, "ann", &answer).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
    let first = stage.head();
    // Too many other branches to look at each of them.
    let branches: String = (0..300).map(|number| format!("create refs/heads/aa-{number} {base}\n")).collect();
    stage.run_in(stage.dir(), "git", &["update-ref", "--stdin"], Some(branches.as_bytes())).ok();
    stage.git(&["checkout", "-q", "-b", "beside", &base]).ok();
    stage.steps("echo beside > beside.md; git add -A; git commit -qm Beside");
    stage.git(&["merge", "-q", "--no-ff", "-m", "Take it in", &halted]);
    let told = format!("{} has used it", &first[..12]);
    checked(&stage, &format!("{base}..HEAD")).exits(1).says("lets one branch leave").says(&told);
}

fn unseen(stage: &Stage, range: &str, text: &crate::support::Out) -> Vec<(String, String)> {
    let fresh = stage.root().canonicalize().unwrap().join("fresh");
    let json = stage.andon_in(&fresh, &["check", range, "--format", "json"]).json();
    let of_code = |item: &&Value| item["code"] == "unseen-answer";
    let found = json["violations"].as_array().unwrap().iter().filter(of_code);
    found
        .map(|item| {
            assert_eq!(item["level"], "note");
            let message = item["message"].as_str().unwrap();
            assert!(text.to_string().contains(&format!("note[unseen-answer]: {message}")), "{text}");
            let (noun, rest) = message.split_once(' ').unwrap();
            (noun.to_owned(), rest[9..].to_owned())
        })
        .collect()
}

#[test]
fn check_tells_of_ballots_what_was_known_of_who_gave_them() {
    let stage = halted_and_signed();
    for who in ["bo", "cy", "di"] {
        by(&stage, "ann", &["witness", "add", &format!("human:{who}"), "--key", &public(&stage, who)]).ok();
    }
    let halt = by(&stage, "ann", &["review", "--format", "json"]).ok().stdout;
    let halt = serde_json::from_str::<Value>(&halt).unwrap()["id"].as_str().unwrap().to_owned();
    by(&stage, "ann", &["review", "panel", &halt, "--reason", "three should look"]).ok();
    for who in ["bo", "cy", "di"] {
        by(&stage, who, &["review", "accept", &halt]).ok();
    }
    for who in ["bo", "cy", "di"] {
        cast(&stage, who, &halt, "accept_proposer");
    }
    for who in ["bo", "cy", "di"] {
        open(&stage, who, &halt).ok();
    }
    stage.iterate("4\n", &["ok a", "ok b"], "Green").ok();
    let all = checked(&stage, "HEAD~4..HEAD");
    let given =
        |who| format!("by human:{who} was given without a terminal; nothing is known of the processes above");
    let mut found = unseen(&stage, "HEAD~4..HEAD", &all);
    found.sort();
    assert_eq!(found, ["bo", "cy", "di"].map(|who| ("ballot".to_owned(), given(who))));
}

#[test]
fn check_names_a_halt_that_no_witness_answered() {
    let stage = halted_and_signed();
    let base = stage.git(&["rev-parse", "HEAD~3"]).ok().stdout.trim().to_owned();
    forge_answer(&stage, "resume", "");
    stage.set("ANDON", "0");
    stage.steps("echo smuggled > code.txt; git commit -qam Smuggle");
    stage.unset("ANDON");
    let range = format!("{base}..HEAD");
    insta::assert_snapshot!("check_unanswered", about_witnesses(&stage, &checked(&stage, &range).exits(1)));
    // Without the ledger nothing can be said.
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root.join("fresh"), &["for-each-ref", "--format=delete %(refname)", "refs/andon"]).ok();
    let refs =
        stage.git_in(&root.join("fresh"), &["for-each-ref", "--format=%(refname)", "refs/andon"]).ok().stdout;
    for name in refs.lines() {
        stage.git_in(&root.join("fresh"), &["update-ref", "-d", name]).ok();
    }
    crate::support::forget(&root.join("fresh"));
    insta::assert_snapshot!(
        "check_without_ledger",
        about_witnesses(&stage, &stage.andon_in(&root.join("fresh"), &["check", &range]))
    );
}

#[test]
fn check_names_what_an_agents_key_signed() {
    let stage = halted_and_signed();
    by(&stage, "ann", &["witness", "add", "agent:coder", "--key", &public(&stage, "cy"), "--role", "agent"])
        .ok();
    let answer = resolving("mine");
    insta::assert_snapshot!("agents_key", steady(&stage, &by(&stage, "cy", &answer)));
    is_halted(&stage);
}

#[test]
fn the_doctor_says_what_ends_a_halt() {
    let stage = Stage::installed();
    let answers = |stage: &Stage| {
        let found = stage.andon(&["doctor"]).stdout;
        found
            .lines()
            .filter(|line| line.contains("answers:"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let delete = answers(&stage);
    let toml = stage.read("andon.toml");
    stage.write("andon.toml", format!("{toml}[guard]\nack = \"resume\"\n"));
    let resume = answers(&stage);
    stage.write("andon.toml", &toml);
    crate::support::people::signed(&stage);
    let signed = answers(&stage);
    insta::assert_snapshot!("doctor_answers", format!("{delete}{resume}{signed}"));
}

#[test]
fn what_an_answer_was_worth_is_written_by_the_loop_that_went_on() {
    let stage = halted_and_signed();
    let entries = |stage: &Stage| {
        let all = stage.andon(&["ledger", "verify", "--format", "json"]).ok().stdout;
        serde_json::from_str::<Value>(&all).unwrap()["entries"].as_u64().unwrap()
    };
    let answer = resolving("b was never meant to pass");
    by(&stage, "ann", &answer).ok();
    let status = |stage: &Stage| -> Value {
        let out = stage.andon(&["review", "status", "human:ann", "--format", "json"]).ok().stdout;
        serde_json::from_str(&out).unwrap()
    };
    let (before, known) = (status(&stage), entries(&stage));
    assert_eq!(before["conv"], Value::from(0.0), "{before}");
    for number in 10..17 {
        stage.iterate(&format!("{number}\n"), &["ok a", "ok b"], &format!("Go on {number}")).ok();
    }
    assert_eq!(entries(&stage), known, "seven are not enough");
    stage.iterate("17\n", &["ok a", "ok b"], "Go on 17").ok();
    assert_eq!(entries(&stage), known + 1);
    let after = status(&stage);
    assert!(after["conv"].as_f64().unwrap() > 0.2, "{after}");
    // Once, and it is in order.
    stage.iterate("18\n", &["ok a", "ok b"], "Go on 18").ok();
    stage.git(&["commit", "-q", "--amend", "-m", "Go on with 18"]).ok();
    assert_eq!(entries(&stage), known + 1);
    let checked = stage.andon(&["check", "HEAD~9..HEAD"]);
    assert!(!checked.all().contains("outcome "), "{checked}");
    // Everything that a simulation shows is shown of the real ledger.
    let shown = by(&stage, "ann", &["review", "status"]).ok().stdout;
    assert!(shown.contains("human:ann  full") && shown.contains("  conv 0."), "{shown}");
    let json = by(&stage, "ann", &["review", "status", "--ledger", "--format", "json"]).ok().stdout;
    let ledger: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(ledger["schema"], "andon/review-ledger@1");
    assert_eq!(ledger["settlements"][1]["converged"], true, "{ledger}");
}

#[test]
fn an_outcome_that_the_records_do_not_bear_out_is_named() {
    let stage = halted_and_signed();
    let answer = [
        "review",
        "resolve",
        "halt",
        "--decision",
        "accept_proposer",
        "--rationale",
        "b is right",
        "--format",
        "json",
    ];
    let acted = by(&stage, "ann", &answer).ok().json();
    let lie = serde_json::json!({
        "type": "outcome", "resolution": acted["entry"], "before": ["a", "b"], "after": vec![""; 8], "left": true,
    });
    crate::signed_faults::forge(&stage, &lie, None);
    for number in 10..18 {
        stage.iterate(&format!("{number}\n"), &["ok a", "not ok c"], &format!("Go on {number}"));
        stage.andon(&["resume", "--reason", "go on"]);
        by(&stage, "ann", &resolving("go on"));
    }
    let checked = stage.andon(&["check", "HEAD~9..HEAD"]);
    assert!(
        checked.all().contains("of the iterations before the answer is not what their records say"),
        "{checked}"
    );
}
