//! Evidence where the code has scopes (`[test.scopes]`): a result belongs to a scope and its fingerprint, wherever the tests ran.

use std::collections::HashMap;

use super::{Subject, without_evidence};
use crate::error::OpsError;
use crate::timeline::LoadedTimeline;
use crate::untracked;
use crate::workspace::Workspace;
use andon_core::detect::EvidenceState;
use andon_core::domain::ids::{CodeId, CommitId, TreeId};
use andon_core::domain::paths::PathClass;
use andon_core::domain::scopes::{InTwo, REST, ScopeView};
use andon_core::domain::tests::{RunValidity, ScopeTests, TestEvidence, TestRun};
use andon_core::history::{Outcome, outcome};
use andon_store::fingerprint::{Content, Fingerprinter};
use andon_store::journal::{Journal, Reach};
use andon_store::memory::{Kind, Memory};
use andon_store::notes::NotesStore;
use serde::{Deserialize, Serialize};

/// One scope of some code.
#[derive(Debug, Clone)]
pub struct ScopeState {
    /// Its name; [`REST`] for code in no scope.
    pub name: String,
    /// Its fingerprint.
    pub code: CodeId,
    /// Whether the code differs from that before in anything that its tests read.
    pub touched: bool,
    /// What is known of its tests on exactly this code.
    pub found: Option<ScopeTests>,
}

impl ScopeState {
    /// Whether its tests passed on exactly this code.
    pub fn is_green(&self) -> bool {
        self.found.as_ref().is_some_and(|row| row.tests.is_green())
    }

    /// Whether its tests ran on exactly this code, passed or failed.
    fn is_tested(&self) -> bool {
        let ran = |row: &ScopeTests| matches!(outcome(&row.tests), Outcome::Green | Outcome::Red);
        self.found.as_ref().is_some_and(ran)
    }
}

/// All scopes of the code that `subject` is, in an order in which each comes after what it needs; the code in no scope first,
/// where `test.command` tests it. `before` is what the code is compared with; without one, every scope is touched.
pub fn states(
    ws: &Workspace,
    (loaded, known): (&LoadedTimeline, &KnownScopes),
    subject: &Subject,
    before: Option<TreeId>,
) -> Result<Vec<ScopeState>, OpsError> {
    let scopes = &ws.config.test.scopes.scopes;
    let rest = ws.config.test.command.as_ref().map(|_| REST);
    let names: Vec<&str> = rest.into_iter().chain(scopes.in_order()).collect();
    let views: Vec<ScopeView> = names.iter().filter_map(|name| scopes.view(name)).collect();
    let views: Vec<&ScopeView> = views.iter().collect();
    let mut prints = Fingerprinter::new(&ws.repo, &ws.config.paths.rules);
    let now = match subject {
        Subject::Tree(tree) => Content::Tree(*tree),
        Subject::WorkTree(overlay) => Content::Overlay(overlay.base, &overlay.entries),
    };
    let then = before.map_or(Content::Overlay(None, &[]), Content::Tree);
    let codes = prints.of_scopes(now, &views)?.into_iter().zip(prints.of_scopes(then, &views)?);
    let state = |(name, (code, then)): (&str, (CodeId, CodeId))| {
        let found = known.0.get(&code).cloned();
        ScopeState { name: name.to_owned(), code, touched: code != then, found }
    };
    let mut states: Vec<ScopeState> = names.into_iter().zip(codes).map(state).collect();
    for state in states.iter_mut().filter(|state| state.touched && state.found.is_none()) {
        state.found = before_add(ws, loaded, subject, state)?;
    }
    Ok(states)
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

    /// What the records of other branches and clones and the journals of other worktrees say in addition about those of
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
        let passed = Passed::load(ws, &store)?;
        for state in states.iter().filter(|state| !state.is_green()) {
            let Some(commit) = passed.at(state.code) else { continue };
            let stored = store.get(commit).ok().flatten();
            elsewhere
                .take_record(Some(commit), stored.as_ref().and_then(|stored| stored.record.tests.as_ref()));
        }
        for (code, row) in elsewhere.0.into_iter().filter(|(_, row)| row.tests.is_green()) {
            self.0.insert(code, row);
        }
        Ok(())
    }

    fn take_runs(&mut self, runs: &[TestRun]) {
        let valid = runs.iter().filter(|run| run.validity == RunValidity::Valid);
        for row in valid.flat_map(|run| &run.evidence.scopes) {
            self.add(row.clone());
        }
    }

    /// Which commit brought a result is in its record.
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
struct Passed {
    tip: Option<CommitId>,
    at: Vec<(CodeId, CommitId)>,
}

impl Passed {
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
                let stored = store.get(note.commit).ok().flatten();
                let tests = stored.as_ref().and_then(|stored| stored.record.tests.as_ref());
                let rows = tests.into_iter().flat_map(|tests| &tests.scopes);
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
    state: &ScopeState,
) -> Result<Option<ScopeTests>, OpsError> {
    if loaded.runs.iter().all(|run| run.beside.is_empty()) {
        return Ok(None);
    }
    let Some(own) = ws.of_scope(&state.name) else { return Ok(None) };
    let holder = subject.holder();
    let has = |run: &TestRun| run.evidence.of_scope(&state.name).is_some();
    let run = untracked::newest_before_add(&own, loaded, (holder, state.code), has)?;
    let row = run.and_then(|(run, _)| run.evidence.of_scope(&state.name).cloned());
    Ok(row.map(|row| ScopeTests { tests: TestEvidence { code: state.code, ..row.tests }, ..row }))
}

/// What is known of the tests of the whole code `code`, whose scopes are `states`.
pub fn state(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    (subject, code, before): (&Subject, CodeId, Option<TreeId>),
    states: &[ScopeState],
) -> Result<EvidenceState, OpsError> {
    if let Some(found) = changed_in_two(ws, subject, before)? {
        return Ok(EvidenceState::InTwoScopes(Box::new(found)));
    }
    let mut missing = states.iter().filter(|state| state.touched && !state.is_tested());
    let Some(first) = missing.next() else {
        return Ok(EvidenceState::Tested(Box::new(together(loaded, code, states))));
    };
    let more = missing.map(|state| state.name.clone()).collect();
    let Some(own) = ws.of_scope(&first.name) else { return Ok(EvidenceState::NeverRan) };
    let command = own.config.test.command.as_ref().map(andon_config::TestCommand::display);
    let gap = match &first.found {
        Some(row) => EvidenceState::Tested(Box::new(row.tests.clone())),
        None => {
            let newest = loaded.runs.iter().rev().find(|run| run.evidence.of_scope(&first.name).is_some());
            without_evidence(&own, (loaded, newest), subject, first.code)?
        }
    };
    Ok(EvidenceState::Scope { name: first.name.clone(), state: Box::new(gap), more, command })
}

/// What the scopes say together, of those that are known. A run of all tests on exactly this code says more than that.
pub fn together(loaded: &LoadedTimeline, code: CodeId, states: &[ScopeState]) -> TestEvidence {
    let all = loaded.runs.iter().rev().find(|run| {
        let tests = &run.evidence;
        run.validity == RunValidity::Valid && tests.code == code && is_of_all(tests)
    });
    let rows = || states.iter().filter_map(|state| state.found.clone()).collect();
    all.map_or_else(|| TestEvidence::together(code, rows()), untracked::evidence_of)
}

/// Whether `tests` are of all the code at once, and speak for each scope of it.
fn is_of_all(tests: &TestEvidence) -> bool {
    !tests.scopes.is_empty() && tests.command != TestEvidence::OF_SCOPES
}

/// A file in two scopes among those that changed: one would test it and the other judge it.
fn changed_in_two(
    ws: &Workspace,
    subject: &Subject,
    before: Option<TreeId>,
) -> Result<Option<InTwo>, OpsError> {
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

fn in_two<'a>(ws: &Workspace, paths: impl IntoIterator<Item = &'a [u8]>) -> Option<InTwo> {
    let rules = &ws.config.paths.rules;
    let code = paths.into_iter().filter(|path| rules.class(path) == PathClass::Code);
    ws.config.test.scopes.scopes.in_two(code)
}

/// Refuses the first of `paths` that is code of two scopes.
///
/// # Errors
/// [`OpsError::Usage`] with the path and both names.
pub fn refuse_these_in_two<'a>(
    ws: &Workspace,
    paths: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(), OpsError> {
    in_two(ws, paths)
        .map_or(Ok(()), |found| Err(OpsError::Usage { what: found.to_string(), help: found.help() }))
}
