//! Which commits reach which: walks over history, newest first.
//!
//! libgit2 has such walks, but opens the commits by itself, also one whose file was cut short, for which it waits for ever
//! ([`crate::objects::vetting`]). These are git's own: marks are passed on to parents until every commit that waits is known twice.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::{Repo, Result};
use andon_core::domain::CommitId;

/// Reached from the one side: of a range, wanted.
const ONE: u8 = 1;
/// Reached from the other side: of a range, hidden.
const OTHER: u8 = 2;
/// Below a merge base.
const BELOW: u8 = 4;

/// A commit and its first parent.
pub type Child = (CommitId, Option<CommitId>);

/// Commits that are looked at beyond those that are older than what was found: clocks differ.
const SLOP: usize = 5;

/// The marks of a commit and its place in the walk.
struct CommitMarks {
    marks: u8,
    waits: bool,
    time: i64,
    parents: Vec<CommitId>,
}

/// A walk from the newest commit on.
struct Walk<'r> {
    repo: &'r Repo,
    known: HashMap<CommitId, CommitMarks>,
    /// By time; those of one time in the order in which they came.
    queue: BinaryHeap<(i64, Reverse<usize>, CommitId)>,
    came: usize,
    /// Marks of commits that need not be looked at for their own sake.
    settled: u8,
    /// The number of those that wait and are not settled.
    unsettled: usize,
}

impl<'r> Walk<'r> {
    fn new(repo: &'r Repo, settled: u8) -> Self {
        Self { repo, known: HashMap::new(), queue: BinaryHeap::new(), came: 0, settled, unsettled: 0 }
    }

    fn mark(&mut self, id: CommitId, marks: u8) -> Result<()> {
        if !self.known.contains_key(&id) {
            let text = self.repo.commit_text(id)?;
            let (time, parents) = (text.person("committer").2.0, text.parents.clone());
            self.known.insert(id, CommitMarks { marks: 0, waits: false, time, parents });
        }
        let Some(known) = self.known.get_mut(&id) else { return Ok(()) };
        if known.marks & marks == marks {
            return Ok(());
        }
        let counted = known.waits && known.marks & self.settled == 0;
        known.marks |= marks;
        let counts = known.marks & self.settled == 0;
        self.unsettled = self.unsettled - usize::from(counted) + usize::from(counts);
        if !known.waits {
            known.waits = true;
            self.queue.push((known.time, Reverse(self.came), id));
            self.came += 1;
        }
        Ok(())
    }

    /// The newest that waits, with its marks and parents.
    fn next(&mut self) -> Option<(CommitId, u8, Vec<CommitId>)> {
        let (_, _, id) = self.queue.pop()?;
        let known = self.known.get_mut(&id)?;
        known.waits = false;
        self.unsettled -= usize::from(known.marks & self.settled == 0);
        Some((id, known.marks, known.parents.clone()))
    }

    fn marks(&self, id: CommitId) -> u8 {
        self.known.get(&id).map_or(0, |known| known.marks)
    }
}

impl Repo {
    /// The best common ancestors, the newest first.
    pub(crate) fn merge_bases(&self, one: CommitId, other: CommitId) -> Result<Vec<CommitId>> {
        let (walk, common) = self.common(one, other)?;
        let found: Vec<CommitId> = common.into_iter().filter(|id| walk.marks(*id) & BELOW == 0).collect();
        let mut best = Vec::new();
        for id in &found {
            let mut others = found.iter().filter(|other| *other != id);
            if !others.try_fold(false, |below, other| Ok(below || self.is_ancestor(*id, *other)?))? {
                best.push(*id);
            }
        }
        Ok(best)
    }

    /// A best common ancestor; `None` for unrelated histories.
    pub fn merge_base(&self, one: CommitId, two: CommitId) -> Result<Option<CommitId>> {
        Ok(self.merge_bases(one, two)?.first().copied())
    }

    /// True if `descendant` reaches `ancestor`; a commit reaches itself.
    pub fn is_ancestor(&self, ancestor: CommitId, descendant: CommitId) -> Result<bool> {
        if ancestor == descendant {
            return Ok(true);
        }
        let (walk, _) = self.common(ancestor, descendant)?;
        Ok(walk.marks(ancestor) & OTHER != 0)
    }

    /// Walks from both down to where every commit is below a common one; those, the newest first.
    fn common(&self, one: CommitId, other: CommitId) -> Result<(Walk<'_>, Vec<CommitId>)> {
        let mut walk = Walk::new(self, BELOW);
        walk.mark(one, ONE)?;
        walk.mark(other, OTHER)?;
        let mut common = Vec::new();
        while walk.unsettled > 0 {
            let Some((id, mut marks, parents)) = walk.next() else { break };
            if marks == ONE | OTHER {
                common.push(id);
                marks |= BELOW;
            }
            for parent in parents {
                walk.mark(parent, marks)?;
            }
        }
        Ok((walk, common))
    }

    /// The commits that `from` reaches and `hidden` does not, parents before children.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub fn reached(&self, from: &[CommitId], hidden: &[CommitId]) -> Result<Vec<CommitId>> {
        Ok(self.reached_with_parents(from, hidden)?.into_iter().map(|(commit, _)| commit).collect())
    }

    /// The same, each with its first parent: who follows lines of history reads no commit for it again.
    pub(crate) fn reached_with_parents(&self, from: &[CommitId], hidden: &[CommitId]) -> Result<Vec<Child>> {
        let mut walk = Walk::new(self, OTHER);
        for (ids, mark) in [(from, ONE), (hidden, OTHER)] {
            for id in ids {
                walk.mark(*id, mark)?;
            }
        }
        let (mut found, mut oldest, mut slop) = (Vec::new(), i64::MAX, 0);
        while let Some((time, ..)) = walk.queue.peek() {
            // A hidden commit that is newer than those found may still lead to them.
            slop = if walk.unsettled > 0 || (*time >= oldest && !found.is_empty()) { 0 } else { slop + 1 };
            if slop > SLOP || (found.is_empty() && walk.unsettled == 0) {
                break;
            }
            let time = *time;
            let Some((id, marks, parents)) = walk.next() else { break };
            if marks & OTHER == 0 {
                found.push(id);
                oldest = oldest.min(time);
            }
            let passed = if marks & OTHER == 0 { marks } else { OTHER };
            for parent in parents {
                walk.mark(parent, passed)?;
            }
        }
        found.retain(|id| walk.marks(*id) & OTHER == 0);
        let parent = |id: &CommitId| walk.known.get(id)?.parents.first().copied();
        Ok(parents_first(&found, &walk.known).into_iter().map(|id| (id, parent(&id))).collect())
    }
}

/// These commits, which come newest first, with every parent before its children; lines of history stay together.
fn parents_first(commits: &[CommitId], known: &HashMap<CommitId, CommitMarks>) -> Vec<CommitId> {
    let mut children: HashMap<CommitId, usize> = commits.iter().map(|id| (*id, 0)).collect();
    let parents = |id: &CommitId| known.get(id).map_or(&[][..], |known| &known.parents);
    for parent in commits.iter().flat_map(parents) {
        children.entry(*parent).and_modify(|count| *count += 1);
    }
    let mut open: Vec<CommitId> =
        commits.iter().rev().filter(|id| children.get(id) == Some(&0)).copied().collect();
    let mut sorted = Vec::with_capacity(commits.len());
    while let Some(id) = open.pop() {
        sorted.push(id);
        for parent in parents(&id) {
            if let Some(count) = children.get_mut(parent) {
                *count -= 1;
                if *count == 0 {
                    open.push(*parent);
                }
            }
        }
    }
    sorted.reverse();
    sorted
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{NewCommit, testkit::Scratch};
    use andon_core::domain::Timestamp;

    /// Commits with up to three parents among those before them, some at the same time.
    fn woven(scratch: &Scratch, mut seed: u64) -> Vec<CommitId> {
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        scratch.commit("a", "1", "root");
        let (repo, tree) = (scratch.open(), scratch.tree("HEAD"));
        let mut commits: Vec<CommitId> = Vec::new();
        for number in 0..60 {
            let mut parents: Vec<CommitId> = Vec::new();
            for _ in 0..random(4).min(commits.len()) {
                let parent = commits[commits.len() - 1 - random(commits.len().min(9))];
                if !parents.contains(&parent) {
                    parents.push(parent);
                }
            }
            let at = Timestamp(1_700_000_000 + (number / 3) * 60);
            let message = number.to_string();
            commits.push(
                repo.write_commit(&NewCommit { tree, parents: &parents, message: &message, at }).unwrap(),
            );
        }
        commits
    }

    #[test]
    fn walks_find_what_git_finds() {
        for seed in 1..4 {
            let scratch = Scratch::new();
            let commits = woven(&scratch, seed);
            let repo = scratch.open();
            let ids = |text: &str| -> BTreeSet<CommitId> {
                text.lines().map(|line| line.parse().unwrap()).collect()
            };
            for (number, one) in commits.iter().enumerate().skip(20).step_by(7) {
                for other in commits.iter().skip(number % 5).step_by(9) {
                    let (one_text, other_text) = (one.to_string(), other.to_string());
                    let bases = repo.merge_bases(*one, *other).unwrap();
                    let by_git = if scratch.try_git(&["merge-base", &one_text, &other_text]) {
                        ids(&scratch.git(&["merge-base", "--all", &one_text, &other_text]))
                    } else {
                        BTreeSet::new()
                    };
                    assert_eq!(bases.into_iter().collect::<BTreeSet<_>>(), by_git);
                    let range = repo.reached(&[*one], &[*other]).unwrap();
                    let by_git = ids(&scratch.git(&["rev-list", &format!("{other}..{one}")]));
                    assert_eq!(range.iter().copied().collect::<BTreeSet<_>>(), by_git);
                    assert_eq!(range.len(), by_git.len());
                    let by_git = scratch.try_git(&["merge-base", "--is-ancestor", &one_text, &other_text]);
                    assert_eq!(repo.is_ancestor(*one, *other).unwrap(), by_git);
                }
            }
        }
    }

    #[test]
    fn a_clock_that_went_back_hides_nothing() {
        let scratch = Scratch::new();
        scratch.commit("a", "1", "root");
        let (repo, tree) = (scratch.open(), scratch.tree("HEAD"));
        let mut line: Vec<CommitId> = Vec::new();
        for at in [500, 100, 400, 50, 300, 20] {
            let parents = line.last().map(std::slice::from_ref).unwrap_or_default();
            let new = NewCommit { tree, parents, message: "x", at: Timestamp(1_700_000_000 + at) };
            line.push(repo.write_commit(&new).unwrap());
        }
        for (below, hidden) in line.iter().enumerate() {
            assert_eq!(repo.reached(&line[5..], &[*hidden]).unwrap(), &line[below + 1..]);
            assert_eq!(repo.merge_base(*hidden, line[5]).unwrap(), Some(*hidden));
        }
    }
}
