//! `andon log` and `andon show`: the records as they are, without judging them; only their numbers are derived.

use crate::verbs::log::record_text::ShowView;
use crate::view::log::{LogEntry, RecordState};
use andon_core::domain::decision::LedgerEvent;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::CommitId;
use andon_engine::error::OpsError;
use andon_engine::range::numbers::Numbers;
use andon_engine::recording::derive;
use andon_engine::workspace::Workspace;
use andon_store::ledger::Ledger;
use andon_store::notes::NotesStore;

/// The newest `max` commits from `revision` along first parents, newest first, with the halts and
/// acknowledgements that happened at them. The warnings name ledger entries that were skipped.
pub fn log(ws: &Workspace, revision: &str, max: usize) -> Result<(Vec<LogEntry>, Vec<Diagnostic>), OpsError> {
    if revision == "HEAD" && ws.repo.head()?.commit().is_none() {
        return Ok((Vec::new(), Vec::new()));
    }
    let store = NotesStore::open(&ws.repo)?;
    let (events, skipped) = Ledger::open(&ws.repo).read_all()?;
    let mut numbers = Numbers::new(ws, &store)?;
    let mut entries = Vec::new();
    let mut at = Some(ws.repo.resolve(revision)?);
    for _ in 0..max {
        let Some(id) = at else { break };
        let commit = ws.repo.commit(id)?;
        // Newest first: the answer is above the halt, and both are above their commit.
        for event in events.iter().rev().filter_map(|entry| entry.event.known()) {
            match event {
                LedgerEvent::Halted(halt) if halt.head == Some(id) => {
                    entries.push(LogEntry::Halt(halt.clone()));
                }
                LedgerEvent::Acknowledged(ack) if ack.head == Some(id) => {
                    entries.push(LogEntry::Ack(ack.clone()));
                }
                LedgerEvent::Halted(_) | LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_) => {}
            }
        }
        let cut_off = derive::is_cut_off(&ws.repo, &commit);
        entries.push(LogEntry::Commit {
            commit: id,
            subject: commit.subject,
            state: state(&store, &mut numbers, id),
        });
        at = commit.parents.first().copied().filter(|_| !cut_off);
    }
    Ok((entries, skipped))
}

fn state(store: &NotesStore<'_>, numbers: &mut Numbers<'_>, id: CommitId) -> RecordState {
    match store.get(id) {
        Ok(Some(stored)) => RecordState::Recorded(Box::new(numbers.on(id, stored.record))),
        Ok(None) => RecordState::Missing,
        Err(err) => RecordState::Unreadable(err.to_string()),
    }
}

/// One record in full.
pub fn show(ws: &Workspace, revision: &str) -> Result<ShowView, OpsError> {
    let commit = ws.repo.commit(ws.repo.resolve(revision)?)?;
    let store = NotesStore::open(&ws.repo)?;
    let (state, digest, extra) = match store.get(commit.id) {
        Ok(Some(stored)) => (
            RecordState::Recorded(Box::new(Numbers::new(ws, &store)?.on(commit.id, stored.record))),
            Some(stored.line_digest),
            stored.extra.into_members(),
        ),
        Ok(None) => (RecordState::Missing, None, std::collections::BTreeMap::new()),
        Err(err) => (RecordState::Unreadable(err.to_string()), None, std::collections::BTreeMap::new()),
    };
    Ok(ShowView { commit: commit.id, subject: commit.subject, state, digest, extra })
}
