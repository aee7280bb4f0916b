//! Which texts are needed to judge a history that nobody recorded: ids first, texts only where a rule can have something
//! to say about them ([`detect::line_thresholds`]).
//!
//! Asked in rounds. A rule trips only when several candidates running look alike, so that reading one of them is mostly
//! enough to know that it does not; and whether a change is nothing but white space shows at one file of it. Where a rule
//! still may trip after that, its whole window is read. What is asked for is never too little: a judgement over the
//! facts of all rounds is that over all texts. Assumed answers after a halt only make windows shorter.
//!
//! [`detect::line_thresholds`]: crate::detect::line_thresholds

use std::collections::BTreeMap;

use crate::detect::LineThresholds;
use crate::domain::change::{ChangeFacts, PathStep};
use crate::domain::facts::{DiffSummary, Hunk};
use crate::domain::ids::{CodeId, HunkHash};
use crate::history::{MAX_ITERATIONS, Strike};

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
    /// Everything, where documents are among it.
    Documents,
    /// Everything.
    Text,
}

/// The questions of one round about the commits of `line` from `from` on; those before were answered.
pub(super) fn asked(line: &[Seen], from: usize, least: &LineThresholds) -> BTreeMap<usize, Ask> {
    let mut round = Round { line, from, least, asked: BTreeMap::new() };
    for at in from..line.len() {
        round.commit(at);
    }
    round.asked
}

struct Round<'a> {
    line: &'a [Seen],
    from: usize,
    least: &'a LineThresholds,
    asked: BTreeMap<usize, Ask>,
}

impl Round<'_> {
    fn commit(&mut self, at: usize) {
        let window: Vec<usize> =
            std::iter::successors(Some(at), |at| self.line[*at].before).take(MAX_ITERATIONS).collect();
        let recorded = window.iter().any(|at| self.line[*at].recorded);
        if recorded || self.line[at].open {
            return self.all_of(&window);
        }
        let mut candidates = window.clone();
        candidates.retain(|at| self.line[*at].strike == Strike::Candidate);
        if candidates.first() != Some(&at) {
            return;
        }
        let empty = candidates.iter().filter(|at| self.line[**at].diff.files == 0).count();
        if self.least.failures.is_some_and(|least| empty >= least) {
            self.all_of(&window);
        }
        self.repeating(&window, &candidates);
        self.weak(&window, &candidates);
        self.undoing(&window, &candidates);
        // What `co-occurrence` asks beside another signal.
        if self.least.unchanged.is_some() && self.returns(&window) {
            self.all_of(&window);
        }
    }

    fn ask(&mut self, at: usize, ask: Ask) {
        let done = match ask {
            Ask::Glance(_) => self.line[at].read != Read::Ids,
            Ask::Documents | Ask::Text => self.line[at].read == Read::Whole,
        };
        if at >= self.from && !done {
            let asked = self.asked.entry(at).or_insert(ask);
            *asked = ask.max(*asked);
        }
    }

    /// Asks for the texts of `ats`; whether any of them was not read yet.
    fn texts(&mut self, ats: &[usize]) -> bool {
        for at in ats {
            self.ask(*at, Ask::Text);
        }
        ats.iter().any(|at| self.line[*at].read != Read::Whole && *at >= self.from)
    }

    /// All that any rule can ask of a window.
    fn all_of(&mut self, window: &[usize]) {
        for at in window {
            let candidate = self.line[*at].strike == Strike::Candidate;
            self.ask(*at, if candidate { Ask::Text } else { Ask::Documents });
        }
    }

    /// `unchanged-diff`.
    fn repeating(&mut self, window: &[usize], candidates: &[usize]) {
        let Some(least) = self.least.repeats else { return };
        let run = &candidates[..candidates.len().min(least)];
        let before = |at: usize| candidates.get(at + 1).copied();
        let may = |at: usize| self.may_repeat(run[at], before(at));
        if run.len() < least || !(0..run.len()).all(may) {
            return;
        }
        let glance = (0..run.len()).find(|at| {
            let one = &self.line[run[*at]];
            one.read == Read::Ids && one.diff.files > 0 && run[*at] >= self.from
        });
        if let Some(at) = glance {
            return self.ask(run[at], Ask::Glance(before(at)));
        }
        let with_before = &candidates[..candidates.len().min(least.saturating_add(1))];
        if !self.texts(with_before) {
            self.all_of(window);
        }
    }

    fn may_repeat(&self, at: usize, before: Option<usize>) -> bool {
        let one = &self.line[at];
        let same = || before.is_some_and(|before| may_equal(one, &self.line[before]));
        match one.read {
            _ if one.diff.files == 0 => true,
            Read::Whole => one.diff.empty || same(),
            Read::Differs { .. } => same(),
            // What is added, deleted or moved is left after any normalization.
            Read::Ids | Read::Unclear => one.change.paths.iter().all(PathStep::stays) || same(),
        }
    }

    /// `weak-change`: empty commits are passed over.
    fn weak(&mut self, window: &[usize], candidates: &[usize]) {
        let Some(least) = self.least.weak else { return };
        let mut run: Vec<usize> = Vec::new();
        for at in candidates.iter().copied().filter(|at| self.line[*at].diff.files > 0) {
            let one = &self.line[at];
            let strong = one.read == Read::Whole && !is_weak(one);
            if strong || run.last().is_some_and(|later| !same_place(one, &self.line[*later])) {
                break;
            }
            run.push(at);
            if run.len() >= least {
                break;
            }
        }
        if run.len() < least {
            return;
        }
        // One that is work is enough to know.
        match run.iter().find(|at| self.line[**at].read != Read::Whole && **at >= self.from) {
            Some(at) => self.ask(*at, Ask::Text),
            None => self.all_of(window),
        }
    }

    /// `undo-churn`.
    fn undoing(&mut self, window: &[usize], candidates: &[usize]) {
        let Some(undo) = &self.least.undo else { return };
        let mut counted = candidates.to_vec();
        counted.retain(|at| !self.line[*at].passed_over);
        if counted.len() < undo.over || counted.first() != candidates.first() {
            return;
        }
        let met = |at: usize| -> Vec<usize> {
            let one = &self.line[counted[at]].change;
            let before = counted.iter().skip(at + 1).take(undo.window);
            before.copied().filter(|before| one.meets(&self.line[*before].change)).collect()
        };
        let newest = met(0);
        if newest.is_empty() || (1..undo.over).all(|at| met(at).is_empty()) {
            return;
        }
        if !self.texts(&[&counted[..1], &newest].concat()) && self.undoes(counted[0], &newest) {
            self.all_of(window);
        }
    }

    fn undoes(&self, at: usize, before: &[usize]) -> bool {
        let hunks = |at: usize| self.line[at].diff.hunks.iter();
        hunks(at).any(|hunk| {
            let back = Hunk { removed: hunk.added, added: hunk.removed };
            back != *hunk && before.iter().any(|before| hunks(*before).any(|theirs| *theirs == back))
        })
    }

    /// Whether the newest commit brings back a state of the code that was left.
    fn returns(&self, window: &[usize]) -> bool {
        let code = |at: &usize| self.line[*at].code;
        let Some((newest, before)) = window.split_first() else { return false };
        let left = before.iter().position(|at| code(at) != code(newest)).unwrap_or(before.len());
        left == 0 && before.iter().any(|at| code(at) == code(newest))
    }
}

/// Whether the diff of `one` may be that of `before`, as far as is known.
fn may_equal(one: &Seen, before: &Seen) -> bool {
    if one.read == Read::Whole && before.read == Read::Whole {
        return one.diff.hash == before.diff.hash;
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
fn is_weak(one: &Seen) -> bool {
    one.change.nature.is_weak() || one.change.nature == crate::domain::change::Nature::Nothing
}

/// As [`crate::history::Iteration::same_place`].
fn same_place(one: &Seen, other: &Seen) -> bool {
    let among = |one: &ChangeFacts, other: &ChangeFacts| {
        one.paths.iter().all(|step| other.paths.iter().any(|theirs| theirs.path == step.path))
    };
    let (own, others) = (&one.change, &other.change);
    !own.paths.is_empty() && !others.paths.is_empty() && (among(own, others) || among(others, own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::change::Nature;
    use crate::domain::ids::DiffHash;

    /// Commit `at` of a line, which changed the paths `paths`, and left them where they are.
    fn seen(at: usize, paths: &[u8]) -> Seen {
        let number = u8::try_from(at + 1).unwrap();
        let hash = |byte: u8| HunkHash([byte; 8]);
        let step = |path: &u8| PathStep { path: hash(*path), old: hash(number), new: hash(number + 1) };
        let files = paths.len() as u64;
        Seen {
            before: at.checked_sub(1),
            strike: Strike::Candidate,
            recorded: false,
            passed_over: false,
            open: false,
            code: CodeId([number; 32]),
            diff: DiffSummary {
                hash: DiffHash([number; 32]),
                empty: files == 0,
                files,
                added: 0,
                removed: 0,
                hunks: Vec::new(),
                truncated: false,
            },
            change: ChangeFacts {
                nature: Nature::Work,
                paths: paths.iter().map(step).collect(),
                truncated: false,
                docs: None,
            },
            read: Read::Ids,
        }
    }

    fn line(paths: &[&[u8]]) -> Vec<Seen> {
        paths.iter().enumerate().map(|(at, paths)| seen(at, paths)).collect()
    }

    fn round(line: &[Seen]) -> Vec<(usize, Ask)> {
        let settings = crate::detect::defaults();
        asked(line, 0, &crate::detect::line_thresholds(&settings)).into_iter().collect()
    }

    #[test]
    fn one_look_in_two_tells_that_nothing_repeats() {
        let mut commits = line(&[&[1], &[2], &[3], &[4]]);
        assert_eq!(round(&commits[..1]), [], "alone");
        let looks = round(&commits);
        assert_eq!(looks, [1, 2, 3].map(|at| (at, Ask::Glance(Some(at - 1)))));
        for at in [1, 3] {
            commits[at].read = Read::Differs { apart: true };
        }
        assert_eq!(round(&commits), []);
        commits[1].read = Read::Unclear;
        assert_eq!(round(&commits), [(0, Ask::Glance(None)), (2, Ask::Glance(Some(1)))]);
    }

    #[test]
    fn what_may_be_the_same_again_is_read() {
        let mut commits = line(&[&[1], &[1]]);
        commits[0].read = Read::Unclear;
        commits[1].read = Read::Differs { apart: false };
        assert_eq!(round(&commits), [(0, Ask::Text), (1, Ask::Text)]);
        for (commit, empty) in commits.iter_mut().zip([false, true]) {
            (commit.read, commit.diff.empty) = (Read::Whole, empty);
        }
        assert_eq!(round(&commits), []);
    }

    #[test]
    fn one_of_three_in_one_place_is_read_and_then_the_others() {
        let mut commits = line(&[&[1], &[1], &[1]]);
        for commit in &mut commits {
            commit.read = Read::Differs { apart: true };
        }
        assert_eq!(round(&commits), [(2, Ask::Text)]);
        commits[2].read = Read::Whole;
        assert_eq!(round(&commits), [], "it is work");
        commits[2].change.nature = Nature::Comments;
        assert_eq!(round(&commits), [(1, Ask::Text)]);
    }

    #[test]
    fn windows_beside_records_and_open_ends_are_read_whole() {
        let mut commits = line(&[&[1], &[2], &[3]]);
        commits[1].strike = Strike::Exempt;
        commits[2].open = true;
        let all = [(0, Ask::Text), (1, Ask::Documents), (2, Ask::Text)];
        assert_eq!(round(&commits), all);
        commits[2].open = false;
        commits[0].recorded = true;
        assert_eq!(round(&commits), all);
        commits[0].read = Read::Whole;
        assert_eq!(round(&commits), all[1..], "a record needs none");
    }
}
