//! Thresholds with a promise: the strictest setting under which good work is stopped with a given chance at most.
//!
//! One ladder: every count of the rules that halt a loop, times a factor. A run's score is the largest factor at which it
//! is halted still. Of `n` good runs and one more like them, each place of the new one among the scores is as likely as
//! any other, whatever the scores are distributed like. So if at a factor `k` of the `n` are halted, the next good run is
//! halted with a chance of at most `(k + 1) / (n + 1)` (split-conformal prediction). With fewer than `1 / alpha - 1` runs
//! that is above `alpha` even for `k = 0`: then nothing can be promised.

use super::Rule;
use super::rules::REGISTRY;
use crate::domain::findings::{HaltReason, Level};
use crate::domain::settings::{ParamValue, RuleSettings};

/// The factors of the ladder in hundredths, the strictest first.
pub const LADDER: [u64; 14] = [50, 60, 75, 90, 100, 125, 150, 175, 200, 250, 300, 400, 600, 800];

/// The step of the ladder that changes nothing.
pub const AS_CONFIGURED: usize = 4;

/// How far up the ladder a good run is halted: the last step at which it is, `None` where it is at none.
pub type Score = Option<usize>;

/// What can be promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// At this step, and at each after it.
    Step(usize),
    /// There are too few runs; so many are needed.
    TooFew {
        /// Good runs that it takes.
        needed: u64,
    },
    /// Even at the last step too many good runs are halted.
    None,
}

/// Whether a rule is on the ladder: it halts a loop that makes no progress. Budgets and a person's stop are none of it.
pub fn is_on_ladder(rule: &Rule, settings: &RuleSettings) -> bool {
    let stuck = !matches!(rule.reason, HaltReason::BudgetExceeded | HaltReason::UserStop);
    let counts = rule.params.iter().any(|spec| matches!(spec.default(), ParamValue::Count(_)));
    stuck && counts && rule.level_in(settings) == Level::Halt
}

/// The settings at one step: the counts of those rules times its factor, rounded up, and no less than they may be.
pub fn at_step(settings: &RuleSettings, step: usize) -> RuleSettings {
    let factor = LADDER.get(step).copied().unwrap_or(100);
    let mut scaled = settings.clone();
    for rule in REGISTRY.iter().filter(|rule| is_on_ladder(rule, settings)) {
        let mut setting = rule.setting(settings).into_owned();
        for spec in rule.params {
            if let Some(ParamValue::Count(count)) = setting.params.get_mut(spec.name) {
                *count = count.saturating_mul(factor).div_ceil(100).max(spec.min);
            }
        }
        scaled.insert(rule.id, setting);
    }
    scaled
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
    let holds = |step: &usize| chance(halted_at(scores, *step), scores.len() as u64) <= alpha + 1e-12;
    let last = LADDER.len() - 1;
    // Scores are the last step that halts, so that fewer are halted at each step than at the one before.
    (0..=last).find(holds).map_or(Promise::None, Promise::Step)
}

/// How many of the runs are halted at `step`.
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

/// Whether `halted` of `runs` are too many for a chance of `alpha`, with a confidence of 95 %.
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
    let (runs, odds) = (runs as f64, (rate / (1.0 - rate)).ln());
    let mut log = runs * (1.0 - rate).ln();
    let mut sum = log.exp();
    for k in 1..=halted {
        log += ((runs - k as f64 + 1.0) / k as f64).ln() + odds;
        sum += log.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::defaults;
    use proptest::prelude::*;

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

    #[test]
    fn counts_of_rules_that_halt_are_scaled_and_budgets_are_not() {
        let settings = defaults();
        let twice = at_step(&settings, 8);
        let count = |settings: &RuleSettings, rule: &str, name: &str| {
            if let ParamValue::Count(count) = settings[rule].params[name] { count } else { 0 }
        };
        assert_eq!(count(&twice, "unchanged-diff", "repeats"), 4);
        assert_eq!(count(&twice, "co-occurrence", "rounds"), 4);
        assert_eq!(twice["iteration-cap"], settings["iteration-cap"]);
        assert_eq!(at_step(&settings, AS_CONFIGURED), settings);
        assert_eq!(count(&at_step(&settings, 0), "tool-loop", "hard"), 3);
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
                        prop_assert!(chance(halted_at(&scores, step - 1), scores.len() as u64) > alpha);
                    }
                }
                Promise::TooFew { needed } => prop_assert!((scores.len() as u64) < needed.max(1)),
                Promise::None => prop_assert!(chance(halted_at(&scores, LADDER.len() - 1), scores.len() as u64) > alpha),
            }
        }
    }
}
