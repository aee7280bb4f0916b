//! The pace of iterations: a state that lasted long was intended, and commits minutes apart in a
//! history without records are a person trying things out rather than a loop.
//!
//! Measured on 476,817 commits of public histories: every loop put something back within a minute now and then; every
//! person who was taken for a loop took minutes for each try, or made only two commits.

use super::Iteration;

/// The minimum time that an intended state lasts, in seconds.
const THOUGHT: u64 = 3600;

/// Returns whether the state that `earlier` brought lasted for an hour or longer before `later` took its place. Unknown times
/// prove nothing.
pub fn lasted(earlier: &Iteration, later: &Iteration) -> bool {
    seconds(earlier, later).is_some_and(|gap| gap >= THOUGHT)
}

/// The same of half of the states in a row: one of them may be taken back at once (a deployment that was wrong).
pub fn mostly_lasted(row: &[&Iteration]) -> bool {
    let mut gaps: Vec<u64> = row.windows(2).filter_map(|pair| seconds(pair[0], pair[1])).collect();
    gaps.sort_unstable();
    // The lower one of two middle values.
    let middle = gaps.len().saturating_sub(1) / 2;
    let known = row.len().saturating_sub(1) == gaps.len();
    row.len() > 2 && known && gaps.get(middle).is_some_and(|gap| *gap >= THOUGHT)
}

/// The minimum time between the runs of a program by the clock, in seconds, and their maximum delay, in parts of the time
/// between them.
const RUN: u64 = 120;
const LATE: u64 = 5;

/// Returns whether a scheduled program made `row`, such as one that fetches data: no hooks saw the commits, their subjects differ in
/// numbers alone, and they come at equal intervals, or at multiples of one where nothing was new.
pub fn are_by_the_clock(row: &[&Iteration]) -> bool {
    let said = |one: &Iteration| -> String { one.subject.chars().filter(|c| !c.is_ascii_digit()).collect() };
    let Some(first) = row.first().map(|one| said(one)) else { return false };
    let gaps: Vec<u64> = row.windows(2).filter_map(|pair| seconds(pair[0], pair[1])).collect();
    let Some(shortest) = gaps.iter().copied().min().filter(|gap| *gap >= RUN) else { return false };
    let on_time = |gap: &u64| {
        let times = (gap + shortest / 2) / shortest;
        gap.abs_diff(times * shortest) <= (shortest / LATE).max(RUN / 4)
    };
    row.len() > 2
        && gaps.len() + 1 == row.len()
        && gaps.iter().all(on_time)
        && !first.trim().is_empty()
        && row.iter().all(|one| one.is_unobserved() && said(one) == first)
}

/// The minimum time between the tries of a person, in seconds: something answers them, such as a build elsewhere.
const APART: u64 = 120;

/// The number of additional times that it takes where a person tries something out.
pub const TRIES: usize = 4;

/// Returns whether no hook recorded `row`, and its iterations came two minutes or longer after one another in the mean: a person
/// does this and that in between, and is quick now and then.
pub fn come_slowly(row: &[&Iteration]) -> bool {
    let (Some(first), Some(last)) = (row.first(), row.last()) else { return false };
    let gaps = u64::try_from(row.len()).unwrap_or(u64::MAX).saturating_sub(1);
    let slow = seconds(first, last).is_some_and(|all| all >= APART.saturating_mul(gaps));
    gaps > 0 && slow && row.iter().all(|one| one.is_unobserved())
}

/// The seconds between two of them, where both times are known.
fn seconds(earlier: &Iteration, later: &Iteration) -> Option<u64> {
    (earlier.at.0 != 0 && later.at.0 != 0).then(|| later.at.since(earlier.at).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Recording;
    use crate::testkit::{Commit, commit, green, timeline};

    fn history(seconds: &[i64], subject: fn(i64) -> String) -> crate::history::Timeline {
        let one = |(state, at): (u8, &i64)| {
            commit(state).recording(Recording::Derived).at(*at).subject(&subject(*at))
        };
        timeline((1..).zip(seconds).map(one).collect())
    }

    #[test]
    fn one_state_may_be_taken_back_at_once() {
        let mostly = |seconds: &[i64]| {
            let history = history(seconds, |_| "Deploy it".to_owned());
            mostly_lasted(&history.iterations.iter().collect::<Vec<_>>())
        };
        assert!(mostly(&[10, 4_000, 8_000, 8_030]) && mostly(&[10, 40, 4_000, 8_000]));
        assert!(!mostly(&[10, 40, 70, 8_000]) && !mostly(&[10, 40, 70, 100]) && !mostly(&[10, 8_000]));
    }

    #[test]
    fn programs_run_by_the_clock_and_say_the_same() {
        let by_clock = |seconds: &[i64], subject: fn(i64) -> String| {
            let history = history(seconds, subject);
            are_by_the_clock(&history.iterations.iter().collect::<Vec<_>>())
        };
        let dated = |at: i64| format!("Data of {at}");
        assert!(by_clock(&[1_000, 1_300, 1_601, 2_200], dated), "one run found nothing");
        assert!(!by_clock(&[1_000, 1_300, 1_520, 2_200], dated), "a person is not as regular");
        assert!(!by_clock(&[1_000, 1_020, 1_040, 1_060], dated), "a loop is faster");
        let other = |at: i64| if at > 1_500 { "Try again".to_owned() } else { "Try".to_owned() };
        assert!(!by_clock(&[1_000, 1_300, 1_600, 1_900], other));
    }

    #[test]
    fn tries_are_minutes_apart_and_unobserved() {
        let row = |seconds: &[i64], change: fn(Commit) -> Commit| {
            let one = |(state, at): (u8, &i64)| change(commit(state).recording(Recording::Derived).at(*at));
            let history = timeline((1..).zip(seconds).map(one).collect());
            let row: Vec<&Iteration> = history.iterations.iter().collect();
            come_slowly(&row)
        };
        assert!(row(&[100, 220, 500], |one| one));
        assert!(row(&[100, 700, 1_310, 1_429], |one| one), "once at once");
        assert!(!row(&[100, 150, 300], |one| one));
        assert!(!row(&[100], |one| one), "one is no row");
        assert!(!row(&[0, 500, 900], |one| one), "unknown times prove nothing");
        let tested = |one: Commit| {
            let state = one.0.record.code.0[0];
            one.tests(green(state, 9))
        };
        assert!(!row(&[100, 220, 500], tested), "tests tell more");
        assert!(!row(&[100, 220], |one| one.recording(Recording::AtCommit)));
    }
}
