//! What the records of the range say of tests: code that nobody ran them on, and a tip on which they fail.

use super::{Case, CommitRef, Looked, Violation, at, level_of, overrides, violation};
use crate::config::HandedIn;
use crate::domain::facts::{CommitKind, CommitRecord};
use crate::domain::findings::Level;
use crate::domain::ids::{CodeId, CommitId};
use crate::domain::tests::{RunOrigin, TestEvidence};
use crate::git::CommitInfo;
use crate::ops::error::OpsError;
use crate::record::fingerprint::Fingerprinter;

/// Code that nobody ran the tests on. Merges, reverts, picks and rebases pass no gate: there it is a warning.
pub(super) fn untested(
    (case, looked): (&Case<'_>, &Looked),
    commit: &CommitInfo,
    record: &CommitRecord,
) -> Result<Option<Violation>, OpsError> {
    let level = level_of(case, "untested-edit");
    let skipped = overrides::passes_over(&record.skipped, "untested-edit");
    if level < Level::Warn || case.config.test.command.is_none() || skipped {
        return Ok(None);
    }
    let handed_in = match &record.tests {
        None => false,
        Some(tests) if tests.caveats.origin == RunOrigin::Here => return Ok(None),
        Some(_) if case.config.test.handed_in == HandedIn::Count => return Ok(Some(by_word(commit))),
        Some(_) => true,
    };
    let before = match commit.parents.first() {
        Some(parent) => looked.code(*parent).map_or_else(|| code_of(case, *parent), Ok)?,
        None => Fingerprinter::new(case.repo, &case.config.paths.rules).of_overlay(None, &[])?,
    };
    if before == record.code {
        return Ok(None);
    }
    let strike = matches!(record.kind, CommitKind::Normal | CommitKind::Amend);
    let level = if strike { level.min(Level::Block) } else { Level::Warn };
    let message = if handed_in {
        "the code changed, and its test run was handed in, which the base does not let count (test.handed_in)"
    } else {
        "the code changed, and no test run on exactly this code is recorded"
    };
    let message = message.to_owned();
    Ok(Some(violation(Some(at(commit)), "untested-code", level, message, "andon test, then commit")))
}

/// A run that was handed in and counts is named all the same.
fn by_word(commit: &CommitInfo) -> Violation {
    let message = "the tests of this commit were handed in: what ran is somebody's word".to_owned();
    let help = format!("andon show {}", commit.id.short());
    violation(Some(at(commit)), "handed-in-tests", Level::Note, message, &help)
}

fn code_of(case: &Case<'_>, commit: CommitId) -> Result<CodeId, OpsError> {
    let mut prints = Fingerprinter::new(case.repo, &case.config.paths.rules);
    Ok(prints.of_tree(case.repo.tree_of(commit)?)?)
}

/// The tests of the tip's code must pass. Commits on the way may fail: that is how tests drive work.
pub(super) fn tip(case: &Case<'_>, looked: &Looked) -> Option<Violation> {
    let tip = looked.commits().last()?.id;
    if level_of(case, "failing-tests") == Level::Off {
        return None;
    }
    let code = looked.code(tip)?;
    let tests = looked.tested().filter_map(|fact| fact.record.tests).find(|tests| tests.code == code)?;
    (!tests.is_green()).then(|| failing(looked.at(tip), &tests))
}

fn failing(tip: CommitRef, tests: &TestEvidence) -> Violation {
    let named: Vec<&str> = tests.failing.iter().take(3).map(String::as_str).collect();
    let which = if named.is_empty() { String::new() } else { format!(", first: {}", named.join(", ")) };
    let message = format!(
        "the tests of this code do not pass: {}, {} of {} failing{which}",
        tests.status.as_str(),
        tests.counts.failing(),
        tests.counts.total
    );
    violation(Some(tip), "failing-tests", Level::Block, message, "andon test")
}
