//! The unanswered halts of this clone: a fold over its own entries, remembered by the tip it was taken at.
//!
//! The memory (`<common dir>/andon/cache/standing`) only saves time: where it is deleted, damaged or of another ledger,
//! the fold begins anew.

use std::collections::BTreeMap;

use super::entry::{self, BadEntry};
use super::{Entry, EntryEvent, LedgerError, ref_of};
use crate::memory::{Kind, Memory};
use andon_core::domain::decision::{LedgerEvent, StandingHalt};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_git::Repo;

/// Most halts of other worktrees that are read.
const MAX_OTHERS: usize = 64;

/// The unanswered halts, as one worktree sees them.
#[derive(Debug, Default)]
pub struct Here {
    /// The halt of this worktree.
    pub own: Option<StandingHalt>,
    /// Those of the other worktrees of this clone.
    pub beside: Vec<StandingHalt>,
}

/// The standing halt of each worktree: its entry and the commit that holds it.
type HaltByWorktree = BTreeMap<String, (EntryId, CommitId)>;

/// Whether this clone has ever looked at a ledger of its own: then it has, or had, an id.
pub(super) fn has_memory(repo: &Repo) -> bool {
    Memory::new(repo, Kind::Standing).path().is_file()
}

/// The unanswered halts of this clone: of `worktree`, and of others, at most [`MAX_OTHERS`].
pub(super) fn standing(repo: &Repo, writer: &str, worktree: &str) -> Result<Here, LedgerError> {
    let Some(tip) = repo.ref_commit(&ref_of(writer))? else { return Ok(Here::default()) };
    let memory = Memory::new(repo, Kind::Standing);
    let remembered: Option<(CommitId, HaltByWorktree)> = memory.get(&writer);
    let folded = match remembered {
        Some((at, standing)) if at == tip => standing,
        Some((at, standing)) => fold_and_keep(repo, &memory, writer, (tip, Some((at, standing))))?,
        None => fold_and_keep(repo, &memory, writer, (tip, None))?,
    };
    let here = read_halts(repo, &folded, worktree)?;
    if here.own.is_some() || !folded.contains_key(worktree) {
        return Ok(here);
    }
    // The memory named an entry that is no halt: it is wrong about everything.
    let folded = fold_and_keep(repo, &memory, writer, (tip, None))?;
    read_halts(repo, &folded, worktree)
}

fn read_halts(repo: &Repo, folded: &HaltByWorktree, worktree: &str) -> Result<Here, LedgerError> {
    let mut here = Here { own: halt_of(repo, folded.get(worktree))?, beside: Vec::new() };
    for (_, found) in folded.iter().filter(|(name, _)| *name != worktree).take(MAX_OTHERS) {
        here.beside.extend(halt_of(repo, Some(found))?);
    }
    Ok(here)
}

pub(super) fn halt_of(
    repo: &Repo,
    found: Option<&(EntryId, CommitId)>,
) -> Result<Option<StandingHalt>, LedgerError> {
    let Some((id, commit)) = found else { return Ok(None) };
    match load(repo, *commit)?.map(|entry| (entry.id, entry.event)) {
        Some((found, EntryEvent::Known(LedgerEvent::Halted(halt)))) if found == *id => {
            Ok(Some(StandingHalt { id: *id, halt: *halt }))
        }
        Some((
            _,
            EntryEvent::Known(
                LedgerEvent::Halted(_) | LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_),
            )
            | EntryEvent::Unknown { .. },
        ))
        | None => Ok(None),
    }
}

/// The entry of `commit`; `None` when it is corrupt: `read_all` warns of it.
pub(super) fn load(repo: &Repo, commit: CommitId) -> Result<Option<Entry>, LedgerError> {
    let tree = repo.tree_of(commit)?;
    match entry::load(repo, commit, tree) {
        Ok(entry) => Ok(Some(entry)),
        Err(BadEntry::Corrupt(_)) => Ok(None),
        Err(BadEntry::Git(error)) => Err(error.into()),
    }
}

fn fold_and_keep(
    repo: &Repo,
    memory: &Memory,
    writer: &str,
    (tip, known): (CommitId, Option<(CommitId, HaltByWorktree)>),
) -> Result<HaltByWorktree, LedgerError> {
    let (since, mut standing) =
        known.map_or((None, HaltByWorktree::new()), |(at, standing)| (Some(at), standing));
    let mut new = Vec::new();
    let mut next = Some(tip);
    while let Some(commit) = next.filter(|commit| Some(*commit) != since) {
        new.push(commit);
        next = repo.commit(commit)?.parents.first().copied();
    }
    if next.is_none() {
        // The whole chain was walked: the remembered tip is not in it.
        standing.clear();
    }
    for commit in new.into_iter().rev() {
        // Below a writer's first entry are those of others; their halts do not count here.
        if let Some(entry) = load(repo, commit)?.filter(|entry| entry.writer == writer) {
            apply(&mut standing, entry);
        }
    }
    memory.put(&writer, &(tip, &standing));
    Ok(standing)
}

fn apply(standing: &mut HaltByWorktree, entry: Entry) {
    match entry.event {
        EntryEvent::Known(LedgerEvent::Halted(halt)) => {
            standing.insert(halt.worktree, (entry.id, entry.commit));
        }
        EntryEvent::Known(LedgerEvent::Acknowledged(ack)) => {
            standing.retain(|worktree, (id, _)| !ack.ends(*id, *worktree == ack.worktree));
        }
        EntryEvent::Known(LedgerEvent::StopSwitch(_)) | EntryEvent::Unknown { .. } => {}
    }
}
