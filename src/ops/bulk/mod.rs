//! Many commits at once: facts are derived by several threads and taken one by one in the order of the range, so that
//! results are the same, byte for byte, whatever the number of threads.
//!
//! Threads of the standard library, not rayon: a range is a row of equal pieces that need no stealing, a repository
//! handle belongs to one thread (libgit2), and rayon would bring six crates where four are left. Thread `n` of `t`
//! works on the pieces `n`, `n + t`, `n + 2t`, ... and runs at most `AHEAD` of them ahead of whoever takes them: that
//! bounds memory. libgit2 is told to cache nothing, because it lets go of nothing; and a walk goes in legs of some thousand
//! commits, between which nobody has the repository open: what was mapped and kept of packs is let go of only then.

mod crew;
mod lazy;
mod need;
mod outline;
mod seen;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use sha2::{Digest as _, Sha256};

use super::context::Context;
use super::derive::{Derived, Deriver};
use super::error::OpsError;
use crate::config::Config;
use crate::domain::facts::{CommitRecord, Recording};
use crate::domain::ids::CommitId;
use crate::git::{Change, CommitInfo, Repo};
use crate::record::derived::{DerivedCache, DerivedWriter, Known, Remembered};
use crate::record::normalize::Normalizer;
use crate::report::message::Diagnostic;
use crew::{Crew, Hand};

pub use crate::record::diff::Depth;
pub(super) use lazy::{Lazily, lazily};
pub(super) use outline::outlines;

/// Changed paths of a commit that are kept until its texts may be asked for.
const KEPT_CHANGES: usize = 64;

/// Commits of a leg; few in a test build, so that tests go more than one.
const LEG: usize = if cfg!(debug_assertions) { 64 } else { 4096 };

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
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub ctx: &'a Context,
    pub config: &'a Config,
    pub commits: &'a [CommitId],
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
    /// The paths that changed, where their texts may be asked for next, and they are few.
    changes: Option<Vec<Change>>,
}

/// Where the facts come from.
pub(super) enum Facts {
    /// From the record.
    Recorded(Box<CommitRecord>),
    /// From the commit; the warning says why not from the record that is there.
    Derived(Box<Derived>, Option<Diagnostic>),
}

/// What the cached facts depend on beside the commit.
pub(super) fn salt(config: &Config) -> Vec<u8> {
    let mut hash = Sha256::new_with_prefix(config.paths.rules.digest());
    for text in config.normalize.iter().flat_map(|(name, pattern)| [name, pattern]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().to_vec()
}

/// Takes what is found.
pub(super) type Take<'t> = &'t mut dyn FnMut(Found) -> Result<(), OpsError>;

/// What is done for one leg: it is handed what hands on each commit of the leg, in their order. What it opens of the
/// repository is to be closed when it returns.
pub(super) type Leg<'l> =
    &'l mut dyn FnMut(&mut dyn FnMut(Take<'_>) -> Result<(), OpsError>) -> Result<(), OpsError>;

/// Works through the commits of `job` and hands each to whoever takes them in `leg`, in their order. An error ends it at
/// its place, as if the commits had been looked at one after the other. Whoever calls has looked at no object with a
/// repository that is still open.
pub(super) fn walk(
    common_dir: &Path,
    job: &Job<'_>,
    pace: &mut Pace<'_>,
    leg: Leg<'_>,
) -> Result<Walked, OpsError> {
    Repo::cache_nothing();
    let total = job.commits.len();
    let normalizer = Normalizer::new(&job.config.normalize)?;
    let crew = job.crew(&normalizer, (pace.threads, pace.stop));
    let mut writer = (total >= REMEMBERED).then(|| DerivedWriter::new(common_dir));
    let mut done = 0;
    let read = |hand: &mut Hand<'_>, id: &CommitId| {
        let commit = hand.repo.commit(*id)?;
        one(job, hand, (commit, Depth::Text))
    };
    for commits in job.commits.chunks(LEG) {
        let end = done + commits.len();
        let walked = leg(&mut |take| {
            crew.each(commits, &read, &mut |found| {
                if let Some(writer) = &mut writer {
                    writer.push(&found.entry);
                }
                take(found)?;
                done += 1;
                (pace.progress)(done, total);
                Ok(())
            })
        });
        if let Some(writer) = &mut writer {
            writer.flush();
        }
        walked?;
        if done < end {
            return Ok(Walked::Part { done, of: total });
        }
    }
    Ok(Walked::Whole)
}

impl<'a> Job<'a> {
    /// Who works on it.
    fn crew(
        &self,
        normalizer: &'a Normalizer,
        (threads, stop): (Option<NonZeroUsize>, &'a AtomicBool),
    ) -> Crew<'a> {
        Crew { ctx: self.ctx, config: self.config, normalizer, tip: self.tip, threads, stop }
    }
}

fn one(job: &Job<'_>, hand: &mut Hand<'_>, (commit, depth): (CommitInfo, Depth)) -> Result<Found, OpsError> {
    let id = commit.id;
    let mut warning = None;
    if job.records != Records::Ignored {
        match hand.store.get(id) {
            Ok(Some(stored))
                if job.records == Records::Any || stored.record.recording != Recording::Backfilled =>
            {
                let facts = Facts::Recorded(Box::new(stored.record));
                return Ok(Found { commit, facts, entry: Vec::new(), changes: None });
            }
            Ok(_) => {}
            Err(error) => warning = Some(OpsError::from(error).as_warning()),
        }
    }
    let Fresh { derived, entry, changes } = derived(job, &mut hand.deriver, (&commit, depth))?;
    let changes = changes.filter(|changes| depth == Depth::Ids && changes.len() <= KEPT_CHANGES);
    Ok(Found { commit, facts: Facts::Derived(Box::new(derived), warning), entry, changes })
}

/// Facts, and what came with them.
struct Fresh {
    derived: Derived,
    /// With which the cache is to remember them; empty when it knows already.
    entry: Vec<u8>,
    /// The paths that changed, where they had to be looked for.
    changes: Option<Vec<Change>>,
}

/// The facts, from the cache where it has them.
fn derived(
    job: &Job<'_>,
    reader: &mut Deriver<'_>,
    (commit, depth): (&CommitInfo, Depth),
) -> Result<Fresh, OpsError> {
    let what = if depth == Depth::Ids { Remembered::Ids } else { Remembered::Texts };
    // What a later fetch can bring makes other facts of the same commit.
    let known = job.cache.get(commit.id, what).filter(|_| !reader.is_shallow());
    if let Some(Known { code, diff, change }) = known {
        let parent = commit.parents.first().copied();
        let tree = commit.tree;
        let derived = Derived { tree, parent, code, diff, change, missing: None };
        return Ok(Fresh { derived, entry: Vec::new(), changes: None });
    }
    let (code, changes) = (reader.code(commit)?, reader.changes(commit)?);
    let derived = reader.derive_changes(commit, (code, depth), &changes)?;
    let entry = remembering(job.cache, reader, (commit.id, depth), &derived);
    Ok(Fresh { derived, entry, changes: Some(changes) })
}

/// The entry with which facts are to be remembered; empty where they are not.
fn remembering(
    cache: &DerivedCache,
    reader: &Deriver<'_>,
    (commit, depth): (CommitId, Depth),
    derived: &Derived,
) -> Vec<u8> {
    let what = match depth {
        Depth::Text => Remembered::Texts,
        Depth::Ids => Remembered::Ids,
        Depth::Documents => return Vec::new(),
    };
    if reader.is_shallow() || derived.missing.is_some() {
        return Vec::new();
    }
    let known = Known { code: derived.code, diff: derived.diff.clone(), change: derived.change.clone() };
    cache.entry(commit, what, &known)
}
