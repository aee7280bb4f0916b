//! Golden files (never edited once released), round trips, and hostile input.

use proptest::prelude::*;

use super::*;
use andon_core::domain::{
    Ack, AckHow, Arguments, CallEnd, CarriedAttempt, ChangeFacts, Checklist, CodeId, CommitId, CommitKind,
    CommitRecord, DiffHash, DiffSummary, Digest, DocsState, EntryId, Event, EventKind, Extent, FailingTest,
    Gate, Hunk, HunkHash, Level, LostTests, Nature, Oid, Output, OutputKind, OverlayEntry, PathStep,
    PrevRecord, RanOn, RecordedFinding, Recording, Renewal, Rewrite, RunOrigin, RunValidity, SafetyFact,
    SafetyKind, ScopeTests, SetNames, ShortHash, Signature, Skip, TestEvidence, TestRun, TestStatus,
    Timestamp, ToolCall, Tracking, TreeId, Uptime, Usage, Weakening,
};
use andon_core::format::FormatError;

mod journal;
mod records;

const FULL: &str = include_str!("../../../../../tests/format/v1/commit-full.json");
const MINIMAL: &str = include_str!("../../../../../tests/format/v1/commit-minimal.json");
const MOVED: &str = include_str!("../../../../../tests/format/v1/commit-moved.json");
const PATCH: &str = include_str!("../../../../../tests/format/v1/commit-patch.json");
const SCOPES: &str = include_str!("../../../../../tests/format/v1/commit-scopes.json");
const NEWER: &str = include_str!("../../../../../tests/format/v1/commit-newer-minor.json");
const JOURNAL: &str = include_str!("../../../../../tests/format/v1/journal.jsonl");

fn oid(byte: u8) -> Oid {
    Oid::from_bytes(&[byte; 20]).unwrap()
}

fn evidence() -> TestEvidence {
    TestEvidence {
        total: 120,
        passed: 115,
        failed: 4,
        errored: 1,
        errors: Some(Signature([8; 32])),
        failing: vec!["suite::name".into(), "suite::\u{1b}[31m\"quoted\"".into()],
        runner: "cargo".into(),
        command: "cargo test".into(),
        ..TestEvidence::new(CodeId([3; 32]), TestStatus::Failed, Signature([7; 32]))
    }
}

fn full() -> CommitRecord {
    let diff = DiffSummary {
        hash: DiffHash([4; 32]),
        empty: false,
        files: 3,
        added: 10,
        removed: 2,
        hunks: vec![Hunk { removed: HunkHash([5; 8]), added: HunkHash([6; 8]) }],
        truncated: false,
    };
    let recorded_at = "2026-11-20T15:30:00Z".parse().unwrap();
    CommitRecord {
        parent: Some(CommitId(oid(2))),
        prev: PrevRecord::Line(Digest([6; 32])),
        kind: CommitKind::CherryPick,
        gate: Gate::Passed,
        recording: Recording::CaughtUp,
        session: Some("4f0c".into()),
        iteration: 12,
        tests: Some(evidence()),
        outputs: vec![Digest([9; 32])],
        usage: Some(Usage {
            input_tokens: Some(1),
            output_tokens: Some(1),
            cost_usd: Some("0.10".into()),
            context_tokens: Some(150_000),
            ..Usage::default()
        }),
        findings: vec![RecordedFinding {
            rule: "repeated-failures".into(),
            level: Level::Warn,
            message: "the same 5 tests fail".into(),
        }],
        ..CommitRecord::new(recorded_at, TreeId(oid(1)), CodeId([3; 32]), diff)
    }
}

fn minimal() -> CommitRecord {
    let CommitRecord { recorded_at, tree, code, diff, .. } = full();
    let diff = DiffSummary { empty: true, files: 0, added: 0, removed: 0, hunks: vec![], ..diff };
    CommitRecord { iteration: 1, ..CommitRecord::new(recorded_at, tree, code, diff) }
}

prop_compose! {
    fn any_scope()(
        name in "[a-z(]{1,8}",
        bytes in any::<[u8; 32]>(),
        status in 0..TestStatus::ALL.len(),
        counts in any::<[u64; 5]>(),
        errors in any::<Option<[u8; 32]>>(),
        texts in prop::collection::vec(".{0,60}", 0..3),
        from in any::<Option<u8>>(),
    ) -> ScopeTests {
        let [total, passed, failed, errored, skipped] = counts;
        let tests = TestEvidence {
            total,
            passed,
            failed,
            errored,
            skipped,
            errors: errors.map(Signature),
            failing: texts.clone(),
            truncated: total > failed,
            runner: name.clone(),
            command: name.clone(),
            set: errors.map(Digest),
            ..TestEvidence::new(CodeId(bytes), TestStatus::ALL[status].0, Signature(bytes))
        };
        ScopeTests { name, needs: texts, tests, from: from.map(|byte| CommitId(oid(byte))) }
    }
}

fn any_scopes() -> impl Strategy<Value = Vec<ScopeTests>> {
    prop::collection::vec(any_scope(), 0..4).prop_map(|mut scopes| {
        scopes.sort_by(|a, b| a.name.cmp(&b.name));
        scopes.dedup_by(|a, b| a.name == b.name);
        scopes
    })
}

prop_compose! {
    fn any_evidence()(
        bytes in any::<[u8; 32]>(),
        status in 0..TestStatus::ALL.len(),
        counts in any::<[u64; 5]>(),
        errors in any::<Option<[u8; 32]>>(),
        failing in prop::collection::vec(".{0,60}", 0..5),
        truncated in any::<bool>(),
        names in [".{0,30}", ".{0,30}"],
        remarks in (any::<bool>(), any::<Option<u64>>(), prop::collection::vec(".{0,60}", 0..3), any::<Option<[u8; 32]>>()),
        scopes in any_scopes(),
    ) -> TestEvidence {
        let [runner, command] = names;
        let [total, passed, failed, errored, skipped] = counts;
        TestEvidence {
            code: CodeId(bytes),
            status: TestStatus::ALL[status].0,
            total,
            passed,
            failed,
            errored,
            skipped,
            signature: Signature(bytes),
            errors: errors.map(Signature),
            failing,
            truncated,
            runner,
            command,
            scopes,
                not_started: remarks.2.first().cloned(),
                said: remarks
                    .2
                    .iter()
                    .take(TestEvidence::MAX_SAID)
                    .map(|test| FailingTest { test: Some(test.clone()), error: None })
                    .collect(),
                untracked: remarks.2.clone(),
                origin: if remarks.0 { RunOrigin::HandedIn } else { RunOrigin::Here },
                ran_on: if remarks.1.is_some() { RanOn::Parent } else { RanOn::ThisCode },
                full_run: remarks.1,
                build_errors: remarks.1.unwrap_or_default(),
                lost: LostTests {
                    gone: remarks.2.clone(),
                    gone_total: remarks.1.unwrap_or_default(),
                    skipped: remarks.2.clone(),
                    skipped_total: u64::from(remarks.0),
                    back: remarks.2.clone(),
                },
                names: remarks.3.filter(|_| remarks.0).map(|set| SetNames::Since {
                    set: Digest(set),
                    came: remarks.2.clone(),
                    went: remarks.2.clone(),
                }),
                flaky: remarks.2,
                set: remarks.3.map(Digest),
        }
    }
}

prop_compose! {
    fn any_change()(
        nature in 0..Nature::ALL.len(),
        paths in prop::collection::vec(any::<[[u8; 8]; 3]>(), 0..4),
        truncated in any::<bool>(),
        docs in prop::option::of(any::<([u8; 8], [u64; 4])>()),
        rewrites in prop::collection::vec((any::<[u8; 8]>(), 0..=100_u64), 0..4),
        pipelines in prop::collection::vec(any::<[u8; 8]>(), 0..4),
    ) -> ChangeFacts {
        ChangeFacts {
            nature: Nature::ALL[nature].0,
            paths: paths.into_iter().map(|[path, old, new]| PathStep {
                path: HunkHash(path), old: HunkHash(old), new: HunkHash(new),
            }).collect(),
            truncated,
            docs: docs.map(|(hash, [a, b, c, d])| DocsState {
                hash: HunkHash(hash),
                was: Checklist { done: a, total: b },
                now: Checklist { done: c, total: d },
            }),
            rewrites: rewrites.into_iter().map(|(path, percent)| Rewrite { path: HunkHash(path), percent }).collect(),
            pipelines: pipelines.into_iter().map(HunkHash).collect(),
        }
    }
}

prop_compose! {
    pub(crate) fn any_record()(
        at in 0..253_402_300_799_i64,
        ids in any::<([u8; 20], Option<[u8; 32]>, [u8; 32])>(),
        kinds in (0..CommitKind::ALL.len(), 0..Gate::ALL.len(), 0..4_usize),
        node in ".{0,30}",
        session in prop::option::of(".{0,30}"),
        numbers in any::<[u64; 4]>(),
        hunks in prop::collection::vec(any::<[u8; 8]>(), 0..4),
        flags in any::<[bool; 2]>(),
        tests in prop::option::of(any_evidence()),
        outputs in prop::collection::vec(any::<[u8; 32]>(), 0..3),
        usage in prop::option::of((any::<[Option<u64>; 3]>(), prop::option::of(".{0,9}"))),
        message in prop::option::of(".{0,60}"),
        change in prop::option::of(any_change()),
    ) -> CommitRecord {
        let (tree, parent, hash) = ids;
        let skipped = session.iter().map(|said| Skip { rule: "untested-edit".into(), reason: said.clone(), agent: None });
        let skipped = skipped.collect();
        let guards = session.iter().cloned().collect();
        let worktree = session.clone();
        let ledger = outputs.iter().map(|id| (format!("{:02x}", id[0]), EntryId(*id))).collect();
        let first = CommitId(Oid::from_bytes(&tree).unwrap());
        let carries = flags[1].then(|| Box::new(CarriedAttempt {
            commit: first,
            parent: Some(first).filter(|_| flags[0]),
            kind: CommitKind::ALL[kinds.0].0,
            code: CodeId(hash),
            tests: tests.clone(),
        }));
        CommitRecord {
            recorded_at: Timestamp(at),
            uptime: (at % 2 == 0).then(|| Uptime { boot: at.unsigned_abs(), seconds: at.unsigned_abs() / 2 }),
            tree: TreeId(Oid::from_bytes(&tree).unwrap()),
            parent: parent.map(|id| CommitId(Oid::from_bytes(&id).unwrap())),
            prev: parent.map_or(PrevRecord::Absent, |line| PrevRecord::Line(Digest(line))),
            kind: CommitKind::ALL[kinds.0].0,
            gate: Gate::ALL[kinds.1].0,
            recording: [
                Recording::AtCommit,
                Recording::CaughtUp,
                Recording::Patched,
                Recording::Backfilled,
                Recording::Moved,
            ][kinds.2],
            node,
            session,
            iteration: numbers[0],
            code: CodeId(hash),
            diff: DiffSummary {
                hash: DiffHash(hash),
                empty: flags[0],
                files: numbers[1],
                added: numbers[2],
                removed: numbers[3],
                hunks: hunks.iter().map(|id| Hunk { removed: HunkHash(*id), added: HunkHash(*id) }).collect(),
                truncated: flags[1],
            },
            change,
            tests,
            weakening: None,
            skipped,
            outputs: outputs.into_iter().map(Digest).collect(),
            usage: usage.map(|([input_tokens, output_tokens, context_tokens], cost_usd)| Usage {
                input_tokens, output_tokens, cost_usd, context_tokens,
                ..Usage::default()
            }),
            ledger,
            guards,
            worktree,
            by: flags[0].then_some(Digest(hash)),
            findings: message.into_iter().map(|message| RecordedFinding {
                rule: "a-rule".into(), level: Level::Note, message,
            }).collect(),
            joins: carries.iter().map(|carried| carried.commit).collect(),
            carries,
        }
    }
}
