//! What is watched, for a program: `andon/watch@1`.

use crate::json::{
    TestsJson, WatchJson, WatchedBranchJson, WatchedContextWindowJson, WatchedLoopJson, WatchedRunJson,
    WorktreeJson,
};
use crate::report::json;
use crate::view::watch::{AnswerBy, LoopView, Need, WatchLine, WatchView, WorktreeState, WorktreeView};
use andon_core::domain::context::ContextWindowUse;
use andon_engine::json::HaltJson;

/// The view for a program. The order is that of the text: what needs a person first.
pub fn json(view: &WatchView) -> WatchJson<'_> {
    let ordered = view.ordered();
    let worktrees = ordered.iter().filter_map(|one| match one {
        WatchLine::Worktree(worktree) => Some(worktree_json(worktree, one.need())),
        WatchLine::Elsewhere(_) | WatchLine::Branch(_) | WatchLine::Round(_) => None,
    });
    let branches = view
        .branches
        .iter()
        .map(|branch| WatchedBranchJson { branch: &branch.name, found: loop_json(&branch.found) });
    WatchJson {
        schema: "andon/watch@1",
        at: view.at,
        worktrees: worktrees.collect(),
        elsewhere: view.elsewhere.iter().map(HaltJson::from).collect(),
        branches: branches.collect(),
        rounds: &view.rounds,
        warnings: json::diagnostics(&view.warnings),
    }
}

fn worktree_json(worktree: &WorktreeView, need: Need) -> WorktreeJson<'_> {
    let (state, error, found) = match &worktree.seen {
        WorktreeState::Loop(found) => (found.state.as_str(), None, Some(loop_json(found))),
        WorktreeState::Away => ("away", None, None),
        WorktreeState::Unreadable(why) => ("unreadable", Some(why.as_str()), None),
    };
    WorktreeJson {
        worktree: &worktree.name,
        path: &worktree.path,
        state,
        needs_person: need == Need::Person,
        error,
        found,
    }
}

fn loop_json(found: &LoopView) -> WatchedLoopJson<'_> {
    WatchedLoopJson {
        badge: found.badge(),
        iteration: found.iteration,
        cap: found.cap,
        head: found.head,
        branch: found.branch.as_deref(),
        node: &found.node,
        halt: found.halt.as_ref().map(|halt| HaltJson::from(&halt.standing)),
        answer: found.halt.as_ref().map(|halt| match halt.answer {
            AnswerBy::Resume => "resume",
            AnswerBy::Signature => "signature",
        }),
        trend: &found.trend,
        last_run: found.tests.as_ref().map(|run| WatchedRunJson {
            at: run.at,
            validity: run.validity,
            run: TestsJson::from(&run.evidence),
        }),
        context: found.context.as_ref().map(|context| WatchedContextWindowJson {
            node: &context.node,
            used: context.used,
            window: context.window,
            percent: ContextWindowUse::percent(context),
            threshold: context.pressure.as_str(),
        }),
        last_at: found.last_at,
        hooks_gone: found.hooks_gone.as_ref(),
        warnings: json::diagnostics(&found.warnings),
    }
}
