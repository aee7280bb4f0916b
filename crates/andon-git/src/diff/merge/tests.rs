//! Real merges, reverts and picks are known again; those with a hand in them are not.

use super::*;
use crate::testkit::Scratch;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn made(scratch: &Scratch, rev: &str, claimed: &MergeClaim) -> TreeVerdict {
    let repo = scratch.open();
    let commit = repo.commit(scratch.rev(rev)).unwrap();
    repo.is_made(&commit, claimed).unwrap()
}

/// Two branches that change the ends of one file, and files of their own.
fn forked() -> Scratch {
    let scratch = Scratch::new();
    scratch.commit("dir/text", LINES, "base");
    scratch.git(&["branch", "side"]);
    scratch.commit("dir/text", &LINES.replace('1', "one"), "ours");
    scratch.commit("ours", "o\n", "ours too");
    scratch.git(&["checkout", "-q", "side"]);
    scratch.commit("dir/text", &LINES.replace('9', "nine"), "theirs");
    scratch.commit("deep/er/theirs", "t\n", "theirs too");
    scratch.git(&["checkout", "-q", "main"]);
    scratch
}

#[test]
fn a_merge_is_made_again_and_one_with_a_hand_in_it_is_not() {
    let scratch = forked();
    scratch.git(&["merge", "-q", "--no-edit", "side"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Same);
    // Evil: something in it is of neither side.
    scratch.write("evil", "e\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "--amend", "--no-edit"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Other);
    // One side is left out: `-s ours`.
    scratch.git(&["reset", "-q", "--hard", "HEAD^1"]);
    scratch.git(&["merge", "-q", "--no-edit", "-s", "ours", "side"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Other);
    // No merge at all.
    assert_eq!(made(&scratch, "HEAD^1", &MergeClaim::Merge), TreeVerdict::Other);
}

#[test]
fn a_resolved_conflict_is_somebodys_work() {
    let scratch = Scratch::new();
    scratch.commit("a", "0\n", "base");
    scratch.git(&["branch", "side"]);
    scratch.commit("a", "1\n", "ours");
    scratch.git(&["checkout", "-q", "side"]);
    scratch.commit("a", "2\n", "theirs");
    assert!(!scratch.try_git(&["merge", "-q", "--no-edit", "main"]));
    scratch.write("a", "3\n");
    scratch.git(&["commit", "-qam", "resolved"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Other);
}

#[test]
fn renames_criss_cross_and_octopus_are_merges_too() {
    let scratch = Scratch::new();
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    scratch.commit("old", &long, "base");
    scratch.git(&["branch", "side"]);
    scratch.git(&["mv", "old", "new"]);
    scratch.git(&["commit", "-qm", "moved"]);
    scratch.git(&["checkout", "-q", "side"]);
    scratch.commit("old", &long.replace("line 7\n", "line seven\n"), "edited");
    scratch.git(&["merge", "-q", "--no-edit", "main"]);
    assert!(scratch.git(&["show", "HEAD:new"]).contains("line seven"));
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Same);

    for name in ["one", "two", "three"] {
        scratch.git(&["checkout", "-q", "-b", name, "main"]);
        scratch.commit(name, name, name);
    }
    scratch.git(&["merge", "-q", "--no-edit", "one", "two"]);
    assert_eq!(scratch.open().commit(scratch.rev("HEAD")).unwrap().parents.len(), 3);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Same);

    // Criss-cross: two merge bases.
    let scratch = forked();
    scratch.git(&["branch", "main-then"]);
    scratch.git(&["merge", "-q", "--no-edit", "side"]);
    scratch.git(&["checkout", "-q", "side"]);
    scratch.git(&["merge", "-q", "--no-edit", "main-then"]);
    scratch.commit("more", "m\n", "more");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.commit("less", "l\n", "less");
    scratch.git(&["merge", "-q", "--no-edit", "side"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Same);
}

#[test]
fn a_revert_is_what_its_message_names_or_it_is_none() {
    let scratch = forked();
    let reverted = scratch.rev("HEAD~1");
    scratch.git(&["revert", "--no-edit", "HEAD~1"]);
    let repo = scratch.open();
    let head = repo.commit(scratch.rev("HEAD")).unwrap();
    assert_eq!(repo.named_sources(&head, CommitKind::Revert).unwrap(), [reverted]);
    assert_eq!(repo.named_sources(&head, CommitKind::CherryPick).unwrap(), []);
    assert_eq!(repo.named_sources(&head, CommitKind::Normal).unwrap(), []);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Revert(reverted)), TreeVerdict::Same);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Revert(scratch.rev("HEAD~1"))), TreeVerdict::Other);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::pick(reverted)), TreeVerdict::Other);
    // Only the message says so.
    let message = format!("Revert \"ours\"\n\nThis reverts commit {reverted}.");
    scratch.commit("ours", "something else\n", &message);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Revert(reverted)), TreeVerdict::Other);
    scratch.commit("ours", "again\n", "deadbeef is no id here\n\nThis reverts commit 0123456789.");
    let head = scratch.open().commit(scratch.rev("HEAD")).unwrap();
    assert_eq!(scratch.open().named_sources(&head, CommitKind::Revert).unwrap(), []);
}

#[test]
fn a_merge_is_reverted_along_either_line() {
    let scratch = forked();
    scratch.git(&["merge", "-q", "--no-edit", "side"]);
    let merge = scratch.rev("HEAD");
    scratch.git(&["revert", "--no-edit", "-m", "1", "HEAD"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Revert(merge)), TreeVerdict::Same);
    assert_eq!(scratch.tree("HEAD"), scratch.tree("HEAD~2"));
}

#[test]
fn a_pick_is_the_change_of_another_commit() {
    let scratch = forked();
    let picked = scratch.rev("side~1");
    scratch.git(&["cherry-pick", "-x", "side~1"]);
    let repo = scratch.open();
    let head = repo.commit(scratch.rev("HEAD")).unwrap();
    assert_eq!(repo.named_sources(&head, CommitKind::CherryPick).unwrap(), [picked]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::pick(picked)), TreeVerdict::Same);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::pick(scratch.rev("side"))), TreeVerdict::Other);
    scratch.write("dir/text", &LINES.replace('9', "another"));
    scratch.git(&["commit", "-qa", "--amend", "--no-edit"]);
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::pick(picked)), TreeVerdict::Other);
    // A commit that is not here cannot be compared.
    let gone = "0123456789012345678901234567890123456789".parse().unwrap();
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::pick(gone)), TreeVerdict::Unknown);
}

#[test]
fn nothing_is_written() {
    let scratch = forked();
    scratch.git(&["merge", "-q", "--no-edit", "side"]);
    scratch.write("evil", "e\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "--amend", "--no-edit"]);
    let count = || scratch.git(&["count-objects"]);
    let before = count();
    assert_eq!(made(&scratch, "HEAD", &MergeClaim::Merge), TreeVerdict::Other);
    assert_eq!(count(), before);
}
