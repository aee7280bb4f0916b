//! The newest window of facts of this worktree: records of the commits behind HEAD, and the journal.

use super::attempts::{self, Attempted};
use super::error::OpsError;
use super::workspace::Workspace;
use crate::detect::{self, Reads};
use crate::domain::facts::{Ack, CommitFact, Fact};
use crate::domain::ids::CommitId;
use crate::domain::safety::SafetyFact;
use crate::domain::settings::{ParamValue, RuleSettings};
use crate::domain::tests::TestRun;
use crate::history::{self, Carry, Fold, MAX_REWRITTEN, Passing, Timeline};
use crate::ledger::Ledger;
use crate::report::message::Diagnostic;
use crate::store::Warning;
use crate::store::journal::{AckPlace, Item, Journal, Position, Reach, Recent, Turns};
use crate::store::notes::NotesStore;
use crate::store::totals::Totals;
use crate::store::window::{self, Window};

/// How many records back a hook looks at least; the rules' own thresholds can make it more.
const MIN_WINDOW: usize = 16;
/// How many it looks back at the most: what the fold keeps.
const MAX_WINDOW: usize = history::MAX_ITERATIONS;

/// How many records back the rules can see: twice the largest of their thresholds.
pub fn reach(rules: &RuleSettings) -> usize {
    let windowed = detect::REGISTRY.iter().filter(|rule| rule.reads == Reads::Records);
    let settings = windowed.filter_map(|rule| rules.get(rule.id));
    let counts = settings.flat_map(|setting| setting.params.values()).filter_map(|value| match value {
        ParamValue::Count(count) | ParamValue::Limit(Some(count)) => usize::try_from(*count).ok(),
        ParamValue::Share(_)
        | ParamValue::Span(_)
        | ParamValue::Limit(None)
        | ParamValue::SpanLimit(_)
        | ParamValue::Switch(_)
        | ParamValue::List(_)
        | ParamValue::Word { .. } => None,
    });
    counts.max().unwrap_or(0).saturating_mul(2).clamp(MIN_WINDOW, MAX_WINDOW)
}

/// How many test runs back a hook looks for evidence.
const RUNS: usize = 8;

/// A timeline with what was read for it and what failed on the way.
pub struct Loaded {
    /// The fold over everything below.
    pub timeline: Timeline,
    /// The window of recorded commits.
    pub window: Window,
    /// Attempts beside it that count all the same, oldest first.
    pub aside: Vec<Attempted>,
    /// Acknowledgements in the journal, oldest first, each with whether a commit was recorded after it.
    pub acks: Vec<(Ack, AckPlace)>,
    /// Test runs in the journal, oldest first.
    pub runs: Vec<TestRun>,
    /// The rest of what the journal tells, with its place among commits and acknowledgements.
    pub told: Told,
    /// Unreadable records and journal lines that were skipped.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the window behind HEAD, and the attempts beside it.
pub fn load(ws: &Workspace) -> Result<Loaded, OpsError> {
    let head = ws.repo.head()?.commit();
    Ok(match NotesStore::open(&ws.repo) {
        Ok(store) => load_at(ws, &store, head),
        Err(err) => unopened(ws, &err.into()),
    })
}

/// The same with HEAD at `head`.
pub fn load_at(ws: &Workspace, store: &NotesStore<'_>, head: Option<CommitId>) -> Loaded {
    let window = window::read_window(&ws.repo, store, head, reach(&ws.config.rules));
    let aside = attempts::aside(ws, store, (head, &window));
    loaded(ws, (window, aside), None)
}

/// Reads the window behind `head` alone; when the notes cannot be opened, the journal alone. It still speaks for the
/// code: a broken notes ref must not switch those rules off too.
pub fn load_behind(ws: &Workspace, head: Option<CommitId>) -> Loaded {
    match NotesStore::open(&ws.repo) {
        Ok(store) => {
            let window = window::read_window(&ws.repo, &store, head, reach(&ws.config.rules));
            loaded(ws, (window, Vec::new()), None)
        }
        Err(err) => unopened(ws, &err.into()),
    }
}

fn unopened(ws: &Workspace, err: &OpsError) -> Loaded {
    loaded(ws, (Window::default(), Vec::new()), Some(err.as_warning()))
}

/// One test run and nothing else.
pub fn of_run(ws: &Workspace, run: TestRun) -> Loaded {
    let timeline = fold(ws, Vec::new());
    Loaded {
        timeline,
        window: Window::default(),
        aside: Vec::new(),
        acks: Vec::new(),
        runs: vec![run],
        told: Told::default(),
        warnings: Vec::new(),
    }
}

fn loaded(ws: &Workspace, (window, aside): (Window, Vec<Attempted>), unopened: Option<Diagnostic>) -> Loaded {
    let journal = Journal::open(ws.repo.git_dir());
    let others = elsewhere(ws, (&window, &aside));
    let answers = others.as_ref().map_or(&[][..], Vec::as_slice);
    let totals = journal.totals(ws.config.guard.session_gap, answers);
    let recent = journal.recent(Reach {
        runs: RUNS,
        commits: reach(&ws.config.rules).max(if aside.is_empty() { 0 } else { MAX_REWRITTEN }),
        turns: if ws.config.workflow.is_declared() { Turns::Counted } else { Turns::Uncounted },
        since: Some(totals.as_ref().map_or(Position::START, |totals| totals.at)),
    });
    let mut warnings: Vec<Diagnostic> = unopened
        .into_iter()
        .chain(window.warnings.iter().chain(&recent.warnings).map(skipped_warning))
        .collect();
    let Recent { runs, mut acks, items, markers, since_ack, safety, .. } = recent;
    match others {
        Ok(others) => {
            let known: Vec<Ack> = acks.iter().map(|(ack, _)| ack.clone()).collect();
            let new = others.into_iter().filter(|ack| !known.contains(ack));
            acks.extend(new.map(|ack| (ack, AckPlace::BeforeCommit)));
        }
        Err(err) => warnings.push(err.as_warning()),
    }
    let told = Told { totals, items, markers, since_ack, safety };
    let timeline = Timeline::new(ws.config.guard.session_gap);
    let mut loaded = Loaded { timeline, window, aside, acks, runs, told, warnings };
    loaded.forget_answered();
    loaded.timeline = fold_steps(ws, loaded.steps());
    loaded
}

/// Folds facts under the configuration of `ws`.
pub fn fold(ws: &Workspace, facts: Vec<Fact>) -> Timeline {
    fold_steps(ws, facts.into_iter().map(FoldStep::Fact).collect())
}

/// Folds steps under the configuration of `ws`.
pub fn fold_steps(ws: &Workspace, steps: Vec<FoldStep>) -> Timeline {
    let mut fold = Fold::new(ws.config.guard.session_gap)
        .in_workflow(ws.config.workflow.clone())
        .counting(ws.config.cached);
    for step in steps {
        match step {
            FoldStep::Fact(fact) => {
                fold.push(fact);
            }
            FoldStep::Answered(ack) => fold.answered(*ack),
            FoldStep::Resume(carry) => fold.resume(*carry),
            FoldStep::Pass(commit) => fold.pass(&commit),
        }
    }
    fold.into_timeline()
}

/// Answers that were given in other worktrees and clones, at commits of this window and of the attempts beside it.
fn elsewhere(ws: &Workspace, (window, aside): (&Window, &[Attempted])) -> Result<Vec<Ack>, OpsError> {
    let facts = window.facts.iter().chain(aside.iter().map(|one| &one.fact));
    let heads: Vec<CommitId> = facts.filter_map(|fact| fact.id).collect();
    Ok(Ledger::open(&ws.repo).acks_at(&heads)?)
}

/// What was skipped, with its place and its hint.
pub(crate) fn skipped_warning(warning: &Warning) -> Diagnostic {
    Diagnostic::warning(warning.why.clone()).at(warning.place.to_string()).help(warning.help())
}

/// What the journal tells beside tests and answers.
#[derive(Debug, Default)]
pub struct Told {
    /// What its first part comes to; `None` where all of it was read.
    pub totals: Option<Totals>,
    /// What follows, oldest first.
    pub items: Vec<Item>,
    /// Commits that were recorded, oldest first, as far back as was looked.
    pub markers: Vec<CommitId>,
    /// How many of them, the newest, were recorded after the newest answer to a halt.
    pub since_ack: usize,
    /// Safety events since the newest commit, oldest first.
    pub safety: Vec<SafetyFact>,
}

/// One step of the fold over a window.
#[derive(Debug, Clone)]
pub enum FoldStep {
    Fact(Fact),
    /// An answer at a commit that the window does not reach.
    Answered(Box<Ack>),
    /// What the first part of the journal comes to.
    Resume(Box<Carry>),
    /// A commit that the window does not reach or that is not behind HEAD: a turn of its node all the same.
    Pass(Passing),
}

impl Loaded {
    /// The timeline with `fact`, which was just derived, as its newest.
    pub fn take_in(&mut self, ws: &Workspace, fact: &CommitFact) {
        let before = std::mem::replace(&mut self.timeline, Timeline::new(ws.config.guard.session_gap));
        let mut fold = Fold::on(before);
        fold.push(Fact::Commit(Box::new(fact.clone())));
        self.timeline = fold.into_timeline();
    }

    /// Drops the attempts that a person has answered for. Where they and the answer are both in this journal, it tells
    /// which came first; else their times do.
    fn forget_answered(&mut self) {
        let answers = self.acks.iter().map(|(ack, _)| ack).filter(|ack| ack.counter.is_none());
        let Some(answered) = answers.map(|ack| ack.at).max() else { return };
        let since = self.told.markers.len().saturating_sub(self.told.since_ack);
        let (before, after) = self.told.markers.split_at(since);
        self.aside.retain(|one| match one.fact.id {
            Some(id) if after.contains(&id) => true,
            Some(id) if before.contains(&id) => false,
            Some(_) | None => one.fact.record.recorded_at > answered,
        });
    }

    /// The commits of the window, with the attempts beside it where they were made.
    fn line(&self) -> Vec<&CommitFact> {
        let mut line = Vec::with_capacity(self.window.facts.len() + self.aside.len());
        let mut aside = self.aside.iter().peekable();
        for (before, fact) in self.window.facts.iter().enumerate() {
            while let Some(one) = aside.next_if(|one| one.after <= before) {
                line.push(&one.fact);
            }
            line.push(fact);
        }
        line.extend(aside.map(|one| &one.fact));
        line
    }

    /// All that was read, in the order of observation.
    ///
    /// Each acknowledgement comes right after the commit that was HEAD then; one whose commit is not in the window
    /// counts only while no commit was recorded after it (then the new record's `iteration` of 1 says the same). An
    /// event comes after the newest commit of the window that was recorded before it. What the first part of the
    /// journal comes to stands after the commits that it has seen.
    pub fn steps(&self) -> Vec<FoldStep> {
        let mut weave = Weave::new(self);
        if let Some(totals) = &self.told.totals {
            weave.commits_up_to(weave.leading);
            weave.answers_before(totals);
            weave.steps.push(FoldStep::Resume(Box::new(totals.carry.clone())));
        }
        for item in &self.told.items {
            weave.take(item);
        }
        weave.commits_up_to(weave.line.len());
        weave.finish()
    }
}

/// Commits, answers and the rest of the journal, being put in order.
struct Weave<'a> {
    loaded: &'a Loaded,
    line: Vec<&'a CommitFact>,
    steps: Vec<FoldStep>,
    /// How many commits of the window were recorded before all that follows in the journal.
    leading: usize,
    /// How many have their place.
    placed: usize,
    /// After how many commits each answer comes that does not have its place in the journal.
    answers: Vec<(usize, usize)>,
    /// Answers to nothing that the window knows, and nothing came after them.
    last: Vec<usize>,
}

impl<'a> Weave<'a> {
    fn new(loaded: &'a Loaded) -> Self {
        let in_place = |number: usize| loaded.told.items.contains(&Item::Ack(number));
        let (line, steps) = (loaded.line(), Vec::new());
        let mut weave =
            Self { loaded, line, steps, leading: 0, placed: 0, answers: Vec::new(), last: Vec::new() };
        weave.leading = weave.seen_before();
        for (number, (ack, place)) in loaded.acks.iter().enumerate() {
            match (ack.head.and_then(|head| weave.index(head)), place) {
                (Some(at), _) if !in_place(number) => weave.answers.push((at + 1, number)),
                (None, AckPlace::Last) if !in_place(number) => weave.last.push(number),
                (Some(_) | None, _) => {}
            }
        }
        weave
    }

    fn index(&self, commit: CommitId) -> Option<usize> {
        self.line.iter().position(|fact| fact.id == Some(commit))
    }

    /// How many commits come before the first that the journal tells of.
    fn seen_before(&self) -> usize {
        let marked = self.loaded.told.items.iter().filter_map(|item| match item {
            Item::Commit(marked) => self.index(marked.commit),
            Item::Event(_) | Item::Ack(_) | Item::Run(_) => None,
        });
        marked.min().unwrap_or(self.line.len())
    }

    fn take(&mut self, item: &Item) {
        match item {
            Item::Event(event) => {
                if self.placed == 0 && self.loaded.told.totals.is_none() {
                    // Commits from elsewhere come before what was observed here.
                    self.commits_up_to(self.leading);
                }
                self.steps.push(FoldStep::Fact(Fact::Event(event.clone())));
            }
            Item::Commit(marked) => match (self.index(marked.commit), &marked.passing) {
                (Some(at), _) => self.commits_up_to(at + 1),
                (None, Some(passing)) => {
                    self.steps.push(FoldStep::Pass(Passing { number: 0, ..passing.clone() }));
                }
                (None, None) => {}
            },
            Item::Run(number) => {
                let run = self.loaded.runs.get(*number).cloned();
                self.steps.extend(run.map(|run| FoldStep::Fact(Fact::TestRun(Box::new(run)))));
            }
            Item::Ack(number) => {
                let Some((ack, place)) = self.loaded.acks.get(*number) else { return };
                match (ack.head.and_then(|head| self.index(head)), place) {
                    (Some(at), _) => self.commits_up_to(at + 1),
                    (None, AckPlace::Last) => self.commits_up_to(self.line.len()),
                    (None, AckPlace::BeforeCommit) => {
                        // The record after it begins the commits anew; of events and votes it says nothing.
                        self.steps.push(FoldStep::Answered(Box::new(ack.clone())));
                        return;
                    }
                }
                self.answer(*number);
            }
        }
    }

    fn answer(&mut self, number: usize) {
        if let Some((ack, _)) = self.loaded.acks.get(number) {
            self.steps.push(FoldStep::Fact(Fact::Ack(Box::new(ack.clone()))));
        }
    }

    /// Gives the first `count` commits their places, and the answers at them.
    fn commits_up_to(&mut self, count: usize) {
        while self.placed < count {
            self.answers_at(self.placed);
            if let Some(commit) = self.line.get(self.placed) {
                self.steps.push(FoldStep::Fact(Fact::Commit(Box::new((*commit).clone()))));
            }
            self.placed += 1;
        }
    }

    fn answers_at(&mut self, count: usize) {
        for (_, number) in self.answers.extract_if(.., |(at, _)| *at == count).collect::<Vec<_>>() {
            self.answer(number);
        }
    }

    /// The answers that `totals` counts already: what follows them there must not begin anew.
    fn answers_before(&mut self, totals: &Totals) {
        let acks = &self.loaded.acks;
        let counted = |number: usize| acks.get(number).is_some_and(|(ack, _)| !totals.is_before(ack));
        let placed = self.placed;
        let here = self.answers.extract_if(.., |(at, number)| *at <= placed && counted(*number));
        let mut here: Vec<usize> = here.map(|(_, number)| number).collect();
        here.append(&mut self.last);
        for number in here {
            self.answer(number);
        }
    }

    fn finish(mut self) -> Vec<FoldStep> {
        self.answers_at(self.placed);
        for number in std::mem::take(&mut self.last) {
            self.answer(number);
        }
        self.steps
    }
}
