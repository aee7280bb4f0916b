//! The newest window of facts of this worktree: records of the commits behind HEAD, and the journal.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use crate::recording::attempts::{self, SideAttempts};
use crate::{OpsError, Result, Workspace, asking, recording::bound};
use andon_core::detect::{self, RuleInput};
use andon_core::domain::{
    Ack, CommitFact, CommitId, Diagnostic, Event, Fact, ParamValue, RuleSettings, TestEvidence, TestRun,
};
use andon_core::history::order::{self, AckPlace, FoldStep, Observations};
use andon_core::history::{self, EventEffect, Fold, MAX_REWRITTEN, PlacedAttempt, Timeline};
use andon_store::{
    Journal, Ledger, NotesStore, Position, Reach, RecentFacts, ResultIndex, Totals, Window, lost_records,
    window,
};

/// Fewest records that a hook looks back; the rules' own thresholds can make it more.
const MIN_WINDOW: usize = 16;
/// Most records that it looks back: as many as the fold keeps.
const MAX_WINDOW: usize = history::MAX_ITERATIONS;

/// The number of records that the rules can see: twice the largest of their thresholds.
pub fn reach(rules: &RuleSettings) -> usize {
    let windowed = detect::REGISTRY.iter().filter(|rule| rule.reads == RuleInput::Records);
    let settings = windowed.filter_map(|rule| rules.get(rule.id));
    let counts = settings.flat_map(|setting| setting.params.values()).filter_map(|value| {
        let (ParamValue::Count(count) | ParamValue::Limit(Some(count))) = value else { return None };
        usize::try_from(*count).ok()
    });
    counts.max().unwrap_or(0).saturating_mul(2).clamp(MIN_WINDOW, MAX_WINDOW)
}

/// Test runs that are read where the fold has them already: the newest, for messages, and what is flaky.
const EARLIER_RUNS: usize = 8;

/// The index of results, opened when something is not known without it.
#[derive(Default)]
pub struct Results {
    pub(crate) index: OnceCell<ResultIndex>,
    /// No other worktree of the clone ran tests.
    pub(crate) alone: OnceCell<bool>,
    /// The tests of records that were read.
    pub(crate) records: RefCell<BTreeMap<CommitId, Option<TestEvidence>>>,
}

/// A timeline with what was read for it and what failed on the way.
#[derive(Default)]
pub struct LoadedTimeline {
    /// The fold over everything below.
    pub timeline: Timeline,
    /// The window of recorded commits.
    pub window: Window,
    /// Attempts outside of it.
    pub beside: SideAttempts,
    /// The results of tests by the code that they ran on, wherever that was.
    pub results: Results,
    /// The summary of the first part of the journal; `None` where all of it was read.
    pub totals: Option<Totals>,
    /// The facts of the journal after it, its newest test runs, and its answers with those of other worktrees and clones.
    pub journal: RecentFacts,
    /// Unreadable records and journal lines that were skipped.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the window behind HEAD, and the attempts outside of it.
pub fn load(ws: &Workspace) -> Result<LoadedTimeline> {
    let head = ws.repo.head()?.commit();
    Ok(with_records(ws, |store| load_at(ws, store, head)))
}

/// Loads with the records, once those that a fetch took away are there again; when the notes cannot be opened, the journal alone:
/// a broken notes ref must not switch off the rules that read it too.
fn with_records(ws: &Workspace, load: impl FnOnce(&NotesStore<'_>) -> LoadedTimeline) -> LoadedTimeline {
    let put_back = lost_records::put_back(&ws.repo, ws.opened).err();
    match NotesStore::open(&ws.repo) {
        Ok(store) => {
            let mut loaded = load(&store);
            loaded.warnings.extend(put_back.map(|err| OpsError::from(err).as_warning()));
            loaded
        }
        Err(err) => {
            loaded(ws, Window::default(), SideAttempts::default(), Some(OpsError::from(err).as_warning()))
        }
    }
}

/// The same with HEAD at `head`.
pub fn load_at(ws: &Workspace, store: &NotesStore<'_>, head: Option<CommitId>) -> LoadedTimeline {
    let window = window::read_window(&ws.repo, store, head, reach(&ws.config.rules));
    let beside = attempts::aside(ws, store, head, &window);
    loaded(ws, window, beside, None)
}

/// Reads the window behind `head` alone.
pub fn load_behind(ws: &Workspace, head: Option<CommitId>) -> LoadedTimeline {
    with_records(ws, |store| {
        let window = window::read_window(&ws.repo, store, head, reach(&ws.config.rules));
        loaded(ws, window, SideAttempts::default(), None)
    })
}

/// One test run and nothing else.
pub fn of_run(ws: &Workspace, run: TestRun) -> LoadedTimeline {
    let journal = RecentFacts { runs: vec![run], ..RecentFacts::default() };
    LoadedTimeline { timeline: fold(ws, Vec::new()), journal, ..LoadedTimeline::default() }
}

fn loaded(
    ws: &Workspace,
    window: Window,
    mut beside: SideAttempts,
    unopened: Option<Diagnostic>,
) -> LoadedTimeline {
    let journal = Journal::open(ws.repo.git_dir());
    let others = answers_elsewhere(ws, &window, &beside.aside);
    let answers = others.as_ref().map_or(&[][..], Vec::as_slice);
    let totals = journal.totals(ws.config.guard.session_gap, answers);
    let commits = reach(&ws.config.rules).max(if beside.aside.is_empty() { 0 } else { MAX_REWRITTEN });
    let mut recent = journal.recent(Reach {
        runs: EARLIER_RUNS,
        commits,
        turns: if ws.config.workflow.is_declared() { usize::MAX } else { commits },
        since: Some(totals.as_ref().map_or(Position::START, |totals| totals.at)),
    });
    let mut warnings: Vec<Diagnostic> =
        unopened.into_iter().chain(window.warnings.iter().chain(&recent.warnings).cloned()).collect();
    beside.keep_same_task(ws, &recent.runs);
    match others {
        Ok(others) => {
            let known: Vec<Ack> = recent.acks.iter().map(|(ack, _)| ack.clone()).collect();
            let new = others.into_iter().filter(|ack| !known.contains(ack));
            recent.acks.extend(new.map(|ack| (ack, AckPlace::BeforeCommit)));
        }
        Err(err) => warnings.push(err.as_warning()),
    }
    let of_line = LoadedTimeline { window, beside, ..LoadedTimeline::default() };
    let mut loaded = LoadedTimeline { totals, journal: recent, warnings, ..of_line };
    let RecentFacts { acks, markers, since_ack, .. } = &loaded.journal;
    let (before, after) = markers.split_at(markers.len().saturating_sub(*since_ack));
    order::forget_answered(&mut loaded.beside.aside, acks, before, after);
    loaded.timeline = fold_steps(ws, loaded.steps());
    loaded
}

/// Folds facts under the configuration of `ws`.
pub fn fold(ws: &Workspace, facts: Vec<Fact>) -> Timeline {
    fold_steps(ws, facts.into_iter().map(FoldStep::Fact).collect())
}

/// Folds steps under the configuration of `ws`.
pub fn fold_steps(ws: &Workspace, steps: Vec<FoldStep>) -> Timeline {
    let mut fold = ws.config.fold();
    // People's commits count in no rule where only agents are guarded.
    let counts = |step: &FoldStep| {
        let FoldStep::Fact(Fact::Commit(fact)) = step else { return true };
        bound::counts(&ws.config, fact)
    };
    for step in steps.into_iter().filter(counts) {
        fold.step(step);
    }
    fold.into_timeline()
}

/// Answers that were given in other worktrees and clones, at commits of this window and of the attempts outside of it.
fn answers_elsewhere(ws: &Workspace, window: &Window, aside: &[PlacedAttempt]) -> Result<Vec<Ack>> {
    let facts = window.facts.iter().chain(aside.iter().map(|one| &one.fact));
    let heads: Vec<CommitId> = facts.flat_map(|fact| [fact.id, fact.root()]).flatten().collect();
    asking::that_count(ws, Ledger::open(&ws.repo).acks_at(&heads)?)
}

impl LoadedTimeline {
    /// The index of the clone.
    pub fn results_of(&self, ws: &Workspace) -> &ResultIndex {
        self.results.index.get_or_init(|| ResultIndex::open(&ws.repo, ws.opened))
    }

    /// The faults of the index, where it was opened, that are not said yet.
    pub fn odd_results(&self) -> Vec<Diagnostic> {
        let odd = self.results.index.get().into_iter().flat_map(|index| &index.warnings);
        odd.filter(|odd| !self.warnings.contains(odd)).cloned().collect()
    }

    /// Takes in a run that was just kept.
    pub fn take_in_run(&mut self, run: TestRun) {
        self.journal.runs.push(run);
        self.results = Results::default();
    }

    /// The timeline with `fact`, which was just derived, as its newest; what it changed.
    pub fn take_in(&mut self, ws: &Workspace, fact: &CommitFact) -> EventEffect {
        self.fold_in(ws, |fold| {
            let effect = fold.push(Fact::Commit(Box::new(fact.clone())));
            fold.committed(fact.record.gate);
            effect
        })
    }

    /// The timeline with an event, which was just observed, as its newest.
    pub fn take_in_event(&mut self, ws: &Workspace, event: Box<Event>) {
        self.fold_in(ws, |fold| fold.push(Fact::Event(event)));
    }

    fn fold_in<T>(&mut self, ws: &Workspace, act: impl FnOnce(&mut Fold) -> T) -> T {
        let before = std::mem::replace(&mut self.timeline, Timeline::new(ws.config.guard.session_gap));
        let mut fold = Fold::on(before);
        let done = act(&mut fold);
        self.timeline = fold.into_timeline();
        done
    }

    /// All that was read and is of this line, in the order of observation.
    pub fn steps(&self) -> Vec<FoldStep> {
        let RecentFacts { acks, runs, items, .. } = &self.journal;
        let before = self.totals.as_ref().map(|totals| &totals.snapshot);
        let line = order::line(&self.window.facts, &self.beside.aside);
        let is_own = |step: &FoldStep| {
            let FoldStep::Fact(Fact::Commit(fact)) = step else { return true };
            fact.id.is_none_or(|id| !self.beside.elsewhere.contains(&id))
        };
        let observed = Observations { line, acks, runs, items, before };
        observed.steps().into_iter().filter(is_own).collect()
    }
}
