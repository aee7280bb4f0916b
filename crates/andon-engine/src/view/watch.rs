//! All loops of a repository at once: what `andon watch` shows, and who needs a person first.

use std::cmp::Reverse;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::{LoopCount, LoopState, LostHooks};
use crate::{asking::WaitingRound, json::record};
use andon_core::domain::{
    CommitId, ContextWindowUse, Diagnostic, EntryId, RunValidity, StandingHalt, TestEvidence, Timestamp,
};

/// The means by which a halt is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBy {
    /// `andon resume`.
    Resume,
    /// The signature of a witness.
    Signature,
}

/// The newest test run of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastRun {
    /// Its result.
    #[serde(rename = "run", serialize_with = "tests")]
    pub evidence: TestEvidence,
    /// Its worth as evidence.
    pub validity: RunValidity,
    /// When it ended, where that is known.
    pub at: Option<Timestamp>,
}

fn tests<S: Serializer>(evidence: &TestEvidence, serializer: S) -> Result<S::Ok, S::Error> {
    record::tests(evidence).serialize(serializer)
}

/// Seconds in which every loop may be quiet.
const SILENT: u64 = 300;

/// The loop in one worktree. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LoopView {
    /// Its state, which the JSON of its worktree has.
    #[serde(skip)]
    pub state: LoopState,
    /// Its iterations.
    #[serde(flatten)]
    pub count: LoopCount,
    /// HEAD; `None` before the first commit.
    pub head: Option<CommitId>,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// The node that acted last.
    pub node: String,
    /// Who made the newest iterations, the newest last.
    #[serde(skip)]
    pub who: Vec<String>,
    /// The unanswered halt that binds it; it may be one of another worktree or clone.
    pub halt: Option<StandingHalt>,
    /// The means of answering that halt.
    pub answer: Option<AnswerBy>,
    /// Failing counts of the test-bearing iterations of the window, oldest first.
    pub trend: Vec<u64>,
    /// The newest test run.
    #[serde(rename = "last_run")]
    pub tests: Option<LastRun>,
    /// The use of the context window, where it is known.
    #[serde(serialize_with = "context_window")]
    pub context: Option<ContextWindowUse>,
    /// When something was last recorded here.
    pub last_at: Option<Timestamp>,
    /// The usual pause between its iterations, in seconds; `None` where too few are known.
    #[serde(skip)]
    pub usual_pause: Option<u64>,
    /// Tokens and cost of the window, in words; empty where no client reports them.
    #[serde(skip)]
    pub cost: String,
    /// The hooks that are gone, if any.
    pub hooks_gone: Option<LostHooks>,
    /// Problems with the sources: unreadable records, skipped lines, a wrong configuration.
    pub warnings: Vec<Diagnostic>,
}

#[allow(clippy::ref_option, reason = "serde hands over a reference to the member")]
fn context_window<S: Serializer>(
    window: &Option<ContextWindowUse>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let members = |found: &ContextWindowUse| {
        json!({
            "node": found.node,
            "used": found.used,
            "window": found.window,
            "percent": found.percent(),
            "threshold": found.pressure.as_str(),
        })
    };
    window.as_ref().map(members).serialize(serializer)
}

impl LoopView {
    /// Who is at work: who made what is there, else the node that acted.
    pub fn by(&self) -> &[String] {
        if self.who.is_empty() { std::slice::from_ref(&self.node) } else { &self.who }
    }

    /// True when a running loop has been quiet for three times its usual pause, and for minutes at least.
    pub fn is_silent(&self, now: Timestamp) -> bool {
        let (Some(last), Some(usual)) = (self.last_at, self.usual_pause) else { return false };
        self.state == LoopState::Running && now.since(last).0 > usual.saturating_mul(3).max(SILENT)
    }
}

/// The state of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeState {
    Loop(Box<LoopView>),
    /// Its directory is not there: removed, or on a disk that is not mounted.
    Away,
    /// Nothing, and why.
    Unreadable(String),
}

impl WorktreeState {
    /// True when this halt binds it.
    pub fn is_bound_by(&self, halt: EntryId) -> bool {
        match self {
            Self::Loop(found) => found.halt.as_ref().is_some_and(|bound| bound.id == halt),
            Self::Away | Self::Unreadable(_) => false,
        }
    }
}

/// One worktree. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeView {
    /// Its name; `main` for the main one.
    pub name: String,
    /// The top of its working tree.
    pub path: String,
    pub seen: WorktreeState,
}

impl Serialize for WorktreeView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (state, error, found) = match &self.seen {
            WorktreeState::Loop(found) => (found.state.as_str(), None, Some(found)),
            WorktreeState::Away => ("away", None, None),
            WorktreeState::Unreadable(why) => ("unreadable", Some(why), None),
        };
        let members = json!({
            "worktree": self.name,
            "path": self.path,
            "state": state,
            "needs_person": WatchLine::Worktree(self).need() == Need::Person,
            "error": error,
            "loop": found,
        });
        members.serialize(serializer)
    }
}

/// A loop of another clone, as far as its branch and its records were fetched. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BranchView {
    /// The remote-tracking branch: `origin/main`.
    #[serde(rename = "branch")]
    pub name: String,
    #[serde(rename = "loop")]
    pub found: LoopView,
}

/// Everything `andon watch` shows: `andon/watch@1`. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WatchView {
    /// When it was looked.
    pub at: Timestamp,
    /// The worktrees, the main one first.
    pub worktrees: Vec<WorktreeView>,
    /// Unanswered halts of other clones, as far as they were synced.
    pub elsewhere: Vec<StandingHalt>,
    /// Loops of other clones in which something was recorded lately.
    pub branches: Vec<BranchView>,
    /// Rounds that wait for people.
    pub rounds: Vec<WaitingRound>,
    /// Problems with the sources.
    pub warnings: Vec<Diagnostic>,
}

/// The need for a person, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// It needs a person to continue.
    Person,
    /// The loop runs.
    Nothing,
    /// The loop is idle.
    Quiet,
}

/// A line of what is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchLine<'a> {
    /// A worktree of this clone.
    Worktree(&'a WorktreeView),
    /// A halt of another clone.
    Elsewhere(&'a StandingHalt),
    /// A loop of another clone.
    Branch(&'a BranchView),
    Round(&'a WaitingRound),
}

impl WatchLine<'_> {
    /// The identity of the line; it does not change with its state.
    pub fn key(&self) -> String {
        match self {
            Self::Worktree(worktree) => format!("w {}", worktree.name),
            Self::Elsewhere(standing) => format!("h {}", standing.id),
            Self::Branch(branch) => format!("b {}", branch.name),
            Self::Round(round) => format!("r {}", round.id),
        }
    }

    /// The loop that it shows, where it is known.
    pub fn found(&self) -> Option<&LoopView> {
        match self {
            Self::Worktree(WorktreeView { seen: WorktreeState::Loop(found), .. }) => Some(found),
            Self::Branch(branch) => Some(&branch.found),
            Self::Worktree(_) | Self::Elsewhere(_) | Self::Round(_) => None,
        }
    }

    /// The halt that waits for an answer.
    pub fn halt(&self) -> Option<&StandingHalt> {
        if let Self::Elsewhere(standing) = self { Some(standing) } else { self.found()?.halt.as_ref() }
    }

    /// True for a worktree whose directory is gone.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Worktree(WorktreeView { seen: WorktreeState::Away, .. }))
    }

    /// The need for a person.
    pub fn need(&self) -> Need {
        match self.found() {
            Some(found) => need_of(found.state),
            None if self.is_away() => Need::Quiet,
            None => Need::Person,
        }
    }

    /// Since when it waits for a person, where that is known.
    pub fn since(&self) -> Option<Timestamp> {
        let round = if let Self::Round(round) = self { Some(round.since) } else { None };
        round.or_else(|| self.halt().map(|halt| halt.halt.at))
    }

    /// The place in the order: what needs a person first, by the longest wait.
    fn urgency(&self) -> (Need, i64) {
        let need = self.need();
        // An unknown time is no reason to hide it behind known ones.
        (need, self.since().filter(|_| need == Need::Person).map_or(i64::MIN, |since| since.0))
    }
}

fn need_of(state: LoopState) -> Need {
    match state {
        LoopState::Halted | LoopState::Stopped | LoopState::Paused | LoopState::HooksGone => Need::Person,
        LoopState::Running => Need::Nothing,
        LoopState::Idle | LoopState::NotInstalled | LoopState::Disabled => Need::Quiet,
    }
}

impl WatchView {
    /// The whole view: first what needs a person, by the longest wait; then the rest in an order that does not change
    /// while a person reads.
    pub fn ordered(&self) -> Vec<WatchLine<'_>> {
        let worktrees = self.worktrees.iter().map(WatchLine::Worktree);
        let elsewhere = self.elsewhere.iter().map(WatchLine::Elsewhere);
        let rounds = self.rounds.iter().map(WatchLine::Round);
        let branches = self.branches.iter().map(WatchLine::Branch);
        let mut all: Vec<WatchLine<'_>> = worktrees.chain(rounds).chain(elsewhere).chain(branches).collect();
        all.sort_by_key(|one| (one.urgency(), Reverse(matches!(one, WatchLine::Worktree(_)))));
        all
    }

    /// The view with its worktrees in the order of [`Self::ordered`].
    #[must_use]
    pub fn with_ordered_worktrees(mut self) -> Self {
        self.worktrees.sort_by_key(|one| WatchLine::Worktree(one).urgency());
        self
    }

    /// The part of it in which `words` occur, whatever their case.
    #[must_use]
    pub fn filtered(&self, words: &str, text: impl Fn(&WatchLine<'_>) -> String) -> Self {
        let words = words.trim().to_lowercase();
        let kept = |line: &WatchLine<'_>| words.is_empty() || text(line).to_lowercase().contains(&words);
        let mut view = self.clone();
        view.worktrees.retain(|one| kept(&WatchLine::Worktree(one)));
        view.elsewhere.retain(|one| kept(&WatchLine::Elsewhere(one)));
        view.branches.retain(|one| kept(&WatchLine::Branch(one)));
        view.rounds.retain(|one| kept(&WatchLine::Round(one)));
        view
    }

    /// The number of lines with this need.
    pub fn count(&self, need: Need) -> usize {
        self.ordered().iter().filter(|one| one.need() == need).count()
    }
}
