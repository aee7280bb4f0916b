//! What is known of the commits of a history while their texts are asked for (`super::need`).

use crate::domain::change::ChangeFacts;
use crate::domain::facts::{DiffSummary, Hunk};
use crate::domain::ids::{CodeId, HunkHash};
use crate::history::{MAX_ITERATIONS, Strike};
use crate::record::diff::{HunkLines, Sketch};

/// What is known of a commit so far.
pub(super) struct Seen {
    /// The one before it in its window.
    pub before: Option<usize>,
    pub strike: Strike,
    /// Its record speaks for it, or stands beside it: nothing is spared where there is one.
    pub recorded: bool,
    /// `undo-churn` passes over it.
    pub passed_over: bool,
    /// A later commit, of which nothing is known yet, builds on it.
    pub open: bool,
    pub code: CodeId,
    pub diff: DiffSummary,
    pub change: ChangeFacts,
    pub read: Read,
    pub lines: Lines,
    /// Whether it is more than a weak change, where that is known though it was not read whole.
    pub strong: Option<bool>,
    pub window: Window,
}

impl Seen {
    /// Its hunks, where they are known.
    pub(super) fn hunks(&self) -> Option<Vec<Hunk>> {
        match &self.lines {
            Lines::Hunks(hunks) => Some(hunks.iter().map(|lines| lines.hunk).collect()),
            Lines::Unknown | Lines::Sketch(_) if self.read == Read::Whole => Some(self.diff.hunks.clone()),
            Lines::Unknown | Lines::Sketch(_) => None,
        }
    }
}

/// What is known of the lines of a commit that was not read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lines {
    Unknown,
    /// What it may have changed.
    Sketch(Sketch),
    /// What it changed.
    Hunks(Vec<HunkLines>),
}

/// What is known of the window that a commit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Window {
    /// Nothing was asked for yet.
    New,
    /// Something was.
    Asked,
    /// No rule has anything to say about its texts, which could be told without a question.
    Plain,
    /// The same, and it took some.
    Quiet,
    /// All of it was read.
    Read,
}

/// How much of a commit was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// No text.
    Ids,
    /// One file: something is left after normalization.
    Differs {
        /// At a path that the candidate before did not change.
        apart: bool,
    },
    /// One file, which told nothing.
    Unclear,
    /// All that will be read.
    Whole,
}

/// What is to be read of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ask {
    /// One file, if possible one that the candidate before (its place) did not change.
    Glance(Option<usize>),
    /// Whether it is more than a weak change.
    Strength,
    /// Which lines may have changed.
    Sketch,
    /// Its hunks.
    Hunks,
    /// Everything, where documents are among it.
    Documents,
    /// Everything.
    Text,
}

/// The commits of the window that ends at `at`, the newest first.
pub(super) fn window(line: &[Seen], at: usize) -> Vec<usize> {
    std::iter::successors(Some(at), |at| line[*at].before).take(MAX_ITERATIONS).collect()
}

/// Whether all of a window is read, whatever the rules say.
pub(super) fn is_read(line: &[Seen], window: &[usize]) -> bool {
    window.iter().any(|at| line[*at].recorded) || window.first().is_some_and(|at| line[*at].open)
}

/// Whether the diff of `one` may be that of `before`, as far as is known.
pub(super) fn may_equal(one: &Seen, before: &Seen) -> bool {
    if one.read == Read::Whole && before.read == Read::Whole {
        return one.diff.hash == before.diff.hash;
    }
    if let (Some(hunks), Some(theirs)) = (one.hunks(), before.hunks())
        && hunks != theirs
    {
        return false;
    }
    let moves = |seen: &Seen| -> Vec<HunkHash> {
        let steps = seen.change.paths.iter().filter(|step| !step.stays());
        steps.map(|step| step.path).collect()
    };
    before.diff.files > 0
        && one.read != Read::Differs { apart: true }
        && (one.change.truncated || before.change.truncated || moves(one) == moves(before))
}

/// As [`crate::history::Iteration::weak_nature`].
pub(super) fn is_weak(one: &Seen) -> bool {
    one.change.nature.is_weak() || one.change.nature == crate::domain::change::Nature::Nothing
}

/// As [`crate::history::Iteration::same_place`].
pub(super) fn same_place(one: &Seen, other: &Seen) -> bool {
    let among = |one: &ChangeFacts, other: &ChangeFacts| {
        one.paths.iter().all(|step| other.paths.iter().any(|theirs| theirs.path == step.path))
    };
    let (own, others) = (&one.change, &other.change);
    !own.paths.is_empty() && !others.paths.is_empty() && (among(own, others) || among(others, own))
}
