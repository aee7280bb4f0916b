//! Safety events that no record and no ledger entry tells of go into the journal: what a gate refused, what was passed
//! over, what was said within a turn. Told once: an agent that tries the same commit over and over must not push the
//! facts out of the reach of the readers.

use super::context::Context;
use super::error::OpsError;
use super::timeline::Loaded;
use super::workspace::Workspace;
use crate::domain::decision::{Decision, Verdict};
use crate::domain::facts::Skip;
use crate::domain::findings::Level;
use crate::domain::ids::TreeId;
use crate::domain::safety::{SafetyFact, SafetyKind};
use crate::record::journal::{Journal, JournalLine};
use crate::report::message::Diagnostic;

/// Tells of a commit that was refused: by a halt that stands, or by the findings that refuse it.
pub(super) fn refused(
    (ctx, ws): (&Context, &Workspace),
    loaded: &Loaded,
    decision: &Decision,
    tree: Option<TreeId>,
) -> Option<Diagnostic> {
    let fact = |rule: &str, level, message: &str| SafetyFact { tree, ..fact(ctx, (rule, level), message) };
    let standing =
        decision.standing.iter().map(|found| fact(&found.halt.rule, Level::Halt, &found.halt.message));
    let found = decision.findings.iter().filter(|finding| finding.level >= Level::Block);
    let found = found.map(|finding| fact(finding.rule, finding.level, &finding.message));
    let facts: Vec<SafetyFact> = standing.chain(found).collect();
    (decision.verdict >= Verdict::Block).then(|| tell(ws, loaded, facts)).flatten()
}

/// Tells of rules that were passed over.
pub(super) fn skipped(
    (ctx, ws): (&Context, &Workspace),
    loaded: &Loaded,
    skipped: &[Skip],
    tree: TreeId,
) -> Option<Diagnostic> {
    // A reason that stands in the message is not known yet; the record will tell it.
    let facts = skipped.iter().filter(|skip| !skip.reason.is_empty()).map(|skip| SafetyFact {
        kind: SafetyKind::Skipped,
        tree: Some(tree),
        agent: skip.agent.clone(),
        ..fact(ctx, (&skip.rule, Level::Warn), &skip.reason)
    });
    tell(ws, loaded, facts.collect())
}

/// Tells of what was said within a turn and halts nothing; the ledger tells of halts.
pub(super) fn noticed(
    (ctx, ws): (&Context, &Workspace),
    loaded: &Loaded,
    decision: &Decision,
) -> Option<Diagnostic> {
    let said = decision.findings.iter().filter(|finding| matches!(finding.level, Level::Warn | Level::Block));
    let facts = said.map(|finding| SafetyFact {
        kind: SafetyKind::Noticed,
        ..fact(ctx, (finding.rule, finding.level), &finding.message)
    });
    // Counts in a message grow with every event: the rule and its level are told once between two commits.
    let new = |fact: &SafetyFact| {
        let same =
            |told: &&SafetyFact| told.kind == fact.kind && told.rule == fact.rule && told.level == fact.level;
        !loaded.told.safety.iter().any(|told| same(&told))
    };
    tell(ws, loaded, facts.filter(new).collect())
}

/// Tells of a cord that was pulled while a halt stood: that halt is the one that is answered, so the ledger has no other.
pub(super) fn pulled(
    (ctx, ws): (&Context, &Workspace),
    loaded: &Loaded,
    message: &str,
) -> Option<Diagnostic> {
    let fact = SafetyFact { kind: SafetyKind::Pulled, ..fact(ctx, ("user-stop", Level::Halt), message) };
    tell(ws, loaded, vec![fact])
}

fn fact(ctx: &Context, (rule, level): (&str, Level), message: &str) -> SafetyFact {
    SafetyFact {
        kind: SafetyKind::Refused,
        at: Some(ctx.now),
        rule: rule.to_owned(),
        level,
        message: message.to_owned(),
        tree: None,
        agent: ctx.actor().marker.map(str::to_owned),
    }
}

/// What cannot be told changes no decision: it is said.
fn tell(ws: &Workspace, loaded: &Loaded, facts: Vec<SafetyFact>) -> Option<Diagnostic> {
    let journal = Journal::open(ws.repo.git_dir());
    let new = facts.into_iter().filter(|fact| !loaded.told.safety.iter().any(|told| told.repeats(fact)));
    let told = new.map(|fact| journal.append(&JournalLine::Safety(Box::new(fact))));
    let failed = told.collect::<Result<(), _>>().err()?;
    Some(OpsError::from(failed).as_warning())
}
