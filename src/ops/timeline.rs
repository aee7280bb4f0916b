//! The newest window of facts of this worktree: records of the commits behind HEAD, and the journal.

use super::error::OpsError;
use super::workspace::Workspace;
use crate::detect::{self, Reads};
use crate::domain::facts::{Ack, CommitFact, CommitKind, Fact};
use crate::domain::ids::CommitId;
use crate::domain::safety::SafetyFact;
use crate::domain::settings::{ParamValue, RuleSettings};
use crate::domain::tests::TestRun;
use crate::history::{self, Fold, MAX_REWRITTEN, Timeline, rewrites};
use crate::ledger::Ledger;
use crate::record::Warning;
use crate::record::journal::{AckPlace, Journal, Placed, Reach, Recent};
use crate::record::store::NotesStore;
use crate::record::window::{self, Window};
use crate::report::message::Diagnostic;

/// How many records back a hook looks at least; the rules' own thresholds can make it more.
const MIN_WINDOW: usize = 16;
/// How many it looks back at the most: what the fold keeps.
const MAX_WINDOW: usize = history::MAX_ITERATIONS;

/// How many records back the rules can see: twice the largest of their thresholds.
pub fn reach(rules: &RuleSettings) -> usize {
    let windowed =
        detect::REGISTRY.iter().filter(|rule| matches!(rule.reads, Reads::Records | Reads::Lines { .. }));
    let settings = windowed.filter_map(|rule| rules.get(rule.id));
    let counts = settings.flat_map(|setting| setting.params.values()).filter_map(|value| match value {
        ParamValue::Count(count) => usize::try_from(*count).ok(),
        ParamValue::Share(_)
        | ParamValue::Span(_)
        | ParamValue::Switch(_)
        | ParamValue::List(_)
        | ParamValue::Word { .. } => None,
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
    /// The rest of what the journal tells, with its place among commits and acknowledgements.
    pub told: Told,
    /// Unreadable records and journal lines that were skipped.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the window behind HEAD.
pub fn load(ws: &Workspace) -> Result<Loaded, OpsError> {
    Ok(load_behind(ws, ws.repo.head()?.commit()))
}

/// Reads the window behind `head`.
pub fn load_at(ws: &Workspace, store: &NotesStore<'_>, head: Option<CommitId>) -> Loaded {
    let mut loaded = loaded(ws, window::read_window(&ws.repo, store, head, reach(&ws.config.rules)), None);
    if let Some(newest) = loaded.rewriting().cloned() {
        loaded.follow_replaced(store, &newest);
    }
    loaded
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
    let timeline = fold(ws, Vec::new());
    Loaded {
        timeline,
        window: Window::default(),
        acks: Vec::new(),
        runs: vec![run],
        told: Told::default(),
        warnings: Vec::new(),
    }
}

fn loaded(ws: &Workspace, window: Window, unopened: Option<Diagnostic>) -> Loaded {
    let newest = window.facts.last().map(|fact| fact.record.kind);
    let commits =
        reach(&ws.config.rules).max(newest.filter(|kind| rewrites(*kind)).map_or(0, |_| MAX_REWRITTEN));
    let recent = Journal::open(ws.repo.git_dir()).recent(Reach { runs: RUNS, commits });
    let mut warnings: Vec<Diagnostic> = unopened
        .into_iter()
        .chain(window.warnings.iter().chain(&recent.warnings).map(skipped_warning))
        .collect();
    let Recent { runs, mut acks, events, markers, since_ack, safety, .. } = recent;
    match elsewhere(ws, &window) {
        Ok(others) => acks.extend(
            others
                .into_iter()
                .filter(|(ack, _)| !acks.iter().any(|(known, _)| known == ack))
                .collect::<Vec<_>>(),
        ),
        Err(err) => warnings.push(err.as_warning()),
    }
    let told = Told { events, markers, since_ack, safety };
    let timeline = Timeline::new(ws.config.guard.session_gap);
    let mut loaded = Loaded { timeline, window, acks, runs, told, warnings };
    loaded.timeline = fold(ws, loaded.facts());
    loaded
}

/// Folds facts under the configuration of `ws`.
pub fn fold(ws: &Workspace, facts: Vec<Fact>) -> Timeline {
    let mut fold = Fold::new(ws.config.guard.session_gap)
        .in_workflow(ws.config.workflow.clone())
        .counting(ws.config.cached);
    for fact in facts {
        fold.push(fact);
    }
    fold.into_timeline()
}

/// Answers that were given in other worktrees and clones, at commits of this window.
fn elsewhere(ws: &Workspace, window: &Window) -> Result<Vec<(Ack, AckPlace)>, OpsError> {
    let heads: Vec<CommitId> = window.facts.iter().filter_map(|fact| fact.id).collect();
    let acks = Ledger::open(&ws.repo).acks_at(&heads)?;
    Ok(acks.into_iter().map(|ack| (ack, AckPlace::BeforeCommit)).collect())
}

/// What was skipped, with its place and its mend.
pub(super) fn skipped_warning(warning: &Warning) -> Diagnostic {
    Diagnostic::warning(warning.why.clone()).at(warning.place.to_string()).help(warning.help())
}

/// Events of the journal.
#[derive(Debug, Default)]
pub struct Told {
    /// The events, oldest first.
    pub events: Vec<Placed>,
    /// Commits that were recorded, oldest first.
    pub markers: Vec<CommitId>,
    /// How many of them, the newest, were recorded after the newest answer to a halt.
    pub since_ack: usize,
    /// Safety events since the newest commit, oldest first.
    pub safety: Vec<SafetyFact>,
}

impl Loaded {
    /// The newest commit of the window, when it stands in the place of others.
    fn rewriting(&self) -> Option<&CommitFact> {
        self.window.facts.last().filter(|newest| rewrites(newest.record.kind))
    }

    /// The timeline with `fact`, which was just derived, as its newest.
    pub fn take_in(&mut self, ws: &Workspace, store: &NotesStore<'_>, fact: &CommitFact) {
        let new = Fact::Commit(Box::new(fact.clone()));
        self.timeline = if self.rewriting().is_some() {
            // It holds more than the window shows, and that was of the commit before.
            fold(ws, self.facts().into_iter().chain([new]).collect())
        } else {
            let before = std::mem::replace(&mut self.timeline, Timeline::new(ws.config.guard.session_gap));
            let mut fold = Fold::on(before);
            fold.push(new);
            fold.into_timeline()
        };
        self.follow_replaced(store, fact);
    }

    /// Adds to the timeline what `newest`, an amend or a pick of a rebase, stands in the place of: the records of the
    /// commits that the journal shows to have been recorded since, right before it, and that amended or rebased too or
    /// are what was amended. At most [`MAX_REWRITTEN`] are read.
    fn follow_replaced(&mut self, store: &NotesStore<'_>, newest: &CommitFact) {
        let Some(by) = newest.id.filter(|_| rewrites(newest.record.kind)) else { return };
        let since = self.told.markers.len().saturating_sub(self.told.since_ack);
        let behind = |id: &CommitId| self.window.facts.iter().any(|fact| fact.id == Some(*id));
        let other = |session: Option<&str>| match (session, newest.record.session.as_deref()) {
            (Some(one), Some(other)) => one != other,
            (None, _) | (_, None) => false,
        };
        let mut replaced: Vec<CommitFact> = Vec::new();
        for id in self.told.markers[since..].iter().rev().filter(|id| **id != by).take(MAX_REWRITTEN) {
            let Ok(Some(stored)) = store.get(*id) else { break };
            let record = stored.record;
            let amended = record.parent == newest.record.parent && newest.record.kind == CommitKind::Amend;
            if other(record.session.as_deref()) || !(rewrites(record.kind) || amended) {
                break;
            }
            let ends = !rewrites(record.kind);
            if !behind(id) {
                replaced.push(CommitFact { id: Some(*id), subject: String::new(), record });
            }
            if ends {
                break;
            }
        }
        replaced.reverse();
        if !replaced.is_empty() {
            self.timeline = self.timeline.clone().after_replacing(replaced, by);
        }
    }

    /// All that was read, in the order of observation.
    ///
    /// Each acknowledgement comes right after the commit that was HEAD then; one whose commit is not in the window
    /// counts only while no commit was recorded after it (then the new record's `iteration` of 1 says the same). An
    /// event comes after the newest commit of the window that was recorded before it.
    pub fn facts(&self) -> Vec<Fact> {
        let commits = &self.window.facts;
        let mut buckets: Vec<Vec<(usize, Fact)>> = vec![Vec::new(); commits.len() + 1];
        let index = |id: CommitId| commits.iter().position(|commit| commit.id == Some(id));
        let places: Vec<Option<usize>> = self.told.markers.iter().map(|id| index(*id)).collect();
        for placed in &self.told.events {
            let bucket = bucket(&places, placed.markers_before, commits.len());
            // An even key for an acknowledgement, an odd one for what comes after that many of them.
            buckets[bucket].push((placed.acks_before * 2, Fact::Event(Box::new(placed.event.clone()))));
        }
        for (number, (ack, place)) in self.acks.iter().enumerate() {
            let bucket = match (ack.head.and_then(index), place) {
                (Some(at), _) => at + 1,
                (None, AckPlace::Last) => commits.len(),
                (None, AckPlace::BeforeCommit) => continue,
            };
            buckets[bucket].push((number * 2 + 1, Fact::Ack(Box::new(ack.clone()))));
        }
        let mut facts = Vec::with_capacity(commits.len() + self.acks.len() + self.told.events.len());
        if !self.told.events.is_empty() {
            // A turn without a commit has no record that would hold its tests.
            facts.extend(self.runs.iter().map(|run| Fact::TestRun(Box::new(run.clone()))));
        }
        for (number, mut bucket) in buckets.into_iter().enumerate() {
            if let Some(commit) = number.checked_sub(1).and_then(|at| commits.get(at)) {
                facts.push(Fact::Commit(Box::new(commit.clone())));
            }
            bucket.sort_by_key(|(order, _)| *order);
            facts.extend(bucket.into_iter().map(|(_, fact)| fact));
        }
        facts
    }
}

/// After how many commits of the window an event comes that has `before` markers before it.
fn bucket(places: &[Option<usize>], before: usize, commits: usize) -> usize {
    let (earlier, later) = places.split_at(before.min(places.len()));
    match (earlier.iter().rev().flatten().next(), later.iter().flatten().next()) {
        (Some(at), _) => at + 1,
        (None, Some(next)) => *next,
        (None, None) => commits,
    }
}
