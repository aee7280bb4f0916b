//! The newest window of facts of this worktree: records of the commits behind HEAD, and the journal.

use super::error::OpsError;
use super::workspace::Workspace;
use crate::domain::facts::{Ack, CommitFact, Fact};
use crate::domain::ids::CommitId;
use crate::domain::settings::{ParamValue, RuleSettings};
use crate::domain::tests::TestRun;
use crate::history::{self, Timeline};
use crate::record::Warning;
use crate::record::journal::{AckPlace, Journal, Reach, Recent};
use crate::record::store::NotesStore;
use crate::record::window::{self, Window};
use crate::report::message::Diagnostic;

/// How many records back a hook looks at least; the rules' own thresholds can make it more.
const MIN_WINDOW: usize = 16;
/// How many it looks back at the most: what the fold keeps.
const MAX_WINDOW: usize = history::MAX_ITERATIONS;

/// How many records back the rules can see: twice the largest of their thresholds. `iteration-cap` counts in
/// `CommitRecord::iteration` and needs no window.
pub fn reach(rules: &RuleSettings) -> usize {
    let windowed = rules.iter().filter(|(id, _)| **id != "iteration-cap");
    let counts = windowed.flat_map(|(_, setting)| setting.params.values()).filter_map(|value| match value {
        ParamValue::Count(count) => usize::try_from(*count).ok(),
        ParamValue::Share(_) | ParamValue::Span(_) | ParamValue::Switch(_) | ParamValue::List(_) => None,
    });
    counts.max().unwrap_or(0).saturating_mul(2).clamp(MIN_WINDOW, MAX_WINDOW)
}

/// How many test runs back a hook looks for evidence.
const RUNS: usize = 8;

/// What was read.
pub struct Loaded {
    /// The fold over everything below.
    pub timeline: Timeline,
    /// The window of recorded commits.
    pub window: Window,
    /// Acknowledgements in the journal, oldest first, each with whether a commit was recorded after it.
    pub acks: Vec<(Ack, AckPlace)>,
    /// Test runs in the journal, oldest first.
    pub runs: Vec<TestRun>,
    /// Unreadable records and journal lines that were skipped.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the window behind HEAD.
pub fn load(ws: &Workspace) -> Result<Loaded, OpsError> {
    Ok(load_behind(ws, ws.repo.head()?.commit()))
}

/// Reads the window behind `head`.
pub fn load_at(ws: &Workspace, store: &NotesStore<'_>, head: Option<CommitId>) -> Loaded {
    loaded(ws, window::read_window(&ws.repo, store, head, reach(&ws.config.rules)), None)
}

/// Reads the window behind `head`; when the notes cannot be opened, the journal alone. It still speaks for the
/// code: a broken notes ref must not switch those rules off too.
pub fn load_behind(ws: &Workspace, head: Option<CommitId>) -> Loaded {
    match NotesStore::open(&ws.repo) {
        Ok(store) => load_at(ws, &store, head),
        Err(err) => loaded(ws, Window::default(), Some(OpsError::from(err).as_warning())),
    }
}

/// One test run and nothing else.
pub fn of_run(ws: &Workspace, run: TestRun) -> Loaded {
    let timeline = history::fold(&[], ws.config.guard.session_gap);
    Loaded { timeline, window: Window::default(), acks: Vec::new(), runs: vec![run], warnings: Vec::new() }
}

fn loaded(ws: &Workspace, window: Window, unopened: Option<Diagnostic>) -> Loaded {
    let recent =
        Journal::open(ws.repo.git_dir()).recent(Reach { runs: RUNS, commits: reach(&ws.config.rules) });
    let warnings = unopened
        .into_iter()
        .chain(window.warnings.iter().chain(&recent.warnings).map(skipped_warning))
        .collect();
    let Recent { runs, acks, .. } = recent;
    let facts = interleave(&window.facts, &acks);
    let timeline = history::fold(&facts, ws.config.guard.session_gap);
    Loaded { timeline, window, acks, runs, warnings }
}

/// What was skipped, with its place and its mend.
fn skipped_warning(warning: &Warning) -> Diagnostic {
    Diagnostic::warning(warning.why.clone()).at(warning.place.to_string()).help(warning.help())
}

/// Puts each acknowledgement right after the commit that was HEAD then; one whose commit is not in the window
/// counts only while no commit was recorded after it (then the new record's `iteration` of 1 says the same).
pub fn interleave(commits: &[CommitFact], acks: &[(Ack, AckPlace)]) -> Vec<Fact> {
    let mut facts = Vec::with_capacity(commits.len() + acks.len());
    for commit in commits {
        facts.push(Fact::Commit(Box::new(commit.clone())));
        let here = acks.iter().filter(|(ack, _)| ack.head.is_some() && ack.head == commit.id);
        facts.extend(here.map(|(ack, _)| Fact::Ack(Box::new(ack.clone()))));
    }
    let elsewhere = acks.iter().filter(|(ack, place)| {
        *place == AckPlace::Last && !commits.iter().any(|commit| commit.id.is_some() && commit.id == ack.head)
    });
    facts.extend(elsewhere.map(|(ack, _)| Fact::Ack(Box::new(ack.clone()))));
    facts
}
