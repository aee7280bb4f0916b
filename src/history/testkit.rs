//! Facts for tests, short enough to write tables of them.

use crate::domain::facts::{
    Ack, AckHow, CommitFact, CommitKind, CommitRecord, DiffSummary, Fact, Gate, Recording,
};
use crate::domain::ids::{CodeId, CommitId, DiffHash, Oid, Signature, TreeId};
use crate::domain::tests::{Counts, RunValidity, TestEvidence, TestRun, TestStatus};
use crate::domain::time::{Span, Timestamp};
use crate::history::{Fold, Timeline};

/// Session gap of the tests: six hours.
pub(crate) const GAP: Span = Span(21_600);

pub(crate) fn code(byte: u8) -> CodeId {
    CodeId([byte; 32])
}

pub(crate) fn oid(number: u64) -> Oid {
    let mut raw = [0; 20];
    raw[..8].copy_from_slice(&number.to_be_bytes());
    Oid::from_bytes(&raw).unwrap()
}

fn signature(status: TestStatus, failing: &[&str]) -> Signature {
    use sha2::Digest as _;
    Signature(sha2::Sha256::digest(format!("{status:?} {failing:?}")).into())
}

fn evidence(state: u8, status: TestStatus, failing: &[&str], total: u64) -> TestEvidence {
    let failed = failing.len() as u64;
    TestEvidence {
        code: code(state),
        status,
        counts: Counts { total, passed: total.saturating_sub(failed), failed, ..Counts::default() },
        signature: signature(status, failing),
        errors: None,
        failing: failing.iter().map(ToString::to_string).collect(),
        truncated: false,
        runner: "tap".into(),
        command: "sh tests.sh".into(),
    }
}

/// Tests on code `state` of which `failing` fail.
pub(crate) fn red(state: u8, failing: &[&str], total: u64) -> TestEvidence {
    evidence(state, TestStatus::Failed, failing, total)
}

/// Tests on code `state` that pass.
pub(crate) fn green(state: u8, total: u64) -> TestEvidence {
    evidence(state, TestStatus::Passed, &[], total)
}

/// A result of another class on code `state`.
pub(crate) fn other(state: u8, status: TestStatus) -> TestEvidence {
    evidence(state, status, &[], 0)
}

/// A valid run with that result.
pub(crate) fn run(evidence: TestEvidence) -> TestRun {
    TestRun {
        at: None,
        evidence,
        validity: RunValidity::Valid,
        base: None,
        overlay: Vec::new(),
        overlay_truncated: false,
    }
}

pub(crate) fn ack(at: i64) -> Fact {
    Fact::Ack(Box::new(Ack {
        halt: None,
        by: "P <p@x>".into(),
        how: AckHow::Resume,
        agent: None,
        reason: String::new(),
        head: None,
        worktree: "main".into(),
        at: Timestamp(at),
    }))
}

/// A commit in the making. Ids, parents and times are filled in by [`timeline`].
#[derive(Debug, Clone)]
pub(crate) struct Commit(pub(crate) CommitFact);

/// A normal commit that brings code `state`, with a diff of its own.
pub(crate) fn commit(state: u8) -> Commit {
    Commit(CommitFact {
        id: None,
        subject: format!("work on {state}"),
        record: CommitRecord {
            recorded_at: Timestamp(0),
            tree: TreeId(oid(u64::from(state))),
            parent: None,
            prev: None,
            kind: CommitKind::Normal,
            gate: Gate::Passed,
            recording: Recording::AtCommit,
            node: "agent".into(),
            session: None,
            iteration: 0,
            code: code(state),
            diff: DiffSummary {
                hash: DiffHash([0; 32]),
                empty: false,
                files: 1,
                added: 1,
                removed: 1,
                hunks: Vec::new(),
                truncated: false,
            },
            tests: None,
            outputs: Vec::new(),
            usage: None,
            findings: Vec::new(),
        },
    })
}

impl Commit {
    pub(crate) fn record(&mut self) -> &mut CommitRecord {
        &mut self.0.record
    }

    pub(crate) fn tests(mut self, tests: TestEvidence) -> Self {
        self.0.record.tests = Some(tests);
        self
    }

    pub(crate) fn kind(mut self, kind: CommitKind) -> Self {
        self.0.record.kind = kind;
        self
    }

    pub(crate) fn subject(mut self, subject: &str) -> Self {
        self.0.subject = subject.into();
        self
    }

    /// The diff named `byte`; without it every commit has a diff of its own.
    pub(crate) fn diff(mut self, byte: u8) -> Self {
        self.0.record.diff.hash = DiffHash([byte; 32]);
        self
    }

    pub(crate) fn empty(mut self) -> Self {
        self.0.record.diff = DiffSummary {
            hash: DiffHash([255; 32]),
            empty: true,
            files: 0,
            added: 0,
            removed: 0,
            hunks: Vec::new(),
            truncated: false,
        };
        self
    }

    pub(crate) fn at(mut self, seconds: i64) -> Self {
        self.0.record.recorded_at = Timestamp(seconds);
        self
    }

    pub(crate) fn session(mut self, session: &str) -> Self {
        self.0.record.session = Some(session.into());
        self
    }

    pub(crate) fn number(mut self, number: u64) -> Self {
        self.0.record.iteration = number;
        self
    }

    pub(crate) fn fact(self) -> Fact {
        Fact::Commit(Box::new(self.0))
    }
}

/// The commits as facts: a chain with ids, and a diff of its own for each that names none.
pub(crate) fn chain(commits: Vec<Commit>) -> Vec<Fact> {
    let mut parents: Vec<Option<CommitId>> = vec![None];
    let mut facts = Vec::new();
    for (number, mut commit) in (1_u64..).zip(commits) {
        if commit.record().kind == CommitKind::Amend && parents.len() > 1 {
            parents.pop();
        }
        commit.record().parent = parents.last().copied().flatten();
        if commit.record().diff.hash == DiffHash([0; 32]) {
            let mut hash = [0; 32];
            hash[24..].copy_from_slice(&number.to_be_bytes());
            commit.record().diff.hash = DiffHash(hash);
        }
        commit.0.id = Some(CommitId(oid(number + 1000)));
        parents.push(commit.0.id);
        facts.push(commit.fact());
    }
    facts
}

/// The timeline of a chain of commits.
pub(crate) fn timeline(commits: Vec<Commit>) -> Timeline {
    let mut fold = Fold::new(GAP);
    chain(commits).into_iter().for_each(|fact| fold.push(fact));
    fold.into_timeline()
}
