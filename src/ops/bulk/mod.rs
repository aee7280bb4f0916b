//! Many commits at once: facts are derived by several threads and taken one by one in the order of the range, so that
//! results are the same, byte for byte, whatever the number of threads.
//!
//! Threads of the standard library, not rayon: a range is a row of equal pieces that need no stealing, a repository
//! handle belongs to one thread (libgit2), and rayon would bring six crates where four are left. Thread `n` of `t`
//! works on the pieces `n`, `n + t`, `n + 2t`, ... and runs at most `AHEAD` of them ahead of whoever takes them: that
//! bounds memory. libgit2 is told to cache nothing, because it lets go of nothing.

mod depth;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use sha2::{Digest as _, Sha256};

use super::context::Context;
use super::derive::{Derived, Deriver};
use super::error::OpsError;
use crate::config::Config;
use crate::domain::facts::{CommitRecord, Recording};
use crate::domain::ids::CommitId;
use crate::git::{CommitInfo, Repo};
use crate::record::derived::{DerivedCache, DerivedWriter, Known};
use crate::record::normalize::Normalizer;
use crate::record::store::NotesStore;
use crate::report::message::Diagnostic;

pub use crate::record::diff::Depth;
pub(super) use depth::{depths, outlines};

/// Commits of a piece: neighbours, which have files in common.
const PIECE: usize = 32;
/// Pieces that a thread may be ahead.
const AHEAD: usize = 4;
/// Most threads: beyond, they wait for one another in libgit2.
const MAX_THREADS: usize = 32;
/// A range of fewer commits leaves nothing in the cache: it is not worth a file.
const REMEMBERED: usize = 64;

/// How a long walk is done, and who is told.
pub struct Pace<'a> {
    /// How many threads; by default one a processor.
    pub threads: Option<NonZeroUsize>,
    /// Set when the walk is to end with what it has found.
    pub stop: &'a AtomicBool,
    /// Called with how many commits are done, and how many there are.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// Whether a walk came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walked {
    /// All of it.
    Whole,
    /// It was stopped after so many of so many commits.
    Part {
        /// Looked at.
        done: usize,
        /// In the range.
        of: usize,
    },
}

/// Whether a record spares deriving the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Records {
    /// No: they are what is judged.
    Ignored,
    /// One that was made when the commit was, or soon after.
    Watched,
    /// Any.
    Any,
}

/// What a thread knows of its task.
pub(super) struct Job<'a> {
    pub ctx: &'a Context,
    pub config: &'a Config,
    pub commits: &'a [(CommitId, Depth)],
    pub records: Records,
    /// The notes commit whose records count.
    pub tip: Option<CommitId>,
    pub cache: &'a DerivedCache,
}

/// One commit of the range.
pub(super) struct Found {
    pub commit: CommitInfo,
    pub facts: Facts,
    /// What the cache is to remember; empty when it knows already.
    entry: Vec<u8>,
}

/// Where the facts come from.
pub(super) enum Facts {
    /// From the record.
    Recorded(Box<CommitRecord>),
    /// From the commit; the warning says why not from the record that is there.
    Derived(Box<Derived>, Option<Diagnostic>),
}

type Piece = Result<Vec<Found>, OpsError>;

/// What the cached facts depend on beside the commit.
pub(super) fn salt(config: &Config) -> Vec<u8> {
    let mut hash = Sha256::new_with_prefix(config.paths.rules.digest());
    for text in config.normalize.iter().flat_map(|(name, pattern)| [name, pattern]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().to_vec()
}

/// Works through the commits of `job` and hands each to `take`, in their order. An error ends it at its place, as if
/// the commits had been looked at one after the other.
pub(super) fn walk(
    repo: &Repo,
    job: &Job<'_>,
    pace: &mut Pace<'_>,
    take: &mut dyn FnMut(Found) -> Result<(), OpsError>,
) -> Result<Walked, OpsError> {
    let (total, stop) = (job.commits.len(), pace.stop);
    repo.cache_nothing();
    let mut writer = (total >= REMEMBERED).then(|| DerivedWriter::new(repo.common_dir()));
    let ended = AtomicBool::new(false);
    let halt = || stop.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed);
    let done = thread::scope(|scope| {
        let threads = threads(pace.threads, total);
        let receivers: Vec<Receiver<Piece>> = (0..threads)
            .map(|number| {
                let (sender, receiver) = sync_channel(AHEAD);
                let halt = &halt;
                scope.spawn(move || work(job, (number, threads), halt, &sender));
                receiver
            })
            .collect();
        let mut done = 0;
        let result: Result<(), OpsError> = (0..total.div_ceil(PIECE)).try_for_each(|piece| {
            // A thread that has gone was told to stop.
            let from = &receivers[piece % threads];
            let Ok(found) = from.recv() else { return Ok(()) };
            let found = found?;
            let short = found.len() < PIECE.min(total - piece * PIECE);
            for one in found {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if let Some(writer) = &mut writer {
                    writer.push(&one.entry);
                }
                take(one)?;
                done += 1;
                (pace.progress)(done, total);
            }
            // What cut a piece short comes after it; nothing does when the thread was told to stop.
            if short { from.recv().map_or(Ok(()), |broken| broken.map(|_| ())) } else { Ok(()) }
        });
        // A thread must not wait for somebody who takes its pieces no more.
        ended.store(true, Ordering::Relaxed);
        drop(receivers);
        result.map(|()| done)
    });
    if let Some(writer) = &mut writer {
        writer.flush();
    }
    let done = done?;
    Ok(if done == total { Walked::Whole } else { Walked::Part { done, of: total } })
}

fn threads(asked: Option<NonZeroUsize>, commits: usize) -> usize {
    let threads = asked.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    threads.min(MAX_THREADS).min(commits.div_ceil(PIECE)).max(1)
}

/// What one thread does: its pieces, in order, until they are done or nobody takes them any more.
fn work(job: &Job<'_>, mine: (usize, usize), halt: &dyn Fn() -> bool, to: &SyncSender<Piece>) {
    if let Err(error) = pieces(job, mine, halt, to) {
        let _gone = to.send(Err(error));
    }
}

fn pieces(
    job: &Job<'_>,
    (number, threads): (usize, usize),
    halt: &dyn Fn() -> bool,
    to: &SyncSender<Piece>,
) -> Result<(), OpsError> {
    let repo = Repo::open(&job.ctx.cwd, &job.ctx.repo_env)?;
    let store = NotesStore::at(&repo, job.tip);
    let normalizer = Normalizer::new(&job.config.normalize)?;
    let mut deriver = Deriver::in_bulk(&repo, &job.config.paths.rules, &normalizer);
    for piece in job.commits.chunks(PIECE).skip(number).step_by(threads) {
        let mut found = Vec::with_capacity(piece.len());
        let mut broken = None;
        for (id, depth) in piece {
            if halt() {
                break;
            }
            match one(job, &repo, (&store, &mut deriver), (*id, *depth)) {
                Ok(one) => found.push(one),
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        let short = found.len() < piece.len();
        let sent = to.send(Ok(found)).is_ok();
        if let Some(error) = broken {
            return Err(error);
        }
        if short || !sent {
            return Ok(());
        }
    }
    Ok(())
}

fn one(
    job: &Job<'_>,
    repo: &Repo,
    (store, reader): (&NotesStore<'_>, &mut Deriver<'_>),
    (id, depth): (CommitId, Depth),
) -> Result<Found, OpsError> {
    let commit = repo.commit(id)?;
    let mut warning = None;
    if job.records != Records::Ignored {
        match store.get(id) {
            Ok(Some(stored))
                if job.records == Records::Any || stored.record.recording != Recording::Backfilled =>
            {
                let facts = Facts::Recorded(Box::new(stored.record));
                return Ok(Found { commit, facts, entry: Vec::new() });
            }
            Ok(_) => {}
            Err(error) => warning = Some(OpsError::from(error).as_warning()),
        }
    }
    let (derived, entry) = derived(job, reader, (&commit, depth))?;
    Ok(Found { commit, facts: Facts::Derived(Box::new(derived), warning), entry })
}

/// The facts, from the cache where it has them, and the entry with which it is to remember them.
fn derived(
    job: &Job<'_>,
    reader: &mut Deriver<'_>,
    (commit, depth): (&CommitInfo, Depth),
) -> Result<(Derived, Vec<u8>), OpsError> {
    // What a later fetch can bring makes other facts of the same commit.
    let settled = !reader.is_shallow();
    if let Some(Known { code, diff, change }) = job.cache.get(commit.id).filter(|_| settled) {
        let parent = commit.parents.first().copied();
        let tree = commit.tree;
        return Ok((Derived { tree, parent, code, diff, change, missing: None }, Vec::new()));
    }
    let derived = reader.derive(commit, depth)?;
    if depth != Depth::Text || !settled || derived.missing.is_some() {
        return Ok((derived, Vec::new()));
    }
    let known = Known { code: derived.code, diff: derived.diff.clone(), change: derived.change.clone() };
    let entry = job.cache.entry(commit.id, &known);
    Ok((derived, entry))
}
