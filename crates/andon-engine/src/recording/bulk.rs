//! Many commits at once: pieces of a range are derived in parallel, and each commit is handed on in the order of the
//! range, so that results are the same, byte for byte, whatever the number of threads.
//!
//! A piece has a repository handle of its own, because one belongs to one thread (libgit2), and at most one piece more
//! than there are threads is held: that bounds memory. The cache of libgit2 is switched off, because it never frees
//! anything.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::{collections::VecDeque, num::NonZeroUsize, path::Path, thread};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use sha2::{Digest as _, Sha256};

use crate::context::Context;
use crate::error::{OpsError, VerbError};
use crate::recording::derive::{DerivedCommit, Deriver};
use andon_config::Config;
use andon_core::change::normalize::Normalizer;
use andon_core::domain::facts::{CommitRecord, Recording};
use andon_core::domain::{diagnostic::Diagnostic, ids::CommitId};
use andon_git::{CommitInfo, Repo};
use andon_store::derived::{CommitMemory, DerivedCache, DerivedWriter};
use andon_store::notes::NotesStore;

/// Commits of a piece. The first of a piece costs more than the others: nothing is known of its trees.
const MAX_PIECE: usize = 512;
/// The same of a short range, which would be one piece otherwise.
const MIN_PIECE: usize = 32;
/// Pieces a thread that a short range has at least.
const SHARES: usize = 4;
/// Most threads: beyond, they wait for one another in libgit2.
const MAX_THREADS: usize = 32;
/// A range of fewer commits leaves nothing in the cache: it is not worth a file.
const REMEMBERED: usize = 64;

/// The threads of a long walk, and the caller's hooks into it.
pub struct Pace<'a> {
    /// The number of threads; by default one a processor.
    pub threads: Option<NonZeroUsize>,
    /// Set when the walk is to end with what it has found.
    pub stop: &'a AtomicBool,
    /// Called with how many commits are done, and how many there are.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// The end of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    /// It saw every commit that was asked for.
    Whole,
    /// It was stopped after so many of so many commits.
    Part { done: usize, of: usize },
}

/// The use of records in place of derived facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// No: they are what is judged.
    Ignored,
    /// One that was made when the commit was, or soon after.
    Observed,
}

/// A range of commits to be derived.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The context of this process.
    pub ctx: &'a Context,
    /// The configuration that counts.
    pub config: &'a Config,
    /// The commits, in the order in which they are read.
    pub commits: &'a [CommitId],
    /// The use of their records.
    pub records: Records,
    /// The notes commit whose records count.
    pub tip: Option<CommitId>,
    /// Facts that were derived before.
    pub cache: &'a DerivedCache,
}

/// One commit of the range.
pub struct RangeCommit {
    /// The commit as git has it.
    pub commit: CommitInfo,
    /// Its facts.
    pub facts: CommitFacts,
    /// The entry for the cache; empty if it has one already.
    entry: Vec<u8>,
}

/// The facts of a commit, by their source.
pub enum CommitFacts {
    /// From the record.
    Recorded(Box<CommitRecord>),
    /// From the commit; the warning says why not from the record that is there.
    Derived(Box<DerivedCommit>, Option<Diagnostic>),
}

/// A digest of everything but the commit that cached facts depend on.
pub fn salt(config: &Config) -> Vec<u8> {
    let mut hash = Sha256::new_with_prefix(config.paths.rules.digest());
    for text in config.normalize.iter().flat_map(|(name, pattern)| [name, pattern]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().to_vec()
}

/// Works through the commits of `job` and hands each to `take`, in their order. An error ends it at its place, as if the
/// commits had been looked at one after the other. What is new is remembered in the repository at `common_dir`.
pub fn walk(
    common_dir: &Path,
    job: &Job<'_>,
    pace: &mut Pace<'_>,
    take: &mut dyn FnMut(RangeCommit) -> Result<(), OpsError>,
) -> Result<WalkEnd, OpsError> {
    Repo::cache_nothing();
    let total = job.commits.len();
    let normalizer = Normalizer::new(&job.config.normalize)?;
    let pool = pool(pace.threads)?;
    let (ended, stop) = (AtomicBool::new(false), pace.stop);
    let workers = Workers { job, normalizer: &normalizer, pool: &pool, halt: [stop, &ended] };
    let mut writer = (total >= REMEMBERED).then(|| DerivedWriter::new(common_dir));
    let mut done = 0;
    let walked = workers.each_piece(&mut |piece| {
        if let Some(writer) = &mut writer {
            piece.found.iter().for_each(|found| writer.push(&found.entry));
            writer.flush();
        }
        for found in piece.found {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            take(found)?;
            done += 1;
            (pace.progress)(done, total);
        }
        piece.broken.map_or(Ok(()), Err)
    });
    walked?;
    Ok(if done == total { WalkEnd::Whole } else { WalkEnd::Part { done, of: total } })
}

fn pool(threads: Option<NonZeroUsize>) -> Result<ThreadPool, OpsError> {
    let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let pool = ThreadPoolBuilder::new().num_threads(threads.min(MAX_THREADS)).build();
    pool.map_err(|error| {
        let what = format!("no threads could be started: {error}");
        OpsError::verb(VerbError::Failed, what, "with one thread: -j1")
    })
}

/// The result of a piece.
struct Piece {
    /// Fewer than its commits when it was stopped, or one is broken.
    found: Vec<RangeCommit>,
    /// The error of the commit after those.
    broken: Option<OpsError>,
}

/// The values that the threads share.
#[derive(Clone, Copy)]
struct Workers<'a> {
    job: &'a Job<'a>,
    normalizer: &'a Normalizer,
    pool: &'a ThreadPool,
    /// Set when the receiver is gone.
    halt: [&'a AtomicBool; 2],
}

impl<'a> Workers<'a> {
    /// Hands on what came of each piece, in their order, until one ends early.
    fn each_piece(&self, take: &mut dyn FnMut(Piece) -> Result<(), OpsError>) -> Result<(), OpsError> {
        let threads = self.pool.current_num_threads();
        let size = (self.job.commits.len() / (threads * SHARES)).clamp(MIN_PIECE, MAX_PIECE);
        self.pool.in_place_scope(|scope| {
            let mut pieces = self.job.commits.chunks(size);
            let mut ahead: VecDeque<Receiver<Piece>> = VecDeque::new();
            let result = loop {
                let free = (threads + 1).saturating_sub(ahead.len());
                ahead.extend(pieces.by_ref().take(free).map(|piece| self.begin(scope, piece)));
                // Nothing comes of a piece whose task panicked: the scope panics in turn, at its end.
                let Some(piece) = ahead.pop_front().and_then(|next| next.recv().ok()) else { break Ok(()) };
                if let Err(error) = take(piece) {
                    break Err(error);
                }
                if self.is_halted() {
                    break Ok(());
                }
            };
            // Threads still at work end at the next commit.
            self.halt[1].store(true, Ordering::Relaxed);
            result
        })
    }

    fn is_halted(&self) -> bool {
        self.halt.iter().any(|halt| halt.load(Ordering::Relaxed))
    }

    fn begin(&self, scope: &Scope<'a>, piece: &'a [CommitId]) -> Receiver<Piece> {
        let (sender, receiver) = sync_channel(1);
        let workers = *self;
        scope.spawn(move |_| {
            let mut found = Vec::with_capacity(piece.len());
            let broken = workers.derive(piece, &mut found).err();
            let _gone = sender.send(Piece { found, broken });
        });
        receiver
    }

    fn derive(&self, piece: &[CommitId], found: &mut Vec<RangeCommit>) -> Result<(), OpsError> {
        let repo = Repo::open(&self.job.ctx.cwd, &self.job.ctx.repo_env)?;
        let store = NotesStore::at(&repo, self.job.tip);
        let mut deriver = Deriver::in_bulk(&repo, &self.job.config.paths.rules, self.normalizer);
        for id in piece {
            if self.is_halted() {
                break;
            }
            found.push(one(self.job, &store, &mut deriver, repo.commit(*id)?)?);
        }
        Ok(())
    }
}

fn one(
    job: &Job<'_>,
    store: &NotesStore<'_>,
    reader: &mut Deriver<'_>,
    commit: CommitInfo,
) -> Result<RangeCommit, OpsError> {
    let mut warning = None;
    if job.records == Records::Observed {
        match store.get(commit.id) {
            Ok(Some(stored)) if stored.record.recording != Recording::Backfilled => {
                let facts = CommitFacts::Recorded(Box::new(stored.record));
                return Ok(RangeCommit { commit, facts, entry: Vec::new() });
            }
            Ok(_) => {}
            Err(error) => warning = Some(OpsError::from(error).as_warning()),
        }
    }
    let (derived, entry) = facts_of(job.cache, reader, &commit)?;
    Ok(RangeCommit { commit, facts: CommitFacts::Derived(Box::new(derived), warning), entry })
}

/// The facts, from the cache where it has them, and else the entry with which it is to remember them.
fn facts_of(
    cache: &DerivedCache,
    reader: &mut Deriver<'_>,
    commit: &CommitInfo,
) -> Result<(DerivedCommit, Vec<u8>), OpsError> {
    // A later fetch can make other facts of the same commit.
    if reader.is_shallow() {
        return Ok((reader.derive(commit)?, Vec::new()));
    }
    if let Some(CommitMemory { code, diff, change }) = cache.get(commit.id) {
        let parent = commit.parents.first().copied();
        return Ok((
            DerivedCommit { tree: commit.tree, parent, code, diff, change, missing: None },
            Vec::new(),
        ));
    }
    let derived = reader.derive(commit)?;
    if derived.missing.is_some() {
        return Ok((derived, Vec::new()));
    }
    let known =
        CommitMemory { code: derived.code, diff: derived.diff.clone(), change: derived.change.clone() };
    let entry = cache.entry(commit.id, &known);
    Ok((derived, entry))
}
