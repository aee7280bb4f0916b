//! `repeated-error`: the tests fail with the very error they failed with before.

use crate::detect::{attempts::attempts, prelude::*};

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Note,
    reason: HaltReason::RepeatedError,
    report_file: ReportFile::BlockerReport,
    about: About::new(EventClass::NoProgress),
    ..Rule::of_iterations("repeated-error", include_str!("repeated_error.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let attempts = attempts(situation.timeline);
    let mut shown = attempts.iter().rev().filter(|attempt| attempt.iteration.tests.is_some());
    let newest = shown.next()?.iteration;
    let before = shown.next()?.iteration;
    let errors = newest.tests.as_ref()?.errors?;
    let repeats = before.tests.as_ref().and_then(|tests| tests.errors) == Some(errors);
    // Said at the iteration that shows it, not again at those after it.
    let is_newest = situation.timeline.newest().is_some_and(|last| last.number == newest.number);
    let known = newest.tests.as_ref().is_some_and(|tests| situation.timeline.is_known_red(tests));
    if !repeats || !is_newest || known || newest.code == before.code {
        return None;
    }
    let evidence = vec![Evidence::Text(format!("errors {errors}"))];
    Some(Finding { evidence, ..RULE.finding(setting.level, "the tests fail with the same error as before") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::checked;
    use crate::domain::Signature;
    use crate::testkit::{Commit, commit, green, red};

    fn failing(state: u8, error: Option<u8>) -> Commit {
        let mut tests = red(state, &["a"], 9);
        tests.errors = error.map(|error| Signature([error; 32]));
        commit(state).tests(tests)
    }

    #[test]
    fn the_same_error_on_other_code_is_noted() {
        let table: Vec<(&str, Vec<Commit>, bool)> = vec![
            ("once", vec![failing(1, Some(7))], false),
            ("twice", vec![failing(1, Some(7)), failing(2, Some(7))], true),
            ("another", vec![failing(1, Some(7)), failing(2, Some(8))], false),
            ("unknown", vec![failing(1, None), failing(2, None)], false),
            ("the same code", vec![failing(1, Some(7)), failing(1, Some(7)).subject("docs")], false),
            (
                "mended in between",
                vec![failing(1, Some(7)), commit(2).tests(green(2, 9)), failing(3, Some(7))],
                false,
            ),
            ("untested since", vec![failing(1, Some(7)), failing(2, Some(7)), commit(3)], false),
        ];
        for (name, commits, expected) in table {
            assert_eq!(checked(&RULE, commits).is_some(), expected, "{name}");
        }
    }
}
