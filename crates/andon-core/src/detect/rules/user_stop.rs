//! `user-stop`: a person pulled the stop switch.

use crate::detect::prelude::*;
use crate::domain::facts::Presence;

/// The log of safety events names it for a stop switch that was set or removed.
pub static RULE: Rule = Rule {
    id: "user-stop",
    summary: ".andon/STOP or .andon/PAUSE exists",
    prose: include_str!("user_stop.md"),
    level: Level::Halt,
    reason: HaltReason::UserStop,
    about: About::new(EventClass::UserStop),
    stages: &[Stage::PreCommit, Stage::Halts, Stage::Complete],
    reads: RuleInput::Tree,
    check,
    ..Rule::OF_ITERATIONS
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let (files, message): (&[&str], &str) = match (situation.stops.stop, situation.stops.pause) {
        (Presence::Absent, Presence::Absent) => return None,
        (Presence::Present, Presence::Absent) => {
            (&[".andon/STOP"], ".andon/STOP exists: a person stopped this loop")
        }
        (Presence::Absent, Presence::Present) => {
            (&[".andon/PAUSE"], ".andon/PAUSE exists: this loop is paused")
        }
        (Presence::Present, Presence::Present) => (
            &[".andon/STOP", ".andon/PAUSE"],
            ".andon/STOP and .andon/PAUSE exist: a person stopped this loop",
        ),
    };
    let evidence = files.iter().map(|file| Evidence::Path((*file).to_owned())).collect();
    Some(Finding { evidence, ..RULE.finding(setting.level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Stops;
    use crate::{history::Timeline, testkit::GAP};

    #[test]
    fn either_file_stops() {
        use Presence::{Absent, Present};
        let timeline = Timeline::new(GAP);
        for (stop, pause, paths) in
            [(Absent, Absent, 0), (Present, Absent, 1), (Absent, Present, 1), (Present, Present, 2)]
        {
            let stops = Stops { stop, pause };
            let situation =
                Situation { timeline: &timeline, stage: Stage::Halts, candidate: None, stops, episode: None };
            let found = check(&situation, &RULE.defaults());
            assert_eq!(found.map_or(0, |finding| finding.evidence.len()), paths);
        }
    }
}
