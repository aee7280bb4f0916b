//! The lines that libtest prints.

use crate::Counts;

use super::super::tally::Outcome;

/// One line, as far as its own text tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'t> {
    /// `running 3 tests`
    Running(u64),
    /// `test tests::a ... ok`
    Test(&'t str, Outcome),
    /// `---- tests::a stdout ----`
    Captured(&'t str),
    /// `failures:`
    Failures,
    /// A name in a list: four spaces in front.
    Name(&'t str),
    /// `test result: FAILED. 1 passed; 2 failed; ...`
    Result {
        /// `ok` or `FAILED`.
        verdict: Outcome,
        /// How many tests passed, failed and were ignored.
        counts: Counts,
    },
    /// Anything else.
    Other,
}

pub(super) fn parse_line(line: &str) -> Line<'_> {
    if line == "failures:" {
        return Line::Failures;
    }
    if let Some(rest) = line.strip_prefix("test result: ") {
        return parse_result(rest);
    }
    let parsed = if let Some(rest) = line.strip_prefix("test ") {
        parse_test(rest)
    } else if let Some(rest) = line.strip_prefix("running ") {
        parse_running(rest)
    } else if let Some(rest) = line.strip_prefix("---- ") {
        rest.strip_suffix(" stdout ----").or_else(|| rest.strip_suffix(" stderr ----")).map(Line::Captured)
    } else {
        line.strip_prefix("    ").filter(|name| !name.is_empty() && !name.starts_with(' ')).map(Line::Name)
    };
    parsed.unwrap_or(Line::Other)
}

fn parse_running(rest: &str) -> Option<Line<'_>> {
    let (number, word) = rest.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| number.parse().ok().map(Line::Running)).flatten()
}

fn parse_test(rest: &str) -> Option<Line<'_>> {
    let (id, end) = rest.rsplit_once(" ... ")?;
    let outcome = match end.split([' ', ',', ':']).next()? {
        "ok" | "bench" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "ignored" => Outcome::Skipped,
        _ => return None,
    };
    Some(Line::Test(id, outcome))
}

/// `ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`. Filtered tests are
/// not part of the run. A line that is cut before its `failed` number is no result.
fn parse_result(rest: &str) -> Line<'_> {
    let Some((verdict, numbers)) = rest.split_once(". ") else { return Line::Other };
    let verdict = match verdict {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        _ => return Line::Other,
    };
    let number = |name: &str| {
        numbers.split("; ").find_map(|part| {
            part.strip_suffix(';').unwrap_or(part).strip_suffix(name)?.trim().parse::<u64>().ok()
        })
    };
    let (Some(passed), Some(failed)) = (number("passed"), number("failed")) else { return Line::Other };
    let counts = Counts {
        total: 0,
        passed: passed.saturating_add(number("measured").unwrap_or(0)),
        failed,
        errored: 0,
        skipped: number("ignored").unwrap_or(0),
    };
    Line::Result { verdict, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        use Outcome::{Failed, Passed, Skipped};
        let cases = [
            ("running 3 tests", Line::Running(3)),
            ("running 1 test", Line::Running(1)),
            ("running 1 test from ./a.ts", Line::Other),
            ("running late", Line::Other),
            ("test tests::a ... ok", Line::Test("tests::a", Passed)),
            ("test tests::a ... ok <0.001s>", Line::Test("tests::a", Passed)),
            ("test a - should panic ... FAILED", Line::Test("a - should panic", Failed)),
            ("test a ... ignored, slow", Line::Test("a", Skipped)),
            ("test a ... bench:   1,234 ns/iter (+/- 56)", Line::Test("a", Passed)),
            ("test src/lib.rs - f (line 5) ... ok", Line::Test("src/lib.rs - f (line 5)", Passed)),
            ("test a ... ", Line::Other),
            ("test a has been running for over 60 seconds", Line::Other),
            ("---- tests::a stdout ----", Line::Captured("tests::a")),
            ("failures:", Line::Failures),
            ("    tests::a", Line::Name("tests::a")),
            ("     deeper", Line::Other),
            ("test result: cut", Line::Other),
            ("test result: ok. 3 passed; 0 fai", Line::Other),
        ];
        for (line, expected) in cases {
            assert_eq!(parse_line(line), expected, "{line}");
        }
    }

    #[test]
    fn results_count_measured_as_passed_and_leave_filtered_out() {
        let line = "test result: FAILED. 4 passed; 2 failed; 1 ignored; 3 measured; 9 filtered out; finished in 0.1s";
        let counts = Counts { total: 0, passed: 7, failed: 2, errored: 0, skipped: 1 };
        assert_eq!(parse_line(line), Line::Result { verdict: Outcome::Failed, counts });
    }
}
