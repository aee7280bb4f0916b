//! What amends and rebases replaced, where the commits behind HEAD no longer show it.
//!
//! A stream tells each commit once, so the fold sees it replaced. In a repository the window is read from HEAD, and
//! what was amended or rebased away is behind it no more; the journal remembers which commits were recorded.

use super::known::Known;
use super::timeline::{Iteration, MAX_REWRITTEN, Source, Timeline};
use crate::domain::facts::{CommitFact, CommitKind};
use crate::domain::ids::{CodeId, CommitId};

impl Timeline {
    /// The timeline that a stream would have given, in which the commits of `replaced` (oldest first, recorded after the
    /// newest acknowledgement and right before those of the window that amend or rebase) came before.
    ///
    /// Their number is that of the commit `by` that stands in their place: they are attempts and no iterations.
    #[must_use]
    pub fn after_replacing(mut self, replaced: Vec<CommitFact>, by: CommitId) -> Self {
        let Some(at) = self.iterations.iter().rposition(|one| one.commit == Some(by)) else { return self };
        if replaced.is_empty() {
            return self;
        }
        self.known_flaky = Known::default();
        let gone = replaced.iter().filter(|fact| rewrites(fact.record.kind)).map(|fact| fact.record.code);
        let mut codes: Vec<CodeId> = gone.collect();
        codes.extend(self.rewriting());
        self.rewritten = codes[codes.len().saturating_sub(MAX_REWRITTEN)..].to_vec();
        let newest = &self.iterations[at];
        let amends = newest.kind == CommitKind::Amend && newest.source == Source::Commit;
        if amends && at + 1 == self.iterations.len() && self.amended.is_empty() {
            let (parent, number) = (newest.parent, newest.number);
            let same = replaced.into_iter().rev().take_while(|fact| fact.record.parent == parent);
            let mut amended: Vec<Iteration> =
                same.take(MAX_REWRITTEN).map(|fact| Iteration::new(fact, number)).collect();
            amended.reverse();
            self.amended = amended;
        }
        self
    }

    /// Code states of the amends and picks of the window since its newest other commit, oldest first. Taken from the
    /// iterations, so that what was put in before is not counted twice.
    fn rewriting(&self) -> Vec<CodeId> {
        let commits = self.iterations.iter().rev().filter(|one| one.source == Source::Commit);
        let mut codes: Vec<CodeId> =
            commits.take_while(|one| rewrites(one.kind)).map(|one| one.code).collect();
        codes.reverse();
        codes
    }
}

/// Whether commits of this kind stand in the place of others.
pub fn rewrites(kind: CommitKind) -> bool {
    match kind {
        CommitKind::Amend | CommitKind::Rebase => true,
        CommitKind::Normal | CommitKind::Merge | CommitKind::Revert | CommitKind::CherryPick => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::facts::CommitKind::{Amend, Rebase};
    use crate::domain::facts::{CommitFact, Fact};
    use crate::history::Timeline;
    use crate::history::testkit::{Commit, chain, commit, folded, red};

    fn facts(commits: Vec<Commit>) -> Vec<CommitFact> {
        let commit = |fact| if let Fact::Commit(fact) = fact { *fact } else { unreachable!() };
        chain(commits).into_iter().map(commit).collect()
    }

    fn of(facts: &[CommitFact]) -> Timeline {
        let facts: Vec<Fact> = facts.iter().map(|fact| Fact::Commit(Box::new(fact.clone()))).collect();
        folded(facts)
    }

    #[test]
    fn amended_attempts_come_back_as_a_stream_would_have_told_them() {
        let tried = |state: u8| commit(state).tests(red(state, &["a"], 9));
        let all = facts(vec![tried(1), tried(2), tried(3).kind(Amend), tried(4).kind(Amend)]);
        let streamed = of(&all);
        assert_eq!((streamed.amended.len(), streamed.rewritten.len()), (2, 2));
        let window = [all[0].clone(), all[3].clone()];
        let by = all[3].id.unwrap();
        let found = of(&window).after_replacing(all[1..3].to_vec(), by);
        assert_eq!(found.rewritten, streamed.rewritten);
        let codes = |line: &Timeline| -> Vec<u8> { line.attempted().map(|one| one.code.0[0]).collect() };
        assert_eq!(codes(&found), codes(&streamed));
        assert_eq!(codes(&found), [1, 2, 3, 4]);
        // What belongs to another commit, or to one that is not there, changes nothing.
        assert_eq!(of(&window).after_replacing(all[1..3].to_vec(), all[2].id.unwrap()), of(&window));
        assert_eq!(of(&window).after_replacing(Vec::new(), by), of(&window));
    }

    #[test]
    fn rebased_states_are_counted_from_the_newest_other_commit_on() {
        let all =
            facts(vec![commit(1), commit(2).kind(Rebase), commit(2).kind(Rebase), commit(2).kind(Rebase)]);
        let window = [all[0].clone(), all[3].clone()];
        let found = of(&window).after_replacing(all[1..3].to_vec(), all[3].id.unwrap());
        assert_eq!(found.rewritten.len(), 3);
        let again = found.clone().after_replacing(all[1..3].to_vec(), all[3].id.unwrap());
        assert_eq!(again, found, "twice is once");
        assert!(found.amended.is_empty(), "a rebase amends nothing");
        assert_eq!(found.iterations.len(), 2);
    }
}
