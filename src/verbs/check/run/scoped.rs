//! Records whose tests are those of scopes: the scopes of the left side say which of them the commit needs.

use super::Case;
use andon_core::domain::ids::CodeId;
use andon_core::domain::scopes::{REST, called};
use andon_core::domain::tests::TestEvidence;
use andon_core::history::{Outcome, outcome};
use andon_engine::error::OpsError;
use andon_git::CommitInfo;
use andon_store::fingerprint::{Content, Fingerprinter};

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
    let views: Vec<_> = names.iter().filter_map(|name| scopes.view(name)).collect();
    let views: Vec<_> = views.iter().collect();
    let mut prints = Fingerprinter::new(case.repo, &case.config.paths.rules);
    let then = before.map_or(Content::Overlay(None, &[]), Content::Tree);
    let codes = prints
        .of_scopes(Content::Tree(commit.tree), &views)?
        .into_iter()
        .zip(prints.of_scopes(then, &views)?);
    let ran = |tests: &TestEvidence| matches!(outcome(tests), Outcome::Green | Outcome::Red);
    let is_missing = |(name, (code, then)): (&str, (CodeId, CodeId))| {
        let row = tests.of_scope(name).filter(|row| row.tests.code == code && ran(&row.tests));
        (code != then && row.is_none()).then(|| called(name))
    };
    let missing: Vec<String> = names.into_iter().zip(codes).filter_map(is_missing).collect();
    Ok((!missing.is_empty()).then(|| format!("the tests of {} did not run on its code", missing.join(", "))))
}
