use super::*;
use crate::scratch::Scratch;
use andon_git::Repo;

const GOLDEN: &str = include_str!("../../../../tests/format/v1/commit-full.json");

#[test]
fn only_lines_that_nobody_has_are_lacking() {
    let other = GOLDEN.replace("\"iteration\":", "\"iteration\":1");
    let both = format!("{GOLDEN}{other}");
    for (note, known, rest) in [
        (GOLDEN, vec![], Some(GOLDEN)),
        (GOLDEN, vec![GOLDEN], None),
        (&both, vec![GOLDEN], Some(other.as_str())),
        (&both, vec![&other, "x\n", GOLDEN], None),
        // An unreadable note is not spread.
        ("{broken\n", vec![], None),
        ("\n", vec![], None),
    ] {
        let known: Vec<Vec<u8>> = known.iter().map(|note| note.as_bytes().to_vec()).collect();
        assert_eq!(lacking(note.as_bytes(), &known).as_deref(), rest.map(str::as_bytes), "{note}");
    }
}

const AT: Timestamp = Timestamp(1_700_000_000);
const OWN: &str = "refs/andon/records/00112233445566778899aabbccddeeff";

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
fn a_record_that_was_changed_shows_in_the_history_of_its_writer() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let since = write(&repo, NOTES_REF, 1, GOLDEN);
    write(&repo, NOTES_REF, 2, GOLDEN);
    let changed = GOLDEN.replace("\"iteration\":", "\"iteration\":1");
    let tip = write(&repo, NOTES_REF, 2, &changed);
    assert!(carry(&repo, OWN, (since, tip), AT).unwrap());
    assert_eq!((note(&repo, OWN, 1), note(&repo, OWN, 2)), (None, Some(changed.clone())));
    let history = repo.notes_history(repo.ref_commit(OWN).unwrap().unwrap());
    assert_eq!(history.map(|changes| changes.unwrap().len()).collect::<Vec<_>>(), [1, 1]);
    // Once more changes nothing, and where nothing leads from one to the other nothing is claimed.
    assert!(carry(&repo, OWN, (tip, tip), AT).unwrap());
    assert!(!carry(&repo, OWN, (id(9), tip), AT).unwrap());
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
    let counted = |received, kept| IntakeReport { received, kept };
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
