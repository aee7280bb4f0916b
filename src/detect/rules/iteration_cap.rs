//! `iteration-cap`: the last line of defence, which asks nothing about progress.

use std::fmt;

use crate::detect::rule::{Docs, LOOP, Reads, Rule};
use crate::detect::situation::Situation;
use crate::domain::about::{About, Advice, EventClass};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};

pub(in crate::detect) const MAX: Param<u64> =
    Param::count("max", 100, 1, "Iterations since the last acknowledgement that halt the loop.");

/// Its limit is the second number of the badge `Loop 12/100`.
pub static RULE: Rule = Rule {
    id: "iteration-cap",
    summary: "100 iterations since the last answer",
    docs: Docs {
        trips: "The number of the newest iteration has reached `max`. It counts commits of every kind since \
                the last answer to a halt, within one run; an amend and the picks of a rebase keep the \
                number. Commits that no hook recorded belong to no known run, so they are not judged when \
                history is replayed.",
        why: "A bound on what a run can cost when no other rule sees anything.",
        source: "docs/spec-map.md: Loop rules, iteration cap; settled choice 5",
        example: "The 100th commit halts the loop: \"Reached iteration cap: 100/100\".",
        tune: "`iteration-cap = { max = 200 }`",
    },
    level: Level::Halt,
    reason: HaltReason::BudgetExceeded,
    report_file: ReportFile::Checkpoint,
    about: About { advice: Advice::RaiseMax, ..About::of(EventClass::IterationCap) },
    params: &[MAX.spec],
    stages: LOOP,
    reads: Reads::Totals,
    check,
};

/// A run that has reached its cap.
#[derive(Debug)]
struct Cap {
    iteration: u64,
    max: u64,
}

impl Found for Cap {}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reached iteration cap: {}/{}", self.iteration, self.max)
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let newest = situation.timeline.newest()?;
    let max = setting.count(&MAX);
    // Where nobody watched, nobody knows which commits were one run.
    if newest.number < max || !newest.recording.is_by_hook() {
        return None;
    }
    Some(Finding {
        evidence: newest.commit.map(Evidence::Commit).into_iter().collect(),
        help: vec!["look at what the run has achieved: andon status".to_owned()],
        ..RULE.finding(setting.level, Cap { iteration: newest.number, max })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::facts::Recording;
    use crate::domain::settings::ParamValue;
    use crate::history::testkit::commit;

    #[test]
    fn the_hundredth_trips() {
        for (number, trips) in [(2, false), (99, false), (100, true), (101, true), (u64::MAX, true)] {
            assert_eq!(checked(&RULE, vec![commit(1).number(number)]).is_some(), trips, "{number}");
        }
        assert!(checked(&RULE, vec![]).is_none());
    }

    #[test]
    fn commits_that_nobody_recorded_are_of_no_run() {
        let derived = |recording| checked(&RULE, vec![commit(1).number(200).recording(recording)]).is_some();
        assert!(!derived(Recording::Derived) && !derived(Recording::Backfilled));
        assert!(derived(Recording::CaughtUp));
    }

    #[test]
    fn the_cap_is_a_parameter() {
        let with = |max| checked_with(&RULE, vec![commit(1), commit(2)], &[("max", ParamValue::Count(max))]);
        assert_eq!(with(2).map(|finding| finding.message()).as_deref(), Some("Reached iteration cap: 2/2"));
        assert!(with(3).is_none());
    }
}
