//! What a halt is about, for the person who answers it: the halted change, its tests, the evidence, and earlier
//! decisions on similar questions. Bounded, and followed by the commands that show all of it.

use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::decision::{Halt, HaltEvidence};
use andon_core::domain::ids::CommitId;
use andon_core::domain::plural::count;
use andon_engine::asking::{self, SignedLedger};
use andon_engine::error::OpsError;
use andon_engine::halts;
use andon_engine::text::shown_change;
use andon_engine::workspace::Workspace;
use andon_git::GitError;
use andon_store::notes::NotesStore;

/// Failing tests, and hashes of a kind, that are named.
const NAMED: usize = 12;
/// Digits of a hash that are shown.
const DIGITS: usize = 12;

/// A halted commit, in the order in which it is read; each part is lines, and empty where nothing is known.
#[derive(Debug)]
pub struct HaltedWork {
    /// What its entry says; nothing where a stranger wrote something else.
    pub(super) halt: Option<Halt>,
    /// What changed.
    pub(super) change: Vec<String>,
    /// What its tests came to.
    pub(super) tests: Vec<String>,
    /// The hashes that the halt names, the newest last.
    pub(super) evidence: Vec<String>,
    /// The nearest decisions.
    pub(super) precedents: Vec<HumanDecision>,
}

/// Gathers it for the halt of `entry`. What is not here, such as the commit of another clone, is left out.
pub(super) fn halted(ws: &Workspace, ledger: &SignedLedger, entry: usize) -> HaltedWork {
    let id = ledger.entries[entry].id;
    let halt = halts::of_entry(ws, id).ok().map(|standing| standing.halt);
    let head = halt.as_ref().and_then(|halt| halt.head);
    let own = asking::short(id);
    let near = asking::nearest(ws, &ledger.question(entry)).into_iter();
    HaltedWork {
        change: head.and_then(|head| change(ws, head).ok()).unwrap_or_default(),
        tests: head.and_then(|head| tests(ws, head).ok()).unwrap_or_default(),
        evidence: halt.as_ref().map(|halt| evidence(&halt.evidence)).unwrap_or_default(),
        precedents: near.filter(|found| found.round != own).collect(),
        halt,
    }
}

/// The lines that a commit changed.
pub(super) fn change(ws: &Workspace, commit: CommitId) -> Result<Vec<String>, GitError> {
    Ok(shown_change::of_commit(&ws.repo, commit)?.text(usize::MAX))
}

pub(super) fn tests(ws: &Workspace, head: CommitId) -> Result<Vec<String>, OpsError> {
    let stored = NotesStore::open(&ws.repo)?.get(head)?;
    let Some(tests) = stored.and_then(|stored| stored.record.tests) else {
        return Ok(vec!["no run of the tests is recorded on this code".to_owned()]);
    };
    let counts = tests.counts();
    let mut lines = vec![format!(
        "{} failed, {} passed of {}: {}",
        counts.failed + counts.errored,
        counts.passed,
        counts.total,
        tests.command
    )];
    lines.extend(tests.failing.iter().take(NAMED).map(|name| format!("  {name}")));
    lines.extend(more(tests.failing.len(), NAMED, "more failing test"));
    Ok(lines)
}

/// That something was left out.
fn more(all: usize, shown: usize, what: &str) -> Option<String> {
    all.checked_sub(shown).filter(|left| *left > 0).map(|left| format!("({})", count(left, what)))
}

fn evidence(found: &HaltEvidence) -> Vec<String> {
    fn line(title: &str, hashes: &[impl ToString]) -> Option<String> {
        let newest = &hashes[hashes.len().saturating_sub(NAMED)..];
        let short = newest.iter().map(|hash| hash.to_string().chars().take(DIGITS).collect::<String>());
        (!newest.is_empty()).then(|| format!("{title}: {}", short.collect::<Vec<_>>().join(" ")))
    }
    let lines =
        [line("changes", &found.diffs), line("test results", &found.tests), line("outputs", &found.outputs)];
    lines.into_iter().flatten().collect()
}
