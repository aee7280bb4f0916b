//! The scopes of a commit whose tests its record does not tell of.

use super::{Case, source};
use andon_config::{self as config, Config};
use andon_core::domain::{Hint, TestEvidence, scopes::called};
use andon_engine::Result;
use andon_engine::evidence::{Demand, ScopeCode, ScopeState, scopes};
use andon_git::CommitInfo;
use andon_store::Content;

/// Scopes without evidence.
pub(super) struct MissingScopes {
    /// They, in words.
    pub(super) said: String,
    /// Green tests of the tip would do.
    pub(super) tip_decides: bool,
}

/// The scopes without evidence in `tests`: of those that the commit touches, at the tip of all. `None` where nothing is missing.
/// Once the tests of the tip passed, with the command of the base, the commit counts by the scopes that it knows itself.
///
/// # Errors
/// Trees that are not here.
pub(super) fn missing_scopes(
    case: &Case<'_>,
    commit: &CommitInfo,
    tests: &TestEvidence,
) -> Result<Option<MissingScopes>> {
    // A run of everything speaks for each scope.
    if tests.command != TestEvidence::OF_SCOPES {
        return Ok(None);
    }
    let is_tip = commit.id == case.tip;
    if case.config.test.scopes.settings.is_empty() {
        // A scope that one commit of a range names binds none before it; at the tip everything has to run at once.
        let begins = is_tip && !case.stands_in();
        let said = format!("scopes begin in this range, and not all tests ran at once ({})", Hint::TestAll);
        return Ok(begins.then_some(MissingScopes { said, tip_decides: true }));
    }
    let parent = commit.parents.first().map(|parent| case.repo.tree_of(*parent)).transpose()?;
    let of_itself = Demand::Commit(parent);
    let by_itself = || {
        let own = source(case.repo, commit.id)?.and_then(|own| config::load(&[own]).ok());
        lacking(case, own.as_ref().unwrap_or(case.config), commit, tests, of_itself)
    };
    let missing = if case.stands_in() {
        by_itself()?
    } else {
        lacking(case, case.config, commit, tests, if is_tip { Demand::Everything } else { of_itself })?
    };
    if missing.is_empty() {
        return Ok(None);
    }
    let tip_decides = !case.stands_in() && by_itself()?.is_empty();
    let said = format!("the tests of {} did not run on its code", missing.join(", "));
    Ok(Some(MissingScopes { said, tip_decides }))
}

fn lacking(
    case: &Case<'_>,
    config: &Config,
    commit: &CommitInfo,
    tests: &TestEvidence,
    demand: Demand,
) -> Result<Vec<String>> {
    let state = |scope: ScopeCode| {
        let found = tests.of_scope(&scope.name).filter(|row| row.tests.code == scope.code).cloned();
        ScopeState { scope, found }
    };
    let codes = scopes::codes(case.repo, config, Content::Tree(commit.tree), demand)?;
    let states: Vec<ScopeState> = codes.into_iter().map(state).collect();
    let missing = scopes::lacking(config, &states, demand).into_iter();
    Ok(missing.map(|state| called(&state.scope.name)).collect())
}
