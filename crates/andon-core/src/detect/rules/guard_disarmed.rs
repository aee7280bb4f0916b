//! `guard-disarmed`: tool calls of an agent take away what guards the loop.

use crate::detect::prelude::*;

const TIMES: Param<u64> = Param::count("times", 2, 1);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About::new(EventClass::GateBypass).advising(AdvisedStep::ChangeApproach),
    params: &[TIMES.spec],
    ..Rule::of_events("guard-disarmed", include_str!("guard_disarmed.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let taken = &situation.timeline.activity.disarmed;
    let newest = taken.last()?;
    let times = words::len(taken);
    let enough = times >= setting.count(&TIMES).max(1);
    let level = if enough { setting.level } else { setting.level.min(Level::Warn) };
    let times = words::times(times);
    Some(RULE.finding(level, format!("tool calls took away what guards the loop {times}: {newest}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::asked_of;
    use crate::domain::EventKind;
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
