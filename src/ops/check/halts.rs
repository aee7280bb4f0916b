//! Commits made while the loop was halted, and answers that no person gave.

use super::{Case, Violation, at, violation};
use crate::detect::{self, Situation, Stops};
use crate::domain::decision::{Halt, LedgerEvent, Stage, Verdict};
use crate::domain::facts::{Ack, AckHow, CommitFact, Fact};
use crate::domain::findings::Level;
use crate::domain::ids::{CommitId, EntryId};
use crate::git::Repo;
use crate::history::Fold;
use crate::ledger::{EntryEvent, Ledger};
use crate::ops::error::OpsError;
use crate::policy;

/// A halt with the answer it got.
struct Answered {
    id: EntryId,
    halt: Halt,
    ack: Option<Ack>,
}

/// Judges the range against the ledger, and against what the rules say of the records themselves.
pub(super) fn judge(case: &Case<'_>, facts: &[CommitFact]) -> Result<Vec<Violation>, OpsError> {
    let (entries, warnings) = Ledger::open(case.repo).read_all()?;
    let mut violations: Vec<Violation> = warnings
        .iter()
        .map(|warning| {
            let help = "git for-each-ref refs/andon/ledger";
            violation(None, "unreadable-ledger", Level::Block, warning.to_string(), help)
        })
        .collect();
    let mut halts: Vec<Answered> = Vec::new();
    let mut loose: Vec<Ack> = Vec::new();
    for entry in entries {
        match entry.event {
            EntryEvent::Known(LedgerEvent::Halted(halt)) => {
                halts.push(Answered { id: entry.id, halt: *halt, ack: None });
            }
            EntryEvent::Known(LedgerEvent::Acknowledged(ack)) => {
                match halts.iter_mut().find(|known| Some(known.id) == ack.halt) {
                    Some(known) => known.ack = Some(*ack),
                    None => loose.push(*ack),
                }
            }
            EntryEvent::Unknown { .. } => {}
        }
    }
    for halt in &halts {
        violations.extend(while_halted(case, halt)?);
        violations.extend(by_an_agent(case, halt)?);
    }
    violations.extend(unrecorded_halts(case, facts, &halts, &loose));
    Ok(violations)
}

/// Whether `commit` comes after `halted` in its own history.
fn comes_after(repo: &Repo, halted: CommitId, commit: CommitId) -> Result<bool, OpsError> {
    // A halt of a history that is not here binds nothing here.
    if halted == commit || repo.commit(halted).is_err() {
        return Ok(false);
    }
    Ok(repo.is_ancestor(halted, commit)?)
}

fn while_halted(case: &Case<'_>, known: &Answered) -> Result<Vec<Violation>, OpsError> {
    let Some(halted) = known.halt.head else { return Ok(Vec::new()) };
    let mut violations = Vec::new();
    for commit in &case.commits {
        if !comes_after(case.repo, halted, commit.id)? {
            continue;
        }
        // Answered at `head`: everything after that is free again.
        let free = match known.ack.as_ref().map(|ack| ack.head) {
            Some(Some(head)) => head != commit.id && !case.repo.is_ancestor(commit.id, head).unwrap_or(false),
            Some(None) => true,
            None => false,
        };
        if !free {
            let message =
                format!("made while the loop was halted by {} at {}", known.halt.rule, halted.short());
            let help = "a person answers the halt where it stands: andon resume --reason \"...\"";
            violations.push(violation(Some(at(commit)), "halted-commit", Level::Block, message, help));
        }
    }
    Ok(violations)
}

/// An answer by deletion that was first seen in an agent's shell: said, so that a person looks at it.
fn by_an_agent(case: &Case<'_>, known: &Answered) -> Result<Option<Violation>, OpsError> {
    let Some(ack) = known.ack.as_ref() else { return Ok(None) };
    let Some(marker) = ack.agent.as_ref().filter(|_| ack.how == AckHow::FileDeleted) else { return Ok(None) };
    let Some(head) = ack.head else { return Ok(None) };
    let concerns = case.commits.iter().any(|commit| commit.id == head)
        || case.commits.iter().try_fold(false, |found, commit| {
            Ok::<_, OpsError>(found || comes_after(case.repo, head, commit.id)?)
        })?;
    if !concerns {
        return Ok(None);
    }
    let message = format!(
        "the halt by {} was answered by deleting {} in the shell of an agent ({marker})",
        known.halt.rule,
        known.halt.face.file_name()
    );
    let help = "a person reads the work since then; guard.ack = \"resume\" closes this way";
    Ok(Some(violation(Some(case.at(head)), "agent-answer", Level::Block, message, help)))
}

/// The rules over the records of the range: a halt that they give and the ledger does not know was removed, or
/// the ledger was not fetched.
fn unrecorded_halts(
    case: &Case<'_>,
    facts: &[CommitFact],
    halts: &[Answered],
    loose: &[Ack],
) -> Vec<Violation> {
    let mut fold = Fold::new(case.config.guard.session_gap);
    let mut violations = Vec::new();
    let answers: Vec<&Ack> = halts.iter().filter_map(|known| known.ack.as_ref()).chain(loose).collect();
    for (at, fact) in facts.iter().enumerate() {
        fold.push(Fact::Commit(Box::new(fact.clone())));
        let situation = Situation {
            timeline: fold.timeline(),
            stage: Stage::Replay,
            candidate: None,
            stops: Stops::NONE,
        };
        let decision = policy::decide(detect::run(&situation, &case.config.rules), None);
        let known = halts.iter().any(|known| known.halt.head.is_some() && known.halt.head == fact.id);
        if decision.verdict == Verdict::Halt && !known && at + 1 < facts.len() {
            let rule = decision.findings.first().map_or("", |finding| finding.rule);
            let message = format!("{rule} halts here, the ledger has no such halt, and the work went on");
            let help = "git fetch origin 'refs/andon/*:refs/andon/*'";
            let place = fact.id.map(|id| case.at(id));
            violations.push(violation(place, "unrecorded-halt", Level::Block, message, help));
        }
        if let Some(ack) = answers.iter().find(|ack| ack.head.is_some() && ack.head == fact.id) {
            fold.push(Fact::Ack(Box::new((*ack).clone())));
        } else if decision.verdict == Verdict::Halt {
            // Said once; the rest of the range is judged by itself.
            fold = Fold::new(case.config.guard.session_gap);
        }
    }
    violations
}
