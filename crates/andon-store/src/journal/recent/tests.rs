use super::*;
use andon_core::domain::{CodeId, CommitId, TreeId};

const REACH: Reach = Reach { runs: 2, commits: 3, turns: usize::MAX, since: Some(Position::START) };

fn marker(n: u8) -> JournalLine {
    JournalLine::CommitRecorded(Marker {
        node: None,
        iteration: None,
        begins: RunStart::Nothing,
        commit: CommitId(format!("{n:02x}").repeat(20).parse().unwrap()),
        tree: TreeId("a".repeat(40).parse().unwrap()),
        code: CodeId([n; 32]),
        at: None,
    })
}

fn ack(reason: &str) -> JournalLine {
    JournalLine::Ack(Box::new(Ack {
        reason: reason.to_owned(),
        worktree: "main".to_owned(),
        ..Ack::new("A", andon_core::domain::Timestamp(0))
    }))
}

fn journal(lines: &[JournalLine]) -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path());
    for line in lines {
        journal.append(line).unwrap();
    }
    (dir, journal)
}

fn reasons(recent: &RecentFacts) -> Vec<(&str, AckPlace)> {
    recent.acks.iter().map(|(ack, place)| (ack.reason.as_str(), *place)).collect()
}

#[test]
fn commits_since_the_newest_answer_are_counted_from_where_it_was_given() {
    let at = |head: u8, reason: &str| {
        let JournalLine::Ack(answer) = ack(reason) else { unreachable!() };
        let head = Some(CommitId(format!("{head:02x}").repeat(20).parse().unwrap()));
        JournalLine::Ack(Box::new(Ack { head, ..*answer }))
    };
    let since = |lines: &[JournalLine]| journal(lines).1.recent(Reach { commits: 9, ..REACH }).since_ack;
    assert_eq!(since(&[marker(1), marker(2)]), 2, "no answer");
    assert_eq!(since(&[marker(1), at(1, "a"), marker(2), at(2, "b"), marker(3)]), 1, "the newest");
    // The commit was amended twice, and the answer went along.
    let moved = [marker(1), at(1, "a"), marker(2), at(2, "a"), marker(3), at(3, "a")];
    assert_eq!(since(&moved), 2);
    let JournalLine::Ack(counter) = ack("one") else { unreachable!() };
    let counter = JournalLine::Ack(Box::new(Ack { counter: Some("x".into()), ..*counter }));
    assert_eq!(since(&[marker(1), at(1, "a"), marker(2), counter, marker(3)]), 2, "one counter is no answer");
}

#[test]
fn lines_come_from_the_end_as_a_split_has_them() {
    for text in ["", "\n", "a", "a\n", "a\nb", "a\n\nb\n", "\n\n", "\na\nbc\n\n"] {
        let wanted: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').rev().collect();
        let found: Vec<(usize, &[u8])> = lines_from_the_end(text.as_bytes()).collect();
        assert_eq!(found.iter().map(|(_, line)| *line).collect::<Vec<_>>(), wanted, "{text:?}");
        for (start, line) in found {
            assert!(text.as_bytes()[start..].starts_with(line), "{text:?}");
        }
    }
}

#[test]
fn only_runs_since_a_size_are_a_newest_run() {
    let run = |code: &str| {
        let text = format!(
            r#"{{"code":"{}","signature":"{}","status":"passed","type":"test_run","validity":"valid"}}"#,
            code.repeat(64),
            "0".repeat(64)
        );
        decode_line(text.as_bytes()).unwrap()
    };
    let (_dir, journal) = journal(&[run("1"), marker(1)]);
    let settled = journal.size().unwrap();
    assert!(journal.newest_run_since(settled).is_none(), "nothing new");
    journal.append(&run("2")).unwrap();
    journal.append(&run("3")).unwrap();
    let newest = journal.newest_run_since(settled).unwrap();
    assert_eq!(newest.evidence.code.to_string(), "3".repeat(64));
    assert!(journal.newest_run_since(settled + 10_000).is_none(), "the journal was rotated");
    journal.append(&ack("b")).unwrap();
    journal.append(&run("4")).unwrap();
    assert!(journal.newest_run_since(settled).is_none(), "more than runs");
}

#[test]
fn acks_know_whether_a_commit_came_after_them() {
    let (_dir, journal) = journal(&[ack("a"), marker(1), ack("b")]);
    let recent = journal.recent(REACH);
    assert_eq!(reasons(&recent), [("a", AckPlace::BeforeCommit), ("b", AckPlace::Last)]);
}

#[test]
fn garbage_is_named_and_ends_nothing() {
    let (dir, journal) = journal(&[ack("a")]);
    let path = dir.path().join("andon/journal.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("garbage \"type\":\"commit\n\u{0}\n");
    std::fs::write(&path, text).unwrap();
    let recent = journal.recent(REACH);
    assert_eq!(recent.warnings.len(), 2);
    assert_eq!(reasons(&recent), [("a", AckPlace::Last)]);
}

#[test]
fn a_long_journal_is_not_read_whole() {
    let mut lines = vec![ack("old")];
    lines.extend((0..40).map(marker));
    lines.push(ack("new"));
    let (_dir, journal) = journal(&lines);
    // Without runs the reach is never full, so all is looked at; the markers need no decoding.
    let recent = journal.recent(Reach { runs: 0, since: None, ..REACH });
    assert_eq!(reasons(&recent), [("new", AckPlace::Last)]);
    assert_eq!(journal.recent(REACH).acks.len(), 2);
}

#[test]
fn runs_have_their_place_and_those_before_an_event_are_all_there() {
    use andon_testkit::facts::{red, run, turn_end};
    let ran = |state: u8| JournalLine::TestRun(Box::new(run(red(state, &["a"], 9))));
    let ended = || {
        let andon_core::domain::Fact::Event(event) = turn_end(1) else { unreachable!() };
        JournalLine::Event(event)
    };
    let shown = |lines: &[JournalLine], since: Option<Position>| -> String {
        let recent = journal(lines).1.recent(Reach { since, ..REACH });
        let item = |item: &JournalItem| match item {
            JournalItem::Event(_) => 'e',
            JournalItem::Ack(_) => 'a',
            JournalItem::Commit(_) => 'c',
            JournalItem::Run(number) => char::from(b'0' + recent.runs[*number].evidence.code.0[0]),
        };
        recent.items.iter().map(item).collect()
    };
    let start = Some(Position::START);
    assert_eq!(shown(&[ran(1), marker(1), ran(2), ended(), ran(3)], start), "1c2e3");
    let many = [ran(1), ran(2), ran(3), ended(), ran(4), ran(5), ran(6)];
    assert_eq!(shown(&many, start), "123e456", "no rule looks at less than its parameters");
    assert_eq!(shown(&many[..4], None), "");
}
