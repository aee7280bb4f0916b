//! A number with its noun, as every message has it: the one place that knows of singular and plural.

use std::fmt::Display;

/// `1 commit`, `0 commits`, `2 ledger entries`: `noun` is the singular, and its last word changes.
pub fn count<N: Display + Copy + TryInto<u64>>(number: N, noun: &str) -> String {
    if number.try_into().is_ok_and(|number| number == 1) {
        return format!("{number} {noun}");
    }
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ if hisses => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

/// `once`, `2 times`.
pub fn times<N: Display + Copy + TryInto<u64>>(number: N) -> String {
    if number.try_into().is_ok_and(|number| number == 1) {
        "once".to_owned()
    } else {
        format!("{number} times")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_agrees_with_its_noun() {
        assert_eq!(
            [count(0, "test"), count(1_u64, "test"), count(2_usize, "test")],
            ["0 tests", "1 test", "2 tests"]
        );
        assert_eq!(
            [count(1, "ledger entry"), count(2, "ledger entry"), count(3, "day"), count(4, "witness")],
            ["1 ledger entry", "2 ledger entries", "3 days", "4 witnesses"]
        );
        assert_eq!([times(1), times(3)], ["once", "3 times"]);
    }
}
