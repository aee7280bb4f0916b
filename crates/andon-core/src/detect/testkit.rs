//! One rule, one question: what the tables of the rules' tests call.

use super::{Candidate, CodeChange, DocsChange, EvidenceState, Origin, Rule, Situation, Stops};
use crate::domain::{Evidence, Finding, Level, Mismatch, ParamValue, RuleSetting, Stage};
use crate::history::Timeline;
use crate::testkit::{Commit, GAP, timeline};

/// The finding of `rule`, whether it was reported before or not.
fn asked(rule: &Rule, situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let is_asked = rule.stages.contains(&situation.stage) && setting.level > Level::Off;
    let found = if is_asked { rule.found(situation, setting) } else { None };
    let said = found.iter().flat_map(|finding| &finding.evidence).map(Evidence::to_string);
    for excuse in said.filter_map(|text| text.strip_prefix("excuse: ").map(str::to_owned)) {
        assert!(
            rule.excuses().any(|known| known.name == excuse),
            "{}: {excuse} is not in excuses.txt",
            rule.id
        );
    }
    found
}

/// At which level `rule`, set to `level`, is reported at post-commit of the newest of `commits`.
pub(super) fn reported(rule: &Rule, commits: Vec<Commit>, level: Level) -> Option<Level> {
    let setting = RuleSetting { level, ..rule.defaults() };
    let settings = [(rule.id, setting)].into_iter().collect();
    super::evaluate(rule, &after_commit(&timeline(commits)), &settings).map(|finding| finding.level)
}

fn after_commit(timeline: &Timeline) -> Situation<'_> {
    Situation { timeline, stage: Stage::PostCommit, candidate: None, stops: Stops::NONE, episode: None }
}

fn adjusted(rule: &Rule, params: &[(&'static str, ParamValue)]) -> RuleSetting {
    let mut setting = rule.defaults();
    for (name, value) in params {
        assert!(setting.params.insert(name, value.clone()).is_some(), "{} has no {name}", rule.id);
    }
    setting
}

fn after(rule: &Rule, commits: Vec<Commit>, setting: &RuleSetting) -> Option<Finding> {
    asked(rule, &after_commit(&timeline(commits)), setting)
}

/// The finding of `rule` on a timeline at the end of a turn.
pub(super) fn asked_of(rule: &Rule, timeline: &Timeline) -> Option<Finding> {
    asked_with(rule, timeline, &[])
}

/// The same with parameters.
pub(super) fn asked_with(
    rule: &Rule,
    timeline: &Timeline,
    params: &[(&'static str, ParamValue)],
) -> Option<Finding> {
    asked_at(rule, timeline, Stage::Turn, params)
}

/// The same at another stage.
pub(super) fn asked_at(
    rule: &Rule,
    timeline: &Timeline,
    stage: Stage,
    params: &[(&'static str, ParamValue)],
) -> Option<Finding> {
    let situation = Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None };
    asked(rule, &situation, &adjusted(rule, params))
}

/// The finding of `rule` at post-commit of the newest of `commits`.
pub(super) fn checked(rule: &Rule, commits: Vec<Commit>) -> Option<Finding> {
    after(rule, commits, &rule.defaults())
}

/// The same with parameters.
pub(super) fn checked_with(
    rule: &Rule,
    commits: Vec<Commit>,
    params: &[(&'static str, ParamValue)],
) -> Option<Finding> {
    after(rule, commits, &adjusted(rule, params))
}

/// The same at another level.
pub(super) fn checked_at(rule: &Rule, commits: Vec<Commit>, level: Level) -> Option<Finding> {
    after(rule, commits, &RuleSetting { level, ..rule.defaults() })
}

fn candidate(evidence: EvidenceState, code_changed: CodeChange) -> Candidate {
    Candidate { code_changed, evidence, command: Some("sh tests.sh".into()), ..Candidate::default() }
}

/// The finding of `rule` on a candidate.
pub(super) fn judged(
    rule: &Rule,
    evidence: EvidenceState,
    code_changed: CodeChange,
    stage: Stage,
) -> Option<Finding> {
    let candidate = candidate(evidence, code_changed);
    let line = Timeline::new(GAP);
    let situation =
        Situation { timeline: &line, stage, candidate: Some(&candidate), stops: Stops::NONE, episode: None };
    asked(rule, &situation, &rule.defaults())
}

/// The finding of `rule` on changed code of that origin on which no tests ran, after `timeline`.
pub(super) fn made(rule: &Rule, timeline: &Timeline, origin: Origin, stage: Stage) -> Option<Finding> {
    let candidate = Candidate { origin, ..candidate(EvidenceState::NeverRan, CodeChange::Changed) };
    let situation =
        Situation { timeline, stage, candidate: Some(&candidate), stops: Stops::NONE, episode: None };
    asked(rule, &situation, &rule.defaults())
}

/// The finding of `rule` on a candidate, with nothing before it.
fn of_candidate(rule: &Rule, candidate: &Candidate, stage: Stage, setting: &RuleSetting) -> Option<Finding> {
    let line = Timeline::new(GAP);
    let situation =
        Situation { timeline: &line, stage, candidate: Some(candidate), stops: Stops::NONE, episode: None };
    asked(rule, &situation, setting)
}

/// The finding of `rule` on changed code, at another level.
pub(super) fn judged_at(rule: &Rule, evidence: EvidenceState, stage: Stage, level: Level) -> Option<Finding> {
    let candidate = candidate(evidence, CodeChange::Changed);
    of_candidate(rule, &candidate, stage, &RuleSetting { level, ..rule.defaults() })
}

/// The finding of `rule` on changed code, with parameters.
pub(super) fn judged_with(
    rule: &Rule,
    evidence: EvidenceState,
    stage: Stage,
    params: &[(&'static str, ParamValue)],
) -> Option<Finding> {
    let candidate = candidate(evidence, CodeChange::Changed);
    of_candidate(rule, &candidate, stage, &adjusted(rule, params))
}

/// The finding of `rule` on files that are not as they were pinned.
pub(super) fn identified(rule: &Rule, identity: Vec<Mismatch>) -> Option<Finding> {
    let candidate = Candidate { identity, ..candidate(EvidenceState::NeverRan, CodeChange::Changed) };
    of_candidate(rule, &candidate, Stage::PreCommit, &rule.defaults())
}

/// The finding of `rule`, at `level`, on documentation.
pub(super) fn documented(rule: &Rule, docs: DocsChange, level: Level) -> Option<Finding> {
    let candidate = Candidate { docs, ..candidate(EvidenceState::NeverRan, CodeChange::Changed) };
    of_candidate(rule, &candidate, Stage::PreCommit, &RuleSetting { level, ..rule.defaults() })
}
