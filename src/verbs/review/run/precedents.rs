//! Earlier decisions, and what witnesses flagged about the rules.

use crate::json::ConcernJson;
use andon_core::escape;
use andon_engine::asking::{self, SignedLedger};
use andon_engine::error::OpsError;
use andon_engine::json::RoundPrecedentJson;
use andon_engine::workspace::Workspace;
use andon_review::payload::Payload;
use andon_review::precedents::PrecedentQuery;
use andon_review::similarity::Words;

/// Decisions by tag and words, the newest first.
///
/// # Errors
/// The ledger cannot be read.
pub fn precedents(
    ws: &Workspace,
    tag: Option<&str>,
    words: &[String],
) -> Result<Vec<RoundPrecedentJson>, OpsError> {
    let mut ledger = asking::look(ws)?;
    let text = (!words.is_empty()).then(|| Words::new(&words.join(" ")));
    let query = PrecedentQuery { tag: tag.map(str::to_owned), text };
    let found = ledger.folded.precedents(&query);
    ledger.fetch_decided(&ws.repo, &found);
    Ok(found.into_iter().map(|found| ledger.precedent(found)).collect())
}

/// The same for people.
pub fn precedents_text(found: &[RoundPrecedentJson]) -> String {
    let mut out = String::new();
    for one in found {
        let id: String = one.round.chars().take(8).collect();
        let head = format!("{id}  {} ({}) by {}", one.decision, one.standing, one.by.join(", "));
        let question = one.question.lines().next().unwrap_or_default();
        let words = one.words.as_ref().map(|words| format!("  decided: {words}"));
        let lines =
            [Some(head), Some(format!("  {question}")), words, Some(format!("  why: {}", one.rationale))];
        for line in lines.into_iter().flatten() {
            out.push_str(escape::terminal(&line).trim_end());
            out.push('\n');
        }
    }
    out
}

/// What witnesses flagged about the rules.
///
/// # Errors
/// The ledger cannot be read.
pub fn concerns(ws: &Workspace) -> Result<Vec<ConcernJson>, OpsError> {
    let ledger = asking::load(ws)?;
    let votes = ledger.folded.state.votes.all.iter();
    let found = votes.filter_map(|vote| {
        let concern = ledger.voted(vote.entry)?.policy_concern?;
        let id = ledger.entries[vote.entry].id.to_string();
        Some(ConcernJson {
            standing: answered(&ledger, &id),
            id,
            by: vote.witness.clone(),
            subject: concern.subject.0,
            direction: concern.direction.to_string(),
            rationale: concern.rationale.0,
        })
    });
    Ok(found.collect())
}

/// What the policies that came into force said of a concern.
fn answered(ledger: &SignedLedger, id: &str) -> &'static str {
    let chain = ledger.folded.authority.at_end.chain.iter().rev();
    let mut policies = chain.filter_map(|entry| match &*ledger.review[*entry].payload {
        Ok(Payload::Policy(policy)) => Some(&policy.concerns),
        Ok(_) | Err(_) => None,
    });
    let names = |list: &[String]| list.iter().any(|named| named == id);
    let said = policies.find_map(|concerns| {
        if names(&concerns.accepted) {
            Some("accepted")
        } else {
            names(&concerns.declined).then_some("declined")
        }
    });
    said.unwrap_or("open")
}

/// The same for people.
pub fn concerns_text(found: &[ConcernJson]) -> String {
    let mut out = String::new();
    for one in found {
        let id: String = one.id.chars().take(8).collect();
        let line = format!(
            "{id}  {}  {} {} by {}: {}",
            one.standing, one.subject, one.direction, one.by, one.rationale
        );
        out.push_str(&escape::terminal(&line));
        out.push('\n');
    }
    out
}
