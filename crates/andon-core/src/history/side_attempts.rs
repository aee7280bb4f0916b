//! Attempts that HEAD was moved away from: commits on the same base that were abandoned before work continued.
//!
//! If only the commits behind HEAD counted, a loop would begin anew with each `git reset`, each branch and each
//! worktree from its base. So the repository remembers which commits were made in it. A commit counts if it
//!
//! - builds on a commit of the present branch, or on another such attempt;
//! - ended before the branch continued from there: if two branches are worked on alternately, neither is an attempt of
//!   the other. Commits of a worktree that goes its own way, such as a main that moves, are no continuation;
//! - was not merged into the branch;
//! - was made in this worktree, or in another one before this one existed: worktrees side by side are separate.
//!
//! An attempt counts once, whatever becomes of its commit: the fold recognises it under another id in the branch.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Attempt, CommitFact, CommitId};

/// An attempt, and its place among the commits of the window.
#[derive(Debug, Clone)]
pub struct PlacedAttempt {
    /// After how many of them.
    pub after: usize,
    /// The fact that was recorded.
    pub fact: CommitFact,
}

/// The present line of work.
#[derive(Debug, Clone, Copy)]
pub struct LineOfWork<'a> {
    /// The commits behind HEAD along first parents as far as the window reaches, oldest first; those without a record too.
    pub commits: &'a [CommitId],
    /// The commit that the oldest of them builds on; HEAD where there are none, and nothing where they begin the history.
    pub base: Option<CommitId>,
    /// Attempts that a commit without a record is once more, each with that commit: a tool moved them without hooks.
    pub again: &'a [(CommitId, CommitId)],
    /// Further parents of its merges.
    pub merged: &'a [CommitId],
    /// Commits of the line that other worktrees made on their own ways: the branch did not continue by them.
    pub elsewhere: &'a BTreeSet<CommitId>,
    /// This worktree.
    pub here: &'a str,
}

/// An attempt that counts though it is not behind HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideAttempt {
    /// After how many commits of the line it was made.
    pub after: usize,
    /// The commit of the attempt.
    pub commit: CommitId,
    /// The first commit of the attempts that build on each other; its own where it is that one.
    pub group: CommitId,
}

/// Attempts that build on each other, and on the line.
struct Group {
    after: usize,
    members: Vec<usize>,
    /// The place of the newest of them among all attempts.
    last: usize,
    apart: bool,
}

/// The attempts that count in addition to `line`, in the order in which they were made; `attempts` are in that order
/// too.
pub fn aside(attempts: &[Attempt], line: &LineOfWork<'_>) -> Vec<SideAttempt> {
    let behind: BTreeMap<CommitId, usize> =
        line.commits.iter().enumerate().map(|(at, commit)| (*commit, at + 1)).collect();
    let first_made: Vec<Option<usize>> = first_made(attempts, &behind, line);
    let place =
        |(attempt, moved): &(CommitId, CommitId)| Some((*attempt, behind.get(moved)?.checked_sub(1)?));
    let again: BTreeMap<CommitId, usize> = line.again.iter().filter_map(place).collect();
    // The beginning of another history that went on, as of a branch without parents, is no attempt of this one.
    let is_built_on = |root: &Attempt| attempts.iter().any(|other| other.parent == Some(root.commit));
    let mut found: Vec<(usize, SideAttempt)> = Vec::new();
    let mut groups: BTreeMap<CommitId, Group> = BTreeMap::new();
    let mut group_of: BTreeMap<CommitId, CommitId> = BTreeMap::new();
    for (at, attempt) in attempts.iter().enumerate() {
        let known = behind.contains_key(&attempt.commit) || group_of.contains_key(&attempt.commit);
        if known || line.base == Some(attempt.commit) {
            continue;
        }
        if let Some(after) = again.get(&attempt.commit) {
            if !attempt.is_beside(line.here) && found.iter().all(|(_, one)| one.commit != attempt.commit) {
                found
                    .push((at, SideAttempt { after: *after, commit: attempt.commit, group: attempt.commit }));
            }
            continue;
        }
        let parent = attempt.parent;
        let on_line = |parent| behind.get(&parent).copied().or_else(|| again.get(&parent).map(|at| at + 1));
        let begins = line.base == parent && (parent.is_some() || !is_built_on(attempt));
        let after = parent.and_then(on_line).or(begins.then_some(0));
        let own = after.map(|_| attempt.commit);
        let Some(root) = own.or_else(|| group_of.get(&parent?).copied()) else { continue };
        group_of.insert(attempt.commit, root);
        let group = groups.entry(root).or_insert_with(|| Group {
            after: after.unwrap_or(0),
            members: Vec::new(),
            last: at,
            apart: false,
        });
        group.members.push(at);
        group.last = at;
        group.apart |= attempt.is_beside(line.here) || line.merged.contains(&attempt.commit);
    }
    let given_up =
        |group: &Group| first_made.get(group.after).copied().flatten().is_none_or(|on| group.last < on);
    for (root, group) in groups.iter().filter(|(_, group)| !group.apart && given_up(group)) {
        let one = |at: &usize| {
            (*at, SideAttempt { after: group.after, commit: attempts[*at].commit, group: *root })
        };
        found.extend(group.members.iter().map(one));
    }
    found.sort_by_key(|(at, one)| (one.after, *at));
    found.into_iter().map(|(_, one)| one).collect()
}

/// The commits of other worktrees that go their own ways: a commit was made elsewhere on top of one of theirs, and they went on
/// without it. Where a line came to hold them, it was rebased onto their work, or begun anew from it.
pub fn from_elsewhere(attempts: &[Attempt], here: &str) -> BTreeSet<CommitId> {
    let parents: BTreeMap<CommitId, CommitId> =
        attempts.iter().filter_map(|made| Some((made.commit, made.parent?))).collect();
    let made_by: BTreeMap<CommitId, &str> =
        attempts.iter().map(|made| (made.commit, made.worktree.as_str())).collect();
    let behind = |commit: CommitId| {
        std::iter::successors(Some(commit), |one| parents.get(one).copied()).take(attempts.len())
    };
    let mut newest: BTreeMap<&str, CommitId> = BTreeMap::new();
    // For each worktree the newest commits that others made on top of its own.
    let mut on_top: BTreeMap<&str, Vec<CommitId>> = BTreeMap::new();
    let mut apart: BTreeSet<&str> = BTreeSet::new();
    for made in attempts.iter().rev().take(LOOKED_AT).rev() {
        let worktree = made.worktree.as_str();
        if let Some(others) = on_top.remove(worktree) {
            let goes_on = behind(made.commit).collect::<BTreeSet<_>>();
            if others.iter().any(|other| !goes_on.contains(other)) {
                apart.insert(worktree);
            }
        }
        let owner = made.parent.and_then(|parent| made_by.get(&parent)).filter(|owner| **owner != worktree);
        if let Some(owner) = owner.filter(|owner| newest.contains_key(**owner)) {
            on_top.entry(*owner).or_default().push(made.commit);
        }
        newest.insert(worktree, made.commit);
    }
    let is_apart = |made: &&Attempt| made.worktree != here && apart.contains(made.worktree.as_str());
    attempts.iter().filter(is_apart).map(|made| made.commit).collect()
}

/// Attempts that are looked at for worktrees that go their own ways, the newest.
const LOOKED_AT: usize = 256;

/// For each place in the branch, the place of the first attempt that continued from there.
fn first_made(
    attempts: &[Attempt],
    behind: &BTreeMap<CommitId, usize>,
    line: &LineOfWork<'_>,
) -> Vec<Option<usize>> {
    let length = line.commits.len();
    let mut made: Vec<Option<usize>> = vec![None; length];
    let own = |attempt: &Attempt| !line.elsewhere.contains(&attempt.commit);
    for (at, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| own(attempt)) {
        if let Some(place) = behind.get(&attempt.commit).and_then(|number| number.checked_sub(1))
            && let Some(slot) = made.get_mut(place)
        {
            *slot = slot.or(Some(at));
        }
    }
    for place in (1..length).rev() {
        let next = made[place];
        made[place - 1] = match (made[place - 1], next) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Oid;

    fn id(name: &str) -> CommitId {
        let mut bytes = [0; 20];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        CommitId(Oid::from_bytes(&bytes).unwrap())
    }

    /// `commit<parent`, and `@worktree`, `+beside` where they matter.
    fn attempt(reported: &str) -> Attempt {
        let (reported, beside) = reported.split_once('+').unwrap_or((reported, ""));
        let (reported, worktree) = reported.split_once('@').unwrap_or((reported, Attempt::MAIN));
        let (commit, parent) = reported.split_once('<').unwrap();
        let beside = beside.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let parent = Some(id(parent)).filter(|_| parent != "-");
        Attempt { commit: id(commit), parent, worktree: worktree.to_owned(), beside }
    }

    fn found(attempts: &str, line: &str, (merged, here): (&str, &str)) -> String {
        let attempts: Vec<Attempt> = attempts.split_whitespace().map(attempt).collect();
        let elsewhere = from_elsewhere(&attempts, here);
        let mut commits: Vec<CommitId> = line.split_whitespace().map(id).collect();
        let base = Some(commits.remove(0)).filter(|base| *base != id("-"));
        let merged: Vec<CommitId> = merged.split_whitespace().map(id).collect();
        let line =
            LineOfWork { commits: &commits, base, again: &[], merged: &merged, elsewhere: &elsewhere, here };
        let name = |commit: CommitId| {
            let bytes: Vec<u8> = commit.0.as_bytes().iter().copied().filter(|byte| *byte > 0).collect();
            String::from_utf8(bytes).unwrap()
        };
        let shown =
            aside(&attempts, &line).into_iter().map(|one| format!("{}:{}", one.after, name(one.commit)));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_was_given_up_on_the_same_base_counts() {
        // (made, in this order; the line, its base first; what counts, after how many commits of the line)
        let table = [
            ("nothing", "", "m", ""),
            ("one line", "a<m b<a c<b", "m a b c", ""),
            ("reset before the next commit", "a<m b<m", "m", "0:a 0:b"),
            ("reset and commit", "a<m b<m c<m", "m c", "0:a 0:b"),
            ("two commits, reset, one more", "a<m b<a c<m", "m c", "0:a 0:b"),
            ("reset onto a commit that is kept", "g<m a<g b<g c<g", "m g c", "1:a 1:b"),
            ("what an attempt was reset to", "a<m b<a c<a d<m", "m d", "0:a 0:b 0:c"),
            ("further and further back", "x<m y<x a<y b<x c<m", "m c", "0:x 0:y 0:a 0:b"),
            ("line goes on", "a<m b<m c<b d<c", "m b c d", "0:a"),
            ("branches in turn, the first", "a<m p<m b<a q<p", "m a b", ""),
            ("branches in turn, the second", "a<m p<m b<a q<p", "m p q", ""),
            ("a branch that is picked up again", "a<m p<m b<a", "m p", ""),
            ("on another base", "a<n b<a", "m c", ""),
            ("the base itself", "m<l a<m", "m", "0:a"),
            ("told twice", "a<m a<m b<m", "m b", "0:a"),
            ("the line itself was not made here", "a<m c<x", "m x c", "0:a"),
            ("the first commit again and again", "a<- b<- c<-", "- c", "0:a 0:b"),
            ("and once more", "a<- b<- c<-", "-", "0:a 0:b 0:c"),
            ("work on one of them", "a<- b<- c<b", "- b c", "0:a"),
            ("another history", "a<- b<a c<b p<-", "- p", ""),
            ("the line does not reach the first commit", "a<- b<- c<b", "b c", ""),
        ];
        for (what, attempts, line, want) in table {
            assert_eq!(found(attempts, line, ("", Attempt::MAIN)), want, "{what}");
        }
    }

    #[test]
    fn what_a_tool_moved_has_its_place_in_the_line() {
        let attempts: Vec<Attempt> = ["a<m", "b<x", "c<z"].map(attempt).into();
        let commits = [id("x"), id("y"), id("z")];
        let again = [(id("a"), id("x")), (id("b"), id("y"))];
        let elsewhere = BTreeSet::new();
        let line = |again| LineOfWork {
            commits: &commits,
            base: Some(id("n")),
            again,
            merged: &[],
            elsewhere: &elsewhere,
            here: Attempt::MAIN,
        };
        let placed = |found: Vec<SideAttempt>| -> Vec<(usize, CommitId)> {
            found.into_iter().map(|one| (one.after, one.commit)).collect()
        };
        assert_eq!(placed(aside(&attempts, &line(&again))), [(0, id("a")), (1, id("b")), (3, id("c"))]);
        assert_eq!(
            placed(aside(&attempts, &line(&[]))),
            [(1, id("b")), (3, id("c"))],
            "its base is not known"
        );
    }

    #[test]
    fn a_worktree_that_goes_on_without_what_was_built_on_it_is_elsewhere() {
        let table = [
            ("a line that is handed on", "a<m@w1 b<a@w2 c<b@w1", "w2", ""),
            ("a main that moves", "a<m@w1 x<a@w2 b<a@w1 y<b@w2", "w2", "a b"),
            ("as the main itself sees it", "a<m@w1 x<a@w2 b<a@w1", "w1", ""),
            ("a new worktree for each attempt", "a<m@w1 x<a@w2 b<a@w1 y<b@w3 c<b@w1", "w4", "a b c"),
            ("begun from what another did last", "a<m@w1 b<a@w1 x<b@w2 y<x@w2", "w2", ""),
        ];
        for (what, attempts, here, want) in table {
            let attempts: Vec<Attempt> = attempts.split_whitespace().map(attempt).collect();
            let want: BTreeSet<CommitId> = want.split_whitespace().map(id).collect();
            assert_eq!(from_elsewhere(&attempts, here), want, "{what}");
        }
    }

    #[test]
    fn a_main_that_moves_in_another_worktree_ends_no_attempt() {
        let table = [
            (
                "each attempt moves onto the new main, and goes on there",
                "f<m@w1+w2 a<m@w2+w1 p<f@w2+w1 g<f@w1+w2 b<p@w2+w1 q<g@w2+w1 h<g@w1+w2 c<q@w2+w1 r<h@w2+w1",
                "m f g h r",
                "0:a 1:p 1:b 2:q 2:c",
            ),
            ("as the main itself sees it", "f<m@w1+w2 a<m@w2+w1 p<f@w2+w1 g<f@w1+w2", "m f g", ""),
        ];
        for ((what, attempts, line, want), here) in table.into_iter().zip(["w2", "w1"]) {
            assert_eq!(found(attempts, line, ("", here)), want, "{what}");
        }
    }

    #[test]
    fn what_was_merged_is_no_attempt() {
        assert_eq!(found("a<m b<a k<m", "m k", ("b", Attempt::MAIN)), "");
        assert_eq!(found("a<m b<a p<m k<m", "m k", ("b", Attempt::MAIN)), "0:p");
    }

    #[test]
    fn worktrees_side_by_side_are_apart() {
        let table = [
            ("made afterwards", "a<m@w1 b<m@w2+w1", "m b", "w2", "0:a"),
            ("removed and made anew", "a<m@w1 b<m@w2", "m b", "w2", "0:a"),
            ("there already", "a<m@w1+w2 b<m@w2+w1", "m b", "w2", ""),
            ("it went on since", "a<m@w1 c<a@w1+w2 b<m@w2+w1", "m b", "w2", ""),
            ("the main one is always there", "a<m@w1", "m", "main", ""),
            ("from the main one", "a<m@main", "m", "w1", "0:a"),
            ("the first of several", "a<m@w1 b<m@w2+w1 c<m@w3+w1,w2", "m a", "w1", ""),
        ];
        for (what, attempts, line, here, want) in table {
            assert_eq!(found(attempts, line, ("", here)), want, "{what}");
        }
    }
}
