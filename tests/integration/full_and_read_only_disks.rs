//! Disks that are full or read-only, directories of another user, stale locks: the commit is never lost, the message
//! names the remedy, and afterwards everything works again.
//!
//! Root may do everything, so what is denied is made real: another user by `setpriv`, a read-only or full file system in
//! a mount namespace of its own. Where that is not allowed, the test says so and is left out.

use std::path::Path;

use crate::support::{Out, Stage, andon_path};

const GREEN: &[&str] = &["ok a", "ok b"];
/// This user owns nothing.
const OTHER: u32 = 1234;

/// Runs a script in a mount namespace of its own, with `$ANDON`; `None` where that is not allowed.
pub(crate) fn apart(stage: &Stage, setup: &str, script: &str) -> Option<Out> {
    let probe = stage.run_in(stage.dir(), "unshare", &["-m", "sh", "-c", &format!("{setup} exit 0")], None);
    if probe.code != 0 {
        println!("left out: no mount namespace here: {probe}");
        return None;
    }
    stage.set("ANDON", andon_path().to_str().unwrap());
    let script = script.replace("andon ", "\"$A\" ");
    let whole = format!("A=$ANDON; unset ANDON; {setup}\n{script}");
    let out = stage.run_in(stage.dir(), "unshare", &["-m", "sh", "-c", &whole], None);
    stage.unset("ANDON");
    Some(out)
}

/// Runs a script as another user, whom git lets in; `None` where that is not allowed.
fn as_other(stage: &Stage, script: &str) -> Option<Out> {
    let user = OTHER.to_string();
    let setpriv = ["--reuid", &user, "--regid", &user, "--clear-groups"];
    if stage.run_in(stage.root(), "setpriv", &[&setpriv[..], &["true"]].concat(), None).code != 0 {
        println!("left out: only root can be somebody else");
        return None;
    }
    stage.run_in(stage.root(), "chmod", &["755", "."], None).ok();
    let global = stage.root().join("global");
    std::fs::write(&global, "[safe]\n\tdirectory = *\n").unwrap();
    stage.set("GIT_CONFIG_GLOBAL", global.to_str().unwrap());
    let script = script.replace("andon ", &format!("'{}' ", andon_path().display()));
    let out = stage.run_in(stage.dir(), "setpriv", &[&setpriv[..], &["sh", "-c", &script]].concat(), None);
    stage.set("GIT_CONFIG_GLOBAL", "/dev/null");
    Some(out)
}

/// The stage is well again: nothing was lost, and work goes on.
fn well(stage: &Stage) {
    stage.git(&["fsck", "--strict"]).ok();
    stage.iterate("well again\n", GREEN, "Go on").ok();
    let count = |out: Out| out.ok().stdout.lines().count();
    let commits = count(stage.git(&["rev-list", "HEAD"]));
    assert_eq!(count(stage.git(&["notes", "--ref=andon", "list"])), commits);
    stage.andon(&["status"]).ok().lacks("warning");
}

/// Every line of the script must end as it says.
const READ_ONLY: &str = r#"
ends() { want=$1; shift; "$@" >out 2>&1; got=$?; cat out; [ $got = $want ] || { echo "WRONG: $* ended with $got, not $want"; exit 99; }; }
ends 0 "$A" status
ends 0 "$A" log
ends 0 "$A" show
ends 0 "$A" check HEAD~1..HEAD
ends 0 "$A" replay
ends 70 "$A" test
ends 70 "$A" stop --reason enough
ends 0 "$A" install
ends 70 "$A" uninstall
ends 1 "$A" doctor
rm .andon/STOP
ends 0 "$A" hook prepare-commit-msg x
ends 0 "$A" hook post-commit
"#;

#[test]
fn a_read_only_git_directory_can_be_looked_at_and_says_why_nothing_is_recorded() {
    let stage = Stage::installed();
    stage.iterate("2\n", GREEN, "Two").ok();
    let read_only = "mount --bind .git .git && mount -o remount,ro,bind .git .git || exit 1;";
    let Some(out) = apart(&stage, read_only, READ_ONLY) else { return };
    assert_ne!(out.code, 99, "{out}");
    let out = out.says("Read-only file system").says("help: check the permissions of ");
    out.says("fail  writable: nothing can be recorded").lacks("panicked");
    std::fs::remove_file(stage.path("out")).unwrap();
    well(&stage);
}

#[test]
fn a_store_of_somebody_else_can_be_looked_at() {
    let stage = Stage::installed();
    stage.iterate("2\n", GREEN, "Two").ok();
    let Some(out) = as_other(&stage, "andon status && andon log && andon check HEAD~1..HEAD") else { return };
    out.ok().says("HEAD: 2 passed");
    as_other(&stage, "andon install").unwrap().ok().says("nothing changed");
    for (command, code) in [("test", 70), ("stop --reason enough", 70), ("uninstall", 70), ("doctor", 1)] {
        let out = as_other(&stage, &format!("andon {command}")).unwrap().exits(code);
        out.says("ermission denied").says("help: ").lacks("panicked");
    }
    // An unanswered halt binds a user who cannot write its file.
    stage.andon(&["stop", "--reason", "enough"]).ok();
    as_other(&stage, "andon hook pre-commit").unwrap().exits(1).says("user-stop");
    stage.andon(&["resume", "--reason", "seen"]).ok();
    well(&stage);
}

/// Where nobody may write, fetched records are read as they are, and what has to be written says at once who may.
#[test]
fn a_checkout_that_nobody_may_write_tells_what_was_fetched() {
    let stage = Stage::installed();
    stage.iterate("2\n", GREEN, "Two").ok();
    stage.steps(
        "git init -q --bare ../o.git; git remote add origin ../o.git; git push -q origin main; andon sync",
    );
    stage.steps("git clone -q -b main ../o.git ../fresh");
    let fresh = stage.root().join("fresh");
    stage.steps_in(&fresh, "andon sync --fetch-only; git update-ref -d refs/notes/andon");
    std::fs::remove_dir_all(fresh.join(".git/andon")).unwrap();
    if as_other(&stage, "true").is_none() {
        return;
    }
    let id = OTHER.to_string();
    stage.run_in(&fresh, "chmod", &["-R", "a-w", "."], None).ok();
    for (owner, hint) in [("0", "it belongs to root: sudo chown -R"), (&id, "help: chmod -R u+w")] {
        stage.run_in(&fresh, "chown", &["-R", owner, "."], None).ok();
        let there = |command: &str| as_other(&stage, &format!("cd ../fresh && andon {command}")).unwrap();
        there("status").ok().says("HEAD: 2 passed");
        there("log").ok().says("2 pass");
        there("show HEAD").ok().says("gate       passed");
        there("check HEAD~1..HEAD").ok().says("checked 1 commit").lacks("warning");
        for command in ["sync --fetch-only", "test", "install --fetch"] {
            there(command).exits(70).says(hint);
        }
    }
}

/// `sudo andon test`, once: Andon's own directory belongs to root, the rest does not.
#[test]
fn only_andons_own_directory_belongs_to_somebody_else() {
    let stage = Stage::installed();
    if as_other(&stage, "true").is_none() {
        return;
    }
    stage.run_in(stage.root(), "chown", &["-R", &OTHER.to_string(), "repo"], None).ok();
    stage.run_in(stage.dir(), "chown", &["-R", "root", ".git/andon"], None).ok();
    as_other(&stage, "andon test").unwrap().exits(70).says("ermission denied").says("help: ");
    let commit = "echo 2 > code.txt; git commit -qam Two";
    as_other(&stage, commit).unwrap().exits(1).says("untested-edit");
    let out = as_other(&stage, "git commit -q --no-verify -am Two").unwrap().ok();
    out.says("ermission denied").says("help: ");
    as_other(&stage, "git fsck --strict").unwrap().ok();
    stage.run_in(stage.root(), "chown", &["-R", "root", "repo"], None).ok();
    well(&stage);
}

#[test]
fn a_store_that_cannot_be_read_is_not_taken_for_an_empty_or_a_damaged_one() {
    let stage = Stage::installed();
    if as_other(&stage, "true").is_none() {
        return;
    }
    stage.run_in(stage.dir(), "chmod", &["700", ".git/objects"], None).ok();
    for command in ["log", "show", "replay", "check HEAD~1..HEAD", "hook post-commit", "test"] {
        let out = as_other(&stage, &format!("andon {command}")).unwrap();
        out.says("objects: Permission denied")
            .says("help: it belongs to root: sudo chown -R")
            .lacks("fsck")
            .lacks("unknown");
    }
    stage.run_in(stage.dir(), "chmod", &["755", ".git/objects"], None).ok();
    well(&stage);
}

/// A disk of two megabytes that is full from the commit on, and is not any more later.
const FULL: &str = r#"
cp -a . "$TMPDIR/copy" && mount -t tmpfs -o size=3m none . && cd . && cp -a "$TMPDIR/copy/." "$PWD" && cd "$PWD" || exit 98
echo 2 > code.txt; andon test || exit 97
git -c core.hooksPath=no-hooks commit -qam Two || exit 96
dd if=/dev/zero of=.git/fill bs=512 2>/dev/null
andon hook post-commit; [ $? = 0 ] || exit 95
andon test >/dev/null; c=$?; [ $c = 0 ] || [ $c = 70 ] || exit 94
andon stop --reason enough; [ $? = 70 ] || exit 93
andon status || exit 92
git fsck --strict || exit 91
[ "$(git rev-list --count HEAD)" = 2 ] || exit 90
rm .git/fill; rm -f .andon/STOP
echo 3 > code.txt; andon test && git commit -qam Three || exit 89
export GIT_NOTES_REF=refs/notes/andon; [ "$(git notes list | wc -l)" = 3 ] || exit 88
andon check HEAD~1..HEAD || exit 87
"#;

#[test]
fn a_full_disk_costs_no_commit_and_what_is_missing_comes_back() {
    let stage = Stage::installed();
    stage.set("TMPDIR", stage.root().to_str().unwrap());
    if apart(&stage, "mount -t tmpfs -o size=64k none /mnt || exit 1;", "true").is_none() {
        return;
    }
    let out = apart(&stage, "", FULL).unwrap().ok();
    out.says("No space left on device").says("help: ").says("recorded 1 commit").lacks("panicked");
}

/// No file may grow, on any disk: every command ends as it is documented, and git is well afterwards.
#[test]
fn no_command_half_writes_what_it_cannot_write() {
    let stage = Stage::installed();
    stage.iterate("2\n", GREEN, "Two").ok();
    // So that uninstalling has something to write.
    stage.andon(&["install", "--show-notes"]).ok();
    for (command, code) in [
        ("status", 0),
        ("check HEAD~1..HEAD", 0),
        ("test", 70),
        ("stop --reason enough", 70),
        ("pause", 70),
        ("uninstall", 70),
        ("sync", 2),
    ] {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec '{}' {command}", andon_path().display());
        let out = stage.run_in(stage.dir(), "sh", &["-c", &script], None);
        assert_eq!(out.code, code, "{command}: {out}");
        let out = out.lacks("panicked");
        if code == 70 {
            out.says("help: ");
        }
        stage.git(&["status"]).ok();
    }
    let _ = stage.andon(&["resume", "--reason", "seen"]);
    stage.andon(&["install"]).ok();
    well(&stage);
}

#[test]
fn locks_that_others_left_are_named_with_the_command_that_removes_them() {
    let stage = Stage::installed();
    stage.andon(&["install", "--show-notes"]).ok();
    // Of the configuration, when it is to be written.
    std::fs::write(stage.path(".git/config.lock"), "").unwrap();
    mended_by_its_own_words(&stage, &["uninstall"], "config.lock");
    // Of a ledger.
    stage.steps("andon install; andon stop --reason once; andon resume --reason seen");
    let ledger = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    std::fs::write(stage.path(&format!(".git/{}.lock", ledger.trim())), "").unwrap();
    mended_by_its_own_words(&stage, &["stop", "--reason", "twice"], ".lock");
    stage.andon(&["resume", "--reason", "seen"]).ok();
    well(&stage);
}

/// The command fails over the lock; the command in its help removes it; then it goes through.
#[track_caller]
fn mended_by_its_own_words(stage: &Stage, args: &[&str], lock: &str) {
    let out = stage.andon(args).exits(70).says(lock);
    let hint =
        out.all().lines().find_map(|line| line.split_once("stale lock: ").map(|(_, hint)| hint.to_owned()));
    let hint = hint.unwrap_or_else(|| panic!("no mend in {out}"));
    stage.run_in(stage.dir(), "sh", &["-c", &hint], None).ok();
    stage.andon(args).ok();
}

/// A clock that goes back a year between two commits: hooks go on, and `check` says so.
#[test]
fn a_clock_set_back_stops_nothing_and_is_seen() {
    let stage = Stage::installed();
    stage.iterate("2\n", GREEN, "Two").ok();
    stage.pass(-31_536_000);
    stage.iterate("3\n", GREEN, "Three").ok().lacks("warning");
    stage.andon(&["status"]).ok().says("Loop 3/100");
    stage.andon(&["check", "HEAD~2..HEAD"]).ok().says("clock-set-back");
    for n in 4..6 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], "Red").ok();
    }
    stage.iterate("6\n", &["ok a", "not ok b"], "Halts all the same").ok();
    assert!(Path::new(&stage.path(".andon/CHECKPOINT.md")).exists());
    stage.andon(&["resume", "--reason", "seen"]).ok();
    stage.iterate("7\n", GREEN, "On").ok();
}

/// No one to ask or to notify: no stream, no terminal, no home, no name.
#[test]
fn closed_streams_change_neither_what_is_recorded_nor_the_exit_code() {
    let stage = Stage::installed();
    for (number, streams) in ["2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-", "2>/dev/full", "1>/dev/full 2>/dev/full"]
        .into_iter()
        .enumerate()
    {
        stage.add("code.txt", format!("{number}\n"));
        let run = |script: &str| {
            let script = format!("exec {streams}; {script}")
                .replace("andon ", &format!("'{}' ", andon_path().display()));
            stage.run_in(stage.dir(), "setsid", &["-w", "env", "-u", "HOME", "sh", "-c", &script], None)
        };
        run("andon hook pre-commit").exits(1);
        run("andon test");
        run("git commit -qam Step").ok();
        assert_eq!(stage.record("HEAD")["gate"], "passed", "{streams}");
        assert_eq!(stage.record("HEAD")["tests"]["status"], "passed", "{streams}");
        assert_ne!(run("andon status").code, 101, "{streams}");
        assert_ne!(run("andon check HEAD~1..HEAD --format json").code, 101, "{streams}");
    }
    well(&stage);
}
