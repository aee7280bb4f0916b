//! The documents that programs of the user get: handoffs, notices, stalls.

use serde_json::{Value, json};

use andon_core::domain::{EscalationMode, Handoff, Notice, Start};

/// A handoff to a person: `andon/handoff@1`.
pub fn handoff(found: &Handoff) -> Value {
    let Handoff { signals, halt, episode, story } = found;
    let tried = story.tried.iter().map(|tried| {
        json!({
            "iteration": tried.iteration,
            "commit": tried.commit,
            "subject": tried.subject,
            "failing": tried.failing,
        })
    });
    json!({
        "schema": "andon/handoff@1",
        "reason": "uncertainty_escalation",
        "signals": signals,
        "consecutive": episode.consecutive,
        "halts": episode.mode == EscalationMode::Halting,
        "halt": halt,
        "best": story.best.map(|(commit, failing)| json!({ "commit": commit, "failing": failing })),
        "failing_now": story.failing_now,
        "tried": tried.collect::<Vec<_>>(),
    })
}

/// A line of `.andon/NOTICES.jsonl`, and what a notifying program gets: `andon/notice@1` in these words.
pub fn notice(notice: &Notice, message: &str) -> Value {
    json!({
        "schema": "andon/notice@1",
        "type": notice.kind.as_str(),
        "rule": notice.rule,
        "message": message,
        "episode": notice.episode,
        "branch": notice.branch,
        "worktree": notice.worktree,
        "at": notice.at,
    })
}

/// Returns the input of a program of `[on_stall]`: `andon/stall@1`.
pub fn stall(start: &Start) -> Value {
    json!({
        "schema": "andon/stall@1",
        "policy": start.policy.as_str(),
        "provider": start.provider.as_ref().map(|provider| &provider.name),
        "halt": start.halt,
    })
}
