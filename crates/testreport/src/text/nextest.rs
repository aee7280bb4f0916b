//! The output of `cargo nextest run`: a line a test, the output of a failing one below it, and a summary.
//!
//! It comes on standard error, and the last list, behind the summary, names the failing tests once more.

use super::Summary;
use super::sessions::{Sessions, counts_of, number_first, whole_number};
use crate::tally::{Outcome, Trouble, append_line};
use crate::{Counts, cases::from_panic, words};

/// Name of the runner in evidence.
pub(in super::super) const RUNNER: &str = "nextest";

/// Reads nextest's lines, on whichever stream they come.
#[derive(Default)]
pub(super) struct NextestReader {
    /// The failing test whose output comes, and its result.
    failing: Option<(String, String)>,
    /// Tests that the summary has counted: the list that follows it counts none.
    summed: bool,
    /// Tests of the session that were announced.
    planned: u64,
}

impl Summary for NextestReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("Starting ") {
            if rest.contains(" across ") && rest.contains(" binar") {
                sessions.begin();
                self.summed = false;
                self.planned = rest.split(' ').next().and_then(whole_number).unwrap_or(0);
            }
        } else if let Some(((ran, of), counts)) = line.strip_prefix("Summary [").and_then(summary) {
            self.end(sessions);
            sessions.summary(counts);
            self.summed = true;
            // A run that was stopped has run fewer tests than it announced: `2/5 tests run`.
            sessions.hold_against(of.max(self.planned), ran);
        } else if line == "error: no tests to run" && sessions.is_open() {
            sessions.pending.trouble(Trouble::NoTests);
            sessions.summary(Counts::default());
        } else if !(sessions.is_open() || self.summed) {
        } else if let Some((outcome, id)) = ended(line) {
            self.end(sessions);
            self.test(sessions, outcome, id);
        } else if let Some((_, text)) = &mut self.failing {
            append_line(text, line.strip_prefix("    ").unwrap_or(line));
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        if let Some((id, text)) = self.failing.take() {
            sessions.fail(&id, Some(&first_error(&text)));
        }
    }
}

impl NextestReader {
    fn test(&mut self, sessions: &mut Sessions, outcome: Outcome, id: &str) {
        let failing = outcome.is_failing();
        match self.summed {
            true if failing => sessions.closed.fail(id, None),
            true => {}
            false => {
                sessions.seen(id, outcome);
                self.failing = failing.then(|| (id.to_owned(), String::new()));
            }
        }
    }
}

/// `PASS [   0.005s] (1/2) demo tests::a`: what became of a test, and its id. Attempts that are not the last
/// (`TRY 1 FAIL`) decide nothing.
fn ended(line: &str) -> Option<(Outcome, &str)> {
    let (status, rest) = line.split_once(" [")?;
    let is_signal = status.starts_with("SIG") && !status.contains(' ');
    let outcome = match Outcome::told("nextest", status) {
        None if status.starts_with("FLAKY ") => Outcome::Passed,
        None if is_signal => Outcome::Errored,
        told => told?,
    };
    let (_, rest) = rest.split_once("] ")?;
    let rest = rest.trim_start();
    let id = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((_, id)) => id.trim_start(),
        None => rest,
    };
    id.contains(' ').then_some((outcome, id))
}

/// `   0.010s] 2/5 tests run: 1 passed (1 slow), 1 failed, 0 skipped`: how many ran of how many, and how they ended.
fn summary(rest: &str) -> Option<((u64, u64), Counts)> {
    let (_, list) = rest.split_once("] ")?;
    let (ran, list) = list.split_once(" run: ")?;
    let ran = ran.strip_suffix(" tests").or_else(|| ran.strip_suffix(" test"))?;
    let (ran, of) = ran.split_once('/').unwrap_or((ran, ran));
    let ran = (whole_number(ran)?, whole_number(of)?);
    let plain = without_parentheses(list);
    let names = words!["passed", "failed", "exec failed", "timed out", "skipped"];
    let list = number_first(&plain, ", ", names)?;
    let kinds: [&[&str]; 4] = [&["passed"], &["failed"], &["exec failed", "timed out"], &["skipped"]];
    Some((ran, counts_of(&list, kinds)))
}

fn without_parentheses(list: &str) -> String {
    let mut plain = String::new();
    for (at, part) in list.split('(').enumerate() {
        let kept = if at == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
        plain.push_str(kept.trim_end());
    }
    plain
}

/// The panic in what a test printed; the whole when there is none.
fn first_error(text: &str) -> String {
    from_panic(text, 0, |line| line.contains('─'))
}

#[cfg(test)]
mod tests {
    use super::super::RunnerReader;
    use super::*;
    use crate::TestStatus;
    use crate::run::{ExitKind, ParsedRun};
    use crate::{Root, tally::Tally};

    const FAILING: &str = "   Compiling demo v0.1.0 (/p)
────────────
 Nextest run ID 1f79aa0d-4ec8-4a5c-aa83-5e8dc2f36573 with nextest profile: default
    Starting 4 tests across 2 binaries (1 test skipped)
        PASS [   0.005s] (1/4) demo tests::good
  TRY 1 FAIL [   0.004s] (---) demo tests::shaky
        FAIL [   0.005s] (2/4) demo tests::bad

  stdout ───

    running 1 test
    test tests::bad ... FAILED

  stderr ───

    thread 'tests::bad' (77) panicked at src/lib.rs:5:9:
    assertion failed: false
    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

   FLAKY 2/2 [   0.004s] (3/4) demo tests::shaky
     SIGABRT [   0.104s] (4/4) demo::it aborts
────────────
     Summary [   0.110s] 4 tests run: 2 passed (1 slow, 1 flaky), 2 failed, 1 skipped
        FAIL [   0.005s] (2/4) demo tests::bad
     SIGABRT [   0.104s] (4/4) demo::it aborts
error: test run failed
";

    const PASSING: &str = "    Starting 1 test across 1 binary
        PASS [   0.005s] demo tests::good
------------
     Summary [   0.010s] 1 test run: 1 passed, 0 skipped
";

    fn tally(text: &str) -> Option<Tally> {
        let mut reader = RunnerReader::new(RUNNER, Box::<NextestReader>::default(), &Root::new("/p"));
        text.lines().for_each(|line| reader.line(line));
        reader.finish("out")
    }

    fn run(text: &str) -> ParsedRun {
        ParsedRun::conclude(tally(text).expect("nextest"), ExitKind::Code(0))
    }

    #[test]
    fn samples() {
        let one = run(FAILING);
        let counts = Counts { total: 5, passed: 2, failed: 2, errored: 0, skipped: 1 };
        assert_eq!((one.status, one.counts, one.runner.as_str()), (TestStatus::Failed, counts, RUNNER));
        assert_eq!(one.failing, ["demo tests::bad", "demo::it aborts"]);
        assert!(one.errors[0].text.ends_with("assertion failed: false"), "{:?}", one.errors);
        assert_eq!((run(PASSING).status, run(PASSING).counts.passed), (TestStatus::Passed, 1));
        let stopped = PASSING.replace("1 test run: 1 passed", "2/5 tests run: 1 passed, 1 timed out");
        assert_eq!((run(&stopped).status, run(&stopped).counts.errored), (TestStatus::Failed, 1));
        let cut = PASSING.replace("1 test run", "1/3 tests run");
        assert_eq!(run(&cut).status, TestStatus::Incomplete);
        let short = PASSING.replace("Starting 1 test ", "Starting 3 tests ");
        assert_eq!(run(&short).status, TestStatus::Incomplete);
        let none = "    Starting 0 tests across 1 binary\nerror: no tests to run\n";
        assert_eq!(run(none).status, TestStatus::NoTests);
        for text in ["", "Starting the server\n", "        FAIL [   0.1s] a b\n", "error: no tests to run\n"]
        {
            assert!(tally(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_cut_report_never_passes() {
        for text in [FAILING, PASSING] {
            let whole = text.find(" run: ").unwrap();
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                let status =
                    tally(&text[..end]).map(|tally| ParsedRun::conclude(tally, ExitKind::Code(0)).status);
                assert!(status != Some(TestStatus::Passed) || end > whole, "{:?}", &text[..end]);
            }
        }
    }
}
