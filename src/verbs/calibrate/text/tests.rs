use super::*;
use andon_engine::view::{CalibrationGround, HaltsOfBudget, RuleBound, ScaledCounts, UnaskedRule};

fn sample(promised: Promise) -> Calibration {
    let step = |factor, halted: u32, exact, holds| LadderStep {
        factor,
        halted: u64::from(halted),
        chance: f64::from(halted + 1) / 41.0,
        exact,
        holds,
    };
    Calibration {
        alpha: 0.05,
        ground: CalibrationGround {
            commits: 90,
            left_out: 1,
            mistaken: MistakenHalts { counted: 2, mended: 1, of_budgets: 3, beside_right_ones: 0 },
            duplicate_files: 7,
            ..CalibrationGround::default()
        },
        runs: 40,
        by_budgets: HaltsOfBudgets {
            all: 4,
            budgets: vec![HaltsOfBudget { rule: "iteration-cap", halted: 4 }],
        },
        promised,
        curve: vec![step(100, 2, 0.1483, false), step(125, 0, 0.0722, true)],
        bounds: vec![RuleBound { rule: "tool-loop", halted: 0, bound: 0.0722 }],
        unasked: vec![UnaskedRule { rule: "idle-turns", lacks: "turns" }],
        changed: vec![ScaledCounts {
            rule: "tool-loop",
            counts: vec![("hard", 5, 7)],
            line: "tool-loop = { hard = 7 }".to_owned(),
        }],
        own_rules: false,
    }
}

#[test]
fn it_reads_as_a_promise_with_its_ground() {
    insta::assert_snapshot!(text(&sample(Promise::Step(5)), Style::Plain), @"
    with the counts times 1.25 the next good run is halted with a chance of 5.00 % at most (40 runs)
    that is over all runs that might have been drawn; of runs like these at most 7.22 % are halted (95 %, exact)
    it covers the rules that see a loop make no progress; budgets, which end good work too, are no part of it
    halts marked --mistaken among them: 2; runs left out, halted and not marked: 1
    at which larger counts those would not have come is not known: they count at every step
    halts marked --mistaken that do not count, the rule was made looser since, or halts no more: 1
    halts marked --mistaken that do not count, they are of budgets, which the promise does not cover: 3
    good runs that budgets halt as configured: 4 (iteration-cap 4)
    rules that stay as they are, because the runs have no turns (idle-turns)
    files with the content of another one, not counted: 7

    Good runs that are halted, at that factor or at a larger one
      x 1.00       2 of 40  next one at most   7.32 %, exact  14.83 %  ########################################
      x 1.25       0 of 40  next one at most   2.44 %, exact   7.22 %  #############

    Bounds (95 %, exact)
      tool-loop                     0 halted, at most 7.22 %

    What it costs: stops come later, or sooner, by these counts
      tool-loop                hard 5 -> 7

    For andon.toml
    [rules]
    tool-loop = { hard = 7 }
    ");
    let own = Calibration { own_rules: true, ..sample(Promise::Step(5)) };
    assert!(text(&own, Style::Plain).contains("# under [rules], in the place of"));
    let picture = svg(&sample(Promise::Step(5)));
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
}

#[test]
fn where_nothing_is_promised_it_says_what_to_do() {
    let few = text(&sample(Promise::TooFew { needed: 99 }), Style::Plain);
    assert!(few.starts_with("not enough data: 5.00 % needs 99 good runs, 40 given\n"), "{few}");
    assert!(few.contains("  help: give more runs"), "{few}");
    assert!(text(&sample(Promise::None), Style::Plain).contains("  help: loosen the rules"));
}

#[test]
fn a_check_says_on_what_it_rests() {
    let check = |promised| as_check(&CalibrationResult::Whole(Box::new(sample(promised))), "main");
    insta::assert_snapshot!(check(Promise::Step(5)).violations[0].message, @"the thresholds do not hold the promise of 5.00 %: 2 of 40 good runs are halted, the next one with 7.32 % at most (exact, 95 %: 14.83 %)");
    insta::assert_snapshot!(check(Promise::TooFew { needed: 99 }).undecided[0].message, @"whether the thresholds hold 5.00 % takes 99 good runs, and these are 40");
    let mut fine = sample(Promise::Step(AS_CONFIGURED));
    fine.curve[0].holds = true;
    let fine = as_check(&CalibrationResult::Whole(Box::new(fine)), "main");
    assert_eq!((fine.violations.len(), fine.undecided.len()), (0, 0));
    insta::assert_snapshot!(fine.warnings[0].message, @"the thresholds hold the promise of 5.00 %: 2 of 40 good runs are halted, the next one with 7.32 % at most (exact, 95 %: 14.83 %)");
    let why = Diagnostic::error("stopped").code("interrupted");
    let stopped = as_check(&CalibrationResult::Undecided { commits: 7, why: why.clone() }, "main");
    assert_eq!((stopped.commits, stopped.undecided), (7, vec![why]));
}

#[test]
fn small_shares_are_no_zeros() {
    assert_eq!([0.05, 1.0, 0.0001, 0.0].map(percent), ["5.00 %", "100.00 %", "0.01 %", "0.00 %"]);
    assert_eq!([0.00004, 0.000_003].map(percent), ["0.0040 %", "0.00030 %"]);
}
