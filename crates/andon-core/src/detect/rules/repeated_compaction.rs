//! `repeated-compaction`: the context is compacted again and again, and nothing is done in between.

use crate::detect::prelude::*;

const TIMES: Param<u64> = Param::total("times", 5, 2);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About::nested(EventClass::Stall, RuleSubject::Compactions).advising(AdvisedStep::TightenContext),
    params: &[TIMES.spec],
    ..Rule::of_events("repeated-compaction", include_str!("repeated_compaction.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let activity = &situation.timeline.activity;
    let times = activity.compactions.running(activity.epoch);
    if times < setting.count(&TIMES).max(2) {
        return None;
    }
    let times = words::in_a_row(times);
    let message = format!("the context was compacted {times}, with no edit and no commit in between");
    Some(RULE.finding(setting.level, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{EventKind, Fact, ParamValue, Renewal};
    use crate::testkit::{ack, call, commit, event, folded, turn_end};

    fn compaction() -> Fact {
        event(EventKind::Renewed(Renewal::Compaction))
    }

    fn halts(facts: Vec<Fact>) -> bool {
        asked_of(&RULE, &folded(facts)).is_some()
    }

    #[test]
    fn five_in_vain_halt() {
        assert!(!halts(vec![compaction(); 4]));
        assert!(halts(vec![compaction(); 5]));
        let finding = asked_of(&RULE, &folded(vec![compaction(); 10])).unwrap();
        assert_eq!(
            finding.message(),
            "the context was compacted 10 times in a row, with no edit and no commit in between"
        );
        let four = [("times", ParamValue::Count(4))];
        assert!(asked_with(&RULE, &folded(vec![compaction(); 4]), &four).is_some());
    }

    #[test]
    fn work_and_answers_begin_anew_and_looking_around_does_not() {
        let with =
            |between: Vec<Fact>| halts([vec![compaction(); 4], between, vec![compaction(); 4]].concat());
        assert!(with(vec![event(EventKind::ToolCall(call("Read", 1, Some(1))))]));
        assert!(with(vec![turn_end(1)]), "nothing is known to have changed");
        assert!(!with(vec![event(EventKind::ToolCall(call("Edit", 1, Some(1))))]));
        assert!(!with(vec![commit(1).fact()]));
        assert!(!with(vec![ack(1)]));
        let session = || event(EventKind::Renewed(Renewal::SessionStart));
        assert!(with(vec![session()]), "a session is no work");
        let after_each = [compaction(), session()];
        assert!(halts(after_each.iter().cycle().take(9).cloned().collect()));
        assert!(!with(vec![event(EventKind::ToolCall(call("Edit", 1, Some(1)))), session()]));
    }
}
