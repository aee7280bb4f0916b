//! `andon round`: agents put a question, say what they have to say, and a judge decides or defers. What needs a person
//! becomes one entry of the ledger.
//!
//! Until a round ends its material waits in `<common dir>/andon/rounds/`, a file a round. There is no daemon: every
//! command checks whether a round has expired.

mod evidence;
mod message;
mod pending;
mod trailer;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

pub use self::message::RoundAction;
use self::message::{
    ActionMember, CloseMessage, OpenMessage, RoleMember, RoundName, Speaker, StatementMessage,
};
use self::pending::{MAX_SIGNED, PendingRound, Statement};
use crate::json::RoundAnswerJson;
use andon_core::domain::time::Timestamp;
use andon_core::format::members_of;
use andon_engine::asking::{self, Draft, SignedLedger};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::json::RoundPrecedentJson;
use andon_engine::workspace::Workspace;
use andon_review::payload::fields::Time;
use andon_review::payload::member;
use andon_review::payload::questions::{NamedEvidence, RoundPayload, RoundRequest, Trigger};
use andon_review::precedents::PrecedentQuery;
use andon_store::ledger::EvidenceText;

/// Precedents that a judge is given.
const PRECEDENTS: usize = 8;

/// Takes what an agent says; the answer says whether a person is needed.
///
/// # Errors
/// What is wrong with it.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    action: RoundAction,
    said: &Map<String, Value>,
) -> Result<RoundAnswerJson, OpsError> {
    expire(ctx, ws)?;
    // A round that is over answers every later message with its outcome.
    if action != RoundAction::Open
        && let Some(answer) = over(ws, &read::<RoundName>(said)?.round)?
    {
        return Ok(answer);
    }
    match action {
        RoundAction::Open => open(ctx, ws, said),
        RoundAction::Say => say(ctx, ws, said),
        RoundAction::Verdict => verdict(ctx, ws, said),
        RoundAction::Close => close(ctx, ws, said),
    }
}

fn read<'a, T: Deserialize<'a>>(said: &'a Map<String, Value>) -> Result<T, OpsError> {
    member::read(said).map_err(wrong)
}

/// What a statement looked at.
fn looked(ws: &Workspace, evidence: &[Map<String, Value>]) -> Result<Vec<NamedEvidence>, OpsError> {
    evidence::read(ws, evidence).map_err(|err| wrong(err.below("evidence")))
}

fn wrong(what: impl std::fmt::Display) -> OpsError {
    OpsError::Usage {
        what: what.to_string(),
        help: "docs/review.md has the members of open, say, verdict and close".to_owned(),
    }
}

fn open(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswerJson, OpsError> {
    let ledger = asking::load(ws)?;
    let timeout = ledger.folded.authority.at_end.rules.round_timeout;
    let question: RoundPayload = read(said)?;
    let OpenMessage { precedent_tags, evidence } = read(said)?;
    let expires = question.expires_at.map_or(ctx.now.0.saturating_add(timeout), |Time(at)| at);
    let mut round = PendingRound::open(question, ctx.now.0, expires);
    round.body.evidence.question = looked(ws, &evidence)?;
    // Reported now, and not at its end: the question must be a round.
    let asked = RoundRequest::try_from(round.body.clone()).map_err(wrong)?;
    let question = &round.body.question;
    if question.trim().is_empty() || question.len() > MAX_SIGNED {
        return Err(wrong("question: must not be empty, and have at most 4 KiB"));
    }
    let body = members_of(&round.body);
    ledger.allow(ctx, &Draft { kind: "round", said: &body, evidence: &[], signer: None })?;
    let name = pending::keep_new(ws, &round)?;
    let tags = if precedent_tags.is_empty() { asked.tags } else { precedent_tags };
    Ok(RoundAnswerJson {
        round: name,
        expires_at: Some(Timestamp(expires).to_string()),
        precedents: Some(precedents(&ledger, &tags)),
        ..RoundAnswerJson::default()
    })
}

/// The newest decisions of those topics.
fn precedents(ledger: &SignedLedger, tags: &BTreeSet<String>) -> Vec<RoundPrecedentJson> {
    let all = ledger.folded.precedents(&PrecedentQuery::default()).into_iter();
    let fitting = all.filter(|found| !found.tags.is_disjoint(tags)).take(PRECEDENTS);
    fitting.map(|found| ledger.precedent(found)).collect()
}

fn say(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswerJson, OpsError> {
    let StatementMessage { round, agent, text, evidence } = read(said)?;
    let RoleMember { role } = read(said)?;
    let (name, mut round) = pending::find(ws, &round)?;
    let role = match role {
        Speaker::Proposer => Statement::Claim,
        Speaker::Opposer => Statement::Critique,
    };
    let evidence = looked(ws, &evidence)?;
    round.take(role, (&agent.0, &text.0), ctx.now.0, evidence).map_err(wrong)?;
    pending::keep(ws, &name, &round)?;
    Ok(RoundAnswerJson { round: name, ..RoundAnswerJson::default() })
}

fn verdict(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswerJson, OpsError> {
    let StatementMessage { round, agent, text: judged, evidence } = read(said)?;
    let (agent, judged) = (agent.0, judged.0);
    let (name, mut round) = pending::find(ws, &round)?;
    let evidence = looked(ws, &evidence)?;
    match trailer::parse(&judged) {
        Ok(trailer) => round.judged(&agent, &judged, trailer, ctx.now.0).map_err(wrong)?,
        Err(why) => {
            let failures = round.unreadable(&agent, &judged, ctx.now.0);
            pending::keep(ws, &name, &round)?;
            if failures < 2 {
                return Ok(RoundAnswerJson {
                    round: name,
                    again: true,
                    why: Some(why),
                    ..RoundAnswerJson::default()
                });
            }
        }
    }
    round.body.evidence.verdict = evidence;
    pending::keep(ws, &name, &round)?;
    if triggers(ctx, &round)?.is_empty() {
        return Ok(RoundAnswerJson {
            round: name,
            triggers: Some(BTreeSet::new()),
            ..RoundAnswerJson::default()
        });
    }
    end(ctx, ws, &name, &round)
}

fn close(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswerJson, OpsError> {
    let CloseMessage { round, paid_to } = read(said)?;
    let (name, mut round) = pending::find(ws, &round)?;
    round.body.paid_to = paid_to.or(round.body.paid_to);
    end(ctx, ws, &name, &round)
}

/// Why a person is needed, from what came so far.
fn triggers(ctx: &Context, round: &PendingRound) -> Result<Vec<Trigger>, OpsError> {
    let asked = RoundRequest::try_from(round.body.clone()).map_err(wrong)?;
    Ok(asked.triggers(ctx.now.0, 0).into_iter().collect())
}

/// Writes the one entry of a round.
fn end(ctx: &Context, ws: &Workspace, name: &str, round: &PendingRound) -> Result<RoundAnswerJson, OpsError> {
    let ledger = asking::load(ws)?;
    let body = members_of(&round.body);
    let evidence: Vec<EvidenceText> = round.evidence();
    let draft = Draft { kind: "round", said: &body, evidence: &evidence, signer: None };
    let id = ledger.append(ctx, ws, &draft)?.to_string();
    pending::end(ws, name, round, id.clone())?;
    let answer = became(&asking::load(ws)?, &id)?;
    if answer.needs_person {
        asking::call_people(ctx, ws);
    }
    Ok(answer)
}

/// What a round came to that was closed, or has expired; `None` while it is open.
fn over(ws: &Workspace, name: &str) -> Result<Option<RoundAnswerJson>, OpsError> {
    let (_, round) = pending::find(ws, name)?;
    let Some(entry) = &round.ended else { return Ok(None) };
    let answer = became(&asking::load(ws)?, entry)?;
    if !answer.needs_person {
        return Err(OpsError::Usage {
            what: format!(
                "the round {name} is over: it became entry {} ({})",
                short(entry),
                answer.status.unwrap_or("unknown")
            ),
            help: format!("see it: andon review show {}; open another: andon round open", short(entry)),
        });
    }
    let why = "the round is over: what comes now is not part of it".to_owned();
    Ok(Some(RoundAnswerJson { why: Some(why), ..answer }))
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// The state of the round that is the entry `id`.
fn became(ledger: &SignedLedger, id: &str) -> Result<RoundAnswerJson, OpsError> {
    let at = ledger.find(id)?;
    let state = &ledger.folded.state;
    let found = state.round_at.get(&at).map(|at| &state.rounds[*at]);
    let triggers = found.map(|round| round.triggers.clone());
    let status = found.map(|round| round.status().name());
    Ok(RoundAnswerJson {
        round: id.to_owned(),
        needs_person: status.is_some_and(|status| !["closed", "resolved"].contains(&status)),
        triggers,
        status,
        ..RoundAnswerJson::default()
    })
}

/// Ends the rounds whose time is up, with what came.
///
/// # Errors
/// One cannot be written.
pub fn expire(ctx: &Context, ws: &Workspace) -> Result<Vec<String>, OpsError> {
    let mut ended = Vec::new();
    for (name, round) in pending::all(ws) {
        if round.expires_at < ctx.now.0 {
            ended.push(end(ctx, ws, &name, &round)?.round);
        }
    }
    Ok(ended)
}

/// What a line of `andon observe round` asks for.
///
/// # Errors
/// It names no action.
pub fn action_of(said: &Map<String, Value>) -> Result<RoundAction, OpsError> {
    Ok(read::<ActionMember>(said)?.action)
}
