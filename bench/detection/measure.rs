//! One family: its runs through the engine of `andon replay --events`, and what came of them.

use std::collections::BTreeMap;
use std::path::Path;

use andon::verbs::replay::run_events;
use andon_config::{self as config, Config, ConfigSource, Layer};
use andon_core::domain::{Level, Timestamp, Verdict};

use crate::agent::Agent;
use crate::derive;
use crate::families::{CheckRequest, Family, Unit};
use crate::script::Script;

/// What became of one run.
#[derive(Default)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// The rule that halted it, and after how many iterations or calls of the stuck phase (0: before it).
    pub halted: Option<(String, usize)>,
    /// Iterations of the run that were judged.
    pub iterations: usize,
    /// Iterations with a warning before the stuck phase, or at all in healthy runs.
    pub warned: usize,
    /// Rules that warned there.
    pub warnings: BTreeMap<String, usize>,
}

/// The configuration of a family.
pub fn config(family: &Family) -> Config {
    let text = family.config.as_bytes().to_vec();
    config::load(&[ConfigSource { layer: Layer::Repository, name: "andon.toml".into(), text }]).unwrap()
}

/// The scripts of some seeds.
pub fn scripts(family: &Family, seeds: &[u64]) -> Vec<Script> {
    let script = |seed: &u64| {
        let mut agent = Agent::new(family.name, *seed);
        (family.run)(&mut agent);
        agent.script
    };
    seeds.iter().map(script).collect()
}

/// Runs a family; the repository of its commits is made in `dir`.
pub fn family(family: &Family, seeds: &[u64], dir: &Path) -> Vec<Run> {
    let config = config(family);
    let scripts = scripts(family, seeds);
    let (repo, trees) = derive::import(dir, &scripts);
    let each = scripts.iter().zip(&trees).zip(seeds);
    each.map(|((script, trees), seed)| {
        let stream = derive::stream(&repo, &config.paths.rules, script, trees);
        Run { seed: *seed, ..judged(family, &config, script, &stream) }
    })
    .collect()
}

fn judged(family: &Family, config: &Config, script: &Script, stream: &[u8]) -> Run {
    let mut run = Run::default();
    let mut warned = false;
    let now = Timestamp(1_900_000_000);
    let ended = run_events(config, now, &mut &*stream, &mut |number, decision| {
        if run.halted.is_some() {
            return;
        }
        let line = &script.lines[usize::try_from(number).unwrap() - 1];
        if decision.verdict == Verdict::Halt {
            let rule = decision.findings.iter().find(|finding| finding.level == Level::Halt);
            let at = match family.asked {
                CheckRequest::Found(Unit::Calls, _) if line.stuck > 0 => line.calls.max(1),
                CheckRequest::Found(..) | CheckRequest::LeftAlone => line.stuck,
            };
            run.halted = Some((rule.map_or("", |finding| finding.rule).to_owned(), at));
        }
        if line.stuck > 0 {
            return;
        }
        if decision.verdict == Verdict::Warn {
            warned = true;
            for finding in decision.findings.iter().filter(|finding| finding.level == Level::Warn) {
                *run.warnings.entry(finding.rule.to_owned()).or_default() += 1;
            }
        }
        if line.ends {
            run.iterations += 1;
            run.warned += usize::from(std::mem::take(&mut warned));
        }
    })
    .unwrap();
    assert_eq!(ended.refused, 0, "a line of {} is no fact", family.name);
    run
}
