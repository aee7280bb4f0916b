//! Lines of output that no reader knows and that still say how a test ended.

/// Words with which a line names a failure, at its beginning.
const FAILED: [&str; 12] =
    ["FAIL", "FAILED", "FAILURE", "FAILURES", "FAIL:", "FAILED:", "not ok", "✗", "✘", "✖", "✕", "×"];

/// Words that say so anywhere.
const BROKE: [&str; 4] =
    ["AssertionError", "Traceback (most recent call last)", "panicked at ", "Assertion failed"];

/// What follows a number of failures.
const COUNTED: [&str; 4] = ["failed", "failing", "failures", "failure"];

/// Whether a line says that a test failed.
pub(super) fn names_failures(line: &str) -> bool {
    let text = line.trim_start();
    begins(text, &FAILED) || BROKE.iter().any(|word| text.contains(word)) || counts_failures(text)
}

/// Words with which a line names a test that passed, at its beginning.
const PASSED: [&str; 6] = ["ok", "PASS", "PASSED", "✓", "✔", "√"];

/// Whether a line says that a test passed.
pub(super) fn names_passes(line: &str) -> bool {
    let text = line.trim_start();
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches([',', '.', ';'])).collect();
    let counted = words.windows(2).any(|two| match two {
        [number, "passed" | "passing"] => number.parse::<u64>().is_ok_and(|number| number > 0),
        _ => false,
    });
    counted || begins(text, &PASSED)
}

fn begins(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        text.strip_prefix(*word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ':', '!']))
    })
}

/// `2 failed`, `1 test failed`, `Failures: 3`, `failed=2`.
fn counts_failures(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number =
        |word: Option<&&str>| word.is_some_and(|word| word.parse::<u64>().is_ok_and(|number| number > 0));
    words.iter().enumerate().any(|(at, word)| {
        if !COUNTED.contains(word) {
            return false;
        }
        let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at));
        let of_tests =
            matches!(before(1), Some(&("test" | "tests" | "spec" | "specs" | "example" | "examples")));
        // `Failures: 3` and `failed=2`, but not `0 failed, 3 passed`.
        let counted_after = before(1).is_none_or(|word| word.parse::<u64>().is_err())
            && number(words.get(at + 1))
            && lower.contains([':', '=']);
        number(before(1)) || of_tests && number(before(2)) || counted_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named_in_many_words() {
        let table = [
            ("FAILED tests/test_a.py::test_b", true),
            ("FAIL: adds", true),
            ("  ✗ adds", true),
            ("not ok - adds", true),
            ("2 failed, 3 passed", true),
            ("1 test failed", true),
            ("Failures: 3", true),
            ("failed=2 ok=3", true),
            ("E   AssertionError: 1 != 2", true),
            ("0 failed, 3 passed", false),
            ("Failures: 0", false),
            ("ok, nothing failed", false),
            ("all 12 tests passed", false),
            ("FAILOVER works", false),
            ("failed over to 10.0.0.1", false),
            ("handles 3 errors", false),
        ];
        for (line, names) in table {
            assert_eq!(names_failures(line), names, "{line}");
        }
    }

    #[test]
    fn passes_are_named_too() {
        let table = [
            ("ok 1 - adds", true),
            ("PASS: adds", true),
            ("  ✓ adds", true),
            ("3 passed, 2 failed", true),
            ("  12 passing (4ms)", true),
            ("0 passed", false),
            ("okay", false),
            ("the password is wrong", false),
        ];
        for (line, names) in table {
            assert_eq!(names_passes(line), names, "{line}");
        }
    }
}
