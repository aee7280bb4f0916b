//! `andon advise`: the unanswered halt, whom to ask and which provider goes on; and the advisor's new approach,
//! recorded as an answer.

use std::path::PathBuf;

use crate::verbs::advise::view::ProviderAdvice;
use andon_core::detect;
use andon_core::domain::context::Pressure;
use andon_core::domain::facts::AckHow;
use andon_core::domain::response::OnStall;
use andon_core::policy;
use andon_engine::context::Context;
use andon_engine::effect::best_effort::{self, ANSWER, QUESTION};
use andon_engine::error::OpsError;
use andon_engine::gate::fallback;
use andon_engine::halts::ResumeReport;
use andon_engine::halts::{self, Answer};
use andon_engine::recording::timeline::{self, LoadedTimeline};
use andon_engine::workspace::Workspace;

/// What can be advised now. `current` is the provider at work; without one, the first of the chain.
pub fn run(ctx: &Context, ws: &Workspace, current: Option<&str>) -> Result<ProviderAdvice, OpsError> {
    let response = &ws.config.response;
    let standing = halts::binding(ws)?;
    let halt = standing.map(|standing| standing.halt);
    let loaded = timeline::load(ws)?;
    let event = halt.as_ref().map(|halt| detect::about(&halt.rule).event);
    let conditions = policy::conditions(&loaded.timeline, event, pressure(ws, &loaded));
    if let Some(name) = current.filter(|name| !response.providers.iter().any(|one| one.name == *name)) {
        return Err(OpsError::Usage {
            what: format!("no such provider in [fallback]: {name}"),
            help: "andon config show fallback".to_owned(),
        });
    }
    let current = current.or_else(|| fallback::current(&loaded));
    let next = policy::next_provider(&response.providers, current, &conditions).cloned();
    let current =
        current.map(str::to_owned).or_else(|| response.providers.first().map(|one| one.name.clone()));
    let asked = halt.is_some() && there(ws, QUESTION).is_some();
    Ok(ProviderAdvice {
        deadlock: halt.as_ref().zip(event).and_then(|(halt, event)| policy::deadlock_of(halt, event)),
        policy: response.on_stall,
        starts: matches!(response.on_stall, OnStall::SpawnReviewer | OnStall::RetryWithNewProvider)
            .then(|| response.on_stall_program.is_some()),
        conditions,
        current,
        next,
        question: asked.then(|| format!(".andon/{QUESTION}")),
        answer: best_effort::answer_to(&ws.site(ctx), halt.as_ref()).map(|_| format!(".andon/{ANSWER}")),
        halt,
    })
}

/// What the fill of the window of the node that acted last leads to.
fn pressure(ws: &Workspace, loaded: &LoadedTimeline) -> Pressure {
    let node = loaded.timeline.context_window_node();
    detect::context_use(&loaded.timeline, node, &ws.config.rules)
        .map_or(Pressure::Free, |found| found.pressure)
}

fn there(ws: &Workspace, name: &str) -> Option<PathBuf> {
    let dir = ws.andon_dir()?;
    dir.size(name).map(|_| dir.path().join(name))
}

/// Records the advisor's new approach as the answer to the halt. Only what the program of `[advisor]` said about this
/// very halt counts: a halted agent cannot advise itself.
pub fn record(ctx: &Context, ws: &Workspace) -> Result<ResumeReport, OpsError> {
    let Some(halt) = halts::binding(ws)? else { return Err(OpsError::NothingToResume) };
    let none = |why: &str| OpsError::NoAdvice(why.to_owned());
    let response = &ws.config.response;
    let reviewer = response.on_stall_program.as_ref().filter(|_| response.on_stall == OnStall::SpawnReviewer);
    let (whose, Some(advisor)) = (match (&response.advisor, reviewer) {
        (Some(advisor), _) => ("advisor", Some(advisor)),
        (None, reviewer) => ("reviewer", reviewer),
    }) else {
        return Err(none("your configuration names no [advisor]"));
    };
    let Some(answer) = best_effort::answer_to(&ws.site(ctx), Some(&halt.halt)) else {
        return Err(none("the advisor has not answered this halt, or its answer was edited"));
    };
    let name = advisor.argv.first().map_or("", String::as_str);
    let (prompt, short) = (answer.trim(), answer.trim().chars().take(1000).collect::<String>());
    let reason = format!("new approach by the {whose} {name}: {short}");
    let answer = Answer { halt: Some(&halt), words: Some(prompt), ..Answer::default() };
    halts::acknowledge(ctx, ws, answer, AckHow::Resume, &reason)?;
    Ok(ResumeReport {
        halt: Some(halt),
        by: format!("the {whose} {name}, recorded by {}", ctx.committer(&ws.repo)),
    })
}
