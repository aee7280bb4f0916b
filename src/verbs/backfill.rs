//! `andon backfill RANGE`: records commits that were made before Andon was installed, marked as derived afterwards,
//! with no gate, no tests and no number. No hook saw them, so hooks look no further back than to the first of them, no
//! rule counts them against a loop, and `check` believes them no more than a missing record.
//!
//! An existing record is never touched. Records are written in batches, one notes commit and one pack each, oldest
//! first: after a stop or a kill, the next backfill continues there. Each batch is larger than the one before, because
//! each rewrites nearly every directory of the notes.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;

use clap::Args;
use serde::Serialize;

use crate::cli::progress::{self, stopped};
use crate::cli::{Exit, FormatArg, Shell};
use andon_core::domain::{CommitId, CommitRecord, Digest, Recording};
use andon_core::escape::terminal_clip;
use andon_engine::recording::{CommitFacts, Job, Pace, RangeCommit, Records, WalkEnd, bulk, derive};
use andon_engine::{Context, Result, Workspace, text::phrase};
use andon_git::platform::test_seam::{self, stop_point};
use andon_git::{CommitInfo, Repo};
use andon_store::{DerivedCache, NotesStore};

/// `andon backfill`
#[derive(Debug, Args)]
pub struct BackfillArgs {
    /// Commits to record, such as v1.0..HEAD, or HEAD for all of them
    #[arg(value_name = "RANGE")]
    pub range: String,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// The result of `andon backfill`. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackfillReport {
    /// As it was asked for.
    pub range: String,
    /// Records that were written.
    pub written: usize,
    /// Commits that had one.
    pub there: usize,
    /// Commits that were not reached; more than none when it was stopped.
    pub left: usize,
}

/// Records what was made before Andon came.
pub fn run(shell: &Shell, args: &BackfillArgs) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let (result, walked) = progress::walk(shell, "backfill", args.threads, |pace, _| {
        record_missing(&shell.ctx, &ws, &args.range, pace)
    })?;
    shell.show(args.format.format, "backfill", &result, |_| text(&result));
    Ok(stopped(shell, walked, Exit::Allowed))
}

/// Records of the first notes commit; every further one has twice as many.
const FIRST_BATCH: usize = 500;
/// Most records of a notes commit.
const MAX_BATCH: usize = 4_000;
/// Most hunks and paths of the records of a notes commit: they are in memory until it is written.
const MAX_PARTS: usize = 100_000;

/// Records the commits of `range` that have no record.
fn record_missing(
    ctx: &Context,
    ws: &Workspace,
    range: &str,
    pace: &mut Pace<'_>,
) -> Result<(BackfillReport, WalkEnd)> {
    let (commits, there) = unrecorded(ctx, range)?;
    let common_dir = ws.repo.common_dir();
    let cache = DerivedCache::load(common_dir, &bulk::salt(&ws.config, None));
    let (config, records) = (&ws.config, Records::Ignored);
    let job = Job { ctx, config, commits: &commits, records, tip: None, cache: &cache, rules: None };
    let mut writing =
        RecordWriter { ctx, batch: Batch::new(first_batch(ctx)), digests: HashMap::new(), written: 0 };
    let walked = bulk::walk(common_dir, &job, pace, &mut |RangeCommit { commit, facts, .. }| match facts {
        CommitFacts::Derived(derived, _) => {
            writing.take(&commit, derive::unrecorded(&commit, *derived).record)
        }
        CommitFacts::Recorded(_) => Ok(()),
    });
    // Records that were made so far are kept, whatever ended the walk.
    writing.flush()?;
    let walked = walked?;
    let left = match walked {
        WalkEnd::Whole => 0,
        WalkEnd::Part { done, of } => of.saturating_sub(done),
    };
    Ok((BackfillReport { range: range.to_owned(), written: writing.written, there, left }, walked))
}

/// Records of the first notes commit. Tests set it through `ANDON_TEST_BATCH`, so that short histories have several.
fn first_batch(ctx: &Context) -> usize {
    let set = test_seam::variable(&ctx.vars, "ANDON_TEST_BATCH").and_then(|text| text.parse().ok());
    set.unwrap_or(FIRST_BATCH)
}

/// The commits of `range` that have no note, and how many have one. With a handle of its own, as everything that reads
/// objects here: libgit2 maps and caches what it reads of each pack until no handle has it open.
fn unrecorded(ctx: &Context, range: &str) -> Result<(Vec<CommitId>, usize)> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let store = NotesStore::open(&repo)?;
    let (mut commits, mut there) = (Vec::new(), 0);
    for id in repo.range(range)? {
        if store.has(id)? {
            there += 1;
        } else {
            commits.push(id);
        }
    }
    Ok((commits, there))
}

/// Records that come into one notes commit.
struct Batch {
    records: Vec<(CommitId, CommitRecord)>,
    /// Hunks and paths of them.
    parts: usize,
    /// The number of records that the batch is to have.
    size: usize,
}

impl Batch {
    fn new(size: usize) -> Self {
        Self { records: Vec::new(), parts: 0, size: size.min(MAX_BATCH) }
    }

    fn push(&mut self, commit: CommitId, record: CommitRecord) {
        self.parts += record.diff.hunks.len() + record.change.as_ref().map_or(0, |change| change.paths.len());
        self.records.push((commit, record));
    }

    fn is_full(&self) -> bool {
        self.records.len() >= self.size || self.parts >= MAX_PARTS
    }
}

struct RecordWriter<'a> {
    ctx: &'a Context,
    batch: Batch,
    /// The digests that the records of children name: for each, the line of its parent that counts, from the newest batch and
    /// what that builds on.
    digests: HashMap<CommitId, Digest>,
    written: usize,
}

impl RecordWriter<'_> {
    fn take(&mut self, commit: &CommitInfo, derived: CommitRecord) -> Result<()> {
        let record = CommitRecord { recorded_at: self.ctx.now, recording: Recording::Backfilled, ..derived };
        self.batch.push(commit.id, record);
        if self.batch.is_full() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let next = Batch::new(self.batch.size * 2);
        let Batch { records, .. } = std::mem::replace(&mut self.batch, next);
        // The repository is opened anew for each batch, so that the memory of the objects it loads is freed with it.
        let repo = Repo::open(&self.ctx.cwd, &self.ctx.repo_env)?;
        let mut store = NotesStore::open(&repo)?;
        let ours: BTreeSet<CommitId> = records.iter().map(|(id, _)| *id).collect();
        for parent in records.iter().filter_map(|(_, record)| record.parent) {
            if !ours.contains(&parent) && !self.digests.contains_key(&parent) {
                let line = store.get(parent).ok().flatten().map(|stored| stored.line_digest);
                self.digests.extend(line.map(|line| (parent, line)));
            }
        }
        self.written += store.put_missing(&records, &mut self.digests, self.ctx.now)?;
        self.digests.retain(|id, _| ours.contains(id));
        stop_point("backfill:batch");
        Ok(())
    }
}

/// The outcome of a backfill as one line for a terminal.
fn text(report: &BackfillReport) -> String {
    let there = match report.there {
        0 => "none had a record yet".to_owned(),
        there => format!("{} already had a record", phrase::count(there, "commit")),
    };
    let mut line = format!(
        "backfilled {} of {}; {there}",
        phrase::count(report.written, "record"),
        terminal_clip(&report.range, 100),
    );
    if report.left > 0 {
        line.push_str(&format!("; {} left", phrase::count(report.left, "commit")));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_testkit::samples::value_of;

    #[test]
    fn one_line_says_what_was_written_and_what_is_left() {
        let mut report = BackfillReport { range: "HEAD".to_owned(), written: 3, there: 1, left: 0 };
        assert_eq!(text(&report), "backfilled 3 records of HEAD; 1 commit already had a record\n");
        report.left = 2;
        assert_eq!(
            text(&report),
            "backfilled 3 records of HEAD; 1 commit already had a record; 2 commits left\n"
        );
        assert_eq!(value_of(&report), json!({ "range": "HEAD", "written": 3, "there": 1, "left": 2 }));
    }
}
