//! Thresholds with a promise: the strictest setting under which good work is stopped with a given chance at most.
//!
//! A run's score is the loosest step of the ladder at which it is halted. Of `n` good runs and one more like them, each
//! place of the new one among the scores is as likely as any other, whatever the scores are distributed like. So if at a
//! step `k` of the `n` are halted, the next good run is halted with a chance of at most `(k + 1) / (n + 1)`
//! (split-conformal prediction). With fewer than `1 / alpha - 1` runs that is above `alpha` even for `k = 0`: then nothing
//! can be promised.
//!
//! That chance is taken over all the runs that might have been drawn, those of the calibration included. It does not
//! say how often good runs are halted given these runs: with many runs, a step whose true rate is somewhat above
//! `alpha` is chosen in one of ten calibrations. Whether one halted run is that bad luck cannot be known. From the
//! second one on, the exact binomial bound with a confidence of 95 % has to be `alpha` at most as well. Steps are
//! nested, so that the bound holds for the chosen step without a correction for their number: a step that is too strict
//! is chosen in at most 5 % of calibrations.

use super::{Score, ladder::LADDER};

/// A promise about the next good run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// At this step, and at each after it.
    Step(usize),
    /// There are too few good runs; so many are needed.
    TooFew { needed: u64 },
    /// Even at the last step too many good runs are halted.
    None,
}

/// Good runs that it takes to promise `alpha`: 19 for 5 %, 99 for 1 %.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of shares between 0 and 1")]
pub fn needed(alpha: f64) -> u64 {
    // A hair below, so that 1 / 0.05 is 20 and not a little more.
    (1.0 / alpha - 1e-9).ceil().max(1.0) as u64 - 1
}

/// The strictest step at which the next good run is halted with a chance of at most `alpha`.
pub fn promise(scores: &[Score], alpha: f64) -> Promise {
    let needed = needed(alpha);
    if (scores.len() as u64) < needed || scores.is_empty() {
        return Promise::TooFew { needed: needed.max(1) };
    }
    let holds = |step: &usize| holds(halted_at(scores, *step), scores.len() as u64, alpha);
    let last = LADDER.len() - 1;
    // Scores are the last step that halts, so that fewer are halted at each step than at the one before.
    (0..=last).find(holds).map_or(Promise::None, Promise::Step)
}

/// Returns whether a step that halts `halted` of `runs` good runs keeps the promise.
pub fn holds(halted: u64, runs: u64, alpha: f64) -> bool {
    let within = |rate: f64| rate <= alpha + 1e-12;
    within(chance(halted, runs)) && (halted <= 1 || within(upper_bound(halted, runs)))
}

/// The number of runs that are halted at `step`.
pub fn halted_at(scores: &[Score], step: usize) -> u64 {
    scores.iter().filter(|score| score.is_some_and(|last| last >= step)).count() as u64
}

/// The chance that is promised for the next run, where `halted` of `runs` good ones were.
#[allow(clippy::cast_precision_loss, reason = "counts of runs are small")]
pub fn chance(halted: u64, runs: u64) -> f64 {
    (halted as f64 + 1.0) / (runs as f64 + 1.0)
}

/// The largest rate that is no surprise when `halted` of `runs` were halted: the exact one-sided binomial bound
/// (Clopper and Pearson) with a confidence of 95 %.
#[allow(clippy::cast_precision_loss, reason = "counts of runs are small")]
pub fn upper_bound(halted: u64, runs: u64) -> f64 {
    if halted >= runs {
        return 1.0;
    }
    let (mut low, mut high) = (halted as f64 / runs as f64, 1.0);
    for _ in 0..60 {
        let rate = f64::midpoint(low, high);
        if at_most(halted, runs, rate) > 0.05 { low = rate } else { high = rate }
    }
    high
}

/// Returns whether `halted` of `runs` are too many for a chance of `alpha`, with a confidence of 95 %.
pub fn refutes(halted: u64, runs: u64, alpha: f64) -> bool {
    halted > 0 && 1.0 - at_most(halted - 1, runs, alpha) < 0.05
}

/// The chance that at most `halted` of `runs` are halted, each with the chance `rate`.
#[allow(clippy::cast_precision_loss, reason = "counts of runs are small")]
fn at_most(halted: u64, runs: u64, rate: f64) -> f64 {
    if rate <= 0.0 {
        return 1.0;
    }
    if rate >= 1.0 {
        return if halted >= runs { 1.0 } else { 0.0 };
    }
    let (runs, odds) = (runs as f64, libm::log(rate / (1.0 - rate)));
    let mut log = runs * libm::log(1.0 - rate);
    let mut sum = libm::exp(log);
    for k in 1..=halted {
        log += libm::log((runs - k as f64 + 1.0) / k as f64) + odds;
        sum += libm::exp(log);
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn so_many_runs_are_needed() {
        assert_eq!([0.05, 0.01, 0.1, 0.5].map(needed), [19, 99, 9, 1]);
        assert_eq!(promise(&vec![None; 18], 0.05), Promise::TooFew { needed: 19 });
        assert_eq!(promise(&vec![None; 19], 0.05), Promise::Step(0));
        assert_eq!(promise(&vec![None; 98], 0.01), Promise::TooFew { needed: 99 });
    }

    #[test]
    fn the_strictest_step_that_holds_is_found() {
        let mut scores = vec![None; 38];
        scores.push(Some(6));
        assert_eq!(promise(&scores, 0.05), Promise::Step(0), "2 of 40 is 5 %");
        scores.push(Some(4));
        assert_eq!(promise(&scores, 0.05), Promise::Step(5), "3 of 41 is more");
        assert_eq!(promise(&[Some(LADDER.len() - 1); 30], 0.05), Promise::None);
    }

    #[test]
    fn exact_bounds_are_those_of_the_tables() {
        for (halted, runs, expected) in
            [(0, 59, 0.0495), (0, 299, 0.00997), (1, 100, 0.0466), (5, 100, 0.1023)]
        {
            let found = upper_bound(halted, runs);
            assert!((found - expected).abs() < 0.0006, "{halted} of {runs}: {found}");
        }
        assert!((upper_bound(3, 3) - 1.0).abs() < f64::EPSILON);
    }

    /// Scores as good runs of some kind have them: a share of them is halted at all, the lower steps more often.
    fn drawn(seed: u64, count: usize) -> Vec<Score> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 11
        };
        let share = 40 + next() % 200;
        (0..count).map(|_| (next() % 1000 < share).then(|| (next() % 8).min(next() % 8) as usize)).collect()
    }

    #[test]
    fn the_promise_holds_in_random_splits() {
        for alpha in [0.05, 0.1] {
            let (mut kept, mut halted, mut seen) = (0, 0, 0);
            for seed in 1..=200 {
                let runs = drawn(seed, 600);
                let (known, fresh) = runs.split_at(300);
                let Promise::Step(step) = promise(known, alpha) else { continue };
                let count = halted_at(fresh, step);
                kept += u64::from(!refutes(count, 300, alpha));
                (halted, seen) = (halted + count, seen + 300);
            }
            assert!(kept >= 190, "{kept} of 200 at {alpha}");
            let rate = chance(halted, seen);
            assert!(rate <= alpha + 0.001, "{halted} of {seen} at {alpha}");
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "counts of runs are small")]
    /// Of `2 * runs` runs, `halted` are halted at every step but the last. The chance that the first half of them
    /// promises what the other half refutes.
    fn broken(runs: u64, halted: u64, alpha: f64) -> f64 {
        let choose = |n: u64, k: u64| (0..k).map(|at| ((n - at) as f64 / (at + 1) as f64).ln()).sum::<f64>();
        let all = choose(2 * runs, runs);
        let split = |known: &u64| holds(*known, runs, alpha) && refutes(halted - known, runs, alpha);
        let chance =
            |known: u64| (choose(halted, known) + choose(2 * runs - halted, runs - known) - all).exp();
        (0..=halted.min(runs)).filter(split).map(chance).sum()
    }

    #[test]
    fn whatever_the_share_of_halted_runs_is_the_promise_breaks_in_few_splits() {
        for (runs, alpha) in
            [(60, 0.05), (100, 0.05), (200, 0.05), (300, 0.05), (600, 0.05), (300, 0.01), (600, 0.01)]
        {
            let worst = (0..=runs / 4).map(|halted| broken(runs, halted, alpha)).fold(0.0, f64::max);
            assert!(worst <= 0.05, "{runs} runs at {alpha}: {worst}");
        }
    }

    #[test]
    fn one_halted_run_is_borne_and_more_of_them_need_an_exact_bound() {
        let most = |runs, alpha| (0..=runs).take_while(|halted| holds(*halted, runs, alpha)).count();
        assert_eq!([19, 38, 39, 123, 124, 300].map(|runs| most(runs, 0.05)), [1, 1, 2, 2, 3, 9]);
        assert_eq!([18, 299].map(|runs| most(runs, 0.05)), [0, 9]);
        assert_eq!([98, 99, 199, 300].map(|runs| most(runs, 0.01)), [0, 1, 2, 2]);
    }

    proptest! {
        #[test]
        fn later_steps_halt_fewer_and_keep_the_promise(
            scores in prop::collection::vec(prop::option::of(0..LADDER.len()), 0..300),
            alpha in 0.005_f64..0.5,
        ) {
            match promise(&scores, alpha) {
                Promise::Step(step) => {
                    for later in step..LADDER.len() {
                        prop_assert!(chance(halted_at(&scores, later), scores.len() as u64) <= alpha + 1e-9);
                    }
                    if step > 0 {
                        prop_assert!(!holds(halted_at(&scores, step - 1), scores.len() as u64, alpha));
                    }
                }
                Promise::TooFew { needed } => prop_assert!((scores.len() as u64) < needed.max(1)),
                Promise::None => {
                    prop_assert!(!holds(halted_at(&scores, LADDER.len() - 1), scores.len() as u64, alpha));
                }
            }
        }
    }
}
