//! post-rewrite: what `--amend` and rebase did to commits happens to their records too.
//!
//! Facts that hold for the code (tests, usage, who and when) move along; what depends on the new commit (tree, parent,
//! diff, code) is derived again. The old records stay where they are: nothing is lost.

use std::collections::BTreeSet;

use super::record_commit::{derived, prev};
use andon_core::detect;
use andon_core::domain::{
    Ack, CarriedAttempt, CodeId, CommitId, CommitKind, CommitRecord, Diagnostic, Digest, Gate, LostTests,
    PrevRecord, Recording, Skip, TestEvidence,
};
use andon_engine::adapter::{Rewrite, RewriteCommand};
use andon_engine::recording::{DerivedCommit, bound};
use andon_engine::{Context, Result, Workspace, error::or_warn};
use andon_git::{CommitInfo, MergeClaim, TreeVerdict};
use andon_store::wire::v1::{encode_commit, line_digest};
use andon_store::{Journal, JournalLine, NewRecord, NotesStore};

/// Rewrites the records of rewritten commits, in the order in which git names them (oldest first). Returns why
/// a record could not be carried along.
pub fn post_rewrite(
    ctx: &Context,
    ws: &Workspace,
    command: RewriteCommand,
    rewrites: &[Rewrite],
) -> Result<Vec<Diagnostic>> {
    let mut store = NotesStore::open(&ws.repo)?;
    let mut written: Vec<NewRecord> = Vec::new();
    let mut warnings = Vec::new();
    let mut lines: Vec<(CommitId, Digest)> = Vec::new();
    // Several old commits that became one (squash): the last of them counts.
    for became in rewrites.chunk_by(|one, next| one.new == next.new) {
        let Some((rewrite, others)) = became.split_last() else { continue };
        let joins = joined(ws, &store, command, became);
        let committer = ws.repo.commit(rewrite.new).map(|new| new.committer_email).unwrap_or_default();
        let unseen = became.iter().any(|one| bound::is_unseen(&ws.repo, &store, one.old, &committer));
        // One that cannot be read must not cost the others.
        let Some(old) = or_warn(store.get(rewrite.old), &mut warnings) else { continue };
        let prev_of = |parent: CommitId| {
            let fresh = lines.iter().find(|(id, _)| *id == parent).map(|(_, digest)| *digest);
            fresh.map_or_else(|| prev(&store, parent), PrevRecord::Line)
        };
        let new = store.get(rewrite.new).ok().flatten().map(|stored| stored.record);
        let read = |one: &Rewrite| Some((one.old, store.get(one.old).ok()??.record));
        let others: Vec<(CommitId, CommitRecord)> = others.iter().filter_map(read).collect();
        let (old_id, id, others, new) = (rewrite.old, rewrite.new, &others, new.as_ref());
        let moved = RewrittenCommit { id, command, old_id, old: &old.record, others, new };
        let carried = carry(ctx, ws, &moved, prev_of).map(Some);
        let Some(record) = or_warn(carried, &mut warnings) else { continue };
        let recording = if unseen && record.tests.is_none() { Recording::Moved } else { record.recording };
        let record = CommitRecord { joins, recording, ..record };
        lines.push((rewrite.new, line_digest(encode_commit(&record, &old.extra).trim_end().as_bytes())));
        written.push(NewRecord { commit: rewrite.new, record, extra: old.extra });
    }
    if !written.is_empty() {
        link_children(ws, &store, &mut written, &mut lines)?;
        store.put_records(&written, ctx.now)?;
    }
    move_ack(ws, &store, command, rewrites)?;
    Ok(warnings)
}

/// The commits that a rebase made one of, those that these were made of in their place; none where it only moved one, or where
/// a person resolved a conflict: other clones lack the commits, and could not tell.
fn joined(
    ws: &Workspace,
    store: &NotesStore<'_>,
    command: RewriteCommand,
    became: &[Rewrite],
) -> Vec<CommitId> {
    let Some(new) = became.first().filter(|_| command == RewriteCommand::Rebase).map(|one| one.new) else {
        return Vec::new();
    };
    let made_of = |one: &Rewrite| {
        let before = store.readable(one.old).map(|record| record.joins).unwrap_or_default();
        if before.is_empty() { vec![one.old] } else { before }
    };
    let all: Vec<CommitId> = became.iter().flat_map(made_of).collect();
    let by_git = |made: &CommitInfo| {
        let made = ws.repo.is_made(made, &MergeClaim::Applied(all.clone()));
        made.is_ok_and(|tree| tree != TreeVerdict::Other)
    };
    if all.len() > 1 && ws.repo.commit(new).is_ok_and(|made| by_git(&made)) { all } else { Vec::new() }
}

/// Commits that were made while the rebase was stopped, or by its `exec`, are no rewritten ones: their records name the
/// record that their parent had then, and now name the one that it gets.
fn link_children(
    ws: &Workspace,
    store: &NotesStore<'_>,
    written: &mut Vec<NewRecord>,
    lines: &mut Vec<(CommitId, Digest)>,
) -> Result<()> {
    let mut sought: BTreeSet<CommitId> = lines.iter().map(|(id, _)| *id).collect();
    let mut chain = Vec::new();
    let mut at = ws.repo.head()?.commit();
    while let Some(id) = at.filter(|_| !sought.is_empty() && chain.len() < PAIRED) {
        sought.remove(&id);
        at = ws.repo.commit(id)?.parents.first().copied();
        chain.extend(at.map(|parent| (id, parent)));
    }
    for (id, parent) in chain.into_iter().rev() {
        let Some((_, now)) = lines.iter().find(|(known, _)| *known == parent).copied() else { continue };
        let at = written.iter().position(|one| one.commit == id);
        let child = match (at, store.get(id)) {
            (Some(at), _) => written.remove(at),
            // One that names anything else than what its parent had until now is left as it is.
            (None, Ok(Some(child))) if child.record.prev == prev(store, parent) => {
                NewRecord { commit: id, record: child.record, extra: child.extra }
            }
            (None, Ok(_) | Err(_)) => continue,
        };
        let record = CommitRecord { prev: PrevRecord::Line(now), ..child.record };
        let line = line_digest(encode_commit(&record, &child.extra).trim_end().as_bytes());
        lines.retain(|(known, _)| *known != id);
        lines.push((id, line));
        written.push(NewRecord { record, ..child });
    }
    Ok(())
}

/// An acknowledgement names the commit that was HEAD then. Where that commit is amended and its code left alone, the newest
/// answer still holds for what took its place. An amend that brings other code is the first attempt after it, and a
/// rebased commit is known by what it carries.
fn move_ack(
    ws: &Workspace,
    store: &NotesStore<'_>,
    command: RewriteCommand,
    rewrites: &[Rewrite],
) -> Result<()> {
    let [rewrite] = rewrites else { return Ok(()) };
    let record = |id: CommitId| store.get(id).ok().flatten().map(|stored| stored.record);
    let (old, new) = (record(rewrite.old), record(rewrite.new));
    let same = match (&old, &new) {
        (Some(old), Some(new)) => old.code == new.code,
        _ => ws.repo.tree_of(rewrite.old).ok() == ws.repo.tree_of(rewrite.new).ok(),
    };
    if command != RewriteCommand::Amend || !same {
        return Ok(());
    }
    let journal = Journal::open(ws.repo.git_dir());
    let (lines, _) = journal.read_tail();
    let answer = lines.into_iter().rev().find_map(|line| {
        let JournalLine::Ack(ack) = line else { return None };
        Some(ack).filter(|ack| ack.counter.is_none())
    });
    let carried = old.and_then(|old| Some(old.carries?.commit));
    let here = [Some(rewrite.old), carried];
    if let Some(ack) = answer.filter(|ack| ack.head.is_some() && here.contains(&ack.head)) {
        let moved = Ack { head: Some(rewrite.new), ..*ack };
        journal.append(&JournalLine::Ack(Box::new(moved)))?;
    }
    Ok(())
}

/// A commit that was rewritten, with what is recorded about it.
struct RewrittenCommit<'a> {
    id: CommitId,
    command: RewriteCommand,
    /// The commit that was rewritten.
    old_id: CommitId,
    /// The record of the commit that was rewritten.
    old: &'a CommitRecord,
    /// Those that it was joined with, with their records.
    others: &'a [(CommitId, CommitRecord)],
    /// The record that post-commit has already made of the new one.
    new: Option<&'a CommitRecord>,
}

/// The record of a rewritten commit: derived from the commit, with the facts of the old one that still hold.
fn carry(
    ctx: &Context,
    ws: &Workspace,
    moved: &RewrittenCommit<'_>,
    prev_of: impl Fn(CommitId) -> PrevRecord,
) -> Result<CommitRecord> {
    let RewrittenCommit { id, command, old, new, others, .. } = *moved;
    let commit = ws.repo.commit(id)?;
    let DerivedCommit { tree, parent, code, diff, change, missing: _, taken: _ } = derived(ws, &commit)?;
    let carries = (command == RewriteCommand::Rebase && old.kind != CommitKind::Merge)
        .then(|| CarriedAttempt::new(moved.old_id, old))
        .or_else(|| old.carries.as_deref().filter(|_| old.tree == tree).cloned());
    let known = new.and_then(|record| record.tests.clone()).filter(|tests| tests.code == code);
    let brought = old.tests.clone().filter(|tests| tests.code == code);
    Ok(CommitRecord {
        recorded_at: new.map_or(ctx.now, |record| record.recorded_at),
        uptime: new.map_or_else(|| ctx.uptime(), |record| record.uptime),
        tree,
        parent,
        prev: parent.map_or(PrevRecord::Unsaid, prev_of),
        kind: match command {
            RewriteCommand::Amend if commit.parents.len() > 1 => CommitKind::Merge,
            RewriteCommand::Amend => CommitKind::Amend,
            RewriteCommand::Rebase if old.kind == CommitKind::Merge => CommitKind::Merge,
            RewriteCommand::Rebase => CommitKind::Rebase,
        },
        gate: match new.map(|record| record.gate) {
            Some(gate @ (Gate::Passed | Gate::Bypassed)) => gate,
            Some(Gate::NotRun) | None if old.tree == tree => old.gate,
            Some(Gate::NotRun) | None => Gate::NotRun,
        },
        recording: match (new, old.recording) {
            (Some(record), _) => record.recording,
            // No hook saw the old one being made, nor this one.
            (None, Recording::Backfilled) => Recording::Backfilled,
            (None, Recording::Moved) => Recording::Moved,
            (None, Recording::AtCommit | Recording::CaughtUp | Recording::Patched | Recording::Derived) => {
                Recording::AtCommit
            }
        },
        iteration: new
            .filter(|_| command == RewriteCommand::Amend || old.recording == Recording::Backfilled)
            .map_or_else(|| first_number(old, others), |record| record.iteration),
        code,
        diff,
        change: Some(change),
        tests: known.or(brought).map(|tests| with_losses(old, tests)),
        weakening: new.map_or_else(|| old.weakening.clone(), |record| record.weakening.clone()),
        skipped: skipped(old, new, code),
        ledger: new.map_or_else(|| old.ledger.clone(), |record| record.ledger.clone()),
        guards: new.map_or_else(|| old.guards.clone(), |record| record.guards.clone()),
        worktree: new.map_or_else(|| old.worktree.clone(), |record| record.worktree.clone()),
        by: new.map_or(old.by, |record| record.by),
        findings: new.map_or_else(Vec::new, |record| record.findings.clone()),
        carries: carries.map(Box::new),
        ..old.clone()
    })
}

/// The number of the first of those that became one: a run that began with it begins there still.
fn first_number(old: &CommitRecord, others: &[(CommitId, CommitRecord)]) -> u64 {
    others.iter().map(|(_, record)| record.iteration).chain([old.iteration]).min().unwrap_or(old.iteration)
}

/// The tests with what the rewritten commit lost: its own run was compared with that commit, and misses nothing against it.
/// Tests that run again since then are not lost.
fn with_losses(old: &CommitRecord, mut tests: TestEvidence) -> TestEvidence {
    let Some(old) = &old.tests else { return tests };
    if tests.names.is_none() && tests.set == old.set {
        tests.names.clone_from(&old.names);
    }
    let before = &old.lost;
    let now = std::mem::take(&mut tests.lost);
    let mut known = before.clone();
    for (names, total, again) in [
        (&mut known.gone, &mut known.gone_total, &now.gone),
        (&mut known.skipped, &mut known.skipped_total, &now.skipped),
    ] {
        let before = names.len();
        names.retain(|name| !again.contains(name));
        *total = total.saturating_sub(u64::try_from(before - names.len()).unwrap_or(u64::MAX));
    }
    let back = now.back.clone();
    let mut lost = detect::lost_in_all([known, now].into_iter());
    lost.gone.truncate(LostTests::MAX_NAMES);
    lost.skipped.truncate(LostTests::MAX_NAMES);
    tests.lost = LostTests { back, ..lost };
    tests
}

/// Skips for the code last until the code changes: amending the message does not lose them.
fn skipped(old: &CommitRecord, new: Option<&CommitRecord>, code: CodeId) -> Vec<Skip> {
    let mut skipped = new.map(|record| record.skipped.clone()).unwrap_or_default();
    for skip in old.skipped.iter().filter(|_| old.code == code) {
        if !skipped.iter().any(|known| known.rule == skip.rule) {
            skipped.push(skip.clone());
        }
    }
    skipped
}

/// Most commits of a rebase that are paired when git's own list is lost.
const PAIRED: usize = 256;

/// Pairs the commits of a finished rebase by their change: `ORIG_HEAD` is the old tip, HEAD the new one. For the
/// frameworks, which do not pass post-rewrite's standard input on.
pub fn pair_by_change(ws: &Workspace) -> Result<Vec<Rewrite>> {
    let (Some(new_tip), Ok(old_tip)) = (ws.repo.head()?.commit(), ws.repo.resolve("ORIG_HEAD")) else {
        return Ok(Vec::new());
    };
    let base = ws.repo.merge_base(old_tip, new_tip)?;
    let store = NotesStore::open(&ws.repo)?;
    let mut old = Vec::new();
    for id in first_parents(ws, old_tip, base)? {
        old.extend(store.get(id).ok().flatten().map(|stored| (id, stored.record.diff.hash)));
    }
    let mut rewrites = Vec::new();
    for id in first_parents(ws, new_tip, base)? {
        let hash = match store.get(id) {
            Ok(Some(stored)) => stored.record.diff.hash,
            Ok(None) | Err(_) => derived(ws, &ws.repo.commit(id)?)?.diff.hash,
        };
        if let Some(at) = old.iter().position(|(_, known)| *known == hash) {
            rewrites.push(Rewrite { old: old.remove(at).0, new: id });
        }
    }
    Ok(rewrites)
}

/// First parents from `tip` down to, not including, `base`; oldest first, at most [`PAIRED`].
fn first_parents(ws: &Workspace, tip: CommitId, base: Option<CommitId>) -> Result<Vec<CommitId>> {
    let mut chain = Vec::new();
    let mut at = Some(tip);
    while let Some(id) = at.filter(|id| Some(*id) != base && chain.len() < PAIRED) {
        chain.push(id);
        at = ws.repo.commit(id)?.parents.first().copied();
    }
    chain.reverse();
    Ok(chain)
}
