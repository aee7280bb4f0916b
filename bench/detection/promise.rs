//! Does a calibration keep what it promises? Healthy runs of all families are scored once, then split 200 times at random:
//! one half calibrates, the other one is the work to come. Stuck runs say what the promised setting costs.

use andon_core::detect::calibration::{self, Promise};
use andon_core::detect::ladder::{AS_CONFIGURED, LADDER, Score};
use andon_core::domain::Timestamp;
use andon_engine::calibrate;

use crate::families::{CheckRequest, FAMILIES, Family};
use crate::random::Random;
use crate::{derive, measure};

/// Random splits.
const SPLITS: u64 = 200;
/// Splits in which the promise has to hold.
const HELD: u64 = 190;

/// How far up the ladder each run of a family is halted.
fn scores(family: &Family, seeds: &[u64]) -> Vec<Score> {
    let dir = tempfile::tempdir().unwrap();
    let config = measure::config(family);
    let scripts = measure::scripts(family, seeds);
    let (repo, trees) = derive::import(dir.path(), &scripts);
    let each = scripts.iter().zip(&trees);
    each.map(|(script, trees)| {
        let stream = derive::stream(&repo, &config.paths.rules, script, trees);
        calibrate::score(&config, Timestamp(1_900_000_000), &mut &*stream).unwrap()
    })
    .collect()
}

/// The share of runs that is halted at a step.
fn share(scores: &[Score], step: usize) -> f64 {
    calibration::halted_at(scores, step) as f64 / scores.len().max(1) as f64
}

/// Scores `count` runs of each family and prints what came of the splits; whether the promise held.
pub fn run(count: u64, only: &str) -> bool {
    let seeds: Vec<u64> = (0..count).map(|at| at * 2 + 1).collect();
    let of = |healthy: bool| -> Vec<Score> {
        let families = FAMILIES.iter().filter(|family| family.name.contains(only));
        let families = families.filter(|family| (family.asked == CheckRequest::LeftAlone) == healthy);
        families.flat_map(|family| scores(family, &seeds)).collect()
    };
    let (good, stuck) = (of(true), of(false));
    println!("{} healthy runs, {} stuck ones", good.len(), stuck.len());
    println!("\n| factor | healthy runs halted | stuck runs halted |\n|--:|--:|--:|");
    for (step, factor) in LADDER.iter().enumerate() {
        let (alone, found) = (100.0 * share(&good, step), 100.0 * share(&stuck, step));
        println!("| {:.2} | {alone:.2} % | {found:.2} % |", *factor as f64 / 100.0);
    }
    println!(
        "\n| alpha | splits that promise | in which it holds | the other half halted, mean | recall, mean | by the defaults |\n|--:|--:|--:|--:|--:|--:|"
    );
    let mut all = true;
    for alpha in [0.01, 0.05, 0.1] {
        let (mut promised, mut held, mut halted, mut recall) = (0, 0, 0.0, 0.0);
        for split in 0..SPLITS {
            let (known, fresh) = halves(&good, split);
            let Promise::Step(step) = calibration::promise(&known, alpha) else { continue };
            promised += 1;
            let count = calibration::halted_at(&fresh, step);
            held += u64::from(!calibration::refutes(count, fresh.len() as u64, alpha));
            halted += share(&fresh, step);
            recall += share(&stuck, step);
        }
        let mean = |sum: f64| 100.0 * sum / (promised as f64).max(1.0);
        let defaults = 100.0 * share(&stuck, AS_CONFIGURED);
        println!(
            "| {:.0} % | {promised} | {held} | {:.2} % | {:.2} % | {defaults:.2} % |",
            100.0 * alpha,
            mean(halted),
            mean(recall)
        );
        all &= promised == SPLITS && held >= HELD && mean(recall) >= defaults - 2.0;
    }
    all
}

/// Two halves of the runs, drawn at random.
fn halves(runs: &[Score], seed: u64) -> (Vec<Score>, Vec<Score>) {
    let mut random = Random::new("splits", seed);
    let mut runs = runs.to_vec();
    random.shuffle(&mut runs);
    let fresh = runs.split_off(runs.len() / 2);
    (runs, fresh)
}
