//! Golden files (never edited once released), round trips, and input that nobody wrote in good faith.

use proptest::prelude::*;

use super::*;
use crate::domain::change::{ChangeFacts, Checklist, DocsState, Nature, PathStep};
use crate::domain::detail::Figures;
use crate::domain::events::{Clearing, Event, Output, OutputKind, What};
use crate::domain::facts::{
    Ack, AckHow, CommitKind, CommitRecord, DiffSummary, Gate, Hunk, Prev, RecordedFinding, Recording, Skip,
    Usage,
};
use crate::domain::findings::Level;
use crate::domain::ids::{CodeId, CommitId, DiffHash, Digest, EntryId, HunkHash, Oid, Signature, TreeId};
use crate::domain::safety::{SafetyFact, SafetyKind};
use crate::domain::tests::{
    Caveats, Counts, OverlayEntry, RunOrigin, RunValidity, TestEvidence, TestRun, TestStatus, Tracking,
};
use crate::domain::time::{Timestamp, Uptime};
use crate::record::format::FormatError;

const FULL: &str = include_str!("../../../../tests/format/v1/commit-full.json");
const MINIMAL: &str = include_str!("../../../../tests/format/v1/commit-minimal.json");
const NEWER: &str = include_str!("../../../../tests/format/v1/commit-newer-minor.json");
const JOURNAL: &str = include_str!("../../../../tests/format/v1/journal.jsonl");

fn oid(byte: u8) -> Oid {
    Oid::from_bytes(&[byte; 20]).unwrap()
}

fn evidence() -> TestEvidence {
    TestEvidence {
        code: CodeId([3; 32]),
        status: TestStatus::Failed,
        counts: Counts { total: 120, passed: 115, failed: 4, errored: 1, skipped: 0 },
        signature: Signature([7; 32]),
        errors: Some(Signature([8; 32])),
        failing: vec!["suite::name".into(), "suite::\u{1b}[31m\"quoted\"".into()],
        truncated: false,
        runner: "cargo".into(),
        command: "cargo test".into(),
        caveats: Caveats::default(),
    }
}

fn full() -> CommitRecord {
    CommitRecord {
        recorded_at: "2026-11-20T15:30:00Z".parse().unwrap(),
        uptime: None,
        tree: TreeId(oid(1)),
        parent: Some(CommitId(oid(2))),
        prev: Prev::Line(Digest([6; 32])),
        kind: CommitKind::CherryPick,
        gate: Gate::Passed,
        recording: Recording::CaughtUp,
        node: "agent".into(),
        session: Some("4f0c".into()),
        iteration: 12,
        code: CodeId([3; 32]),
        diff: DiffSummary {
            hash: DiffHash([4; 32]),
            empty: false,
            files: 3,
            added: 10,
            removed: 2,
            hunks: vec![Hunk { removed: HunkHash([5; 8]), added: HunkHash([6; 8]) }],
            truncated: false,
        },
        change: None,
        tests: Some(evidence()),
        weakening: None,
        skipped: Vec::new(),
        outputs: vec![Digest([9; 32])],
        usage: Some(Usage {
            input_tokens: Some(1),
            output_tokens: Some(1),
            cost_usd: Some("0.10".into()),
            context_tokens: Some(150_000),
            ..Usage::default()
        }),
        ledger: std::collections::BTreeMap::new(),
        findings: vec![RecordedFinding {
            rule: "repeated-failures".into(),
            level: Level::Warn,
            message: "the same 5 tests fail".into(),
        }],
    }
}

fn minimal() -> CommitRecord {
    CommitRecord {
        parent: None,
        prev: Prev::Unsaid,
        kind: CommitKind::Normal,
        gate: Gate::NotRun,
        recording: Recording::AtCommit,
        session: None,
        iteration: 1,
        diff: DiffSummary { empty: true, files: 0, added: 0, removed: 0, hunks: vec![], ..full().diff },
        change: None,
        tests: None,
        weakening: None,
        skipped: Vec::new(),
        outputs: vec![],
        usage: None,
        ledger: std::collections::BTreeMap::new(),
        findings: vec![],
        ..full()
    }
}

#[test]
fn golden_records_are_written_and_read_byte_for_byte() {
    for (golden, record) in [(FULL, full()), (MINIMAL, minimal())] {
        assert_eq!(encode_commit(&record, &UnknownKeys::default()), golden);
        let decoded = decode_commit(golden.as_bytes()).unwrap();
        assert_eq!(decoded.record, record);
        assert!(decoded.extra.is_empty());
    }
}

#[test]
fn what_a_newer_minor_version_wrote_survives_a_rewrite() {
    let decoded = decode_commit(NEWER.as_bytes()).unwrap();
    assert_eq!(decoded.record, full());
    assert_eq!(encode_commit(&decoded.record, &decoded.extra), NEWER);
    // Where this version has nothing to put an unknown member into, it is left out rather than made up.
    let without = encode_commit(&minimal(), &decoded.extra);
    assert_eq!(decode_commit(without.as_bytes()).unwrap().record, minimal());
    assert!(!without.contains("\"tests\"") && without.contains("future"), "{without}");
}

#[test]
fn keys_are_sorted() {
    let keys: Vec<&str> =
        FULL.split("\",\"").filter_map(|part| part.split_once("\":")).map(|(key, _)| key).collect();
    assert!(keys.len() > 10);
    let decoded: serde_json::Value = serde_json::from_str(FULL).unwrap();
    let top: Vec<&String> = decoded.as_object().unwrap().keys().collect();
    assert!(top.is_sorted());
    assert_eq!(decoded.to_string() + "\n", FULL);
}

#[test]
fn another_major_version_is_named() {
    for schema in ["andon/commit@2", "andon/commit@10", "andon/commit@1x", "other/thing@1", ""] {
        let line = FULL.replace("andon/commit@1", schema);
        let error = decode_commit(line.as_bytes()).unwrap_err();
        assert_eq!(error, FormatError::Schema { found: schema.into(), expected: SCHEMA });
    }
}

#[test]
fn a_member_that_every_record_has_may_not_be_missing() {
    for key in ["schema", "recorded_at", "tree", "kind", "gate", "iteration", "code", "diff"] {
        let mut value: serde_json::Value = serde_json::from_str(FULL).unwrap();
        value.as_object_mut().unwrap().remove(key);
        let error = decode_commit(value.to_string().as_bytes()).unwrap_err();
        assert_eq!(error, FormatError::Missing { member: key.into() });
    }
}

#[test]
fn a_truncated_record_is_an_error_at_every_length() {
    for end in 0..FULL.len() - 2 {
        assert!(decode_commit(&FULL.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn lists_and_texts_are_bounded_both_ways() {
    let mut record = full();
    record.diff.hunks = vec![Hunk { removed: HunkHash([5; 8]), added: HunkHash([6; 8]) }; 300];
    record.session = Some("\u{1}".repeat(1 << 20));
    record.findings =
        vec![RecordedFinding { rule: "x".into(), level: Level::Warn, message: "\u{1}".repeat(9_000) }; 99];
    let tests = record.tests.as_mut().unwrap();
    tests.failing = vec!["\u{1}".repeat(9_000); 600];
    tests.command = "\u{1}".repeat(9_000);
    let line = encode_commit(&record, &UnknownKeys::default());
    assert!(line.len() < MAX_LINE / 2, "{}", line.len());
    let read = decode_commit(line.as_bytes()).unwrap().record;
    assert_eq!((read.diff.hunks.len(), read.diff.truncated), (256, true));
    let tests = read.tests.unwrap();
    assert_eq!((tests.failing.len(), tests.truncated), (512, true));
    let long = FULL.replace("[\"suite::name\"", &format!("[{}\"suite::name\"", "\"a\",".repeat(600)));
    let tests = decode_commit(long.as_bytes()).unwrap().record.tests.unwrap();
    assert_eq!((tests.failing.len(), tests.truncated), (512, true));
}

#[test]
fn size_is_bounded_before_parsing() {
    let huge = format!("{{\"x\":\"{}\"}}", "a".repeat(MAX_LINE));
    assert!(matches!(decode_commit(huge.as_bytes()), Err(FormatError::TooLarge { .. })));
    assert!(matches!(decode_line(huge.as_bytes()), Err(FormatError::TooLarge { .. })));
    let unknown = FULL.replacen('{', &format!("{{\"x\":\"{}\",", "a".repeat(600 << 10)), 1);
    assert!(matches!(decode_commit(unknown.as_bytes()), Err(FormatError::TooLarge { .. })));
}

#[test]
fn the_digest_leaves_the_line_end_out() {
    assert_eq!(line_digest(FULL.as_bytes()), line_digest(FULL.trim_end().as_bytes()));
    assert_ne!(line_digest(FULL.as_bytes()), line_digest(MINIMAL.as_bytes()));
}

fn journal_lines() -> Vec<JournalLine> {
    let time = "2026-11-20T15:30:00Z".parse().unwrap();
    let at = Some(time);
    let entry = |path: &[u8], entry, tracking| OverlayEntry { path: path.to_vec(), entry, tracking };
    vec![
        JournalLine::TestRun(Box::new(TestRun {
            at,
            evidence: evidence(),
            validity: RunValidity::Valid,
            base: Some(TreeId(oid(1))),
            overlay: vec![
                entry(b"src/a.rs", Some((0o100_644, oid(2))), Tracking::Tracked),
                entry(b"src/b\xff.rs", Some((0o100_755, oid(3))), Tracking::Untracked),
                entry(b"src/gone.rs", None, Tracking::Tracked),
            ],
            overlay_truncated: false,
        })),
        JournalLine::CommitRecorded {
            commit: CommitId(oid(4)),
            tree: TreeId(oid(1)),
            code: CodeId([3; 32]),
            at,
            turn: None,
        },
        JournalLine::Ack(Box::new(Ack {
            halt: Some(EntryId([5; 32])),
            counter: None,
            by: "A Person <a@example.org>".into(),
            how: AckHow::FileDeleted,
            agent: Some("CLAUDECODE".into()),
            reason: "looked at it\nby hand".into(),
            head: Some(CommitId(oid(4))),
            worktree: "main".into(),
            at: time,
        })),
        JournalLine::Healed { what: "a line without an end".into(), at: None },
    ]
}

#[test]
fn golden_journal_is_written_and_read_byte_for_byte() {
    let lines = journal_lines();
    assert_eq!(lines.iter().map(encode_line).collect::<String>(), JOURNAL);
    let read: Vec<JournalLine> = JOURNAL.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
    assert_eq!(read, lines);
}

#[test]
fn golden_events_of_the_context_window_are_written_and_read_byte_for_byte() {
    const LINES: &str = include_str!("../../../../tests/format/v1/journal-context.jsonl");
    let event = |what| {
        let at = Some("2026-11-20T15:30:00Z".parse().unwrap());
        let (node, session) = (Some("coder".into()), Some("s-1".into()));
        JournalLine::Event(Box::new(Event { at, uptime: None, node, session, id: None, trace: None, what }))
    };
    let usage = Usage {
        input_tokens: Some(1000),
        output_tokens: Some(300),
        cost_usd: Some("0.10".into()),
        context_tokens: Some(161_000),
        cached_tokens: Some(150_000),
        output_lines: Some(12),
    };
    let (kind, hash) = (OutputKind::MessageFinal, Digest([9; 32]));
    let lines = [
        event(What::Usage(usage)),
        event(What::Output(Output { kind, hash, lines: Some(3) })),
        event(What::Cleared(Clearing::Compaction)),
        event(What::Cleared(Clearing::SessionStart)),
    ];
    assert_eq!(lines.iter().map(encode_line).collect::<String>(), LINES);
    let read: Vec<JournalLine> = LINES.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
    assert_eq!(read, lines);
}

#[test]
fn journal_lines_that_mean_nothing_are_errors() {
    for line in [
        "",
        "null",
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"dance"}"#,
        r#"{"type":"test_run"}"#,
        r#"{"type":"ack","at":"2026-11-20T15:30:00Z"}"#,
        r#"{"type":"commit","commit":"zz"}"#,
    ] {
        assert!(decode_line(line.as_bytes()).is_err(), "{line}");
    }
    let run = JOURNAL.lines().next().unwrap();
    for (from, to) in [
        (",\"validity\":\"valid\"", ""),
        ("\"validity\":\"valid\"", "\"validity\":\"maybe\""),
        ("\"mode\":\"100755\"", "\"mode\":\"rwx\""),
        ("\"mode\":\"100755\"", "\"mode\":\"+17\""),
        ("\"mode\":\"100755\"", "\"mode\":\"99999999999999\""),
        ("\"hex\":\"7372", "\"hex\":\"z372"),
        ("\"hex\":\"7372", "\"hex\":\"372"),
        ("\"untracked\":true", "\"untracked\":\"yes\""),
    ] {
        let changed = run.replace(from, to);
        assert_ne!(changed, run, "{from}");
        assert!(decode_line(changed.as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn a_huge_overlay_is_cut_and_says_so() {
    let mut lines = journal_lines();
    let JournalLine::TestRun(run) = &mut lines[0] else { unreachable!() };
    run.overlay = vec![OverlayEntry { path: vec![0xff; 4096], ..run.overlay[0].clone() }; 1024];
    let line = encode_line(&lines[0]);
    assert!(line.len() < MAX_LINE);
    let JournalLine::TestRun(read) = decode_line(line.as_bytes()).unwrap() else { unreachable!() };
    assert!(read.overlay_truncated && !read.overlay.is_empty() && read.overlay.len() < 1024);
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
        caveats in (any::<bool>(), any::<Option<u64>>(), prop::collection::vec(".{0,60}", 0..3)),
    ) -> TestEvidence {
        let [runner, command] = names;
        let [total, passed, failed, errored, skipped] = counts;
        TestEvidence {
            code: CodeId(bytes),
            status: TestStatus::ALL[status].0,
            counts: Counts { total, passed, failed, errored, skipped },
            signature: Signature(bytes),
            errors: errors.map(Signature),
            failing,
            truncated,
            runner,
            command,
            caveats: Caveats {
                origin: if caveats.0 { RunOrigin::HandedIn } else { RunOrigin::Here },
                full_run: caveats.1,
                flaky: caveats.2,
            },
        }
    }
}

prop_compose! {
    fn any_change()(
        nature in 0..Nature::ALL.len(),
        paths in prop::collection::vec(any::<[[u8; 8]; 3]>(), 0..4),
        truncated in any::<bool>(),
        docs in prop::option::of(any::<([u8; 8], [u64; 4])>()),
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
        }
    }
}

prop_compose! {
    pub(crate) fn any_record()(
        at in 0..253_402_300_799_i64,
        ids in any::<([u8; 20], Option<[u8; 32]>, [u8; 32])>(),
        kinds in (0..CommitKind::ALL.len(), 0..Gate::ALL.len(), 0..3_usize),
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
        let ledger = outputs.iter().map(|id| (format!("{:02x}", id[0]), EntryId(*id))).collect();
        CommitRecord {
            recorded_at: Timestamp(at),
            uptime: (at % 2 == 0).then(|| Uptime { boot: at.unsigned_abs(), seconds: at.unsigned_abs() / 2 }),
            tree: TreeId(Oid::from_bytes(&tree).unwrap()),
            parent: parent.map(|id| CommitId(Oid::from_bytes(&id).unwrap())),
            prev: parent.map_or(Prev::Absent, |line| Prev::Line(Digest(line))),
            kind: CommitKind::ALL[kinds.0].0,
            gate: Gate::ALL[kinds.1].0,
            recording: [Recording::AtCommit, Recording::CaughtUp, Recording::Backfilled][kinds.2],
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
            findings: message.into_iter().map(|message| RecordedFinding {
                rule: "a-rule".into(), level: Level::Note, message,
            }).collect(),
        }
    }
}

#[test]
fn what_a_diff_is_made_of_is_optional_and_a_word_of_a_later_version_is_work() {
    let change = r#","change":{"nature":"poetry","paths":[],"truncated":false,"verses":4},"#;
    let line = FULL.trim_end().replacen(r#","code":"#, &format!("{change}\"code\":"), 1);
    let decoded = decode_commit(line.as_bytes()).unwrap();
    let found = decoded.record.change.clone().unwrap();
    assert_eq!((found.nature, found.paths.len(), found.docs), (Nature::Work, 0, None));
    assert!(encode_commit(&decoded.record, &decoded.extra).contains(r#""verses":4"#));
    assert_eq!(decode_commit(FULL.as_bytes()).unwrap().record.change, None);
    assert!(decode_commit(line.replace("\"paths\":[]", "\"paths\":[[1]]").as_bytes()).is_err());
}

#[test]
fn safety_events_survive_a_round_trip_and_say_by_which_rule() {
    for (kind, name) in SafetyKind::ALL {
        let figures = Figures::Calls { tool: "mcp: search".into(), count: 5 };
        let line = JournalLine::Safety(Box::new(SafetyFact {
            figures,
            kind,
            at: Some(Timestamp(0)),
            rule: "untested-edit".into(),
            level: Level::Block,
            message: "\u{1b}\n\"".into(),
            tree: Some(TreeId(oid(7))),
            agent: Some("CLAUDECODE".into()),
        }));
        let text = encode_line(&line);
        assert!(text.ends_with(&format!("\"type\":\"{name}\"}}\n")), "{text}");
        assert_eq!(decode_line(text.as_bytes()).unwrap(), line);
        assert!(decode_line(text.replace("\"rule\"", "\"ruler\"").as_bytes()).is_err());
    }
}

#[test]
fn a_skip_without_its_rule_is_no_record() {
    let with = |skips: &str| {
        FULL.trim_end().replacen(r#","tests":"#, &format!(",\"skipped\":{skips},\"tests\":"), 1)
    };
    let decoded = decode_commit(with(r#"[{"rule":"untested-edit"}]"#).as_bytes()).unwrap();
    assert_eq!(
        decoded.record.skipped,
        [Skip { rule: "untested-edit".into(), reason: String::new(), agent: None }]
    );
    assert!(decode_commit(with(r#"[{"reason":"x"}]"#).as_bytes()).is_err());
}

proptest! {
    #[test]
    fn records_survive_a_round_trip(record in any_record()) {
        let line = encode_commit(&record, &UnknownKeys::default());
        prop_assert_eq!(line.matches('\n').count(), 1);
        let decoded = decode_commit(line.as_bytes()).unwrap();
        prop_assert_eq!(&decoded.record, &record);
        prop_assert_eq!(encode_commit(&decoded.record, &decoded.extra), line);
    }

    #[test]
    fn runs_survive_a_round_trip(
        evidence in any_evidence(),
        at in prop::option::of(0..253_402_300_799_i64),
        paths in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..20), any::<Option<(u16, [u8; 20])>>(), any::<bool>()), 0..4),
        validity in 0..RunValidity::ALL.len(),
    ) {
        let overlay = paths.into_iter().map(|(path, entry, tracked)| OverlayEntry {
            path,
            entry: entry.map(|(mode, id)| (u32::from(mode), Oid::from_bytes(&id).unwrap())),
            tracking: if tracked { Tracking::Tracked } else { Tracking::Untracked },
        }).collect();
        let line = JournalLine::TestRun(Box::new(TestRun {
            at: at.map(Timestamp), evidence, validity: RunValidity::ALL[validity].0, base: None, overlay, overlay_truncated: false,
        }));
        let text = encode_line(&line);
        prop_assert_eq!(text.matches('\n').count(), 1);
        prop_assert_eq!(decode_line(text.as_bytes()).unwrap(), line);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode_commit(&bytes);
        let _ = decode_line(&bytes);
    }

    #[test]
    fn a_damaged_record_never_panics_and_never_grows(at in 0..FULL.len(), byte in any::<u8>()) {
        let mut bytes = FULL.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(decoded) = decode_commit(&bytes) {
            let line = encode_commit(&decoded.record, &decoded.extra);
            prop_assert_eq!(decode_commit(line.as_bytes()).unwrap(), decoded);
        }
        let mut journal = JOURNAL.as_bytes().to_vec();
        journal[at % JOURNAL.len()] = byte;
        for line in journal.split(|byte| *byte == b'\n') {
            let _ = decode_line(line);
        }
    }
}

#[test]
fn a_marker_tells_of_its_turn_and_an_older_one_does_not() {
    use crate::history::Begins;

    let marker = |turn| JournalLine::CommitRecorded {
        commit: CommitId(oid(4)),
        tree: TreeId(oid(1)),
        code: CodeId([3; 32]),
        at: None,
        turn,
    };
    let turn = |begins| Some(MarkedTurn { node: "coder".into(), number: 7, begins });
    for line in [marker(None), marker(turn(Begins::Run)), marker(turn(Begins::Nothing))] {
        let text = encode_line(&line);
        assert!(text.ends_with("\"type\":\"commit\"}\n"), "readers know it by its end: {text}");
        assert_eq!(decode_line(text.as_bytes()), Ok(line));
    }
}
