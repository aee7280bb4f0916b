//! Lists of numbers with names, in the shapes that summary lines have. A list with one part of another
//! shape is no such list: summaries are recognised by them.

use crate::Counts;

/// `1 failed, 2 passed`: number first.
pub(super) fn number_first<'t>(list: &'t str, separator: &str) -> Option<Vec<(&'t str, u64)>> {
    let part = |part: &'t str| {
        let (number, name) = part.trim().split_once(' ')?;
        Some((name.trim(), whole_number(number)?))
    };
    list.split(separator).map(part).collect()
}

/// `failures=1, errors=2` or `Tests: 3, Failures: 1`: name first.
pub(super) fn name_first<'t>(list: &'t str, between: char) -> Option<Vec<(&'t str, u64)>> {
    let part = |part: &'t str| {
        let (name, number) = part.split_once(between)?;
        Some((name.trim(), whole_number(number.trim())?))
    };
    list.split(", ").map(part).collect()
}

/// How many tests counts come to.
pub(super) fn listed(counts: Counts) -> u64 {
    counts.failing().saturating_add(counts.passed).saturating_add(counts.skipped)
}

/// The sum of the numbers under any of the names.
pub(super) fn sum(list: &[(&str, u64)], names: &[&str]) -> u64 {
    let found = list.iter().filter(|(name, _)| names.contains(name));
    found.fold(0, |sum, (_, number)| sum.saturating_add(*number))
}

/// True when every name is one of these.
pub(super) fn only(list: &[(&str, u64)], names: &[&str]) -> Option<()> {
    list.iter().all(|(name, _)| names.contains(name)).then_some(())
}

/// Digits and nothing else.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// `0.12s` or `0.12s (0:01:02)`: the time at the end of a summary.
pub(super) fn is_seconds(text: &str) -> bool {
    let number = text.split(' ').next().unwrap_or_default().strip_suffix('s').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let list = number_first("1 failed, 2 subtests passed", ", ").unwrap();
        assert_eq!(list, [("failed", 1), ("subtests passed", 2)]);
        assert_eq!(sum(&list, &["failed", "errors"]), 1);
        assert_eq!((only(&list, &["failed"]), only(&list[..1], &["failed"])), (None, Some(())));
        assert_eq!(number_first("1 failed, done", ", "), None);
        assert_eq!(number_first("1 failed | 2 passed", " | ").map(|list| list.len()), Some(2));
        assert_eq!(
            name_first("failures=1, expected failures=2", '='),
            Some(vec![("failures", 1), ("expected failures", 2)])
        );
        assert_eq!(name_first("Tests: 3, Failures: x", ':'), None);
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
