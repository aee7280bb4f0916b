//! Tests that an output names or counts in words that no reader knows.
//!
//! A run of an unknown runner passes only where its output shows that tests ran: by a line that counts some that passed, or
//! by lines that name them. The grammar is that of numbers beside words, whoever prints them.

use crate::{Counts, WordList, words};

/// Words for a test.
const TESTS: WordList = words![
    "test",
    "tests",
    "testcase",
    "testcases",
    "spec",
    "specs",
    "example",
    "examples",
    "scenario",
    "scenarios",
    "case",
    "cases",
    "fact",
    "facts",
    "checks",
    "properties",
    "doctest",
    "doctests",
    "executed",
];
/// Words for tests that passed, which need no other beside their number.
const PASSED: WordList = words!["passed", "pass", "passing", "passes"];
/// Words that mean tests only where the line speaks of tests, or of failures.
const SUCCEEDED: WordList = words!["ok", "success", "successes", "successful", "succeeded"];
const FAILED: WordList =
    words!["failed", "fail", "failing", "failure", "failures", "fails", "errors", "errored", "unsuccessful",];
const SKIPPED: WordList =
    words!["skipped", "skip", "skips", "ignored", "pending", "disabled", "todo", "excluded"];
/// Words between a word and its number: `Tests run: 3`, `+3: All tests passed!`.
const BETWEEN: WordList = words!["run", "ran", "total", "all", "completed"];

/// Beginnings of a line that names a test that passed.
const NAMES: WordList =
    words!["PASS: ", "PASS ", "PASSED: ", "PASSED ", "[PASS] ", "[PASSED] ", "[OK] ", "ok - "];
/// Ends of such a line.
const VERDICTS: WordList = words![" ... ok", " ... PASS", " ... passed", " PASSED", ": PASS"];

/// The tests that an output names or counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ToldTests {
    /// The sum of all lines that count.
    counted: Option<Counts>,
    /// Tests that a line counts without a verdict, and the verdict of another line.
    announced: u64,
    ended_well: bool,
    /// Lines that name a test that passed, and one that failed.
    named: u64,
    names_failed: bool,
    /// Marks of progress, and whether it reached its end.
    marks: u64,
    is_whole: bool,
    /// The columns of a table were named: the next line has its numbers.
    in_table: bool,
}

impl ToldTests {
    /// Takes the next line.
    pub(super) fn line(&mut self, line: &str) {
        let text = line.trim();
        if std::mem::take(&mut self.in_table) {
            let numbers = text.split_once('|').map(|(_, row)| row.trim()).unwrap_or_default();
            self.named += numbers.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0);
        } else if let Some((marks, percent)) = progress(text) {
            self.marks += marks;
            self.is_whole |= percent == "100";
        } else if names_a_test(text) {
            self.named += 1;
        } else if text.contains("FAIL") && names_a_test(&text.replace("FAIL", "PASS")) {
            self.names_failed = true;
        } else {
            self.in_table = text.starts_with("Test Summary:") && text.contains("Pass");
            self.count(&LineNumbers::of(text));
        }
    }

    fn count(&mut self, line: &LineNumbers) {
        self.ended_well |= line.failed == Some(0) || line.says_passed;
        let Some(more) = line.counts() else {
            self.announced = self.announced.max(line.tests.unwrap_or(0));
            return;
        };
        let counts = self.counted.get_or_insert_default();
        counts.passed = counts.passed.saturating_add(more.passed);
        counts.failed = counts.failed.saturating_add(more.failed);
        counts.skipped = counts.skipped.saturating_add(more.skipped);
    }

    /// The tests that passed; `None` where none did, or where one is counted that failed.
    pub(super) fn passed(&self) -> Option<Counts> {
        let announced = if self.counted.is_none() && self.ended_well { self.announced } else { 0 };
        let Counts { passed, failed, skipped, .. } = self.counted.unwrap_or_default();
        let marks = if self.is_whole { self.marks } else { 0 };
        let passed = [passed, announced, self.named, marks].into_iter().find(|number| *number > 0)?;
        let named_alone = self.counted.is_none() && self.names_failed;
        let failed = if named_alone { failed + 1 } else { failed };
        let total = passed.saturating_add(skipped);
        (failed == 0).then_some(Counts { total, passed, skipped, ..Counts::default() })
    }

    /// True where it says that there was no test.
    pub(super) fn none(&self) -> bool {
        self.passed().is_none() && self.counted.is_some_and(|counts| counts.failed == 0)
    }
}

/// `..s.   [ 57%]`: the tests that passed, and how far it has come.
fn progress(text: &str) -> Option<(u64, &str)> {
    let (marks, rest) = text.split_once([' ', '['])?;
    let percent = rest.trim_start_matches([' ', '[']).strip_suffix("%]")?;
    let are_marks = !marks.is_empty() && marks.bytes().all(|mark| b".sxX".contains(&mark));
    are_marks.then(|| (marks.bytes().map(|mark| u64::from(mark == b'.')).sum(), percent))
}

fn names_a_test(text: &str) -> bool {
    let name = |rest: Option<&str>| rest.is_some_and(|name| !name.trim().is_empty());
    // A time may stand behind the verdict: `adds ... ok (3ms)`.
    let text = text.rsplit_once(" (").filter(|(_, time)| time.ends_with("s)")).map_or(text, |(text, _)| text);
    NAMES.iter().any(|begin| name(text.strip_prefix(begin)))
        || VERDICTS.iter().any(|end| name(text.strip_suffix(end)))
}

/// The numbers beside the words of a line: `3 tests, 0 failures`, `Passed: 3`, `All 3 tests passed`.
#[derive(Default)]
struct LineNumbers {
    tests: Option<u64>,
    passed: Option<u64>,
    succeeded: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    of_tests: bool,
    says_passed: bool,
    /// Words in all: `Ok: 3` is nothing but a count.
    words: usize,
}

impl LineNumbers {
    fn of(text: &str) -> Self {
        let mut line = Self::default();
        let text = text.to_ascii_lowercase().replace(". ", ", ");
        for part in text.split([',', ';', '|', '(', ')', '[', ']']) {
            line.part(part);
        }
        line.says_passed &= line.of_tests || line.words == 1;
        line
    }

    fn part(&mut self, part: &str) {
        let is_end = |one: char| !(one.is_alphanumeric() || matches!(one, '.' | ':' | '='));
        let split = |one: char| is_end(one) || matches!(one, ':' | '=');
        let words: Vec<&str> = part.split(split).filter(|word| !word.is_empty()).collect();
        let word = |at: usize| words.get(at).map(|word| word.trim_end_matches('.')).unwrap_or_default();
        let number = |at: usize| if word(at) == "no" { Some(0) } else { word(at).parse::<u64>().ok() };
        let between = |at: usize| TESTS.contains(word(at)) || BETWEEN.contains(word(at));
        self.words += words.iter().filter(|word| word.is_ascii()).count();
        for at in 0..words.len() {
            let before = (0..at).rev().find(|before| !between(*before)).and_then(number);
            let behind = || (at + 1..words.len()).find(|behind| !between(*behind)).and_then(number);
            let beside = before.or_else(behind);
            let word = word(at);
            let known = [
                (TESTS, &mut self.tests),
                (PASSED, &mut self.passed),
                (SUCCEEDED, &mut self.succeeded),
                (FAILED, &mut self.failed),
                (SKIPPED, &mut self.skipped),
            ];
            for (list, sum) in known.into_iter().filter(|(list, _)| list.contains(word)) {
                let more = beside.filter(|_| list != TESTS || sum.is_none());
                *sum = more.map(|more| sum.unwrap_or(0).saturating_add(more)).or(*sum);
            }
            self.of_tests |= TESTS.contains(word);
            self.says_passed |= PASSED.contains(word) || SUCCEEDED.contains(word);
        }
    }

    /// The tests of a line that counts some with a verdict, or that counts none.
    fn counts(&self) -> Option<Counts> {
        let (failed, skipped) = (self.failed.unwrap_or(0), self.skipped.unwrap_or(0));
        let is_verdict = self.failed.is_some() || self.says_passed || self.tests == Some(0);
        let rest = || self.tests.map(|all| all.saturating_sub(failed.saturating_add(skipped)));
        let is_count = self.words == 2;
        let succeeded = self.succeeded.filter(|_| self.of_tests || self.failed.is_some() || is_count);
        let passed = self.passed.or(succeeded).or_else(|| rest().filter(|_| is_verdict));
        let passed = passed.or_else(|| (failed > 0 && (self.of_tests || is_count)).then_some(0))?;
        Some(Counts { passed, failed, skipped, ..Counts::default() })
    }
}

/// True for a line that counts tests that failed.
pub(super) fn counts_failing(line: &str) -> bool {
    let line = LineNumbers::of(line);
    let of_tests = line.of_tests || line.passed.is_some() || line.words == 2;
    of_tests && line.failed.is_some_and(|failed| failed > 0)
}

/// True for a line that counts tests that passed.
pub(super) fn counts_tests(line: &str) -> bool {
    let mut told = ToldTests::default();
    told.line(line);
    told.is_whole || told.passed().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTED: &[(&str, u64)] = &[
        ("ok | 3 passed | 0 failed (12ms)", 3),
        (" 3 pass\n 0 fail\nRan 3 tests across 1 file. [5.00ms]", 3),
        ("Tests run: 3, Failures: 0, Errors: 0, Skipped: 1", 2),
        ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s", 3),
        ("Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 3 ms - a.dll", 3),
        ("Executed 3 tests, with 0 failures (0 unexpected) in 0.001 (0.002) seconds", 3),
        ("All tests passed (3 assertions in 2 test cases)", 2),
        ("test cases: 2 | 2 passed\nassertions: 2 | 2 passed", 4),
        ("3 tests, 0 failures", 3),
        ("12 specs, 0 failures, 2 pending", 10),
        ("5 scenarios (5 passed)", 5),
        ("  3 tests passed", 3),
        ("All 3 tests passed.", 3),
        ("Total: 3\nPassed: 3", 3),
        ("Chrome: Executed 2 of 2 SUCCESS (0.01 secs)", 2),
        ("Ok:                 3\nExpected Fail:      0\nFail:               0", 3),
        ("00:01 +3: All tests passed!", 3),
        ("Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.", 3),
        ("All tests successful.\nFiles=1, Tests=3,  0 wallclock secs\nResult: PASS", 3),
        ("Running 3 test cases...\n\n*** No errors detected", 3),
        ("3 Tests 0 Failures 0 Ignored", 3),
        ("OK (3 tests, 3 ran, 5 checks, 0 ignored, 0 filtered out, 0 ms)", 3),
        ("3 successes / 0 failures / 0 errors / 0 pending : 0.001 seconds", 3),
        ("Tests finished: Pass 3. Fail 0. Fatal 0. Skip 0.", 3),
        ("Test Successful in 0.001s. 3 tests run.", 3),
        ("Test Summary: | Pass  Total  Time\nadds          |    3      3  0.1s", 3),
        ("[info] Tests: succeeded 3, failed 0, canceled 0, ignored 0, pending 0", 3),
        ("Executed 1 out of 1 test: 1 test passes.", 1),
        ("AppTest > adds PASSED", 1),
        ("3 tests, no failures", 3),
        ("Ran 2 tests.\n\nOK", 2),
        (
            "[         3 tests found           ]\n[         0 tests successful      ]\n[         0 tests failed          ]",
            0,
        ),
        ("Files=1, Tests=0,  0 wallclock secs\nResult: NOTESTS", 0),
        ("2 tests, 1 failure", 0),
        ("# pass 4\n# fail 1", 0),
        ("FAIL: adds\nPASS: subtracts", 0),
        ("FAIL: what is known to fail\n# PASS:  2\n# FAIL:  0", 2),
        ("3 tests, 0 failures, 3 excluded", 0),
        ("All checks passed!", 0),
        ("All tests passed", 0),
        ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 3 ]", 3),
        ("PASS: adds\nPASS: subtracts", 2),
        ("adds ... ok (3ms)", 1),
        ("..s.                [ 66%]\n..                 [100%]", 5),
        ("..s.                [ 66%]", 0),
        ("3 passed\n1 failed", 0),
        ("0 passed", 0),
        ("0 tests, 0 failures", 0),
        ("3 tests, 0 failures, 3 skipped", 0),
        ("Tests run: 0, Failures: 0, Errors: 0, Skipped: 0", 0),
        ("collected 3 items", 0),
        ("found 3 tests", 0),
        ("Tasks:    2 successful, 2 total", 0),
        ("Successfully ran target test for 3 projects", 0),
        ("lerna success run Ran npm script 'test' in 3 packages in 0.4s:", 0),
        ("BUILD SUCCESSFUL in 3s\n3 actionable tasks: 3 executed", 0),
        ("all good", 0),
        ("ok", 0),
        ("make: 'test' is up to date.", 0),
        ("Checked 3 files in 5ms. No fixes applied.", 0),
        ("", 0),
    ];

    fn passed(text: &str) -> u64 {
        let mut told = ToldTests::default();
        text.lines().for_each(|line| told.line(line));
        told.passed().map_or(0, |counts| counts.passed)
    }

    #[test]
    fn tests_are_counted_in_the_words_of_any_runner() {
        for (text, number) in COUNTED {
            assert_eq!(passed(text), *number, "{text}");
        }
    }
}
