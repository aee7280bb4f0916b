//! Records whose tests are those of scopes: the scopes of the left side say which of them the commit needs.

use super::Case;
use andon_core::domain::scopes::{REST, called};
use andon_core::domain::tests::TestEvidence;
use andon_core::history::{Outcome, outcome};
use andon_engine::error::OpsError;
use andon_git::CommitInfo;
use andon_store::fingerprint::Fingerprinter;

/// The scopes without evidence in `tests`, in words: of those that the commit touches, at the tip of all. `None` where
/// nothing is missing.
///
/// # Errors
/// Trees that are not here.
pub(super) fn missing(
    case: &Case<'_>,
    commit: &CommitInfo,
    tests: &TestEvidence,
) -> Result<Option<String>, OpsError> {
    // A run of everything speaks for each scope.
    if tests.command != TestEvidence::OF_SCOPES {
        return Ok(None);
    }
    let is_tip = commit.id == case.tip;
    let scopes = &case.config.test.scopes.scopes;
    if scopes.is_empty() {
        // What one commit of a range calls a scope binds none before it; at the tip everything has to run at once.
        let begins = is_tip && !case.stands_in();
        return Ok(begins.then(|| {
            "scopes begin in this range, and not all tests ran at once (andon test --all)".to_owned()
        }));
    }
    let parent = commit.parents.first().filter(|_| !is_tip);
    let before = parent.map(|parent| case.repo.tree_of(*parent)).transpose()?;
    let rest = case.config.test.command.as_ref().map(|_| REST);
    let names: Vec<&str> = rest.into_iter().chain(scopes.in_order()).collect();
    let views = names.iter().filter_map(|name| scopes.view(name));
    let rules: Vec<_> = views.map(|view| case.config.paths.rules.of_scope(view)).collect();
    let mut prints = Fingerprinter::new(case.repo, &case.config.paths.rules);
    let mut missing = Vec::new();
    for (name, rules) in names.into_iter().zip(&rules) {
        prints.go_by(rules);
        let code = prints.of_tree(commit.tree)?;
        let then = match before {
            Some(before) => prints.of_tree(before)?,
            None => prints.of_overlay(None, &[])?,
        };
        let ran = |tests: &TestEvidence| matches!(outcome(tests), Outcome::Green | Outcome::Red);
        let row = tests.of_scope(name).filter(|row| row.tests.code == code && ran(&row.tests));
        if code != then && row.is_none() {
            missing.push(called(name));
        }
    }
    Ok((!missing.is_empty()).then(|| format!("the tests of {} did not run on its code", missing.join(", "))))
}
