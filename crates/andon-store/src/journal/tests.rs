use std::{fs, io::Write as _};

use super::*;
use andon_core::domain::Location;

fn healed(what: &str) -> JournalLine {
    JournalLine::Healed(Repair { what: what.to_owned(), at: None })
}

fn names(lines: &[JournalLine]) -> Vec<String> {
    lines
        .iter()
        .map(|line| match line {
            JournalLine::Healed(Repair { what, .. }) => what.chars().take(12).collect(),
            JournalLine::TestRun(_)
            | JournalLine::Ack(_)
            | JournalLine::Halt(_)
            | JournalLine::Event(_)
            | JournalLine::Safety(_)
            | JournalLine::Agent(_)
            | JournalLine::Attempt(_)
            | JournalLine::CommitRecorded(_) => "other".to_owned(),
        })
        .collect()
}

fn fresh() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path());
    (dir, journal)
}

fn raw(journal: &Journal, bytes: &[u8]) {
    file::open_append(&journal.path()).unwrap().write_all(bytes).unwrap();
}

#[test]
fn no_journal_is_an_empty_one() {
    let (dir, journal) = fresh();
    assert_eq!(journal.read_tail(), (vec![], vec![]));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn facts_come_back_in_order() {
    let (_dir, journal) = fresh();
    for name in ["a", "b", "c"] {
        journal.append(&healed(name)).unwrap();
    }
    let (lines, warnings) = journal.read_tail();
    assert_eq!((names(&lines), warnings.len()), (vec!["a".into(), "b".into(), "c".into()], 0));
}

#[test]
fn a_line_without_an_end_is_ended_and_costs_itself_only() {
    let (_dir, journal) = fresh();
    journal.append(&healed("a")).unwrap();
    let start = fs::metadata(journal.path()).unwrap().len();
    raw(&journal, b"{\"type\":\"heal");
    journal.append(&healed("b")).unwrap();
    let (lines, warnings) = journal.read_tail();
    assert_eq!(names(&lines), ["a", "b"]);
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        warnings[0].location.as_deref(),
        Some(&Location::Line { path: journal.path(), offset: start })
    );
    // A whole line that only lacks its end counts.
    raw(&journal, br#"{"type":"healed","what":"c"}"#);
    journal.append(&healed("d")).unwrap();
    assert_eq!(names(&journal.read_tail().0), ["a", "b", "c", "d"]);
}

#[test]
fn a_line_that_another_is_writing_is_waited_for() {
    let (_dir, journal) = fresh();
    raw(&journal, b"{\"type\":\"healed\",");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(3));
            raw(&journal, b"\"what\":\"a\"}\n");
        });
        journal.append(&healed("b")).unwrap();
    });
    let text = fs::read_to_string(journal.path()).unwrap();
    assert!(text.lines().all(|line| !line.is_empty()), "{text:?}");
    assert_eq!(names(&journal.read_tail().0), ["a", "b"]);
}

#[test]
fn bad_lines_are_skipped_with_their_place() {
    let (_dir, journal) = fresh();
    let bytes: &[u8] =
        b"\xff\xfe\n\n{\"type\":\"dance\"}\n\x1b[2J\n{\"type\":\"healed\",\"what\":\"a\"}\r\n[1]\n";
    raw(&journal, bytes);
    let (lines, warnings) = journal.read_tail();
    assert_eq!(names(&lines), ["a"]);
    let offsets: Vec<u64> = warnings
        .iter()
        .map(|warning| match warning.location.as_deref() {
            Some(Location::Line { offset, .. }) => *offset,
            other => unreachable!("{other:?}"),
        })
        .collect();
    assert_eq!(offsets, [0, 4, 21, 56]);
    assert!(warnings[1].to_string().contains("dance"));
}

#[test]
fn only_the_end_of_a_long_journal_is_read() {
    let (_dir, journal) = fresh();
    raw(&journal, &vec![b'x'; 64 << 20]);
    raw(&journal, b"\n");
    for number in 0..3000 {
        raw(&journal, encode_line(&healed(&format!("{number:-<100}"))).as_bytes());
    }
    let (lines, warnings) = journal.read_tail();
    assert!(warnings.is_empty());
    assert!(lines.len() > 1000 && lines.len() < 2100, "{}", lines.len());
    assert!(names(&lines).last().unwrap().starts_with("2999"));
}

#[test]
fn a_line_longer_than_the_tail_is_still_read() {
    let (_dir, journal) = fresh();
    journal.append(&healed("a")).unwrap();
    let long = format!("{{\"type\":\"healed\",\"what\":\"{}\"}}\n", "l".repeat(300 << 10));
    raw(&journal, long.as_bytes());
    assert_eq!(names(&journal.read_tail().0).last().unwrap(), "llllllllllll");
    // One endless line is a warning, not a hang and not a fact.
    fs::remove_file(journal.path()).unwrap();
    raw(&journal, &vec![b'x'; 3 << 20]);
    let (lines, warnings) = journal.read_tail();
    assert_eq!((lines.len(), warnings.len()), (0, 1));
    assert!(warnings[0].message.contains("allowed"), "{}", warnings[0]);
}

#[test]
fn rotation_loses_no_fact() {
    let (dir, journal) = fresh();
    let text = "x".repeat(7_000);
    for number in 0..400 {
        journal.append(&healed(&format!("{number:04} {text}"))).unwrap();
    }
    let mut all = String::new();
    for number in journal.generations().into_iter().rev() {
        all += &fs::read_to_string(journal.generation(number)).unwrap();
    }
    assert_eq!(journal.generations(), [2, 1]);
    all += &fs::read_to_string(journal.path()).unwrap();
    assert_eq!(all.lines().count(), 400);
    assert!(
        all.lines().zip(0..).all(|(line, number): (&str, u32)| line.contains(&format!("\"{number:04} ")))
    );
    // Just rotated: the older generation fills the tail.
    assert_eq!(fs::read_dir(dir.path().join("andon")).unwrap().count(), 3);
    fs::remove_file(journal.path()).unwrap();
    journal.append(&healed("new")).unwrap();
    let lines = names(&journal.read_tail().0);
    assert!(lines.len() > 30 && lines.last().unwrap() == "new");
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let (_dir, journal) = fresh();
    let text = "x".repeat(3_000);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (journal, text) = (&journal, &text);
            scope.spawn(move || {
                for number in 0..100 {
                    journal.append(&healed(&format!("{writer}-{number} {text}"))).unwrap();
                }
            });
        }
    });
    let mut seen = std::collections::BTreeSet::new();
    let files =
        journal.generations().into_iter().map(|number| journal.generation(number)).chain([journal.path()]);
    for file in files {
        // A blank line is a heal of a line that was just being written.
        for line in fs::read_to_string(file).unwrap().lines().filter(|line| !line.is_empty()) {
            let JournalLine::Healed(Repair { what, .. }) =
                crate::wire::v1::decode_line(line.as_bytes()).unwrap()
            else {
                unreachable!()
            };
            assert!(seen.insert(what));
        }
    }
    assert_eq!(seen.len(), 800);
}

#[test]
fn a_pipe_or_directory_in_its_place_is_no_hang() {
    let (_dir, journal) = fresh();
    fs::create_dir_all(journal.path()).unwrap();
    assert!(journal.append(&healed("a")).unwrap_err().to_string().contains("journal.jsonl"));
    assert_eq!(journal.read_tail().1.len(), 1);
}

#[test]
fn one_after_the_other_and_not_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::of_agents(dir.path());
    let first = journal.alone().unwrap();
    assert!(journal.alone().is_none());
    drop(first);
    assert!(journal.alone().is_some());
    assert!(Journal::of_agents(std::path::Path::new("/dev/null/x")).alone().is_none());
}
