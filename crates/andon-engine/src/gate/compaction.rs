//! The context gate (docs/spec-map.md, loop rules: context compaction gate): how full the context window of an agent
//! is, the briefing for the next session, and the effects when compaction is due.

use crate::effect::{best_effort, files};
use crate::halts::{self, decisions};
use crate::recording::{LoadedTimeline, timeline};
use crate::{Context, Result, Workspace, asking, gate::GateContext, view::ContextWindowView};
use andon_core::detect;
use andon_core::domain::{
    BRIEFING, Briefing, BriefingGround, ContextWindowUse, Decision, Effect, EventClass, HumanDecision, Level,
    Plan, Pressure,
};
use andon_core::policy::{self, HaltPlace};

/// The context window of `node`; without one, of the node that acted last.
pub fn run(ws: &Workspace, node: Option<&str>) -> Result<ContextWindowView> {
    let loaded = timeline::load(ws)?;
    let node = node.unwrap_or_else(|| loaded.timeline.context_window_node());
    let fill = detect::context_use(&loaded.timeline, node, &ws.config.rules);
    let level = detect::CONTEXT_WINDOW.level_in(&ws.config.rules);
    let pressed = fill.as_ref().filter(|found| found.pressure > Pressure::Free && level > Level::Off);
    let finding = pressed.map(|found| {
        let most = match found.pressure {
            Pressure::Free | Pressure::Warning => Level::Warn,
            Pressure::Mandatory => Level::Block,
            Pressure::HardBlock => Level::Halt,
        };
        detect::context_finding(found, level.min(most))
    });
    let written = ws.andon_dir().is_some_and(|dir| dir.size(BRIEFING).is_some());
    let (thresholds, window) = detect::context_limits(&loaded.timeline, node, &ws.config.rules);
    Ok(ContextWindowView {
        node: node.to_owned(),
        fill,
        window,
        thresholds,
        cached: ws.config.cached,
        finding,
        decided: Vec::new(),
        briefed: written,
    })
}

/// The same, with what people decided for the work.
pub fn shown(ws: &Workspace, node: Option<&str>) -> Result<ContextWindowView> {
    let decided = decisions::all(ws, &timeline::load(ws)?.timeline);
    Ok(ContextWindowView { decided, ..run(ws, node)? })
}

/// Writes the briefing now.
pub fn brief(ctx: &Context, ws: &Workspace, node: Option<&str>) -> Result<()> {
    ws.top()?;
    let loaded = timeline::load(ws)?;
    let place = place(ctx, ws)?;
    let node = node.unwrap_or_else(|| loaded.timeline.context_window_node());
    let context = detect::context_use(&loaded.timeline, node, &ws.config.rules);
    let reported = GateContext { ctx, ws, loaded: &loaded }.briefing(&place, context)?;
    Ok(best_effort::write_briefing(&reported, &ws.site(ctx))?)
}

/// The place and time of a decision.
pub(crate) fn place(ctx: &Context, ws: &Workspace) -> Result<HaltPlace> {
    let head = ws.repo.head()?;
    Ok(HaltPlace {
        head: head.commit(),
        branch: head.branch().map(str::to_owned),
        worktree: ws.repo.worktree_name(),
        at: ctx.now,
        client: ctx.actor().client,
    })
}

impl GateContext<'_> {
    /// The fill behind what `context-window` found; `None` where it found nothing.
    pub(super) fn context_window(&self, decision: &Decision) -> Option<ContextWindowUse> {
        let mut told = decision.findings.iter().filter(|finding| finding.level >= Level::Warn);
        let tripped = told.any(|finding| finding.about.event == EventClass::Compaction);
        let timeline = &self.loaded.timeline;
        let used = || detect::context_use(timeline, timeline.context_window_node(), &self.ws.config.rules);
        tripped.then(used).flatten()
    }

    /// The effects when compaction is due.
    pub(super) fn compaction(&self, place: &HaltPlace, found: ContextWindowUse) -> Result<Vec<Effect>> {
        if found.pressure < Pressure::Mandatory {
            return Ok(Vec::new());
        }
        let reported = self.briefing(place, Some(found))?;
        Ok(policy::compaction(&self.loaded.timeline, place, reported, detect::CONTEXT_WINDOW.id))
    }

    fn briefing(&self, place: &HaltPlace, context: Option<ContextWindowUse>) -> Result<Briefing> {
        let Self { ctx, ws, loaded } = *self;
        let standing = halts::unanswered(ctx, ws)?;
        let plan = files::plan(&ws.repo);
        let about = about(loaded, plan.as_ref());
        let ground = BriefingGround {
            decided: decisions::all(ws, &loaded.timeline),
            precedents: asking::nearest(ws, &about),
            plan,
            subject: place.head.and_then(|head| Some(ws.repo.commit(head).ok()?.subject)),
            halt: standing.map(|standing| standing.halt),
            cap: detect::iteration_cap(&ws.config.rules),
            context,
        };
        Ok(policy::briefing(&loaded.timeline, place, ground))
    }
}

/// The subject of the work, in the words of its plan and of its last commit.
fn about(loaded: &LoadedTimeline, plan: Option<&Plan>) -> String {
    let story = loaded.timeline.story();
    let last = story.tried.last().map(|tried| tried.subject.clone());
    let planned = plan.into_iter().flat_map(|plan| plan.title.iter().chain(&plan.open).cloned());
    planned.chain(last).collect::<Vec<String>>().join("\n")
}

/// The decisions that are nearest to what the work is about.
pub fn precedents(ws: &Workspace, loaded: &LoadedTimeline) -> Vec<HumanDecision> {
    asking::nearest(ws, &about(loaded, files::plan(&ws.repo).as_ref()))
}
