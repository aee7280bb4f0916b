//! Many commits at once: pieces of a range are derived in parallel, and each commit is handed on in the order of the
//! range, so that results are the same, byte for byte, whatever the number of threads.
//!
//! A thread has a repository handle of its own (libgit2), and goes from piece to piece with what it knows of trees and texts:
//! the next piece begins near where its last one ended. At most one piece more than there are threads is held: that bounds
//! memory. The cache of libgit2 is switched off, because it never frees anything.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::{collections::VecDeque, num::NonZeroUsize, path::Path, thread};

use sha2::{Digest as _, Sha256};

use crate::recording::derive::{DerivedCommit, Deriver};
use crate::weakening::{self, TestReader};
use crate::{Context, OpsError, Result, VerbError};
use andon_config::Config;
use andon_core::domain::{CommitId, CommitRecord, Diagnostic, Recording, RuleSettings, Weakening};
use andon_core::{change::normalize::Normalizer, detect::Patterns};
use andon_git::{CommitInfo, Repo};
use andon_store::{CommitMemory, DerivedCache, DerivedWriter, NotesStore};

/// Commits of a piece. The first of a piece costs more than the others.
const MAX_PIECE: usize = 512;
/// The same of a short range, which would be one piece otherwise.
const MIN_PIECE: usize = 32;
/// Pieces a thread that a short range has at least.
const SHARES: usize = 4;
/// Commits whose trees and texts are read together.
const TOGETHER: usize = 8;
/// Most threads: beyond, they wait for one another in libgit2.
const MAX_THREADS: usize = 32;
/// A range of fewer commits leaves nothing in the cache, and asks no git: it is not worth a file or a process.
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
    /// The rules, where it is asked what commits took from the tests.
    pub rules: Option<&'a RuleSettings>,
}

/// One commit of the range.
pub struct RangeCommit {
    /// The commit as git has it.
    pub commit: CommitInfo,
    pub facts: CommitFacts,
    /// The entry for the cache; empty if it has one already.
    entry: Vec<u8>,
}

/// The facts of a commit, by their source.
pub enum CommitFacts {
    Recorded(Box<CommitRecord>),
    /// From the commit; the warning says why not from the record that is there.
    Derived(Box<DerivedCommit>, Option<Diagnostic>),
}

/// A digest of everything but the commit that cached facts depend on; `rules` as in [`Job::rules`].
pub fn salt(config: &Config, rules: Option<&RuleSettings>) -> Vec<u8> {
    let mut hash = Sha256::new_with_prefix(config.paths.rules.digest());
    let setting = rules.and_then(weakening::setting);
    let lists = setting.iter().flat_map(|setting| Patterns::new(setting).lists());
    let syntax = lists.flat_map(|list| list.iter().map(String::as_str).chain(["of tests"]));
    let normalize = config.normalize.iter().flat_map(|(name, pattern)| [name.as_str(), pattern.as_str()]);
    for text in normalize.chain(syntax) {
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
    take: &mut dyn FnMut(RangeCommit) -> Result<()>,
) -> Result<WalkEnd> {
    Repo::cache_nothing();
    let total = job.commits.len();
    let normalizer = Normalizer::new(&job.config.normalize)?;
    let threads = pace.threads.or_else(|| thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZeroUsize::get).min(MAX_THREADS);
    let (ended, stop) = (AtomicBool::new(false), pace.stop);
    let setting = job.rules.and_then(weakening::setting);
    let tests = setting.as_deref().map(TestReader::new);
    let workers =
        Workers { job, normalizer: &normalizer, threads, tests: tests.as_ref(), halt: [stop, &ended] };
    let mut writer = (total >= REMEMBERED).then(|| DerivedWriter::new(common_dir));
    let mut done = 0;
    let walked = workers.each_piece(&mut |piece| {
        if let Some(writer) = &mut writer {
            for found in &piece.found {
                writer.push(&found.entry);
            }
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

fn no_thread(error: &std::io::Error) -> OpsError {
    let what = format!("no threads could be started: {error}");
    OpsError::verb(VerbError::Failed, what, "with one thread: -j1")
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
    threads: usize,
    /// Reads tests, where it is asked what commits took from them.
    tests: Option<&'a TestReader<'a>>,
    /// Set when the receiver is gone.
    halt: [&'a AtomicBool; 2],
}

/// A piece, and where what comes of it goes.
type Task<'a> = (&'a [CommitId], SyncSender<Piece>);

impl<'a> Workers<'a> {
    /// Hands on what came of each piece, in their order, until one ends early.
    fn each_piece(&self, take: &mut dyn FnMut(Piece) -> Result<()>) -> Result<()> {
        let size = (self.job.commits.len() / (self.threads * SHARES)).clamp(MIN_PIECE, MAX_PIECE);
        let (tasks, waiting) = channel::<Task<'a>>();
        let waiting = Mutex::new(waiting);
        thread::scope(|scope| {
            // Threads end where no task is left.
            let tasks = tasks;
            for _ in 0..self.threads {
                thread::Builder::new()
                    .spawn_scoped(scope, || self.work(&waiting))
                    .map_err(|error| no_thread(&error))?;
            }
            let mut pieces = self.job.commits.chunks(size);
            let mut ahead: VecDeque<Receiver<Piece>> = VecDeque::new();
            let result = loop {
                let free = (self.threads + 1).saturating_sub(ahead.len());
                ahead.extend(pieces.by_ref().take(free).map(|piece| {
                    let (sender, receiver) = sync_channel(1);
                    let _all_ended = tasks.send((piece, sender));
                    receiver
                }));
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

    /// Takes one piece after the other. Where the repository cannot be opened, that is what comes of the first.
    fn work(&self, waiting: &Mutex<Receiver<Task<'a>>>) {
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let worked = Repo::open(&self.job.ctx.cwd, &self.job.ctx.repo_env).map(|repo| {
            if self.job.records == Records::Observed && self.job.commits.len() >= REMEMBERED {
                repo.ask_git();
            }
            let store = NotesStore::at(&repo, self.job.tip);
            let mut deriver = Deriver::in_bulk(&repo, &self.job.config.paths.rules, self.normalizer);
            while let Some((piece, sender)) = next() {
                let mut found = Vec::with_capacity(piece.len());
                let broken = self.derive(piece, &repo, &store, &mut deriver, &mut found).err();
                let _gone = sender.send(Piece { found, broken });
            }
        });
        if let (Err(error), Some((_, sender))) = (worked, next()) {
            let _gone = sender.send(Piece { found: Vec::new(), broken: Some(error.into()) });
        }
    }

    fn derive(
        &self,
        piece: &[CommitId],
        repo: &Repo,
        store: &NotesStore<'_>,
        deriver: &mut Deriver<'_>,
        found: &mut Vec<RangeCommit>,
    ) -> Result<()> {
        for some in piece.chunks(TOGETHER) {
            let known = some.iter().map(|id| Ok(self.known(store, deriver, repo.commit(*id)?)));
            let known: Vec<Result<Known>> = known.collect();
            let unknown = known.iter().flatten().filter(|one| one.facts.is_none()).map(|one| &one.commit);
            deriver.read_ahead(&unknown.collect::<Vec<_>>());
            for one in known {
                if self.is_halted() {
                    return Ok(());
                }
                found.push(self.one(repo, deriver, one?)?);
            }
        }
        Ok(())
    }

    /// Returns a commit with what its record or the cache has of it.
    fn known(&self, store: &NotesStore<'_>, reader: &Deriver<'_>, commit: CommitInfo) -> Known {
        let mut warning = None;
        if self.job.records == Records::Observed {
            match store.get(commit.id) {
                Ok(Some(stored)) if stored.record.recording != Recording::Backfilled => {
                    let facts = Some(CommitFacts::Recorded(Box::new(stored.record)));
                    return Known { commit, facts, warning };
                }
                Ok(_) => {}
                Err(error) => warning = Some(OpsError::from(error).as_warning()),
            }
        }
        let derived = self.cache(reader).and_then(|cache| cache.get(commit.id)).map(|memory| {
            let CommitMemory { code, diff, change, taken } = memory;
            let parent = commit.parents.first().copied();
            let taken = taken.map(|(taken, file)| Weakening { file, ..taken });
            DerivedCommit { tree: commit.tree, parent, code, diff, change, missing: None, taken }
        });
        let facts = derived.map(|derived| CommitFacts::Derived(Box::new(derived), warning.take()));
        Known { commit, facts, warning }
    }

    /// The cache, unless a later fetch can make other facts of the same commit.
    fn cache(&self, reader: &Deriver<'_>) -> Option<&DerivedCache> {
        Some(self.job.cache).filter(|_| !reader.is_shallow())
    }

    /// The facts of a commit, and where they are derived the entry with which the cache is to remember them.
    fn one(&self, repo: &Repo, reader: &mut Deriver<'_>, known: Known) -> Result<RangeCommit> {
        let Known { commit, facts, warning } = known;
        if let Some(facts) = facts {
            return Ok(RangeCommit { commit, facts, entry: Vec::new() });
        }
        let mut derived = reader.derive(&commit)?;
        if let Some(tests) = self.tests {
            derived.taken = weakening::taken(repo, tests, &commit, 0)?;
        }
        let entry = self.cache(reader).filter(|_| derived.missing.is_none()).map(|cache| {
            let DerivedCommit { code, diff, change, taken, .. } = derived.clone();
            let taken = taken.map(|taken| (taken.clone(), taken.file));
            cache.entry(commit.id, &CommitMemory { code, diff, change, taken })
        });
        let facts = CommitFacts::Derived(Box::new(derived), warning);
        Ok(RangeCommit { commit, facts, entry: entry.unwrap_or_default() })
    }
}

/// A commit with the facts that need not be derived.
struct Known {
    commit: CommitInfo,
    facts: Option<CommitFacts>,
    /// The reason why the record that is there is not taken.
    warning: Option<Diagnostic>,
}
