//! Evidence where the code has scopes (`[test.scopes]`): a result belongs to a scope and its fingerprint, wherever the tests ran.

use super::{Asked, Subject, results, without_evidence};
use crate::{OpsError, Result, Workspace, evidence::untracked, recording::LoadedTimeline};
use andon_config::{Config, TestCommand};
use andon_core::detect::EvidenceState;
use andon_core::domain::{CodeId, REST, ScopeTests, ScopeView, SharedPath, TestEvidence, TestRun, TreeId};
use andon_core::history::{Outcome, outcome};
use andon_git::Repo;
use andon_store::{Content, Fingerprinter};

/// The tests that a door asks for.
#[derive(Debug, Clone, Copy)]
pub enum Demand {
    /// The tests of what differs from this tree, or of all without one; not those that are left to the push.
    Commit(Option<TreeId>),
    /// All tests of the code.
    Everything,
}

impl Demand {
    /// The tree that the code is compared with.
    pub(super) fn before(self) -> Option<TreeId> {
        match self {
            Self::Commit(before) => before,
            Self::Everything => None,
        }
    }
}

/// The fingerprint of one scope of some code.
#[derive(Debug, Clone)]
pub struct ScopeCode {
    /// Its name; [`REST`] for code in no scope.
    pub name: String,
    /// Its fingerprint.
    pub code: CodeId,
    /// Its tests are asked for: the code differs from that before in something that they read.
    pub touched: bool,
}

/// The scopes of `config` in an order in which each comes after what it needs; the code in no scope first, where
/// `test.command` tests it.
///
/// # Errors
/// Trees that are not here.
pub fn codes(repo: &Repo, config: &Config, content: Content<'_>, demand: Demand) -> Result<Vec<ScopeCode>> {
    let scopes = &config.test.scopes.scopes;
    let rest = config.test.command.as_ref().map(|_| REST);
    let names = rest.into_iter().chain(scopes.in_order());
    let views: Vec<ScopeView> = names.filter_map(|name| scopes.view(name)).collect();
    let views: Vec<&ScopeView> = views.iter().collect();
    let mut prints = Fingerprinter::new(repo, &config.paths.rules);
    let now = prints.of_scopes(content, &views)?;
    let then =
        prints.of_scopes(demand.before().map_or(Content::Overlay(None, &[]), Content::Tree), &views)?;
    let one = |(view, (code, then)): (&&ScopeView, (CodeId, CodeId))| ScopeCode {
        name: view.name().to_owned(),
        code,
        touched: code != then
            && (matches!(demand, Demand::Everything) || config.is_asked_at_commit(view.name())),
    };
    Ok(views.iter().zip(now.into_iter().zip(then)).map(one).collect())
}

/// One scope of some code, and what is known of its tests.
#[derive(Debug, Clone)]
pub struct ScopeState {
    pub scope: ScopeCode,
    /// The result of its tests on exactly this code, where one is known.
    pub found: Option<ScopeTests>,
}

impl ScopeState {
    /// True if its tests passed on exactly this code.
    pub fn is_green(&self) -> bool {
        self.found.as_ref().is_some_and(|row| row.tests.is_green())
    }

    fn is_red(&self) -> bool {
        self.found.as_ref().is_some_and(|row| outcome(&row.tests) == Outcome::Red)
    }
}

/// The scopes whose tests are asked for and did not run to their end. What needs a scope that is red waits for its repair: a
/// commit does not ask for it.
pub fn lacking<'s>(config: &Config, states: &'s [ScopeState], demand: Demand) -> Vec<&'s ScopeState> {
    let is_red = |name: &&str| states.iter().any(|state| state.scope.name == **name && state.is_red());
    let waits = |name: &str| {
        matches!(demand, Demand::Commit(_)) && config.test.scopes.scopes.needed_by(name).iter().any(is_red)
    };
    let lacks = |state: &&ScopeState| {
        let tested = state.found.as_ref().is_some_and(|row| is_tested(&row.tests));
        state.scope.touched && !tested && !waits(&state.scope.name)
    };
    states.iter().filter(lacks).collect()
}

/// True if tests ran to their end, passed or failed.
pub(super) fn is_tested(tests: &TestEvidence) -> bool {
    matches!(outcome(tests), Outcome::Green | Outcome::Red)
}

/// All scopes of the code that `subject` is ([`codes`]).
///
/// # Errors
/// Trees that are not here.
pub fn states(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    subject: &Subject,
    demand: Demand,
) -> Result<Vec<ScopeState>> {
    let mut states = Vec::new();
    for scope in codes(&ws.repo, &ws.config, subject.content(), demand)? {
        let asked = Asked { ws, loaded, subject, code: scope.code };
        let found = match results::of_scope(ws, loaded, scope.code) {
            None if scope.touched => before_add(asked, &scope)?,
            found => found,
        };
        states.push(ScopeState { scope, found });
    }
    Ok(states)
}

/// The results that are known, for [`TestEvidence::together`].
pub fn rows(states: &[ScopeState]) -> Vec<ScopeTests> {
    states.iter().filter_map(|state| state.found.clone()).collect()
}

/// The result of a run that was made when some files of the code were not tracked yet and bound nothing.
fn before_add(asked: Asked<'_>, scope: &ScopeCode) -> Result<Option<ScopeTests>> {
    let Some(own) = asked.ws.of_scope(&scope.name) else { return Ok(None) };
    let has = |run: &TestRun| run.evidence.of_scope(&scope.name).is_some();
    let run = untracked::newest_before_add(Asked { ws: &own, ..asked }, has)?;
    let row = run.and_then(|(run, _)| run.evidence.of_scope(&scope.name).cloned());
    Ok(row.map(|row| ScopeTests { tests: TestEvidence { code: scope.code, ..row.tests }, ..row }))
}

/// The state of the evidence for the whole code. `whole` is the newest run of all tests at once on it: a pass
/// speaks for each scope, a failure for none.
///
/// # Errors
/// Trees that are not here.
pub(super) fn state(asked: Asked<'_>, demand: Demand, whole: Option<TestEvidence>) -> Result<EvidenceState> {
    let Asked { ws, loaded, subject, code } = asked;
    if let Some(found) = changed_in_two(ws, subject, demand.before())? {
        return Ok(EvidenceState::InTwoScopes(Box::new(found)));
    }
    let whole = match whole {
        Some(tests) if tests.is_green() => return Ok(EvidenceState::Tested(Box::new(tests))),
        whole => whole,
    };
    let states = states(ws, loaded, subject, demand)?;
    let missing = lacking(&ws.config, &states, demand);
    let [first, more @ ..] = missing.as_slice() else {
        let together = || TestEvidence::together(code, rows(&states));
        return Ok(EvidenceState::Tested(Box::new(whole.unwrap_or_else(together))));
    };
    let named = |state: &ScopeState| state.scope.name.clone();
    let more = more.iter().copied().map(named).collect();
    let red = states.iter().filter(|state| state.scope.touched && state.is_red()).map(named).collect();
    let ScopeCode { name, code, .. } = &first.scope;
    let Some(own) = ws.of_scope(name) else { return Ok(EvidenceState::NeverRan) };
    let command = own.config.test.command.as_ref().map(TestCommand::display);
    let gap = if let Some(row) = &first.found {
        EvidenceState::Tested(Box::new(row.tests.clone()))
    } else {
        let newest = loaded.journal.runs.iter().rev().find(|run| run.evidence.of_scope(name).is_some());
        without_evidence(Asked { ws: &own, code: *code, ..asked }, newest)?
    };
    Ok(EvidenceState::Scope { name: name.clone(), state: Box::new(gap), more, red, command })
}

/// A file in two scopes among those that changed: one would test it and the other judge it.
fn changed_in_two(ws: &Workspace, subject: &Subject, before: Option<TreeId>) -> Result<Option<SharedPath>> {
    let scopes = &ws.config.test.scopes.scopes;
    if scopes.iter().count() < 2 {
        return Ok(None);
    }
    let paths: Vec<Vec<u8>> = match (subject, before) {
        (Subject::WorkTree(overlay), _) => overlay.entries.iter().map(|entry| entry.path.clone()).collect(),
        (Subject::Tree(tree), Some(before)) => {
            ws.repo.changes(Some(before), *tree)?.into_iter().map(|change| change.path).collect()
        }
        (Subject::Tree(_), None) => Vec::new(),
    };
    Ok(in_two(ws, paths.iter().map(Vec::as_slice)))
}

fn in_two<'a>(ws: &Workspace, paths: impl IntoIterator<Item = &'a [u8]>) -> Option<SharedPath> {
    let code = paths.into_iter().filter(|path| ws.is_code(path));
    ws.config.test.scopes.scopes.in_two(code)
}

/// Refuses the first of `paths` that is code of two scopes.
///
/// # Errors
/// `VerbError::Usage` with the path and both names.
pub fn refuse_these_in_two<'a>(ws: &Workspace, paths: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
    in_two(ws, paths).map_or(Ok(()), |found| Err(OpsError::usage(found.to_string(), found.help())))
}
