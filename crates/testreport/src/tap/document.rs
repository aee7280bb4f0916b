//! One TAP document: its plan, its points, and the subtests that are open.

use std::collections::BTreeMap;

use super::line::{Directive, Point, Strictness};
use crate::tally::{Outcome, Tally, Trouble, append_line};
use crate::{Counts, MAX_FAILING, ReportProblem, test_names::MAX_IDS};

/// Deepest subtest that is followed.
pub(super) const MAX_DEPTH: usize = 32;

/// Longest id that is put together from the names of subtests, in bytes, before normalization cuts it.
const MAX_PATH: usize = 4 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Plan {
    #[default]
    Missing,
    /// Before the first point.
    Ahead(u64),
    /// After the points: it closes the document.
    Closing(u64),
}

/// A failing point; names of subtests joined by ` > `.
#[derive(Debug)]
struct Failure {
    path: String,
    error: Option<String>,
}

/// One level: the document itself, or a subtest that no point has closed yet.
#[derive(Debug, Default)]
struct Frame {
    plan: Plan,
    points: u64,
    numbers: Numbers,
    /// The last `pragma` of this level; without one the level around it counts.
    strictness: Option<Strictness>,
    counts: Counts,
    failures: Vec<Failure>,
    /// Every point that counts, by its path; `None` once one has no name, or there are more than [`MAX_IDS`].
    named: Option<Vec<(String, Outcome)>>,
    /// The reason that it is not the whole.
    problem: Option<ReportProblem>,
    /// Its first line skipped a level: only points that close it tell a subtest from other output.
    doubtful: bool,
}

impl Frame {
    fn new() -> Self {
        Self { named: Some(Vec::new()), ..Self::default() }
    }

    fn add_failure(&mut self, failure: Failure) {
        // One more than is kept in the end, so that the cut shows.
        if self.failures.len() <= MAX_FAILING {
            self.failures.push(failure);
        }
    }

    fn name(&mut self, path: String, outcome: Outcome) {
        match &mut self.named {
            Some(named) if named.len() < MAX_IDS => named.push((path, outcome)),
            Some(_) | None => self.named = None,
        }
    }

    fn mismatch(&self) -> Option<ReportProblem> {
        match self.plan {
            Plan::Ahead(planned) | Plan::Closing(planned) if planned != self.points => {
                Some(ReportProblem::PlanMismatch { planned, came: self.points })
            }
            Plan::Ahead(planned) | Plan::Closing(planned) => self.numbers.problem(planned),
            Plan::Missing => None,
        }
    }
}

/// A document while it comes in.
#[derive(Debug)]
pub(super) struct Document {
    /// By depth; never empty.
    frames: Vec<Frame>,
    version: bool,
    /// Numbered points at the top: with a plan or a version line, what makes it TAP.
    numbered: u64,
    bail_out: Option<String>,
    /// Depth of the failure that the next error text belongs to.
    awaiting: Option<usize>,
}

impl Default for Document {
    fn default() -> Self {
        Self { frames: vec![Frame::new()], version: false, numbered: 0, bail_out: None, awaiting: None }
    }
}

impl Document {
    /// True when there is proof that this was TAP and not a program that printed `ok`.
    pub(super) fn is_tap(&self) -> bool {
        self.numbered > 0 || self.announced()
    }

    /// True when it has a version line or a plan.
    pub(super) fn announced(&self) -> bool {
        let top_plan = self.frames.first().map_or(Plan::Missing, |top| top.plan);
        self.version || top_plan != Plan::Missing
    }

    pub(super) fn version(&mut self) {
        self.version = true;
    }

    /// True when a plan line that comes now begins another document.
    pub(super) fn ends_before_plan(&self) -> bool {
        self.frames.first().is_some_and(|top| top.plan != Plan::Missing)
    }

    /// True when a point of this number at the top begins another document.
    pub(super) fn ends_before_point(&self, number: Option<u64>) -> bool {
        self.frames.first().is_some_and(|top| match top.plan {
            Plan::Closing(_) => true,
            Plan::Ahead(planned) => planned == top.points && planned > 0 && number == Some(1),
            Plan::Missing => false,
        })
    }

    /// True when a bare `ok` at the top is what a harness (`prove -v`) says of the whole document: it came to what its plan
    /// promised, and its own points have numbers.
    pub(super) fn is_judged_by(&self, point: &Point) -> bool {
        let bare = point.ok
            && point.directive == Directive::None
            && point.number.is_none()
            && point.description.is_empty()
            && !point.opens;
        let complete = |top: &Frame| match top.plan {
            Plan::Ahead(planned) | Plan::Closing(planned) => planned == top.points && planned > 0,
            Plan::Missing => false,
        };
        bare && self.numbered > 0 && self.frames.len() == 1 && self.frames.first().is_some_and(complete)
    }

    pub(super) fn plan(&mut self, depth: usize, planned: u64) {
        let Some(frame) = self.frame(depth) else { return };
        if frame.plan == Plan::Missing {
            frame.plan = if frame.points == 0 { Plan::Ahead(planned) } else { Plan::Closing(planned) };
        }
    }

    /// Takes a line that looks like a plan and is none. It does not prove TAP, and it spoils a TAP stream.
    pub(super) fn wrong_plan(&mut self, depth: usize, line: &str) {
        if let Some(frame) = self.frame(depth) {
            frame.problem.get_or_insert(ReportProblem::WrongPlan(shown(line)));
        }
    }

    /// Takes what `pragma` says of lines that are no TAP.
    pub(super) fn pragma(&mut self, depth: usize, strictness: Strictness) {
        if let Some(frame) = self.frame(depth) {
            frame.strictness = Some(strictness);
        }
    }

    /// Takes a line that is no TAP, at that depth or nearest to it.
    pub(super) fn stray(&mut self, depth: usize, line: &str) {
        let mut around = self.frames.iter().take(depth.saturating_add(1)).rev();
        let strictness = around.find_map(|frame| frame.strictness);
        if strictness == Some(Strictness::Strict)
            && let Some(top) = self.frames.first_mut()
        {
            top.problem.get_or_insert(ReportProblem::StrayLine(shown(line)));
        }
    }

    pub(super) fn bail_out(&mut self, reason: &str) {
        // Without anything else of TAP before it, it is a line like any other.
        if self.is_tap() && self.bail_out.is_none() {
            self.bail_out = Some(reason.to_owned());
        }
    }

    /// Takes a point. What follows it may be its error text ([`Document::explain`]).
    pub(super) fn point(&mut self, depth: usize, point: Point) {
        self.awaiting = None;
        if self.frame(depth).is_none() {
            return;
        }
        if depth == 0 && point.number.is_some() {
            self.numbered = self.numbered.saturating_add(1);
        }
        while self.frames.len() > depth + 2 {
            self.close_unclosed();
        }
        let child = if self.frames.len() == depth + 2 { self.frames.pop() } else { None };
        let Some(frame) = self.frames.last_mut() else { return };
        (frame.points, frame.doubtful) = (frame.points.saturating_add(1), false);
        if let Some(number) = point.number.filter(|_| !names_file(&point.description)) {
            frame.numbers.take(number);
        }
        let described = !point.description.is_empty();
        let name = if described {
            point.description
        } else {
            format!("test {}", point.number.unwrap_or(frame.points))
        };
        let outcome = match (point.directive, point.ok) {
            (Directive::Skip, _) | (Directive::Todo, false) => Outcome::Skipped,
            (Directive::Todo | Directive::None, true) => Outcome::Passed,
            (Directive::None, false) => Outcome::Failed,
        };
        let own = match child.filter(|child| child.points > 0) {
            Some(child) => close(frame, child, &name, outcome),
            None => true,
        };
        if own {
            frame.counts.absorb(outcome.into());
            if described {
                frame.name(name.clone(), outcome);
            } else {
                frame.named = None;
            }
        }
        if own && outcome == Outcome::Failed {
            frame.add_failure(Failure { path: name, error: None });
            self.awaiting = Some(depth);
        }
    }

    /// True when a subtest deeper than that has begun and not ended.
    pub(super) fn is_open_below(&self, depth: usize) -> bool {
        self.frames.len() > depth.saturating_add(1)
    }

    /// Gives the newest point at that depth its error text, if it failed by itself.
    pub(super) fn explain(&mut self, depth: usize, text: String) {
        if self.awaiting.take() != Some(depth) || text.is_empty() {
            return;
        }
        if let Some(failure) = self.frames.get_mut(depth).and_then(|frame| frame.failures.last_mut()) {
            failure.error = Some(text);
        }
    }

    /// The frame at `depth`, opened with those above it that are not open.
    fn frame(&mut self, depth: usize) -> Option<&mut Frame> {
        let doubtful = depth > self.frames.len();
        while self.frames.len() <= depth {
            self.frames.push(Frame { doubtful, ..Frame::new() });
        }
        self.frames.get_mut(depth)
    }

    /// A subtest that no point closes: what it has counts, and the document is not the whole.
    fn close_unclosed(&mut self) {
        let Some(child) = self.frames.pop() else { return };
        let Some(parent) = self.frames.last_mut() else { return };
        if child.doubtful {
            return;
        }
        let came = child.points;
        if came > 0 || child.plan != Plan::Missing {
            parent.problem = child.problem.clone().or(Some(ReportProblem::Truncated(format!(
                "a subtest with {came} test points is not closed by a test point"
            ))));
        }
        parent.counts.absorb(child.counts);
        parent.named = None;
        child.failures.into_iter().for_each(|failure| parent.add_failure(failure));
    }

    /// Ends the document: adds it to `tally` and says why it is not the whole, if it is not.
    pub(super) fn finish(mut self, tally: &mut Tally) -> Option<ReportProblem> {
        while self.frames.len() > 1 {
            self.close_unclosed();
        }
        let top = self.frames.pop()?;
        let mismatch = top.mismatch();
        tally.add_counts(top.counts);
        match &top.named {
            Some(named) => named.iter().for_each(|(path, outcome)| tally.named(path, *outcome)),
            None => tally.names_are_partial(),
        }
        for failure in &top.failures {
            tally.fail(&failure.path, failure.error.as_deref());
        }
        if let Some(reason) = self.bail_out {
            // The runner says itself that it gave up: the plan needs no second complaint.
            tally.trouble(Trouble::GaveUp);
            let mut text = String::from("Bail out!");
            append_line(&mut text, &reason);
            tally.run_error(&text);
            return None;
        }
        let missing = (top.plan == Plan::Missing).then_some(ReportProblem::PlanMissing(top.points));
        top.problem.or(mismatch).or(missing)
    }
}

/// Folds a closed subtest into its parent; true when the closing point counts itself as well.
fn close(parent: &mut Frame, mut child: Frame, name: &str, outcome: Outcome) -> bool {
    let mismatch = child.mismatch();
    if let Some(problem) = child.problem.take().or(mismatch) {
        parent.problem.get_or_insert(problem);
    }
    match child.named.take() {
        Some(named) => named.into_iter().for_each(|(path, own)| {
            let outcome = if outcome == Outcome::Skipped { outcome } else { own };
            parent.name(joined(name, &path), outcome);
        }),
        None => parent.named = None,
    }
    if outcome == Outcome::Skipped {
        // TODO or SKIP of the whole subtest covers its leaves.
        let total = child.counts.failing().saturating_add(child.counts.passed);
        parent.counts.skipped =
            parent.counts.skipped.saturating_add(total.saturating_add(child.counts.skipped));
        return false;
    }
    let child_failed = child.counts.failing() > 0;
    parent.counts.absorb(child.counts);
    for failure in child.failures {
        parent.add_failure(Failure { path: joined(name, &failure.path), error: failure.error });
    }
    outcome == Outcome::Failed && !child_failed
}

/// The path of a point in the subtest `name`, bounded.
fn joined(name: &str, path: &str) -> String {
    let path = [name, " > ", path].concat();
    if path.len() > MAX_PATH { path.chars().take(MAX_PATH / 4).collect() } else { path }
}

/// Among the tests of all files node:test has points for files that hold none or died, numbered by file.
fn names_file(description: &str) -> bool {
    [".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"]
        .iter()
        .any(|end| description.ends_with(end))
}

/// As much of a line as a message shows.
fn shown(line: &str) -> String {
    line.chars().take(80).collect()
}

/// Runs of numbers that are kept apart. Points in any sensible order make few.
const MAX_RUNS: usize = 100_000;

/// Numbers as runs of neighbours: first to last.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    runs: BTreeMap<u64, u64>,
    /// The first number that came twice.
    twice: Option<u64>,
    overflow: bool,
}

impl Numbers {
    /// Takes the number of a point.
    pub(super) fn take(&mut self, number: u64) {
        let before = self.runs.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if before.is_some_and(|(_, last)| last >= number) {
            self.twice.get_or_insert(number);
            return;
        }
        let first =
            before.filter(|(_, last)| last.checked_add(1) == Some(number)).map_or(number, |run| run.0);
        let last = number.checked_add(1).and_then(|next| self.runs.remove(&next)).unwrap_or(number);
        if self.runs.len() >= MAX_RUNS && !self.runs.contains_key(&first) {
            self.overflow = true;
            return;
        }
        self.runs.insert(first, last);
    }

    /// The reason that these are not the numbers of a plan of so many points.
    pub(super) fn problem(&self, planned: u64) -> Option<ReportProblem> {
        if let Some(number) = self.twice {
            return Some(ReportProblem::NumberTwice(number));
        }
        if self.overflow {
            return Some(ReportProblem::TooManyCases(u64::try_from(MAX_RUNS).unwrap_or(u64::MAX)));
        }
        let first = self.runs.first_key_value().map(|(first, _)| *first);
        let last = self.runs.last_key_value().map(|(_, last)| *last);
        let outside = first.filter(|first| *first == 0).or(last.filter(|last| *last > planned));
        outside.map(|number| ReportProblem::NumberOutsidePlan { number, planned })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(numbers: &[u64], planned: u64) -> Option<&'static str> {
        let mut taken = Numbers::default();
        for number in numbers {
            taken.take(*number);
        }
        taken.problem(planned).map(|problem| problem.name())
    }

    #[test]
    fn any_order_is_fine_and_each_number_counts_once() {
        let cases: [(&[u64], u64, Option<&str>); 9] = [
            (&[], 0, None),
            (&[1, 2, 3], 3, None),
            (&[3, 1, 2], 3, None),
            (&[4, 3, 2, 1], 4, None),
            (&[1, 1], 2, Some("number-twice")),
            (&[1, 3, 2, 3], 4, Some("number-twice")),
            (&[2, 3], 2, Some("number-outside-plan")),
            (&[0, 1], 2, Some("number-outside-plan")),
            (&[u64::MAX, 1], 2, Some("number-outside-plan")),
        ];
        for (numbers, planned, expected) in cases {
            assert_eq!(problem(numbers, planned), expected, "{numbers:?}");
        }
    }

    #[test]
    fn a_stream_of_gaps_is_bounded() {
        let mut taken = Numbers::default();
        for number in 0..300_000 {
            taken.take(number * 2 + 1);
        }
        assert!(taken.runs.len() <= MAX_RUNS && taken.problem(600_000).is_some());
    }
}
