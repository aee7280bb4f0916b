//! The wording of findings: counts with their nouns, and lists that stay short.
//!
//! Names of tests, paths and subjects are untrusted. They are passed on unchanged, because the renderer escapes them,
//! but never more of them than a person reads.

use std::collections::BTreeSet;

pub(super) use crate::domain::plural::{count, times};
use crate::domain::{CommitId, Hint, TestEvidence};
use crate::history::Iteration;

/// Names that a sentence lists.
pub(super) const NAMES: usize = 5;
/// Characters of each.
const NAME_CHARS: usize = 120;

/// `once`, `3 times in a row`.
pub(super) fn in_a_row(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} in a row", times(number)) }
}

/// At most 120 characters of `text`, with an ellipsis where it was cut.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

/// `a, b and 3 more`: the first five of `names`, where there are `total` in all.
pub(super) fn list<S: AsRef<str>>(names: &[S], total: u64) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| bounded(name.as_ref())).collect();
    let more = total.saturating_sub(u64::try_from(shown.len()).unwrap_or(u64::MAX));
    match (shown.join(", "), more) {
        (text, 0) => text,
        (text, more) if text.is_empty() => format!("{more} not named"),
        (text, more) => format!("{text} and {more} more"),
    }
}

/// ` (flaky: a, b)`, or nothing.
pub(super) fn flaky(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" (flaky: {})", list(names, len(names))) }
}

/// The failing tests that are flaky.
pub(super) fn flaky_of(tests: &TestEvidence, flaky: &BTreeSet<String>) -> Vec<String> {
    tests.apart(flaky).0
}

/// `; flaky aside: a, b`, or nothing.
pub(super) fn flaky_aside(aside: &[String]) -> String {
    if aside.is_empty() { String::new() } else { format!("; flaky aside: {}", list(aside, len(aside))) }
}

/// The length of a slice as a count.
pub(super) fn len<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// `git diff A B` of two iterations, where both are commits that are here.
pub(super) fn git_diff(old: &Iteration, new: &Iteration) -> Option<String> {
    let short = |commit: CommitId| commit.short();
    Some(Hint::Diff.with([&old.commit_here().map(short)?, &new.commit_here().map(short)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_stay_short() {
        let seven = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(list(&seven, 7), "a, b, c, d, e and 2 more");
        assert_eq!(list(&seven[..2], 2), "a, b");
        assert_eq!(list(&seven[..2], 600), "a, b and 598 more");
        assert_eq!(list::<&str>(&[], 3), "3 not named");
        assert_eq!(list::<&str>(&[], 0), "");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(bounded(&"é".repeat(120)), "é".repeat(120));
        assert_eq!(bounded(&"é".repeat(121)), format!("{}...", "é".repeat(120)));
    }

    #[test]
    fn a_single_time_is_no_row() {
        assert_eq!([in_a_row(1), in_a_row(2)], ["once", "2 times in a row"]);
    }
}
