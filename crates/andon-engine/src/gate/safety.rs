//! Safety events that no record and no ledger entry shows go into the journal: refusals of a gate, skipped rules, and
//! findings within a turn. Each is written once: an agent that tries the same commit over and over must not push the
//! facts out of the reach of the readers.

use crate::{Context, OpsError, Result, Workspace, gate::GateContext, halts, recording::LoadedTimeline};
use andon_core::detect::{self, Stops};
use andon_core::domain::{
    CommitRefused, Decision, Diagnostic, DirtyBit, Event, EventKind, Figures, Finding, HaltReason,
    LedgerEvent, Level, SafetyFact, SafetyKind, Skip, StandingHalt, StopSwitch, SwitchMove, TreeId, Verdict,
};
use andon_core::policy::{self, Completion, DirtyBits};
use andon_store::{Journal, JournalLine, Ledger};

/// Safety events about a loaded timeline. An event that cannot be written changes no decision: it is a warning.
impl GateContext<'_> {
    /// Reports a refusal by an unanswered halt, or by the findings that refuse it. `kind` tells a commit, a push or a
    /// completion, `tree` that of the commit or of the tip that was to be pushed.
    pub(crate) fn refused(
        &self,
        decision: &Decision,
        kind: SafetyKind,
        tree: Option<TreeId>,
    ) -> Option<Diagnostic> {
        let standing = decision.standing.iter().map(|found| SafetyFact {
            figures: found.halt.figures.clone(),
            ..self.fact(&found.halt.rule, Level::Halt, &found.halt.message)
        });
        let found = decision.findings.iter().filter(|finding| finding.level >= Level::Block);
        let facts = standing.chain(found.map(|finding| self.of_finding(finding)));
        let facts = facts.map(|fact| SafetyFact { kind, tree, ..fact }).collect();
        (decision.verdict >= Verdict::Block).then(|| self.tell(facts)).flatten()
    }

    /// Reports a task that may not be called done: by what refuses it, else by the rule of the dirty bit that is in the way.
    pub(crate) fn incomplete(&self, decision: &Decision, bits: &DirtyBits) -> Option<Diagnostic> {
        let kind = SafetyKind::RefusedCompletion;
        if decision.verdict >= Verdict::Block {
            return self.refused(decision, kind, None);
        }
        let Completion::Dirty { bit, message, prompt } = bits.completion() else { return None };
        let rule = detect::REGISTRY.iter().find(|rule| rule.about.dirty == Some(bit))?;
        let reported = self.fact(rule.id, Level::Block, &format!("{message}; {prompt}"));
        self.tell(vec![SafetyFact { kind, figures: bits.figures(), ..reported }])
    }

    /// Reports skipped rules.
    pub(crate) fn skipped(&self, skipped: &[Skip], tree: TreeId) -> Option<Diagnostic> {
        // A reason in the message is not known yet; the record will hold it.
        let facts = skipped.iter().filter(|skip| !skip.reason.is_empty()).map(|skip| SafetyFact {
            kind: SafetyKind::Skipped,
            tree: Some(tree),
            agent: skip.agent.clone(),
            ..self.fact(&skip.rule, Level::Warn, &skip.reason)
        });
        self.tell(facts.collect())
    }

    /// Reports findings within a turn that halt nothing; halts are in the ledger.
    pub(crate) fn noticed(&self, decision: &Decision) -> Option<Diagnostic> {
        let warned =
            decision.findings.iter().filter(|finding| matches!(finding.level, Level::Warn | Level::Block));
        // A finding that has grown graver behind a halt has no ledger entry of its own.
        let facts = warned.chain(policy::graver(decision)).map(|finding| self.of_finding(finding));
        let facts = facts.map(|fact| SafetyFact { kind: SafetyKind::Noticed, ..fact });
        // Counts in a message grow with every event: the rule and its level are written once between two commits.
        let same = |reported: &SafetyFact, fact: &SafetyFact| {
            reported.kind == fact.kind && reported.rule == fact.rule && reported.level == fact.level
        };
        let known = &self.loaded.journal.safety;
        self.tell(facts.filter(|fact| !known.iter().any(|reported| same(reported, fact))).collect())
    }

    /// Reports STOP or PAUSE that was set or lifted while a halt with another reason was unanswered: that halt is the one
    /// to answer, so the ledger gets an entry of its own for this (`andon check` shows it elsewhere too). `reason` is the
    /// one given to `andon stop`.
    pub fn stop_switches(&self, standing: Option<&StandingHalt>, reason: Option<&str>) -> Option<Diagnostic> {
        let Self { ctx, ws, loaded } = self;
        standing.filter(|found| found.halt.reason != HaltReason::UserStop)?;
        let answered = loaded.journal.acks.last().map(|(ack, _)| ack.at);
        let since = loaded.journal.safety.iter().filter(|fact| fact.at > answered);
        let newest = since.rev().find(|fact| matches!(fact.kind, SafetyKind::Pulled | SafetyKind::Lifted));
        let was = newest.is_some_and(|fact| fact.kind == SafetyKind::Pulled);
        let there = halts::stops::by_people(ws) != Stops::NONE;
        let (moved, kind) = match (was, there) {
            (false, true) => (SwitchMove::Pulled, SafetyKind::Pulled),
            (true, false) => (SwitchMove::Lifted, SafetyKind::Lifted),
            (true, true) | (false, false) => return None,
        };
        let message = match (moved, reason) {
            (SwitchMove::Pulled, Some(reason)) => format!("STOP or PAUSE was pulled: {reason}"),
            (SwitchMove::Pulled, None) => "STOP or PAUSE was pulled".to_owned(),
            (SwitchMove::Lifted, _) => "STOP or PAUSE was lifted".to_owned(),
        };
        let reported = SafetyFact { kind, ..self.fact(detect::USER_STOP.id, Level::Halt, &message) };
        let switch = StopSwitch {
            moved,
            message,
            by: ctx.committer(&ws.repo),
            agent: reported.agent.clone(),
            head: ws.repo.head().ok().and_then(|head| head.commit()),
            worktree: ws.repo.worktree_name(),
            at: ctx.now,
        };
        let kept = Ledger::open(&ws.repo).append(&LedgerEvent::StopSwitch(Box::new(switch)), ctx.now);
        let failed = kept.map_err(|error| OpsError::from(error).as_warning()).err();
        failed.or(self.tell(vec![reported]))
    }

    fn of_finding(&self, finding: &Finding) -> SafetyFact {
        let figures = finding.detail.figures.clone();
        SafetyFact { figures, ..self.fact(finding.rule, finding.level, &finding.message()) }
    }

    fn fact(&self, rule: &str, level: Level, message: &str) -> SafetyFact {
        SafetyFact {
            kind: SafetyKind::Refused,
            at: Some(self.ctx.now),
            rule: rule.to_owned(),
            level,
            message: message.to_owned(),
            figures: Figures::Unreported,
            tree: None,
            agent: self.ctx.actor().marker.map(str::to_owned),
        }
    }

    fn tell(&self, facts: Vec<SafetyFact>) -> Option<Diagnostic> {
        let journal = Journal::open(self.ws.repo.git_dir());
        let moves = |fact: &SafetyFact| matches!(fact.kind, SafetyKind::Pulled | SafetyKind::Lifted);
        let reported = &self.loaded.journal.safety;
        let is_known = |fact: &SafetyFact| reported.iter().any(|reported| reported.repeats(fact));
        let new = facts.into_iter().filter(|fact| moves(fact) || !is_known(fact));
        let written = new.map(|fact| journal.append(&JournalLine::Safety(Box::new(fact))));
        let failed = written.collect::<Result<(), _>>().err()?;
        Some(OpsError::from(failed).as_warning())
    }
}

/// Keeps that the tree was refused for untested code, and counts it in the timeline. Says whether it was refused for that.
///
/// # Errors
/// The tree cannot be read.
pub(crate) fn keep_refusal(
    ctx: &Context,
    ws: &Workspace,
    loaded: &mut LoadedTimeline,
    decision: &Decision,
    tree: TreeId,
) -> Result<bool> {
    let mut blocking = decision.findings.iter().filter(|finding| finding.level >= Level::Block);
    let untested = blocking.find(|finding| finding.about.dirty == Some(DirtyBit::TestsRun));
    let Some(rule) = untested.map(|finding| finding.rule.to_owned()) else { return Ok(false) };
    let code = ws.fingerprinter().of_tree(tree)?;
    if loaded.timeline.activity.refusals.is_new(code) {
        let actor = ctx.actor();
        let event = Box::new(Event {
            at: Some(ctx.now),
            uptime: ctx.uptime(),
            node: actor.node,
            session: actor.session,
            id: None,
            trace: None,
            what: EventKind::Refused(CommitRefused { code, tree: Some(tree), rule }),
        });
        // Refused it is, whether or not that can be kept.
        let kept = Journal::open(ws.repo.git_dir()).append(&JournalLine::Event(event.clone()));
        loaded.warnings.extend(kept.map_err(OpsError::from).err().as_ref().map(OpsError::as_warning));
        loaded.take_in_event(ws, event);
    }
    Ok(true)
}
