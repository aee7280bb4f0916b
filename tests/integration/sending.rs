//! Records that travel with a push, from a fork, and in a bundle.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::support::{Out, Stage, program};

const GREEN: &[&str] = &["ok a", "ok b"];

fn bare(stage: &Stage, name: &str) -> PathBuf {
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["init", "-q", "--bare", "-b", "main", name]).ok();
    root.join(name)
}

/// A stage whose `origin` is a bare repository, with nothing pushed yet.
fn stage_with_origin() -> (Stage, PathBuf) {
    let stage = Stage::installed();
    let hub = bare(&stage, "hub.git");
    stage.git(&["remote", "add", "origin", hub.to_str().unwrap()]).ok();
    (stage, hub)
}

fn refs(stage: &Stage, dir: &Path) -> String {
    let args = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/notes", "refs/andon"];
    stage.git_in(dir, &args).ok().stdout
}

fn records(stage: &Stage, dir: &Path) -> usize {
    crate::sync::notes(stage, dir).lines().count()
}

fn hook(dir: &Path, name: &str, script: &str) {
    program(&dir.join("hooks").join(name), script);
}

/// Another clone of `hub`, with the hooks installed.
fn clone(stage: &Stage, hub: &Path, name: &str) -> PathBuf {
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", hub.to_str().unwrap(), name]).ok();
    let dir = root.join(name);
    stage.andon_in(&dir, &["install"]).ok();
    dir
}

fn iterate(stage: &Stage, dir: &Path, code: &str) -> Out {
    std::fs::write(dir.join("code.txt"), code).unwrap();
    stage.andon_in(dir, &["test"]).ok();
    stage.git_in(dir, &["commit", "-qam", code.trim()])
}

#[test]
fn a_push_of_a_branch_sends_its_records_along() {
    let (stage, hub) = stage_with_origin();
    assert_snapshot!(stage.git(&["push", "-qu", "origin", "main"]).shown(), @"
    exit 0
    --- stderr
    note: sent 1 record of Andon to origin ahead of the branch, as every push will from now on
      help: to push branches alone: git config andon.push false
    ");
    assert_eq!(records(&stage, &hub), 1);
    stage.iterate("1\n", GREEN, "One").ok();
    stage.steps("andon stop --reason lunch; andon resume --reason back");
    // Said once; from then on silently.
    assert_eq!(stage.git(&["push", "-q"]).ok().all(), "");
    let shown = refs(&stage, &hub);
    assert_eq!(records(&stage, &hub), 2);
    assert!(shown.contains("refs/andon/ledger/"), "{shown}");
    assert!(!refs(&stage, stage.dir()).contains("passing"));
    // Who clones and fetches has what `check` needs.
    let other = clone(&stage, &hub, "other");
    assert_snapshot!(stage.andon_in(&other, &["sync"]).brief(), @"exit 0, stdout: synced with origin: 2 records and 2 ledger entries received");
    stage.andon_in(&other, &["check", "HEAD~1..HEAD"]).ok();
    // Tags and deleted branches bring nothing.
    stage.steps("git branch gone; git push -q origin gone");
    stage.iterate("2\n", GREEN, "Two").ok();
    stage.steps("git tag v1; git push -q origin v1; git push -q origin :gone");
    assert_eq!(records(&stage, &hub), 2);
}

#[test]
fn nothing_is_sent_unless_the_person_chose_it() {
    let (stage, hub) = stage_with_origin();
    // What is committed cannot choose.
    stage.steps("git config --unset andon.push; git push -qu origin main");
    assert_eq!(refs(&stage, &hub), "");
    assert_snapshot!(stage.andon(&["install", "--no-push"]).brief(), @"exit 0, stdout: a push sends branches alone; to send records: andon sync");
    assert_snapshot!(stage.andon(&["install"]).brief(), @"exit 0, stdout: Andon is installed in ROOT/repo/.git/hooks already; nothing changed");
    assert_eq!(stage.git(&["config", "andon.push"]).ok().stdout, "false\n");
    stage.iterate("1\n", GREEN, "One").ok();
    stage.git(&["push", "-q"]).ok();
    assert_eq!(refs(&stage, &hub), "");
    assert_snapshot!(stage.andon(&["install", "--push"]).brief(),
        @"exit 0, stdout: each git push also sends the records; to turn that off: git config andon.push false");
    stage.iterate("2\n", GREEN, "Two").ok();
    // The master switch goes before everything.
    stage.set("ANDON", "0");
    stage.git(&["push", "-q"]).ok();
    stage.unset("ANDON");
    assert_eq!(refs(&stage, &hub), "");
    stage.iterate("3\n", GREEN, "Three").ok();
    stage.git(&["push", "-q"]).ok();
    assert_eq!(records(&stage, &hub), 4);
    // A push of the records by name sends them alone: git would find them moved.
    stage.iterate("4\n", GREEN, "Four").ok();
    stage.git(&["push", "-q", "origin", "main", "refs/notes/andon"]).ok();
    assert_eq!(records(&stage, &hub), 5);
    // A push that is refused sends nothing.
    stage.iterate("5\n", &["not ok a"], "Five").ok();
    assert_snapshot!(stage.git(&["push", "-q"]).shown(), @"
    exit 1
    --- stderr
    error[failing-tests]: push refused: refs/heads/main (HASH): 1 of 1 test fails: a
      help: fix what fails, then: andon test
    error: failed to push some refs to 'ROOT/hub.git'
    ");
    assert_eq!(records(&stage, &hub), 5);
    stage.andon(&["uninstall"]).ok();
    stage.git(&["config", "andon.push"]).exits(1);
}

#[test]
fn a_remote_that_refuses_or_hangs_never_blocks_the_push() {
    let (stage, hub) = stage_with_origin();
    hook(&hub, "update", "#!/bin/sh\ncase $1 in refs/heads/*) exit 0;; esac\necho protected >&2; exit 1\n");
    assert_snapshot!(stage.git(&["push", "-qu", "origin", "main"]).ok().shown(), @"
    exit 0
    --- stderr
    warning[records-not-sent]: the records of Andon were not sent along to origin: origin does not take refs/andon/records/HASH: [remote rejected] (hook declined)
      help: andon sync origin
      help: to push branches alone from now on: git config andon.push false
    ");
    assert_eq!(refs(&stage, &hub), "");
    // Hidden refs, and one that takes for ever.
    stage.iterate("1\n", GREEN, "One").ok();
    stage.git_in(&hub, &["config", "receive.hideRefs", "refs/andon"]).ok();
    assert_snapshot!(stage.git(&["push", "-q"]).shown(), @"
    exit 0
    --- stderr
    warning[records-not-sent]: the records of Andon were not sent along to origin: origin does not take refs/andon/records/HASH: [remote rejected] (deny updating a hidden ref)
      help: andon sync origin
      help: to push branches alone from now on: git config andon.push false
    ");
    stage.iterate("2\n", GREEN, "Two").ok();
    stage.git_in(&hub, &["config", "--unset", "receive.hideRefs"]).ok();
    hook(&hub, "update", "#!/bin/sh\ncase $1 in refs/heads/*) exit 0;; esac\nexec sleep 100\n");
    let began = Instant::now();
    assert_snapshot!(stage.git(&["push", "-q"]).shown(), @"
    exit 0
    --- stderr
    warning[records-not-sent]: the records of Andon were not sent along to origin: cannot push to origin: no end within 5 s
      help: andon sync origin
      help: to push branches alone from now on: git config andon.push false
    ");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(stage.git_in(&hub, &["rev-parse", "main"]).ok().stdout.trim(), stage.head());
    // For an hour pushes leave the records to `andon sync`; then one asks again.
    let began = Instant::now();
    for number in 3..6 {
        stage.iterate(&format!("{number}\n"), GREEN, "More").ok();
        assert_eq!(stage.git(&["push", "-q"]).ok().stderr, "");
    }
    assert!(began.elapsed() < Duration::from_secs(20));
    stage.pass(3_600);
    std::fs::remove_file(hub.join("hooks/update")).unwrap();
    stage.iterate("6\n", GREEN, "Later").ok();
    stage.git(&["push", "-q"]).ok();
    assert!(records(&stage, &hub) > 0);
}

/// An ssh that runs git here: the second connection of a push does `second`.
fn ssh(stage: &Stage, second: &str) -> PathBuf {
    let path = stage.root().join("ssh");
    let count = stage.root().join("connections");
    let script = format!(
        "#!/bin/sh\necho x >> '{0}'\n\
             if [ $(wc -l < '{0}') = 2 ]; then {second}\nfi\nfor last; do :; done\nexec sh -c \"$last\"\n",
        count.display()
    );
    program(&path, &script);
    path
}

#[test]
fn where_ssh_would_ask_again_the_records_wait_with_one_line() {
    let (stage, hub) = stage_with_origin();
    let asks = "echo 'me@host: Permission denied (publickey).' >&2; exit 255";
    stage.set("GIT_SSH_COMMAND", ssh(&stage, asks).to_str().unwrap());
    stage.git(&["remote", "set-url", "origin", &format!("ssh://host{}", hub.display())]).ok();
    assert_snapshot!(stage.git(&["push", "-q", "origin", "main"]).shown(), @"
    exit 0
    --- stderr
    note: the records of Andon stay here, since origin would ask for a password or passphrase once more; to send them, for pushes of the next hour too: andon sync origin
    ");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Once more"]).ok();
    assert_eq!(stage.git(&["push", "-q", "origin", "main"]).ok().stderr, "", "it is said once");
    assert_eq!(refs(&stage, &hub), "");
    stage.andon(&["sync", "origin"]).ok();
    assert_eq!(records(&stage, &hub), 2);
}

#[test]
fn the_second_connection_can_ask_nobody() {
    let (stage, hub) = stage_with_origin();
    let says = "{ echo \"$GIT_TERMINAL_PROMPT|$SSH_ASKPASS_REQUIRE|$SSH_ASKPASS|$GIT_ASKPASS|\" > env; }";
    stage.set("GIT_SSH_COMMAND", ssh(&stage, says).to_str().unwrap());
    stage.set("GIT_ASKPASS", "my-askpass");
    stage.git(&["remote", "set-url", "origin", &format!("ssh://host{}", hub.display())]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    assert_eq!(stage.read("env"), "0|force|false||\n");
}

#[test]
fn a_push_that_the_remote_rejects_is_not_called_pushed() {
    let (stage, hub) = stage_with_origin();
    hook(&hub, "update", "#!/bin/sh\ncase $1 in refs/heads/*) exit 1;; esac\n");
    stage.git(&["push", "-q", "origin", "main"]).exits(1).lacks("is pushed");
    hook(&hub, "update", "#!/bin/sh\nexit 1\n");
    stage.git(&["push", "-q", "origin", "main"]).exits(1).lacks("is pushed");
}

#[test]
fn refs_that_the_push_names_go_in_its_own_connection() {
    let (stage, hub) = stage_with_origin();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.iterate("1\n", GREEN, "One").ok();
    stage.set("GIT_SSH_COMMAND", ssh(&stage, "echo SECOND >&2; exit 255;").to_str().unwrap());
    stage.git(&["remote", "set-url", "origin", &format!("ssh://host{}", hub.display())]).ok();
    stage.git(&["push", "-q", "origin", "main", "refs/notes/andon"]).ok().lacks("SECOND");
    assert_eq!(records(&stage, &hub), 2);
}

#[test]
fn races_several_remotes_and_addresses() {
    let (stage, hub) = stage_with_origin();
    stage.git(&["push", "-qu", "origin", "main"]).ok();
    let two = clone(&stage, &hub, "two");
    iterate(&stage, &two, "two\n").ok();
    stage.git_in(&two, &["push", "-q", "origin", "HEAD:two"]).ok();
    // The records at the hub have moved on: ours go beside them.
    stage.iterate("1\n", GREEN, "One").ok();
    assert_eq!(stage.git(&["push", "-q"]).ok().all(), "");
    assert_eq!(records(&stage, &hub), 3);
    // Another remote, an address, and a remote that is pushed to elsewhere.
    let (second, third) = (bare(&stage, "second.git"), bare(&stage, "third.git"));
    stage.git(&["remote", "add", "second", second.to_str().unwrap()]).ok();
    stage.git(&["push", "-q", "second", "main"]).ok();
    // What was never fetched is not here to be sent on.
    assert_eq!(records(&stage, &second), 2);
    stage.git(&["push", "-q", third.to_str().unwrap(), "main"]).ok();
    assert_eq!(records(&stage, &third), 2);
    stage.git(&["config", "remote.origin.pushurl", third.to_str().unwrap()]).ok();
    stage.iterate("2\n", GREEN, "Two").ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    assert_eq!((records(&stage, &third), records(&stage, &hub)), (3, 3));
    assert!(!refs(&stage, stage.dir()).contains("passing"));
}

#[test]
fn a_fork_is_read_by_its_address_and_never_written() {
    let (stage, hub) = stage_with_origin();
    stage.git(&["push", "-qu", "origin", "main"]).ok();
    // A contributor works in a fork, and pushes there.
    let fork = bare(&stage, "fork.git");
    let theirs = clone(&stage, &hub, "theirs");
    stage.git_in(&theirs, &["remote", "add", "fork", fork.to_str().unwrap()]).ok();
    iterate(&stage, &theirs, "theirs\n").ok();
    stage.git_in(&theirs, &["push", "-q", "fork", "HEAD:fix"]).ok();
    // CI: a plain clone, the head of the pull request, and what each of the two repositories knows.
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", hub.to_str().unwrap(), "ci"]).ok();
    let ci = root.join("ci");
    stage.git_in(&ci, &["fetch", "-q", fork.to_str().unwrap(), "fix:fix"]).ok();
    stage.andon_in(&ci, &["check", "origin/main..fix"]).refused();
    stage.andon_in(&ci, &["sync", "--fetch-only", "origin"]).ok();
    let before = refs(&stage, &fork);
    let out = stage.andon_in(&ci, &["sync", "--fetch-only", fork.to_str().unwrap()]).ok();
    assert_snapshot!(out.brief(), @"exit 0, stdout: synced with ROOT/fork.git: 1 record received");
    stage.andon_in(&ci, &["check", "origin/main..fix"]).ok();
    assert_eq!(refs(&stage, &fork), before);
    let here = refs(&stage, &ci);
    assert!(!here.contains("passing") && here.contains("refs/notes/andon "), "{here}");
    let nowhere = root.join("nowhere.git");
    stage.andon_in(&ci, &["sync", "--fetch-only", nowhere.to_str().unwrap()]).exits(3);
}

#[test]
fn a_bundle_is_written_and_taken_in() {
    let (stage, hub) = stage_with_origin();
    stage.steps("andon install --no-push; git push -qu origin main");
    stage.iterate("1\n", GREEN, "One").ok();
    stage.steps("andon stop --reason lunch; andon resume --reason back; git push -q --no-verify");
    let file = stage.root().canonicalize().unwrap().join("with space.bundle");
    let name = file.to_str().unwrap();
    let shown = format!("synced with {name}: 2 records and 2 ledger entries sent\n");
    assert_eq!(stage.andon(&["sync", "--bundle", name]).ok().stdout, shown);
    assert_snapshot!(stage.andon(&["sync", "--bundle", name]).brief(), @"exit 0, stdout: synced with ROOT/with space.bundle: nothing new");
    let other = clone(&stage, &hub, "other");
    let before = std::fs::read(&file).unwrap();
    assert_snapshot!(stage.andon_in(&other, &["sync", "--fetch-only", "--bundle", name]).brief(),
        @"exit 0, stdout: synced with ROOT/with space.bundle: 2 records and 2 ledger entries received");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    stage.andon_in(&other, &["check", "HEAD~1..HEAD"]).ok();
    assert!(!refs(&stage, &other).contains("passing"));
    // Both ways: what one lacks of the other.
    iterate(&stage, &other, "2\n").ok();
    assert_snapshot!(stage.andon_in(&other, &["sync", "--bundle", name]).brief(),
        @"exit 0, stdout: synced with ROOT/with space.bundle: 1 record sent");
    assert_snapshot!(stage.andon(&["sync", "--bundle", name]).brief(), @"exit 0, stdout: synced with ROOT/with space.bundle: 1 record received");
    stage.andon(&["sync", "--bundle", name, "origin"]).exits(2);
}

#[test]
fn what_is_no_bundle_is_neither_read_nor_overwritten() {
    let (stage, _) = stage_with_origin();
    assert_snapshot!(stage.andon(&["sync", "--bundle", "no.bundle", "--fetch-only"]).shown(), @"
    exit 2
    --- stderr
    error: ROOT/repo/no.bundle cannot be taken for a bundle of records: there is no such file
      help: to write one, name a file that is not there yet: andon sync --bundle FILE
    ");
    stage.write("text", "mine\n");
    std::fs::create_dir(stage.path("folder")).unwrap();
    for name in ["text", "folder", ".git"] {
        stage.andon(&["sync", "--bundle", name]).exits(2).says(name).says("bundle");
    }
    assert_eq!(stage.read("text"), "mine\n");
    stage.andon(&["sync", "--bundle", "whole.bundle"]).ok();
    let whole = std::fs::read(stage.path("whole.bundle")).unwrap();
    stage.write("cut.bundle", &whole[..whole.len() - 40]);
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", "--no-local", "repo", "far"]).ok();
    let cut = stage.path("cut.bundle");
    let out = stage.andon_in(&root.join("far"), &["sync", "--bundle", cut.to_str().unwrap()]).refused();
    out.says("cut.bundle");
    assert_eq!(std::fs::read(&cut).unwrap().len(), whole.len() - 40);
    assert!(!refs(&stage, stage.dir()).contains("passing"));
}

#[test]
fn a_bundle_from_anybody_only_adds() {
    let (stage, hub) = stage_with_origin();
    stage.steps("git push -qu origin main; andon stop --reason lunch");
    let own = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    let own = own.trim().to_owned();
    let before = refs(&stage, stage.dir());
    // A stranger puts an entry on top of this clone's ledger, writes other refs and a ledger under no id.
    let theirs = clone(&stage, &hub, "theirs");
    stage.git_in(&theirs, &["fetch", "-q", stage.dir().to_str().unwrap(), "+refs/andon/*:refs/andon/*"]).ok();
    let on_top = stage
        .git_in(&theirs, &["commit-tree", "-p", &own, "-m", "loop.acknowledged", &format!("{own}^{{tree}}")]);
    stage.git_in(&theirs, &["update-ref", &own, on_top.ok().stdout.trim()]).ok();
    for name in ["refs/andon/ledger/a/b", "refs/heads/evil", "refs/notes/andon-evil", "refs/andon/remote/x"] {
        stage.git_in(&theirs, &["update-ref", name, &own]).ok();
    }
    let file = stage.root().canonicalize().unwrap().join("evil.bundle");
    let name = file.to_str().unwrap();
    stage.git_in(&theirs, &["bundle", "create", "-q", name, "--all"]).ok();
    assert_snapshot!(stage.andon(&["sync", "--fetch-only", "--bundle", name]).shown(), @"
    exit 0
    --- stdout
    warning[foreign-ledger]: the ledger of HASH at ROOT/evil.bundle was not taken over: it is this clone's own, which no other clone writes
      help: nothing here changed; its owner syncs from the clone in which the halts were made
    synced with ROOT/evil.bundle: nothing new
    ");
    assert_eq!(refs(&stage, stage.dir()), before);
    stage.git(&["rev-parse", "-q", "--verify", "refs/heads/evil"]).exits(1);
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).shown(), @"
    exit 1
    --- stderr
    error[user-stop]: commit refused: halted AGE: a person stopped the loop
      what   .andon/STOP exists: a person stopped this loop: lunch
      since  TIME, after 1 commit; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
}
