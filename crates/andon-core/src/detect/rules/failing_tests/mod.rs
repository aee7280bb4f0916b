//! `failing-tests`: the tests ran on this code, and some fail.

use std::collections::BTreeSet;

use crate::detect::prelude::*;
use crate::detect::situation::{CodeChange, EvidenceState, Origin};
use crate::domain::{DirtyBit, Hint, ScopeTests, TestEvidence, TestStatus, scopes::called};
use crate::history::{Outcome, failing_count, outcome, red_scopes};
use testreport::stable_id;

const BLOCK_COMMITS: Param<bool> = Param::off("block_commits");

/// `andon check` asks it about the tip; the demo waits for its warning.
pub static RULE: Rule = Rule {
    level: Level::Block,
    reason: HaltReason::RepeatedError,
    about: About { dirty: Some(DirtyBit::TestsPassing), ..About::new(EventClass::DirtyBit) },
    params: &[BLOCK_COMMITS.spec],
    stages: &[Stage::PreCommit, Stage::PrePush, Stage::Complete, Stage::Check],
    reads: RuleInput::Tree,
    ..Rule::of_iterations("failing-tests", include_str!("../failing_tests.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let candidate = situation.candidate?;
    if candidate.code_changed == CodeChange::Unchanged && situation.stage != Stage::Complete {
        return None;
    }
    let EvidenceState::Tested(tests) = &candidate.evidence else { return None };
    if outcome(tests) != Outcome::Red {
        return None;
    }
    let only_warns = situation.stage == Stage::PreCommit && !setting.switch(&BLOCK_COMMITS);
    let level = if only_warns { setting.level.min(Level::Warn) } else { setting.level };
    let by = match candidate.origin {
        Origin::MadeByGit => " in what git made this code of, and no run on it says otherwise",
        Origin::Recorded => ", by the record of the commit; a run that passed since is in no record",
        Origin::Work => "",
    };
    let found = RULE.finding(level, of_scopes(tests, &situation.timeline.flaky()) + by);
    let is_recorded = candidate.origin == Origin::Recorded;
    Some(Finding {
        evidence: vec![Evidence::Tests(tests.signature), Evidence::Code(tests.code)],
        // A record never gets better; the commit that an amend makes gets one with the newest run.
        help: if is_recorded { vec![Hint::AmendRed.into()] } else { found.help.clone() },
        ..found
    })
}

/// Scopes that are named with what fails in them.
const NAMED: usize = 5;

/// The failures, scope by scope.
fn of_scopes(tests: &TestEvidence, flaky: &BTreeSet<String>) -> String {
    let one = |scope: &ScopeTests| {
        format!("{}: {}", words::bounded(&called(&scope.name)), message(&scope.tests, flaky))
    };
    let mut red: Vec<String> = red_scopes(tests).map(one).collect();
    if red.is_empty() {
        return message(tests, flaky);
    }
    let more = red.len().saturating_sub(NAMED);
    red.truncate(NAMED);
    if more > 0 {
        red.push(format!("and {} more", words::count(more as u64, "scope")));
    }
    red.join("; ")
}

fn message(tests: &TestEvidence, flaky: &BTreeSet<String>) -> String {
    if let Some(failing) = failing_count(tests) {
        let known = |id: &&String| flaky.contains(&*stable_id(id)) || tests.flaky.contains(*id);
        let flaky: Vec<String> = tests.failing.iter().filter(known).cloned().collect();
        let (of, named) = (verb(tests.total.max(failing), failing), words::list(&tests.failing, failing));
        return format!("{failing} of {of}: {named}{}", words::flaky(&flaky));
    }
    match tests.status {
        TestStatus::BuildFailed => "this code does not build for its tests",
        TestStatus::RunnerError => {
            "the test command ended with an error on this code, though it named no failing test"
        }
        TestStatus::Passed
        | TestStatus::Failed
        | TestStatus::TimedOut
        | TestStatus::Crashed
        | TestStatus::NoTests
        | TestStatus::Incomplete => "the test command failed",
    }
    .to_owned()
}

/// `120 tests fail`, `1 test fails`: the verb goes with what fails.
fn verb(total: u64, failing: u64) -> String {
    format!("{} {}", words::count(total, "test"), if failing == 1 { "fails" } else { "fail" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::judged;
    use crate::domain::ParamValue;
    use crate::testkit::{green, other, red};

    fn level(tests: TestEvidence, changed: CodeChange, stage: Stage) -> Option<Level> {
        judged(&RULE, EvidenceState::Tested(Box::new(tests)), changed, stage).map(|finding| finding.level)
    }

    #[test]
    fn red_warns_at_commit_and_blocks_elsewhere() {
        use CodeChange::{Changed, Unchanged};
        let red = || red(1, &["a"], 9);
        assert_eq!(level(red(), Changed, Stage::PreCommit), Some(Level::Warn));
        for stage in [Stage::PrePush, Stage::Complete, Stage::Check] {
            assert_eq!(level(red(), Changed, stage), Some(Level::Block), "{stage:?}");
            assert_eq!(level(green(1, 9), Changed, stage), None, "{stage:?}");
        }
        assert_eq!(level(red(), Unchanged, Stage::PreCommit), None);
        assert_eq!(level(red(), Unchanged, Stage::PrePush), None);
        assert_eq!(level(red(), Unchanged, Stage::Complete), Some(Level::Block));
    }

    #[test]
    fn every_status_is_decided() {
        use TestStatus::{BuildFailed, Crashed, Failed, Incomplete, NoTests, Passed, RunnerError, TimedOut};
        for (status, trips) in [
            (Passed, false),
            (Failed, true),
            (BuildFailed, true),
            (RunnerError, true),
            (TimedOut, false),
            (Crashed, false),
            (NoTests, false),
            (Incomplete, false),
        ] {
            let found = level(other(1, status), CodeChange::Changed, Stage::PrePush);
            assert_eq!(found.is_some(), trips, "{status:?}");
        }
    }

    #[test]
    fn red_commits_can_be_blocked() {
        use crate::detect::testkit::judged_with;
        let state = EvidenceState::Tested(Box::new(red(1, &["a"], 9)));
        let param = [("block_commits", ParamValue::Switch(true))];
        let finding = judged_with(&RULE, state, Stage::PreCommit, &param);
        assert_eq!(finding.map(|finding| finding.level), Some(Level::Block));
    }

    #[test]
    fn the_message_counts_and_names() {
        let said = |tests| {
            judged(&RULE, EvidenceState::Tested(Box::new(tests)), CodeChange::Changed, Stage::Check)
                .map(|finding| finding.message())
                .unwrap_or_default()
        };
        assert_eq!(said(red(1, &["a", "b"], 9)), "2 of 9 tests fail: a, b");
        assert_eq!(said(red(1, &["a"], 9)), "1 of 9 tests fails: a");
        assert_eq!(said(red(1, &[], 0)), "the test command failed");
        assert_eq!(said(other(1, TestStatus::BuildFailed)), "this code does not build for its tests");
    }
}
