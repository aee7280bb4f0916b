//! A range of commits as `check`, `replay` and the report see it: lineage, numbering, what could not be seen, the verdict.

use std::collections::BTreeMap;

use crate::Result;
use crate::recording::{WalkEnd, derive};
use andon_config::Config;
use andon_core::detect::{self, Situation, Stops};
use andon_core::domain::{
    CommitId, CommitRef, Decision, Diagnostic, Hint, Location, RuleSettings, Stage, plural::count,
};
use andon_core::history::{Fold, Timeline};
use andon_core::policy;
use andon_git::{GitError, Repo};

pub mod numbers;
pub mod replayed;
pub mod stream;
pub mod uncertainty;

pub use self::{numbers::*, replayed::*, stream::*};

/// The newest iteration of `timeline` under `rules`; `config` says what an escalation does.
pub fn verdict(timeline: &Timeline, rules: &RuleSettings, config: &Config) -> Decision {
    let episode = uncertainty::episode(timeline, rules, uncertainty::mode(config));
    let asked = Situation { episode: episode.as_ref(), ..situation(timeline, Stage::Replay) };
    policy::decide(detect::run(&asked, rules), None)
}

/// Nothing but a timeline: no candidate, no stop, no episode.
pub fn situation(timeline: &Timeline, stage: Stage) -> Situation<'_> {
    Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None }
}

/// The error of a walk that was stopped: nothing is known of the rest.
pub fn interrupted(walked: WalkEnd, what: &str, help: &str) -> Option<Diagnostic> {
    let WalkEnd::Part { done, of } = walked else { return None };
    let message = format!("stopped after {done} of {}: the rest was not looked at", count(of, what));
    Some(Diagnostic::error(message).code("interrupted").help(help))
}

/// The error where the history of a shallow clone ends within those commits.
///
/// # Errors
/// A commit cannot be read.
pub fn cut_off_within(repo: &Repo, commits: &[CommitId]) -> Result<Option<Diagnostic>> {
    let shallow = if repo.is_shallow() { commits } else { &[] };
    for id in shallow {
        let commit = repo.commit(*id)?;
        if derive::is_cut_off(repo, &commit) {
            let cut = "the history is cut off here: this clone is shallow";
            let at = CommitRef { commit: commit.id, subject: commit.subject };
            let cut = Diagnostic::error(cut).code("shallow-clone").at(Location::Commit(at));
            return Ok(Some(cut.help(Hint::Unshallow)));
        }
    }
    Ok(None)
}

/// The same, where the range itself cannot be read.
pub fn cut_off(err: &GitError) -> Diagnostic {
    let help = err.help().into_iter().collect();
    Diagnostic { help, ..Diagnostic::error(err.to_string()).code("shallow-clone") }
}

/// The open lines.
pub struct Lineages {
    /// The number of commits of the range on top of this one that were not yet taken.
    children: BTreeMap<CommitId, usize>,
    /// The fold up to a commit that still has such children.
    open: BTreeMap<CommitId, Fold>,
}

impl Lineages {
    /// The lines of commits with these first parents, where they have one.
    pub fn new(parents: impl Iterator<Item = CommitId>) -> Self {
        let mut children: BTreeMap<CommitId, usize> = BTreeMap::new();
        for parent in parents {
            *children.entry(parent).or_default() += 1;
        }
        Self { children, open: BTreeMap::new() }
    }

    /// The fold before a commit: that of its first `parent`, or what `before` gives where the range begins.
    pub fn before(&mut self, parent: Option<CommitId>, before: impl FnOnce() -> Fold) -> Fold {
        let known = parent.and_then(|parent| {
            let left = self.children.get_mut(&parent)?;
            *left = left.saturating_sub(1);
            if *left == 0 { self.open.remove(&parent) } else { self.open.get(&parent).cloned() }
        });
        known.unwrap_or_else(before)
    }

    /// Keeps the fold after `commit` for its children.
    pub fn after(&mut self, commit: CommitId, fold: Fold) {
        if self.goes_on(commit) {
            self.open.insert(commit, fold);
        }
    }

    /// True if the range has a commit on top of `commit` that was not yet taken.
    pub fn goes_on(&self, commit: CommitId) -> bool {
        self.children.get(&commit).is_some_and(|left| *left > 0)
    }
}
