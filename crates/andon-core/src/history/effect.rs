//! The effect of an iteration on what runs.

use std::collections::BTreeSet;

use super::{Iteration, Source, Strike, Timeline, TurnChange, timeline::Memo};
use crate::domain::{CommitId, Edits, Hunk, HunkHash, Nature, Recording};

impl Iteration {
    /// Returns whether it changed files, and nothing of that is left after normalization.
    pub(crate) fn is_cosmetic(&self) -> bool {
        self.diff.empty && self.diff.files > 0
    }

    /// Returns whether no hook saw it and nothing is known of its tests. Its date, subject and diff are the only evidence,
    /// which is less than the evidence that halts a recorded loop.
    pub(crate) fn is_unobserved(&self) -> bool {
        self.source == Source::Commit && self.recording == Recording::Derived && self.tests.is_none()
    }

    /// Its commit, where this clone has it: of one that another clone recorded and never pushed, neither subject nor author is known.
    pub(crate) fn commit_here(&self) -> Option<CommitId> {
        self.commit.filter(|_| !(self.subject.is_empty() && self.author.is_empty()))
    }

    /// Its nature when it is weak: nothing that runs has changed. A change that is empty after normalization is one of
    /// white space. `None` too where nothing is known.
    pub(crate) fn weak_nature(&self) -> Option<Nature> {
        let nature = self.change.as_ref()?.nature;
        if nature == Nature::Nothing && self.diff.files > 0 {
            return Some(Nature::Space);
        }
        nature.is_weak().then_some(nature)
    }

    /// The paths that it changed.
    fn paths(&self) -> BTreeSet<HunkHash> {
        self.change.iter().flat_map(|change| &change.paths).map(|step| step.path).collect()
    }

    /// The paths that each of `iterations` changed.
    pub(crate) fn paths_of_all(iterations: &[&Self]) -> Vec<HunkHash> {
        let Some((first, others)) = iterations.split_first() else { return Vec::new() };
        let mut all: Vec<HunkHash> = first.paths().into_iter().collect();
        for one in others {
            if all.is_empty() {
                break;
            }
            let own = one.paths();
            all.retain(|path| own.contains(path));
        }
        all
    }

    /// Returns whether another person wrote it than `before`, as far as is known.
    pub(crate) fn is_by_another(&self, before: &Self) -> bool {
        !self.author.is_empty() && !before.author.is_empty() && self.author != before.author
    }

    /// Returns whether the two worked in the same place: all paths of the one are among those of the other. Releases of one
    /// package after the other have a lock file in common, and nothing else.
    pub(crate) fn same_place(&self, other: &Self) -> bool {
        let (own, others) = (self.paths(), other.paths());
        !own.is_empty() && !others.is_empty() && (own.is_subset(&others) || others.is_subset(&own))
    }
}

/// Comments of one file of which a line is changed commit after commit, with nothing else in between: from so many on
/// they are no tour through the file any more, whatever their place. People who document a file commit by commit write
/// more than that at a time.
const TOUR: usize = 5;
/// That many lines are a line or two.
const SMALL: u64 = 2;

impl Iteration {
    /// Returns whether a weak change goes over what the weak ones before did, in the place of the one right before. Comments are
    /// documentation too: people work through those of one file, commit by commit, each time elsewhere. So they count
    /// only where the lines are those that the one before wrote, where a line or two are put on top, or a line or two that
    /// any of them wrote (`written`) are changed again. The versions of other packages are other lines: only a version
    /// that goes up again counts.
    fn says_it_again(&self, before: Option<&Self>, written: &BTreeSet<HunkHash>) -> bool {
        let Some(before) = before.filter(|before| before.weak_nature().is_some()) else { return true };
        let removed = self.lines(|hunk| hunk.removed);
        let over = before.diff.hunks.iter().any(|hunk| removed.contains(&hunk.added));
        let on_top = self.diff.removed == 0 && self.diff.added <= SMALL;
        let is_small = self.diff.added <= SMALL && self.diff.removed <= SMALL;
        let anew = || is_small && removed.iter().any(|lines| written.contains(lines));
        let counts = match self.weak_nature() {
            Some(Nature::Comments | Nature::Weak) => over || on_top || anew(),
            Some(Nature::Version) => {
                self.goes_over(before) || removed.iter().any(|lines| written.contains(lines))
            }
            Some(_) => true,
            None => false,
        };
        counts && self.same_place(before)
    }

    /// Returns whether it takes out lines that `before` wrote, as far as the lines of both are known.
    pub(crate) fn goes_over(&self, before: &Self) -> bool {
        if self.diff.hunks.is_empty() || before.diff.hunks.is_empty() {
            return true;
        }
        let written = before.lines(|hunk| hunk.added);
        self.diff.hunks.iter().any(|hunk| written.contains(&hunk.removed))
    }

    /// The lines of one side of its hunks, where they have any there.
    fn lines(&self, side: fn(&Hunk) -> HunkHash) -> BTreeSet<HunkHash> {
        self.diff.hunks.iter().map(side).filter(|lines| *lines != Hunk::NO_LINES).collect()
    }

    /// The one path that was changed, where it is one.
    fn only_path(&self) -> Option<HunkHash> {
        let change = self.change.as_ref().filter(|change| !change.truncated)?;
        if let [only] = change.paths.as_slice() { Some(only.path) } else { None }
    }
}

impl Timeline {
    /// Counts how many strike candidates running, up to the iteration at index `at`, left what runs as it was: they changed
    /// nothing, made the change before again, or were weak in the place of the one before. Of weak ones at least two in
    /// three go over the same again, or `TOUR` and more do so or change a line, all in one file.
    pub(crate) fn unchanged_running(&self, at: usize) -> u64 {
        let run = self.unchanged_run(at);
        let mut written: BTreeSet<HunkHash> = BTreeSet::new();
        let mut repeats = vec![false; run.len()];
        for (number, (one, again)) in run.iter().enumerate().rev() {
            let before = run.get(number + 1).map(|(before, _)| *before);
            repeats[number] = one.diff.empty || *again || one.says_it_again(before, &written);
            written.extend(one.diff.hunks.iter().map(|hunk| hunk.added));
        }
        let (mut running, mut same, mut tour) = (0, 0_usize, true);
        for (number, (one, _)) in run.iter().enumerate() {
            let length = number + 1;
            same += usize::from(repeats[number]);
            let line = one.diff.added <= 1 && one.diff.removed <= 1;
            tour &= repeats[number] || (line && one.weak_nature() != Some(Nature::Version));
            tour &= one.only_path().is_some() && one.only_path() == run[0].0.only_path();
            if same * 3 >= length * 2 || (tour && length >= TOUR) {
                running = length;
            }
        }
        u64::try_from(running).unwrap_or(u64::MAX)
    }

    /// Those strike candidates, newest first, each with whether it makes the change before again.
    fn unchanged_run(&self, at: usize) -> Vec<(&Iteration, bool)> {
        let seen = self.iterations.get(..=at).unwrap_or_default();
        let candidates = seen.iter().rev().filter(|one| one.strike == Strike::Candidate);
        let mut candidates = candidates.filter(|one| self.could_change(one)).peekable();
        let mut run = Vec::new();
        while let Some(one) = candidates.next() {
            let before = candidates.peek().copied();
            let again = before.is_some_and(|before| before.diff.hash == one.diff.hash);
            let first = before.is_none_or(|before| before.weak_nature().is_none());
            let weak =
                one.weak_nature().is_some() && (first || before.is_some_and(|before| one.same_place(before)));
            if !(one.diff.empty || again || weak) {
                break;
            }
            run.push((one, again));
        }
        run
    }

    /// Returns whether an iteration was meant to change what runs: a turn that planned, reviewed or did something unknown says
    /// nothing about that.
    fn could_change(&self, iteration: &Iteration) -> bool {
        match iteration.source {
            Source::Commit | Source::Turn(TurnChange::Changed) => true,
            Source::Turn(TurnChange::Documents | TurnChange::Unknown) => false,
            Source::Turn(TurnChange::Unchanged) => self.workflow.edits(&iteration.node) != Edits::None,
        }
    }

    /// The window as it was when it had `count` iterations.
    #[must_use]
    pub fn until(&self, count: usize) -> Self {
        let mut earlier = Self { known_flaky: Memo::default(), ..self.clone() };
        if count < self.iterations.len() {
            earlier.amended.clear();
            earlier.iterations.truncate(count);
            // Work after an iteration belongs to the next one.
            let newest = earlier.number();
            earlier.activity.ballots.retain(|cast| cast.iteration < newest);
            earlier.activity.calls.retain(|call| call.iteration < newest);
        }
        earlier
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::Nature;
    use crate::testkit::{commit, timeline};

    #[test]
    fn what_leaves_the_program_as_it_was_is_counted() {
        let weak = |state: u8, path| {
            let own = commit(state).change(Nature::Comments, &[(path, state, state + 1)]);
            own.hunks(&[(state, state + 1)])
        };
        let running = |commits: Vec<_>| {
            let line = timeline(commits);
            line.unchanged_running(line.iterations.len().saturating_sub(1))
        };
        assert_eq!(running(vec![]), 0);
        assert_eq!(running(vec![commit(1), commit(2)]), 0);
        assert_eq!(running(vec![commit(1), commit(1).empty(), commit(1).empty()]), 2);
        assert_eq!(running(vec![commit(1).diff(7), commit(2).diff(7), commit(3).diff(7)]), 2);
        assert_eq!(running(vec![commit(1), weak(2, 1), weak(3, 1), weak(4, 1)]), 3);
        assert_eq!(running(vec![commit(1), weak(2, 1), weak(3, 2), weak(4, 3)]), 0, "file after file");
        assert_eq!(running(vec![commit(1).empty(), commit(2)]), 0);
        let elsewhere = |state: u8| weak(state, 1).hunks(&[(state, state + 100)]).lines(9, 9);
        assert_eq!(
            running(vec![commit(1), elsewhere(2), elsewhere(3), elsewhere(4)]),
            0,
            "comment after comment"
        );
        let tour = |lines: u64| -> Vec<_> {
            (2..7).map(|state| weak(state, 1).hunks(&[(state, state + 100)]).lines(lines, lines)).collect()
        };
        assert_eq!(running(tour(1)), 5, "a line or two of one file, five times in a row");
        assert_eq!(running(tour(3)), 0, "a file is documented");
        assert_eq!(running(tour(1)[..4].to_vec()), 0);
        let digest = <sha2::Sha256 as sha2::Digest>::digest(b"");
        assert_eq!(crate::domain::Hunk::NO_LINES.0, digest[..8]);
        let taken_out_and_put_in = |state: u8| {
            let mut one = weak(state, 1).lines(9, 9);
            let hash = |byte| crate::domain::HunkHash([byte; 8]);
            let hunk = |removed, added| crate::domain::Hunk { removed, added };
            one.record().diff.hunks = vec![
                hunk(hash(state), crate::domain::Hunk::NO_LINES),
                hunk(crate::domain::Hunk::NO_LINES, hash(state + 100)),
            ];
            one
        };
        assert_eq!(running((2..7).map(taken_out_and_put_in).collect()), 0, "nothing goes over nothing");
        let upgrade = |state: u8, hunk| {
            commit(state).change(Nature::Version, &[(1, state, state + 1)]).hunks(&[hunk]).lines(1, 1)
        };
        let upgrades = (2..9).map(|state| upgrade(state, (state, state + 100))).collect();
        assert_eq!(running(upgrades), 0, "package after package");
        let again = (2..9).map(|state| upgrade(state, (state, state + 1))).collect();
        assert_eq!(running(again), 7, "one version goes up and up");
        let own = |state: u8, hunk: (u8, u8)| weak(state, 1).hunks(&[hunk]).lines(1, 1);
        let to_and_fro = vec![own(2, (1, 50)), own(3, (3, 103)), own(4, (50, 51)), own(5, (51, 52))];
        assert_eq!(running(to_and_fro), 4, "what one of them wrote is reworded");
    }
}
