//! The part of the journal that a hook needs: the newest test runs and the acknowledgements that can still matter.
//! Read from the end and stopped early, so that it costs the same however long the journal is.

use super::{Journal, JournalLine, Position, tail};
use crate::wire::v1::{decode_line, is_plainly_event, peek};
use crate::{Marker, Peek};
use andon_core::domain::{Ack, CommitId, Diagnostic, SafetyFact, TestRun};
use andon_core::history::order::{AckPlace, JournalItem, MarkedCommit};
use andon_core::history::{DEFAULT_NODE, PassedCommit, RunStart};

/// First look: enough unless runs have large overlays.
const FIRST: u64 = 64 << 10;

/// The newest safety events that one reading keeps: enough to see whether one was written already.
const MAX_SAFETY: usize = 64;

/// The distance that a reader has to look back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Test runs, where not all is asked for.
    pub runs: usize,
    /// Recorded commits: acknowledgements before that many are out of every window.
    pub commits: usize,
    /// Recorded commits whose turns count: a declared workflow needs them all, other loops those of the window.
    pub turns: usize,
    /// The place after which everything else counts too; `None` where nothing else is needed.
    pub since: Option<Position>,
}

/// The facts that were found; all lists oldest first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RecentFacts {
    pub runs: Vec<TestRun>,
    /// Acknowledgements.
    pub acks: Vec<(Ack, AckPlace)>,
    /// Everything else since the place that was asked for.
    pub items: Vec<JournalItem>,
    /// Commits that were recorded, as far back as was looked.
    pub markers: Vec<CommitId>,
    /// The number of these commits, the newest, that come after the newest answer to a halt; where it was moved to the commit
    /// that took the place of its own, after the answer itself.
    pub since_ack: usize,
    /// Safety events since the newest commit, at most 64.
    pub safety: Vec<SafetyFact>,
    /// Lines that were skipped.
    pub warnings: Vec<Diagnostic>,
}

impl Journal {
    /// The newest facts within `reach`.
    pub fn recent(&self, reach: Reach) -> RecentFacts {
        let (first, is_enough) = self.scan(FIRST, reach);
        if is_enough { first } else { self.scan(super::TAIL, reach).0 }
    }

    /// Returns the facts that the last `max` bytes hold, and as many more bytes as there are since the place that was asked
    /// for; and true where these are all that was asked for.
    fn scan(&self, max: u64, reach: Reach) -> (RecentFacts, bool) {
        let mut found = RecentLines::new(reach);
        let NewestFile { mut end, floor } = self.newest(max, reach.since);
        let mut is_enough = found.lines(&self.path(), &end, floor);
        let mut looked = end.bytes.len() as u64;
        // The common case, without looking for older files: enough was seen, or there are none.
        let older =
            if !is_enough && end.start == 0 && self.is_rotated() { self.generations() } else { Vec::new() };
        for number in older {
            let since = reach.since.filter(|since| since.generation <= number);
            let floor = since.map(|since| if since.generation == number { since.offset } else { 0 });
            if is_enough || end.start > 0 || (looked >= max && floor.is_none()) {
                break;
            }
            let path = self.generation(number);
            let length = std::fs::metadata(&path).map_or(0, |meta| meta.len());
            let wanted = floor.map_or(0, |floor| length.saturating_sub(floor));
            end = tail::end(&path, wanted.max(max.saturating_sub(looked)));
            looked += end.bytes.len() as u64;
            is_enough = found.lines(&path, &end, floor);
        }
        (found.finish(), is_enough || end.start == 0)
    }

    /// The end of the newest file; read again when it was rotated meanwhile.
    fn newest(&self, max: u64, since: Option<Position>) -> NewestFile {
        loop {
            let rotated = since.is_some_and(|since| self.rotated_since(since));
            let floor = since.map(|since| if rotated { 0 } else { since.offset });
            let wanted = floor.map_or(0, |floor| self.size().unwrap_or(0).saturating_sub(floor));
            let end = tail::end(&self.path(), wanted.max(max));
            if since.is_none_or(|since| self.rotated_since(since) == rotated) {
                return NewestFile { end, floor };
            }
        }
    }

    /// The newest test run, when the journal has grown by nothing but test runs since it was `len` bytes long.
    pub fn newest_run_since(&self, len: u64) -> Option<TestRun> {
        let end = tail::end(&self.path(), FIRST);
        let new = end.bytes.get(usize::try_from(len.checked_sub(end.start)?).ok()?..)?;
        let mut lines =
            new.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        if !lines.clone().all(|line| peek(line).is_ok_and(|line| line.is_run())) {
            return None;
        }
        if let JournalLine::TestRun(run) = decode_line(lines.next_back()?).ok()? { Some(*run) } else { None }
    }
}

/// The end of the newest file.
struct NewestFile {
    end: tail::End,
    /// The offset in it at which the part that was asked for in full begins.
    floor: Option<u64>,
}

/// The reason that a line is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// It comes after the place from which everything counts.
    InFull,
    /// It is within the reach of runs and commits.
    WithinReach,
}

/// The facts found so far, newest first.
struct RecentLines {
    reach: Reach,
    /// Acknowledgements and runs are named by their number from the newest.
    found: RecentFacts,
    /// The newest answer to a halt, and how many markers come after it.
    answer: Option<(Ack, usize)>,
    commits: usize,
}

impl RecentLines {
    fn new(reach: Reach) -> Self {
        Self { reach, found: RecentFacts::default(), answer: None, commits: 0 }
    }

    fn is_full(&self) -> bool {
        self.found.runs.len() >= self.reach.runs && self.commits >= self.reach.commits
    }

    /// Takes the lines of `end`, newest first; those from `floor` on in any case. True where more is not asked for.
    fn lines(&mut self, path: &std::path::Path, end: &tail::End, floor: Option<u64>) -> bool {
        self.found.warnings.extend(end.warnings.iter().cloned());
        for (start, line) in lines_from_the_end(&end.bytes) {
            let offset = end.start + start as u64;
            let in_full = floor.is_some_and(|floor| offset >= floor);
            let asked = if in_full { Asked::InFull } else { Asked::WithinReach };
            if !in_full && self.is_full() {
                return true;
            }
            let text = line.trim_ascii();
            if text.is_empty() || (!in_full && is_plainly_event(text)) {
                continue;
            }
            let passed = peek(text).map(|line| self.passes(&line, asked));
            match passed.and_then(|passed| if passed { Ok(None) } else { decode_line(text).map(Some) }) {
                Ok(Some(fact)) => self.take(fact, asked),
                Ok(None) => {}
                Err(error) => self.found.warnings.push(crate::skipped_line(path, offset, error.to_string())),
            }
        }
        false
    }

    /// True when a line needs no decoding: markers of commits, events that were folded already, and runs beyond the reach.
    fn passes(&mut self, line: &Peek<'_>, asked: Asked) -> bool {
        let Some(commit) = line.marked() else {
            return (line.is_event() && asked == Asked::WithinReach)
                || (line.is_run() && !self.wants_run(asked));
        };
        if asked == Asked::InFull && self.commits < self.reach.turns {
            return false;
        }
        self.commits += 1;
        if self.commits <= self.reach.commits {
            self.found.markers.push(commit);
        }
        true
    }

    /// True when one more test run is needed: each where all is asked for, for no rule looks at less than its parameters.
    fn wants_run(&self, asked: Asked) -> bool {
        asked == Asked::InFull || self.found.runs.len() < self.reach.runs
    }

    fn take(&mut self, line: JournalLine, asked: Asked) {
        match line {
            JournalLine::TestRun(run) if self.wants_run(asked) => {
                if asked == Asked::InFull {
                    self.found.items.push(JournalItem::Run(self.found.runs.len()));
                }
                self.found.runs.push(*run);
            }
            JournalLine::Ack(ack) => {
                let place = if self.commits == 0 { AckPlace::Last } else { AckPlace::BeforeCommit };
                if asked == Asked::InFull {
                    self.found.items.push(JournalItem::Ack(self.found.acks.len()));
                }
                self.answered(&ack);
                self.found.acks.push((*ack, place));
            }
            JournalLine::CommitRecorded(marker) => {
                self.commits += 1;
                self.found.markers.push(marker.commit);
                if asked == Asked::InFull {
                    let (commit, passing) = (marker.commit, passing(marker));
                    self.found.items.push(JournalItem::Commit(MarkedCommit { commit, passing }));
                }
            }
            JournalLine::Event(event) if asked == Asked::InFull => {
                self.found.items.push(JournalItem::Event(event));
            }
            // Those since the newest commit: an event about an earlier one is written again.
            JournalLine::Safety(fact) if self.commits == 0 && self.found.safety.len() < MAX_SAFETY => {
                self.found.safety.push(*fact);
            }
            JournalLine::TestRun(_)
            | JournalLine::Event(_)
            | JournalLine::Safety(_)
            | JournalLine::Agent(_)
            | JournalLine::Attempt(_)
            | JournalLine::Halt(_)
            | JournalLine::Healed(_) => {}
        }
    }

    /// An answer that was moved along with its commit is in the journal again, and differs by that alone.
    fn answered(&mut self, ack: &Ack) {
        let here = Ack { head: None, ..ack.clone() };
        if ack.counter.is_none() && self.answer.as_ref().is_none_or(|(known, _)| *known == here) {
            self.answer = Some((here, self.found.markers.len()));
        }
    }

    fn finish(self) -> RecentFacts {
        let mut found = self.found;
        found.runs.reverse();
        found.acks.reverse();
        found.items.reverse();
        found.safety.reverse();
        for item in &mut found.items {
            match item {
                JournalItem::Ack(number) => *number = found.acks.len() - 1 - *number,
                JournalItem::Run(number) => *number = found.runs.len() - 1 - *number,
                JournalItem::Event(_) | JournalItem::Commit(_) => {}
            }
        }
        found.markers.reverse();
        found.since_ack = self.answer.map_or(found.markers.len(), |(_, since)| since);
        found
    }
}

/// The lines with their ends, the last one first, and where each begins. Bytes are passed many at once: a hook looks
/// through some thousand.
fn lines_from_the_end(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let before_its_end = rest.len().checked_sub(1)?;
        let start = memchr::memrchr(b'\n', &rest[..before_its_end]).map_or(0, |end| end + 1);
        let (before, line) = rest.split_at(start);
        rest = before;
        Some((start, line))
    })
}

/// The turn of a commit. What an older version wrote names no node: it counts for the default one.
pub(crate) fn passing(Marker { node, iteration, begins, code, at, .. }: Marker) -> PassedCommit {
    let (node, number, begins) = match node.zip(iteration) {
        Some((node, number)) => (node, number, begins),
        None => (DEFAULT_NODE.to_owned(), 0, RunStart::Nothing),
    };
    PassedCommit { node, at, code, number, begins }
}

#[cfg(test)]
mod tests;
