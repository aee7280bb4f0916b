//! A commit that is refused for untested code is an attempt: kept in the journal when its code is new, and counted.

use super::context::Context;
use super::error::OpsError;
use super::guard;
use super::timeline::Loaded;
use super::workspace::Workspace;
use crate::detect;
use crate::domain::about::DirtyBit;
use crate::domain::decision::{Decision, Stage};
use crate::domain::events::{CommitRefused, Event, What};
use crate::domain::facts::Fact;
use crate::domain::findings::Level;
use crate::domain::ids::TreeId;
use crate::history::{Fold, Timeline};
use crate::policy;
use crate::store::fingerprint::Fingerprinter;
use crate::store::journal::{Journal, JournalLine};

/// The decision with what the refusals so far come to, this one included. Changes nothing where the tree is not refused
/// for untested code.
///
/// # Errors
/// The tree cannot be read.
pub fn count(
    ctx: &Context,
    ws: &Workspace,
    loaded: &mut Loaded,
    decision: Decision,
    tree: TreeId,
) -> Result<Decision, OpsError> {
    let untested = decision
        .findings
        .iter()
        .find(|finding| finding.level >= Level::Block && finding.about.dirty == Some(DirtyBit::TestsRun));
    let Some(rule) = untested.map(|finding| finding.rule.to_owned()) else { return Ok(decision) };
    let code = Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_tree(tree)?;
    if loaded.timeline.activity.refusals.is_new(code) {
        let actor = ctx.actor();
        let event = Box::new(Event {
            at: Some(ctx.now),
            uptime: ctx.uptime(),
            node: actor.node,
            session: actor.session,
            id: None,
            trace: None,
            what: What::Refused(CommitRefused { code, tree: Some(tree), rule }),
        });
        // Refused it is, whether or not that can be kept.
        let kept = Journal::open(ws.repo.git_dir()).append(&JournalLine::Event(event.clone()));
        loaded.warnings.extend(kept.map_err(OpsError::from).err().as_ref().map(OpsError::as_warning));
        let before = std::mem::replace(&mut loaded.timeline, Timeline::new(ws.config.guard.session_gap));
        let mut fold = Fold::on(before);
        fold.push(Fact::Event(event));
        loaded.timeline = fold.into_timeline();
    }
    let Decision { mut findings, standing, .. } = decision;
    let counted = guard::asked(ws, loaded, Stage::Event, None);
    findings.extend(counted.into_iter().filter(|finding| finding.rule == detect::REFUSED_COMMITS.id));
    Ok(policy::decide(findings, standing))
}
