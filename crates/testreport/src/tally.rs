//! The content of one report, in bounded memory, before any conclusion is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::beginnings::SessionCounts;
use crate::normalize::{MAX_TEXT, with_positions};
use crate::test_names::{TestNames, Took};
use crate::words::{PHRASES, cut};
use crate::{
    Counts, ErrorText, Format, MAX_FAILING, NamedTest, ReportProblem, ReportedPlace, Root, TestStatus,
    WordList, normalize_error, normalize_id, stable_id,
};

impl From<Outcome> for Counts {
    fn from(outcome: Outcome) -> Self {
        Self {
            total: 1,
            passed: u64::from(outcome == Outcome::Passed),
            failed: u64::from(outcome == Outcome::Failed),
            errored: u64::from(outcome == Outcome::Errored),
            skipped: u64::from(outcome == Outcome::Skipped),
        }
    }
}

/// Troubles that make a report less than the whole story, in rising order of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// The runner says that it found no tests.
    NoTests,
    /// The runner gave up by itself.
    GaveUp,
    /// The report is cut short or cannot be read.
    Incomplete,
    /// A test program was killed by a signal.
    Crashed,
    /// The code did not build.
    BuildFailed,
}

impl Trouble {
    /// The status class that this makes of a run; [`Trouble::GaveUp`] yields to failing cases,
    /// [`Trouble::NoTests`] to any case that ran.
    pub(super) fn status(self) -> TestStatus {
        match self {
            Self::NoTests => TestStatus::NoTests,
            Self::GaveUp => TestStatus::RunnerError,
            Self::Incomplete => TestStatus::Incomplete,
            Self::Crashed => TestStatus::Crashed,
            Self::BuildFailed => TestStatus::BuildFailed,
        }
    }
}

/// The end of one test, in rising order of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Outcome {
    Passed,
    /// Skipped, ignored, or expected to fail.
    Skipped,
    Failed,
    /// Could not be carried through.
    #[default]
    Errored,
}

/// Words of formats for outcomes: the format, the outcome and the word, a row each. Whatever else they say is no verdict.
const OUTCOMES: WordList = WordList::section(PHRASES, "outcomes");

impl Outcome {
    /// The outcome of a test that a format tells with this word; `None` where it has no such word.
    pub(super) fn told(format: &str, word: &str) -> Option<Self> {
        let told = OUTCOMES.iter().find_map(|row| {
            let (told, known) = row.strip_prefix(format)?.strip_prefix(' ')?.split_once(' ')?;
            (known == word).then_some(told)
        });
        Some(match told? {
            "passed" => Self::Passed,
            "failed" => Self::Failed,
            "skipped" => Self::Skipped,
            _ => Self::Errored,
        })
    }

    pub(super) fn is_failing(self) -> bool {
        matches!(self, Self::Failed | Self::Errored)
    }
}

/// The time that a test took, by a clock that would show the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestTime {
    Nothing,
    Some,
}

impl TestTime {
    /// The time in seconds as a report writes it; `None` where its clock may be too coarse to tell.
    pub(super) fn of_seconds(text: &str) -> Option<Self> {
        const FINE: usize = 4;
        let (_, digits) = text.trim().split_once('.')?;
        let seconds: f64 = text.trim().parse().ok()?;
        (seconds > 0.0 || digits.len() >= FINE).then_some(if seconds > 0.0 {
            Self::Some
        } else {
            Self::Nothing
        })
    }
}

/// A failure as its reader handed it over, for tracing the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Original {
    /// The id; empty for an error of the run itself.
    pub(super) id: String,
    /// The error text, if any.
    pub(super) error: Option<String>,
}

/// An error of the run, beside its normalized text.
#[derive(Debug, Clone)]
struct RunError {
    /// The error with its positions.
    shown: Option<String>,
    /// As it came, if that is kept.
    original: Option<String>,
}

/// A failing test: the normalized first error, and the failure as it came, where that is
/// kept. Ordered by the error, whatever it was made of.
#[derive(Debug, Clone, Default)]
struct Failure {
    error: Option<String>,
    /// The error with its positions.
    shown: Option<String>,
    original: Option<Box<Original>>,
}

impl Failure {
    /// The one whose error sorts first; one with an error goes over one without.
    fn or_smaller(self, other: Self) -> Self {
        match (&self.error, &other.error) {
            (Some(one), Some(two)) if two < one => other,
            (None, Some(_)) => other,
            (Some(_) | None, Some(_) | None) if self.original.is_none() && self.error.is_none() => other,
            (Some(_) | None, Some(_) | None) => self,
        }
    }
}

/// Counts, failing ids and first errors of one or several reports.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    root: Root,
    pub(super) counts: Counts,
    /// First error by normalized id: the [`MAX_FAILING`] ids that sort first, so that the
    /// order in which tests ran does not show.
    failures: BTreeMap<String, Failure>,
    pub(super) cut: bool,
    /// Every test that was named.
    names: TestNames,
    /// Errors that belong to no test, such as those of the compiler.
    run_errors: BTreeMap<String, RunError>,
    pub(super) trouble: Option<Trouble>,
    runners: BTreeSet<&'static str>,
    pub(super) sessions: SessionCounts,
    /// Tests that took no time at all, by a clock that would show the least, and others.
    pub(super) instant: u64,
    pub(super) lasting: u64,
    pub(super) places: BTreeSet<ReportedPlace>,
    warnings: Vec<String>,
    /// Name of the first problem.
    pub(super) problem: Option<&'static str>,
    /// The line that says that the tests could not be started.
    not_started: Option<String>,
}

/// The results that reports have given already: other results are compared with them.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlierResults {
    /// True when a test is known to have failed.
    failures: bool,
    worst: Option<Trouble>,
}

impl Tally {
    /// Longest error text that is kept until it is normalized, in bytes.
    pub(super) const MAX_ERROR: usize = MAX_TEXT;
    const MAX_RUN_ERRORS: usize = 64;
    const MAX_WARNINGS: usize = 64;
    const MAX_PLACES: usize = 256;
    const MAX_PLACE: usize = 4 * 1024;

    pub(super) fn new(root: &Root) -> Self {
        Self { root: root.clone(), ..Self::default() }
    }

    /// The result of a report that was not read: why.
    pub(super) fn unread(report: &str, problem: &ReportProblem, root: &Root) -> Self {
        let mut tally = Self::new(root);
        tally.problem(report, problem);
        tally
    }

    /// Counts one test that ended so.
    pub(super) fn count(&mut self, outcome: Outcome) {
        self.add_counts(outcome.into());
    }

    /// Counts one test of this id that ended so.
    pub(super) fn case(&mut self, id: &str, outcome: Outcome) {
        self.count(outcome);
        self.named(id, outcome);
    }

    /// Counts one test of this id that ended so, with its error where it failed.
    pub(super) fn ended(&mut self, id: &str, outcome: Outcome, error: &str) {
        self.case(id, outcome);
        if outcome.is_failing() {
            self.fail(id, Some(error));
        }
    }

    /// Names a test that is counted elsewhere.
    pub(super) fn named(&mut self, id: &str, outcome: Outcome) {
        if self.names.are_wanted() {
            let took = if outcome == Outcome::Skipped { Took::Skipped } else { Took::Ran };
            self.names.add(stable_id(&normalize_id(id, &self.root)).into_owned(), took);
        }
    }

    /// Notes that tests may be missing among those that were named.
    pub(super) fn names_are_partial(&mut self) {
        self.names.lose();
    }

    /// Adds counts; `total` is what the others sum up to.
    pub(super) fn add_counts(&mut self, more: Counts) {
        let counts = &mut self.counts;
        counts.absorb(more);
        counts.total = counts.failing().saturating_add(counts.passed).saturating_add(counts.skipped);
    }

    /// Notes a failing test, without counting it. Of several tests of one id (doctests of one item, further
    /// attempts) the error that sorts first stays, whatever their order.
    pub(super) fn fail(&mut self, id: &str, error: Option<&str>) {
        let kept = || Box::new(Original { id: id.to_owned(), error: error.map(str::to_owned) });
        let original = self.root.keeps_originals().then(kept);
        let id = normalize_id(id, &self.root);
        let full = self.failures.len() >= MAX_FAILING;
        if full && self.failures.last_key_value().is_some_and(|(last, _)| id > *last) {
            self.cut = true;
            return;
        }
        let raw = error.unwrap_or_default();
        let error = error.map(|text| normalize_error(text, &self.root)).filter(|text| !text.is_empty());
        let shown = error.as_deref().and_then(|error| with_positions(error, raw));
        self.insert(id, Failure { error, shown, original });
    }

    fn insert(&mut self, id: String, failure: Failure) {
        let known = self.failures.entry(id).or_default();
        *known = std::mem::take(known).or_smaller(failure);
        if self.failures.len() > MAX_FAILING {
            self.failures.pop_last();
            self.cut = true;
        }
    }

    /// Notes an error that belongs to no test.
    pub(super) fn run_error(&mut self, text: &str) {
        let normalized = normalize_error(text, &self.root);
        if !normalized.is_empty() && self.run_errors.len() < Self::MAX_RUN_ERRORS {
            let original = self.root.keeps_originals().then(|| text.to_owned());
            let shown = with_positions(&normalized, text);
            self.run_errors.entry(normalized).or_insert(RunError { shown, original });
        }
    }

    /// Notes what makes the report less than the whole story: tests may be missing in it.
    pub(super) fn trouble(&mut self, trouble: Trouble) {
        if trouble != Trouble::NoTests {
            self.names_are_partial();
        }
        self.trouble = self.trouble.max(Some(trouble));
    }

    /// Notes that the report is not the whole, and why.
    pub(super) fn problem(&mut self, report: &str, problem: &ReportProblem) {
        self.trouble(Trouble::Incomplete);
        self.problem.get_or_insert(problem.name());
        self.warn(format!("{report}: {problem}"));
    }

    /// Notes something about the reports that changes nothing about the run.
    pub(super) fn warn(&mut self, warning: String) {
        if self.warnings.len() < Self::MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// True when that format is wanted, or any.
    pub(super) fn is_wanted(&self, format: Option<Format>) -> bool {
        format.is_none_or(|format| self.runners.contains(format.name()))
    }

    pub(super) fn recognised_as(&mut self, runner: &'static str) {
        self.runners.insert(runner);
    }

    /// Notes how long a test ran.
    pub(super) fn took(&mut self, time: TestTime) {
        let number = if time == TestTime::Nothing { &mut self.instant } else { &mut self.lasting };
        *number = number.saturating_add(1);
    }

    /// Notes the file of a test, where its whole path is known.
    pub(super) fn in_file(&mut self, file: &str) {
        if Path::new(file).is_absolute() {
            self.placed(ReportedPlace::File(cut(file, Self::MAX_PLACE).to_owned()));
        }
    }

    /// Notes where tests are.
    pub(super) fn placed(&mut self, place: ReportedPlace) {
        if self.places.len() < Self::MAX_PLACES {
            self.places.insert(place);
        }
    }

    /// Takes another report of the same run in: counts add, ids unite, the worst trouble stays.
    pub(super) fn absorb(&mut self, other: Self) {
        self.add_counts(other.counts);
        for (id, failure) in other.failures {
            self.insert(id, failure);
        }
        self.cut |= other.cut;
        self.names.absorb(other.names);
        self.run_errors.extend(other.run_errors);
        self.trouble = self.trouble.max(other.trouble);
        self.runners.extend(other.runners);
        self.sessions.absorb(other.sessions);
        self.instant = self.instant.saturating_add(other.instant);
        self.lasting = self.lasting.saturating_add(other.lasting);
        other.places.into_iter().for_each(|place| self.placed(place));
        self.warnings.extend(other.warnings);
        self.warnings.truncate(Self::MAX_WARNINGS);
        self.problem = self.problem.or(other.problem);
        self.not_started = self.not_started.take().or(other.not_started);
    }

    /// Both reports of a run as one.
    pub(super) fn with(mut self, other: Self) -> Self {
        self.absorb(other);
        self
    }

    /// True when some test is known to have failed.
    pub(super) fn has_failures(&self) -> bool {
        self.counts.failing() > 0 || !self.failures.is_empty()
    }

    /// True when a text summary counts next to structured reports: they report the same tests, which would be counted
    /// twice. A fault that only the text knows counts all the same.
    pub(super) fn adds_to(&self, reports: Option<EarlierResults>) -> bool {
        reports.is_none_or(|told| !told.failures && (self.has_failures() || self.trouble > told.worst))
    }

    /// Its result, for comparison with others; `None` when nothing was recognised.
    pub(super) fn told(&self) -> Option<EarlierResults> {
        let told = EarlierResults { failures: self.has_failures(), worst: self.trouble };
        (!self.runners.is_empty()).then_some(told)
    }

    /// Notes that the tests could not be started, and what says so.
    pub(super) fn never_started(&mut self, reason: String) {
        self.not_started.get_or_insert(reason);
    }

    /// The line that says that the tests, or a part of them, could not be started.
    pub(super) fn not_started(&self) -> Option<&str> {
        self.not_started.as_deref()
    }

    /// Notes that the failure of another program ended it: missing parts say nothing about the rest.
    pub(super) fn was_ended(&mut self) {
        if self.trouble == Some(Trouble::Incomplete) {
            self.trouble = Some(Trouble::GaveUp);
        }
    }

    /// The normalized ids of all tests that it names.
    pub(super) fn ids(&self) -> BTreeSet<&str> {
        self.failures.keys().map(String::as_str).chain(self.names.ids()).collect()
    }

    /// Puts the name of their source before these ids.
    pub(super) fn qualify(&mut self, source: &str, ids: &BTreeSet<String>) {
        if source.is_empty() || ids.is_empty() {
            return;
        }
        let root = self.root.clone();
        let named = |id: String| {
            if ids.contains(&id) { normalize_id(&format!("{source}: {id}"), &root) } else { id }
        };
        let failures = std::mem::take(&mut self.failures).into_iter();
        self.failures = failures.map(|(id, failure)| (named(id), failure)).collect();
        self.names.rename(named);
    }

    /// True when that runner was recognised.
    pub(super) fn is_of(&self, runner: &str) -> bool {
        self.runners.contains(runner)
    }

    /// The runners that were recognised, joined by `+`; `None` when none was.
    pub(super) fn runner(&self) -> Option<String> {
        let names: Vec<&str> = self.runners.iter().copied().collect();
        (!names.is_empty()).then(|| names.join("+"))
    }

    /// The failures as they came, those of the run first, then by their normalized ids: as the errors of
    /// [`Tally::into_parts`], but for tests without one. Empty unless the root says to keep them.
    pub(super) fn originals(&self) -> Vec<Original> {
        let of_run = self.run_errors.values().filter_map(|error| error.original.as_ref());
        let of_run = of_run.map(|text| Original { id: String::new(), error: Some(text.clone()) });
        let of_tests = self.failures.values().filter_map(|failure| failure.original.as_deref().cloned());
        of_run.chain(of_tests).collect()
    }

    /// Every test of the run, where all of them were named.
    pub(super) fn take_test_names(&mut self) -> Option<Vec<NamedTest>> {
        std::mem::take(&mut self.names).sorted(&self.counts)
    }

    /// Splits into failing ids, errors in order, and warnings.
    pub(super) fn into_parts(self) -> (Vec<String>, Vec<ErrorText>, Vec<String>) {
        let run_errors = self.run_errors.into_iter();
        let run_errors = run_errors.map(|(text, error)| ErrorText { test: None, text, shown: error.shown });
        let of_tests = self.failures.iter().filter_map(|(id, failure)| {
            let text = failure.error.clone()?;
            Some(ErrorText { test: Some(id.clone()), text, shown: failure.shown.clone() })
        });
        let errors = run_errors.chain(of_tests).collect();
        (self.failures.into_keys().collect(), errors, self.warnings)
    }
}

/// Appends a line to an error text, up to [`Tally::MAX_ERROR`] bytes.
pub(super) fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        append(text, "\n");
    }
    append(text, line);
}

/// Appends to an error text, up to [`Tally::MAX_ERROR`] bytes, never splitting a character.
pub(super) fn append(text: &mut String, more: &str) {
    text.push_str(cut(more, Tally::MAX_ERROR.saturating_sub(text.len())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_ids_are_bounded_and_do_not_depend_on_the_order() {
        let root = Root::none();
        let (mut up, mut down) = (Tally::new(&root), Tally::new(&root));
        for number in 0..1000 {
            up.fail(&format!("t{number:04}"), None);
            up.count(Outcome::Failed);
            down.fail(&format!("t{:04}", 999 - number), Some("broken"));
        }
        assert!(up.cut && down.cut);
        assert_eq!(up.counts.failed, 1000);
        let (ids, errors, _) = down.into_parts();
        assert_eq!(ids.len(), MAX_FAILING);
        assert_eq!(errors.len(), MAX_FAILING);
        assert_eq!(up.into_parts().0, ids);
    }

    #[test]
    fn merging_adds_counts_unites_ids_and_keeps_the_worst() {
        let root = Root::none();
        let (mut one, mut two) = (Tally::new(&root), Tally::new(&root));
        one.count(Outcome::Passed);
        one.fail("a", None);
        one.trouble(Trouble::Crashed);
        one.recognised_as("tap");
        two.count(Outcome::Errored);
        two.count(Outcome::Skipped);
        two.fail("a", Some("why"));
        two.fail("b", None);
        two.trouble(Trouble::GaveUp);
        two.recognised_as("junit");
        one.absorb(two);
        assert_eq!(one.counts, Counts { total: 3, passed: 1, failed: 0, errored: 1, skipped: 1 });
        assert_eq!(one.trouble, Some(Trouble::Crashed));
        assert_eq!(one.runner().as_deref(), Some("junit+tap"));
        let (ids, errors, _) = one.into_parts();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(errors, [ErrorText { test: Some("a".into()), text: "why".into(), shown: None }]);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let mut text = "x".repeat(Tally::MAX_ERROR - 1);
        append(&mut text, "é!");
        assert_eq!(text.len(), Tally::MAX_ERROR - 1);
        append_line(&mut text, "more");
        assert!(text.len() <= Tally::MAX_ERROR);
    }
}
