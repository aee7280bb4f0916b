use proptest::prelude::*;

use super::*;
use crate::testkit::Scratch;

const GOLDEN: &str = include_str!("../../../../tests/format/v1/commit-full.json");
const GOLDEN_BYTES: &[u8] = GOLDEN.as_bytes();

#[test]
fn only_records_that_nobody_has_are_lacking() {
    let other = GOLDEN.replace("\"iteration\":", "\"iteration\":1");
    let both = format!("{GOLDEN}{other}");
    for (note, known, more) in [
        (GOLDEN, vec![], true),
        (GOLDEN, vec![GOLDEN], false),
        (&both, vec![GOLDEN], true),
        (&both, vec![&other, "x\n", GOLDEN], false),
        // An unreadable note is not spread.
        ("{broken\n", vec![], false),
        ("\n", vec![], false),
    ] {
        let known: Vec<Vec<u8>> = known.iter().map(|note| note.as_bytes().to_vec()).collect();
        assert_eq!(has_more(note.as_bytes(), &known), more, "{note}");
    }
}

const AT: Timestamp = Timestamp(1_700_000_000);

fn id(number: u8) -> CommitId {
    format!("{number:040x}").parse().unwrap()
}

fn write(repo: &Repo, name: &str, number: u8, text: &str) -> CommitId {
    let note = (id(number), text.as_bytes().to_vec());
    repo.notes_write(name, &[note], AT, |_, new, _| new.to_vec()).unwrap().unwrap()
}

fn note(repo: &Repo, name: &str, number: u8) -> Option<String> {
    let note = repo.notes(name).unwrap().get(id(number)).unwrap();
    note.map(|note| String::from_utf8(note).unwrap())
}

#[test]
fn what_several_remotes_hold_together_is_not_lacking() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let other = GOLDEN.replace("\"iteration\":", "\"iteration\":1");
    let (a, b) = (write(&repo, "refs/a", 1, GOLDEN), write(&repo, "refs/b", 1, &other));
    write(&repo, NOTES_REF, 1, &format!("{GOLDEN}{other}"));
    let tip = write(&repo, NOTES_REF, 2, "{broken\n");
    assert_eq!(
        [&[][..], &[a], &[a, b], &[tip]].map(|others| lacking(&repo, tip, others).unwrap()),
        [1, 1, 0, 0]
    );
}

#[test]
fn writers_are_taken_in_at_once_and_what_is_taken_away_is_kept() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let (a, b) = (write(&repo, "refs/a", 1, GOLDEN), write(&repo, "refs/b", 2, GOLDEN));
    let mut incoming = WriterNews::default();
    incoming.add(&repo, "a", None, a);
    incoming.add(&repo, "b", None, b);
    // A known state that does not lead there counts for nothing, a tip that is no commit is reported.
    incoming.add(&repo, "b", Some(a), b);
    incoming.add(&repo, "c", None, id(7));
    assert_eq!(incoming.unread.len(), 1);
    let counted = |received, kept| NotesUnion { received, kept, skipped: vec![] };
    assert_eq!(take_in(&repo, &incoming, AT).unwrap(), counted(2, 0));
    assert_eq!(take_in(&repo, &incoming, AT).unwrap(), counted(0, 0));
    let mut away = WriterNews::default();
    away.notes.insert(id(1), None);
    assert_eq!(take_in(&repo, &away, AT).unwrap(), counted(0, 1));
    assert_eq!(note(&repo, NOTES_REF, 1).as_deref(), Some(GOLDEN));
    // An unreadable note is removed where its writer removed it.
    write(&repo, NOTES_REF, 3, "{broken\n");
    let mut away = WriterNews::default();
    away.notes.insert(id(3), None);
    take_in(&repo, &away, AT).unwrap();
    assert_eq!(note(&repo, NOTES_REF, 3), None);
}

#[test]
fn what_was_taken_away_stands_when_it_can_be_read() {
    assert_eq!(note_to_keep(Some(GOLDEN_BYTES), None), Some(GOLDEN_BYTES.to_vec()));
    assert_eq!(note_to_keep(Some(b"{broken\n"), None), None);
    assert_eq!(note_to_keep(None, Some(b"new\n")), Some(b"new\n".to_vec()));
    assert_eq!(note_to_keep(None, None), None);
}

#[test]
fn a_note_never_outgrows_what_is_read_back() {
    let flood: Vec<u8> = (0..MAX_NOTE / 8).flat_map(|number| format!("{number:08}\n").into_bytes()).collect();
    assert_eq!(joined(GOLDEN_BYTES, &flood), GOLDEN_BYTES);
    assert!(joined(&flood[..9], &[&flood, GOLDEN_BYTES].concat()).len() < 20_000);
}

proptest! {
    /// Order and repetition of merges do not matter: all clones get the same bytes.
    #[test]
    fn merging_is_a_union(a in any_note(), b in any_note(), c in any_note()) {
        let join = |left: &[u8], right: &[u8]| joined(left, right);
        prop_assert_eq!(join(&a, &b), join(&b, &a));
        prop_assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
        prop_assert_eq!(join(&join(&a, &b), &b), join(&a, &b));
    }
}

fn any_note() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec("[a-d]{1,3}", 1..6)
        .prop_map(|lines| lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect())
}
