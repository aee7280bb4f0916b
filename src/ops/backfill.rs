//! `andon backfill RANGE`: records commits that were made before Andon came, as what they are: derived afterwards,
//! with no gate, no tests and no number. Nobody was there, so hooks look no further back than to the first of them,
//! no rule holds them against a loop, and `check` believes them no more than a missing record.
//!
//! A record that is there is never touched. What is written is written in batches, one notes commit each, oldest
//! first: stopped or killed, it goes on where it was.

use std::collections::HashMap;

use super::bulk::{self, Depth, Facts, Found, Job, Pace, Records, Walked};
use super::context::Context;
use super::derive;
use super::error::OpsError;
use super::workspace::Workspace;
use crate::domain::facts::{CommitRecord, Recording};
use crate::domain::ids::{CommitId, Digest};
use crate::git::CommitInfo;
use crate::record::derived::DerivedCache;
use crate::record::store::NotesStore;

/// Records of one notes commit: the ref is locked for some tens of milliseconds.
const BATCH: usize = 500;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backfilled {
    /// Records that were written.
    pub written: usize,
    /// Commits that had a note, readable or not.
    pub there: usize,
    /// Whether the end of the range was reached.
    pub walked: Walked,
}

/// Records the commits of `range` that have no record.
pub fn run(ctx: &Context, ws: &Workspace, range: &str, pace: &mut Pace<'_>) -> Result<Backfilled, OpsError> {
    let store = NotesStore::open(&ws.repo)?;
    let mut commits = Vec::new();
    let mut there = 0;
    for id in ws.repo.range(range)? {
        if store.has(id)? {
            there += 1;
        } else {
            commits.push((id, Depth::Text));
        }
    }
    let cache = DerivedCache::load(ws.repo.common_dir(), &bulk::salt(&ws.config));
    let job = Job {
        ctx,
        config: &ws.config,
        commits: &commits,
        records: Records::Ignored,
        tip: None,
        cache: &cache,
    };
    let mut writing = Writing { ctx, store, batch: Vec::new(), digests: HashMap::new(), written: 0 };
    let walked = bulk::walk(&ws.repo, &job, pace, &mut |Found { commit, facts, .. }| match facts {
        Facts::Derived(derived, _) => writing.take(&commit, derive::unrecorded(&commit, *derived).record),
        Facts::Recorded(_) => Ok(()),
    });
    // What was found so far is kept, whatever ended the walk.
    writing.flush()?;
    Ok(Backfilled { written: writing.written, there, walked: walked? })
}

struct Writing<'a> {
    ctx: &'a Context,
    store: NotesStore<'a>,
    batch: Vec<(CommitId, CommitRecord)>,
    /// Of the line that speaks for a commit: what the record of a child names.
    digests: HashMap<CommitId, Digest>,
    written: usize,
}

impl Writing<'_> {
    fn take(&mut self, commit: &CommitInfo, derived: CommitRecord) -> Result<(), OpsError> {
        if let Some(parent) = derived.parent.filter(|parent| !self.digests.contains_key(parent)) {
            let line = self.store.get(parent).ok().flatten().map(|stored| stored.line_digest);
            self.digests.extend(line.map(|line| (parent, line)));
        }
        let record = CommitRecord { recorded_at: self.ctx.now, recording: Recording::Backfilled, ..derived };
        self.batch.push((commit.id, record));
        if self.batch.len() < BATCH {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), OpsError> {
        let batch = std::mem::take(&mut self.batch);
        self.written += self.store.put_missing(&batch, &mut self.digests, self.ctx.now)?;
        self.ctx.stop_point("backfill:batch");
        Ok(())
    }
}
