//! `andon sync`: many writers, several clones, remotes that misbehave.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod remotes;

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::support::{Out, Stage};

/// A stage with a bare `hub.git` as its origin, and one tested commit pushed there.
pub(crate) fn hub() -> (Stage, PathBuf) {
    let stage = Stage::installed();
    let hub = stage.root().canonicalize().unwrap().join("hub.git");
    stage.git_in(&root(&stage), &["init", "-q", "--bare", "-b", "main", "hub.git"]).ok();
    stage.git(&["remote", "add", "origin", hub.to_str().unwrap()]).ok();
    // What a push sends along is looked at elsewhere.
    stage.steps("andon install --no-push; git push -qu origin main");
    (stage, hub)
}

pub(crate) fn root(stage: &Stage) -> PathBuf {
    stage.root().canonicalize().unwrap()
}

/// Another clone of the hub, with the hooks installed.
pub(crate) fn clone(stage: &Stage, name: &str) -> PathBuf {
    stage.git_in(&root(stage), &["clone", "-q", "hub.git", name]).ok();
    let dir = root(stage).join(name);
    stage.andon_in(&dir, &["install", "--no-push"]).ok();
    dir
}

pub(crate) fn sync(stage: &Stage, dir: &Path) -> Out {
    stage.andon_in(dir, &["sync"])
}

/// Edits, tests and commits in any clone.
pub(crate) fn iterate(stage: &Stage, dir: &Path, code: &str, tests: &str, message: &str) -> Out {
    std::fs::write(dir.join("code.txt"), code).unwrap();
    std::fs::write(dir.join("tests.txt"), tests).unwrap();
    stage.andon_in(dir, &["test"]);
    stage.git_in(dir, &["commit", "-qam", message])
}

/// What a clone or a hub has: its records, and the tips of its ledgers.
pub(crate) fn refs(stage: &Stage, dir: &Path) -> String {
    let ledgers = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/andon/ledger"];
    notes(stage, dir) + &stage.git_in(dir, &ledgers).ok().stdout
}

/// The records of a clone, or of all writers at a hub: a line each.
pub(crate) fn notes(stage: &Stage, dir: &Path) -> String {
    let is_hub = dir.extension().is_some_and(|end| end == "git");
    let names = ["for-each-ref", "--format=%(refname)", "refs/notes/andon", "refs/andon/records"];
    let names = if is_hub { &names[..] } else { &names[..3] };
    let mut all = std::collections::BTreeSet::new();
    for name in stage.git_in(dir, names).ok().stdout.lines() {
        let listed = ["ls-tree", "-r", "--format=%(path) %(objectname)", name];
        all.extend(stage.git_in(dir, &listed).ok().stdout.lines().map(|line| line.replace('/', "")));
    }
    all.into_iter().map(|line| line + "\n").collect()
}

/// The refs of writers at a hub.
pub(crate) fn writers(stage: &Stage, hub: &Path) -> Vec<String> {
    let names = stage.git_in(hub, &["for-each-ref", "--format=%(refname)", "refs/andon/records"]).ok().stdout;
    names.lines().map(str::to_owned).collect()
}

fn status(stage: &Stage, dir: &Path) -> String {
    stage.andon_in(dir, &["status"]).ok().stdout
}

pub(crate) const GREEN: &str = "ok a\nok b\n";
pub(crate) const RED: &str = "ok a\nnot ok b\n";

#[test]
fn records_of_two_clones_become_the_union() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    let two = clone(&stage, "two");
    assert_eq!(sync(&stage, &one).ok().stdout, "synced with origin: 1 record sent\n");
    assert_eq!(sync(&stage, &two).ok().stdout, "synced with origin: 1 record received\n");
    iterate(&stage, &one, "one\n", GREEN, "One").ok();
    stage.git(&["switch", "-qc", "side"]).ok();
    stage.git_in(&two, &["switch", "-qc", "other"]).ok();
    iterate(&stage, &two, "two\n", GREEN, "Two").ok();
    assert_snapshot!(sync(&stage, &two).brief(), @"exit 0, stdout: synced with origin: 1 record sent");
    let out = sync(&stage, &one).ok();
    assert_eq!(out.stdout, "synced with origin: 1 record received, 1 record sent\n");
    assert_snapshot!(sync(&stage, &two).brief(), @"exit 0, stdout: synced with origin: 1 record received");
    for dir in [&one, &two, &hub] {
        assert_eq!(notes(&stage, dir).lines().count(), 3);
        assert_eq!(refs(&stage, dir), refs(&stage, &one));
    }
    assert_eq!(sync(&stage, &one).ok().stdout, "synced with origin: nothing new\n");
    let json = stage.andon_in(&one, &["sync", "origin", "--format", "json"]).ok().stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["sent"]["records"], 0);
    assert_eq!(value["schema"], "andon/sync@1");
}

#[test]
fn a_clone_that_commits_before_it_fetched_the_records_is_no_tampering() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    iterate(&stage, &one, "one\n", GREEN, "One").ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    sync(&stage, &one).ok();
    let late = clone(&stage, "late");
    iterate(&stage, &late, "two\n", GREEN, "Two").ok();
    iterate(&stage, &late, "three\n", GREEN, "Three").ok();
    assert_eq!(sync(&stage, &late).ok().stdout, "synced with origin: 2 records received, 2 records sent\n");
    assert_snapshot!(stage.andon_in(&late, &["check", "HEAD~3..HEAD"]).lacks("broken-chain").brief(), @"
    exit 0, stdout: warning[chain-begins-anew]: the record begins a chain: that of its parent was not there when it was written --> HASH Two
    checked 3 commits in HEAD~3..HEAD: ok, 1 warning
    ");
}

#[test]
fn clones_that_synced_show_the_same_status_and_a_halt_binds_in_both() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    let two = clone(&stage, "two");
    for number in 1..4 {
        iterate(&stage, &one, &format!("{number}\n"), RED, &format!("Try {number}")).ok();
    }
    status_says(&stage, &one, "HALTED");
    // The push is judged like a finished task; the branch goes over all the same.
    stage.git(&["push", "-q", "--no-verify", "origin", "main"]).ok();
    assert_snapshot!(sync(&stage, &one).brief(), @"exit 0, stdout: synced with origin: 4 records and 1 ledger entry sent");
    stage.git_in(&two, &["pull", "-q"]).ok();
    assert_snapshot!(sync(&stage, &two).brief(), @"exit 0, stdout: synced with origin: 4 records and 1 ledger entry received");
    let ago = regex::Regex::new(r"(just now|[0-9]+ minutes? ago)").unwrap();
    let told = |dir| ago.replace_all(&status(&stage, dir), "").into_owned();
    assert_eq!(told(&one), told(&two));
    // It binds there too, and has a report file.
    assert!(two.join(".andon/CHECKPOINT.md").exists());
    assert_snapshot!(iterate(&stage, &two, "on\n", GREEN, "Go on").brief(),
        @"exit 1, stderr: error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test");
    // Answered there, it is answered here.
    stage.andon_in(&two, &["resume", "--reason", "looked"]).ok();
    assert_snapshot!(sync(&stage, &two).brief(), @"exit 0, stdout: synced with origin: 1 ledger entry sent");
    assert_snapshot!(sync(&stage, &one).brief(), @"exit 0, stdout: synced with origin: 1 ledger entry received");
    assert!(!one.join(".andon/CHECKPOINT.md").exists());
    stage.git_in(&two, &["checkout", "-q", "."]).ok();
    assert_eq!(told(&one), told(&two));
    iterate(&stage, &one, "on\n", GREEN, "Go on").ok();
    stage.andon(&["check", "HEAD~4..HEAD"]).ok();
}

fn status_says(stage: &Stage, dir: &Path, words: &str) {
    stage.andon_in(dir, &["status"]).ok().says(words);
}

#[test]
fn deleting_the_report_file_of_a_halt_from_elsewhere_answers_it_once_it_was_shown() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    let two = clone(&stage, "two");
    for number in 1..4 {
        iterate(&stage, &one, &format!("{number}\n"), RED, &format!("Try {number}")).ok();
    }
    stage.git(&["push", "-q", "--no-verify", "origin", "main"]).ok();
    sync(&stage, &one).ok();
    // Fetched by hand: no report file was ever written here, and its absence is no answer.
    stage.git_in(&two, &["pull", "-q"]).ok();
    stage
        .git_in(&two, &["fetch", "-q", "origin", "+refs/andon/ledger/*:refs/andon/remote/origin/ledger/*"])
        .ok();
    status_says(&stage, &two, "HALTED");
    iterate(&stage, &two, "on\n", GREEN, "Go on").refused();
    std::fs::remove_file(two.join(".andon/CHECKPOINT.md")).unwrap();
    iterate(&stage, &two, "on\n", GREEN, "Go on").ok();
    sync(&stage, &two).ok();
    sync(&stage, &one).ok();
    assert!(!one.join(".andon/CHECKPOINT.md").exists());
    iterate(&stage, &one, "on\n", GREEN, "Go on").ok();
}

#[test]
fn a_halt_elsewhere_binds_only_who_builds_on_it() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    let two = clone(&stage, "two");
    for number in 1..4 {
        iterate(&stage, &one, &format!("{number}\n"), RED, &format!("Try {number}")).ok();
    }
    sync(&stage, &one).ok();
    sync(&stage, &two).ok();
    iterate(&stage, &two, "free\n", GREEN, "Free").ok();
    stage.git_in(&two, &["gc", "-q", "--prune=now"]).ok();
    iterate(&stage, &two, "freer\n", GREEN, "Freer").ok();
    stage.git_in(&two, &["fetch", "-q", one.to_str().unwrap(), "main"]).ok();
    stage.git_in(&two, &["reset", "-q", "--hard", "FETCH_HEAD"]).ok();
    iterate(&stage, &two, "bound\n", GREEN, "Bound").refused();
}

#[test]
fn a_plain_notes_merge_by_others_stays_readable() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    let two = clone(&stage, "two");
    sync(&stage, &one).ok();
    // Another clone records the same commit by catching up, and merges with git alone.
    let fetch = ["fetch", "-q", "origin", "+refs/notes/andon*:refs/notes/remotes/origin/andon*"];
    stage.git_in(&two, &fetch).ok();
    let mut record: serde_json::Value =
        serde_json::from_str(&stage.git(&["notes", "--ref=andon", "show"]).ok().stdout).unwrap();
    record["recorded_at"] = "2030-01-01T00:00:00Z".into();
    record["x-newer"] = serde_json::json!({"kept": true});
    stage.git_in(&two, &["notes", "--ref=andon", "add", "-m", &record.to_string(), "HEAD"]).ok();
    stage
        .git_in(
            &two,
            &[
                "notes",
                "--ref=andon",
                "merge",
                "-q",
                "-s",
                "cat_sort_uniq",
                "refs/notes/remotes/origin/andon",
            ],
        )
        .ok();
    stage.git_in(&two, &["push", "-q", "origin", "refs/notes/andon"]).ok();
    assert_snapshot!(sync(&stage, &one).brief(), @"exit 0, stdout: synced with origin: 1 record received");
    let note = stage.git(&["notes", "--ref=andon", "show"]).ok().stdout;
    assert_eq!(note.lines().count(), 2, "{note}");
    assert!(note.contains("x-newer"));
    stage.andon(&["check", "HEAD"]).ok();
    iterate(&stage, &one, "on\n", GREEN, "On").ok();
    stage.andon(&["check", "HEAD"]).ok();
    sync(&stage, &one).ok();
    sync(&stage, &two).ok();
    assert_eq!(notes(&stage, &two), notes(&stage, &one));
}

pub(crate) fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
