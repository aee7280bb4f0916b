//! `hook-bypass`: a commit that bypassed the gate.

use crate::detect::prelude::*;
use crate::domain::{Gate, Recording};
use crate::history::Strike;

const BLOCK_IN_CHECK: Param<bool> = Param::on("block_in_check");

const AGENTS: Param<Word> = Param::word("agents", "note", &["off", "note", "error"]);

/// The log of safety events distinguishes skips of the gate from skips of other rules by it.
pub static RULE: Rule = Rule {
    level: Level::Note,
    about: About::new(EventClass::GateBypass),
    params: &[BLOCK_IN_CHECK.spec, AGENTS.spec],
    stages: &[Stage::PostCommit, Stage::Check],
    ..Rule::of_iterations("hook-bypass", include_str!("hook_bypass.md"), check)
};

/// The level in `andon check`.
pub(in crate::detect) fn level_in_check(setting: &RuleSetting) -> Level {
    if setting.switch(&BLOCK_IN_CHECK) { setting.level.max(Level::Block) } else { setting.level }
}

/// The level in `andon check` of a commit by an agent whose client had no live hook; `None` where it is not reported.
pub(in crate::detect) fn unguarded_level(setting: &RuleSetting) -> Option<Level> {
    match setting.word(&AGENTS) {
        "off" => None,
        "error" => Some(Level::Block),
        _ => Some(Level::Note),
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let newest = situation.timeline.newest()?;
    let by_name = newest.skipped.iter().find(|skip| skip.rule == RULE.id);
    let by_name = by_name.map(|skip| words::bounded(&skip.reason));
    let commit = newest.name();
    let message = match (newest.gate, by_name) {
        (Gate::Bypassed, Some(reason)) => format!("commit {commit} bypassed the gate ({reason})"),
        (Gate::NotRun, Some(reason)) => format!("the gate did not run for commit {commit} ({reason})"),
        (Gate::Bypassed, None) => format!("commit {commit} bypassed the gate (--no-verify)"),
        (Gate::NotRun, None)
            if newest.recording == Recording::CaughtUp && newest.strike == Strike::Candidate =>
        {
            format!("commit {commit} was made while the hooks were off and recorded later")
        }
        (Gate::NotRun | Gate::Passed, _) => return None,
    };
    let level = if situation.stage == Stage::Check { level_in_check(setting) } else { setting.level };
    let evidence = newest.commit.map(Evidence::Commit).into_iter().collect();
    Some(Finding { evidence, ..RULE.finding(level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Stops;
    use crate::domain::{
        CommitKind::{self, Merge, Normal, Revert},
        ParamValue, Skip,
    };
    use crate::testkit::{commit, timeline};

    fn level(gate: Gate, recording: Recording, kind: CommitKind, stage: Stage) -> Option<Level> {
        let mut one = commit(1).kind(kind);
        one.record().gate = gate;
        one.record().recording = recording;
        let line = timeline(vec![one]);
        let situation =
            Situation { timeline: &line, stage, candidate: None, stops: Stops::NONE, episode: None };
        check(&situation, &RULE.defaults()).map(|finding| finding.level)
    }

    #[test]
    fn bypassed_commits_are_noted_and_fail_the_check() {
        use Gate::{Bypassed, NotRun, Passed};
        use Recording::{AtCommit, CaughtUp, Patched};
        let table = [
            (Passed, AtCommit, Normal, false),
            (Bypassed, AtCommit, Normal, true),
            (NotRun, AtCommit, Revert, false),
            (NotRun, CaughtUp, Merge, false),
            (NotRun, CaughtUp, Normal, true),
            (NotRun, Patched, Normal, false),
        ];
        for (gate, recording, kind, trips) in table {
            let expect = |level| trips.then_some(level);
            assert_eq!(level(gate, recording, kind, Stage::PostCommit), expect(Level::Note), "{gate:?}");
            assert_eq!(level(gate, recording, kind, Stage::Check), expect(Level::Block), "{gate:?}");
        }
    }

    #[test]
    fn a_hook_that_was_not_there_is_no_bypass() {
        let mut one = commit(1);
        one.record().gate = Gate::NotRun;
        let reason = "pre-commit was replaced by lefthook".to_owned();
        one.record().skipped = vec![Skip { rule: RULE.id.to_owned(), reason, agent: None }];
        let line = timeline(vec![one]);
        let situation = Situation {
            timeline: &line,
            stage: Stage::PostCommit,
            candidate: None,
            stops: Stops::NONE,
            episode: None,
        };
        let message = check(&situation, &RULE.defaults()).unwrap().message();
        assert!(message.starts_with("the gate did not run for commit "), "{message}");
        assert!(message.ends_with(" (pre-commit was replaced by lefthook)"), "{message}");
    }

    #[test]
    fn the_check_can_be_told_to_keep_the_level() {
        let mut one = commit(1);
        one.record().gate = Gate::Bypassed;
        let line = timeline(vec![one]);
        let situation = Situation {
            timeline: &line,
            stage: Stage::Check,
            candidate: None,
            stops: Stops::NONE,
            episode: None,
        };
        let mut setting = RULE.defaults();
        setting.params.insert("block_in_check", ParamValue::Switch(false));
        assert_eq!(check(&situation, &setting).map(|finding| finding.level), Some(Level::Note));
    }
}
