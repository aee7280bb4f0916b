//! Recorded commits in bytes, and what was derived of commits, for caches of this program alone: to decode a window of
//! records from JSON at every commit is a fifth of what post-commit costs. No format for others: whoever keeps these
//! bytes keeps a checksum and a version with them, which changes when anything here does.
//!
//! Numbers are little-endian base 128, texts and lists have their length in front, names of sets are their place in them.

use super::checksum::first;
use crate::domain::change::{ChangeFacts, Checklist, DocsState, Nature, PathStep};
use crate::domain::facts::{
    CommitFact, CommitKind, CommitRecord, DiffSummary, Gate, Hunk, Prev, RecordedFinding, Recording, Skip,
    Usage, Weakening,
};
use crate::domain::findings::Level;
use crate::domain::ids::{CodeId, CommitId, DiffHash, Digest, EntryId, HunkHash, Oid, Signature, TreeId};
use crate::domain::tests::{Caveats, Counts, RunOrigin, TestEvidence, TestStatus};
use crate::domain::time::{Timestamp, Uptime};

const RECORDINGS: [Recording; 4] =
    [Recording::AtCommit, Recording::CaughtUp, Recording::Backfilled, Recording::Derived];

/// A recorded commit in bytes; nothing for one without an id.
pub(super) fn encode(fact: &CommitFact) -> Vec<u8> {
    let mut into = Put(Vec::with_capacity(512));
    if let Some(id) = fact.id {
        into.oid(id.0);
        into.text(&fact.subject);
        into.record(&fact.record);
    }
    into.0
}

/// What [`encode`] wrote: the whole of `bytes`.
pub(super) fn decode(bytes: &[u8]) -> Option<CommitFact> {
    let mut left = Take(bytes);
    let id = Some(CommitId(left.oid()?));
    let fact = CommitFact { id, subject: left.text()?, record: left.record()? };
    left.is_empty().then_some(fact)
}

/// The commit and the subject of what [`encode`] wrote.
pub(super) fn subject(bytes: &[u8]) -> Option<(CommitId, String)> {
    let mut left = Take(bytes);
    Some((CommitId(left.oid()?), left.text()?))
}

fn place<T: PartialEq>(mut all: impl Iterator<Item = T>, value: &T) -> u64 {
    all.position(|known| known == *value).map_or(u64::MAX, |at| at as u64)
}

/// Writes at the end.
pub(super) struct Put(pub(super) Vec<u8>);

impl Put {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn oid(&mut self, id: Oid) {
        self.number(id.as_bytes().len() as u64);
        self.0.extend_from_slice(id.as_bytes());
    }

    fn some<T>(&mut self, value: Option<&T>, put: impl FnOnce(&mut Self, &T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn list<T>(&mut self, list: &[T], put: impl Fn(&mut Self, &T)) {
        self.number(list.len() as u64);
        for item in list {
            put(self, item);
        }
    }

    fn texts(&mut self, list: &[String]) {
        self.list(list, |into, text| into.text(text));
    }

    /// Every member by its name, so that one that is added cannot be forgotten here.
    fn record(&mut self, record: &CommitRecord) {
        let CommitRecord { recorded_at, tree, parent, prev, kind, gate, recording, .. } = record;
        let CommitRecord { node, session, iteration, code, diff, change, tests, .. } = record;
        let CommitRecord { weakening, skipped, outputs, usage, ledger, findings, uptime, .. } = record;
        self.0.extend_from_slice(&recorded_at.0.to_le_bytes());
        self.some(uptime.as_ref(), |into, uptime| {
            into.number(uptime.boot);
            into.number(uptime.seconds);
        });
        self.oid(tree.0);
        self.some(parent.as_ref(), |into, id| into.oid(id.0));
        self.prev(*prev);
        self.number(place(CommitKind::ALL.iter().map(|(kind, _)| *kind), kind));
        self.number(place(Gate::ALL.iter().map(|(gate, _)| *gate), gate));
        self.number(place(RECORDINGS.iter().copied(), recording));
        self.text(node);
        self.some(session.as_ref(), |into, session| into.text(session));
        self.number(*iteration);
        self.0.extend(code.0);
        self.diff(diff);
        self.some(change.as_ref(), Self::change);
        self.some(tests.as_ref(), Self::tests);
        self.some(weakening.as_ref(), Self::weakening);
        self.list(skipped, |into, skip| {
            into.text(&skip.rule);
            into.text(&skip.reason);
            into.some(skip.agent.as_ref(), |into, agent| into.text(agent));
        });
        self.list(outputs, |into, output| into.0.extend(output.0));
        self.some(usage.as_ref(), Self::usage);
        self.list(&Vec::from_iter(ledger), |into, (writer, entry)| {
            into.text(writer);
            into.0.extend(entry.0);
        });
        self.list(findings, |into, finding| {
            into.text(&finding.rule);
            into.number(place(Level::ALL.iter().map(|(level, _)| *level), &finding.level));
            into.text(&finding.message);
        });
    }

    fn prev(&mut self, prev: Prev) {
        match prev {
            Prev::Unsaid => self.number(0),
            Prev::Line(digest) => {
                self.number(1);
                self.0.extend(digest.0);
            }
            Prev::Absent => self.number(2),
        }
    }

    pub(super) fn diff(&mut self, diff: &DiffSummary) {
        let DiffSummary { hash, empty, files, added, removed, hunks, truncated } = diff;
        self.0.extend(hash.0);
        self.flag(*empty);
        for number in [files, added, removed] {
            self.number(*number);
        }
        self.list(hunks, |into, hunk| into.0.extend(hunk.removed.0.iter().chain(&hunk.added.0)));
        self.flag(*truncated);
    }

    pub(super) fn change(&mut self, change: &ChangeFacts) {
        let ChangeFacts { nature, paths, truncated, docs } = change;
        self.number(place(Nature::ALL.iter().map(|(nature, _)| *nature), nature));
        self.list(paths, |into, step| {
            into.0.extend(step.path.0.iter().chain(&step.old.0).chain(&step.new.0));
        });
        self.flag(*truncated);
        self.some(docs.as_ref(), |into, docs| {
            into.0.extend(docs.hash.0);
            for number in [docs.was.done, docs.was.total, docs.now.done, docs.now.total] {
                into.number(number);
            }
        });
    }

    fn tests(&mut self, tests: &TestEvidence) {
        let TestEvidence { code, status, counts, signature, errors, failing, truncated, .. } = tests;
        let TestEvidence { runner, command, caveats, .. } = tests;
        self.0.extend(code.0);
        self.number(place(TestStatus::ALL.iter().map(|(status, _)| *status), status));
        let Counts { total, passed, failed, errored, skipped } = *counts;
        for number in [total, passed, failed, errored, skipped] {
            self.number(number);
        }
        self.0.extend(signature.0);
        self.some(errors.as_ref(), |into, errors| into.0.extend(errors.0));
        self.texts(failing);
        self.flag(*truncated);
        self.text(runner);
        self.text(command);
        let Caveats { origin, full_run, flaky } = caveats;
        self.flag(*origin == RunOrigin::HandedIn);
        self.some(full_run.as_ref(), |into, full| into.number(*full));
        self.texts(flaky);
    }

    fn weakening(&mut self, weakening: &Weakening) {
        let Weakening { removed, skipped, loosened, total, failing, ran, waiver } = weakening;
        for names in [removed, skipped, loosened] {
            self.texts(names);
        }
        for number in [total, failing, ran] {
            self.number(*number);
        }
        self.some(waiver.as_ref(), |into, waiver| into.text(waiver));
    }

    /// Without what is no part of records.
    fn usage(&mut self, usage: &Usage) {
        let number = |into: &mut Self, number: &u64| into.number(*number);
        self.some(usage.input_tokens.as_ref(), number);
        self.some(usage.output_tokens.as_ref(), number);
        self.some(usage.cost_usd.as_ref(), |into, cost| into.text(cost));
        self.some(usage.context_tokens.as_ref(), number);
    }
}

/// What is left to be read.
pub(super) struct Take<'a>(pub(super) &'a [u8]);

impl<'a> Take<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Whether all was read.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N).map(first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn flag(&mut self) -> Option<bool> {
        self.array().and_then(|[flag]| (flag <= 1).then_some(flag == 1))
    }

    fn text(&mut self) -> Option<String> {
        let count = self.count()?;
        std::str::from_utf8(self.bytes(count)?).ok().map(str::to_owned)
    }

    fn oid(&mut self) -> Option<Oid> {
        let count = self.count()?;
        Oid::from_bytes(self.bytes(count)?)
    }

    fn hash(&mut self) -> Option<HunkHash> {
        self.array().map(HunkHash)
    }

    fn named<T: Copy>(&mut self, all: &[(T, &str)]) -> Option<T> {
        all.get(self.count()?).map(|(value, _)| *value)
    }

    /// The inner `None` is what was written as absent.
    #[expect(clippy::option_option, reason = "that something is absent was read, or nothing could be")]
    fn some<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { take(self).map(Some) } else { Some(None) }
    }

    /// Nothing is set aside for a length that the bytes cannot keep.
    fn list<T>(&mut self, take: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count().filter(|count| *count <= self.0.len())?;
        (0..count).map(|_| take(self)).collect()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        self.list(Self::text)
    }

    fn prev(&mut self) -> Option<Prev> {
        match self.number()? {
            0 => Some(Prev::Unsaid),
            1 => self.array().map(|digest| Prev::Line(Digest(digest))),
            2 => Some(Prev::Absent),
            _ => None,
        }
    }

    fn record(&mut self) -> Option<CommitRecord> {
        Some(CommitRecord {
            recorded_at: Timestamp(self.array().map(i64::from_le_bytes)?),
            uptime: self.some(|left| Some(Uptime { boot: left.number()?, seconds: left.number()? }))?,
            tree: TreeId(self.oid()?),
            parent: self.some(|left| left.oid().map(CommitId))?,
            prev: self.prev()?,
            kind: self.named(&CommitKind::ALL)?,
            gate: self.named(&Gate::ALL)?,
            recording: *RECORDINGS.get(self.count()?)?,
            node: self.text()?,
            session: self.some(Self::text)?,
            iteration: self.number()?,
            code: CodeId(self.array()?),
            diff: self.diff()?,
            change: self.some(Self::change)?,
            tests: self.some(Self::tests)?,
            weakening: self.some(Self::weakening)?,
            skipped: self.list(|left| {
                let (rule, reason) = (left.text()?, left.text()?);
                Some(Skip { rule, reason, agent: left.some(Self::text)? })
            })?,
            outputs: self.list(|left| left.array().map(Digest))?,
            usage: self.some(Self::usage)?,
            ledger: self.list(|left| Some((left.text()?, EntryId(left.array()?))))?.into_iter().collect(),
            findings: self.list(|left| {
                let (rule, level) = (left.text()?, left.named(&Level::ALL)?);
                Some(RecordedFinding { rule, level, message: left.text()? })
            })?,
        })
    }

    pub(super) fn diff(&mut self) -> Option<DiffSummary> {
        Some(DiffSummary {
            hash: DiffHash(self.array()?),
            empty: self.flag()?,
            files: self.number()?,
            added: self.number()?,
            removed: self.number()?,
            hunks: self.list(|left| Some(Hunk { removed: left.hash()?, added: left.hash()? }))?,
            truncated: self.flag()?,
        })
    }

    pub(super) fn change(&mut self) -> Option<ChangeFacts> {
        let list = |left: &mut Self| Some(Checklist { done: left.number()?, total: left.number()? });
        Some(ChangeFacts {
            nature: self.named(&Nature::ALL)?,
            paths: self
                .list(|left| Some(PathStep { path: left.hash()?, old: left.hash()?, new: left.hash()? }))?,
            truncated: self.flag()?,
            docs: self
                .some(|left| Some(DocsState { hash: left.hash()?, was: list(left)?, now: list(left)? }))?,
        })
    }

    fn tests(&mut self) -> Option<TestEvidence> {
        Some(TestEvidence {
            code: CodeId(self.array()?),
            status: self.named(&TestStatus::ALL)?,
            counts: Counts {
                total: self.number()?,
                passed: self.number()?,
                failed: self.number()?,
                errored: self.number()?,
                skipped: self.number()?,
            },
            signature: Signature(self.array()?),
            errors: self.some(|left| left.array().map(Signature))?,
            failing: self.texts()?,
            truncated: self.flag()?,
            runner: self.text()?,
            command: self.text()?,
            caveats: Caveats {
                origin: if self.flag()? { RunOrigin::HandedIn } else { RunOrigin::Here },
                full_run: self.some(Self::number)?,
                flaky: self.texts()?,
            },
        })
    }

    fn weakening(&mut self) -> Option<Weakening> {
        Some(Weakening {
            removed: self.texts()?,
            skipped: self.texts()?,
            loosened: self.texts()?,
            total: self.number()?,
            failing: self.number()?,
            ran: self.number()?,
            waiver: self.some(Self::text)?,
        })
    }

    fn usage(&mut self) -> Option<Usage> {
        Some(Usage {
            input_tokens: self.some(Self::number)?,
            output_tokens: self.some(Self::number)?,
            cost_usd: self.some(Self::text)?,
            context_tokens: self.some(Self::number)?,
            ..Usage::default()
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::format::v1::{any_record, decode_commit};
    use proptest::prelude::*;

    const GOLDEN: &[u8] = include_bytes!("../../tests/format/v1/commit-full.json");

    pub(in crate::record) fn golden() -> CommitFact {
        let id = Some("0123456789abcdef0123456789abcdef01234567".parse().unwrap());
        CommitFact { id, subject: "S\u{e9} \u{1b}".into(), record: decode_commit(GOLDEN).unwrap().record }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(record in any_record()) {
            let fact = CommitFact { record, ..golden() };
            prop_assert_eq!(decode(&encode(&fact)), Some(fact));
        }

        #[test]
        fn no_bytes_panic_or_cost_memory(bytes in prop::collection::vec(any::<u8>(), 0..600), at in 0..2_000_usize) {
            decode(&bytes);
            let mut whole = encode(&golden());
            let at = at % whole.len();
            whole.splice(at..whole.len().min(at + bytes.len()), bytes);
            decode(&whole);
        }
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_not_read() {
        let whole = encode(&golden());
        assert!((0..whole.len()).all(|end| decode(&whole[..end]).is_none()));
        assert_eq!(decode(&[whole, vec![0]].concat()), None);
    }
}
