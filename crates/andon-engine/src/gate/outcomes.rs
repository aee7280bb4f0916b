//! The course of the loop after a signed answer, to a halt or to a round of agents (R7). Eight tested commits later, the clone that
//! made them writes their result to the ledger, so that the worth of an answer changes the weight of its author. The records hold
//! everything, so that any clone can compare: an answer was given before the first commit whose record has seen it.

use std::collections::BTreeSet;

use crate::asking::{self, Draft, SignedLedger};
use crate::{Context, Result, Workspace, halts};
use andon_core::domain::{CommitFact, CommitId, CommitRecord, EntryId, TestEvidence};
use andon_core::format::members_of;
use andon_git::Repo;
use andon_review::{AnswerOutcome, DecidedBy, Payload, RoundDecision};
use andon_store::{Ledger, NotesStore};

/// Iterations that an outcome holds, before and after.
const ITERATIONS: usize = 8;
/// Most commits that are looked at for them: those without tests are passed over.
const MOST: usize = 64;

/// Records that have tests, newest first.
type TestedCommits = Vec<(CommitId, CommitRecord)>;

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
        found.tested.extend(tested(store, at));
        found.passed.push(at);
        found.before = repo.commit(at)?.parents.first().copied();
    }
    Ok(found)
}

fn tested(store: &NotesStore<'_>, at: CommitId) -> Option<(CommitId, CommitRecord)> {
    store.readable(at).filter(|record| record.tests.is_some()).map(|record| (at, record))
}

/// Writes the outcomes of the answers that were given eight tested commits before HEAD, each once. `window` are the records before
/// HEAD's: most often they tell that the ledger did not move there, and nothing has to be read.
///
/// # Errors
/// The ledger cannot be read or written.
pub fn record(ctx: &Context, ws: &Workspace, store: &NotesStore<'_>, window: &[CommitFact]) -> Result<()> {
    let head = ws.repo.head()?.commit();
    let known = window.iter().rev().filter(|fact| fact.id != head && fact.record.tests.is_some());
    let mut known = known.skip(ITERATIONS - 2);
    // Those before the newest answer to a halt are not in the window.
    let Some(own) = known.next() else { return Ok(()) };
    if known.next().is_some_and(|old| old.record.ledger == own.record.ledger) {
        return Ok(());
    }
    let after = course(&ws.repo, store, head)?;
    let is_due = after.tested.len() == ITERATIONS && after.tested.first().map(|(at, _)| *at) == head;
    let (Some(before), true) = (after.before, is_due) else { return Ok(()) };
    let earlier = course(&ws.repo, store, Some(before))?;
    let (Some((_, own)), Some((_, old))) = (after.tested.last(), earlier.tested.first()) else {
        return Ok(());
    };
    let ledger = asking::load(ws)?;
    let is_new =
        |decided: &&RoundDecision| sees(&ledger, own, decided.entry) && !sees(&ledger, old, decided.entry);
    let rounds = ledger.folded.state.rounds.iter();
    let decided = rounds.filter_map(|round| Some((round.entry, round.decision().filter(is_new)?)));
    let names = decided.map(|(round, decided)| named(&ledger, round, decided));
    let said: BTreeSet<&str> = outcomes(&ledger).map(|(_, said)| said.resolution.as_str()).collect();
    let names: BTreeSet<String> = names.filter(|name| !said.contains(name.as_str())).collect();
    if names.is_empty() {
        return Ok(());
    }
    let acks = asking::that_count(ws, Ledger::open(&ws.repo).acks_at(&after.passed)?)?;
    let is_free = acks.iter().all(|ack| ack.counter.is_some()) && halts::binding(ws)?.is_none();
    let left = is_free && got_better(old, &after.tested[0].1);
    for resolution in names {
        let (before, after) = (signatures(&earlier.tested), signatures(&after.tested));
        let body = members_of(&AnswerOutcome { before, after, left, resolution });
        ledger.append(ctx, ws, &Draft { kind: "outcome", said: &body, evidence: &[], signer: None })?;
    }
    Ok(())
}

/// Returns whether the entry at `index` was in the ledger when `record` was written.
fn sees(ledger: &SignedLedger, record: &CommitRecord, index: usize) -> bool {
    let mut heads = record.ledger.values().filter_map(|id| ledger.position(*id));
    heads.any(|head| ledger.folded.graph.is_at_or_before(index, head))
}

/// The id that the outcome of a decision gives: the resolution, or the round that a panel decided.
fn named(ledger: &SignedLedger, round: usize, decided: &RoundDecision) -> String {
    let entry = if decided.by == DecidedBy::Single { decided.entry } else { round };
    ledger.entries[entry].id.to_string()
}

/// The results, oldest first; green is an empty text.
fn signatures(of: &[(CommitId, CommitRecord)]) -> Vec<String> {
    let one =
        |tests: &TestEvidence| if tests.is_green() { String::new() } else { tests.signature.to_string() };
    of.iter().rev().filter_map(|(_, record)| record.tests.as_ref()).map(one).collect()
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
    let mut wrong = Vec::new();
    for (at, said) in said {
        let rounds = ledger.folded.state.rounds.iter();
        let mut decided = rounds.flat_map(|round| round.decisions.iter().map(|one| (round.entry, one)));
        let Some((_, decided)) = decided.find(|(round, one)| named(ledger, *round, one) == said.resolution)
        else {
            continue;
        };
        let knows = |record: &CommitRecord| sees(ledger, record, decided.entry);
        let Some((after, head)) = after(repo, &store, tip, &knows)? else { continue };
        let before = course(repo, &store, Some(head))?.tested;
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
    in_order.filter_map(|at| {
        let Some(Payload::Outcome(said)) = asking::said(&ledger.review[at]) else { return None };
        Some((at, said))
    })
}

/// The first [`ITERATIONS`] tested commits on the way to `tip` whose records have seen it, newest first, and the newest commit whose
/// record has not; `None` where there is none, or they are fewer.
fn after(
    repo: &Repo,
    store: &NotesStore<'_>,
    tip: CommitId,
    knows: &dyn Fn(&CommitRecord) -> bool,
) -> Result<Option<(TestedCommits, CommitId)>> {
    let (mut at, mut found) = (Some(tip), TestedCommits::new());
    for _ in 0..FAR {
        let Some(commit) = at else { return Ok(None) };
        if let Some(record) = store.readable(commit) {
            if !knows(&record) {
                let first = found.len().checked_sub(ITERATIONS);
                return Ok(first.map(|first| (found.split_off(first), commit)));
            }
            found.extend(Some(record).filter(|record| record.tests.is_some()).map(|record| (commit, record)));
        }
        at = repo.commit(commit)?.parents.first().copied();
    }
    Ok(None)
}

/// True if all is green now, or a test that failed before the answer no longer does.
fn got_better(before: &CommitRecord, now: &CommitRecord) -> bool {
    let (Some(before), Some(now)) = (&before.tests, &now.tests) else { return false };
    let passes = |test| !now.compared().any(|own| own == test);
    now.is_green() || (!now.failing.is_empty() && before.compared().any(passes))
}
