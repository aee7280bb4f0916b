//! What one sync knows about the records of writers: which are new, what the other side lacks, and what is remembered
//! for the next time (`<common dir>/andon/cache/sync`). The memory only saves work. Without it, and wherever a ref was
//! rewound or removed at the other side, everything is compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::peer::{Peer, PeerKnowledge};
use crate::error::OpsError;
use andon_core::domain::ids::{CommitId, Digest};
use andon_core::domain::time::Timestamp;
use andon_git::{NotesTree, Repo};
use andon_store::by_writer::{self, IntakeReport, PREFIX, UnitedNotes, WriterNews, lacking, line_up};
use andon_store::ledger::{self, Ledger};
use andon_store::memory::{Kind, Memory};
use andon_store::notes;

/// Most remotes and addresses that are remembered.
const MAX_REMOTES: usize = 64;

/// Tips by writer, or by name of a ref.
pub(super) type Tips = BTreeMap<String, CommitId>;

/// What is remembered.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct SyncMemory {
    /// The state of the records here up to which everything that was written here is in the ref of this clone.
    carried: Option<CommitId>,
    /// Refs of writers as they were taken in.
    taken: Tips,
    /// By a hash of name and address.
    remotes: BTreeMap<String, AtRemote>,
}

/// What a remote had when the last sync with it was over.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AtRemote {
    /// A state of the records here that it had completely.
    complete: Option<CommitId>,
    /// Its writers.
    writers: Tips,
}

impl SyncMemory {
    fn read(repo: &Repo) -> Self {
        Memory::new(repo, Kind::Sync).get(&()).unwrap_or_default()
    }

    fn write(&self, repo: &Repo) {
        Memory::new(repo, Kind::Sync).put(&(), self);
    }
}

/// The records of writers in one sync.
pub(super) struct ByWriter {
    memory: SyncMemory,
    /// By what the remote is remembered.
    remote: String,
    /// Whether its refs stay here.
    standing: PeerKnowledge,
    /// What the refs of the remote's writers begin with here.
    prefix: String,
    /// What was taken in before this sync.
    before: Tips,
    /// What the remote's writers have that they had not before.
    incoming: UnitedNotes,
    /// Writers whose records went back or away.
    missed: Tips,
    /// The state of the records here that the remote has completely once this clone's ref has arrived.
    offered: Option<CommitId>,
    /// Whether the remote has everything without it: it was folded, and nothing was written since.
    is_spared: bool,
}

impl ByWriter {
    pub(super) fn new(repo: &Repo, peer: &Peer) -> Self {
        let memory = SyncMemory::read(repo);
        let url = repo.config_string(&format!("remote.{}.url", peer.address)).unwrap_or_default();
        // Hashed: addresses may hold passwords.
        let remote = Digest(Sha256::digest(format!("{} {url}", peer.address)).into()).to_string();
        Self {
            before: memory.taken.clone(),
            memory,
            remote,
            standing: peer.standing,
            prefix: peer.records.clone(),
            incoming: UnitedNotes::new(),
            missed: Tips::new(),
            offered: None,
            is_spared: false,
        }
    }

    /// Takes in what is new at these tips, by writer.
    pub(super) fn adopt(
        &mut self,
        repo: &Repo,
        tips: &Tips,
        at: Timestamp,
    ) -> Result<(IntakeReport, WriterNews), OpsError> {
        let named: Vec<(String, &String, CommitId)> =
            tips.iter().map(|(writer, tip)| (format!("{}{writer}", self.prefix), writer, *tip)).collect();
        let mut incoming = WriterNews::default();
        for (name, writer, tip) in &named {
            let known = self.memory.taken.get(name).copied();
            if known != Some(*tip) {
                incoming.add(repo, writer, known, *tip);
            }
        }
        let taken_in = by_writer::take_in(repo, &incoming, at)?;
        add_up(&mut self.incoming, &incoming);
        if self.standing == PeerKnowledge::Configured && !incoming.tips.is_empty() {
            let unread = |writer: &String| incoming.unread.iter().any(|(name, _)| name == writer);
            self.memory.taken.retain(|name, _| !name.starts_with(&self.prefix));
            let read = named.into_iter().filter(|(_, writer, _)| !unread(writer));
            self.memory.taken.extend(read.map(|(name, _, tip)| (name, tip)));
            self.memory.write(repo);
        }
        Ok((taken_in, incoming))
    }

    /// The records of a writer went back or away: nothing is known of the remote any more.
    pub(super) fn miss(&mut self, writer: Option<(&str, CommitId)>) {
        self.missed.extend(writer.map(|(writer, seen)| (writer.to_owned(), seen)));
        self.memory.remotes.remove(&self.remote);
    }

    /// No refs of an address stay here for comparison: what is remembered about it holds while all of it is there.
    pub(super) fn compare(&mut self, repo: &Repo, tips: &Tips) {
        let there = |(writer, known): (&String, &CommitId)| {
            tips.get(writer).is_some_and(|tip| repo.is_ancestor(*known, *tip).unwrap_or(false))
        };
        if self.standing == PeerKnowledge::Passing && !self.at_remote().writers.iter().all(there) {
            self.miss(None);
        }
    }

    /// Writes to this clone's ref what was written here, and what the remote lacks: `tips` are its writers, `legacy` what it
    /// has of `refs/notes/andon`. Returns the writers whose records were there and are missing now.
    pub(super) fn offer(
        &mut self,
        repo: &Repo,
        tips: &Tips,
        legacy: Option<CommitId>,
        at: Timestamp,
    ) -> Result<Tips, OpsError> {
        let Some(tip) = repo.ref_commit(notes::REF)? else { return Ok(Tips::new()) };
        let own = own_ref(repo)?;
        self.go_on(repo, own.as_deref(), tips, at)?;
        let there = self.there(repo, tips);
        let others = [repo.notes_at(notes::REF, legacy)];
        let missing = self.missing(repo, &there, &others)?;
        let carried = match (self.memory.carried, &own) {
            (Some(since), _) if since == tip => true,
            (Some(since), Some(own)) => by_writer::carry(repo, own, (since, tip), at)?,
            (_, _) => false,
        };
        let complete =
            self.at_remote().complete.filter(|known| repo.is_ancestor(*known, tip).unwrap_or(false));
        let [legacy] = others;
        // What is in this clone's ref arrives with it; where the remote has no such ref, only if it is needed.
        let has_own = own.as_deref().is_some_and(|own| tips.contains_key(&own[PREFIX.len()..]));
        let mine = own.as_deref().filter(|_| has_own).map(|own| repo.notes(own)).transpose()?;
        let others = [Some(legacy), mine];
        let mut rest = Vec::new();
        for (commit, note) in repo.notes_since(notes::REF, complete, tip)?.notes {
            let Some(note) = note else { continue };
            let known = known_lines(commit, &there, others.iter().flatten())?;
            rest.extend(lacking(&note, &known).map(|rest| (commit, Some(rest))));
        }
        self.is_spared = !has_own && rest.is_empty();
        if !rest.is_empty() {
            let own = format!("{PREFIX}{}", Ledger::open(repo).writer_id()?);
            let from = if carried { vec![] } else { vec![tip] };
            by_writer::add(repo, &own, &rest, &from, at)?;
        }
        self.memory.carried = Some(tip);
        self.memory.write(repo);
        self.offered = Some(tip);
        Ok(missing)
    }

    /// This clone's ref continues from what the remote has of it, and what is remembered holds as long as that is so.
    fn go_on(&mut self, repo: &Repo, own: Option<&str>, tips: &Tips, at: Timestamp) -> Result<(), OpsError> {
        let Some(own) = own else { return Ok(()) };
        let writer = &own[PREFIX.len()..];
        let here = repo.ref_commit(own)?;
        let has = |tip: CommitId| here.is_some_and(|here| repo.is_ancestor(tip, here).unwrap_or(false));
        let known = self.at_remote().writers.get(writer).copied();
        let is_there = self.standing == PeerKnowledge::Passing || tips.contains_key(writer);
        if known.is_some_and(|known| !has(known) || !is_there) {
            self.miss(None);
        }
        // Removed here, or written by a copy of this clone that has the same id.
        if let Some(theirs) = tips.get(writer).filter(|theirs| !has(**theirs)) {
            by_writer::unite(repo, own, *theirs, at)?;
        }
        Ok(())
    }

    /// Whether this clone's ref need not be sent.
    pub(super) fn is_spared(&self) -> bool {
        self.is_spared
    }

    /// From now on this clone's ref has what others had alone.
    pub(super) fn need(&mut self) {
        self.is_spared = false;
    }

    fn at_remote(&self) -> AtRemote {
        self.memory.remotes.get(&self.remote).cloned().unwrap_or_default()
    }

    /// What the remote's writers have that this clone did not know it to have.
    fn there(&self, repo: &Repo, tips: &Tips) -> UnitedNotes {
        let AtRemote { complete, writers } = self.at_remote();
        let mut there = self.incoming.clone();
        for (writer, tip) in tips {
            let known = complete.and(writers.get(writer).copied());
            // What is new since then came in by this sync.
            if known != self.before.get(&format!("{}{writer}", self.prefix)).copied() {
                let mut more = WriterNews::default();
                more.add(repo, writer, known, *tip);
                add_up(&mut there, &more);
            }
        }
        there
    }

    /// The writers of whose records a line is nowhere at the remote any more.
    fn missing(&self, repo: &Repo, there: &UnitedNotes, others: &[NotesTree<'_>]) -> Result<Tips, OpsError> {
        let mut missing = Tips::new();
        for (writer, seen) in &self.missed {
            let Ok(had) = repo.notes_since(PREFIX, None, *seen) else { continue };
            for (commit, note) in had.notes {
                let Some(note) = note else { continue };
                if lacking(&note, &known_lines(commit, there, others.iter())?).is_some() {
                    missing.insert(writer.clone(), *seen);
                    break;
                }
            }
        }
        Ok(missing)
    }

    /// Everything that was offered has arrived.
    pub(super) fn arrived(&mut self, repo: &Repo, tips: &Tips) {
        let Some(complete) = self.offered else { return };
        let mut writers = tips.clone();
        if let Ok(Some(own)) = own_ref(repo)
            && let Ok(Some(tip)) = repo.ref_commit(&own)
            && !self.is_spared
        {
            writers.insert(own[PREFIX.len()..].to_owned(), tip);
            if self.standing == PeerKnowledge::Configured {
                self.memory.taken.insert(format!("{}{}", self.prefix, &own[PREFIX.len()..]), tip);
            }
        }
        if self.memory.remotes.len() >= MAX_REMOTES {
            self.memory.remotes.clear();
        }
        self.memory.remotes.insert(self.remote.clone(), AtRemote { complete: Some(complete), writers });
        self.memory.write(repo);
    }
}

/// The ref of this clone's own records, whether or not it is there.
pub(super) fn own_ref(repo: &Repo) -> Result<Option<String>, OpsError> {
    let ledger = Ledger::open(repo).own_ref()?;
    Ok(ledger.and_then(|name| Some(format!("{PREFIX}{}", name.rsplit_once('/')?.1))))
}

fn add_up(lines: &mut UnitedNotes, incoming: &WriterNews) {
    for (commit, note) in &incoming.notes {
        line_up(lines, *commit, note.as_deref());
    }
}

fn known_lines<'a>(
    commit: CommitId,
    there: &UnitedNotes,
    others: impl Iterator<Item = &'a NotesTree<'a>>,
) -> Result<Vec<Vec<u8>>, OpsError> {
    let mut known: Vec<Vec<u8>> = there.get(&commit).cloned().flatten().into_iter().collect();
    for tree in others {
        known.extend(tree.get(commit)?);
    }
    Ok(known)
}

/// Takes in what a plain `git fetch` brought of writers, as `andon install` has it set up or as CI does it.
///
/// # Errors
/// [`OpsError`] when it cannot be read or written.
pub fn take_in_fetched(repo: &Repo, at: Timestamp) -> Result<IntakeReport, OpsError> {
    let mut found = repo.refs_with_prefix(PREFIX)?;
    found.extend(repo.refs_with_prefix(by_writer::REMOTE_PREFIX)?);
    if found.is_empty() {
        return Ok(IntakeReport::default());
    }
    let own = own_ref(repo)?;
    let mut memory = SyncMemory::read(repo);
    let mut incoming = WriterNews::default();
    let ids = |name: &str| name.rsplit('/').next().is_some_and(ledger::is_writer);
    for (name, target) in found.into_iter().filter(|(name, _)| ids(name)) {
        let tip = CommitId(target);
        let known = memory.taken.get(&name).copied();
        if known == Some(tip) || Some(&name) == own.as_ref() {
            continue;
        }
        incoming.add(repo, &name, known, tip);
        memory.taken.insert(name, tip);
    }
    if incoming.tips.is_empty() {
        return Ok(IntakeReport::default());
    }
    let taken_in = by_writer::take_in(repo, &incoming, at)?;
    memory.taken.retain(|name, _| !incoming.unread.iter().any(|(unread, _)| unread == name));
    memory.write(repo);
    Ok(taken_in)
}
