//! A tip on which the tests fail.

use super::{Case, CommitRef, Diagnostic, Examined, level_of, violation};
use crate::detect;
use crate::domain::findings::Level;
use crate::domain::tests::TestEvidence;

/// The tests of the tip's code must pass. Commits on the way may fail: that is how tests drive work.
pub(super) fn tip(case: &Case<'_>, examined: &Examined) -> Option<Diagnostic> {
    let tip = examined.commits().last()?.id;
    if level_of(case, &detect::FAILING_TESTS) == Level::Off {
        return None;
    }
    let code = examined.code(tip)?;
    let tests = examined.tested().filter_map(|fact| fact.record.tests).find(|tests| tests.code == code)?;
    (!tests.is_green()).then(|| failing(examined.at(tip), &tests))
}

fn failing(tip: CommitRef, tests: &TestEvidence) -> Diagnostic {
    let named: Vec<&str> = tests.failing.iter().take(3).map(String::as_str).collect();
    let which = if named.is_empty() { String::new() } else { format!(", first: {}", named.join(", ")) };
    let message = format!(
        "the tests of this code do not pass: {}, {} of {} failing{which}",
        tests.status.as_str(),
        tests.counts.failing(),
        tests.counts.total
    );
    violation(Some(tip), detect::FAILING_TESTS.id, Level::Block, message, "andon test")
}
