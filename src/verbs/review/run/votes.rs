//! What people signed about a round, read back as they signed it: each vote with all its members, its present standing, and
//! what was flagged.

use super::rounds::state;
use crate::json::{FlagShownJson, VoteShownJson};
use andon_core::domain::plural::count;
use andon_core::domain::time::Timestamp;
use andon_core::escape;
use andon_engine::asking::SignedLedger;
use andon_engine::text::style::Style;
use andon_review::payload::acts::RoundObjection;
use andon_review::payload::fields::SignedText;
use andon_review::payload::member::read;
use andon_review::payload::vote::{PolicyConcern, StrongestClaims, VotePayload};
use andon_review::round::RoundState;

/// The votes on a round that count or counted, oldest first, each once. Those of a panel that has not decided are not shown.
pub fn votes(ledger: &SignedLedger, entry: usize) -> Vec<VoteShownJson> {
    let Some(round) = state(ledger, entry) else { return Vec::new() };
    let mut found: Vec<VoteShownJson> = Vec::new();
    let newest = round.decision();
    for decided in &round.decisions {
        let standing = match newest {
            Some(newest) if newest.entry == decided.entry => "current",
            Some(newest) if newest.key == decided.key => "upheld",
            Some(_) | None => "overturned",
        };
        let all = decided.votes.iter().map(|vote| (vote, standing));
        for (vote, standing) in all.chain(decided.dissent.iter().map(|vote| (vote, "dissent"))) {
            let shown = shown(ledger, round, *vote, standing);
            // A ballot that counts in a larger panel has the standing that it has there.
            found.retain(|earlier| earlier.entry != shown.entry);
            found.push(shown);
        }
    }
    found
}

fn shown(ledger: &SignedLedger, round: &RoundState, vote: usize, standing: &'static str) -> VoteShownJson {
    let vote = &ledger.folded.state.votes.all[vote];
    let said = ledger.voted(vote.entry);
    VoteShownJson {
        entry: ledger.entries[vote.entry].id.to_string(),
        witness: vote.witness.clone(),
        at: Timestamp(vote.at),
        standing,
        words: said.and_then(|said| ledger.words(round.entry, &said)),
        given: ledger.given(vote.entry),
        said: ledger.vote(vote.entry).clone(),
    }
}

/// What was flagged, oldest first.
pub fn flags(ledger: &SignedLedger, entry: usize) -> Vec<FlagShownJson> {
    let Some(round) = state(ledger, entry) else { return Vec::new() };
    let one = |(at, route): &(usize, andon_review::round::FlagRoute)| FlagShownJson {
        entry: ledger.entries[*at].id.to_string(),
        by: signer(ledger, *at),
        at: Timestamp(ledger.folded.graph.eff[*at]),
        reason: ledger.said(*at).map(|said: RoundObjection| said.reason.0).unwrap_or_default(),
        route: route.name(),
    };
    round.flags.iter().map(one).collect()
}

fn signer(ledger: &SignedLedger, at: usize) -> String {
    let key = ledger.review[at].signer.as_deref();
    key.and_then(|key| ledger.who(key)).unwrap_or("a key that is known no more").to_owned()
}

/// The same for people.
pub fn text(votes: &[VoteShownJson], flags: &[FlagShownJson], style: Style) -> String {
    let mut out = String::new();
    if !votes.is_empty() {
        out.push_str(&format!("\n{}\n", style.bold("Decided")));
        for vote in votes {
            out.push_str(&one(vote));
        }
    }
    if !flags.is_empty() {
        out.push_str(&format!("\n{}\n", style.bold("Flagged")));
        for flag in flags {
            let by = escape::terminal(&flag.by);
            out.push_str(&format!("  by {by}, {} ({})\n", flag.at, flag.route));
            out.push_str(&block("    ", &flag.reason));
        }
    }
    out
}

fn one(vote: &VoteShownJson) -> String {
    let Ok(said) = read::<VotePayload>(&vote.said) else { return String::new() };
    let (decision, seconds) = (said.decision, said.time_spent_seconds.get().unsigned_abs());
    let took = format!(", after {}", count(seconds, "second"));
    let standing = if vote.standing == "current" { String::new() } else { format!("  [{}]", vote.standing) };
    let head = format!("  {decision} by {}, {}{took}{standing}", vote.witness, vote.at);
    let mut out = format!("{}\n", escape::terminal(&head));
    if let Some(words) = &vote.words {
        out.push_str("    to do:\n");
        out.push_str(&block("      ", words));
    }
    out.push_str("    why:\n");
    out.push_str(&block("      ", &said.rationale.0));
    for line in details(&said).iter().chain(&vote.given) {
        out.push_str(&format!("    {}\n", escape::terminal(line)));
    }
    out
}

/// Everything else that was signed, a line each.
fn details(said: &VotePayload) -> Vec<String> {
    let mut lines = Vec::new();
    let there = |text: &Option<SignedText>| text.clone().map(|text| text.0).filter(|text| !text.is_empty());
    for check in &said.factual_checks {
        let evidence = there(&check.evidence).map(|text| format!(" (evidence: {text})")).unwrap_or_default();
        lines.push(format!("checked, {}: {}{evidence}", check.verdict, check.claim.0));
    }
    if let Some(found) = &said.sycophancy_assessment {
        let what = if found.detected { "detected" } else { "not detected" };
        lines.push(format!("sycophancy {what}: {}", found.rationale.0));
    }
    if let Some(StrongestClaims { claim, critique }) = &said.strongest {
        lines.extend(there(claim).map(|text| format!("strongest claim: {text}")));
        lines.extend(there(critique).map(|text| format!("strongest critique: {text}")));
    }
    lines.extend(said.attributed_to.as_ref().map(|agent| format!("attributed to: {agent}")));
    if let Some(PolicyConcern { subject, rationale, direction }) = &said.policy_concern {
        lines.push(format!("concern: {} {direction}: {}", subject.0, rationale.0));
    }
    if !said.tags.is_empty() {
        lines.push(format!("tags: {}", said.tags.join(", ")));
    }
    lines
}

fn block(indent: &str, text: &str) -> String {
    escape::terminal_block(text).lines().map(|line| format!("{indent}{line}\n")).collect()
}
