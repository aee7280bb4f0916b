//! Facts for tests, short enough to write tables of them.

use crate::domain::change::{ChangeFacts, Checklist, DocsState, Nature, PathStep};
use crate::domain::events::{Arguments, CallEnd, Event, ToolCall, TurnEnd, What};
use crate::domain::facts::{
    Ack, AckHow, CommitFact, CommitKind, CommitRecord, DiffSummary, Fact, Gate, Hunk, Prev, Recording,
};
use crate::domain::ids::{CodeId, CommitId, DiffHash, HunkHash, Oid, ShortHash, Signature, TreeId};
use crate::domain::tests::{Counts, RunValidity, TestEvidence, TestRun, TestStatus};
use crate::domain::time::{Span, Timestamp};
use crate::domain::workflow::{Cycle, CycleBudget, Edge, Edits, Node, Workflow};
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
        caveats: crate::domain::tests::Caveats::default(),
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
        counter: None,
        by: "P <p@x>".into(),
        how: AckHow::Resume,
        agent: None,
        reason: String::new(),
        head: None,
        worktree: "main".into(),
        at: Timestamp(at),
    }))
}

/// A person resets one counter.
pub(crate) fn reset(counter: &str) -> Fact {
    let Fact::Ack(answer) = ack(0) else { unreachable!() };
    Fact::Ack(Box::new(Ack { counter: Some(counter.into()), ..*answer }))
}

/// An event without time or node.
pub(crate) fn event(what: What) -> Fact {
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
pub(crate) fn event_of(node: &str, seconds: i64, what: What) -> Fact {
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
pub(crate) fn turn_end(state: u8) -> Fact {
    event(What::TurnEnd(TurnEnd { code: Some(code(state)), docs: None }))
}

/// A call of `tool` with arguments and an answer by number.
pub(crate) fn call(tool: &str, args: u8, answer: Option<u8>) -> ToolCall {
    ToolCall {
        tool: tool.into(),
        args: Arguments::Known,
        exact: ShortHash([args; 8]),
        masked: ShortHash([args ^ 0x80; 8]),
        coarse: ShortHash([tool.len().try_into().unwrap(); 8]),
        result: answer.map(|answer| ShortHash([answer; 8])),
        end: CallEnd::Unknown,
    }
}

/// The timeline of facts in a workflow of `coder` and `verifier`, whose cycle has these budgets.
pub(crate) fn in_workflow(facts: Vec<Fact>, iterations: Option<u64>, cost: Option<u64>) -> Timeline {
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
pub(crate) fn folded(facts: Vec<Fact>) -> Timeline {
    let mut fold = Fold::new(GAP);
    for fact in facts {
        fold.push(fact);
    }
    fold.into_timeline()
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
            uptime: None,
            tree: TreeId(oid(u64::from(state))),
            parent: None,
            prev: Prev::Unsaid,
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
            change: None,
            tests: None,
            weakening: None,
            skipped: Vec::new(),
            outputs: Vec::new(),
            usage: None,
            ledger: std::collections::BTreeMap::new(),
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

    /// What the diff is made of; the paths are (path, old, new).
    pub(crate) fn change(mut self, nature: Nature, paths: &[(u8, u8, u8)]) -> Self {
        let hash = |byte: u8| HunkHash([byte; 8]);
        let step =
            |&(path, old, new): &(u8, u8, u8)| PathStep { path: hash(path), old: hash(old), new: hash(new) };
        let paths = paths.iter().map(step).collect();
        self.0.record.change = Some(ChangeFacts { nature, paths, truncated: false, docs: None });
        self
    }

    /// Documents in state `state`, with ticked and all items before and after.
    pub(crate) fn docs(mut self, state: u8, was: (u64, u64), now: (u64, u64)) -> Self {
        let list = |(done, total): (u64, u64)| Checklist { done, total };
        let docs = DocsState { hash: HunkHash([state; 8]), was: list(was), now: list(now) };
        self.0.record.change =
            Some(ChangeFacts { nature: Nature::Docs, paths: Vec::new(), truncated: false, docs: Some(docs) });
        self
    }

    /// Hunks by the names of their two sides.
    pub(crate) fn hunks(mut self, hunks: &[(u8, u8)]) -> Self {
        let hash = |byte: u8| HunkHash([byte; 8]);
        let hunk = |&(removed, added): &(u8, u8)| Hunk { removed: hash(removed), added: hash(added) };
        self.0.record.diff.hunks = hunks.iter().map(hunk).collect();
        self
    }

    pub(crate) fn lines(mut self, added: u64, removed: u64) -> Self {
        (self.0.record.diff.added, self.0.record.diff.removed) = (added, removed);
        self
    }

    /// A change of which normalization leaves nothing.
    pub(crate) fn cosmetic(mut self) -> Self {
        self = self.empty();
        self.0.record.diff.files = 1;
        self
    }

    pub(crate) fn recording(mut self, recording: Recording) -> Self {
        self.0.record.recording = recording;
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
    for fact in chain(commits) {
        fold.push(fact);
    }
    fold.into_timeline()
}

/// Arbitrary facts: few values of each kind, so that repetitions happen, and the extremes.
pub(crate) mod facts {
    use proptest::prelude::*;

    use super::{Commit, ack, call, code, commit, evidence as evidence_of, oid, run};
    use crate::domain::events::{Ballot, Clearing, Event, Output, OutputKind, TurnEnd, What};
    use crate::domain::facts::{CommitKind, Fact, Gate, Usage};
    use crate::domain::ids::{CommitId, DiffHash, Digest, ShortHash, Signature};
    use crate::domain::tests::{RunValidity, TestEvidence, TestStatus};
    use crate::domain::time::Timestamp;

    fn pick<T: Clone + std::fmt::Debug + 'static>(of: &[(T, &str)]) -> impl Strategy<Value = T> + use<T> {
        prop::sample::select(of.iter().map(|(value, _)| value.clone()).collect::<Vec<_>>())
    }

    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![10 => 0_i64..100_000, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
    }

    pub(crate) fn evidence() -> impl Strategy<Value = TestEvidence> {
        let counts = prop_oneof![10 => 0_u64..20, 1 => Just(u64::MAX)];
        (
            0_u8..4,
            pick(&TestStatus::ALL),
            prop::collection::vec("[a-c]", 0..4),
            counts,
            prop::option::of(0_u8..3),
        )
            .prop_map(|(state, status, failing, total, errors)| {
                let names: Vec<&str> = failing.iter().map(String::as_str).collect();
                let mut tests = evidence_of(state, status, &names, total);
                tests.errors = errors.map(|error| Signature([error; 32]));
                tests.counts.skipped = total / 3;
                tests
            })
    }

    fn commits() -> impl Strategy<Value = Commit> {
        let what = (0_u8..4, 0_u8..3, pick(&CommitKind::ALL), pick(&Gate::ALL), any::<bool>());
        let number = prop_oneof![6 => Just(0_u64), 6 => 1_u64..9, 1 => Just(u64::MAX)];
        let when = (time(), prop::option::of("[ab]"), number);
        let ids = (prop::option::of(0_u64..12), prop::option::of(0_u64..12));
        let subject = prop_oneof!["[a-z ]{0,8}", Just("Release 1.0".to_owned()), ".{0,200}"];
        (what, when, ids, prop::option::of(evidence()), subject).prop_map(
            |(what, when, ids, tests, subject)| {
                let (state, diff, kind, gate, empty) = what;
                let (at, session, number) = when;
                let mut made = commit(state).kind(kind).at(at).number(number).subject(&subject);
                made.0.id = ids.0.map(|id| CommitId(oid(id)));
                let record = made.record();
                record.parent = ids.1.map(|id| CommitId(oid(id)));
                record.diff.hash = DiffHash([diff; 32]);
                record.diff.empty = empty;
                record.diff.added = number;
                record.gate = gate;
                record.session = session;
                record.tests = tests.map(|tests| TestEvidence { code: code(state), ..tests });
                made
            },
        )
    }

    pub(crate) fn fact() -> impl Strategy<Value = Fact> {
        let runs =
            (evidence(), pick(&RunValidity::ALL), prop::option::of(time())).prop_map(|(tests, valid, at)| {
                let mut run = run(tests);
                run.validity = valid;
                run.at = at.map(Timestamp);
                Fact::TestRun(Box::new(run))
            });
        prop_oneof![
            8 => commits().prop_map(Commit::fact),
            3 => runs,
            1 => time().prop_map(ack),
            8 => events(),
        ]
    }

    fn events() -> impl Strategy<Value = Fact> {
        let outputs = (pick(&OutputKind::ALL), 0_u8..3).prop_map(|(kind, hash)| {
            What::Output(Output { kind, hash: Digest([hash; 32]), lines: Some(u64::from(hash) * 200) })
        });
        let usage = (prop::option::of(any::<u64>()), prop_oneof!["[0-9]{1,3}", "[0-9]{1,30}\\.[0-9]{0,9}"])
            .prop_map(|(count, cost)| {
                What::Usage(Usage {
                    input_tokens: count,
                    output_tokens: count,
                    cost_usd: Some(cost),
                    context_tokens: count.filter(|count| count % 3 == 0),
                    cached_tokens: count.filter(|count| count % 2 == 0),
                    output_lines: count.filter(|count| count % 5 == 0),
                })
            });
        let ends = (prop::option::of(0_u8..4), prop::option::of(0_u8..3)).prop_map(|(state, docs)| {
            What::TurnEnd(TurnEnd { code: state.map(code), docs: docs.map(|docs| Digest([docs; 32])) })
        });
        let calls = (prop::sample::select(vec!["Edit", "Bash", "Read"]), 0_u8..3, prop::option::of(0_u8..3))
            .prop_map(|(tool, args, answer)| What::ToolCall(call(tool, args, answer)));
        let ballots = (any::<u64>(), 0_u64..3)
            .prop_map(|(approve, reject)| What::Verdict(Ballot { reviewer: None, approve, reject }));
        let clearings = pick(&Clearing::ALL).prop_map(What::Cleared);
        let what = prop_oneof![
            2 => Just(What::TurnStart), 4 => ends, 6 => calls, 2 => outputs, 1 => usage, 1 => ballots, 1 => clearings,
        ];
        let names = (prop::option::of("[ab]"), prop::option::of("[st]"));
        let frame = (prop::option::of(time()), names, prop::option::of(0_u8..40));
        (frame, what).prop_map(|((at, (node, session), id), what)| {
            let id = id.map(|id| ShortHash([id; 8]));
            Fact::Event(Box::new(Event {
                at: at.map(Timestamp),
                uptime: None,
                node,
                session,
                id,
                trace: None,
                what,
            }))
        })
    }

    pub(crate) fn facts() -> impl Strategy<Value = Vec<Fact>> {
        prop::collection::vec(fact(), 0..60)
    }
}
