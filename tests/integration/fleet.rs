//! Records that travel by writer: no push is refused, nothing is lost, and readers see the union.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::killed_processes::{KILLED, dying};
use crate::support::{Stage, andon_path};
use crate::sync::{GREEN, clone, hub, iterate, notes, refs, root, sync, writers};

/// A stage and two more clones of its hub, each of which has sent a record.
fn three_writers() -> (Stage, PathBuf, [PathBuf; 2]) {
    let (stage, hub) = hub();
    sync(&stage, stage.dir()).ok();
    let clones = ["two", "three"].map(|name| clone(&stage, name));
    for (number, dir) in clones.iter().enumerate() {
        stage.git_in(dir, &["switch", "-qc", &format!("b{number}")]).ok();
        iterate(&stage, dir, &format!("{number}\n"), GREEN, "Theirs").ok();
        sync(&stage, dir).ok();
    }
    (stage, hub, clones)
}

/// What the recipes of CI fetch in clones that are thrown away.
const FETCH: [&str; 5] =
    ["fetch", "-q", "origin", "+refs/notes/andon*:refs/notes/andon*", "+refs/andon/*:refs/andon/*"];

fn count(stage: &Stage, dir: &std::path::Path) -> usize {
    notes(stage, dir).lines().count()
}

#[test]
fn each_clone_pushes_to_a_ref_of_its_own_and_ci_reads_them_all() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    let two = clone(&stage, "two");
    sync(&stage, &one).ok();
    stage.git_in(&two, &["switch", "-qc", "other"]).ok();
    iterate(&stage, &one, "one\n", GREEN, "One").ok();
    iterate(&stage, &two, "two\n", GREEN, "Two").ok();
    // Neither has seen the other's.
    assert_eq!(sync(&stage, &two).ok().stdout, "synced with origin: 1 record received, 1 record sent\n");
    assert_eq!(sync(&stage, &one).ok().stdout, "synced with origin: 1 record received, 1 record sent\n");
    assert_eq!(writers(&stage, &hub).len(), 2);
    stage.git_in(&hub, &["rev-parse", "--verify", "-q", "refs/notes/andon"]).exits(1);
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.git_in(&two, &["push", "-q", "origin", "other"]).ok();
    stage.git_in(&root(&stage), &["clone", "-q", "hub.git", "ci"]).ok();
    let ci = root(&stage).join("ci");
    assert_snapshot!(stage.andon_in(&ci, &["check", "origin/main~1..origin/main"]).shown());
    stage.git_in(&ci, &FETCH).ok();
    stage.steps_in(&ci, "andon check origin/main~1..origin/main; andon check origin/main~1..origin/other");
    assert_eq!(count(&stage, &ci), 3);
    // A fetch as `andon install --fetch` sets it up brings what others send from then on.
    stage.andon_in(&two, &["install", "--no-push", "--fetch"]).ok();
    iterate(&stage, &one, "one more\n", GREEN, "One more").ok();
    sync(&stage, &one).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.git_in(&two, &["fetch", "-q"]).ok();
    stage.andon_in(&two, &["show", "origin/main"]).ok().says("gate");
}

#[test]
fn an_edited_record_shows_wherever_it_is_read() {
    let (stage, _) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    // Two records on the way to a remote at once, one of a commit that went past the gate.
    std::fs::write(one.join("code.txt"), "past it\n").unwrap();
    stage.git(&["commit", "-qam", "Past it", "--no-verify"]).ok();
    let record = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout;
    let edited = record.trim().replace("\"gate\":\"bypassed\"", "\"gate\":\"passed\"");
    assert_ne!(edited, record.trim());
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &edited, "HEAD"]).ok();
    sync(&stage, &one).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.git_in(&root(&stage), &["clone", "-q", "hub.git", "ci"]).ok();
    let ci = root(&stage).join("ci");
    stage.git_in(&ci, &FETCH).ok();
    assert_snapshot!(stage.andon_in(&ci, &["check", "HEAD~1..HEAD"]).exits(1).shown());
}

#[test]
fn silent_writers_are_folded_and_come_back() {
    let (stage, hub, clones) = three_writers();
    assert_eq!(writers(&stage, &hub).len(), 3);
    assert_eq!(stage.andon(&["sync", "--fold"]).ok().stdout, "synced with origin: 2 records received\n");
    stage.pass(31 * 86_400);
    assert_snapshot!(stage.andon(&["sync", "--fold"]).shown());
    assert_eq!(writers(&stage, &hub).len(), 1);
    // No clone misses anything, and none sends again what is there.
    for dir in &clones {
        sync(&stage, dir).ok().lacks("warning").lacks("sent");
        assert_eq!((count(&stage, dir), count(&stage, &hub)), (3, 3));
    }
    assert_eq!(writers(&stage, &hub).len(), 1);
    // One of them works on.
    iterate(&stage, &clones[0], "back\n", GREEN, "Back").ok();
    // Its ref comes back.
    assert_eq!(sync(&stage, &clones[0]).ok().stdout, "synced with origin: 1 record sent\n");
    assert_eq!(sync(&stage, stage.dir()).ok().stdout, "synced with origin: 1 record received\n");
    assert_eq!(refs(&stage, stage.dir()), refs(&stage, &clones[0]));
}

#[test]
fn a_ref_that_somebody_removed_is_named_and_what_it_had_is_sent_again() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    let two = clone(&stage, "two");
    stage.git_in(&two, &["switch", "-qc", "other"]).ok();
    iterate(&stage, &two, "two\n", GREEN, "Two").ok();
    let before = writers(&stage, &hub);
    sync(&stage, &two).ok();
    sync(&stage, &one).ok();
    let theirs = writers(&stage, &hub).into_iter().find(|name| !before.contains(name)).unwrap();
    stage.git_in(&hub, &["update-ref", "-d", &theirs]).ok();
    assert_snapshot!(sync(&stage, &one).shown());
    assert_eq!(count(&stage, &hub), 2);
    sync(&stage, &one).ok().lacks("warning");
    sync(&stage, &two).ok().lacks("warning");
}

#[test]
fn a_copy_of_a_clone_gets_an_id_of_its_own_and_both_arrive() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    let copy = root(&stage).join("copy");
    stage.run_in(&root(&stage), "cp", &["-a", one.to_str().unwrap(), copy.to_str().unwrap()], None).ok();
    stage.git_in(&copy, &["switch", "-qc", "copy"]).ok();
    iterate(&stage, &one, "one\n", GREEN, "One").ok();
    iterate(&stage, &copy, "copy\n", GREEN, "Copy").ok();
    for dir in [&one, &copy, &one] {
        sync(&stage, dir).ok();
    }
    assert_eq!((writers(&stage, &hub).len(), count(&stage, &hub)), (2, 3));
    assert_eq!(notes(&stage, &one), notes(&stage, &copy));
}

#[test]
fn what_others_push_as_notes_is_read_and_a_broken_ref_keeps_nobody_away() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    let two = clone(&stage, "two");
    stage.git_in(&two, &["switch", "-qc", "other"]).ok();
    iterate(&stage, &two, "two\n", GREEN, "Two").ok();
    stage.git_in(&two, &["push", "-q", "origin", "refs/notes/andon"]).ok();
    // Not a tree of notes: a blob.
    let blob = stage.git_in(&hub, &["hash-object", "-w", "--stdin"]).ok().stdout;
    let broken = format!("refs/andon/records/{}", "b".repeat(32));
    stage.git_in(&hub, &["update-ref", &broken, blob.trim()]).ok();
    assert_snapshot!(sync(&stage, &one).shown());
    assert_eq!(count(&stage, &one), 2);
    sync(&stage, &two).ok();
    assert_eq!(notes(&stage, &one), notes(&stage, &two));
}

/// A clone whose own ref was folded folds in its turn: what it takes over arrives before anything goes.
#[test]
fn who_was_folded_may_fold() {
    let (stage, hub, clones) = three_writers();
    stage.andon(&["sync", "--fold=0"]).ok();
    stage.andon_in(&clones[0], &["sync", "--fold=0"]).ok();
    assert_eq!((writers(&stage, &hub).len(), count(&stage, &hub)), (1, 3));
    // Once more there is nothing to fold, and nothing else is pushed either.
    let before = stage.git_in(&hub, &["for-each-ref"]).ok().stdout;
    stage.andon_in(&clones[0], &["sync", "--fold=0"]).ok();
    assert_eq!(stage.git_in(&hub, &["for-each-ref"]).ok().stdout, before);
    for dir in [stage.dir(), &clones[1]] {
        sync(&stage, dir).ok().lacks("warning");
        assert_eq!(notes(&stage, dir), notes(&stage, &clones[0]));
    }
}

/// The second clone folds between the first one's push and its taking refs away: the worst moment there is.
#[test]
fn of_two_folds_at_once_neither_takes_away_what_the_other_has() {
    let (stage, hub, clones) = three_writers();
    let (root, second) = (root(&stage), &clones[0]);
    let hook = hub.join("hooks/pre-receive");
    let script = format!(
        "#!/bin/sh\ngrep -q ' 0000000000000000000000000000000000000000 ' || exit 0\n[ -e '{0}/folded' ] && exit 0\n\
         unset $(git rev-parse --local-env-vars) GIT_QUARANTINE_PATH\n: > '{0}/folded'\n\
         cd '{1}' && '{2}' sync --fold=0 > '{0}/folded' 2>&1\nexit 0\n",
        root.display(),
        second.display(),
        andon_path().display(),
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.andon(&["sync", "--fold=0"]).ok();
    let told = std::fs::read_to_string(root.join("folded")).unwrap();
    assert!(told.starts_with("synced with origin"), "{told}");
    assert_eq!((writers(&stage, &hub).len(), count(&stage, &hub)), (1, 3));
    for dir in [stage.dir(), second, &clones[1]] {
        sync(&stage, dir).ok().lacks("warning").lacks("sent");
        assert_eq!(count(&stage, dir), 3);
    }
    assert_eq!(refs(&stage, stage.dir()), refs(&stage, second));
}

/// Killed between taking over and removing: everything is there twice, and the next one goes on.
#[test]
fn a_killed_fold_loses_nothing() {
    let (stage, hub, clones) = three_writers();
    for (point, left) in [("fold:taken", 3), ("fold:pushed", 3)] {
        dying(&stage, point, |stage| stage.andon(&["sync", "--fold=0"])).exits(KILLED);
        assert_eq!((writers(&stage, &hub).len(), count(&stage, &hub)), (left, 3), "{point}");
    }
    stage.andon(&["sync", "--fold=0"]).ok();
    assert_eq!((writers(&stage, &hub).len(), count(&stage, &hub)), (1, 3));
    for dir in &clones {
        sync(&stage, dir).ok().lacks("warning");
        assert_eq!(notes(&stage, dir), notes(&stage, stage.dir()));
    }
}
