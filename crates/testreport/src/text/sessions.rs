//! The output of one runner in one stream: sessions one after another, each closed by its summary line.

use std::collections::{BTreeMap, VecDeque};

use crate::tally::{Outcome, Tally, Trouble, append_line};
use crate::{Counts, ReportProblem, Root, WordList, words::cut};

/// Holds back what a session says until its summary proves that it was one.
#[derive(Default)]
pub(super) struct Sessions {
    runner: &'static str,
    pub(super) root: Root,
    /// The results of closed sessions, for runners that explain failures after their summary.
    pub(super) closed: Tally,
    recognised: bool,
    /// A line that only this runner prints was seen: what was noted is no other output.
    open: bool,
    /// The results of the open session, counts aside.
    pub(super) pending: Tally,
    /// Counted from the lines of tests: only needed when no summary comes.
    pub(super) seen: Tally,
    pub(super) unfinished: bool,
    /// Its header has come.
    begun: bool,
    /// Lines of tests have come that no summary follows yet.
    trailing: bool,
    /// The first summary that counts fewer tests than were announced: both numbers.
    short: Option<(u64, u64)>,
    /// The failing test whose error comes, and the error so far.
    failing: Option<(String, String)>,
}

impl Sessions {
    pub(super) fn new(runner: &'static str, root: &Root) -> Self {
        Self {
            runner,
            root: root.clone(),
            closed: Tally::new(root),
            pending: Tally::new(root),
            seen: Tally::new(root),
            ..Self::default()
        }
    }

    /// A session begins; one that is open was cut short.
    pub(super) fn begin(&mut self) {
        self.give_up();
        self.prove();
        self.begun = true;
    }

    /// True from the header of a session to its summary: the lines between may be printed by tests.
    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }

    /// The line of a test, as other programs print some too: after one session it belongs to another one.
    pub(super) fn at_work(&mut self) {
        self.trailing = true;
    }

    /// A line that only this runner prints.
    pub(super) fn prove(&mut self) {
        self.open = true;
    }

    /// True when such a line has come and no summary yet.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// A test of this id that ended so; what a failing one says comes with [`Sessions::fail`].
    pub(super) fn seen(&mut self, id: &str, outcome: Outcome) {
        self.seen.count(outcome);
        self.pending.named(id, outcome);
    }

    /// Notes a failing test of the session.
    pub(super) fn fail(&mut self, id: &str, error: Option<&str>) {
        self.pending.fail(id, error);
    }

    /// The lines that come are the error of this failing test, behind `text`.
    pub(super) fn begin_failure(&mut self, id: &str, text: &str) {
        self.end_failure();
        self.failing = Some((id.to_owned(), text.to_owned()));
    }

    /// A line of the error; dropped where no failing test is open.
    pub(super) fn explain(&mut self, line: &str) {
        if let Some((_, text)) = &mut self.failing {
            append_line(text, line);
        }
    }

    /// The error is whole.
    pub(super) fn end_failure(&mut self) {
        if let Some((id, text)) = self.failing.take() {
            self.fail(&id, Some(&text));
        }
    }

    /// Words with which only this runner says that it gave up, before its summary or, because that is drawn first, after it.
    pub(super) fn gave_up(&mut self, words: &str) {
        if !self.open {
            self.take_in();
        }
        let tally = if self.open { &mut self.pending } else { &mut self.closed };
        tally.trouble(Trouble::GaveUp);
        tally.run_error(words);
    }

    /// The summary line: what was noted before it counts, and the session is over.
    pub(super) fn summary(&mut self, counts: Counts) {
        self.end_failure();
        self.take_in();
        (self.begun, self.trailing) = (false, false);
        self.closed.sessions.end(self.runner);
        self.closed.add_counts(counts);
        self.seen = Tally::new(&self.root);
    }

    /// The summary line of a session in which nothing of what was asked for was there, and what says so.
    pub(super) fn never_started(&mut self, reason: String) {
        self.pending = Tally::new(&self.root);
        self.pending.trouble(Trouble::NoTests);
        self.pending.never_started(reason);
        self.summary(Counts::default());
    }

    /// Compares a summary with what was announced before it, or elsewhere.
    pub(super) fn hold_against(&mut self, planned: u64, counted: u64) {
        if planned > counted {
            self.short.get_or_insert((planned, counted));
        }
    }

    /// Counts what was noted, without any summary: words of the runner that need none.
    pub(super) fn take_in(&mut self) {
        self.recognised = true;
        self.open = false;
        let pending = std::mem::replace(&mut self.pending, Tally::new(&self.root));
        self.closed.absorb(pending);
    }

    /// Without a summary, what the lines said is all there is.
    fn give_up(&mut self) {
        let seen = std::mem::replace(&mut self.seen, Tally::new(&self.root));
        if self.open {
            self.take_in();
            self.closed.add_counts(seen.counts);
            self.begun = false;
            self.unfinished = true;
        }
        self.pending = Tally::new(&self.root);
    }

    /// The result; `None` when nothing of it was the runner's.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        self.end_failure();
        self.give_up();
        if !self.recognised {
            return None;
        }
        if self.unfinished || self.trailing {
            self.closed.problem(report, &ReportProblem::SummaryMissing { runner: self.runner });
        }
        // A failed test may be the reason that others did not run.
        if let Some((planned, counted)) = self.short.filter(|_| !self.closed.has_failures()) {
            let problem = ReportProblem::SummaryShort { runner: self.runner, planned, counted };
            self.closed.problem(report, &problem);
        }
        self.closed.recognised_as(self.runner);
        Some(self.closed)
    }
}

/// `1 failed, 2 passed`: number first, with no other names than these.
pub(super) fn number_first<'t>(
    list: &'t str,
    separator: &str,
    names: WordList,
) -> Option<Vec<(&'t str, u64)>> {
    let part = |part: &'t str| {
        let (number, name) = part.trim().split_once(' ')?;
        Some((name.trim(), whole_number(number)?)).filter(|(name, _)| names.contains(name))
    };
    list.split(separator).map(part).collect()
}

/// `failures=1, errors=2` or `Tests: 3, Failures: 1`: name first, with no other names than these.
pub(super) fn name_first<'t>(list: &'t str, between: char, names: WordList) -> Option<Vec<(&'t str, u64)>> {
    let part = |part: &'t str| {
        let (name, number) = part.split_once(between)?;
        Some((name.trim(), whole_number(number.trim())?)).filter(|(name, _)| names.contains(name))
    };
    list.split(", ").map(part).collect()
}

/// The number of tests in counts.
pub(super) fn listed(counts: Counts) -> u64 {
    counts.failing().saturating_add(counts.passed).saturating_add(counts.skipped)
}

/// The sum of the numbers under any of the names.
pub(super) fn sum(list: &[(&str, u64)], names: &[&str]) -> u64 {
    let found = list.iter().filter(|(name, _)| names.contains(name));
    found.fold(0, |sum, (_, number)| sum.saturating_add(*number))
}

/// The counts of a list, by the names that passed, failed, errored and skipped tests have in it.
pub(super) fn counts_of(list: &[(&str, u64)], kinds: [&[&str]; 4]) -> Counts {
    let [passed, failed, errored, skipped] = kinds.map(|names| sum(list, names));
    Counts { total: 0, passed, failed, errored, skipped }
}

/// The same where `total` tests ran or were skipped, and the others of them passed.
pub(super) fn others_passed(total: u64, counts: Counts) -> Counts {
    Counts { passed: total.saturating_sub(counts.failing().saturating_add(counts.skipped)), ..counts }
}

/// Digits and nothing else.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// `0.12s` or `0.12s (0:01:02)`: the time at the end of a summary.
pub(super) fn is_seconds(text: &str) -> bool {
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    let number = word.strip_suffix('s').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Texts by heading, in bounded memory.
#[derive(Debug, Default)]
pub(super) struct Explanations {
    texts: BTreeMap<String, VecDeque<String>>,
    kept: usize,
    open: Option<(String, String)>,
}

impl Explanations {
    const MAX_KEPT: usize = 512;
    const MAX_HEADING: usize = 4 * 1024;

    /// The following lines are under this heading.
    pub(super) fn begin(&mut self, heading: &str) {
        self.end();
        self.open = Some((cut(heading, Self::MAX_HEADING).to_owned(), String::new()));
    }

    /// A line of the text; dropped when no heading is open.
    pub(super) fn line(&mut self, line: &str) {
        if let Some((_, text)) = &mut self.open {
            append_line(text, line);
        }
    }

    /// The text under the heading has ended.
    pub(super) fn end(&mut self) {
        if let Some((heading, text)) = self.open.take()
            && self.kept < Self::MAX_KEPT
        {
            self.kept += 1;
            self.texts.entry(heading).or_default().push_back(text);
        }
    }

    /// The first unclaimed text under this heading.
    pub(super) fn claim(&mut self, heading: &str) -> Option<String> {
        self.end();
        let text = self.texts.get_mut(heading)?.pop_front()?;
        self.kept = self.kept.saturating_sub(1);
        Some(text)
    }

    /// Heading and text of what is unclaimed.
    pub(super) fn unclaimed(&mut self) -> Vec<(String, String)> {
        self.end();
        self.kept = 0;
        let texts = std::mem::take(&mut self.texts).into_iter();
        texts
            .flat_map(|(heading, texts)| texts.into_iter().map(move |text| (heading.clone(), text)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> Sessions {
        Sessions::new("x", &Root::none())
    }

    #[test]
    fn what_no_summary_proves_is_dropped() {
        let mut alone = sessions();
        alone.fail("a", None);
        alone.seen("a", Outcome::Failed);
        assert!(alone.finish("out").is_none());
    }

    #[test]
    fn an_open_session_without_a_summary_is_incomplete() {
        let mut cut = sessions();
        cut.begin();
        cut.seen("a", Outcome::Passed);
        cut.fail("a", None);
        let tally = cut.finish("out").unwrap();
        assert_eq!((tally.trouble, tally.counts.passed), (Some(Trouble::Incomplete), 1));
        assert!(tally.has_failures());
    }

    #[test]
    fn sessions_add_up() {
        let mut two = sessions();
        for _ in 0..2 {
            two.begin();
            two.seen("a", Outcome::Passed);
            two.summary(Counts { passed: 3, ..Counts::default() });
        }
        let tally = two.finish("out").unwrap();
        assert_eq!((tally.trouble, tally.counts.total), (None, 6));
    }
}

#[cfg(test)]
mod list_tests {
    use super::*;
    use crate::words;

    #[test]
    fn lists() {
        const NAMES: WordList =
            words!["failed", "passed", "subtests passed", "failures", "expected failures", "Tests"];
        let first = |list, separator| number_first(list, separator, NAMES);
        let list = first("1 failed, 2 subtests passed", ", ").unwrap();
        assert_eq!(list, [("failed", 1), ("subtests passed", 2)]);
        assert_eq!(sum(&list, &["failed", "errors"]), 1);
        assert_eq!((first("1 failed, 2 lost", ", "), first("1 failed, done", ", ")), (None, None));
        assert_eq!(first("1 failed | 2 passed", " | ").map(|list| list.len()), Some(2));
        assert_eq!(
            name_first("failures=1, expected failures=2", '=', NAMES),
            Some(vec![("failures", 1), ("expected failures", 2)])
        );
        assert_eq!(name_first("Tests: 3, Failures: x", ':', NAMES), None);
        assert_eq!(
            (whole_number("+1"), whole_number(""), whole_number("99999999999999999999")),
            (None, None, None)
        );
    }

    #[test]
    fn seconds() {
        assert!(is_seconds("0.12s") && is_seconds("62.12s (0:01:02)"));
        assert!(!is_seconds("s") && !is_seconds("") && !is_seconds("3 days"));
    }
}

#[cfg(test)]
mod explanation_tests {
    use super::*;

    #[test]
    fn texts_are_claimed_once_in_order() {
        let mut explained = Explanations::default();
        explained.line("nowhere");
        for text in ["one", "two"] {
            explained.begin("test_a");
            explained.line(text);
        }
        assert_eq!(explained.claim("test_a").as_deref(), Some("one"));
        assert_eq!(explained.claim("test_b"), None);
        assert_eq!(explained.unclaimed(), [("test_a".to_owned(), "two".to_owned())]);
        assert_eq!(explained.claim("test_a"), None);
    }
}
