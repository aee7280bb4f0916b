//! Whether the journal and the ledger can be read, for `andon doctor`.

use super::Health;
use crate::engine::lost_halts;
use crate::engine::workspace::Workspace;
use crate::ledger::{Entry, Ledger};
use crate::store::journal::Journal;

fn of(count: usize, what: &str, skipped: &[String], hint: &str) -> Health {
    match skipped.first() {
        None => Health::Fine(format!("{count} {what} can be read")),
        Some(first) => Health::Shaky {
            message: format!(
                "{} of {} {what} cannot be read, first: {first}",
                skipped.len(),
                count + skipped.len()
            ),
            hint: Some(hint.to_owned()),
        },
    }
}

/// The newest part of the journal.
pub fn journal(ws: &Workspace) -> Health {
    let journal = Journal::open(ws.repo.git_dir());
    let (lines, skipped) = journal.read_tail();
    let skipped: Vec<String> = skipped.iter().map(ToString::to_string).collect();
    let hint = format!(
        "what is lost is lost; move the file away to be rid of the warning: {}",
        journal.path().display()
    );
    of(lines.len(), "lines of the journal", &skipped, &hint)
}

/// A halt that left traces and is no more in the ledger.
fn gap(ws: &Workspace, entries: &[Entry]) -> Option<Health> {
    let head = ws.repo.head().ok()?.commit();
    let found = lost_halts::standing(ws, head).ok()??;
    let gone = !entries.iter().any(|entry| entry.id == found.id);
    let hint = "andon sync, where a remote has the ledger; else a person looks and answers: andon resume --reason \"...\"";
    gone.then(|| Health::Broken { message: found.halt.message, hint: Some(hint.to_owned()) })
}

/// The whole ledger.
pub fn ledger(ws: &Workspace) -> Health {
    match Ledger::open(&ws.repo).read_all() {
        Ok((entries, skipped)) => {
            if let Some(gap) = gap(ws, &entries) {
                return gap;
            }
            let skipped: Vec<String> = skipped.iter().map(ToString::to_string).collect();
            of(entries.len(), "entries of the ledger", &skipped, "git for-each-ref refs/andon/ledger")
        }
        Err(err) => Health::Broken { message: err.to_string(), hint: err.help() },
    }
}
