//! `user-stop`: a person pulled the stop switch.

use crate::detect::{Stops, prelude::*};
use crate::domain::Presence;

/// The log of safety events names it for a stop switch that was set or removed.
pub static RULE: Rule = Rule {
    reason: HaltReason::UserStop,
    about: About::new(EventClass::UserStop),
    stages: &[Stage::PreCommit, Stage::Halts, Stage::Complete],
    reads: RuleInput::Tree,
    ..Rule::of_iterations("user-stop", include_str!("user_stop.md"), check)
};

/// Each state of the switches with what is said of it.
const SAID: [(Stops, &str); 3] = {
    use Presence::{Absent, Present};
    [
        (Stops { stop: Present, pause: Absent }, ".andon/STOP exists: a person stopped this loop"),
        (Stops { stop: Absent, pause: Present }, ".andon/PAUSE exists: this loop is paused"),
        (
            Stops { stop: Present, pause: Present },
            ".andon/STOP and .andon/PAUSE exist: a person stopped this loop",
        ),
    ]
};

/// The switches that the message of a halt of this rule names.
pub fn named(message: &str) -> Stops {
    SAID.iter().find(|(_, said)| message.starts_with(said)).map_or(Stops::NONE, |(stops, _)| *stops)
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let (stops, message) = SAID.iter().find(|(stops, _)| *stops == situation.stops)?;
    let evidence = stops.files().iter().map(|file| Evidence::Path(format!(".andon/{file}"))).collect();
    Some(Finding { evidence, ..RULE.finding(setting.level, *message) })
}

#[cfg(test)]
mod tests {
    use super::*;
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
            assert_eq!(found.as_ref().map_or(0, |finding| finding.evidence.len()), paths);
            assert_eq!(named(&found.map_or_else(String::new, |finding| finding.message())), stops);
        }
    }
}
