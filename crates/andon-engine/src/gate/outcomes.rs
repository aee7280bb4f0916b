//! The course of the loop after a signed answer (R7). Eight tested commits later, the clone that made them writes their
//! result to the ledger, so that the worth of an answer changes the weight of its author. The records hold everything,
//! so that any clone can compare.

use std::collections::{BTreeMap, BTreeSet};

use crate::asking::{self, Draft, SignedLedger};
use crate::{Result, context::Context, halts, workspace::Workspace};
use andon_core::domain::facts::{Ack, AckHow};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_core::domain::{effect::AckMode, test_run::TestEvidence};
use andon_core::format::members_of;
use andon_git::Repo;
use andon_review::payload::{AnswerOutcome, Payload};
use andon_store::{ledger::Ledger, notes::NotesStore};

/// Iterations that an outcome holds, before and after.
const ITERATIONS: usize = 8;
/// Most commits that are looked at for them: those without tests are passed over.
const MOST: usize = 64;

/// Commits with the tests of their records, newest first.
type TestedCommits = Vec<(CommitId, TestEvidence)>;

/// The commits before one, newest first, with the tests of their records.
struct Course {
    tested: TestedCommits,
    /// All that were passed, the untested ones too.
    passed: Vec<CommitId>,
    /// The commit before the oldest.
    before: Option<CommitId>,
}

/// At most [`ITERATIONS`] tested commits from `newest` backwards, along the first parents.
fn course(repo: &Repo, store: &NotesStore<'_>, newest: Option<CommitId>) -> Result<Course> {
    let mut found = Course { tested: Vec::new(), passed: Vec::new(), before: newest };
    while let Some(at) = found.before
        && found.tested.len() < ITERATIONS
        && found.passed.len() < MOST
    {
        let tests = store.readable(at).and_then(|record| record.tests);
        found.tested.extend(tests.map(|tests| (at, tests)));
        found.passed.push(at);
        found.before = repo.commit(at)?.parents.first().copied();
    }
    Ok(found)
}

/// Writes the outcome of the answer that was given eight tested commits before HEAD, once; its entry.
///
/// # Errors
/// The ledger cannot be read or written.
pub fn record(ctx: &Context, ws: &Workspace, store: &NotesStore<'_>) -> Result<Option<EntryId>> {
    if ws.config.guard.ack != AckMode::Signed {
        return Ok(None);
    }
    let head = ws.repo.head()?.commit();
    let after = course(&ws.repo, store, head)?;
    let is_due = after.tested.len() == ITERATIONS && after.tested.first().map(|(at, _)| *at) == head;
    let (Some(before), true) = (after.before, is_due) else { return Ok(None) };
    let earlier = course(&ws.repo, store, Some(before))?;
    // The answer lies before the oldest of the eight, and after the tested commit before those.
    let stop = earlier.tested.first().map(|(at, _)| *at);
    let until = earlier.passed.iter().position(|at| Some(*at) == stop).map_or(0, |at| at + 1);
    let ledger = Ledger::open(&ws.repo);
    let answers = ledger.acks_at(&earlier.passed[..until])?;
    let signed = |ack: &&Ack| ack.how == AckHow::Signed && ack.counter.is_none();
    let Some(halt) = answers.iter().rev().find(signed).and_then(|ack| ack.halt) else { return Ok(None) };
    if earlier.tested.is_empty() {
        return Ok(None);
    }
    let ledger_again = ledger.acks_at(&after.passed)?;
    let is_free = ledger_again.iter().all(|ack| ack.counter.is_some()) && halts::binding(ws)?.is_none();
    write(ctx, ws, &Comparison { halt, before: earlier.tested, after: after.tested, is_free })
}

/// The course of the loop before and after an answer.
struct Comparison {
    halt: EntryId,
    before: TestedCommits,
    after: TestedCommits,
    /// No halt followed.
    is_free: bool,
}

fn write(ctx: &Context, ws: &Workspace, found: &Comparison) -> Result<Option<EntryId>> {
    let Comparison { halt, before, after, is_free } = found;
    let ledger = asking::load(ws)?;
    let Some(answer) = ledger.answer_to(*halt) else { return Ok(None) };
    // The decision of a panel is named by its round.
    let resolution = answer.code.as_ref().map_or(*halt, |_| answer.resolution).to_string();
    if outcomes(&ledger).any(|(_, known)| known.resolution == resolution) {
        return Ok(None);
    }
    let left = *is_free && got_better(&before[0].1, &after[0].1);
    let (before, after) = (signatures(before), signatures(after));
    let body = members_of(&AnswerOutcome { before, after, left, resolution });
    let draft = Draft { kind: "outcome", said: &body, evidence: &[], signer: None };
    ledger.append(ctx, ws, &draft).map(Some)
}

/// The results, oldest first; green is an empty text.
fn signatures(of: &[(CommitId, TestEvidence)]) -> Vec<String> {
    let one =
        |tests: &TestEvidence| if tests.is_green() { String::new() } else { tests.signature.to_string() };
    of.iter().rev().map(|(_, tests)| one(tests)).collect()
}

/// Most commits between a tip and an answer whose outcome is compared.
const FAR: usize = 2_000;

/// Outcomes that the records of the branch at `tip` do not bear out, each with what is wrong. Where records are missing
/// nothing can be compared.
///
/// # Errors
/// The ledger or the records cannot be read.
pub fn unlike_records(repo: &Repo, ledger: &SignedLedger, tip: CommitId) -> Result<Vec<(EntryId, String)>> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    // The first after a resolution counts.
    let said: Vec<(usize, &AnswerOutcome)> =
        outcomes(ledger).filter(|(_, said)| seen.insert(said.resolution.as_str())).collect();
    if said.is_empty() {
        return Ok(Vec::new());
    }
    let store = NotesStore::open(repo)?;
    let answers = answers(repo)?;
    let mut wrong = Vec::new();
    for (at, said) in said {
        let Some(head) = halt_of(ledger, said).and_then(|halt| answers.get(&halt)) else { continue };
        let Some(after) = after(repo, &store, tip, *head)? else { continue };
        let before = course(repo, &store, Some(*head))?.tested;
        let parts =
            [("before", &said.before, signatures(&before)), ("after", &said.after, signatures(&after))];
        wrong.extend(parts.into_iter().filter(|(_, said, found)| *said != found).map(|(name, ..)| {
            let what =
                format!("what it says of the iterations {name} the answer is not what their records say");
            (ledger.entries[at].id, what)
        }));
    }
    Ok(wrong)
}

/// The outcomes that count, in the order of the ledger.
fn outcomes(ledger: &SignedLedger) -> impl Iterator<Item = (usize, &AnswerOutcome)> {
    let counts = |at: &usize| !ledger.folded.state.codes.contains_key(at);
    let in_order = ledger.folded.graph.order.iter().copied().filter(counts);
    in_order.filter_map(|at| match &*ledger.review[at].payload {
        Ok(Payload::Outcome(said)) => Some((at, said)),
        Ok(_) | Err(_) => None,
    })
}

/// The halt that a resolution answered; the outcome of a panel names it.
fn halt_of(ledger: &SignedLedger, said: &AnswerOutcome) -> Option<EntryId> {
    let at = ledger.review.iter().position(|entry| entry.id == said.resolution)?;
    match &*ledger.review[at].payload {
        Ok(Payload::Resolution(resolution)) => resolution.round.parse().ok(),
        Ok(_) | Err(_) => Some(ledger.entries[at].id),
    }
}

/// At which commit each halt was answered by a signature.
fn answers(repo: &Repo) -> Result<BTreeMap<EntryId, CommitId>> {
    let (entries, _) = Ledger::open(repo).read_all()?;
    let signed = entries.iter().filter_map(|entry| entry.event.answer());
    let signed = signed.filter(|ack| ack.how == AckHow::Signed);
    Ok(signed.filter_map(|ack| Some((ack.halt?, ack.head?))).collect())
}

/// The first [`ITERATIONS`] tested commits after `head` on the way to `tip`, newest first; `None` where it is not there, or they
/// are fewer.
fn after(
    repo: &Repo,
    store: &NotesStore<'_>,
    tip: CommitId,
    head: CommitId,
) -> Result<Option<TestedCommits>> {
    let (mut at, mut tested) = (Some(tip), TestedCommits::new());
    for _ in 0..FAR {
        let Some(commit) = at else { return Ok(None) };
        if commit == head {
            let first = tested.len().checked_sub(ITERATIONS);
            return Ok(first.map(|first| tested.split_off(first)));
        }
        let tests = store.readable(commit).and_then(|record| record.tests);
        tested.extend(tests.map(|tests| (commit, tests)));
        at = repo.commit(commit)?.parents.first().copied();
    }
    Ok(None)
}

/// True if all is green now, or a test that failed before the answer no longer does.
fn got_better(before: &TestEvidence, now: &TestEvidence) -> bool {
    let passes = |test| !now.compared().any(|own| own == test);
    now.is_green() || (!now.failing.is_empty() && before.compared().any(passes))
}
