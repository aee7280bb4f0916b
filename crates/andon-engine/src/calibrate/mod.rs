//! `andon calibrate`: the engine over work that went well, at every step of the ladder at once.
//!
//! A run is folded once, and the rules judge each fact as in a replay. An answer to a halt among the facts begins a new
//! count, as it does there, but no run. No halt is answered on the way, because only whether a run is halted at a step
//! matters.

mod files;
mod ladder;
mod people;

use std::io::BufRead;
use std::path::{Path, PathBuf};

use self::ladder::{Ladder, Run};
use self::people::PlacedRuns;
use crate::range::{self, Lineages, replayed};
use crate::recording::{Job, Pace, RangeCommit, Records, bulk};
use crate::view::{
    Calibration, CalibrationGround, CalibrationResult, HaltsOfBudget, HaltsOfBudgets, LadderStep, RuleBound,
    ScaledCounts, UnaskedRule,
};
use crate::{Context, OpsError, Result, Workspace};
use andon_config::{Config, Value};
use andon_core::detect::calibration::{self, Promise};
use andon_core::detect::ladder::{AS_CONFIGURED, LADDER, Score, is_budget, rule_at_step};
use andon_core::detect::{self, Rule};
use andon_core::domain::{Fact, Hint, ParamValue, RuleSetting, RuleSettings, Stage, Timestamp};
use andon_core::history;
use andon_store::DerivedCache;

/// The source of good runs.
#[derive(Debug)]
pub enum GoodSource<'a> {
    /// The runs of a range of commits.
    Range(&'a str),
    /// Event streams, a run each.
    Events(&'a [PathBuf]),
    /// The same, all files of a folder and of those in it.
    Folder(&'a Path),
}

/// The source of the settings.
#[derive(Clone, Copy)]
pub enum SettingsOf<'a> {
    Repository(&'a Workspace),
    /// No repository: streams need none.
    Nowhere(&'a Config),
}

#[derive(Debug)]
pub struct CalibrationRequest<'a> {
    /// The source of the runs.
    pub good: GoodSource<'a>,
    /// The chance with which the next good run may be halted, at most.
    pub alpha: f64,
}

/// Good runs, and what they are drawn from.
#[derive(Debug, Default)]
struct RatedRuns {
    runs: Vec<Run>,
    ground: CalibrationGround,
}

/// The runs that were read, or the reason why not all could be.
type CalibrationBasis = CalibrationResult<RatedRuns>;

/// Calibrates the settings on what went well.
///
/// # Errors
/// The file or commit that cannot be read.
pub fn run(
    ctx: &Context,
    settings: SettingsOf<'_>,
    question: &CalibrationRequest<'_>,
    pace: &mut Pace<'_>,
) -> Result<CalibrationResult> {
    let config = match settings {
        SettingsOf::Repository(ws) => &ws.config,
        SettingsOf::Nowhere(config) => config,
    };
    let ladder = Ladder::new(config);
    let ground = match (&question.good, settings) {
        (GoodSource::Range(range), SettingsOf::Repository(ws)) => of_range(ctx, ws, range, &ladder, pace)?,
        (GoodSource::Range(_), SettingsOf::Nowhere(_)) => {
            return Err(OpsError::usage("a range of commits needs a repository", Hint::CalibrateEvents));
        }
        (GoodSource::Events(files), _) => files::named(ctx, files, &ladder, pace)?,
        (GoodSource::Folder(dir), _) => files::of_folder(ctx, dir, &ladder, pace)?,
    };
    let known = match ground {
        CalibrationBasis::Undecided { commits, why } => {
            return Ok(CalibrationResult::Undecided { commits, why });
        }
        CalibrationBasis::Whole(known) => known,
    };
    if let (GoodSource::Range(range), 0) = (&question.good, known.ground.commits) {
        let what = format!("the range {range} holds no commit");
        return Err(OpsError::usage(what, "name commits that went well, such as v1.0..HEAD"));
    }
    Ok(CalibrationResult::Whole(Box::new(summed(&ladder, known, question.alpha))))
}

/// The loosest step of the ladder at which an event stream is halted.
///
/// # Errors
/// It cannot be read.
pub fn score(config: &Config, now: Timestamp, input: &mut dyn BufRead) -> Result<Score> {
    Ok(files::of_stream(&Ladder::new(config), now, input)?.0.score())
}

fn of_range(
    ctx: &Context,
    ws: &Workspace,
    range: &str,
    ladder: &Ladder<'_>,
    pace: &mut Pace<'_>,
) -> Result<CalibrationBasis> {
    let common_dir = ws.repo.common_dir();
    let replayed::RangeFacts { commits, parents, tip } = match replayed::range_facts(ctx, range) {
        Err(OpsError::Git(err)) if err.is_cut_off() => {
            return Ok(CalibrationBasis::Undecided { commits: 0, why: range::cut_off(&err) });
        }
        asked => asked?,
    };
    if let Some(why) = range::cut_off_within(&ws.repo, &commits)? {
        return Ok(CalibrationBasis::Undecided { commits: commits.len(), why });
    }
    let cache = DerivedCache::load(common_dir, &bulk::salt(&ws.config, None));
    let (config, records) = (&ws.config, Records::Observed);
    let job = Job { ctx, config, commits: &commits, records, tip, cache: &cache, rules: None };
    let mut lines = Lineages::new(parents.into_iter());
    let mut runs: Vec<Run> = Vec::new();
    let mut placed = PlacedRuns::default();
    let walked = bulk::walk(common_dir, &job, pace, &mut |RangeCommit { commit, facts, .. }| {
        let parent = commit.parents.first().copied();
        let mut fold = lines.before(parent, || ws.config.fold());
        let (fact, _) = replayed::fact(&commit, facts, &fold);
        let anew = history::comes_after_pause(fold.timeline(), &fact);
        let before = parent.and_then(|parent| placed.run_of(parent)).filter(|_| !anew);
        let at = before.unwrap_or(runs.len());
        if at == runs.len() {
            runs.push(ladder.run());
        }
        placed.push(&commit, &fact.record, at);
        fold.push(Fact::Commit(Box::new(fact)));
        if let Some(run) = runs.get_mut(at) {
            ladder.ask(fold.timeline(), Stage::Replay, run);
        }
        lines.after(commit.id, fold);
        Ok(())
    })?;
    let again = "the same again: it goes on faster where it was (git directory, andon/cache/derived)";
    if let Some(why) = range::interrupted(walked, "commit", again) {
        return Ok(CalibrationBasis::Undecided { commits: commits.len(), why });
    }
    let mut rated = people::judged(ws, ladder, runs, &placed)?;
    rated.ground.commits = commits.len();
    Ok(CalibrationBasis::Whole(rated))
}

/// The number of such runs.
fn count(runs: &[Run], is: impl Fn(&Run) -> bool) -> u64 {
    u64::try_from(runs.iter().filter(|run| is(run)).count()).unwrap_or(u64::MAX)
}

fn summed(ladder: &Ladder<'_>, known: RatedRuns, alpha: f64) -> Calibration {
    let RatedRuns { runs, ground } = known;
    let scores: Vec<Score> = runs.iter().map(Run::score).collect();
    let all = count(&runs, |_| true);
    let promise = calibration::promise(&scores, alpha);
    let step = match promise {
        Promise::Step(step) => step,
        Promise::TooFew { .. } | Promise::None => AS_CONFIGURED,
    };
    let curve = LADDER.iter().enumerate().map(|(step, factor)| {
        let halted = calibration::halted_at(&scores, step);
        LadderStep {
            factor: *factor,
            halted,
            chance: calibration::chance(halted, all),
            exact: calibration::upper_bound(halted, all),
            holds: matches!(promise, Promise::Step(_) | Promise::None)
                && calibration::holds(halted, all, alpha),
        }
    });
    let is_seen = |at: usize| runs.iter().any(|run| run.seen[at]);
    let seen = ladder.rules().enumerate().filter(|(at, _)| is_seen(*at)).map(|(_, rule)| rule);
    let rules = &ladder.config.rules;
    let changed = match promise {
        Promise::Step(step) => changed(seen, rules, step),
        Promise::TooFew { .. } | Promise::None => Vec::new(),
    };
    let unseen = ladder.rules().enumerate().filter(|(at, _)| !is_seen(*at));
    Calibration {
        alpha,
        ground,
        runs: all,
        by_budgets: by_budgets(ladder.config, &runs),
        promised: promise,
        curve: curve.collect(),
        bounds: bounds(ladder, &runs, step),
        unasked: unseen.map(|(_, rule)| unasked(rule)).collect(),
        changed,
        own_rules: *rules != detect::defaults(),
    }
}

fn unasked(rule: &'static Rule) -> UnaskedRule {
    UnaskedRule { rule: rule.id, lacks: rule.about.judges.as_str() }
}

/// The bound of each rule that had something to judge, or that people marked.
fn bounds(ladder: &Ladder<'_>, runs: &[Run], step: usize) -> Vec<RuleBound> {
    let all = count(runs, |_| true);
    let bound = |(at, rule): (usize, &'static Rule)| {
        let halted = count(runs, |run| run.scores[at].is_some_and(|last| last >= step));
        let told = halted > 0 || runs.iter().any(|run| run.seen[at]);
        told.then(|| RuleBound { rule: rule.id, halted, bound: calibration::upper_bound(halted, all) })
    };
    ladder.rules().enumerate().filter_map(bound).collect()
}

fn by_budgets(config: &Config, runs: &[Run]) -> HaltsOfBudgets {
    let budgets = detect::REGISTRY.iter().filter(|rule| is_budget(rule, &config.rules));
    let each = budgets.map(|rule| HaltsOfBudget {
        rule: rule.id,
        halted: count(runs, |run| run.budgets.contains(rule.id)),
    });
    HaltsOfBudgets {
        all: count(runs, |run| !run.budgets.is_empty()),
        budgets: each.filter(|one| one.halted > 0).collect(),
    }
}

/// The counts that differ at `step`, for the rules that have any. The line is all that `andon.toml` has to say of the rule: it
/// keeps its level and its other parameters, so that it can take the place of the one that is there.
fn changed<'a>(
    rules: impl Iterator<Item = &'a Rule>,
    settings: &RuleSettings,
    step: usize,
) -> Vec<ScaledCounts> {
    let changed = rules.filter_map(|rule| {
        let (before, after) = (rule.setting(settings), rule_at_step(rule, settings, step));
        let counts = rule.params.iter().filter_map(|spec| {
            match (before.params.get(spec.name)?, after.params.get(spec.name)?) {
                (ParamValue::Count(was), ParamValue::Count(is)) if was != is => Some((spec.name, *was, *is)),
                _ => None,
            }
        });
        let counts: Vec<(&'static str, u64, u64)> = counts.collect();
        (!counts.is_empty()).then(|| ScaledCounts { rule: rule.id, counts, line: line(rule, &after) })
    });
    changed.collect()
}

/// The line of a rule: what differs from its defaults.
fn line(rule: &Rule, setting: &RuleSetting) -> String {
    let level = Value::Level(setting.level);
    let params = rule.params.iter().filter_map(|spec| {
        let value = setting.params.get(spec.name).filter(|value| **value != spec.default())?;
        Some(format!("{} = {}", spec.name, Value::Param(value.clone())))
    });
    let level_differs = (setting.level != rule.level).then(|| format!("level = {level}"));
    let parts: Vec<String> = level_differs.into_iter().chain(params).collect();
    if parts.is_empty() {
        format!("{} = {level}", rule.id)
    } else {
        format!("{} = {{ {} }}", rule.id, parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_config::{self as config, ConfigSource, Layer};
    use andon_core::detect::ladder;

    fn loaded(text: &str) -> RuleSettings {
        let source =
            ConfigSource { layer: Layer::Repository, name: "andon.toml".to_owned(), text: text.into() };
        config::load(&[source]).unwrap().rules
    }

    #[test]
    fn the_lines_take_the_place_of_those_that_are_there() {
        let own = "[rules]\ntool-loop = { signature = \"coarse\", soft = 4, hard = 6, window = 30 }\nidle-turns = { max = 6 }\n\
                   undo-churn = \"halt\"\nunchanged-diff = { exempt = [\"Poke 'it'\"] }\n";
        let settings = loaded(own);
        let rules = || {
            andon_core::detect::REGISTRY.iter().copied().filter(|rule| ladder::is_on_ladder(rule, &settings))
        };
        for step in 0..ladder::LADDER.len() {
            let changed = changed(rules(), &settings, step);
            let lines: String = changed.iter().map(|change| format!("{}\n", change.line)).collect();
            assert_eq!(loaded(&format!("[rules]\n{lines}")), {
                let mut whole = ladder::at_step(&settings, step);
                let kept = |id: &str| changed.iter().any(|change| change.rule == id);
                whole.retain(|id, _| kept(id));
                let mut all = andon_core::detect::defaults();
                all.extend(whole);
                all
            });
        }
        let half = changed(rules(), &settings, 0);
        let of = |id: &str| half.iter().find(|change| change.rule == id).map(|change| change.line.as_str());
        assert_eq!(of("idle-turns"), Some("idle-turns = \"halt\""), "as by default");
        insta::assert_snapshot!(of("tool-loop").unwrap(), @r#"tool-loop = { soft = 2, hard = 3, infinite = 5, window = 15, rounds = 2, waits = 32, signature = "coarse" }"#);
        assert!(of("undo-churn").unwrap().contains("level = \"halt\""), "{half:?}");
    }
}
