//! The meaning of all clones' halts and answers for one of them. Entries of other types do not matter, wherever they are in
//! the order.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Entry;
use andon_core::domain::{AnswerPlace, CommitId, Digest, EntryId, HaltReach, LedgerEvent, Timestamp};

/// Most halts of others and acknowledgements that are kept, the newest.
const MAX_KEPT: usize = 4096;

/// An entry and the commit that holds it.
pub(super) type EntryPlace = (EntryId, CommitId);

/// A halt of another clone.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub(super) struct ForeignHalt {
    pub(super) at: Timestamp,
    pub(super) id: EntryId,
    /// The commit of the entry.
    pub(super) commit: CommitId,
    /// The commit that is halted.
    pub(super) head: Option<CommitId>,
}

/// The result of the fold over them.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    /// The entries that it was made from.
    pub(super) of: Digest,
    /// The unanswered halt of each worktree of this clone.
    pub(super) own: BTreeMap<String, EntryPlace>,
    /// Unanswered halts of others.
    pub(super) halts: Vec<ForeignHalt>,
    /// Acknowledgements of all: where HEAD was, and the commit of the entry.
    pub(super) acks: Vec<(CommitId, CommitId)>,
    /// The newest halt of each worktree of each clone, where an acknowledgement ended it, and the commit of its entry.
    pub(super) ended: Vec<EntryPlace>,
}

/// A worktree of a clone.
type Place<'a> = (&'a str, &'a str);

/// The fold over everything that every clone wrote, as the clone `own` sees it, whose own entries are `of_own`.
pub(super) fn fold(entries: &[Entry], of_own: &[Entry], own: &str) -> Meaning {
    let mut of = Sha256::new();
    let mut standing: BTreeMap<Place<'_>, ForeignHalt> = BTreeMap::new();
    let (mut answered, mut acks) = (BTreeSet::new(), Vec::new());
    for entry in entries {
        let Some(event) = entry.event.known() else { continue };
        of.update(entry.commit.0.as_bytes());
        match event {
            LedgerEvent::Halted(halt) => {
                // A halt that binds one worktree alone binds at no commit.
                let head = halt.head.filter(|_| halt.binds == HaltReach::Line);
                let known = ForeignHalt { at: halt.at, id: entry.id, commit: entry.commit, head };
                standing.insert((&entry.writer, &halt.worktree), known);
            }
            LedgerEvent::Acknowledged(ack) => {
                let place = (entry.writer.as_str(), ack.worktree.as_str());
                standing.retain(|known, halt| !ack.ends(halt.id, AnswerPlace::of(&place, known)));
                answered.extend(ack.halt.filter(|_| entry.writer != own));
                if let Some(head) = ack.head {
                    acks.push((head, entry.commit));
                }
            }
            LedgerEvent::StopSwitch(_) => {}
        }
    }
    let is_own = |id: EntryId| of_own.iter().any(|entry| entry.id == id);
    let others = standing.into_iter().filter(|((writer, _), known)| *writer != own && !is_own(known.id));
    let halts: Vec<ForeignHalt> = others.map(|(_, known)| known).collect();
    let mut unanswered = own_halts(of_own);
    unanswered.retain(|_, (id, _)| !answered.contains(id));
    Meaning {
        of: Digest(of.finalize().into()),
        own: unanswered,
        halts: newest(halts),
        acks: newest(acks),
        ended: ended(entries),
    }
}

/// The unanswered halt of each worktree, by the entries of one clone alone.
fn own_halts(entries: &[Entry]) -> BTreeMap<String, EntryPlace> {
    let mut standing: BTreeMap<String, EntryPlace> = BTreeMap::new();
    for entry in entries {
        match entry.event.known() {
            Some(LedgerEvent::Halted(halt)) => {
                standing.insert(halt.worktree.clone(), (entry.id, entry.commit));
            }
            Some(LedgerEvent::Acknowledged(ack)) => {
                standing.retain(|worktree, (id, _)| !ack.ends(*id, AnswerPlace::of(&ack.worktree, worktree)));
            }
            Some(LedgerEvent::StopSwitch(_)) | None => {}
        }
    }
    standing
}

/// The newest halt of each worktree of each clone that an acknowledgement ended.
fn ended(entries: &[Entry]) -> Vec<EntryPlace> {
    let mut newest: BTreeMap<Place<'_>, EntryPlace> = BTreeMap::new();
    let mut answered: BTreeSet<EntryId> = BTreeSet::new();
    for entry in entries {
        match entry.event.known() {
            Some(LedgerEvent::Halted(halt)) => {
                newest.insert((&entry.writer, &halt.worktree), (entry.id, entry.commit));
            }
            Some(LedgerEvent::Acknowledged(ack)) => {
                let place = (entry.writer.as_str(), ack.worktree.as_str());
                let unnamed =
                    newest.get(&place).map(|halt| halt.0).filter(|halt| ack.ends(*halt, AnswerPlace::Same));
                answered.extend(ack.halt.or(unnamed));
            }
            Some(LedgerEvent::StopSwitch(_)) | None => {}
        }
    }
    newest.into_values().filter(|(id, _)| answered.contains(id)).collect()
}

fn newest<T>(mut all: Vec<T>) -> Vec<T> {
    all.drain(..all.len().saturating_sub(MAX_KEPT));
    all
}
