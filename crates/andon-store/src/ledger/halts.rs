//! The meaning of all ledgers here: the unanswered halts of this clone and of others, and the answers.
//!
//! Every hook needs this, and halts and answers are rare. So the result is remembered
//! (`<common dir>/andon/cache/halts`) under the tip of this clone's ledger and the `stat` data of the files that hold the
//! refs of others; a commit then reads one ref and no object. Where refs only grew, by entries that are neither halt nor
//! answer, the rest of the result still holds, and only those are read. The memory only saves time.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path, rc::Rc};

use serde::{Deserialize, Serialize};

use super::entry::{self, BadEntry};
use super::meaning::{self, EntryPlace, ForeignHalt, Meaning};
use super::{
    Arrival, Entry, Ledger, LedgerError, REF_PREFIX, Result, read, ref_of,
    writer::{self, Writer},
};
use crate::{GuardSnapshot, Memory, memory::Kind};
use andon_core::domain::{Ack, CommitId, CommitRecord, EntryId, Oid, StandingHalt};
use andon_git::{Repo, platform::files};

/// Most unanswered halts that are shown at once.
const MAX_SHOWN: usize = 64;

/// Most files that are looked at.
const MAX_FILES: usize = 10_000;
/// Deepest directory of remote names that is looked into.
const MAX_DEPTH: usize = 8;

/// The result of the last look, so that the next hook reads only what is new.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Halts {
    /// The state of the refs of all ledgers.
    at: Place,
    /// The same when everything was read: since then they only grew, by entries that mean nothing here.
    read_at: Place,
    /// The commits that they point to.
    tips: Vec<Tip>,
    /// The result of the halts and answers.
    meaning: Meaning,
    /// A commit of HEAD that no halt of others binds.
    clear: Option<CommitId>,
}

/// When the memory holds.
#[derive(Serialize, Deserialize, Clone, PartialEq)]
struct Place {
    /// The stat data of the files of others' ledgers.
    stamp: String,
    /// This clone's id and the tip of its own ledger.
    own: Option<(String, CommitId)>,
}

/// A ref of a ledger.
#[derive(Serialize, Deserialize, Clone)]
struct Tip {
    name: String,
    commit: CommitId,
    /// The entry there and its Lamport number; `None` where it cannot be read.
    entry: Option<(u64, EntryId)>,
}

/// The unanswered halts, as one worktree with its HEAD sees them.
#[derive(Debug)]
pub struct UnansweredHalts {
    /// The halt of this worktree.
    pub own: Option<StandingHalt>,
    /// Those of the other worktrees of this clone, which may or may not bind.
    pub beside: Vec<StandingHalt>,
    /// The newest halt of another clone whose commit is HEAD or below it: work from there is work in a halted loop.
    pub elsewhere: Option<StandingHalt>,
}

impl Ledger<'_> {
    /// The meaning of all ledgers for this clone.
    pub(super) fn halts(self) -> Result<Halts> {
        load(self.repo, self.known_writer()?.as_ref())
    }

    /// The newest halt of `worktree` in this clone's own ledger that no acknowledgement of any clone has answered.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read: whether a halt is unanswered is then unknown.
    pub fn standing(&self, worktree: &str) -> Result<Option<StandingHalt>> {
        match self.known_writer()? {
            Some(own) => load(self.repo, Some(&own))?.of_worktree(self.repo, worktree),
            None => Ok(None),
        }
    }

    /// The unanswered halts that `worktree` with HEAD at `head` has to know of. Costs a few `stat`s while no ledger has
    /// moved: the rest is remembered in `<common dir>/andon/cache`.
    ///
    /// # Errors
    /// As [`Self::standing`].
    pub fn unanswered(&self, worktree: &str, head: Option<CommitId>) -> Result<UnansweredHalts> {
        let read = || {
            let mut halts = self.halts()?;
            let own = halts.of_worktree(self.repo, worktree)?;
            let others = halts.meaning.own.iter().filter(|(name, _)| *name != worktree).take(MAX_SHOWN);
            let beside = self.halts_at(others.map(|(_, found)| *found))?;
            let binding = head.and_then(|head| halts.newest_binding(self.repo, head));
            let elsewhere = binding.map_or(Ok(None), |found| halt_at(self.repo, found))?;
            Ok(UnansweredHalts { own, beside, elsewhere })
        };
        read().map_err(|error| damaged(self.repo, error))
    }

    /// The unanswered halts of other clones, as far as they were synced, oldest first; at most 64, the newest. Costs a
    /// few `stat`s while no ledger of another has moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn unanswered_elsewhere(&self) -> Result<Vec<StandingHalt>> {
        let mut known = self.halts()?.meaning.halts;
        known.sort_by_key(|known| (known.at, known.id));
        let skipped = known.len().saturating_sub(MAX_SHOWN);
        self.halts_at(known[skipped..].iter().map(|known| (known.id, known.commit)))
    }

    /// True if a standing halt is one of another clone.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn is_elsewhere(&self, halt: EntryId) -> Result<bool> {
        Ok(self.halts()?.meaning.halts.iter().any(|known| known.id == halt))
    }

    /// The acknowledgements of all clones that were given at one of `heads`, in the ledger's order.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn acks_at(&self, heads: &[CommitId]) -> Result<Vec<Ack>> {
        let mut found = Vec::new();
        for (_, commit) in self.halts()?.meaning.acks.iter().filter(|(head, _)| heads.contains(head)) {
            let entry = entry_at(self.repo, *commit).map_err(|error| damaged(self.repo, error))?;
            found.extend(entry.and_then(|entry| entry.event.answer().cloned()));
        }
        Ok(found)
    }

    /// The newest entry of each writer's ledger under a name of this clone, at most as many as a record names: this clone's,
    /// and of others those that were written last. Costs a few `stat`s while no ledger has moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn heads(&self) -> Result<BTreeMap<String, EntryId>> {
        let halts = self.halts()?;
        let own = halts.at.own_writer();
        let head = |tip: &Tip| {
            let writer = tip.name.strip_prefix(REF_PREFIX).filter(|writer| super::is_writer(writer))?;
            let (lamport, id) = tip.entry?;
            Some((own == Some(writer), lamport, writer.to_owned(), id))
        };
        let mut heads: Vec<_> = halts.tips.iter().filter_map(head).collect();
        heads.sort_unstable();
        let newest = heads.into_iter().rev().take(CommitRecord::MAX_LEDGERS);
        Ok(newest.map(|(_, _, writer, entry)| (writer, entry)).collect())
    }

    /// A text that changes whenever a ref of a ledger does, or this clone's id.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn state(&self) -> Result<String> {
        Ok(self.halts()?.at.state())
    }

    /// Two texts: one that changes whenever a ledger loses an entry, and whenever a halt or an answer comes; and
    /// [`Self::state`].
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn losses_and_state(&self) -> Result<(String, String)> {
        let known = self.halts()?;
        Ok((known.read_at.state(), known.at.state()))
    }

    /// The newest halt of each worktree of each clone that an acknowledgement ended. Costs a few `stat`s while no ledger has
    /// moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn ended(&self) -> Result<Vec<StandingHalt>> {
        self.halts_at(self.halts()?.meaning.ended.into_iter())
    }

    /// Who wrote the entry of `commit`; `None` when it is no entry.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when it cannot be read.
    pub fn writer_at(&self, commit: CommitId) -> Result<Option<String>> {
        Ok(entry_at(self.repo, commit)?.map(|entry| entry.writer))
    }

    fn halts_at(self, places: impl Iterator<Item = EntryPlace>) -> Result<Vec<StandingHalt>> {
        let halts = places.filter_map(|place| halt_at(self.repo, place).transpose());
        halts.collect::<Result<_, _>>().map_err(|error| damaged(self.repo, error))
    }
}

/// True if this clone has ever looked at a ledger of its own: then it has, or had, an id.
pub(super) fn had_own(repo: &Repo) -> bool {
    let before: Option<Halts> = Memory::new(repo, Kind::HALTS).get(&());
    before.is_some_and(|known| known.at.own.is_some())
}

/// The meaning of all ledgers; `own` is this clone's id, if it has one.
pub(super) fn load(repo: &Repo, writer: Option<&Writer>) -> Result<Halts> {
    let own = writer.map(|own| own.id.as_str());
    let stamp = stamp(repo, own);
    let tip = own.map(|own| repo.ref_target(&ref_of(own))).transpose()?.flatten().map(CommitId);
    let at = Place { stamp, own: own.map(str::to_owned).zip(tip) };
    let before: Option<Halts> = Memory::new(repo, Kind::HALTS).get(&());
    if let Some(known) = before.as_ref().filter(|known| known.at == at) {
        return Ok(known.clone());
    }
    let tips = before.as_ref().map_or_else(|| guarded(repo), |known| known.tips.clone());
    if put_back(repo, &tips) {
        return load(repo, writer);
    }
    let source = at.state();
    if let Some(known) = repo.made().get::<Halts>(&source) {
        return Ok((*known).clone());
    }
    let known = match before.and_then(|before| before.grown(repo, &at)) {
        Some(known) => known,
        None => Halts::read(repo, at).map_err(|error| damaged(repo, error))?,
    };
    known.keep(repo);
    repo.made().keep(source, Rc::new(known.clone()));
    Ok(known)
}

/// The entries of `writer` along the first parents of `tip`, oldest first: what a ref of another says in its name does not count.
fn own_entries(
    repo: &Repo,
    writer: &str,
    tip: CommitId,
    entries: &BTreeMap<CommitId, &Entry>,
) -> Result<Vec<Entry>> {
    let (mut own, mut next) = (Vec::new(), Some(tip));
    while let Some(commit) = next {
        // An unreadable entry is an error here: it is then unknown whether a halt is unanswered.
        let entry = match entries.get(&commit) {
            Some(entry) => Some((*entry).clone()),
            None => entry_at(repo, commit)?,
        };
        // Below a writer's first entry are those of others.
        own.extend(entry.filter(|entry| entry.writer == writer));
        next = repo.commit(commit)?.parents.first().copied();
    }
    own.reverse();
    Ok(own)
}

/// `error` with the command that takes out the ledgers which lead to what cannot be read, where some do.
fn damaged(repo: &Repo, error: LedgerError) -> LedgerError {
    let LedgerError::Git(source) = error else { return error };
    let is_damaged = |(name, tip): &(String, Oid)| {
        let writer = super::writer_of(name.strip_prefix(REF_PREFIX).unwrap_or(name));
        own_entries(repo, writer, CommitId(*tip), &BTreeMap::new()).is_err()
    };
    let refs = super::refs_of_all(repo).unwrap_or_default().into_iter();
    let (refs, tips): (Vec<String>, Vec<Oid>) = refs.filter(is_damaged).unzip();
    if refs.is_empty() {
        return source.into();
    }
    let is_whole = tips.iter().all(|tip| repo.commit_object(CommitId(*tip)).is_ok());
    let rest = if is_whole { super::Rest::Whole } else { super::Rest::Damaged };
    LedgerError::Damaged { way_out: super::take_out(&refs, rest), source: Box::new(source) }
}

/// The entry of `commit`; `None` when it is corrupt: `read_all` warns of it.
pub(super) fn entry_at(repo: &Repo, commit: CommitId) -> Result<Option<Entry>> {
    let tree = repo.tree_of(commit)?;
    match entry::load(repo, commit, tree) {
        Ok(entry) => Ok(Some(entry)),
        Err(BadEntry::Corrupt(_)) => Ok(None),
        Err(BadEntry::Git(error)) => Err(error.into()),
    }
}

/// The halt of an entry; `None` where the entry is another one.
fn halt_at(repo: &Repo, (id, commit): EntryPlace) -> Result<Option<StandingHalt>> {
    let entry = entry_at(repo, commit)?.filter(|entry| entry.id == id);
    Ok(entry.and_then(|entry| Some(StandingHalt { id, halt: entry.event.halt()?.clone() })))
}

/// True if the first parents of `tip` lead to `before` by way of `new` entries alone.
fn follows(new: &BTreeMap<CommitId, read::Node>, tip: CommitId, before: CommitId) -> bool {
    let mut at = tip;
    while at != before {
        let Some(next) = new.get(&at).and_then(|node| node.parents.first()) else { return false };
        at = *next;
    }
    true
}

/// The ledgers as the guard of a client's calls saw them last.
fn guarded(repo: &Repo) -> Vec<Tip> {
    let kept = GuardSnapshot::read(repo.git_dir()).map(|kept| kept.refs).unwrap_or_default();
    let ledgers = kept.into_iter().filter(|(name, _)| name.starts_with(REF_PREFIX));
    ledgers.filter_map(|(name, tip)| Some(Tip { name, commit: tip.parse().ok()?, entry: None })).collect()
}

/// True if every entry that `tip` leads to can be read: one that a person took out, as the hint has it, stays out.
fn is_whole(repo: &Repo, tip: CommitId) -> bool {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![tip]);
    while let Some(commit) = todo.pop() {
        if !seen.insert(commit) {
            continue;
        }
        let (Ok(Some(_)), Ok(info)) = (entry_at(repo, commit), repo.commit(commit)) else { return false };
        todo.extend(info.parents);
    }
    true
}

/// Puts back the ledgers that were here at `tips` and are gone or went back since, as far as they can be read: a fetch pruned or
/// overwrote them. One that was rewritten stays as it is, and shows. True if there was one.
fn put_back(repo: &Repo, tips: &[Tip]) -> bool {
    let mut is_any = false;
    for Tip { name, commit, .. } in tips {
        let writer = super::writer_of(name.strip_prefix(REF_PREFIX).unwrap_or(name));
        let now = repo.ref_target(name).ok().flatten().map(CommitId);
        let is_lost = now.is_none_or(|now| now != *commit && repo.is_ancestor(now, *commit).unwrap_or(false));
        if super::is_writer(writer) && is_lost && is_whole(repo, *commit) {
            let adopted = Ledger::open(repo).adopt(writer, *commit);
            is_any |= matches!(adopted, Ok(Arrival::Forward(_)));
        }
    }
    is_any
}

impl Halts {
    /// Reads all ledgers. Tips and meaning are of the refs as they were when the entries were read, which may be later than `at`.
    fn read(repo: &Repo, at: Place) -> Result<Self> {
        let all = read::all(repo)?;
        let entries: BTreeMap<CommitId, &Entry> =
            all.entries.iter().map(|entry| (entry.commit, entry)).collect();
        let tip = |(name, target): &(String, Oid)| {
            let commit = CommitId(*target);
            let entry = entries.get(&commit).map(|entry| (entry.lamport, entry.id));
            Tip { name: name.clone(), commit, entry }
        };
        let tips: Vec<Tip> = all.heads.iter().map(tip).collect();
        let own_tip = |writer: &str| tips.iter().find(|tip| tip.name == ref_of(writer));
        let own = at.own.and_then(|(writer, _)| own_tip(&writer).map(|tip| (writer.clone(), tip.commit)));
        let former = writer::of(repo)?.map(|own| own.former).unwrap_or_default();
        let mut of_own = Vec::new();
        for (writer, tip) in former.iter().chain(&own) {
            match own_entries(repo, writer, *tip, &entries) {
                // A person took out what could not be read: its halts go on by their traces.
                Err(_) if !all.heads.iter().any(|(name, _)| name.ends_with(writer.as_str())) => {}
                found => of_own.extend(found?),
            }
        }
        let at = Place { own, ..at };
        let meaning = meaning::fold(&all.entries, &of_own, at.own_writer().unwrap_or_default());
        Ok(Self { read_at: at.clone(), at, tips, meaning, clear: None })
    }

    /// The same `at` another time, where refs only grew meanwhile, by entries that mean nothing here: `None` where that is not so.
    fn grown(&self, repo: &Repo, at: &Place) -> Option<Self> {
        if self.at.own_writer() != at.own_writer() {
            return None;
        }
        let refs = super::refs_of_all(repo).ok()?;
        let mut before: BTreeMap<&str, CommitId> =
            self.tips.iter().map(|tip| (tip.name.as_str(), tip.commit)).collect();
        let known: BTreeMap<CommitId, _> = self.tips.iter().map(|tip| (tip.commit, tip.entry)).collect();
        let moved = refs.iter().map(|(_, target)| CommitId(*target)).filter(|tip| !known.contains_key(tip));
        let hidden: Vec<CommitId> = known.keys().copied().collect();
        let new = read::beyond(repo, &moved.collect::<Vec<_>>(), &hidden)?;
        let mut tips = Vec::with_capacity(refs.len());
        for (name, target) in refs {
            let commit = CommitId(target);
            if before.remove(name.as_str()).is_some_and(|tip| !follows(&new, commit, tip)) {
                return None;
            }
            let entry = match new.get(&commit) {
                Some(node) => node.entry.as_ref().map(|entry| (entry.lamport, entry.id)),
                None => *known.get(&commit)?,
            };
            tips.push(Tip { name, commit, entry });
        }
        // A tip that is left is a ref that is gone.
        before.is_empty().then(|| Self { at: at.clone(), tips, ..self.clone() })
    }

    /// Failing to remember costs time only.
    fn keep(&self, repo: &Repo) {
        if !Ledger::open(repo).is_from_memory() {
            Memory::new(repo, Kind::HALTS).put(&(), self);
        }
    }

    /// Changes whenever a halt or an answer comes or goes.
    pub(super) fn events(&self) -> String {
        self.meaning.of.to_string()
    }

    /// The unanswered halt of `worktree` of this clone.
    pub(super) fn of_worktree(&mut self, repo: &Repo, worktree: &str) -> Result<Option<StandingHalt>> {
        let Some(found) = self.meaning.own.get(worktree) else { return Ok(None) };
        let halt = halt_at(repo, *found)?;
        if halt.is_some() {
            return Ok(halt);
        }
        // The memory named an entry that is no halt: it is wrong about everything.
        *self = Self::read(repo, self.at.clone())?;
        self.keep(repo);
        self.meaning.own.get(worktree).map_or(Ok(None), |found| halt_at(repo, *found))
    }

    /// The entry of the newest halt that binds at `head`, and its commit. A commit that follows one which none binds can
    /// only be bound by a halt at itself, so that a line of commits is not walked again and again.
    fn newest_binding(&mut self, repo: &Repo, head: CommitId) -> Option<EntryPlace> {
        if self.meaning.halts.is_empty() || self.clear == Some(head) {
            return None;
        }
        let parents = repo.commit(head).map(|commit| commit.parents).unwrap_or_default();
        let follows = matches!(parents.as_slice(), [parent] if self.clear == Some(*parent));
        let binds = |known: &&ForeignHalt| {
            known.head.is_some_and(|id| {
                id == head
                    || (!follows && repo.commit(id).is_ok() && repo.is_ancestor(id, head).unwrap_or(false))
            })
        };
        let binding = self.meaning.halts.iter().filter(binds).max_by_key(|known| (known.at, known.id));
        if let Some(known) = binding {
            return Some((known.id, known.commit));
        }
        self.clear = Some(head);
        self.keep(repo);
        None
    }
}

impl Place {
    fn own_writer(&self) -> Option<&str> {
        self.own.as_ref().map(|(writer, _)| writer.as_str())
    }

    fn state(&self) -> String {
        let own =
            self.own.as_ref().map_or_else(|| "- -".to_owned(), |(writer, tip)| format!("{writer} {tip}"));
        format!("{own}\n{}", self.stamp)
    }
}

/// The stat data of the files that hold the ledgers of others: every ref file but our own, and the packed refs.
fn stamp(repo: &Repo, own: Option<&str>) -> String {
    let common = repo.common_dir();
    let mut seen = Vec::new();
    if let Ok(facts) = fs::metadata(common.join("packed-refs")) {
        seen.push(format!("packed {}", look_of(&facts)));
    }
    for entry in entries(&common.join("refs/andon/ledger")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if Some(name.as_str()) != own
            && let Ok(facts) = entry.metadata()
        {
            seen.push(format!("{name} {}", look_of(&facts)));
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
            seen.push(format!("{} {}", entry.path().display(), look_of(&facts)));
        } else if depth > 0 && seen.len() < MAX_FILES {
            below(&entry.path(), depth - 1, seen);
        }
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).take(MAX_FILES)
}

fn look_of(facts: &fs::Metadata) -> String {
    let stat = files::stat(facts);
    format!("{} {} {} {}", stat.inode, stat.size, stat.modified.0, stat.modified.1)
}

#[cfg(test)]
mod tests;
