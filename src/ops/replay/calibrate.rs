//! `andon calibrate`: the engine over work that went well, at every step of the ladder at once.
//!
//! A run is folded once. At each fact the rules are asked at the strictest step at which it is not halted yet, and where
//! they halt, at the next one: a good run costs one question a fact, as a replay does. No halt is answered on the way, for
//! what counts is whether a run is halted at a step at all.

mod files;
mod past_halts;
mod placed;

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::{Path, PathBuf};

use self::placed::Placed;
use crate::config::Config;
use crate::detect::calibration::{self, LADDER, Promise, Score};
use crate::detect::{self, Situation, Stops};
use crate::domain::decision::Stage;
use crate::domain::diagnostic::Diagnostic;
use crate::domain::facts::{Fact, HaltWas};
use crate::domain::findings::Level;
use crate::domain::settings::{ParamValue, RuleSettings};
use crate::domain::time::Timestamp;
use crate::domain::view::calibration::{Calibration, LadderStep, Promised, RuleBound, ScaledCounts};
use crate::engine::bulk::{self, Job, Pace, ReadCommit, Records};
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::lineage::Lineages;
use crate::engine::uncertainty;
use crate::engine::workspace::Workspace;
use crate::history::{Begins, Timeline};
use crate::store::derived::DerivedCache;

/// What went well.
#[derive(Debug)]
pub enum Good<'a> {
    /// The runs of a range of commits.
    Range(&'a str),
    /// Event streams, a run each.
    Events(&'a [PathBuf]),
    /// The same, all files of a folder.
    Folder(&'a Path),
}

/// Where the settings come from.
#[derive(Clone, Copy)]
pub enum SettingsOf<'a> {
    /// A repository.
    Repository(&'a Workspace),
    /// There is none: streams need none.
    Nowhere(&'a Config),
}

/// What is asked.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Of what.
    pub good: Good<'a>,
    /// The chance with which the next good run may be halted, at most.
    pub alpha: f64,
}

/// What became of one good run.
#[derive(Debug, Clone, Default)]
struct Run {
    score: Score,
    /// The last step at which each rule halted it.
    rules: BTreeMap<&'static str, usize>,
}

impl Run {
    /// It is halted at `step` by `rule`.
    fn halted(&mut self, rule: &'static str, step: usize) {
        self.score = self.score.max(Some(step));
        let last = self.rules.entry(rule).or_default();
        *last = step.max(*last);
    }
}

/// Runs, and what people said of the halts among them.
#[derive(Debug, Default)]
struct Known {
    commits: usize,
    runs: Vec<Run>,
    /// Runs that are not counted: they were halted, and nobody called that mistaken.
    left_out: u64,
    /// Halts among them that a person called mistaken.
    mistaken: u64,
    /// Files that are not counted: they have no event.
    skipped_files: u64,
    warnings: Vec<Diagnostic>,
}

/// The rules at each step.
struct Ladder<'a> {
    config: &'a Config,
    steps: Vec<RuleSettings>,
}

impl<'a> Ladder<'a> {
    fn new(config: &'a Config) -> Self {
        let settings = super::settings(&config.rules);
        let mut base = settings.clone();
        // What is no sign of being stuck is not asked at all.
        for rule in detect::REGISTRY.iter().filter(|rule| !calibration::is_on_ladder(rule, &settings)) {
            let signals = rule.about.signal.is_some();
            if !signals && let Some(setting) = base.get_mut(rule.id) {
                setting.level = Level::Off;
            }
        }
        Self { config, steps: (0..LADDER.len()).map(|step| calibration::at_step(&base, step)).collect() }
    }

    /// Asks the rules about the newest fact of `timeline`.
    fn ask(&self, timeline: &Timeline, stage: Stage, run: &mut Run) {
        let first = run.score.map_or(0, |last| last + 1);
        for (step, settings) in self.steps.iter().enumerate().skip(first) {
            let mode = uncertainty::mode(self.config);
            let loops = stage != Stage::Event;
            let episode = loops.then(|| uncertainty::episode(timeline, settings, mode)).flatten();
            let situation =
                Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: episode.as_ref() };
            let found = detect::run(&situation, settings);
            let halting: Vec<&'static str> = found
                .iter()
                .filter(|finding| finding.level == Level::Halt)
                .map(|finding| finding.rule)
                .collect();
            if halting.is_empty() {
                return;
            }
            for rule in halting {
                run.halted(rule, step);
            }
        }
    }
}

/// Calibrates the settings on what went well.
///
/// # Errors
/// What cannot be read.
pub fn run(
    ctx: &Context,
    ground: SettingsOf<'_>,
    question: &Wanted<'_>,
    pace: &mut Pace<'_>,
) -> Result<Calibration, OpsError> {
    let config = match ground {
        SettingsOf::Repository(ws) => &ws.config,
        SettingsOf::Nowhere(config) => config,
    };
    let ladder = Ladder::new(config);
    let known = match (&question.good, ground) {
        (Good::Range(range), SettingsOf::Repository(ws)) => of_range(ctx, ws, range, &ladder, pace)?,
        (Good::Range(_), SettingsOf::Nowhere(_)) => {
            return Err(OpsError::Usage {
                what: "a range of commits needs a repository".to_owned(),
                help: "run it in one, or give event streams: andon calibrate --events FILE".to_owned(),
            });
        }
        (Good::Events(files), _) => files::named(ctx, files, &ladder)?,
        (Good::Folder(dir), _) => files::of_folder(ctx, dir, &ladder)?,
    };
    if let (Good::Range(range), 0) = (&question.good, known.commits) {
        return Err(OpsError::Usage {
            what: format!("the range {range} holds no commit"),
            help: "name commits that went well, such as v1.0..HEAD".to_owned(),
        });
    }
    Ok(summed(config, known, question.alpha))
}

/// How far up the ladder one event stream is halted.
///
/// # Errors
/// It cannot be read.
pub fn score(config: &Config, now: Timestamp, input: &mut dyn BufRead) -> Result<Score, OpsError> {
    Ok(files::of_stream(&Ladder::new(config), now, input)?.0.score)
}

fn of_range(
    ctx: &Context,
    ws: &Workspace,
    range: &str,
    ladder: &Ladder<'_>,
    pace: &mut Pace<'_>,
) -> Result<Known, OpsError> {
    let common_dir = ws.repo.common_dir();
    let super::Asked { commits, parents, tip } = super::asked(ctx, range)?;
    let cache = DerivedCache::load(common_dir, &bulk::salt(&ws.config));
    let job =
        Job { ctx, config: &ws.config, commits: &commits, records: Records::Watched, tip, cache: &cache };
    let mut lines = Lineages::new(parents.into_iter(), ws.config.guard.session_gap);
    let mut runs: Vec<Run> = Vec::new();
    let mut placed = Placed::default();
    bulk::walk(common_dir, &job, pace, &mut |ReadCommit { commit, facts, .. }| {
        let parent = commit.parents.first().copied();
        let mut fold = lines.before(parent, |fresh| fresh);
        let (fact, _) = super::fact(&commit, facts, &fold);
        let anew = crate::history::begins(fold.timeline(), &fact) == Begins::Run;
        let before = parent.and_then(|parent| placed.run_of(parent)).filter(|_| !anew);
        let at = before.unwrap_or(runs.len());
        if at == runs.len() {
            runs.push(Run::default());
        }
        placed.push(&commit, &fact.record, at);
        fold.push(Fact::Commit(Box::new(fact)));
        if let Some(run) = runs.get_mut(at) {
            ladder.ask(fold.timeline(), Stage::Replay, run);
        }
        lines.after(commit.id, fold);
        Ok(())
    })?;
    let known = without_right_halts(ws, runs, &placed)?;
    Ok(Known { commits: commits.len(), ..known })
}

/// What people said of the halts of those runs. One that was mistaken counts as the halt of a good run, whether the
/// commits alone show it or not, and at every step: nobody knows at which larger counts it would not have come. A run that
/// was halted otherwise was not good work as it stands.
fn without_right_halts(ws: &Workspace, mut runs: Vec<Run>, placed: &Placed) -> Result<Known, OpsError> {
    let (mut right, mut mistaken) = (BTreeSet::new(), 0);
    for past in past_halts::of(ws)? {
        let Some(at) = placed.run_halted_at(ws, past.head)? else { continue };
        match (past.was, runs.get_mut(at)) {
            (HaltWas::Mistaken, Some(run)) => {
                mistaken += 1;
                run.halted(past.rule, LADDER.len() - 1);
            }
            (HaltWas::Unsaid, Some(_)) => {
                right.insert(at);
            }
            (_, None) => {}
        }
    }
    let kept = runs.into_iter().enumerate().filter(|(at, _)| !right.contains(at)).map(|(_, run)| run);
    let left_out = u64::try_from(right.len()).unwrap_or(u64::MAX);
    Ok(Known { runs: kept.collect(), left_out, mistaken, ..Known::default() })
}

fn summed(config: &Config, known: Known, alpha: f64) -> Calibration {
    let Known { commits, runs, left_out, mistaken, skipped_files, warnings } = known;
    let scores: Vec<Score> = runs.iter().map(|run| run.score).collect();
    let count = u64::try_from(runs.len()).unwrap_or(u64::MAX);
    let promise = calibration::promise(&scores, alpha);
    let step = match promise {
        Promise::Step(step) => step,
        Promise::TooFew { .. } | Promise::None => calibration::AS_CONFIGURED,
    };
    let curve = LADDER.iter().enumerate().map(|(step, factor)| {
        let halted = calibration::halted_at(&scores, step);
        LadderStep { factor: *factor, halted, chance: calibration::chance(halted, count) }
    });
    let bounds = detect::REGISTRY.iter().filter(|rule| calibration::is_on_ladder(rule, &config.rules));
    let bounds = bounds.map(|rule| {
        let halts = |run: &&Run| run.rules.get(rule.id).is_some_and(|last| *last >= step);
        let halted = u64::try_from(runs.iter().filter(halts).count()).unwrap_or(u64::MAX);
        RuleBound { rule: rule.id, halted, bound: calibration::upper_bound(halted, count.max(1)) }
    });
    Calibration {
        alpha,
        commits,
        runs: count,
        left_out,
        mistaken,
        skipped_files,
        warnings,
        promised: match promise {
            Promise::Step(step) => Promised::Factor(LADDER[step]),
            Promise::TooFew { needed } => Promised::TooFew(needed),
            Promise::None => Promised::Nothing,
        },
        curve: curve.collect(),
        bounds: bounds.collect(),
        changed: if matches!(promise, Promise::Step(_)) { changed(&config.rules, step) } else { Vec::new() },
    }
}

/// The counts that differ at `step`, rule by rule.
fn changed(settings: &RuleSettings, step: usize) -> Vec<ScaledCounts> {
    let scaled = calibration::at_step(settings, step);
    let mut found = Vec::new();
    for rule in detect::REGISTRY {
        let (before, after) = (rule.setting(settings), rule.setting(&scaled));
        let counts = rule.params.iter().filter_map(|spec| {
            match (before.params.get(spec.name)?, after.params.get(spec.name)?) {
                (ParamValue::Count(was), ParamValue::Count(is)) if was != is => Some((spec.name, *was, *is)),
                _ => None,
            }
        });
        let counts: Vec<(&'static str, u64, u64)> = counts.collect();
        if !counts.is_empty() {
            found.push(ScaledCounts { rule: rule.id, counts });
        }
    }
    found
}
