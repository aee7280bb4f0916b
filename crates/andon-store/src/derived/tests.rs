use proptest::prelude::*;

use super::*;
use andon_core::domain::{Checklist, DiffHash, DocsState, Hunk, HunkHash, Nature, Oid, PathStep, Rewrite};

fn commit(byte: u8) -> CommitId {
    CommitId(Oid::from_bytes(&[byte; 20]).unwrap())
}

fn known(byte: u8) -> CommitMemory {
    let hash = HunkHash([byte; 8]);
    let diff = DiffSummary {
        hash: DiffHash([byte; 32]),
        empty: false,
        files: 2,
        added: 3,
        removed: 4,
        hunks: vec![Hunk { removed: hash, added: HunkHash([0; 8]) }; 3],
        truncated: false,
    };
    let paths = vec![PathStep { path: hash, old: hash, new: hash }; 2];
    let list = Checklist { done: 1, total: 2 };
    let docs = Some(DocsState { hash, was: Checklist::default(), now: list });
    let change = ChangeFacts { nature: Nature::Docs, paths, truncated: true, docs, ..ChangeFacts::default() };
    let taken = Weakening { removed: vec!["a".to_owned()], total: 1, ..Weakening::default() };
    let taken = Some((taken, Some("tests/a.py".to_owned())));
    CommitMemory { code: CodeId([byte; 32]), diff, change, taken }
}

/// A cache over these bytes.
fn over(bytes: Vec<u8>) -> DerivedCache {
    let entries = Row::new(&bytes, MAX_VALUE).collect();
    DerivedCache { bytes, entries, ..DerivedCache::empty(b"rules") }
}

fn entries(bytes: std::ops::RangeInclusive<u8>) -> Vec<u8> {
    let none = DerivedCache::empty(b"rules");
    bytes.flat_map(|byte| none.entry(commit(byte), &known(byte))).collect()
}

prop_compose! {
    fn any_known()(
        hashes in any::<[[u8; 32]; 2]>(),
        numbers in any::<[u64; 3]>(),
        flags in any::<[bool; 3]>(),
        hunks in prop::collection::vec(any::<[u8; 8]>(), 0..20),
        paths in prop::collection::vec(any::<[[u8; 8]; 3]>(), 0..8),
        nature in 0..Nature::ALL.len(),
        docs in prop::option::of(any::<([u8; 8], [u64; 4])>()),
    ) -> CommitMemory {
        let [files, added, removed] = numbers;
        let hunk = |hash: &[u8; 8]| Hunk { removed: HunkHash(*hash), added: HunkHash([1; 8]) };
        let step = |[path, old, new]: [[u8; 8]; 3]| {
            PathStep { path: HunkHash(path), old: HunkHash(old), new: HunkHash(new) }
        };
        CommitMemory {
            code: CodeId(hashes[0]),
            diff: DiffSummary {
                hash: DiffHash(hashes[1]),
                empty: flags[0],
                files,
                added,
                removed,
                hunks: hunks.iter().map(hunk).collect(),
                truncated: flags[1],
            },
            taken: flags[0].then(|| (Weakening::default(), None)),
            change: ChangeFacts {
                nature: Nature::ALL[nature].0,
                paths: paths.into_iter().map(step).collect(),
                truncated: flags[2],
                docs: docs.map(|(hash, [a, b, c, d])| DocsState {
                    hash: HunkHash(hash),
                    was: Checklist { done: a, total: b },
                    now: Checklist { done: c, total: d },
                }),
                rewrites: vec![Rewrite { path: HunkHash(hashes[0][..8].try_into().unwrap()), percent: files }; 2],
                pipelines: vec![HunkHash(hashes[0][..8].try_into().unwrap())],
            },
        }
    }
}

proptest! {
    #[test]
    fn what_was_put_in_comes_out(known in any_known(), byte in any::<u8>()) {
        let none = DerivedCache::empty(b"rules");
        let cache = over(none.entry(commit(byte), &known));
        prop_assert_eq!(cache.get(commit(byte)), Some(known));
        prop_assert_eq!(cache.get(commit(byte.wrapping_add(1))), None);
    }

    #[test]
    fn no_bytes_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..200_usize) {
        over(bytes.clone());
        let mut mixed = entries(1..=2);
        let at = at.min(mixed.len());
        mixed.splice(at..at, bytes);
        let cache = over(mixed);
        for byte in 1..=2 {
            prop_assert!(cache.get(commit(byte)).is_none_or(|found| found == known(byte)));
        }
    }
}

#[test]
fn other_rules_have_other_answers() {
    let mut cache = over(entries(1..=1));
    assert_eq!(cache.get(commit(1)), Some(known(1)));
    cache.salt = b"other".to_vec();
    assert_eq!(cache.get(commit(1)), None);
}

#[test]
fn torn_entries_are_stepped_over_wherever_they_are_torn() {
    let (first, second, third) = (entries(1..=1), entries(2..=2), entries(3..=3));
    for length in 0..second.len() {
        let torn = [&first[..], &second[..length], &third].concat();
        let cache = over(torn);
        let there = [1, 2, 3].map(|byte| cache.get(commit(byte)).is_some());
        assert_eq!(there, [true, false, true], "{length}");
        let mut bent = [&first[..], &second, &third].concat();
        bent[first.len() + length] ^= 0x20;
        let cache = over(bent);
        let there = [1, 2, 3].map(|byte| cache.get(commit(byte)).is_some());
        assert_eq!(there, [true, false, true], "bent at {length}");
    }
}

#[test]
fn the_file_is_appended_to_and_begins_anew_when_it_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let path = memory(dir.path()).path().to_owned();
    for byte in 1..=3 {
        let mut writer = DerivedWriter::new(dir.path());
        writer.push(&entries(byte..=byte));
        writer.flush();
    }
    let cache = DerivedCache::load(dir.path(), b"rules");
    assert_eq!([1, 2, 3].map(|byte| cache.get(commit(byte))), [1, 2, 3].map(|byte| Some(known(byte))));
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(Kind::DERIVED.max()).unwrap();
    let mut writer = DerivedWriter::new(dir.path());
    writer.push(&entries(4..=4));
    writer.flush();
    assert_eq!(std::fs::read(&path).unwrap(), entries(4..=4));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(DerivedCache::load(dir.path(), b"rules").get(commit(4)), None);
}
