use super::*;
use crate::scratch::{Scratch, commit_id as id};

const NAME: &str = "refs/notes/andon";
const AT: Timestamp = Timestamp(1_700_000_000);

fn put(repo: &Repo, name: &str, number: u64, text: &str) -> CommitId {
    let note = (id(number), text.as_bytes().to_vec());
    repo.notes_write(name, &[note], AT, |_, new, _| new.to_vec()).unwrap().unwrap()
}

fn note(number: u64, text: Option<&str>) -> (CommitId, Option<Vec<u8>>) {
    (id(number), text.map(|text| text.as_bytes().to_vec()))
}

fn join(repo: &Repo, notes: &[(CommitId, Option<Vec<u8>>)], from: &[CommitId]) -> Option<CommitId> {
    let joined = NotesToJoin { name: NAME, notes, from, at: AT };
    repo.notes_join(joined, |_, _, theirs| theirs.map(<[u8]>::to_vec)).unwrap()
}

#[test]
fn what_is_new_changed_or_gone_is_told() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let first = put(&repo, "refs/notes/a", 1, "one\n");
    put(&repo, "refs/notes/a", 2, "two\n");
    let tip = put(&repo, "refs/notes/a", 1, "one more\n");
    let since = repo.notes_since(NAME, Some(first), tip).unwrap();
    assert_eq!(since.notes.len(), 2);
    assert!(since.notes.contains(&note(1, Some("one more\n"))));
    assert_eq!(repo.notes_since(NAME, None, first).unwrap().notes, [note(1, Some("one\n"))]);
    assert_eq!(repo.notes_since(NAME, Some(tip), tip).unwrap(), NotesSince::default());
    assert!(repo.notes_since(NAME, Some(tip), first).unwrap().notes.contains(&note(2, None)));
}

#[test]
fn what_is_joined_has_the_tips_among_its_parents_and_nothing_new_makes_no_commit() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let (a, b) = (put(&repo, "refs/notes/a", 1, "a\n"), put(&repo, "refs/notes/b", 2, "b\n"));
    let ours = put(&repo, NAME, 3, "c\n");
    let notes = [note(1, Some("a\n")), note(2, Some("b\n"))];
    let made = join(&repo, &notes, &[a, b, a]).unwrap();
    assert_eq!(repo.commit(made).unwrap().parents, [ours, a, b]);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 3);
    assert_eq!(join(&repo, &notes, &[a, b]), Some(made));
    let without = join(&repo, &[note(1, None), note(9, None)], &[]).unwrap();
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 2);
    assert_eq!(repo.commit(without).unwrap().parents, [made]);
    assert_eq!(join(&repo, &[], &[]), Some(without));
    repo.notes_move_on(NAME, &[a], AT).unwrap();
    assert_eq!(repo.commit(scratch.rev(NAME)).unwrap().parents, [without, a]);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 2);
    scratch.git(&["fsck", "--strict"]);
}

#[test]
fn only_what_was_written_here_is_told_of() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let since = put(&repo, NAME, 1, "a\n");
    let second = put(&repo, NAME, 2, "b\n");
    let theirs = put(&repo, "refs/notes/x", 7, "x\n");
    let merged = join(&repo, &[note(7, Some("x\n"))], &[theirs]).unwrap();
    let last = put(&repo, NAME, 3, "c\n");
    assert_eq!(repo.notes_written_since(last, since, 9).unwrap(), Some(vec![second, last]));
    assert_eq!(repo.notes_written_since(last, last, 9).unwrap(), Some(vec![]));
    assert_eq!(repo.notes_written_since(last, since, 2).unwrap(), None);
    assert_eq!(repo.notes_written_since(merged, theirs, 9).unwrap(), None);
}
