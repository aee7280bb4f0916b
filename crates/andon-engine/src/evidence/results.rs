//! "Was this code tested, and how did it end?" has one answer at every door: it is asked here and nowhere else.

use std::cell::LazyCell;

use crate::Workspace;
use crate::recording::{LoadedTimeline, Results};
use andon_core::domain::{CodeId, CommitId, RunValidity, ScopeTests, TestEvidence, TestRun};
use andon_store::{NotesStore, ResultIndex};

/// Who tells a result.
#[derive(Clone, Copy)]
pub enum Told<'a> {
    /// A run of this or of another worktree.
    Run(&'a TestRun),
    /// The record of a commit.
    Record(CommitId, &'a TestEvidence),
}

impl Told<'_> {
    /// The result of the tests of the scope whose code is `code`, with the commit whose record brought it.
    pub(super) fn of_scope(self, code: CodeId) -> Option<ScopeTests> {
        let (commit, tests) = match self {
            Told::Run(run) if run.validity == RunValidity::Valid => (None, &run.evidence),
            Told::Run(_) => return None,
            Told::Record(commit, tests) => (Some(commit), tests),
        };
        let row = tests.scopes.iter().find(|row| row.tests.code == code)?;
        Some(ScopeTests { from: row.from.or(commit), ..row.clone() })
    }
}

/// The first that `wanted` makes of the results on `code`: of runs, the newest first, then of records.
pub fn newest<T>(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    code: CodeId,
    wanted: impl Fn(Told<'_>) -> Option<T>,
) -> Option<T> {
    let own = || loaded.journal.runs.iter().rev().find_map(|run| wanted(Told::Run(run)));
    let alone = || ResultIndex::is_own_alone(&ws.repo);
    if *loaded.results.alone.get_or_init(alone)
        && let Some(found) = own()
    {
        return Some(found);
    }
    let runs = loaded.results_of(ws).runs(code).find_map(|run| wanted(Told::Run(&run)));
    runs.or_else(own).or_else(|| recorded(ws, loaded, code, &wanted))
}

/// The result of the scope whose code is `code`. Of a run that a commit brought, the commit is named.
pub(super) fn of_scope(ws: &Workspace, loaded: &LoadedTimeline, code: CodeId) -> Option<ScopeTests> {
    let found = newest(ws, loaded, code, |told| told.of_scope(code))?;
    let brought = || recorded(ws, loaded, code, |told| told.of_scope(code));
    let brought = if found.from.is_none() { brought() } else { None };
    let from = brought.filter(|row| row.tests.signature == found.tests.signature).and_then(|row| row.from);
    Some(ScopeTests { from: found.from.or(from), ..found })
}

/// The same of records alone: of those of the window, which are at hand, then of the others where the index is open.
fn recorded<T>(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    code: CodeId,
    wanted: impl Fn(Told<'_>) -> Option<T>,
) -> Option<T> {
    let Results { index, records, .. } = &loaded.results;
    let facts = loaded.window.facts.iter().rev();
    let window =
        facts.into_iter().find_map(|fact| wanted(Told::Record(fact.id?, fact.record.tests.as_ref()?)));
    let store = LazyCell::new(|| NotesStore::with_fetched(&ws.repo).ok());
    let read = |commit: &CommitId| {
        let read = || store.as_ref()?.readable(*commit)?.tests;
        wanted(Told::Record(*commit, records.borrow_mut().entry(*commit).or_insert_with(read).as_ref()?))
    };
    window.or_else(|| index.get()?.records(code).iter().find_map(read))
}
