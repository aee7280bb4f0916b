//! The standing of people and agents: reputation, weights, what is left of the day, accounts, and what the detectors say. It is the
//! fold that a simulation shows, of a file or of the real ledger.

use serde::Serialize;

use super::rounds::headed;
use andon_core::domain::{Hint, Timestamp, plural::count};
use andon_core::escape;
use andon_engine::asking::{self, SignedLedger};
use andon_engine::{OpsError, Result, Workspace, text::Style};
use andon_review::{
    InvalidJson, RoundJson, SettlementJson, SimulationJson, Tier, Transfer, VoteChoice, WithId, WitnessJson,
    payload::fields::names, simulation::of_ledger,
};

/// The status of a witness.
#[derive(Debug, Serialize)]
pub struct Standing {
    witness: String,
    tier: Tier,
    /// The share of votes that no panel overturned, in lowest terms.
    reputation: String,
    /// The number of votes that count.
    votes: u64,
    /// The number of those that were overturned.
    overturned: u64,
    /// Votes on rounds of their own, which count for nothing.
    self_reviewed: usize,
    /// The earnings from loops that went on after their answers, from 0 to 1.
    conv: f64,
    /// The cost of decisions that are all alike, from -1 to 0.
    align: f64,
    /// Both together, with the multiplier, from 0 to 1.
    total: f64,
    /// The multiplier of those who founded the ledger.
    multiplier: f64,
    /// The number of answers left today.
    cap_left: usize,
    /// The time at which one becomes free; `None` where some are left.
    free_at: Option<Timestamp>,
    /// The time until which they may raise no concern.
    blocked_until: Option<Timestamp>,
    /// The attention that they earned, in thousandths.
    milli_au: i64,
    cc: i64,
    /// Answers that took suspiciously little time.
    hasty: usize,
    /// Topics that they decide most of.
    captures: Vec<String>,
    /// A warning that the newest decision was much like those before it: only to themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    bias_warning: Option<String>,
    /// The variety of their newest decisions: only to themselves, who may pass it on to people they trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    care: Option<Care>,
}

/// The figures that a witness sees about themselves, and may pass on.
#[derive(Debug, Serialize)]
pub struct Care {
    /// The number of their decisions so far.
    decisions: usize,
    /// The variance of the newest eight; none under eight.
    variance: Option<f64>,
    /// A question, where they are very alike.
    notice: Option<&'static str>,
}

/// The question that R23 asks.
const ALIKE: &str = "Your decisions have been very alike recently. Would you like to talk to someone?";

/// The standing of witnesses, and of the whole ledger where no one is named.
#[derive(Debug)]
pub struct Standings {
    pub witnesses: Vec<Standing>,
    /// The ledger, where all are asked for.
    pub ledger: Option<SimulationJson>,
}

/// The status of witnesses: one, or all. `reader` is the key of the person at the keyboard: what is private is shown to them
/// alone.
///
/// # Errors
/// The ledger cannot be read.
pub fn standing(ws: &Workspace, who: Option<&str>, reader: Option<&str>) -> Result<Standings> {
    let ledger = asking::look(ws)?.with_policy()?;
    let reader = reader.and_then(|key| ledger.who(key)).map(str::to_owned);
    let json = of_ledger(&ledger.review, &ledger.folded, reader.as_deref());
    let wanted = |(name, _): &(&String, &WitnessJson)| who.is_none_or(|who| who == name.as_str());
    let found = json.witnesses.iter().filter(wanted);
    let witnesses: Vec<Standing> =
        found.map(|(name, found)| one(&ledger, &json, name, found, reader.as_deref())).collect();
    match (witnesses.is_empty(), who) {
        (true, Some(who)) => Err(OpsError::usage(format!("{who} is no witness here"), Hint::ListWitnesses)),
        (_, _) => Ok(Standings { witnesses, ledger: who.is_none().then_some(json) }),
    }
}

fn one(
    ledger: &SignedLedger,
    json: &SimulationJson,
    name: &str,
    found: &WitnessJson,
    reader: Option<&str>,
) -> Standing {
    let is_self = reader == Some(name);
    let hasty = json.detectors.fatigue.iter().filter(|entry| voted(ledger, entry, name)).count();
    let captures = json.detectors.capture.iter().filter(|(_, topic)| topic.on.contains(name));
    let newest = json.settlements.iter().rev().find(|one| one.witness == name && one.settled.bias.is_some());
    let costs =
        |one: &&SettlementJson| is_self && one.settled.penalty.is_some_and(|penalty| penalty.abs() > 0.0);
    let bias = newest.filter(costs).and_then(|one| one.settled.bias);
    let private = json.private.as_ref().filter(|_| is_self);
    Standing {
        witness: name.to_owned(),
        tier: if ledger.folded.authority.at_end.is_solo() { Tier::Full } else { found.tier },
        reputation: found.reputation.clone(),
        votes: found.n,
        overturned: found.o,
        self_reviewed: found.self_reviewed,
        conv: found.weights.conv,
        align: found.weights.align,
        total: found.total,
        multiplier: found.multiplier,
        cap_left: found.cap_left,
        free_at: ledger.cap_of(name).free_at,
        blocked_until: found.blocked_until.map(Timestamp),
        milli_au: json.accounts.au_milli.get(name).copied().unwrap_or(0),
        cc: json.accounts.cc.get(name).copied().unwrap_or(0),
        hasty,
        captures: captures.map(|(tag, _)| tag.clone()).collect(),
        bias_warning: bias.map(|score| format!("your newest decision was much like those before it, most of them {} (cosine {score:.2}): it costs alignment", direction(&found.weights.mean))),
        care: private.map(|found| Care {
            decisions: found.n,
            variance: found.variance,
            notice: found.low.then_some(ALIKE),
        }),
    }
}

/// The decision that a witness leans to.
fn direction(mean: &[f64]) -> VoteChoice {
    let axes = mean.iter().zip(VoteChoice::ALL);
    axes.max_by(|(one, _), (other, _)| one.total_cmp(other)).map_or(VoteChoice::Amend, |(_, choice)| choice)
}

fn voted(ledger: &SignedLedger, entry: &str, who: &str) -> bool {
    let votes = ledger.folded.state.votes.by_witness(who);
    votes.into_iter().any(|vote| ledger.review[vote.entry].id == entry)
}

pub fn standing_text(found: &Standings, style: Style) -> String {
    let mut out = String::new();
    for one in &found.witnesses {
        out.push_str(&witness_lines(one));
    }
    if let Some(ledger) = &found.ledger {
        out.push_str(&accounts(ledger, style, |id| id.chars().take(8).collect()));
    }
    let care = found.witnesses.iter().find_map(|one| one.care.as_ref()?.notice);
    out + &care.map_or_else(String::new, |notice| format!("\n{notice}\n"))
}

fn witness_lines(one: &Standing) -> String {
    let au = format!("{}.{:03}", one.milli_au / 1_000, one.milli_au % 1_000);
    let mut lines = vec![
        format!(
            "{}  {}  reputation {}  {}, {} overturned  {} left today  {au} AU",
            one.witness,
            one.tier,
            one.reputation,
            count(one.votes, "vote"),
            one.overturned,
            one.cap_left
        ),
        format!(
            "  conv {:.3}  align {:.3}  total {:.3} (x{:.2})  {} CC",
            one.conv, one.align, one.total, one.multiplier, one.cc
        ),
    ];
    if let Some(at) = one.free_at {
        lines.push(format!("  at the cap: free at {at}"));
    }
    if let Some(at) = one.blocked_until {
        lines.push(format!("  may raise no concern until {at}: most of theirs were declined"));
    }
    if one.hasty > 0 {
        lines.push(format!("  {} took less than half of the usual time", count(one.hasty, "answer")));
    }
    lines.extend(one.captures.iter().map(|tag| format!("  decides most of {tag}: its rounds go to panels")));
    lines.extend(one.bias_warning.iter().map(|warning| format!("  {warning}")));
    lines.iter().map(|line| format!("{}\n", escape::terminal(line))).collect()
}

/// A table under a heading; nothing for no rows.
fn section(title: &str, rows: &[Vec<String>], style: Style) -> String {
    headed(title, &table(rows), style)
}

/// Policy, rounds, witnesses, accounts, what the detectors say, and what does not count with its reason.
pub fn summary(found: &SimulationJson, style: Style) -> String {
    let policy = match &found.policy {
        Some(policy) => format!("policy {} ({})", policy.version, policy.id),
        None => "no policy in force".to_owned(),
    };
    let head = format!("{policy}, {}, {} invalid", count(found.order.len(), "entry"), found.invalid.len());
    let mut text = escape::terminal(&head).into_owned();
    text.push('\n');
    let rounds: Vec<_> = found.rounds.iter().map(|(id, round)| round_row(id, round)).collect();
    let witnesses: Vec<_> = found.witnesses.iter().map(|(who, witness)| witness_row(who, witness)).collect();
    let row = |entry: &InvalidJson| vec![entry.id.clone(), entry.code.to_string()];
    let invalid: Vec<_> = found.invalid.iter().map(row).collect();
    text.push_str(&section("Rounds", &rounds, style));
    text.push_str(&section("Witnesses", &witnesses, style));
    text.push_str(&accounts(found, style, str::to_owned));
    text.push_str(&section("Invalid", &invalid, style));
    for probe in found.probes.iter().filter_map(|probe| serde_json::to_string(probe).ok()) {
        text.push_str(&format!("\nprobe: {}", escape::terminal(&probe)));
    }
    if let Some(notice) = found.private.as_ref().filter(|notice| notice.low) {
        let who = escape::terminal(&notice.witness).into_owned();
        text.push_str(&format!(
            "\n{who}: your decisions have been very alike recently. Would you like to talk to someone?\n"
        ));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Accounts, what was taken back or fined with the decision that did it, and what the detectors say.
fn accounts(found: &SimulationJson, style: Style, id: fn(&str) -> String) -> String {
    section("Credits", &credits(found), style)
        + &section("Penalties and reversals", &moved(found, id), style)
        + &section("Detectors", &detectors(found, id), style)
}

/// Credits that a decision took from somebody, with its entry.
fn moved(found: &SimulationJson, id: impl Fn(&str) -> String) -> Vec<Vec<String>> {
    let taken =
        found.accounts.ops.iter().filter(|op| ["reverse", "penalty", "penalty_back"].contains(&op.of.why));
    let row = |op: &WithId<Transfer>| {
        let WithId { id: entry, of: Transfer { why, amount, from, to, .. } } = op;
        vec![(*why).to_owned(), format!("{amount} CC"), format!("{from} -> {to}"), id(entry)]
    };
    taken.map(row).collect()
}

fn list<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn round_row(id: &str, round: &RoundJson) -> Vec<String> {
    let because = if round.triggers.is_empty() { "no trigger".to_owned() } else { names(&round.triggers) };
    let decision = match (&round.decision, round.decided_by) {
        (Some(key), Some(how)) => format!("{key} ({how}: {})", list(&round.by)),
        (_, _) => round.panel.as_ref().map_or_else(String::new, |panel| {
            format!("{} of {} on the panel: {}", panel.members.len(), panel.size, list(&panel.members))
        }),
    };
    vec![id.to_owned(), round.status.to_string(), because, decision]
}

fn witness_row(who: &str, witness: &WitnessJson) -> Vec<String> {
    vec![
        who.to_owned(),
        witness.tier.to_string(),
        format!("reputation {}", witness.reputation),
        format!("{}, {} overturned", count(witness.n, "vote"), witness.o),
        format!("total {:.3}", witness.total),
        format!("{} left today", witness.cap_left),
    ]
}

fn credits(found: &SimulationJson) -> Vec<Vec<String>> {
    let cc = found.accounts.cc.iter().map(|(who, amount)| vec![who.clone(), format!("{amount} CC")]);
    let au = found.accounts.au_milli.iter();
    cc.chain(au.map(|(who, milli)| vec![who.clone(), format!("{}.{:03} AU", milli / 1_000, milli % 1_000)]))
        .collect()
}

fn detectors(found: &SimulationJson, id: impl Fn(&str) -> String) -> Vec<Vec<String>> {
    let detectors = &found.detectors;
    let row = |name: &str, what: String| vec![name.to_owned(), what];
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !detectors.fatigue.is_empty() {
        let hasty: Vec<String> = detectors.fatigue.iter().map(|entry| id(entry)).collect();
        rows.push(row("fatigue", list(&hasty)));
    }
    let held = detectors.capture.iter().filter(|(_, tag)| !tag.on.is_empty());
    rows.extend(held.map(|(name, tag)| row("capture", format!("{name}: {}", list(&tag.on)))));
    let gaming = detectors.gaming.iter().filter(|(_, agent)| agent.flagged);
    rows.extend(gaming.map(|(name, agent)| row("gaming", format!("{name}: {}", agent.rate))));
    let collusion = detectors.collusion.iter();
    rows.extend(
        collusion.map(|found| row("collusion", format!("{}: {}", id(&found.round), list(&found.witnesses)))),
    );
    let cascade = detectors.cascade.iter();
    rows.extend(cascade.map(|(round, depth)| row("cascade", format!("{}: depth {depth}", id(round)))));
    rows
}

/// Rows with their columns lined up. Names and ids are strangers' texts.
fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| escape::terminal(cell).into_owned()).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| escape::width(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let line: String = cells
            .map(|(cell, width)| format!("  {cell}{}", " ".repeat(width - escape::width(cell))))
            .collect();
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_is_the_axis_that_most_is_given_to() {
        assert_eq!(direction(&[-0.2, 0.3, -0.1, 0.1, -0.1]), VoteChoice::AcceptProposer);
        assert_eq!(direction(&[-0.2, -0.3, -0.1, -0.1, 0.7]), VoteChoice::RejectRound);
    }
}
