//! The newest halt of a worktree with its answer, among the entries of all writers. What was found is remembered
//! (`<common dir>/andon/cache/newest-halt`) until a halt or an answer comes or goes; the memory is a saving and nothing else.

use super::{Entry, Ledger, Result, entry, read};
use crate::{Memory, memory::Kind};
use andon_core::domain::{CommitId, Diagnostic};
use andon_git::Repo;

/// A halt, and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestHalt {
    /// The halt's entry.
    pub halt: Entry,
    /// The time of the answer; none while it is unanswered.
    pub ack: Option<Entry>,
}

impl Ledger<'_> {
    /// The newest halt of `worktree` with its answer, among the entries of all clones, and what could not be read.
    /// Costs two entries while no ledger has moved.
    ///
    /// # Errors
    /// [`LedgerError`](crate::ledger::LedgerError) when the ledgers cannot be read.
    pub fn newest_halt(&self, worktree: &str) -> Result<(Option<NewestHalt>, Vec<Diagnostic>)> {
        let repo = self.repo;
        // Changes whenever a halt or an answer comes or goes; not known of a ledger that is cut.
        let events = self.halts().ok().map(|known| known.events());
        let (memory, inputs) = (Memory::new(repo, Kind::NEWEST_HALT), (&events, worktree));
        if events.is_some()
            && let Ok(known) = remembered(repo, memory.get(&inputs).ok_or(MissingMemory))
        {
            return Ok((known, Vec::new()));
        }
        let all = read::all(repo)?;
        let warnings = all.warnings.clone();
        let found = among(&all.entries, worktree);
        // Entries that could not be read are named every time.
        if warnings.is_empty() && events.is_some() && !self.is_from_memory() {
            let commits =
                found.as_ref().map(|found| (found.halt.commit, found.ack.as_ref().map(|ack| ack.commit)));
            memory.put(&inputs, &commits);
        }
        Ok((found, warnings))
    }
}

fn among(entries: &[Entry], worktree: &str) -> Option<NewestHalt> {
    let mut last: Option<(&Entry, Option<&Entry>)> = None;
    for entry in entries {
        if entry.event.halt().is_some_and(|halt| halt.worktree == worktree) {
            last = Some((entry, None));
        } else if let Some(ack) = entry.event.answer()
            && let Some((_, found)) = last.as_mut().filter(|(halt, _)| ack.halt == Some(halt.id))
        {
            *found = Some(entry);
        }
    }
    last.map(|(halt, ack)| NewestHalt { halt: halt.clone(), ack: ack.cloned() })
}

/// Nothing is remembered, or not of these ledgers.
struct MissingMemory;

/// The commits of a halt and of its answer.
type Commits = (CommitId, Option<CommitId>);

fn remembered(
    repo: &Repo,
    known: Result<Option<Commits>, MissingMemory>,
) -> Result<Option<NewestHalt>, MissingMemory> {
    let load = |commit: CommitId| {
        let tree = repo.tree_of(commit).map_err(|_| MissingMemory)?;
        entry::load(repo, commit, tree).map_err(|_| MissingMemory)
    };
    let Some((halt, ack)) = known? else { return Ok(None) };
    let ack = ack.map(load).transpose()?;
    Ok(Some(NewestHalt { halt: load(halt)?, ack }))
}
