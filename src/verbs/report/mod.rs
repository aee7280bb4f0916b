//! `andon report`: one page of what happened over a range, from the records and the ledger, without judging it again.

pub mod html;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;

use crate::cli::{Exit, Shell};
use crate::verbs::{review::rounds, status};
use andon_core::domain::{AckHow, CommitId, CommitRecord, Diagnostic, EntryId, Halt};
use andon_engine::text::{Forge, ShownChange, shown_change};
use andon_engine::view::{HistoryCommit, HistoryView, LastHalt, RecordState, StatusView};
use andon_engine::{Result, Workspace, asking, error::or_warn, range::Numbers};
use andon_git::GitError;
use andon_store::NotesStore;

/// `andon report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Commits to show, such as v1.0..HEAD; of more than 10,000 the newest
    #[arg(value_name = "RANGE", default_value = "HEAD")]
    pub range: String,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Makes the page.
pub fn run(shell: &Shell, args: &ReportArgs) -> Result<Exit> {
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    // A page that says what is missing is of more use than none.
    let mut unknown = Vec::new();
    let now = or_warn(status::view(&shell.ctx, &ws).map(Some), &mut unknown);
    let mut view = gather(&ws, now, &args.range)?;
    view.warnings.extend(unknown);
    or_warn(rounds(&ws, &mut view), &mut view.warnings);
    shell.deliver(args.output.as_deref(), &html::page(&view))?;
    Ok(Exit::Allowed)
}

fn rounds(ws: &Workspace, view: &mut HistoryView) -> Result<()> {
    let waiting = asking::waiting(ws)?;
    view.warnings.extend(waiting.warning());
    view.open = waiting.rounds;
    view.decided = rounds::precedents(ws, None, &[])?;
    Ok(())
}

/// Commits that one page shows.
const COMMITS: usize = 10_000;
/// Halts whose change is shown, the newest.
const CHANGES: usize = 10;
/// Failing tests of one record that are kept: the page names a few and counts the rest.
const FAILING: usize = 8;

/// Gathers what is known of `range`. A ledger or a record that cannot be read is a warning: the rest is shown.
///
/// # Errors
/// The range means nothing.
pub fn gather(ws: &Workspace, now: Option<StatusView>, range: &str) -> Result<HistoryView> {
    let known = now.as_ref().map_or(&[][..], |now| &now.warnings);
    let mut warnings = known.to_vec();
    let mut ids = if ws.repo.head()?.commit().is_none() && range == "HEAD" {
        Vec::new()
    } else {
        ws.repo.range(range)?
    };
    let left_out = ids.len().saturating_sub(COMMITS);
    ids.drain(..left_out);
    let store = or_warn(NotesStore::open(&ws.repo).map(Some), &mut warnings);
    let mut numbers = store.as_ref().map(|store| Numbers::new(ws, store)).transpose()?;
    // The newest first, the order in which numbers are needed.
    let newest = ids.iter().rev().map(|id| commit(ws, store.as_ref(), numbers.as_mut(), *id));
    let mut commits = newest.collect::<Result<Vec<_>, _>>()?;
    commits.reverse();
    let (halts, skipped) = or_warn(halts(ws, &ids, now.as_ref()), &mut warnings);
    // The status has said some of them already.
    warnings.extend(skipped.into_iter().filter(|one| !known.contains(one)));
    let linked: Vec<CommitId> =
        ids.last().copied().into_iter().chain(halts.iter().filter_map(|last| last.halt.head)).collect();
    Ok(HistoryView {
        now,
        range: range.to_owned(),
        commits,
        left_out,
        changes: changes(ws, &halts),
        forge: Forge::of_remote(&ws.repo, &linked),
        halts,
        open: Vec::new(),
        decided: Vec::new(),
        warnings,
    })
}

/// The changes behind the newest halts, as far as they are here.
fn changes(ws: &Workspace, halts: &[LastHalt]) -> BTreeMap<CommitId, ShownChange> {
    let newest = halts.iter().rev().take(CHANGES).map(|last| &last.halt);
    let found = |halt: &Halt| Some((halt.head?, shown_change::of_halt(&ws.repo, halt).ok()??));
    newest.filter_map(found).collect()
}

fn commit(
    ws: &Workspace,
    store: Option<&NotesStore<'_>>,
    numbers: Option<&mut Numbers<'_>>,
    id: CommitId,
) -> Result<HistoryCommit, GitError> {
    let info = ws.repo.commit(id)?;
    let shown = |record: CommitRecord| {
        let iteration = numbers.and_then(|numbers| numbers.number(id)).unwrap_or(0);
        slim(CommitRecord { iteration, ..record })
    };
    let state = store.map_or(RecordState::Missing, |store| RecordState::of(store.get(id), shown));
    Ok(HistoryCommit { commit: id, subject: info.subject, at: info.committed_at, state })
}

/// Ten thousand of them are held at once.
fn slim(mut record: CommitRecord) -> CommitRecord {
    record.diff.hunks = Vec::new();
    record.change = None;
    record.outputs = Vec::new();
    record.ledger = BTreeMap::new();
    if let Some(tests) = &mut record.tests {
        tests.failing.truncate(FAILING);
        tests.failing.shrink_to_fit();
    }
    record
}

/// The halts at these commits with their answers, and the unanswered one.
fn halts(
    ws: &Workspace,
    ids: &[CommitId],
    now: Option<&StatusView>,
) -> Result<(Vec<LastHalt>, Vec<Diagnostic>)> {
    let shown: BTreeSet<CommitId> = ids.iter().copied().collect();
    let (entries, skipped) = asking::read_all(&ws.repo, ws.opened)?;
    let mut halts: Vec<LastHalt> = Vec::new();
    let mut place: BTreeMap<EntryId, usize> = BTreeMap::new();
    for entry in &entries {
        let halt = entry.event.halt().filter(|halt| halt.head.is_none_or(|head| shown.contains(&head)));
        if let Some(halt) = halt {
            place.insert(entry.id, halts.len());
            halts.push(LastHalt { id: entry.id, halt: halt.clone(), ack: None });
        } else if let Some(ack) = entry.event.answer()
            && let Some(at) = ack.halt.filter(|_| ack.how != AckHow::Unsigned).and_then(|id| place.get(&id))
        {
            halts[*at].ack.get_or_insert_with(|| ack.clone());
        }
    }
    let missing = now
        .and_then(|now| now.last_halt.as_ref())
        .into_iter()
        .filter(|last| last.ack.is_none() && !place.contains_key(&last.id));
    halts.extend(missing.cloned());
    Ok((halts, skipped))
}
