//! The rules applied to facts as they arrive, one after the other: a halt that was due stays a halt, whatever comes
//! later in the same batch.

use crate::gate::guard::{self, Judged};
use crate::gate::{GateContext, working_tree::WorkingTree};
use crate::recording::{LoadedTimeline, timeline};
use crate::{Context, OpsError, Result, Workspace, halts};
use andon_core::domain::{
    Arguments, Decision, Diagnostic, EventKind, Finding, Level, ReportFile, Stage, StandingHalt, Verdict,
};
use andon_core::history::{EventEffect, Timeline};
use andon_core::{detect, policy, shell_reading::Reading};
use andon_store::JournalLine;

/// Asks the rules after each fact.
///
/// The journal is read once and each event folded on top of that. Where the rules say something new it is read again,
/// and what follows is carried out: halts and notices come at the very fact that they are about.
pub struct RuleFeed<'a> {
    ctx: &'a Context,
    ws: &'a Workspace,
    loaded: Option<LoadedTimeline>,
    /// The findings when the rules were last asked.
    heard: Vec<Key>,
    /// The news since then.
    since: Option<FeedStage>,
    gravest: Option<Decision>,
    warnings: Vec<Diagnostic>,
}

/// Distinguishes one finding from another.
type Key = (&'static str, Level, ReportFile);

/// The stage of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedStage {
    /// At this one.
    At(Stage),
    /// As the newest test run demands: one that came after its commit or turn says what that iteration was.
    OfRun,
}

impl FeedStage {
    fn stage(self, timeline: &Timeline) -> Stage {
        match self {
            Self::At(stage) => stage,
            Self::OfRun if timeline.newest_run == EventEffect::Iteration => Stage::Turn,
            Self::OfRun => Stage::Event,
        }
    }
}

impl<'a> RuleFeed<'a> {
    /// Nothing came in yet.
    pub fn new(ctx: &'a Context, ws: &'a Workspace) -> Self {
        let since = Some(FeedStage::At(Stage::Event));
        Self { ctx, ws, loaded: None, heard: Vec::new(), since, gravest: None, warnings: Vec::new() }
    }

    /// Takes the next fact, which the journal has by now.
    pub fn take(&mut self, line: JournalLine) -> Result<()> {
        let stage = stage(&line);
        self.since = Some(stage);
        match (self.loaded.take(), line) {
            (Some(mut loaded), JournalLine::Event(event)) => {
                loaded.take_in_event(self.ws, event);
                let at = stage.stage(&loaded.timeline);
                let heard = keys(&asked(self.ws, &loaded, at, None).findings);
                self.loaded = Some(loaded);
                if heard == self.heard { Ok(()) } else { self.listen(stage) }
            }
            // Only a whole reading shows the place of a test run among the other facts.
            (_, _) => self.listen(stage),
        }
    }

    /// `line` as it is kept: a call that has its like says which code it left behind. The working tree is looked at nowhere else.
    pub fn looked(&mut self, mut line: JournalLine) -> Result<JournalLine> {
        let JournalLine::Event(event) = &mut line else { return Ok(line) };
        let EventKind::ToolCall(call) = &mut event.what else { return Ok(line) };
        if call.shown.as_deref().is_some_and(|shown| waits(shown, &self.ws.config.waits)) {
            call.args = Arguments::Unknown;
        }
        let is_repeated = |timeline: &Timeline| {
            detect::is_repeated(timeline, &self.ws.config.rules, event.node.as_deref(), call)
        };
        if call.code.is_none() {
            let loaded = match self.loaded.take() {
                Some(loaded) => loaded,
                None => timeline::load(self.ws)?,
            };
            let repeated = is_repeated(&self.loaded.insert(loaded).timeline);
            call.code = repeated.then(|| WorkingTree::look(self.ws).ok()).flatten().map(|tree| tree.code);
        }
        Ok(line)
    }

    /// The gravest decision, and what was odd on the way.
    pub fn end(self) -> Result<Judged> {
        Ok(self.finish()?.0)
    }

    /// The same with the facts behind it, so that they are not read again.
    pub fn finish(mut self) -> Result<(Judged, Option<Timeline>)> {
        if let Some(stage) = self.since {
            self.listen(stage)?;
        }
        let decision = self.gravest.unwrap_or_else(|| policy::decide(Vec::new(), None));
        Ok(((decision, self.warnings), self.loaded.map(|loaded| loaded.timeline)))
    }

    fn listen(&mut self, stage: FeedStage) -> Result<()> {
        let (decision, mut loaded) = decide_with(self.ctx, self.ws, stage, self.loaded.take())?;
        let warnings = std::mem::take(&mut loaded.warnings);
        self.loaded = Some(loaded);
        self.since = None;
        self.heard = keys(&decision.findings);
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.gravest = Some(match self.gravest.take() {
            Some(before) if before.verdict == Verdict::Halt || before.verdict > decision.verdict => before,
            Some(before) if before.verdict == decision.verdict => with(before, decision),
            Some(_) | None => decision,
        });
        Ok(())
    }
}

/// Returns whether a command of a call, by its short form, is one that `agents.waits` names: word by word, where `*` is the rest.
fn waits(shown: &str, named: &[String]) -> bool {
    let asked = shown.split_once(": ").map_or("", |(_, asked)| asked.split(" {").next().unwrap_or(asked));
    let is = |words: &[&str], pattern: &String| {
        let wanted: Vec<&str> = pattern.split_whitespace().collect();
        wanted.strip_suffix(&["*"]).map_or_else(|| words == wanted, |first| words.starts_with(first))
    };
    let read = Reading::parse(asked);
    read.commands().iter().any(|command| named.iter().any(|pattern| is(&command.values(), pattern)))
}

/// Joins two decisions of one verdict; of one rule the newer finding counts.
fn with(before: Decision, mut newer: Decision) -> Decision {
    let is_repeated = |rule: &str| newer.findings.iter().any(|finding| finding.rule == rule);
    let rest: Vec<Finding> =
        before.findings.into_iter().filter(|finding| !is_repeated(finding.rule)).collect();
    newer.findings.extend(rest);
    policy::decide(newer.findings, newer.standing)
}

fn keys(findings: &[Finding]) -> Vec<Key> {
    findings.iter().map(|finding| (finding.rule, finding.level, finding.report_file)).collect()
}

fn stage(line: &JournalLine) -> FeedStage {
    if matches!(line, JournalLine::TestRun(_)) {
        return FeedStage::OfRun;
    }
    let is_turn = matches!(line, JournalLine::Event(event) if matches!(event.what, EventKind::TurnEnd(_)));
    FeedStage::At(if is_turn { Stage::Turn } else { Stage::Event })
}

/// The decision of the rules at `stage` about the loaded timeline, while `standing` may bind.
fn asked(ws: &Workspace, loaded: &LoadedTimeline, stage: Stage, standing: Option<StandingHalt>) -> Decision {
    let decision = guard::decide(ws, loaded, stage, None, standing);
    let stops = guard::decide(ws, loaded, Stage::Halts, None, None);
    policy::decide(decision.findings.into_iter().chain(stops.findings).collect(), decision.standing)
}

/// Acts on the test run that the journal got last, if it tells what the newest iteration was, or is one red run too
/// many within a turn. A halt that is unanswered is said again to an agent: a client without hooks, such as Aider, hands its model nothing
/// but the output of the tests.
pub fn after_run(ctx: &Context, ws: &Workspace) -> Result<Option<Judged>> {
    let loaded = timeline::load(ws)?;
    if loaded.timeline.newest_run != EventEffect::Iteration
        && !detect::halts_within_a_turn(&loaded.timeline, &ws.config.rules)
    {
        let standing = if ctx.actor().is_agent() { halts::unanswered(ctx, ws)? } else { None };
        return Ok(standing.map(|halt| (policy::decide(Vec::new(), Some(halt)), Vec::new())));
    }
    let (decision, loaded) = decide_with(ctx, ws, FeedStage::OfRun, Some(loaded))?;
    Ok(Some((decision, loaded.warnings)))
}

/// Reads the window, asks the rules and carries out what follows.
pub fn decide(ctx: &Context, ws: &Workspace, stage: FeedStage) -> Result<(Decision, LoadedTimeline)> {
    decide_with(ctx, ws, stage, None)
}

/// The same with the window as it was read and folded on: it serves where nothing follows, and is read again where something does.
fn decide_with(
    ctx: &Context,
    ws: &Workspace,
    stage: FeedStage,
    known: Option<LoadedTimeline>,
) -> Result<(Decision, LoadedTimeline)> {
    let resolved = halts::resolve(ctx, ws)?;
    let is_as_it_was = resolved.halt.is_none() && resolved.failed.is_none() && resolved.notes.is_empty();
    let is_quiet =
        |known: &LoadedTimeline| asked(ws, known, stage.stage(&known.timeline), None).verdict < Verdict::Warn;
    let mut loaded = match known.filter(|known| is_as_it_was && is_quiet(known)) {
        Some(known) => known,
        None => timeline::load(ws)?,
    };
    let stage = stage.stage(&loaded.timeline);
    loaded.warnings.extend(resolved.failed.as_ref().map(OpsError::as_warning));
    let mut decision = asked(ws, &loaded, stage, resolved.halt);
    let gate = GateContext { ctx, ws, loaded: &loaded };
    let settled = gate.settle_or_warn(&mut decision)?;
    let told = [gate.noticed(&decision), gate.stop_switches(decision.standing.as_ref(), None)];
    loaded.warnings.extend(settled.into_iter().chain(told.into_iter().flatten()));
    Ok((decision, loaded))
}
