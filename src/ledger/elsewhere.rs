//! What other clones' ledgers mean here: halts of theirs that bind whoever works on from the same commit, and answers
//! of theirs to halts.
//!
//! A hook asks this every time, and the ledgers of others move only when somebody syncs or fetches. So the answer is
//! remembered (`<common dir>/andon/cache/elsewhere.json`) under what `stat` says of the files that hold those refs;
//! one who only commits pays for no ref and no object. The memory is a saving and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::standing::{self, replace};
use super::{Entry, EntryEvent, LedgerError, REF_PREFIX, read, ref_of};
use crate::domain::decision::LedgerEvent;
use crate::domain::facts::{Ack, CommitRecord};
use crate::domain::ids::{CommitId, EntryId};
use crate::git::{Repo, read_plain};

const VERSION: u32 = 2;
/// Largest memory that is read, in bytes.
const MAX_MEMORY: u64 = 4 << 20;
/// Most halts, answers and acknowledgements that are remembered, the newest.
const MAX_KEPT: usize = 4096;
/// Deepest directory of remote names that is looked into.
const MAX_DEPTH: usize = 8;
/// Most files that are looked at.
const MAX_FILES: usize = 10_000;

/// The memory.
#[derive(Serialize, Deserialize, Default)]
pub(super) struct Elsewhere {
    version: u32,
    /// What the files looked like.
    stamp: String,
    /// This clone's id and the tip of its own ledger.
    own: Option<(String, String)>,
    /// The newest entries of the ledgers under names of this clone, by writer.
    heads: BTreeMap<String, String>,
    /// Unanswered halts of others by writer and worktree: entry, its commit, the commit that is halted.
    halts: Vec<(String, String, Known)>,
    /// Halts that a clone other than this one answered.
    answered: Vec<String>,
    /// Acknowledgements of all: where HEAD was, and the commit of the entry.
    acks: Vec<(String, String)>,
    /// A commit of HEAD that none of `halts` binds.
    clear: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq)]
struct Known {
    at: i64,
    id: String,
    commit: String,
    head: Option<String>,
}

fn memory_of(repo: &Repo) -> PathBuf {
    repo.common_dir().join("andon").join("cache").join("elsewhere.json")
}

/// What is known of the ledgers of others; `own` is this clone's id, if it has one.
pub(super) fn load(repo: &Repo, own: Option<&str>) -> Result<Elsewhere, LedgerError> {
    let stamp = stamp(repo, own);
    let tip = own.map(|own| repo.ref_target(&ref_of(own))).transpose()?.flatten();
    let mine = own.zip(tip).map(|(own, tip)| (own.to_owned(), tip.to_string()));
    let path = memory_of(repo);
    if let Some(known) = remembered(&path).filter(|known| known.stamp == stamp && known.own == mine) {
        return Ok(known);
    }
    let (entries, _) = read::read_all(repo)?;
    let heads = heads(repo, &entries, own)?;
    let known =
        Elsewhere { version: VERSION, stamp, heads, own: mine, ..fold(&entries, own.unwrap_or_default()) };
    let _ = replace(&path, &known);
    Ok(known)
}

fn remembered(path: &Path) -> Option<Elsewhere> {
    let bytes = read_plain(path, MAX_MEMORY).ok()??;
    serde_json::from_slice::<Elsewhere>(&bytes).ok().filter(|known| known.version == VERSION)
}

/// The newest entries by writer: this clone's, and of others those that were written last.
fn heads(repo: &Repo, entries: &[Entry], own: Option<&str>) -> Result<BTreeMap<String, String>, LedgerError> {
    let known: BTreeMap<CommitId, &Entry> = entries.iter().map(|entry| (entry.commit, entry)).collect();
    let refs = repo.refs_with_prefix(REF_PREFIX)?;
    let mut heads: Vec<(bool, u64, String, String)> = refs
        .into_iter()
        .filter_map(|(name, tip)| {
            let writer = name.strip_prefix(REF_PREFIX).filter(|writer| super::is_writer(writer))?;
            let entry = known.get(&CommitId(tip))?;
            Some((own == Some(writer), entry.lamport, writer.to_owned(), entry.id.to_string()))
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
                let head = halt.head.map(|head| head.to_string());
                let (id, commit) = (entry.id.to_string(), entry.commit.to_string());
                let known = Known { at: halt.at.0, id, commit, head };
                standing.insert((&entry.writer, &halt.worktree), known);
            }
            Some(LedgerEvent::Acknowledged(ack)) => {
                match ack.halt.map(|halt| halt.to_string()) {
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
                    acks.push((head.to_string(), entry.commit.to_string()));
                }
            }
            Some(LedgerEvent::Cord(_)) | None => {}
        }
    }
    let halts: Vec<(String, String, Known)> = standing
        .into_iter()
        .filter(|((writer, _), _)| *writer != own)
        .map(|((writer, worktree), known)| (writer.to_owned(), worktree.to_owned(), known))
        .collect();
    Elsewhere { halts: newest(halts), answered: newest(answered), acks: newest(acks), ..Elsewhere::default() }
}

fn newest<T>(mut all: Vec<T>) -> Vec<T> {
    all.drain(..all.len().saturating_sub(MAX_KEPT));
    all
}

impl Elsewhere {
    /// The newest entries by writer.
    pub(super) fn heads(&self) -> BTreeMap<String, EntryId> {
        let heads = self.heads.iter();
        heads.filter_map(|(writer, entry)| Some((writer.clone(), entry.parse().ok()?))).collect()
    }

    /// Changes whenever a ledger does.
    pub(super) fn state(&self) -> String {
        let own = self.own.as_ref().map_or("-", |(_, tip)| tip);
        let writer = self.own.as_ref().map_or("-", |(writer, _)| writer);
        format!("{writer} {own}\n{}", self.stamp)
    }

    /// Whether another clone answered this halt.
    pub(super) fn answers(&self, halt: EntryId) -> bool {
        let halt = halt.to_string();
        self.answered.contains(&halt)
    }

    /// Whether the halt is one of another clone.
    pub(super) fn holds(&self, halt: EntryId) -> bool {
        let halt = halt.to_string();
        self.halts.iter().any(|(_, _, known)| known.id == halt)
    }

    /// The entry of the newest halt that binds at `head`, and its commit. A commit that follows one which none binds can
    /// only be bound by a halt at itself, so that a line of commits is not walked again and again.
    pub(super) fn binding(&mut self, repo: &Repo, head: CommitId) -> Option<(EntryId, CommitId)> {
        let at = head.to_string();
        if self.halts.is_empty() || self.clear.as_ref() == Some(&at) {
            return None;
        }
        let parents = repo.commit(head).map(|commit| commit.parents).unwrap_or_default();
        let follows =
            matches!(parents.as_slice(), [parent] if self.clear.as_ref() == Some(&parent.to_string()));
        let binds = |known: &&Known| {
            let halted: Option<CommitId> = known.head.as_ref().and_then(|id| id.parse().ok());
            halted.is_some_and(|id| {
                id == head
                    || (!follows && repo.commit(id).is_ok() && repo.is_ancestor(id, head).unwrap_or(false))
            })
        };
        let binding = self.halts.iter().map(|(_, _, known)| known).filter(binds);
        if let Some(known) = binding.max_by_key(|known| (known.at, &known.id)).cloned() {
            return Some((known.id.parse().ok()?, known.commit.parse().ok()?));
        }
        self.clear = Some(at);
        let _ = replace(&memory_of(repo), self);
        None
    }

    /// The acknowledgements that were given at one of `heads`.
    pub(super) fn acks_at(&self, repo: &Repo, heads: &[CommitId]) -> Result<Vec<Ack>, LedgerError> {
        if self.acks.is_empty() {
            return Ok(Vec::new());
        }
        let heads: Vec<String> = heads.iter().map(ToString::to_string).collect();
        let mut found = Vec::new();
        for (_, commit) in self.acks.iter().filter(|(head, _)| heads.contains(head)) {
            let Ok(commit) = commit.parse() else { continue };
            if let Some(EntryEvent::Known(LedgerEvent::Acknowledged(ack))) =
                standing::load(repo, commit)?.map(|entry| entry.event)
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
    format!("{} {} {} {}", facts.ino(), facts.size(), facts.mtime(), facts.mtime_nsec())
}
