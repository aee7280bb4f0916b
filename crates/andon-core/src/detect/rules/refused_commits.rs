//! `refused-commits`: commits are refused one after another for untested code, and the tests are not run.

use crate::detect::prelude::*;

const MAX: Param<u64> = Param::total("max", 5, 2);
const WARN: Param<u64> = Param::total("warn", 2, 1);

/// The gate asks it when it refuses a commit, so that the refusal that is one too many halts.
pub static RULE: Rule = Rule {
    about: About::nested(EventClass::Stall, RuleSubject::Iterations).advising(AdvisedStep::ChangeApproach),
    params: &[MAX.spec, WARN.spec],
    ..Rule::of_events("refused-commits", include_str!("refused_commits.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let refusals = &situation.timeline.activity.refusals;
    let times = refusals.times;
    let level = if times >= setting.count(&MAX) {
        setting.level
    } else if times >= setting.count(&WARN) {
        setting.level.min(Level::Warn)
    } else {
        return None;
    };
    let newest = refusals.newest.as_ref()?;
    let verb = if times == 1 { "was" } else { "were" };
    let message = format!(
        "{} in a row {verb} refused for untested code, each with new code, with no whole run of the tests in between",
        words::count(times, "commit")
    );
    Some(Finding { evidence: vec![Evidence::Code(newest.code)], ..RULE.finding(level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{CommitRefused, EventKind, Fact, ParamValue, RunValidity, TestStatus};
    use crate::testkit::{ack, code, commit, event, folded, green, other, run};

    fn refused(state: u8) -> Fact {
        event(EventKind::Refused(CommitRefused {
            code: code(state),
            tree: None,
            rule: "untested-edit".to_owned(),
        }))
    }

    fn level(facts: Vec<Fact>) -> Option<Level> {
        asked_of(&RULE, &folded(facts)).map(|finding| finding.level)
    }

    fn ran(validity: RunValidity) -> Fact {
        let mut made = run(green(9, 3));
        made.validity = validity;
        Fact::TestRun(Box::new(made))
    }

    #[test]
    fn two_warn_and_five_halt() {
        for (times, expected) in [
            (0, None),
            (1, None),
            (2, Some(Level::Warn)),
            (4, Some(Level::Warn)),
            (5, Some(Level::Halt)),
            (30, Some(Level::Halt)),
        ] {
            assert_eq!(level((1..=times).map(refused).collect()), expected, "{times}");
        }
        let five = || folded((1..=5).map(refused).collect());
        assert_eq!(
            asked_with(&RULE, &five(), &[("max", ParamValue::Count(6))]).map(|it| it.level),
            Some(Level::Warn)
        );
        assert!(
            asked_with(&RULE, &five(), &[("max", ParamValue::Count(9)), ("warn", ParamValue::Count(6))])
                .is_none()
        );
    }

    #[test]
    fn the_same_code_is_the_same_attempt() {
        assert_eq!(level(vec![refused(1); 30]), None);
        assert_eq!(level([1, 1, 2, 2, 3, 3, 4, 4].map(refused).to_vec()), Some(Level::Warn));
        assert_eq!(
            level([1, 2, 1, 2, 1].map(refused).to_vec()),
            Some(Level::Halt),
            "back and forth is new each time"
        );
    }

    #[test]
    fn a_commit_a_run_and_an_answer_begin_anew() {
        let failed = Fact::TestRun(Box::new(run(other(9, TestStatus::BuildFailed))));
        let mut bypassed = commit(9);
        bypassed.record().gate = crate::domain::Gate::Bypassed;
        let table = [
            ("a commit", commit(9).fact(), None),
            ("a commit past the gate", bypassed.fact(), Some(Level::Halt)),
            ("a run", ran(RunValidity::Valid), None),
            ("a run of which the build failed", failed, None),
            ("a run that was interrupted", ran(RunValidity::Interrupted), None),
            ("an answer", ack(1), None),
            ("another command", ran(RunValidity::OtherCommand), Some(Level::Halt)),
            ("a run that was handed in", ran(RunValidity::HandedIn), Some(Level::Halt)),
            ("a run that never started", ran(RunValidity::NotStarted), Some(Level::Halt)),
        ];
        for (name, between, expected) in table {
            let facts = (1..=4).map(refused).chain([between, refused(5)]).collect();
            assert_eq!(level(facts), expected, "{name}");
        }
    }
}
