//! `guard-disarmed`: tool calls of an agent take away what guards the loop.

use std::fmt;

use crate::detect::rule::{ANY_EVENT, Docs, Rule, RuleInput};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, Advice, EventClass};
use crate::domain::detail::FindingDetail;
use crate::domain::findings::{Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};
use crate::domain::suggestion::AdvisedStep;

pub(in crate::detect) const TIMES: Param<u64> =
    Param::count("times", 2, 1, "Tool calls that took something away since the newest answer.");

pub(in crate::detect) static RULE: Rule = Rule {
    id: "guard-disarmed",
    summary: "a tool call took away hooks, settings or the file of a halt, for the second time",
    docs: || Docs {
        trips: "Before and after each tool call the hooks of an agent's client compare what guards the loop: where git looks for \
                hooks and whether they start Andon, the client's settings, the files of a halt, and the refs of records and of the \
                ledger. What a call took away is put back where that is safe, and reported. `times` such calls since the newest answer \
                halt the loop; one warns.",
        why: "A command can be written in a thousand ways; its effect on the guard cannot be hidden. The first \
              time may be a mistake while cleaning up; an agent that does it again after the warning works against \
              its guard.",
        source: "docs/spec-map.md: Loop safety, emergency stop",
        example: "`rm -rf .git/hooks` in a cleaning script: the hooks are put back and the model is informed. The same once more halts.",
        tune: "`guard-disarmed = { times = 1 }`",
    },
    level: Level::Halt,
    reason: HaltReason::RepeatedError,
    report_file: ReportFile::Checkpoint,
    about: About {
        advice: Advice::Own(
            AdvisedStep::ChangeApproach,
            "find out which command it was, and keep the agent from it",
        ),
        ..About::new(EventClass::GateBypass)
    },
    params: &[TIMES.spec],
    stages: ANY_EVENT,
    reads: RuleInput::Totals,
    check,
};

/// What was taken away.
#[derive(Debug)]
struct Removals {
    times: u64,
    newest: String,
}

impl FindingDetail for Removals {}

impl fmt::Display for Removals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool calls took away what guards the loop {}: {}", words::times(self.times), self.newest)
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let taken = &situation.timeline.activity.disarmed;
    let newest = taken.last()?.clone();
    let times = words::len(taken);
    let enough = times >= setting.count(&TIMES).max(1);
    let level = if enough { setting.level } else { setting.level.min(Level::Warn) };
    Some(RULE.finding(level, Removals { times, newest }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::asked_of;
    use crate::domain::events::EventKind;
    use crate::testkit::{ack, event, folded};

    #[test]
    fn the_second_one_halts() {
        let taken = || event(EventKind::Disarmed("hooks".to_owned()));
        let level = |facts| asked_of(&RULE, &folded(facts)).map(|found| found.level);
        assert_eq!(level(vec![]), None);
        assert_eq!(level(vec![taken()]), Some(Level::Warn));
        assert_eq!(level(vec![taken(), taken()]), Some(Level::Halt));
        assert_eq!(level(vec![taken(), ack(5), taken()]), Some(Level::Warn), "an answer begins anew");
    }
}
