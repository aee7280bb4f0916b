//! What programs of the user get: handoffs, notices, stalls.

use serde::Serialize;

use super::halt::HaltJson;
use andon_core::domain::decision::TriedLine;
use andon_core::domain::escalation::EscalationMode;
use andon_core::domain::ids::CommitId;
use andon_core::domain::response::{Handoff, Notice, Start};
use andon_core::domain::time::Timestamp;

/// A handoff to a person: `andon/handoff@1`.
#[derive(Debug, Serialize)]
pub struct HandoffJson<'a> {
    schema: &'static str,
    reason: &'static str,
    signals: &'a [&'static str],
    consecutive: u64,
    halts: bool,
    halt: HaltJson<'a>,
    best: Option<BestJson>,
    failing_now: &'a [String],
    tried: Vec<TriedJson<'a>>,
}

#[derive(Debug, Serialize)]
struct BestJson {
    commit: CommitId,
    failing: u64,
}

#[derive(Debug, Serialize)]
struct TriedJson<'a> {
    iteration: u64,
    commit: Option<CommitId>,
    subject: &'a str,
    failing: Option<u64>,
}

impl<'a> From<&'a Handoff> for HandoffJson<'a> {
    fn from(handoff: &'a Handoff) -> Self {
        let Handoff { signals, halt, episode, story } = handoff;
        let tried = |tried: &'a TriedLine| TriedJson {
            iteration: tried.iteration,
            commit: tried.commit,
            subject: &tried.subject,
            failing: tried.failing,
        };
        Self {
            schema: "andon/handoff@1",
            reason: "uncertainty_escalation",
            signals,
            consecutive: episode.consecutive,
            halts: episode.mode == EscalationMode::Halting,
            halt: HaltJson::from(halt),
            best: story.best.map(|(commit, failing)| BestJson { commit, failing }),
            failing_now: &story.failing_now,
            tried: story.tried.iter().map(tried).collect(),
        }
    }
}

/// A line of `.andon/NOTICES.jsonl`, and what a notifying program gets: `andon/notice@1`.
#[derive(Debug, Serialize)]
pub struct NoticeJson<'a> {
    schema: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    rule: &'a str,
    message: &'a str,
    episode: &'a str,
    branch: Option<&'a str>,
    worktree: &'a str,
    at: Timestamp,
}

impl<'a> NoticeJson<'a> {
    /// A notice in these words.
    pub fn new(notice: &'a Notice, message: &'a str) -> Self {
        Self {
            schema: "andon/notice@1",
            kind: notice.kind.as_str(),
            rule: &notice.rule,
            message,
            episode: &notice.episode,
            branch: notice.branch.as_deref(),
            worktree: &notice.worktree,
            at: notice.at,
        }
    }
}

/// What a program of `[on_stall]` gets: `andon/stall@1`.
#[derive(Debug, Serialize)]
pub struct StallJson<'a> {
    schema: &'static str,
    policy: &'static str,
    provider: Option<&'a str>,
    halt: HaltJson<'a>,
}

impl<'a> From<&'a Start> for StallJson<'a> {
    fn from(start: &'a Start) -> Self {
        Self {
            schema: "andon/stall@1",
            policy: start.policy.as_str(),
            provider: start.provider.as_ref().map(|provider| provider.name.as_str()),
            halt: HaltJson::from(&start.halt),
        }
    }
}
