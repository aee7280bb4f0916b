//! The makers of commits: agents, to whom alone `guard.applies_to = "agents"` applies; people who have the hooks; and whether a
//! commit was made with the agent's configuration, session and role that the base of the range pins. A pin that is changed in
//! the range counts in none of its commits.

use std::collections::{BTreeSet, HashSet};

use super::{Case, Diagnostic, at, chain::earlier_records, of_finding};
use andon_config::AppliesTo;
use andon_core::detect::{self, Candidate, Situation};
use andon_core::domain::{Claims, CommitFact, CommitId, CommitRecord, Mismatch, Recording, Stage, identity};
use andon_core::history::Timeline;
use andon_engine::gate::identity::{is_asked, of_tree};
use andon_engine::recording::bound::{by_record, by_trace, had_hooks, maker};
use andon_engine::{Result, adapter::agents::DEFAULT_NODE, range};
use andon_git::{CommitInfo, NoteChange, Repo};
use andon_store::{Journal, Reach};

/// Commits of notes that are looked at for records of agents, at the most.
const STEPS: usize = 8_192;
/// Commits recorded here that are looked for among those of a range.
const MARKERS: usize = 1_024;

/// Commits of which a record once said that an agent made them. A record that was removed, or edited, since then is still
/// in the history of the notes: to take it away makes no commit a person's.
#[derive(Default)]
pub(super) struct OnceAgents(BTreeSet<CommitId>);

impl OnceAgents {
    /// Those of `commits`; none where everybody is judged.
    pub(super) fn among(case: &Case<'_>, commits: &[CommitId]) -> Result<Self> {
        let mut found = BTreeSet::new();
        let tip = case.store.tip().filter(|_| case.config.guard.applies_to == AppliesTo::Agents);
        let Some(tip) = tip else { return Ok(Self(found)) };
        let commits: BTreeSet<CommitId> = commits.iter().copied().collect();
        for step in case.repo.notes_history(tip).take(STEPS) {
            for NoteChange { commit, old, .. } in step? {
                let old = old.filter(|_| commits.contains(&commit) && !found.contains(&commit));
                let records = old.map(|old| earlier_records(case.repo, old)).unwrap_or_default();
                if records.iter().any(|record| by_record(case.config, record)) {
                    found.insert(commit);
                }
            }
        }
        Ok(Self(found))
    }

    /// True if the guard binds who made a commit: everybody, or agents.
    pub(super) fn binds(&self, case: &Case<'_>, commit: &CommitInfo, record: Option<&CommitRecord>) -> bool {
        let is_agents = || {
            by_trace(case.config, commit)
                || record.is_some_and(|record| by_record(case.config, record))
                || self.0.contains(&commit.id)
        };
        case.config.guard.applies_to == AppliesTo::Everyone || is_agents()
    }
}

/// True when the hooks recorded one of these commits in this worktree: that there are no records at all is then no sign of
/// a person's.
pub(super) fn were_recorded_here(repo: &Repo, commits: &[CommitId]) -> bool {
    let reach = Reach { runs: 0, commits: MARKERS, turns: 0, since: None };
    let commits: BTreeSet<&CommitId> = commits.iter().collect();
    Journal::open(repo.git_dir()).recent(reach).markers.iter().any(|marker| commits.contains(marker))
}

/// Moves of HEAD that are looked at.
const REFLOG: usize = 256;

/// People whose commits have records that a hook wrote.
#[derive(Default)]
pub(super) struct HookUsers {
    /// Their addresses, in small letters, of the commits of the range so far.
    known: HashSet<String>,
    /// The commits that were made in this clone; read when it is first asked for.
    made_here: Option<BTreeSet<CommitId>>,
}

impl HookUsers {
    /// Takes in that a commit has a record.
    pub(super) fn take(&mut self, commit: &CommitInfo, recording: Recording) {
        if recording.is_by_hook() {
            self.known.extend(maker(commit));
        }
    }

    /// True when the author of a commit that somebody else moved has the hooks.
    pub(super) fn wrote(&self, commit: &CommitInfo) -> bool {
        maker(commit).is_none() && self.known.contains(&commit.email.to_ascii_lowercase())
    }

    /// True when an unrecorded commit was made by a person who has the hooks. Websites commit in their own name, and bots
    /// and colleagues in theirs, so that author and committer must both have earlier commits with records.
    pub(super) fn made(&mut self, case: &Case<'_>, commit: &CommitInfo) -> Result<bool> {
        let Some(maker) = maker(commit) else { return Ok(false) };
        if self.known.contains(&maker) {
            return Ok(!is_of_another_root(case, commit));
        }
        // A clone that has the hooks saw it being made, and they said nothing.
        let here = self.made_here.take().map_or_else(|| made_here(case), Ok)?;
        let is_here = here.contains(&commit.id);
        self.made_here = Some(here);
        Ok(is_here && had_hooks(case.repo, &case.store, commit, &maker))
    }
}

/// Most first parents that are followed to a root.
const TO_ROOT: usize = 64;

/// True when a commit and all below it have no record: `git subtree` writes such commits, which no hook sees.
fn is_of_another_root(case: &Case<'_>, commit: &CommitInfo) -> bool {
    let mut at = commit.parents.first().copied();
    for _ in 0..TO_ROOT {
        let Some(id) = at else { return true };
        let Ok(below) = case.repo.commit(id) else { return false };
        if case.store.has(id).unwrap_or(true) {
            return false;
        }
        at = below.parents.first().copied();
    }
    false
}

fn made_here(case: &Case<'_>) -> Result<BTreeSet<CommitId>> {
    let moves = case.repo.reflog_head(REFLOG)?;
    Ok(moves.iter().filter(|one| one.made().is_some()).map(|one| CommitId(one.new)).collect())
}

/// Judges the configuration, session and role that a commit was made with.
pub(super) fn other_identity(
    case: &Case<'_>,
    commit: &CommitInfo,
    fact: &CommitFact,
) -> Result<Option<Diagnostic>> {
    if !is_asked(case.config) {
        return Ok(None);
    }
    let mut found = of_tree(case.repo, case.config, commit.tree)?;
    found.extend(unbound(case, fact));
    Ok(if found.is_empty() { None } else { mismatch_diagnostic(case, commit, found) })
}

/// A commit without a record carries nothing: that it has none is said elsewhere. Where only agents are guarded, what
/// carries nothing is a person's.
fn unbound(case: &Case<'_>, fact: &CommitFact) -> Vec<Mismatch> {
    let record = &fact.record;
    let persons = record.session.is_none() && record.node == DEFAULT_NODE;
    if record.recording == Recording::Derived
        || (persons && case.config.guard.applies_to == AppliesTo::Agents)
    {
        return Vec::new();
    }
    let claims = Claims { session: record.session.as_deref(), node: &record.node };
    identity::unbound(&case.config.identity, claims)
}

fn mismatch_diagnostic(case: &Case<'_>, commit: &CommitInfo, found: Vec<Mismatch>) -> Option<Diagnostic> {
    let candidate = Candidate { identity: found, ..Candidate::default() };
    let timeline = Timeline::new(case.config.guard.session_gap);
    let situation = Situation { candidate: Some(&candidate), ..range::situation(&timeline, Stage::Check) };
    let finding = detect::evaluate(&detect::IDENTITY_DRIFT, &situation, &case.config.rules)?;
    Some(of_finding(at(commit), &finding))
}
