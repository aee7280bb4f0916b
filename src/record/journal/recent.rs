//! The part of the journal that a hook needs: the newest test runs and the acknowledgements that can still matter.
//! Read from the end and stopped early, so that it costs the same however long the journal is.

use super::super::Warning;
use super::super::format::v1::decode_line;
use super::{Journal, JournalLine, tail};
use crate::domain::events::Event;
use crate::domain::facts::Ack;
use crate::domain::ids::CommitId;
use crate::domain::safety::SafetyFact;
use crate::domain::tests::TestRun;

/// First look: enough unless runs have large overlays.
const FIRST: u64 = 64 << 10;
/// Where the members from `type` on are found, in bytes from the end of a line.
const LAST_MEMBERS: usize = 256;

/// Events that one reading keeps, the newest: more than any window of the fold.
const MAX_EVENTS: usize = 2048;

/// Safety events that one reading keeps, the newest: enough to tell whether one was told already.
const MAX_SAFETY: usize = 64;

/// How far back a reader has to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Test runs.
    pub runs: usize,
    /// Recorded commits: acknowledgements before that many are out of every window.
    pub commits: usize,
}

/// Where an acknowledgement stands in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckPlace {
    /// No commit was recorded after it.
    Last,
    /// A commit was.
    BeforeCommit,
}

/// An event, and where it stands among the other lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The event.
    pub event: Event,
    /// How many of [`Recent::acks`] come before it.
    pub acks_before: usize,
    /// How many of [`Recent::markers`] come before it.
    pub markers_before: usize,
}

/// What was found; all lists oldest first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Recent {
    /// Test runs.
    pub runs: Vec<TestRun>,
    /// Acknowledgements.
    pub acks: Vec<(Ack, AckPlace)>,
    /// Other facts of the event stream.
    pub events: Vec<Placed>,
    /// Commits that were recorded.
    pub markers: Vec<CommitId>,
    /// How many of them, the newest, come after the newest answer to a halt; where it was moved to the commit that took
    /// the place of its own, after the answer itself.
    pub since_ack: usize,
    /// Safety events since the newest commit, at most 64.
    pub safety: Vec<SafetyFact>,
    /// Lines that were skipped.
    pub warnings: Vec<Warning>,
}

impl Journal {
    /// The newest facts within `reach`.
    pub fn recent(&self, reach: Reach) -> Recent {
        let (first, whole) = scan(&self.path(), FIRST, reach);
        if whole == Seen::Enough {
            return first;
        }
        let (all, whole) = scan(&self.path(), super::TAIL, reach);
        if whole == Seen::Enough || self.generations().is_empty() {
            return all;
        }
        // The journal was rotated lately: the slow way, over the older generations too.
        let (lines, warnings) = self.read_tail();
        let mut found = Found::new(reach);
        for line in lines.into_iter().rev() {
            found.take(line);
        }
        found.finish(warnings)
    }

    /// The newest test run, when the journal has grown by nothing but test runs since it was `len` bytes long.
    pub fn newest_run_since(&self, len: u64) -> Option<TestRun> {
        let end = tail::end(&self.path(), FIRST);
        let new = end.bytes.get(usize::try_from(len.checked_sub(end.start)?).ok()?..)?;
        let mut lines =
            new.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        if !lines.clone().all(is_run) {
            return None;
        }
        if let JournalLine::TestRun(run) = decode_line(lines.next_back()?).ok()? { Some(*run) } else { None }
    }
}

/// Whether a scan saw all that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Enough,
    TooLittle,
}

fn scan(path: &std::path::Path, max: u64, reach: Reach) -> (Recent, Seen) {
    let end = tail::end(path, max);
    let mut found = Found::new(reach);
    let mut warnings = end.warnings;
    let mut offset = end.start + end.bytes.len() as u64;
    for line in end.bytes.split_inclusive(|byte| *byte == b'\n').rev() {
        offset -= line.len() as u64;
        if found.is_full() {
            return (found.finish(warnings), Seen::Enough);
        }
        let text = line.trim_ascii();
        if text.is_empty() || found.passes(text) {
            continue;
        }
        match decode_line(line) {
            Ok(fact) => found.take(fact),
            Err(error) => warnings.push(tail::warning(path, offset, error.to_string())),
        }
    }
    let seen = if end.start == 0 { Seen::Enough } else { Seen::TooLittle };
    (found.finish(warnings), seen)
}

/// What was found so far, newest first.
struct Found {
    reach: Reach,
    runs: Vec<TestRun>,
    acks: Vec<(Ack, AckPlace)>,
    /// With the acknowledgements and markers that come after it.
    events: Vec<Placed>,
    markers: Vec<CommitId>,
    /// The newest answer to a halt, and how many markers come after it.
    answer: Option<(Ack, usize)>,
    safety: Vec<SafetyFact>,
    commits: usize,
}

impl Found {
    fn new(reach: Reach) -> Self {
        Self {
            reach,
            runs: Vec::new(),
            acks: Vec::new(),
            events: Vec::new(),
            markers: Vec::new(),
            answer: None,
            safety: Vec::new(),
            commits: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.runs.len() >= self.reach.runs && self.commits >= self.reach.commits
    }

    /// Tells lines that need no decoding by their bytes: markers of commits, and runs beyond the reach. Quotes inside
    /// JSON strings are escaped, so these bytes are a member or the line is no JSON at all.
    fn passes(&mut self, line: &[u8]) -> bool {
        if line.ends_with(br#""type":"commit"}"#) {
            self.commits += 1;
            self.markers.extend(marked(line));
            return true;
        }
        self.runs.len() >= self.reach.runs && is_run(line)
    }

    fn take(&mut self, line: JournalLine) {
        match line {
            JournalLine::TestRun(run) if self.runs.len() < self.reach.runs => self.runs.push(*run),
            JournalLine::Ack(ack) => {
                let place = if self.commits == 0 { AckPlace::Last } else { AckPlace::BeforeCommit };
                self.answered(&ack);
                self.acks.push((*ack, place));
            }
            JournalLine::CommitRecorded { commit, .. } => {
                self.commits += 1;
                self.markers.push(commit);
            }
            JournalLine::Event(event) if self.events.len() < MAX_EVENTS => self.events.push(Placed {
                event: *event,
                acks_before: self.acks.len(),
                markers_before: self.markers.len(),
            }),
            // Those since the newest commit: what was said of an earlier one is said anew.
            JournalLine::Safety(fact) if self.commits == 0 && self.safety.len() < MAX_SAFETY => {
                self.safety.push(*fact);
            }
            JournalLine::TestRun(_)
            | JournalLine::Event(_)
            | JournalLine::Safety(_)
            | JournalLine::Healed { .. } => {}
        }
    }

    /// An answer that was moved along with its commit is in the journal again, and differs by that alone.
    fn answered(&mut self, ack: &Ack) {
        let here = Ack { head: None, ..ack.clone() };
        if ack.counter.is_none() && self.answer.as_ref().is_none_or(|(known, _)| *known == here) {
            self.answer = Some((here, self.markers.len()));
        }
    }

    fn finish(mut self, warnings: Vec<Warning>) -> Recent {
        self.runs.reverse();
        self.acks.reverse();
        self.markers.reverse();
        self.events.reverse();
        self.safety.reverse();
        for placed in &mut self.events {
            placed.acks_before = self.acks.len() - placed.acks_before;
            placed.markers_before = self.markers.len() - placed.markers_before;
        }
        let since_ack = self.answer.take().map_or(self.markers.len(), |(_, since)| since);
        let Self { runs, acks, events, markers, safety, .. } = self;
        Recent { runs, acks, events, markers, since_ack, safety, warnings }
    }
}

/// The commit of a marker, without decoding the line: its members are ids, and the only one named `commit` is it.
fn marked(line: &[u8]) -> Option<CommitId> {
    const KEY: &[u8] = br#""commit":""#;
    let at = line.windows(KEY.len()).position(|window| window == KEY)?;
    let id = line.get(at + KEY.len()..)?.split(|byte| *byte == b'"').next()?;
    std::str::from_utf8(id).ok()?.parse().ok()
}

/// Whether a line is a test run. Keys are sorted, so that `type` stands near its end; overlays are long.
fn is_run(line: &[u8]) -> bool {
    const MEMBER: &[u8] = br#""type":"test_run""#;
    let end = &line[line.len().saturating_sub(LAST_MEMBERS)..];
    end.windows(MEMBER.len()).any(|window| window == MEMBER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{CodeId, CommitId, TreeId};

    const REACH: Reach = Reach { runs: 2, commits: 3 };

    fn marker(n: u8) -> JournalLine {
        JournalLine::CommitRecorded {
            commit: CommitId(format!("{n:02x}").repeat(20).parse().unwrap()),
            tree: TreeId("a".repeat(40).parse().unwrap()),
            code: CodeId([n; 32]),
            at: None,
        }
    }

    fn ack(reason: &str) -> JournalLine {
        JournalLine::Ack(Box::new(Ack {
            halt: None,
            counter: None,
            by: "A".to_owned(),
            how: crate::domain::facts::AckHow::Resume,
            agent: None,
            reason: reason.to_owned(),
            head: None,
            worktree: "main".to_owned(),
            at: crate::domain::time::Timestamp(0),
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

    fn reasons(recent: &Recent) -> Vec<(&str, AckPlace)> {
        recent.acks.iter().map(|(ack, place)| (ack.reason.as_str(), *place)).collect()
    }

    #[test]
    fn commits_since_the_newest_answer_are_counted_from_where_it_was_given() {
        let at = |head: u8, reason: &str| {
            let JournalLine::Ack(answer) = ack(reason) else { unreachable!() };
            let head = Some(CommitId(format!("{head:02x}").repeat(20).parse().unwrap()));
            JournalLine::Ack(Box::new(Ack { head, ..*answer }))
        };
        let since = |lines: &[JournalLine]| journal(lines).1.recent(Reach { runs: 2, commits: 9 }).since_ack;
        assert_eq!(since(&[marker(1), marker(2)]), 2, "no answer");
        assert_eq!(since(&[marker(1), at(1, "a"), marker(2), at(2, "b"), marker(3)]), 1, "the newest");
        // The commit was amended twice, and the answer went along.
        let moved = [marker(1), at(1, "a"), marker(2), at(2, "a"), marker(3), at(3, "a")];
        assert_eq!(since(&moved), 2);
        let JournalLine::Ack(counter) = ack("one") else { unreachable!() };
        let counter = JournalLine::Ack(Box::new(Ack { counter: Some("x".into()), ..*counter }));
        assert_eq!(
            since(&[marker(1), at(1, "a"), marker(2), counter, marker(3)]),
            2,
            "one counter is no answer"
        );
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
        let recent = journal.recent(Reach { runs: 0, commits: 3 });
        assert_eq!(reasons(&recent), [("new", AckPlace::Last)]);
        assert_eq!(journal.recent(REACH).acks.len(), 2);
    }
}
