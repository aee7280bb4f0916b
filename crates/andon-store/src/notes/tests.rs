use super::*;
use crate::window::{read_window, remember, settled};
use crate::{Window, WindowVerdict, testkit::Scratch};
use andon_core::domain::{CommitFact, Oid, TreeId};

const GOLDEN: &str = include_str!("../../../../tests/format/v1/commit-full.json");
const AT: Timestamp = Timestamp(1_700_000_000);

/// A record that fits `commit`.
fn record(scratch: &Scratch, commit: CommitId) -> CommitRecord {
    let info = scratch.repo().commit(commit).unwrap();
    let golden = decode_commit(GOLDEN.as_bytes()).unwrap().record;
    CommitRecord {
        tree: info.tree,
        parent: info.parents.first().copied(),
        recording: Recording::AtCommit,
        ..golden
    }
}

fn note(scratch: &Scratch, commit: CommitId) -> String {
    scratch.git(&["notes", "--ref=andon", "show", &commit.to_string()])
}

fn add_line(scratch: &Scratch, commit: CommitId, line: &str) {
    scratch.git(&["notes", "--ref=andon", "append", "--no-separator", "-m", line, &commit.to_string()]);
}

#[test]
fn records_are_readable_with_plain_git_and_written_at_once() {
    let scratch = Scratch::new();
    let ids = [scratch.commit("one"), scratch.commit("two")];
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    assert_eq!(store.get(ids[0]).unwrap(), None);
    store.put(&ids.map(|id| (id, record(&scratch, id))), AT).unwrap();
    for id in ids {
        let stored = store.get(id).unwrap().unwrap();
        assert_eq!(stored.record, record(&scratch, id));
        assert_eq!(stored.line_digest, line_digest(note(&scratch, id).as_bytes()));
        assert_eq!(store.note(id).unwrap().unwrap().bytes, format!("{}\n", note(&scratch, id)).as_bytes());
    }
    assert_eq!(scratch.git(&["rev-list", "--count", REF]), "1");
    assert_eq!(NotesStore::open(&repo).unwrap().get(ids[0]).unwrap(), store.get(ids[0]).unwrap());
}

#[test]
fn a_rewritten_record_replaces_its_older_self_and_keeps_the_rest() {
    let scratch = Scratch::new();
    let id = scratch.commit("one");
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    let mut old = record(&scratch, id);
    old.recorded_at = Timestamp(1);
    store.put(&[(id, old)], AT).unwrap();
    let newer_version = r#"{"schema":"andon/commit@2","x":1}"#;
    add_line(&scratch, id, newer_version);
    add_line(&scratch, id, "not a record");
    let other_tree =
        CommitRecord { tree: TreeId(Oid::from_bytes(&[9; 20]).unwrap()), ..record(&scratch, id) };
    add_line(&scratch, id, encode_commit(&other_tree, &UnknownKeys::default()).trim_end());
    let mut store = NotesStore::open(&repo).unwrap();
    let mut new = record(&scratch, id);
    new.recorded_at = Timestamp(5);
    store.put(&[(id, new.clone())], AT).unwrap();
    let text = note(&scratch, id);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.is_sorted() && lines.contains(&newer_version) && lines.contains(&"not a record"));
    let stored = store.get(id).unwrap().unwrap();
    assert_eq!(stored.record, new);
    // A line that is no object is a person's remark.
    assert_eq!(stored.warnings.len(), 1);
    // A record that was caught up does not replace one that was made at the commit.
    let late = CommitRecord { recording: Recording::CaughtUp, ..new.clone() };
    store.put(&[(id, late)], AT).unwrap();
    assert_eq!(store.get(id).unwrap().unwrap().record, new);
    assert_eq!(note(&scratch, id), text);
}

#[test]
fn unknown_keys_survive_being_replaced() {
    let scratch = Scratch::new();
    let id = scratch.commit("one");
    let line = encode_commit(&record(&scratch, id), &UnknownKeys::default());
    add_line(&scratch, id, line.trim_end().replacen('{', r#"{"aaa_future":[1],"#, 1).as_str());
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    store.put(&[(id, record(&scratch, id))], AT).unwrap();
    assert!(note(&scratch, id).contains(r#""aaa_future":[1]"#));
    assert_eq!(note(&scratch, id).lines().count(), 1);
}

#[test]
fn the_commits_own_tree_and_parent_choose_among_lines() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.commit("one"), scratch.commit("two"));
    let mut foreign = record(&scratch, first);
    foreign.recorded_at = Timestamp(0);
    add_line(&scratch, second, encode_commit(&foreign, &UnknownKeys::default()).trim_end());
    add_line(&scratch, second, encode_commit(&record(&scratch, second), &UnknownKeys::default()).trim_end());
    let repo = scratch.repo();
    let stored = NotesStore::open(&repo).unwrap().get(second).unwrap().unwrap();
    assert_eq!(stored.record.parent, Some(first));
    let derived = DerivedFacts { code: Some(andon_core::domain::CodeId([0; 32])), ..DerivedFacts::default() };
    let earliest = NotesStore::open(&repo).unwrap().note(second).unwrap().unwrap();
    let earliest = earliest.choose(&derived, &BTreeSet::new()).unwrap();
    assert_eq!(earliest.record.parent, None);
}

#[test]
fn an_unreadable_note_names_its_commit_and_the_hint() {
    let scratch = Scratch::new();
    let id = scratch.commit("one");
    let huge = scratch.commit("two");
    add_line(&scratch, id, "\u{1b}[2J{\"schema\":");
    std::fs::write(scratch.path().join("huge"), vec![b'a'; 2 << 20]).unwrap();
    scratch.git(&["notes", "--ref=andon", "add", "-F", "huge", &huge.to_string()]);
    let repo = scratch.repo();
    let store = NotesStore::open(&repo).unwrap();
    for commit in [id, huge] {
        let error = store.get(commit).unwrap_err();
        assert!(error.to_string().contains(&commit.to_string()), "{error}");
        let help = error.help().unwrap();
        assert!(help.contains("git notes --ref=andon ") && help.contains(&commit.to_string()), "{help}");
    }
    // Writing keeps what it cannot read, and refuses to let a note outgrow what is read back.
    let mut store = NotesStore::open(&repo).unwrap();
    store.put(&[(id, record(&scratch, id))], AT).unwrap();
    assert_eq!(note(&scratch, id).lines().count(), 2);
    assert!(store.put(&[(huge, record(&scratch, huge))], AT).is_err());
}

#[test]
fn a_note_that_would_outgrow_its_bound_is_refused_whole() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.commit("one"), scratch.commit("two"));
    std::fs::write(scratch.path().join("large"), "x".repeat((1 << 20) - 10)).unwrap();
    scratch.git(&["notes", "--ref=andon", "add", "-F", "large", &second.to_string()]);
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    let error = store.put(&[first, second].map(|id| (id, record(&scratch, id))), AT).unwrap_err();
    assert!(matches!(error, RecordError::NoteTooLarge { commit, .. } if commit == second));
    assert_eq!(store.get(first).unwrap(), None);
}

#[test]
fn a_window_ends_at_its_first_iteration_at_a_gap_and_at_its_bound() {
    let scratch = Scratch::new();
    let ids: Vec<CommitId> = (0..6).map(|number| scratch.commit(&format!("commit {number}"))).collect();
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    // Iterations: none, 7, 8, 1, 2, 3.
    let records: Vec<(CommitId, CommitRecord)> = [(1, 7), (2, 8), (3, 1), (4, 2), (5, 3)]
        .into_iter()
        .map(|(at, iteration)| (ids[at], CommitRecord { iteration, ..record(&scratch, ids[at]) }))
        .collect();
    store.put(&records, AT).unwrap();
    let found = |head: usize, max| {
        let window = read_window(&repo, &store, Some(ids[head]), max);
        let subjects: Vec<String> = window.facts.iter().map(|fact| fact.subject.clone()).collect();
        (subjects.join(", "), window.unrecorded.len(), window.warnings.len())
    };
    assert_eq!(found(5, 99), ("commit 3, commit 4, commit 5".into(), 0, 0));
    assert_eq!(found(5, 2), ("commit 4, commit 5".into(), 0, 0));
    assert_eq!(found(2, 99), ("commit 1, commit 2".into(), 1, 0));
    assert_eq!(found(0, 99), (String::new(), 1, 0));
    assert!(read_window(&repo, &store, None, 99).facts.is_empty());
    scratch.git(&["notes", "--ref=andon", "add", "-f", "-m", "broken", &ids[4].to_string()]);
    let store = NotesStore::open(&repo).unwrap();
    let window = read_window(&repo, &store, Some(ids[5]), 99);
    // An unreadable record is stepped over: commits 3 and 5 are there.
    assert_eq!((window.facts.len(), window.unrecorded.len(), window.warnings.len()), (2, 0, 1));
}

#[test]
fn a_cached_window_stays_good_beside_notes_of_others_and_none_of_its_own() {
    let scratch = Scratch::new();
    let ids: Vec<CommitId> = (0..6).map(|number| scratch.commit(&format!("commit {number}"))).collect();
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    let at = |at: usize, iteration| (ids[at], CommitRecord { iteration, ..record(&scratch, ids[at]) });
    store.put(&[at(2, 7), at(3, 8)], AT).unwrap();
    let keep = || {
        let store = NotesStore::open(&repo).unwrap();
        let window = read_window(&repo, &store, Some(ids[3]), 9);
        remember(&repo, &store, ids[3], &window, WindowVerdict { max: 9, settled: Some(77) });
        window
    };
    assert_eq!(keep().unrecorded.iter().map(|one| one.commit).collect::<Vec<_>>(), ids[..2]);
    assert_eq!(settled(&repo, ids[3], 9), Some(77));
    // Others write, even so many that the ref is fanned out.
    store.put(&[at(5, 1)], AT).unwrap();
    assert_eq!(settled(&repo, ids[3], 9), Some(77));
    assert_eq!(settled(&repo, ids[3], 8), None);
    assert_eq!(settled(&repo, ids[4], 9), None);
    // One of its own changes, then the gap behind it is filled.
    add_line(&scratch, ids[2], "{another line");
    assert_eq!(settled(&repo, ids[3], 9), None);
    keep();
    assert_eq!(settled(&repo, ids[3], 9), None, "kept with a warning");
    scratch.git(&["notes", "--ref=andon", "remove", &ids[2].to_string()]);
    NotesStore::open(&repo).unwrap().put(&[at(2, 7)], AT).unwrap();
    keep();
    assert_eq!(settled(&repo, ids[3], 9), Some(77));
    NotesStore::open(&repo).unwrap().put(&[at(1, 6)], AT).unwrap();
    assert_eq!(settled(&repo, ids[3], 9), None);
    assert_eq!(read_window(&repo, &NotesStore::open(&repo).unwrap(), Some(ids[3]), 9).facts.len(), 3);
}

#[test]
fn a_window_knows_the_line_that_a_child_names_where_nothing_else_is_in_the_note() {
    let scratch = Scratch::new();
    let ids = [scratch.commit("one"), scratch.commit("two"), scratch.commit("three")];
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    let (mut window, mut lines) = (Window::default(), Vec::new());
    for (number, id) in ids.into_iter().enumerate() {
        if number == 2 {
            let other_tree =
                CommitRecord { tree: TreeId(Oid::from_bytes(&[9; 20]).unwrap()), ..record(&scratch, id) };
            add_line(&scratch, id, encode_commit(&other_tree, &UnknownKeys::default()).trim_end());
            store = NotesStore::open(&repo).unwrap();
        }
        let record = CommitRecord { iteration: number as u64 + 1, ..record(&scratch, id) };
        let line = store.put(&[(id, record.clone())], AT).unwrap().pop().unwrap();
        window = window.followed_by(
            CommitFact { id: Some(id), subject: "s".into(), author: String::new(), record, named: None },
            line.as_deref(),
            9,
        );
        lines.push(window.line_of(id));
        let stored = store.get(id).unwrap().unwrap();
        assert_eq!(window.facts.last().unwrap().record, stored.record, "as a reader has it");
        remember(&repo, &store, id, &window, WindowVerdict { max: 9, settled: None });
        let read = |max| read_window(&repo, &store, Some(id), max).line_of(id);
        assert_eq!(read(9), window.line_of(id), "kept");
        assert_eq!(read(8), Some(stored.line_digest), "walked");
        assert_eq!(window.line_of(ids[(number + 1) % 3]), None, "of another commit");
    }
    let digest = |id| store.get(id).unwrap().map(|stored| stored.line_digest);
    assert_eq!(lines, [digest(ids[0]), digest(ids[1]), None], "a shared note is asked");
}

#[test]
fn a_cached_window_that_was_altered_is_not_believed() {
    let scratch = Scratch::new();
    let ids: Vec<CommitId> = (0..4).map(|number| scratch.commit(&format!("commit {number}"))).collect();
    let repo = scratch.repo();
    let mut store = NotesStore::open(&repo).unwrap();
    let at = |at: usize| (ids[at], CommitRecord { iteration: at as u64, ..record(&scratch, ids[at]) });
    store.put(&[at(1), at(2), at(3)], AT).unwrap();
    let path = repo.git_dir().join("andon/cache/window");
    let long = read_window(&repo, &store, Some(ids[3]), 9);
    let whole = std::fs::read(&path).unwrap();
    // A shorter window is written over a longer one; what it leaves of that does no harm.
    let short = read_window(&repo, &store, Some(ids[3]), 2);
    assert_eq!(std::fs::read(&path).unwrap().len(), whole.len());
    let kept = |max| read_window(&repo, &store, Some(ids[3]), max).facts;
    assert_eq!((short.facts.len(), kept(2)), (2, short.facts.clone()));
    // Every cut and every changed byte: the notes are read instead, and say the same.
    for at in (0..whole.len()).step_by(7) {
        let mut altered = whole.clone();
        altered[at] ^= 4;
        for bytes in [&altered, &whole[..at]] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(kept(9), long.facts, "{at}");
        }
    }
    // A link is replaced, and what it leads to is left alone.
    let victim = repo.git_dir().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    assert_eq!(kept(9), long.facts);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert!(!path.is_symlink());
}
