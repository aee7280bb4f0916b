//! Evidence where the code has scopes (`[test.scopes]`): a result belongs to a scope and its fingerprint, wherever the tests ran.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Subject, without_evidence};
use crate::recording::timeline::LoadedTimeline;
use crate::{error::OpsError, evidence::untracked, workspace::Workspace};
use andon_config::{Config, TestCommand};
use andon_core::detect::EvidenceState;
use andon_core::domain::ids::{CodeId, CommitId, TreeId};
use andon_core::domain::scopes::{REST, ScopeView, SharedPath};
use andon_core::domain::tests::{RunValidity, ScopeTests, TestEvidence, TestRun};
use andon_core::history::{Outcome, outcome};
use andon_git::Repo;
use andon_store::fingerprint::{Content, Fingerprinter};
use andon_store::journal::{Journal, Reach};
use andon_store::memory::{Kind, Memory};
use andon_store::notes::NotesStore;

/// The fingerprint of one scope of some code.
#[derive(Debug, Clone)]
pub struct ScopeCode {
    /// Its name; [`REST`] for code in no scope.
    pub name: String,
    /// Its fingerprint.
    pub code: CodeId,
    /// The code differs from that before in something that its tests read.
    pub touched: bool,
}

/// The scopes of `config` in an order in which each comes after what it needs; the code in no scope first, where
/// `test.command` tests it. `before` is what the code is compared with; without one, every scope is touched.
///
/// # Errors
/// Trees that are not here.
pub fn codes(
    repo: &Repo,
    config: &Config,
    content: Content<'_>,
    before: Option<TreeId>,
) -> Result<Vec<ScopeCode>, OpsError> {
    let scopes = &config.test.scopes.scopes;
    let rest = config.test.command.as_ref().map(|_| REST);
    let names = rest.into_iter().chain(scopes.in_order());
    let views: Vec<ScopeView> = names.filter_map(|name| scopes.view(name)).collect();
    let views: Vec<&ScopeView> = views.iter().collect();
    let mut prints = Fingerprinter::new(repo, &config.paths.rules);
    let now = prints.of_scopes(content, &views)?;
    let then = prints.of_scopes(before.map_or(Content::Overlay(None, &[]), Content::Tree), &views)?;
    let one = |(view, (code, then)): (&&ScopeView, (CodeId, CodeId))| ScopeCode {
        name: view.name().to_owned(),
        code,
        touched: code != then,
    };
    Ok(views.iter().zip(now.into_iter().zip(then)).map(one).collect())
}

/// One scope of some code, and what is known of its tests.
#[derive(Debug, Clone)]
pub struct ScopeState {
    /// The scope.
    pub scope: ScopeCode,
    /// The result of its tests on exactly this code, where one is known.
    pub found: Option<ScopeTests>,
}

impl ScopeState {
    /// True if its tests passed on exactly this code.
    pub fn is_green(&self) -> bool {
        self.found.as_ref().is_some_and(|row| row.tests.is_green())
    }
}

/// True if tests ran to their end, passed or failed.
pub fn is_tested(tests: &TestEvidence) -> bool {
    matches!(outcome(tests), Outcome::Green | Outcome::Red)
}

/// All scopes of the code that `subject` is ([`codes`]).
///
/// # Errors
/// Trees that are not here.
pub fn states(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    known: &KnownScopes,
    subject: &Subject,
    before: Option<TreeId>,
) -> Result<Vec<ScopeState>, OpsError> {
    let content = match subject {
        Subject::Tree(tree) => Content::Tree(*tree),
        Subject::WorkTree(overlay) => Content::Overlay(overlay.base, &overlay.entries),
    };
    let mut states = Vec::new();
    for scope in codes(&ws.repo, &ws.config, content, before)? {
        let found = match known.0.get(&scope.code) {
            None if scope.touched => before_add(ws, loaded, subject, &scope)?,
            found => found.cloned(),
        };
        states.push(ScopeState { scope, found });
    }
    Ok(states)
}

/// The results that are known, for [`TestEvidence::together`].
pub fn rows(states: &[ScopeState]) -> Vec<ScopeTests> {
    states.iter().filter_map(|state| state.found.clone()).collect()
}

/// Results of scopes, by fingerprint: that of a scope is never that of another.
#[derive(Debug, Default)]
pub struct KnownScopes(HashMap<CodeId, ScopeTests>);

impl KnownScopes {
    /// The newest results that the journal and the window of records tell.
    pub fn from_timeline(loaded: &LoadedTimeline) -> Self {
        let mut known = Self::default();
        known.take_runs(&loaded.runs);
        for fact in &loaded.window.facts {
            known.take_record(fact.id, fact.record.tests.as_ref());
        }
        known
    }

    /// The result of tests that have just run.
    pub fn add(&mut self, row: ScopeTests) {
        self.0.insert(row.tests.code, row);
    }

    /// Adds results from the records of other branches and clones and the journals of other worktrees for those of
    /// `states` that did not pass. Bounded, and too slow for a hook.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn take_elsewhere(&mut self, ws: &Workspace, states: &[ScopeState]) -> Result<(), OpsError> {
        let worktrees = ws.repo.common_dir().join("worktrees");
        let linked = std::fs::read_dir(worktrees).into_iter().flatten().flatten().map(|entry| entry.path());
        let own = std::iter::once(ws.repo.common_dir().to_owned());
        let reach = Reach { runs: RUNS_ELSEWHERE, commits: 0, turns: 0, since: None };
        let mut elsewhere = Self::default();
        for dir in own.chain(linked.take(WORKTREES)).filter(|dir| dir != ws.repo.git_dir()) {
            elsewhere.take_runs(&Journal::open(&dir).recent(reach).runs);
        }
        let store = NotesStore::open(&ws.repo)?;
        let passed = PassedScopes::load(ws, &store)?;
        for state in states.iter().filter(|state| !state.is_green()) {
            let Some(commit) = passed.at(state.scope.code) else { continue };
            let tests = store.readable(commit).and_then(|record| record.tests);
            elsewhere.take_record(Some(commit), tests.as_ref());
        }
        for (code, row) in elsewhere.0.into_iter().filter(|(_, row)| row.tests.is_green()) {
            self.0.insert(code, row);
        }
        Ok(())
    }

    fn take_runs(&mut self, runs: &[TestRun]) {
        // The newest first: most results are repeated by later runs.
        let valid = runs.iter().rev().filter(|run| run.validity == RunValidity::Valid);
        for row in valid.flat_map(|run| &run.evidence.scopes) {
            self.0.entry(row.tests.code).or_insert_with(|| row.clone());
        }
    }

    /// The commit that brought a result is in its record.
    fn take_record(&mut self, commit: Option<CommitId>, tests: Option<&TestEvidence>) {
        for row in tests.iter().flat_map(|tests| &tests.scopes) {
            let from = row.from.or(commit);
            let told = self.0.entry(row.tests.code).or_insert_with(|| ScopeTests { from, ..row.clone() });
            if told.from.is_none() && told.tests.signature == row.tests.signature {
                told.from = from;
            }
        }
    }
}

/// At which commits the tests of scopes passed, from all records of the clone. What was read once is remembered with the
/// tip of the notes, so that only what came since costs time.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PassedScopes {
    tip: Option<CommitId>,
    at: Vec<(CodeId, CommitId)>,
}

impl PassedScopes {
    fn load(ws: &Workspace, store: &NotesStore<'_>) -> Result<Self, OpsError> {
        let memory = Memory::new(&ws.repo, Kind::Scopes);
        let mut passed: Self = memory.get(&"passed").unwrap_or_default();
        let Some(tip) = store.tip().filter(|tip| passed.tip != Some(*tip)) else { return Ok(passed) };
        let history = ws.repo.notes_history(tip);
        let history = match passed.tip {
            Some(known) => history.since(known),
            None => history,
        };
        let mut new = Vec::new();
        for step in history.take(STEPS) {
            for note in step? {
                let tests = store.readable(note.commit).and_then(|record| record.tests);
                let rows = tests.iter().flat_map(|tests| &tests.scopes);
                // One that came from another commit is found there.
                let green = rows.filter(|row| row.tests.is_green() && row.from.is_none());
                new.extend(green.map(|row| (row.tests.code, note.commit)));
            }
        }
        new.append(&mut passed.at);
        new.truncate(MAX_PASSED);
        passed = Self { tip: Some(tip), at: new };
        memory.put(&"passed", &passed);
        Ok(passed)
    }

    fn at(&self, code: CodeId) -> Option<CommitId> {
        self.at.iter().find(|(passed, _)| *passed == code).map(|(_, commit)| *commit)
    }
}

/// Most changes of the notes that are read at once, and most results that are remembered, the newest.
const STEPS: usize = 1_024;
const MAX_PASSED: usize = 16_384;

/// Other worktrees whose journals are looked at, and the newest test runs of each.
const WORKTREES: usize = 32;
const RUNS_ELSEWHERE: usize = 32;

/// The result of a run that was made when some files of the code were not tracked yet and bound nothing.
fn before_add(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    subject: &Subject,
    scope: &ScopeCode,
) -> Result<Option<ScopeTests>, OpsError> {
    if loaded.runs.iter().all(|run| run.beside.is_empty()) {
        return Ok(None);
    }
    let Some(own) = ws.of_scope(&scope.name) else { return Ok(None) };
    let has = |run: &TestRun| run.evidence.of_scope(&scope.name).is_some();
    let run = untracked::newest_before_add(&own, loaded, subject, scope.code, has)?;
    let row = run.and_then(|(run, _)| run.evidence.of_scope(&scope.name).cloned());
    Ok(row.map(|row| ScopeTests { tests: TestEvidence { code: scope.code, ..row.tests }, ..row }))
}

/// The state of the evidence for the whole code `code`. `whole` is the newest run of all tests at once on it: a pass
/// speaks for each scope, a failure for none.
///
/// # Errors
/// Trees that are not here.
pub(super) fn state(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    subject: &Subject,
    code: CodeId,
    before: Option<TreeId>,
    whole: Option<TestEvidence>,
) -> Result<EvidenceState, OpsError> {
    if let Some(found) = changed_in_two(ws, subject, before)? {
        return Ok(EvidenceState::InTwoScopes(Box::new(found)));
    }
    let whole = match whole {
        Some(tests) if tests.is_green() => return Ok(EvidenceState::Tested(Box::new(tests))),
        whole => whole,
    };
    let states = states(ws, loaded, &KnownScopes::from_timeline(loaded), subject, before)?;
    let is_missing = |state: &&ScopeState| {
        state.scope.touched && !state.found.as_ref().is_some_and(|row| is_tested(&row.tests))
    };
    let mut missing = states.iter().filter(is_missing);
    let Some(first) = missing.next() else {
        let together = || TestEvidence::together(code, rows(&states));
        return Ok(EvidenceState::Tested(Box::new(whole.unwrap_or_else(together))));
    };
    let more = missing.map(|state| state.scope.name.clone()).collect();
    let ScopeCode { name, code, .. } = &first.scope;
    let Some(own) = ws.of_scope(name) else { return Ok(EvidenceState::NeverRan) };
    let command = own.config.test.command.as_ref().map(TestCommand::display);
    let gap = if let Some(row) = &first.found {
        EvidenceState::Tested(Box::new(row.tests.clone()))
    } else {
        let newest = loaded.runs.iter().rev().find(|run| run.evidence.of_scope(name).is_some());
        without_evidence(&own, loaded, newest, subject, *code)?
    };
    Ok(EvidenceState::Scope { name: name.clone(), state: Box::new(gap), more, command })
}

/// A file in two scopes among those that changed: one would test it and the other judge it.
fn changed_in_two(
    ws: &Workspace,
    subject: &Subject,
    before: Option<TreeId>,
) -> Result<Option<SharedPath>, OpsError> {
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
pub fn refuse_these_in_two<'a>(
    ws: &Workspace,
    paths: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(), OpsError> {
    in_two(ws, paths).map_or(Ok(()), |found| Err(OpsError::usage(found.to_string(), found.help())))
}
