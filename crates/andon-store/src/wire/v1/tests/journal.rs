//! Lines of the journal and of the attempts.

use super::*;
use andon_core::domain::{Attempt, CallHashes, Figures, RunStart};

fn marker(at: Option<Timestamp>, turn: Option<(&str, u64)>, begins: RunStart) -> JournalLine {
    let (node, iteration) = turn.map(|(node, number)| (node.to_owned(), number)).unzip();
    let (commit, tree, code) = (CommitId(oid(4)), TreeId(oid(1)), CodeId([3; 32]));
    JournalLine::CommitRecorded(Marker { node, iteration, begins, commit, tree, code, at })
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
            beside: Vec::new(),
        })),
        marker(at, None, RunStart::Nothing),
        JournalLine::Ack(Box::new(Ack {
            halt: Some(EntryId([5; 32])),
            how: AckHow::FileDeleted,
            agent: Some("CLAUDECODE".into()),
            reason: "looked at it\nby hand".into(),
            head: Some(CommitId(oid(4))),
            worktree: "main".into(),
            ..Ack::new("A Person <a@example.org>", time)
        })),
        JournalLine::Healed(Repair { what: "a line without an end".into(), at: None }),
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
fn golden_runs_beside_untracked_files_are_written_and_read_byte_for_byte() {
    const LINES: &str = include_str!("../../../../../../tests/format/v1/journal-untracked.jsonl");
    let file = |path: &[u8]| {
        let entry = Some((0o100_644, oid(3)));
        OverlayEntry { path: path.to_vec(), entry, tracking: Tracking::Untracked }
    };
    let mut evidence = evidence();
    evidence.untracked = vec!["scratch.notes".into()];
    let run = JournalLine::TestRun(Box::new(TestRun {
        at: Some("2026-11-20T15:30:00Z".parse().unwrap()),
        evidence,
        validity: RunValidity::Valid,
        base: Some(TreeId(oid(1))),
        overlay: vec![file(b"src/a.rs")],
        overlay_truncated: false,
        beside: vec![file(b"log\xff.bin"), file(b"scratch.notes")],
    }));
    assert_eq!(encode_line(&run), LINES);
    assert_eq!(decode_line(LINES.as_bytes()).unwrap(), run);
}

#[test]
fn golden_run_of_which_nothing_could_be_started_is_written_and_read_byte_for_byte() {
    const LINE: &str = include_str!("../../../../../../tests/format/v1/journal-not-started.jsonl");
    let line = JournalLine::TestRun(Box::new(TestRun {
        at: Some("2026-11-20T15:30:00Z".parse().unwrap()),
        evidence: TestEvidence {
            runner: TestEvidence::BY_EXIT_CODE.into(),
            command: "make test".into(),
            not_started: Some("make: *** No rule to make target 'test'.  Stop.".into()),
            ..TestEvidence::new(evidence().code, TestStatus::RunnerError, evidence().signature)
        },
        validity: RunValidity::NotStarted,
        base: Some(TreeId(oid(1))),
        overlay: Vec::new(),
        overlay_truncated: false,
        beside: Vec::new(),
    }));
    assert_eq!(encode_line(&line), LINE);
    assert_eq!(decode_line(LINE.trim_end().as_bytes()).unwrap(), line);
}

#[test]
fn golden_events_of_the_context_window_are_written_and_read_byte_for_byte() {
    const LINES: &str = include_str!("../../../../../../tests/format/v1/journal-context.jsonl");
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
        window_tokens: None,
        output_lines: Some(12),
    };
    let (kind, hash) = (OutputKind::MessageFinal, Some(Digest([9; 32])));
    let lines = [
        event(EventKind::Usage(usage)),
        event(EventKind::Output(Output { kind, hash, lines: Some(3) })),
        event(EventKind::Renewed(Renewal::Compaction)),
        event(EventKind::Renewed(Renewal::SessionStart)),
    ];
    assert_eq!(lines.iter().map(encode_line).collect::<String>(), LINES);
    let read: Vec<JournalLine> = LINES.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
    assert_eq!(read, lines);
}

#[test]
fn golden_calls_are_written_and_read_byte_for_byte_with_and_without_their_short_form() {
    const LINES: &str = include_str!("../../../../../../tests/format/v1/journal-calls.jsonl");
    let hash = |byte| ShortHash([byte; 8]);
    let full = ToolCall {
        tool: "Bash".into(),
        args: Arguments::Known,
        by: None,
        hashes: CallHashes { exact: hash(1), coarse: hash(3) },
        result: Some(hash(4)),
        refusal: Some(hash(6)),
        missing: Some(hash(5)),
        whole: Some(hash(7)),
        gist: Some(hash(8)),
        moves: vec![3000, 40],
        lines: Vec::new(),
        asks: None,
        code: None,
        duration_ms: None,
        writes: true,
        end: CallEnd::Failed,
        shown: Some("Bash: pytest -k \"é\" {\"timeout\":9}".into()),
        program: Some("pytest".into()),
    };
    let (args, hashes) = (full.args, full.hashes);
    let bare = ToolCall { args, hashes, ..ToolCall::bare(full.tool.clone()) };
    let event = |call| {
        let at = Some("2026-11-20T15:30:00Z".parse().unwrap());
        let (node, what) = (Some("coder".into()), EventKind::ToolCall(call));
        JournalLine::Event(Box::new(Event {
            at,
            uptime: None,
            node,
            session: None,
            id: None,
            trace: None,
            what,
        }))
    };
    let lines = [event(full), event(bare)];
    assert_eq!(lines.iter().map(encode_line).collect::<String>(), LINES);
    let read: Vec<JournalLine> = LINES.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
    assert_eq!(read, lines);
    let hostile = LINES.replace("pytest -k", &"x".repeat(9000));
    let Ok(JournalLine::Event(cut)) = decode_line(hostile.lines().next().unwrap().as_bytes()) else {
        panic!()
    };
    let EventKind::ToolCall(cut) = cut.what else { panic!() };
    assert_eq!(cut.shown.map(|shown| shown.len()), Some(200));
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

#[test]
fn safety_events_survive_a_round_trip_and_say_by_which_rule() {
    for (kind, name) in SafetyKind::ALL {
        let figures = Figures::Calls { tool: "mcp: search".into(), signature: None, count: 5 };
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
fn a_marker_tells_of_its_turn_and_an_older_one_does_not() {
    let turn = Some(("coder", 7));
    for (turn, begins) in [(None, RunStart::Nothing), (turn, RunStart::Run), (turn, RunStart::Nothing)] {
        let line = marker(None, turn, begins);
        let text = encode_line(&line);
        assert!(text.ends_with("\"type\":\"commit\"}\n"), "readers know it by its end: {text}");
        assert_eq!(decode_line(text.as_bytes()), Ok(line));
    }
}

proptest! {
    #[test]
    fn runs_survive_a_round_trip(
        evidence in any_evidence(),
        at in prop::option::of(0..253_402_300_799_i64),
        paths in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..20), any::<Option<(u16, [u8; 20])>>(), any::<bool>()), 0..4),
        validity in 0..RunValidity::ALL.len(),
    ) {
        let overlay: Vec<_> = paths.into_iter().map(|(path, entry, tracked)| OverlayEntry {
            path,
            entry: entry.map(|(mode, id)| (u32::from(mode), Oid::from_bytes(&id).unwrap())),
            tracking: if tracked { Tracking::Tracked } else { Tracking::Untracked },
        }).collect();
        let line = JournalLine::TestRun(Box::new(TestRun {
            at: at.map(Timestamp), evidence, validity: RunValidity::ALL[validity].0, base: None,
            beside: overlay.clone(), overlay, overlay_truncated: false,
        }));
        let text = encode_line(&line);
        prop_assert_eq!(text.matches('\n').count(), 1);
        prop_assert_eq!(decode_line(text.as_bytes()).unwrap(), line);
    }
}

const ATTEMPTS: &str = include_str!("../../../../../../tests/format/v1/attempts.jsonl");

fn made(parent: Option<u8>, worktree: &str, beside: Vec<String>) -> JournalLine {
    let id = |byte: u8| CommitId(Oid::from_bytes(&[byte; 20]).unwrap());
    let worktree = worktree.to_owned();
    JournalLine::Attempt(Box::new(Attempt { commit: id(1), parent: parent.map(id), worktree, beside }))
}

#[test]
fn golden_attempts_are_written_and_read_byte_for_byte() {
    let lines = [made(Some(2), "try@5f.1", vec!["other@5f.2".to_owned()]), made(None, "main", Vec::new())];
    assert_eq!(lines.iter().map(encode_line).collect::<String>(), ATTEMPTS);
    let read: Vec<JournalLine> = ATTEMPTS.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
    assert_eq!(read, lines);
}

#[test]
fn more_worktrees_than_a_line_holds_are_many() {
    let beside: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let line = encode_line(&made(None, "main", beside));
    assert_eq!(decode_line(line.as_bytes()).unwrap(), made(None, "main", vec![Attempt::MANY.to_owned()]));
    assert!(decode_line(br#"{"type":"attempt","worktree":"main"}"#).is_err());
}
