//! What people signed about a round, read back as they signed it: each vote with all its members, its present standing, and
//! what was flagged.

use serde_json::{Map, Value};

use super::rounds::state;
use crate::json::{FlagShownJson, VoteShownJson};
use andon_core::domain::plural::count;
use andon_core::domain::time::Timestamp;
use andon_core::escape;
use andon_engine::text::style::Style;
use andon_engine::witnessing::SignedLedger;
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
            // A ballot that stands in a larger panel has the standing that it has there.
            found.retain(|earlier| earlier.entry != shown.entry);
            found.push(shown);
        }
    }
    found
}

fn shown(ledger: &SignedLedger, round: &RoundState, vote: usize, standing: &'static str) -> VoteShownJson {
    let vote = &ledger.folded.state.votes.all[vote];
    VoteShownJson {
        entry: ledger.entries[vote.entry].id.to_string(),
        witness: vote.witness.clone(),
        at: Timestamp(vote.at),
        standing,
        words: ledger.words(round.entry, vote.entry),
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
        reason: ledger.text(*at, "reason").unwrap_or_default(),
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
    let say = |name: &str| vote.said.get(name).and_then(Value::as_str);
    let decision = say("decision").unwrap_or("?");
    let seconds = vote.said.get("time_spent_seconds").and_then(Value::as_u64);
    let took = seconds.map_or_else(String::new, |seconds| format!(", after {}", count(seconds, "second")));
    let standing = if vote.standing == "current" { String::new() } else { format!("  [{}]", vote.standing) };
    let head = format!("  {decision} by {}, {}{took}{standing}", vote.witness, vote.at);
    let mut out = format!("{}\n", escape::terminal(&head));
    if let Some(words) = &vote.words {
        out.push_str("    to do:\n");
        out.push_str(&block("      ", words));
    }
    out.push_str("    why:\n");
    out.push_str(&block("      ", say("rationale").unwrap_or_default()));
    for line in details(&vote.said).iter().chain(&vote.given) {
        out.push_str(&format!("    {}\n", escape::terminal(line)));
    }
    out
}

/// Everything else that was signed, a line each.
fn details(said: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    let within =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    for check in said.get("factual_checks").and_then(Value::as_array).into_iter().flatten() {
        let evidence = Some(within(check, "evidence")).filter(|text| !text.is_empty());
        let evidence = evidence.map_or_else(String::new, |text| format!(" (evidence: {text})"));
        lines.push(format!("checked, {}: {}{evidence}", within(check, "verdict"), within(check, "claim")));
    }
    if let Some(found) = said.get("sycophancy_assessment") {
        let detected = found.get("detected").and_then(Value::as_bool) == Some(true);
        let what = if detected { "detected" } else { "not detected" };
        lines.push(format!("sycophancy {what}: {}", within(found, "rationale")));
    }
    if let Some(strongest) = said.get("strongest") {
        for (name, title) in [("claim", "strongest claim"), ("critique", "strongest critique")] {
            let text = within(strongest, name);
            if !text.is_empty() {
                lines.push(format!("{title}: {text}"));
            }
        }
    }
    if let Some(agent) = said.get("attributed_to").and_then(Value::as_str) {
        lines.push(format!("attributed to: {agent}"));
    }
    if let Some(concern) = said.get("policy_concern") {
        let (subject, direction) = (within(concern, "subject"), within(concern, "direction"));
        lines.push(format!("concern: {subject} {direction}: {}", within(concern, "rationale")));
    }
    let tags = said.get("tags").and_then(Value::as_array).into_iter().flatten();
    let tags: Vec<&str> = tags.filter_map(Value::as_str).collect();
    if !tags.is_empty() {
        lines.push(format!("tags: {}", tags.join(", ")));
    }
    lines
}

fn block(indent: &str, text: &str) -> String {
    escape::terminal_block(text).lines().map(|line| format!("{indent}{line}\n")).collect()
}
