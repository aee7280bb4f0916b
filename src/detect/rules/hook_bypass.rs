//! `hook-bypass`: a commit that went round the gate.

use crate::detect::rule::{Docs, Reads, Rule, Switch, switch};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, EventClass};
use crate::domain::decision::Stage;
use crate::domain::facts::{Gate, Recording, Skip};
use crate::domain::findings::{Evidence, Face, Finding, HaltReason, Level};
use crate::domain::settings::{ParamSpec, ParamValue, RuleSetting};
use crate::history::Strike;

/// The rule.
pub static RULE: Rule = Rule {
    id: "hook-bypass",
    summary: "a commit did not pass the gate (`--no-verify`, another hooks path)",
    docs: Docs {
        trips: "The newest iteration has no receipt of the pre-commit hook for its tree, or it was recorded \
                later because the hooks were off when it was made. Commits for which git runs no pre-commit \
                hook do not count.",
        why: "A person may have a reason, so locally it is a note. What reaches a shared branch must have \
              passed, so `andon check` treats it as an error.",
        source: "docs/spec-map.md: Loop rules, manual override; settled choice 6",
        example: "`git commit --no-verify`",
        tune: "`hook-bypass = { level = \"warn\" }`; `block_in_check = false` keeps the level in `andon \
               check`.",
    },
    level: Level::Note,
    reason: HaltReason::Stalled,
    face: Face::Checkpoint,
    about: About::of(EventClass::GateBypass),
    params: &[ParamSpec {
        name: "block_in_check",
        default: || ParamValue::Switch(true),
        min: 0,
        doc: "Whether `andon check` fails on it, whatever the level.",
    }],
    stages: &[Stage::PostCommit, Stage::Check],
    reads: Reads::Records,
    check,
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let newest = situation.timeline.newest()?;
    let by_name = newest.skipped.iter().find(|skip| skip.rule == Skip::GATE);
    let by_name = by_name.map(|skip| format!("did not pass the gate ({})", words::bounded(&skip.reason)));
    let how = match (newest.gate, newest.recording) {
        (Gate::Bypassed, _) => by_name.as_deref().unwrap_or("did not pass the gate (--no-verify)"),
        (Gate::NotRun, _) if by_name.is_some() => by_name.as_deref().unwrap_or_default(),
        (Gate::NotRun, Recording::CaughtUp) if newest.strike == Strike::Candidate => {
            "was made while the hooks were off and recorded later"
        }
        (
            Gate::NotRun | Gate::Passed,
            Recording::AtCommit | Recording::CaughtUp | Recording::Backfilled | Recording::Derived,
        ) => return None,
    };
    let level = match situation.stage {
        Stage::Check if switch(setting, "block_in_check") == Switch::On => setting.level.max(Level::Block),
        Stage::PreCommit
        | Stage::Halts
        | Stage::PostCommit
        | Stage::PrePush
        | Stage::Complete
        | Stage::Check
        | Stage::Replay
        | Stage::Turn
        | Stage::Event => setting.level,
    };
    Some(Finding {
        evidence: newest.commit.map(Evidence::Commit).into_iter().collect(),
        help: vec!["andon doctor  (which ways around the guard are open)".to_owned()],
        ..RULE.finding(level, format!("commit {} {how}", newest.name()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Stops;
    use crate::domain::facts::CommitKind::{self, Merge, Normal, Revert};
    use crate::history::testkit::{commit, timeline};

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
        use Recording::{AtCommit, CaughtUp};
        let table = [
            (Passed, AtCommit, Normal, false),
            (Bypassed, AtCommit, Normal, true),
            (NotRun, AtCommit, Revert, false),
            (NotRun, CaughtUp, Merge, false),
            (NotRun, CaughtUp, Normal, true),
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
        one.record().skipped = vec![Skip { rule: Skip::GATE.to_owned(), reason, agent: None }];
        let line = timeline(vec![one]);
        let situation = Situation {
            timeline: &line,
            stage: Stage::PostCommit,
            candidate: None,
            stops: Stops::NONE,
            episode: None,
        };
        let message = check(&situation, &RULE.defaults()).unwrap().message();
        assert!(
            message.ends_with("did not pass the gate (pre-commit was replaced by lefthook)"),
            "{message}"
        );
        assert!(!message.contains("no-verify"), "{message}");
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
