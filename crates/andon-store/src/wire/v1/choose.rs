//! Several lines for one commit: what a merge of notes, `notes.rewriteRef` or two clones leave behind. Readers choose
//! by a rule that needs no trust and gives every clone the same answer.

use std::cmp::Reverse;

use super::commit::{DecodedRecord, decode_commit};
use andon_core::domain::{
    CodeId, CommitId, CommitKind, CommitRecord, DiffHash, Gate, Recording, TestEvidence, TreeId,
};
use andon_core::format::FormatError;

/// Facts of a record that anyone can derive from the commit. A fact that was not derived agrees with every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DerivedFacts {
    /// The commit's tree.
    pub tree: Option<TreeId>,
    /// The first parent; the inner `None` is a root commit.
    pub parent: Option<Option<CommitId>>,
    /// The code fingerprint.
    pub code: Option<CodeId>,
    /// The normalized diff hash.
    pub diff: Option<DiffHash>,
}

impl DerivedFacts {
    /// The facts that a record claims.
    pub fn of(record: &CommitRecord) -> Self {
        Self {
            tree: Some(record.tree),
            parent: Some(record.parent),
            code: Some(record.code),
            diff: Some(record.diff.hash),
        }
    }

    /// True when nothing that was derived contradicts the record.
    pub fn agrees(&self, record: &CommitRecord) -> bool {
        self.tree.is_none_or(|tree| tree == record.tree)
            && self.parent.is_none_or(|parent| parent == record.parent)
            && self.code.is_none_or(|code| code == record.code)
            && self.diff.is_none_or(|diff| diff == record.diff.hash)
    }
}

/// The lines of a note.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice<'a> {
    /// The line that counts for the commit, without its LF; `None` when no line can be read.
    pub best: Option<(&'a [u8], DecodedRecord)>,
    /// Lines that cannot be read, with their number from 1. Next to a record, a line that is no object is a person's
    /// remark (`git notes append`), and not one of these.
    pub unreadable: Vec<(usize, FormatError)>,
}

/// The line of a note that counts for its commit: lines that agree with `derived` win, then those that were not
/// backfilled, then the one least favourable to the commit, then the one that knows of more tests, as a record that was completed at
/// a push does, then the earliest `recorded_at`, then the smallest bytes.
/// Blank lines and duplicates do no harm; adding a more favourable line gains nothing.
pub fn choose_record<'a>(note: &'a [u8], derived: &DerivedFacts) -> Choice<'a> {
    let mut best: Option<(&[u8], DecodedRecord)> = None;
    let (mut unreadable, mut remarks) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(note.split(|byte| *byte == b'\n')) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match decode_commit(line) {
            Err(error) if line.trim_ascii_start().starts_with(b"{") => unreadable.push((number, error)),
            Err(error) => remarks.push((number, error)),
            Ok(decoded) => {
                let rank = |line, decoded: &DecodedRecord| {
                    let record = &decoded.record;
                    let unobserved = record.recording == Recording::Backfilled;
                    let known = record.tests.as_ref().map(|tests| tests.scopes.len());
                    let (standing, known) = (Standing::of(record), Reverse(known));
                    (!derived.agrees(record), unobserved, standing, known, record.recorded_at, line)
                };
                if best.as_ref().is_none_or(|(held, other)| rank(line, &decoded) < rank(held, other)) {
                    best = Some((line, decoded));
                }
            }
        }
    }
    if best.is_none() {
        unreadable.extend(remarks);
        unreadable.sort_by_key(|(number, _)| *number);
    }
    Choice { best, unreadable }
}

/// The facts that cannot be derived from a commit, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    gate: u8,
    tests: u8,
    kind: u8,
}

impl Standing {
    fn of(record: &CommitRecord) -> Self {
        let gate = match record.gate {
            Gate::Bypassed => 0,
            Gate::NotRun => 1,
            Gate::Passed => 2,
        };
        let tests = u8::from(record.tests.as_ref().is_none_or(TestEvidence::is_green));
        let kind = u8::from(!matches!(record.kind, CommitKind::Normal | CommitKind::Amend));
        Self { gate, tests, kind }
    }
}

/// In what the lines of a note contradict each other: of those that agree with `derived` and that a hook wrote. Tests that
/// only one of them knows of are no contradiction.
pub fn disagreement(note: &[u8], derived: &DerivedFacts) -> Option<&'static str> {
    let lines = note.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    let read = lines.filter_map(|line| Some(decode_commit(line).ok()?.record));
    let spoken: Vec<CommitRecord> =
        read.filter(|record| derived.agrees(record) && record.recording != Recording::Backfilled).collect();
    let (first, others) = spoken.split_first()?;
    let results = |record: &CommitRecord| {
        record.tests.as_ref().map(|tests| (tests.status, tests.failing.clone(), tests.signature))
    };
    let known = spoken.iter().find_map(results);
    let kind = |record: &CommitRecord| {
        let amended = record.kind == CommitKind::Amend;
        if amended { CommitKind::Normal } else { record.kind }
    };
    if others.iter().any(|other| other.gate != first.gate) {
        Some("gate")
    } else if spoken.iter().filter_map(results).any(|result| Some(&result) != known.as_ref()) {
        Some("test results")
    } else if others.iter().any(|other| kind(other) != kind(first)) {
        Some("kind")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit::{UnknownKeys, encode_commit};
    use super::*;
    use andon_core::domain::{Oid, Timestamp};

    const GOLDEN: &[u8] = include_bytes!("../../../../../tests/format/v1/commit-full.json");

    fn golden() -> CommitRecord {
        decode_commit(GOLDEN).unwrap().record
    }

    fn line(change: impl Fn(&mut CommitRecord)) -> String {
        let mut record = golden();
        change(&mut record);
        encode_commit(&record, &UnknownKeys::default())
    }

    #[test]
    fn agreement_beats_time_and_time_beats_bytes() {
        let early_other = line(|record| {
            record.recorded_at = Timestamp(5);
            record.tree = TreeId(Oid::from_bytes(&[9; 20]).unwrap());
        });
        let later = line(|record| record.recorded_at = Timestamp(20));
        let earlier = line(|record| record.recorded_at = Timestamp(10));
        let earlier_b = line(|record| {
            record.recorded_at = Timestamp(10);
            record.node = "zz".into();
        });
        let derived = DerivedFacts::of(&golden());
        for note in [
            format!("{early_other}{later}{earlier}{earlier_b}"),
            format!("\n\n{earlier_b}{{garbage\n{earlier}{earlier}\na remark\n{later}{early_other}"),
        ] {
            let Choice { best, unreadable } = choose_record(note.as_bytes(), &derived);
            assert_eq!(best.unwrap().0, earlier.trim_end().as_bytes());
            assert_eq!(unreadable.len(), usize::from(note.contains("garbage")));
        }
        let note = format!("{early_other}{later}");
        let Choice { best, .. } = choose_record(note.as_bytes(), &DerivedFacts::default());
        assert_eq!(best.unwrap().0, early_other.trim_end().as_bytes());
    }

    #[test]
    fn the_worst_line_counts_and_contradictions_are_named() {
        let honest = line(|record| {
            record.recorded_at = Timestamp(10);
            record.gate = Gate::Bypassed;
        });
        let forged = line(|record| {
            record.recorded_at = Timestamp(9);
            record.gate = Gate::Passed;
        });
        let derived = DerivedFacts::of(&golden());
        for note in [format!("{honest}{forged}"), format!("{forged}{honest}")] {
            let Choice { best, .. } = choose_record(note.as_bytes(), &derived);
            assert_eq!(best.unwrap().1.record.gate, Gate::Bypassed);
            assert_eq!(disagreement(note.as_bytes(), &derived), Some("gate"));
        }
        let green = line(|record| {
            record.tests.as_mut().unwrap().status = andon_core::domain::TestStatus::Passed;
            record.recorded_at = Timestamp(1);
        });
        let red = line(|record| record.recorded_at = Timestamp(2));
        let unknown = line(|record| record.tests = None);
        let note = format!("{green}{red}");
        let Choice { best, .. } = choose_record(note.as_bytes(), &derived);
        assert!(!best.unwrap().1.record.tests.unwrap().is_green());
        assert_eq!(disagreement(note.as_bytes(), &derived), Some("test results"));
        assert_eq!(disagreement(format!("{unknown}{red}").as_bytes(), &derived), None);
        // A record that was completed later says more, whatever its bytes.
        let bare = line(|record| (record.tests, record.recorded_at) = (None, Timestamp(0)));
        let note = format!("{bare}{green}");
        assert!(choose_record(note.as_bytes(), &derived).best.unwrap().1.record.tests.is_some());
        let revert = line(|record| record.kind = CommitKind::Revert);
        assert_eq!(disagreement(format!("{revert}{red}").as_bytes(), &derived), Some("kind"));
        let backfilled = line(|record| {
            record.recording = Recording::Backfilled;
            record.gate = Gate::NotRun;
        });
        let later = line(|record| record.recorded_at = Timestamp(3));
        for note in [format!("{red}{backfilled}"), format!("{red}{later}{red}"), red.clone()] {
            assert_eq!(disagreement(note.as_bytes(), &derived), None);
        }
    }

    #[test]
    fn unreadable_lines_are_named_by_number() {
        let note = format!("\n{{\n{}", r#"{"schema":"andon/commit@2"}"#);
        let Choice { best, unreadable } = choose_record(note.as_bytes(), &DerivedFacts::default());
        assert!(best.is_none());
        assert_eq!(unreadable.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
        insta::assert_snapshot!(unreadable[1].1.to_string(), @r#"schema "andon/commit@2" is not "andon/commit@1": it was written by another version of andon, which can read it"#);
    }
}
