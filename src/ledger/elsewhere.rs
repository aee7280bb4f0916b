//! What other clones' ledgers mean here: halts of theirs that bind whoever works on from the same commit, and answers
//! of theirs to halts.
//!
//! A hook asks this every time, and the ledgers of others move only when somebody syncs or fetches. So the answer is
//! remembered (`<common dir>/andon/cache/elsewhere`) under what `stat` says of the files that hold those refs;
//! one who only commits pays for no ref and no object. The memory is a saving and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::standing;
use super::{Entry, EntryEvent, LedgerError, REF_PREFIX, read, ref_of};
use crate::domain::decision::{LedgerEvent, StandingHalt};
use crate::domain::facts::{Ack, CommitRecord};
use crate::domain::ids::{CommitId, EntryId};
use crate::domain::time::Timestamp;
use crate::git::{Repo, read_plain, replace_plain};
use crate::platform::files;
use crate::wire::envelope::{Key, open, seal};

/// Largest memory that is read, in bytes.
const MAX_MEMORY: u64 = 4 << 20;
/// Most halts, answers and acknowledgements that are remembered, the newest.
const MAX_KEPT: usize = 4096;
/// Most unanswered halts that are shown at once.
const MAX_SHOWN: usize = 64;
/// Deepest directory of remote names that is looked into.
const MAX_DEPTH: usize = 8;
/// Most files that are looked at.
const MAX_FILES: usize = 10_000;

/// What was found at the last look, so that the next hook reads only what is new.
#[derive(Serialize, Deserialize, Clone, Default)]
pub(super) struct Elsewhere {
    /// What the files looked like.
    stamp: String,
    /// This clone's id and the tip of its own ledger.
    own: Option<(String, CommitId)>,
    /// The newest entries of the ledgers under names of this clone, by writer.
    heads: BTreeMap<String, EntryId>,
    /// Unanswered halts of others.
    halts: Vec<Known>,
    /// Halts that a clone other than this one answered.
    answered: Vec<EntryId>,
    /// Acknowledgements of all: where HEAD was, and the commit of the entry.
    acks: Vec<(CommitId, CommitId)>,
    /// A commit of HEAD that none of `halts` binds.
    clear: Option<CommitId>,
}

/// A halt of another clone.
#[derive(Serialize, Deserialize, Clone, PartialEq)]
struct Known {
    at: Timestamp,
    id: EntryId,
    /// The commit of the entry.
    commit: CommitId,
    /// The commit that is halted.
    head: Option<CommitId>,
}

fn memory_of(repo: &Repo) -> PathBuf {
    repo.common_dir().join("andon").join("cache").join("elsewhere")
}

/// What is known of the ledgers of others; `own` is this clone's id, if it has one.
pub(super) fn load(repo: &Repo, own: Option<&str>) -> Result<Elsewhere, LedgerError> {
    let stamp = stamp(repo, own);
    let tip = own.map(|own| repo.ref_target(&ref_of(own))).transpose()?.flatten().map(CommitId);
    let asked = Elsewhere { stamp, own: own.map(str::to_owned).zip(tip), ..Elsewhere::default() };
    if let Some(known) = remembered(&memory_of(repo), asked.key()) {
        return Ok(known);
    }
    let source = asked.state();
    if let Some(known) = repo.made().get::<Elsewhere>(&source) {
        return Ok((*known).clone());
    }
    let all = read::all(repo)?;
    let heads = heads(repo, &all.entries, own)?;
    let Elsewhere { stamp, own: mine, .. } = asked;
    let known = Elsewhere { stamp, own: mine, heads, ..fold(&all.entries, own.unwrap_or_default()) };
    known.keep(repo);
    repo.made().keep(source, Rc::new(known.clone()));
    Ok(known)
}

fn remembered(path: &Path, key: Key) -> Option<Elsewhere> {
    open(key, &read_plain(path, MAX_MEMORY).ok()??)
}

/// The newest entries by writer: this clone's, and of others those that were written last.
fn heads(
    repo: &Repo,
    entries: &[Entry],
    own: Option<&str>,
) -> Result<BTreeMap<String, EntryId>, LedgerError> {
    let known: BTreeMap<CommitId, &Entry> = entries.iter().map(|entry| (entry.commit, entry)).collect();
    let refs = repo.refs_with_prefix(REF_PREFIX)?;
    let mut heads: Vec<(bool, u64, String, EntryId)> = refs
        .into_iter()
        .filter_map(|(name, tip)| {
            let writer = name.strip_prefix(REF_PREFIX).filter(|writer| super::is_writer(writer))?;
            let entry = known.get(&CommitId(tip))?;
            Some((own == Some(writer), entry.lamport, writer.to_owned(), entry.id))
        })
        .collect();
    heads.sort_unstable();
    let newest = heads.into_iter().rev().take(CommitRecord::MAX_LEDGERS);
    Ok(newest.map(|(_, _, writer, entry)| (writer, entry)).collect())
}

/// The fold over everything that every clone wrote.
fn fold(entries: &[Entry], own: &str) -> Elsewhere {
    let mut standing: BTreeMap<(&str, &str), Known> = BTreeMap::new();
    let (mut answered, mut acks) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry.event.known() {
            Some(LedgerEvent::Halted(halt)) => {
                let known = Known { at: halt.at, id: entry.id, commit: entry.commit, head: halt.head };
                standing.insert((&entry.writer, &halt.worktree), known);
            }
            Some(LedgerEvent::Acknowledged(ack)) => {
                match ack.halt {
                    Some(halt) => {
                        standing.retain(|_, known| known.id != halt);
                        if entry.writer != own {
                            answered.push(halt);
                        }
                    }
                    None => {
                        standing.remove(&(entry.writer.as_str(), ack.worktree.as_str()));
                    }
                }
                if let Some(head) = ack.head {
                    acks.push((head, entry.commit));
                }
            }
            Some(LedgerEvent::StopSwitch(_)) | None => {}
        }
    }
    let others = standing.into_iter().filter(|((writer, _), _)| *writer != own);
    let halts: Vec<Known> = others.map(|(_, known)| known).collect();
    Elsewhere { halts: newest(halts), answered: newest(answered), acks: newest(acks), ..Elsewhere::default() }
}

fn newest<T>(mut all: Vec<T>) -> Vec<T> {
    all.drain(..all.len().saturating_sub(MAX_KEPT));
    all
}

impl Elsewhere {
    fn key(&self) -> Key {
        Key::of(&("elsewhere", &self.stamp, &self.own))
    }

    /// Failing to remember costs time only.
    fn keep(&self, repo: &Repo) {
        if read::is_from_memory(repo) {
            return;
        }
        let _ = replace_plain(&memory_of(repo), &seal(self.key(), self));
    }

    /// The newest entries by writer.
    pub(super) fn heads(&self) -> BTreeMap<String, EntryId> {
        self.heads.clone()
    }

    /// Changes whenever a ledger does.
    pub(super) fn state(&self) -> String {
        let own =
            self.own.as_ref().map_or_else(|| "- -".to_owned(), |(writer, tip)| format!("{writer} {tip}"));
        format!("{own}\n{}", self.stamp)
    }

    /// Whether another clone answered this halt.
    pub(super) fn answers(&self, halt: EntryId) -> bool {
        self.answered.contains(&halt)
    }

    /// Whether the halt is one of another clone.
    pub(super) fn holds(&self, halt: EntryId) -> bool {
        self.halts.iter().any(|known| known.id == halt)
    }

    /// The halts of others that nobody has answered, oldest first; at most [`MAX_SHOWN`], the newest.
    pub(super) fn unanswered(&self, repo: &Repo) -> Result<Vec<StandingHalt>, LedgerError> {
        let mut known: Vec<&Known> = self.halts.iter().collect();
        known.sort_by_key(|known| (known.at, known.id));
        let skipped = known.len().saturating_sub(MAX_SHOWN);
        let halts = known[skipped..]
            .iter()
            .filter_map(|known| standing::halt_of(repo, Some(&(known.id, known.commit))).transpose());
        halts.collect()
    }

    /// The entry of the newest halt that binds at `head`, and its commit. A commit that follows one which none binds can
    /// only be bound by a halt at itself, so that a line of commits is not walked again and again.
    pub(super) fn binding(&mut self, repo: &Repo, head: CommitId) -> Option<(EntryId, CommitId)> {
        if self.halts.is_empty() || self.clear == Some(head) {
            return None;
        }
        let parents = repo.commit(head).map(|commit| commit.parents).unwrap_or_default();
        let follows = matches!(parents.as_slice(), [parent] if self.clear == Some(*parent));
        let binds = |known: &&Known| {
            known.head.is_some_and(|id| {
                id == head
                    || (!follows && repo.commit(id).is_ok() && repo.is_ancestor(id, head).unwrap_or(false))
            })
        };
        let binding = self.halts.iter().filter(binds).max_by_key(|known| (known.at, known.id));
        if let Some(known) = binding {
            return Some((known.id, known.commit));
        }
        self.clear = Some(head);
        self.keep(repo);
        None
    }

    /// The acknowledgements that were given at one of `heads`.
    pub(super) fn acks_at(&self, repo: &Repo, heads: &[CommitId]) -> Result<Vec<Ack>, LedgerError> {
        if self.acks.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (_, commit) in self.acks.iter().filter(|(head, _)| heads.contains(head)) {
            if let Some(EntryEvent::Known(LedgerEvent::Acknowledged(ack))) =
                standing::load(repo, *commit)?.map(|entry| entry.event)
            {
                found.push(*ack);
            }
        }
        Ok(found)
    }
}

/// What the files look like that hold the ledgers of others: every ref file but our own, and the packed refs.
fn stamp(repo: &Repo, own: Option<&str>) -> String {
    let common = repo.common_dir();
    let mut seen = Vec::new();
    if let Ok(facts) = fs::metadata(common.join("packed-refs")) {
        seen.push(format!("packed {}", of(&facts)));
    }
    for entry in entries(&common.join("refs/andon/ledger")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if Some(name.as_str()) != own
            && let Ok(facts) = entry.metadata()
        {
            seen.push(format!("{name} {}", of(&facts)));
        }
    }
    below(&common.join("refs/andon/remote"), MAX_DEPTH, &mut seen);
    seen.sort_unstable();
    seen.join("\n")
}

fn below(dir: &Path, depth: usize, seen: &mut Vec<String>) {
    for entry in entries(dir) {
        let Ok(facts) = entry.metadata() else { continue };
        if !facts.is_dir() {
            seen.push(format!("{} {}", entry.path().display(), of(&facts)));
        } else if depth > 0 && seen.len() < MAX_FILES {
            below(&entry.path(), depth - 1, seen);
        }
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).take(MAX_FILES)
}

fn of(facts: &fs::Metadata) -> String {
    let stat = files::stat(facts);
    format!("{} {} {} {}", stat.inode, stat.size, stat.modified.0, stat.modified.1)
}
