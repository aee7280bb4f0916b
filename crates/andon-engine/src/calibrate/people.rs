//! People's verdicts on the halts in a range of commits.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::RatedRuns;
use super::ladder::{Ladder, Run};
use crate::halts::{HaltFate, PastHalt, decisions};
use crate::view::{CalibrationGround, MistakenHalts};
use crate::{Result, Workspace, asking};
use andon_core::detect::{self, ladder as steps, ladder::LADDER};
use andon_core::domain::{CommitId, CommitKind, CommitRecord, DiffHash, HaltReason, RuleSettings, Timestamp};
use andon_git::CommitInfo;
use andon_store::NotesStore;

/// Leaves out the runs that were halted for being stuck and not marked as mistaken; an unanswered halt is one of those.
/// A mistaken halt counts as the halt of a good run, whether the commits alone show it or not, and at every step: it is
/// unknown at which larger counts it would not have come.
pub(super) fn judged(
    ws: &Workspace,
    ladder: &Ladder<'_>,
    mut runs: Vec<Run>,
    placed: &PlacedRuns,
) -> Result<RatedRuns> {
    let mut not_good: BTreeSet<usize> = BTreeSet::new();
    let mut wrong: Vec<(usize, PastHalt)> = Vec::new();
    for past in decisions::past_halts(ws)?.0 {
        let Some(at) = placed.run_halted_at(ws, past.halt.head)? else { continue };
        match past.fate {
            HaltFate::Mistaken => wrong.push((at, past)),
            HaltFate::Unanswered | HaltFate::Answered if steps::is_stuck(past.halt.reason) => {
                not_good.insert(at);
            }
            HaltFate::Unanswered | HaltFate::Answered => {}
        }
    }
    let mut mistaken = MistakenHalts::default();
    let mut config = Configurations { ws, known: BTreeMap::new() };
    for (at, past) in wrong {
        let rule = ladder.rules().position(|rule| rule.id == past.halt.rule);
        let count = if not_good.contains(&at) {
            &mut mistaken.beside_right_ones
        } else if past.halt.reason == HaltReason::BudgetExceeded {
            &mut mistaken.of_budgets
        } else if past.halt.reason == HaltReason::UserStop {
            // A person made it, and no rule.
            continue;
        } else if let (Some(rule), false) = (rule, config.was_stricter(&past)) {
            if let Some(run) = runs.get_mut(at) {
                run.halted(rule, LADDER.len() - 1);
            }
            &mut mistaken.counted
        } else {
            &mut mistaken.mended
        };
        *count += 1;
    }
    let kept = runs.into_iter().enumerate().filter(|(at, _)| !not_good.contains(at)).map(|(_, run)| run);
    let left_out = u64::try_from(not_good.len()).unwrap_or(u64::MAX);
    let ground = CalibrationGround { left_out, mistaken, ..CalibrationGround::default() };
    Ok(RatedRuns { runs: kept.collect(), ground })
}

/// The rules as halted commits had them.
struct Configurations<'a> {
    ws: &'a Workspace,
    known: BTreeMap<CommitId, Option<RuleSettings>>,
}

impl Configurations<'_> {
    /// True when the rule was made looser since that halt.
    fn was_stricter(&mut self, past: &PastHalt) -> bool {
        let (Some(rule), Some(head)) = (detect::rule(&past.halt.rule), past.halt.head) else { return false };
        let repo = &self.ws.repo;
        let then = self
            .known
            .entry(head)
            .or_insert_with(|| asking::config_at(repo, head).map(|config| config.rules));
        let now = rule.setting(&self.ws.config.rules);
        then.as_ref().is_some_and(|then| steps::is_looser(rule, &rule.setting(then), &now))
    }
}

/// The properties of a commit that stay the same when it is amended or rebased.
struct Mark {
    kind: CommitKind,
    parent: Option<CommitId>,
    diff: DiffHash,
    /// Address and date of the author.
    authored: (String, Timestamp),
    iteration: u64,
    run: usize,
}

/// The commits of the range, with their runs.
#[derive(Default)]
pub(super) struct PlacedRuns {
    runs: HashMap<CommitId, usize>,
    marks: Vec<Mark>,
    newest: Option<CommitId>,
    /// The run of the oldest commit that has no parent.
    root: Option<usize>,
}

impl PlacedRuns {
    /// Takes in the next commit, of the run with that number.
    pub(super) fn push(&mut self, commit: &CommitInfo, record: &CommitRecord, run: usize) {
        self.runs.insert(commit.id, run);
        self.newest = Some(commit.id);
        if commit.parents.is_empty() {
            self.root = self.root.or(Some(run));
        }
        if matches!(record.kind, CommitKind::Normal | CommitKind::Amend | CommitKind::Rebase) {
            self.marks.push(Mark {
                kind: record.kind,
                parent: commit.parents.first().copied(),
                diff: record.diff.hash,
                authored: (commit.email.clone(), commit.authored_at),
                iteration: record.iteration,
                run,
            });
        }
    }

    /// The run of a commit of the range.
    pub(super) fn run_of(&self, commit: CommitId) -> Option<usize> {
        self.runs.get(&commit).copied()
    }

    /// The run that was halted at `head`: that of the commit itself, else of the one that took its place. A halt before the
    /// first commit is one of the run that this commit belongs to.
    pub(super) fn run_halted_at(&self, ws: &Workspace, head: Option<CommitId>) -> Result<Option<usize>> {
        let Some(head) = head else { return Ok(self.root) };
        if let Some(run) = self.run_of(head) {
            return Ok(Some(run));
        }
        let old = OutsideCommit {
            commit: ws.repo.commit(head).ok(),
            record: NotesStore::open(&ws.repo)?.get(head).ok().flatten().map(|stored| stored.record),
        };
        let likeliest = self.marks.iter().filter_map(|mark| Some((old.likeness(mark)?, mark.run))).max();
        // One that lies below the range was not made again: it is another one's predecessor.
        let below = || {
            let tip = self.newest.filter(|_| old.commit.is_some());
            tip.is_some_and(|tip| ws.repo.is_ancestor(head, tip).unwrap_or(false))
        };
        Ok(likeliest.filter(|_| !below()).map(|(_, run)| run))
    }
}

/// A commit that is not in the range. After a while, and in other clones, its record alone is left.
struct OutsideCommit {
    commit: Option<CommitInfo>,
    record: Option<CommitRecord>,
}

impl OutsideCommit {
    /// Rates how surely `mark` is this commit, made again: with its author and date, as git keeps both; else an amended or
    /// rebased one with its change, in its place or with its number.
    fn likeness(&self, mark: &Mark) -> Option<(bool, bool)> {
        let commit_parent = self.commit.as_ref().map(|commit| commit.parents.first().copied());
        let parent = commit_parent.or_else(|| self.record.as_ref().map(|record| record.parent));
        let in_its_place = parent == Some(mark.parent);
        let same_change = self.record.as_ref().is_some_and(|record| record.diff.hash == mark.diff);
        let authored = self.commit.as_ref().is_some_and(|commit| {
            (commit.email.as_str(), commit.authored_at) == (mark.authored.0.as_str(), mark.authored.1)
        });
        let numbered = self.record.as_ref().is_some_and(|record| record.iteration == mark.iteration);
        let is = if matches!(mark.kind, CommitKind::Amend | CommitKind::Rebase) {
            authored || (same_change && (in_its_place || numbered))
        } else {
            // Made again while the hooks were off.
            authored && (in_its_place || same_change)
        };
        is.then_some((in_its_place, same_change))
    }
}
