//! Votes on a panel: first a commitment, then, when all have committed, the vote. No member sees the draft of another.

use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::act::{ActReport, AnswerSource, Now, Responder, acted, answer, keep};
use super::rounds;
use andon_core::domain::ids::Digest;
use andon_core::format::members_of;
use andon_engine::asking::{self, Draft, EntryStatement};
use andon_engine::context::Context;
use andon_engine::effect;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_git::read_plain;
use andon_review::payload::acts::{BallotCommit, RevealPayload, commitment};
use andon_review::payload::vote::VotePayload;
use andon_signing::PublicKey;

/// Largest ballot that is read, in bytes.
const MAX_BALLOT: u64 = 1 << 20;

/// Where the ballot of a member waits to be revealed: readable by its owner alone. Several members may vote in one clone, each
/// with a key of their own.
fn waiting(ws: &Workspace, round: &str, key: &PublicKey) -> PathBuf {
    let key = Digest(Sha256::digest(key.to_string().as_bytes()).into()).to_string();
    let key: String = key.chars().take(16).collect();
    ballots(ws).join(format!("{round}-{key}.json"))
}

fn ballots(ws: &Workspace) -> PathBuf {
    ws.repo.git_dir().join("andon").join("ballots")
}

/// Commits to a vote.
///
/// # Errors
/// What is wrong with it, or the rule that forbids it.
pub fn ballot(
    ctx: &Context,
    ws: &Workspace,
    round: &str,
    given: AnswerSource<'_>,
) -> Result<ActReport, OpsError> {
    asking::not_an_agent(ctx, "review ballot")?;
    let ledger = asking::load(ws)?.with_policy()?;
    let at = rounds::find(ws, &ledger, round)?;
    let id = ledger.entries[at].id.to_string();
    let signer = asking::signer(ctx, ws)?;
    ledger.below_cap(&signer)?;
    let took_time = matches!(given, AnswerSource::Editor);
    let answering = Responder { ledger: &ledger, at, signer: &signer, verb: "ballot" };
    let (answer, text) = answer(ctx, ws, answering, given)?;
    let vote = members_of(&VotePayload { given: Some(asking::given(ctx)), ..answer.vote });
    let mut nonce = Digest([0; 32]);
    getrandom::fill(&mut nonce.0).map_err(|err| OpsError::Input(std::io::Error::other(err.to_string())))?;
    let commitment = commitment(nonce, &vote).ok_or_else(|| OpsError::Usage {
        what: "the ballot has no canonical form".to_owned(),
        help: "numbers must be whole, and at most 2^53".to_owned(),
    })?;
    let body = members_of(&BallotCommit { round: id.clone(), commitment });
    let draft = Draft { kind: "ballot-commit", said: &body, evidence: &[], signer: Some(&signer) };
    let now = Now::new(ctx, ws, took_time).inspect_err(|_| keep(ws, text.as_deref()))?;
    let (ctx, ledger) = now.as_ref().map_or((ctx, &ledger), |now| (&now.ctx, &now.ledger));
    ledger.allow(ctx, &draft).inspect_err(|_| keep(ws, text.as_deref()))?;
    // Kept before it is committed to: without it the seat would be lost.
    let path = waiting(ws, &id, signer.public());
    std::fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(OpsError::Input)?;
    let kept = RevealPayload { round: id.clone(), nonce, ballot: vote };
    effect::replace_text(&path, &Value::Object(members_of(&kept)).to_string())?;
    let entry = ledger.append(ctx, ws, &draft)?;
    acted(ws, entry, &id)
}

/// Opens the vote that was committed to here.
///
/// # Errors
/// None was, or it is too early.
pub fn reveal(ctx: &Context, ws: &Workspace, round: &str) -> Result<ActReport, OpsError> {
    asking::not_an_agent(ctx, "review reveal")?;
    let ledger = asking::load(ws)?.with_policy()?;
    let at = rounds::find(ws, &ledger, round)?;
    let id = ledger.entries[at].id.to_string();
    let signer = asking::signer(ctx, ws)?;
    let path = waiting(ws, &id, signer.public());
    // Earlier versions kept one for each round.
    let path = if path.exists() { path } else { ballots(ws).join(format!("{id}.json")) };
    let missing = || OpsError::Usage {
        what: format!("no ballot of this key for round {} waits in this clone", ledger.short(at)),
        help: "reveal from the clone in which it was committed; without its nonce it cannot be revealed"
            .to_owned(),
    };
    let bytes = read_plain(&path, MAX_BALLOT).ok().flatten().ok_or_else(missing)?;
    let mut body: EntryStatement = serde_json::from_slice(&bytes).map_err(|_| missing())?;
    body.insert("round".to_owned(), Value::String(id.clone()));
    let draft = Draft { kind: "ballot-reveal", said: &body, evidence: &[], signer: Some(&signer) };
    let entry = ledger.append(ctx, ws, &draft)?;
    let _gone = std::fs::remove_file(path);
    acted(ws, entry, &id)
}
