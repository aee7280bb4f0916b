//! Facts for tests, short enough to write tables of them.

pub mod arbitrary;

use andon_core::domain::{
    Ack, Arguments, CallHashes, ChangeFacts, Checklist, CodeId, CommitFact, CommitId, CommitKind,
    CommitRecord, Cycle, CycleBudget, DiffHash, DiffSummary, DocsState, Edge, Edits, Event, EventKind, Fact,
    Gate, Hunk, HunkHash, Nature, Node, Oid, PathStep, Recording, Rewrite, RunValidity, ShortHash, Signature,
    Span, TestEvidence, TestRun, TestStatus, Timestamp, ToolCall, TreeId, TurnEnd, Workflow,
};
use andon_core::history::{Fold, Timeline};

/// Session gap of the tests: six hours.
pub const GAP: Span = Span(21_600);

pub fn code(byte: u8) -> CodeId {
    CodeId([byte; 32])
}

pub fn oid(number: u64) -> Oid {
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
        total,
        passed: total.saturating_sub(failed),
        failed,
        failing: failing.iter().map(ToString::to_string).collect(),
        runner: "tap".into(),
        command: "sh tests.sh".into(),
        ..TestEvidence::new(code(state), status, signature(status, failing))
    }
}

/// Tests on code `state`; `failing` fail.
pub fn red(state: u8, failing: &[&str], total: u64) -> TestEvidence {
    evidence(state, TestStatus::Failed, failing, total)
}

/// Tests on code `state` that pass.
pub fn green(state: u8, total: u64) -> TestEvidence {
    evidence(state, TestStatus::Passed, &[], total)
}

/// A result of another class on code `state`.
pub fn other(state: u8, status: TestStatus) -> TestEvidence {
    evidence(state, status, &[], 0)
}

/// A valid run with that result.
pub fn run(evidence: TestEvidence) -> TestRun {
    TestRun {
        at: None,
        evidence,
        validity: RunValidity::Valid,
        base: None,
        overlay: Vec::new(),
        overlay_truncated: false,
        beside: Vec::new(),
    }
}

pub fn ack(at: i64) -> Fact {
    Fact::Ack(Box::new(Ack { worktree: "main".into(), ..Ack::new("P <p@x>", Timestamp(at)) }))
}

/// A person resets one counter.
pub fn reset(counter: &str) -> Fact {
    let Fact::Ack(answer) = ack(0) else { unreachable!() };
    Fact::Ack(Box::new(Ack { counter: Some(counter.into()), ..*answer }))
}

/// An event without time or node.
pub fn event(what: EventKind) -> Fact {
    Fact::Event(Box::new(Event {
        at: None,
        uptime: None,
        node: None,
        session: None,
        id: None,
        trace: None,
        what,
    }))
}

/// An event of `node` at `seconds`.
pub fn event_of(node: &str, seconds: i64, what: EventKind) -> Fact {
    Fact::Event(Box::new(Event {
        uptime: None,
        at: Some(Timestamp(seconds)),
        node: Some(node.into()),
        session: None,
        id: None,
        trace: None,
        what,
    }))
}

/// A turn ends with code `state`.
pub fn turn_end(state: u8) -> Fact {
    event(EventKind::TurnEnd(TurnEnd { code: Some(code(state)), docs: None }))
}

/// A call of `tool` with arguments and an answer by number.
pub fn call(tool: &str, args: u8, answer: Option<u8>) -> ToolCall {
    let answer = answer.map(|answer| ShortHash([answer; 8]));
    ToolCall {
        args: Arguments::Known,
        hashes: CallHashes {
            exact: ShortHash([args; 8]),
            coarse: ShortHash([tool.len().try_into().unwrap(); 8]),
        },
        result: answer,
        whole: answer,
        gist: answer,
        ..ToolCall::bare(tool.into())
    }
}

/// The timeline of facts in a workflow of `coder` and `verifier`, whose cycle has these budgets.
pub fn in_workflow(facts: Vec<Fact>, iterations: Option<u64>, cost: Option<u64>) -> Timeline {
    let node = |name: &str| Node {
        name: name.into(),
        edits: Edits::Expected,
        matches: vec![],
        max_turns: None,
        max_runtime: None,
    };
    let edge = |from: &str, to: &str| Edge { from: from.into(), to: to.into() };
    let workflow = Workflow {
        nodes: vec![node("coder"), node("verifier")],
        edges: vec![edge("coder", "verifier"), edge("verifier", "coder")],
        cycles: vec![Cycle {
            id: "coder+verifier:coder->verifier,verifier->coder".into(),
            nodes: vec!["coder".into(), "verifier".into()],
            anchor: edge("verifier", "coder"),
            budget: CycleBudget { max_iterations: iterations, max_runtime: None, max_cost: cost },
        }],
    };
    let mut fold = Fold::new(GAP).in_workflow(workflow.into());
    for fact in facts {
        fold.push(fact);
    }
    fold.into_timeline()
}

/// The timeline of facts as they are.
pub fn folded(facts: Vec<Fact>) -> Timeline {
    let mut fold = Fold::new(GAP);
    for fact in facts {
        fold.push(fact);
    }
    fold.into_timeline()
}

/// A commit in the making. Ids, parents and times are filled in by [`timeline`].
#[derive(Debug, Clone)]
pub struct Commit(pub CommitFact);

/// A normal commit that brings code `state`, with a diff of its own.
pub fn commit(state: u8) -> Commit {
    let diff = DiffSummary {
        hash: DiffHash([0; 32]),
        empty: false,
        files: 1,
        added: 1,
        removed: 1,
        hunks: Vec::new(),
        truncated: false,
    };
    let tree = TreeId(oid(u64::from(state)));
    let record =
        CommitRecord { gate: Gate::Passed, ..CommitRecord::new(Timestamp(0), tree, code(state), diff) };
    let (subject, author) = (format!("work on {state}"), String::new());
    Commit(CommitFact { id: None, subject, author, record, named: None })
}

impl Commit {
    pub fn record(&mut self) -> &mut CommitRecord {
        &mut self.0.record
    }

    pub fn tests(mut self, tests: TestEvidence) -> Self {
        self.0.record.tests = Some(tests);
        self
    }

    pub fn kind(mut self, kind: CommitKind) -> Self {
        self.0.record.kind = kind;
        self
    }

    pub fn subject(mut self, subject: &str) -> Self {
        self.0.subject = subject.into();
        self
    }

    pub fn author(mut self, author: &str) -> Self {
        self.0.author = author.into();
        self
    }

    /// The diff named `byte`; without it every commit has a diff of its own.
    pub fn diff(mut self, byte: u8) -> Self {
        self.0.record.diff.hash = DiffHash([byte; 32]);
        self
    }

    /// The parts of the diff; the paths are (path, old, new).
    pub fn change(mut self, nature: Nature, paths: &[(u8, u8, u8)]) -> Self {
        let hash = |byte: u8| HunkHash([byte; 8]);
        let step =
            |&(path, old, new): &(u8, u8, u8)| PathStep { path: hash(path), old: hash(old), new: hash(new) };
        let paths = paths.iter().map(step).collect();
        self.0.record.change = Some(ChangeFacts { nature, paths, ..ChangeFacts::default() });
        self
    }

    /// The files that are rewritten, with the share of each in percent; after [`Self::change`].
    pub fn rewrites(mut self, files: &[(u8, u64)]) -> Self {
        let one = |&(path, percent): &(u8, u64)| Rewrite { path: HunkHash([path; 8]), percent };
        let rewrites = files.iter().map(one).collect();
        self.0.record.change = self.0.record.change.map(|change| ChangeFacts { rewrites, ..change });
        self
    }

    /// The changed files of a build that runs elsewhere; after [`Self::change`].
    pub fn pipelines(mut self, files: &[u8]) -> Self {
        let pipelines = files.iter().map(|path| HunkHash([*path; 8])).collect();
        self.0.record.change = self.0.record.change.map(|change| ChangeFacts { pipelines, ..change });
        self
    }

    /// Documents in state `state`, with ticked and all items before and after.
    pub fn docs(mut self, state: u8, was: (u64, u64), now: (u64, u64)) -> Self {
        let list = |(done, total): (u64, u64)| Checklist { done, total };
        let docs = DocsState { hash: HunkHash([state; 8]), was: list(was), now: list(now) };
        let change = ChangeFacts { nature: Nature::Docs, docs: Some(docs), ..ChangeFacts::default() };
        self.0.record.change = Some(change);
        self
    }

    /// Hunks by the names of their two sides.
    pub fn hunks(mut self, hunks: &[(u8, u8)]) -> Self {
        let hash = |byte: u8| HunkHash([byte; 8]);
        let hunk = |&(removed, added): &(u8, u8)| Hunk { removed: hash(removed), added: hash(added) };
        self.0.record.diff.hunks = hunks.iter().map(hunk).collect();
        self
    }

    pub fn lines(mut self, added: u64, removed: u64) -> Self {
        (self.0.record.diff.added, self.0.record.diff.removed) = (added, removed);
        self
    }

    /// A change that is empty after normalization.
    pub fn cosmetic(mut self) -> Self {
        self = self.empty();
        self.0.record.diff.files = 1;
        self
    }

    pub fn recording(mut self, recording: Recording) -> Self {
        self.0.record.recording = recording;
        self
    }

    pub fn empty(mut self) -> Self {
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

    pub fn at(mut self, seconds: i64) -> Self {
        self.0.record.recorded_at = Timestamp(seconds);
        self
    }

    pub fn session(mut self, session: &str) -> Self {
        self.0.record.session = Some(session.into());
        self
    }

    pub fn number(mut self, number: u64) -> Self {
        self.0.record.iteration = number;
        self
    }

    pub fn fact(self) -> Fact {
        Fact::Commit(Box::new(self.0))
    }
}

/// The commits as facts: a chain with ids, and a diff of its own for each that names none.
pub fn chain(commits: Vec<Commit>) -> Vec<Fact> {
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
pub fn timeline(commits: Vec<Commit>) -> Timeline {
    let mut fold = Fold::new(GAP);
    for fact in chain(commits) {
        fold.push(fact);
    }
    fold.into_timeline()
}
