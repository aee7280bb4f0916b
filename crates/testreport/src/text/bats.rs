//! bats as it prints for a terminal; into a pipe it prints TAP.

use super::Summary;
use super::sessions::{Sessions, counts_of, number_first, others_passed, sum};
use crate::{Counts, words};

/// The mark before the name of a failing test.
const FAILED: &str = " ✗ ";

/// Reads bats' pretty formatter.
#[derive(Default)]
pub(super) struct BatsReader {
    /// `calc.bats`, printed above its tests.
    file: Option<String>,
}

impl Summary for BatsReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(counts) = summary(line).filter(|_| self.file.is_some()) {
            sessions.summary(counts);
            self.file = None;
        } else if line.strip_suffix(".bats").is_some_and(|name| !name.contains(char::is_whitespace)) {
            sessions.end_failure();
            self.file = Some(line.to_owned());
        } else if let Some((mark, name)) = result(line).filter(|_| self.file.is_some()) {
            sessions.end_failure();
            sessions.at_work();
            if mark == FAILED {
                let file = self.file.as_deref().unwrap_or_default();
                sessions.begin_failure(&format!("{file}::{}", without_time(name)), "");
            }
        } else if let Some(more) = line.strip_prefix("   ") {
            sessions.explain(more);
        } else {
            sessions.end_failure();
        }
    }
}

/// `3 tests, 1 failure, 1 skipped`, with ` in 2 seconds` at the end when times are shown.
fn summary(line: &str) -> Option<Counts> {
    let list = line.rsplit_once(" in ").map_or(line, |(list, _)| list);
    let names = words!["test", "tests", "failure", "failures", "skipped", "not run"];
    let list = number_first(list, ", ", names)?;
    let has = |name: &str| list.iter().any(|(known, _)| known.starts_with(name));
    if !has("test") || !has("failure") {
        return None;
    }
    let counts = counts_of(&list, [&[], &["failure", "failures"], &[], &["skipped", "not run"]]);
    Some(others_passed(sum(&list, &["test", "tests"]), counts))
}

/// ` ✗ subtracts`: the mark and the name. On a terminal the name is there twice, with the progress between the two that
/// the cursor went back over: `   subtracts2/4 ✗ subtracts`.
fn result(line: &str) -> Option<(&str, &str)> {
    let marks = [FAILED, " ✓ ", " - "];
    let at_once = marks.iter().find_map(|mark| line.strip_prefix(mark).map(|name| (*mark, name)));
    at_once.or_else(|| {
        let after = line.strip_prefix("   ")?;
        marks.iter().find_map(|mark| {
            let (head, name) = after.split_once(mark).filter(|(head, _)| is_progress(head))?;
            (!head.is_empty()).then_some((*mark, name))
        })
    })
}

/// `subtracts2/4` or `subtracts2/4 in 0 sec`
fn is_progress(head: &str) -> bool {
    let head =
        head.strip_suffix(" sec").and_then(|rest| rest.rsplit_once(" in ")).map_or(head, |(head, _)| head);
    head.rsplit_once('/').is_some_and(|(before, all)| {
        let digit = |each: char| each.is_ascii_digit();
        !all.is_empty() && all.chars().all(digit) && before.ends_with(digit)
    })
}

/// Cuts `[12]` off, the milliseconds of `--timing`.
fn without_time(name: &str) -> &str {
    let timed = name.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    match timed {
        Some((bare, time)) if !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests;
