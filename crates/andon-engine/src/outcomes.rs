//! How the loop went on after a signed answer (R7): eight tested commits after it the clone that made them writes what they came
//! to, so that what an answer was worth moves the weight of who gave it. The records say all of it, and anybody can compare.

use serde_json::json;

use super::context::Context;
use super::error::OpsError;
use super::standing;
use super::witnessing::{self, Draft, said};
use super::workspace::Workspace;
use andon_core::domain::facts::{Ack, AckHow};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_core::domain::response::AckMode;
use andon_core::domain::tests::TestEvidence;
use andon_review::payload::Payload;
use andon_store::ledger::Ledger;
use andon_store::notes::NotesStore;

/// Iterations that an outcome holds, before and after.
const ITERATIONS: usize = 8;
/// Most commits that are looked at for them: those without tests are passed over.
const MOST: usize = 64;

/// Commits with the tests of their records, newest first.
type Tested = Vec<(CommitId, TestEvidence)>;

/// The commits before one, newest first, with the tests of their records.
struct Course {
    tested: Tested,
    /// All that were passed, the untested ones too.
    passed: Vec<CommitId>,
    /// The commit before the oldest.
    before: Option<CommitId>,
}

/// At most [`ITERATIONS`] tested commits from `newest` backwards, along the first parents.
fn course(ws: &Workspace, store: &NotesStore<'_>, newest: Option<CommitId>) -> Result<Course, OpsError> {
    let mut found = Course { tested: Vec::new(), passed: Vec::new(), before: newest };
    while let Some(at) = found.before
        && found.tested.len() < ITERATIONS
        && found.passed.len() < MOST
    {
        let tests = store.get(at).ok().flatten().and_then(|stored| stored.record.tests);
        found.tested.extend(tests.map(|tests| (at, tests)));
        found.passed.push(at);
        found.before = ws.repo.commit(at)?.parents.first().copied();
    }
    Ok(found)
}

/// Writes the outcome of the answer that was given eight tested commits before HEAD, once; its entry.
///
/// # Errors
/// The ledger cannot be read or written.
pub fn record(ctx: &Context, ws: &Workspace, store: &NotesStore<'_>) -> Result<Option<EntryId>, OpsError> {
    if ws.config.guard.ack != AckMode::Signed {
        return Ok(None);
    }
    let head = ws.repo.head()?.commit();
    let after = course(ws, store, head)?;
    let is_due = after.tested.len() == ITERATIONS && after.tested.first().map(|(at, _)| *at) == head;
    let (Some(before), true) = (after.before, is_due) else { return Ok(None) };
    let earlier = course(ws, store, Some(before))?;
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
    let is_free = ledger_again.iter().all(|ack| ack.counter.is_some()) && standing::recorded(ws)?.is_none();
    write(ctx, ws, halt, (&earlier.tested, &after.tested, is_free))
}

fn write(
    ctx: &Context,
    ws: &Workspace,
    halt: EntryId,
    (before, after, is_free): (&Tested, &Tested, bool),
) -> Result<Option<EntryId>, OpsError> {
    let ledger = witnessing::load(ws)?;
    let Some(answer) = ledger.answer_to(halt) else { return Ok(None) };
    // The decision of a panel is named by its round.
    let resolution = answer.code.as_ref().map_or(halt, |_| answer.resolution).to_string();
    let is_known = ledger.review.iter().any(|entry| match &*entry.payload {
        Ok(Payload::Outcome(known)) => known.resolution == resolution,
        Ok(_) | Err(_) => false,
    });
    if is_known {
        return Ok(None);
    }
    let signatures = |of: &Tested| -> Vec<String> {
        let one =
            |tests: &TestEvidence| if tests.is_green() { String::new() } else { tests.signature.to_string() };
        of.iter().rev().map(|(_, tests)| one(tests)).collect()
    };
    let left = is_free && got_better(&before[0].1, &after[0].1);
    let body = said(json!({
        "resolution": resolution, "before": signatures(before), "after": signatures(after), "left": left,
    }));
    let draft = Draft { kind: "outcome", said: &body, evidence: &[], signer: None };
    ledger.append(ctx, ws, &draft).map(Some)
}

/// Whether all is green now, or a test that failed before the answer does not any more.
fn got_better(before: &TestEvidence, now: &TestEvidence) -> bool {
    let mended = |test: &String| !now.failing.contains(test);
    now.is_green() || (!now.failing.is_empty() && before.failing.iter().any(mended))
}
