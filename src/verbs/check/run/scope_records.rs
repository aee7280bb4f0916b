//! Records whose tests are those of scopes: the scopes of the left side say which of them the commit needs.

use super::Case;
use andon_core::domain::scopes::called;
use andon_core::domain::tests::TestEvidence;
use andon_engine::error::OpsError;
use andon_engine::evidence::scopes::{self, ScopeCode};
use andon_git::CommitInfo;
use andon_store::fingerprint::Content;

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
    if case.config.test.scopes.settings.is_empty() {
        // What one commit of a range calls a scope binds none before it; at the tip everything has to run at once.
        let begins = is_tip && !case.stands_in();
        return Ok(begins.then(|| {
            "scopes begin in this range, and not all tests ran at once (andon test --all)".to_owned()
        }));
    }
    let parent = commit.parents.first().filter(|_| !is_tip);
    let before = parent.map(|parent| case.repo.tree_of(*parent)).transpose()?;
    let codes = scopes::codes(case.repo, case.config, Content::Tree(commit.tree), before)?;
    let ran = |scope: &ScopeCode| {
        let row = tests.of_scope(&scope.name);
        row.is_some_and(|row| row.tests.code == scope.code && scopes::is_tested(&row.tests))
    };
    let missing = codes.iter().filter(|scope| scope.touched && !ran(scope));
    let missing: Vec<String> = missing.map(|scope| called(&scope.name)).collect();
    Ok((!missing.is_empty()).then(|| format!("the tests of {} did not run on its code", missing.join(", "))))
}
