//! What agents named as their evidence, as it is shown to a witness: what each statement looked at, and of the commits
//! among it the change and its tests.

use super::halted_work;
use andon_core::domain::ids::CommitId;
use andon_engine::asking::SignedLedger;
use andon_engine::workspace::Workspace;
use andon_review::payload::questions::{NamedEvidence, RoundEvidence, RoundPayload};

/// Most things of one statement, and most commits, that are shown.
const NAMED: usize = 8;
const COMMITS: usize = 3;
/// Digits of a commit that are shown.
const DIGITS: usize = 12;

/// A commit that a participant looked at.
#[derive(Debug)]
pub struct NamedCommit {
    pub(super) id: String,
    /// What it changed.
    pub(super) change: Vec<String>,
    /// What its tests came to.
    pub(super) tests: Vec<String>,
}

/// What a round's statements name, with whose it is.
fn named(ledger: &SignedLedger, round: usize) -> impl Iterator<Item = (&'static str, NamedEvidence)> {
    let said: Option<RoundPayload> = ledger.said(round);
    let RoundEvidence { question, claim, critique, verdict } =
        said.map(|said| said.evidence).unwrap_or_default();
    let all = [("question", question), ("claim", claim), ("critique", critique), ("verdict", verdict)];
    all.into_iter()
        .flat_map(|(statement, list)| list.into_iter().take(NAMED).map(move |item| (statement, item)))
}

/// A line for each thing.
pub(super) fn lines(ledger: &SignedLedger, round: usize) -> Vec<String> {
    named(ledger, round)
        .filter_map(|(statement, item)| Some(format!("{statement}: {}", line(item)?)))
        .collect()
}

fn line(item: NamedEvidence) -> Option<String> {
    let NamedEvidence { commit, run, file, lines } = item;
    let place = file.map(|file| lines.map_or(file.clone(), |lines| format!("{file}:{lines}")));
    let commit = commit.map(|id| id.chars().take(DIGITS).collect::<String>());
    let place = match (place, commit) {
        (Some(place), Some(commit)) => Some(format!("{place} in {commit}")),
        (None, Some(commit)) => Some(format!("commit {commit}")),
        (place, None) => place,
    };
    let run = run.map(|run| format!("run {run}"));
    let parts: Vec<String> = place.into_iter().chain(run).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The commits among it, each once.
pub(super) fn commits(ws: &Workspace, ledger: &SignedLedger, round: usize) -> Vec<NamedCommit> {
    let mut found: Vec<CommitId> = Vec::new();
    for (_, item) in named(ledger, round) {
        let commit = item.commit.and_then(|id| id.parse().ok());
        found.extend(commit.filter(|commit| !found.contains(commit)));
    }
    let shown = found.into_iter().take(COMMITS);
    let of = |commit: CommitId| NamedCommit {
        id: commit.to_string().chars().take(DIGITS).collect(),
        change: halted_work::change(ws, commit)
            .unwrap_or_else(|_| vec!["this commit is not here: git fetch".to_owned()]),
        tests: halted_work::tests(ws, commit).unwrap_or_default(),
    };
    shown.map(of).collect()
}
