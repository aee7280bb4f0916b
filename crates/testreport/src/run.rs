//! The conclusion: what reports and exit say together.

use crate::normalize::{mask_volatile, normalize_error};
use crate::tally::{Tally, Trouble};
use crate::unstarted::{self, Ending, Tests};
use crate::{
    Counts, ErrorText, NamedTest, ReportedPlace, Root, TestStatus, printed_lines::PrintedOutput, told,
};

/// The runner of a run that is known by its exit code alone.
pub const RUNNER_EXIT: &str = "exit";

/// The runner of a run whose output counts or names tests in words that belong to no known runner.
pub const RUNNER_COUNTED: &str = "counted";

/// Most ids of failing tests that a run keeps; the counts are whole all the same.
pub const MAX_FAILING: usize = 512;

/// The end of the test command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// By itself, with this code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
    /// Stopped by a time limit of its caller.
    TimedOut,
}

/// The result of a finished run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedRun {
    /// Status class.
    pub status: TestStatus,
    /// Counts; all zero when only the exit code is known.
    pub counts: Counts,
    /// Sorted normalized ids of the failing tests, at most [`MAX_FAILING`].
    pub failing: Vec<String>,
    /// True when `failing` was cut; the counts are whole all the same.
    pub truncated: bool,
    /// Every test of the run, sorted; `None` where the runner does not name all that ran, where the run is not the whole,
    /// and beyond 100,000 tests.
    pub tests: Option<Vec<NamedTest>>,
    /// Normalized first errors: those of the run, then those of the failing tests in order. Where the runner failed and
    /// no report says why, what was printed replaces them.
    pub errors: Vec<ErrorText>,
    /// The recognised runners joined by `+` (`cargo`, `go-json`, `junit`, `pytest`), or [`RUNNER_EXIT`].
    pub runner: String,
    /// Problems of the reports, each naming the report.
    pub warnings: Vec<String>,
    /// The line that says that the tests could not be started: a program, a target or a script is not there. Such a run says
    /// nothing about the code. Never set where a test failed.
    pub not_started: Option<String>,
    /// The first line that names failures, of a run that passes by its exit code alone.
    pub doubt: Option<String>,
    /// The number of different errors in the output of a build that failed; 0 where none is known as one.
    pub build_errors: u64,
    /// True where no report and no word of the output names a test, and nothing else is wrong.
    pub unnamed: bool,
    /// The places of the tests, as far as reports and runners tell them. Whether tests that ran there say something of the
    /// project is for the caller to judge.
    pub places: Vec<ReportedPlace>,
}

impl ParsedRun {
    pub(super) fn conclude(mut tally: Tally, exit: ExitKind) -> Self {
        let mut status = status_of(&tally, exit);
        // Tests are known to have taken no time, and none to have taken any.
        if status == TestStatus::Passed && tally.instant > 0 && tally.lasting == 0 {
            status = TestStatus::NoTests;
            tally.warn("every test took exactly 0 seconds, as in a rehearsal: no test ran".to_owned());
        }
        let places = std::mem::take(&mut tally.places).into_iter().collect();
        let (counts, truncated) = (tally.counts, tally.cut);
        let runner = tally.runner().unwrap_or_else(|| RUNNER_EXIT.to_owned());
        let whole = matches!(status, TestStatus::Passed | TestStatus::Failed);
        let tests = tally.take_test_names().filter(|_| whole);
        let (failing, errors, warnings) = tally.into_parts();
        Self {
            status,
            counts,
            failing,
            truncated,
            tests,
            errors,
            runner,
            warnings,
            places,
            ..Self::default()
        }
    }

    /// The same where the output was seen: what was printed speaks where no report does.
    pub(super) fn of_output(tally: Tally, printed: &PrintedOutput, exit: ExitKind, root: &Root) -> Self {
        let told = tally.not_started().map(str::to_owned);
        let mut run = Self::conclude(tally, exit);
        match (run.status, exit) {
            (TestStatus::NoTests, ExitKind::Code(code)) if code != 0 => {
                run.not_started = told.or_else(|| printed.not_started(ending(&run, code)));
            }
            (TestStatus::RunnerError, ExitKind::Code(code)) if run.counts.failing() == 0 => {
                run.not_started = not_started(&run, code, printed, told);
                let is_unrun = run.counts == Counts::default() && run.not_started.is_none();
                let unbuilt = told::build_error(printed.lines()).filter(|_| is_unrun);
                if unbuilt.is_some() {
                    run.status = TestStatus::BuildFailed;
                }
                let text = unbuilt.map_or_else(
                    || printed.normalized(root),
                    |error| normalize_error(&mask_volatile(error, root), root),
                );
                if run.errors.is_empty() && !text.is_empty() {
                    run.errors.push(ErrorText { test: None, text, shown: None });
                }
            }
            (TestStatus::Passed, _) if run.runner == RUNNER_EXIT => {
                run.doubt = printed
                    .lines()
                    .find(|line| told::names_failures(line))
                    .map(|line| line.trim().to_owned());
            }
            _ => {}
        }
        if run.status == TestStatus::BuildFailed {
            run.build_errors = printed.build_errors();
        }
        run
    }

    /// Finds a failure behind an exit code of 0, where nothing else was recognised. A pipe has the exit code of its last
    /// program; where it lets only the end of the text through, the words there tell. Where tests were recognised and the
    /// exit code is that of another program, what a tool says at the end tells of another part of the run.
    pub(super) fn hear_last_words(&mut self, printed: &PrintedOutput, masked_by: Option<&str>) {
        let by_exit = self.runner == RUNNER_EXIT;
        let is_lost = self.status == TestStatus::Passed && (by_exit || masked_by.is_some());
        let part = printed.failed_session().map(|line| (line, "says that a part of the run failed"));
        let last = || told::failure(&printed.lines()).filter(|line| by_exit || told::is_ending(line));
        let failed = part.or_else(|| Some((last()?, "ends as that of a run that failed")));
        let Some((line, how)) = failed.filter(|_| is_lost) else { return };
        let line = line.trim();
        self.status = TestStatus::RunnerError;
        self.doubt = None;
        self.warnings.push(format!(
            "the output {how} ({line}); its exit code was lost, as in a pipe without `pipefail`"
        ));
        self.errors.push(ErrorText { test: None, text: line.to_owned(), shown: None });
    }

    /// Drops a pass in which no test is named. What it counts in words that no reader knows is told.
    pub(super) fn name_tests(&mut self, printed: &PrintedOutput) {
        if self.status != TestStatus::Passed || self.runner != RUNNER_EXIT {
            return;
        }
        let told = printed.told();
        match told.passed() {
            Some(counts) => (self.counts, self.runner) = (counts, RUNNER_COUNTED.to_owned()),
            None if told.none() => self.status = TestStatus::NoTests,
            None => (self.status, self.unnamed) = (TestStatus::Incomplete, true),
        }
    }

    /// Drops a pass by an exit code that is all that is asked for, where the output says that nothing ran.
    pub(super) fn refuse_idle(&mut self, printed: &PrintedOutput) {
        let is_idle = || printed.lines().any(unstarted::is_idle) || printed.told().none();
        if self.status == TestStatus::Passed && is_idle() {
            self.status = TestStatus::NoTests;
        }
    }

    /// Drops a pass that only an exit code of 0 shows: the code is that of another program.
    pub(super) fn doubt_exit(&mut self, program: &str) {
        if self.status == TestStatus::Passed && self.runner == RUNNER_EXIT {
            self.status = TestStatus::Incomplete;
            self.doubt = None;
            self.warnings.push(format!(
                "the exit code is that of `{program}`, and nothing else tells how the tests ended"
            ));
        }
    }
}

/// Signs from outside (a timeout, a signal) go first, then what makes the reports less than the
/// whole, then what they say. Exit code alone is a class of its own: without any recognised report an exit
/// of 0 is a pass with unknown counts (a `make test` that prints nothing readable), any other code an error
/// of the runner, because no failing case is known. A recognised report without a test is never a pass.
fn status_of(tally: &Tally, exit: ExitKind) -> TestStatus {
    let code = match exit {
        ExitKind::TimedOut => return TestStatus::TimedOut,
        ExitKind::Signal(_) => return TestStatus::Crashed,
        ExitKind::Code(code) => code,
    };
    match tally.trouble {
        Some(Trouble::GaveUp | Trouble::NoTests) | None if tally.has_failures() => TestStatus::Failed,
        Some(Trouble::NoTests) if tally.counts.ran() == 0 => TestStatus::NoTests,
        Some(trouble @ (Trouble::BuildFailed | Trouble::Crashed | Trouble::Incomplete | Trouble::GaveUp)) => {
            trouble.status()
        }
        Some(Trouble::NoTests) | None if matches!(code.saturating_sub(128), 4..=9 | 11 | 15) => {
            TestStatus::Crashed
        }
        Some(Trouble::NoTests) | None if code != 0 => TestStatus::RunnerError,
        Some(Trouble::NoTests) | None if tally.runner().is_some() && tally.counts.ran() == 0 => {
            TestStatus::NoTests
        }
        Some(Trouble::NoTests) | None => TestStatus::Passed,
    }
}

/// Exit codes of shells where a program cannot be executed or is not there; the last one is of Windows.
const UNSTARTED: [i32; 3] = [126, 127, 9009];

fn not_started(run: &ParsedRun, code: i32, printed: &PrintedOutput, told: Option<String>) -> Option<String> {
    let said = told.or_else(|| printed.not_started(ending(run, code)));
    if !UNSTARTED.contains(&code) {
        return said;
    }
    said.or_else(|| unstarted::likeliest(&printed.lines())).or_else(|| Some(format!("exit code {code}")))
}

fn ending(run: &ParsedRun, code: i32) -> Ending {
    let tests = if run.counts.total > 0 { Tests::Ran } else { Tests::None };
    Ending { code: Some(code), tests }
}

#[cfg(test)]
mod tests {
    use super::super::tally::Outcome;
    use super::*;

    fn tally(outcomes: &[Outcome], trouble: Option<Trouble>) -> Tally {
        let mut tally = Tally::new(&Root::none());
        tally.recognised_as("tap");
        for outcome in outcomes {
            tally.count(*outcome);
            if outcome.is_failing() {
                tally.fail("a", None);
            }
        }
        if let Some(trouble) = trouble {
            tally.trouble(trouble);
        }
        tally
    }

    #[test]
    fn reports_and_exit_together_give_the_class() {
        use ExitKind::{Code, Signal, TimedOut};
        use Outcome::{Failed, Passed, Skipped};
        let cases = [
            (&[Passed][..], None, Code(0), TestStatus::Passed),
            (&[Passed, Skipped], None, Code(0), TestStatus::Passed),
            (&[Passed], None, Code(1), TestStatus::RunnerError),
            (&[Passed], None, Code(134), TestStatus::Crashed),
            (&[Passed], None, Code(130), TestStatus::RunnerError),
            (&[Failed], None, Code(0), TestStatus::Failed),
            (&[Failed], None, Code(101), TestStatus::Failed),
            (&[Failed], Some(Trouble::GaveUp), Code(1), TestStatus::Failed),
            (&[Passed], Some(Trouble::GaveUp), Code(0), TestStatus::RunnerError),
            (&[Failed], Some(Trouble::Incomplete), Code(1), TestStatus::Incomplete),
            (&[Passed], Some(Trouble::Incomplete), Code(0), TestStatus::Incomplete),
            (&[Failed], Some(Trouble::Crashed), Code(101), TestStatus::Crashed),
            (&[Passed], Some(Trouble::BuildFailed), Code(0), TestStatus::BuildFailed),
            (&[], None, Code(0), TestStatus::NoTests),
            (&[], Some(Trouble::NoTests), Code(5), TestStatus::NoTests),
            (&[Passed], Some(Trouble::NoTests), Code(0), TestStatus::Passed),
            (&[Passed], Some(Trouble::NoTests), Code(1), TestStatus::RunnerError),
            (&[Skipped], None, Code(0), TestStatus::NoTests),
            (&[], None, Code(5), TestStatus::RunnerError),
            (&[Passed], None, TimedOut, TestStatus::TimedOut),
            (&[Failed], None, Signal(9), TestStatus::Crashed),
        ];
        for (outcomes, trouble, exit, status) in cases {
            let run = ParsedRun::conclude(tally(outcomes, trouble), exit);
            assert_eq!(run.status, status, "{outcomes:?} {trouble:?} {exit:?}");
        }
    }

    #[test]
    fn the_exit_code_alone_is_a_class_of_its_own() {
        let alone = |exit| ParsedRun::conclude(Tally::new(&Root::none()), exit);
        let passed = alone(ExitKind::Code(0));
        assert_eq!((passed.status, passed.runner.as_str()), (TestStatus::Passed, RUNNER_EXIT));
        assert_eq!(passed.counts, Counts::default());
        assert_eq!(alone(ExitKind::Code(2)).status, TestStatus::RunnerError);
        assert_eq!(alone(ExitKind::Code(2)), alone(ExitKind::Code(3)));
    }
}
