//! Where people and agents stand: reputation, weights, what is left of the day, accounts, and what the detectors say. It is the
//! fold that a simulation shows, of the real ledger.

use super::summary;
use crate::json::{CareJson, StandingJson};
use andon_core::domain::plural::count;
use andon_core::domain::time::Timestamp;
use andon_core::escape;
use andon_engine::asking::{self, SignedLedger};
use andon_engine::error::OpsError;
use andon_engine::text::style::Style;
use andon_engine::workspace::Workspace;
use andon_review::simulation::of_ledger;
use andon_review::simulation::output::{SettlementJson, SimulationJson, WitnessJson};

/// The question of R23.
const ALIKE: &str = "Your decisions have been very alike recently. Would you like to talk to someone?";

/// What is known of witnesses, and of the whole ledger where no one is named.
#[derive(Debug)]
pub struct Standings {
    /// The witnesses.
    pub witnesses: Vec<StandingJson>,
    /// The ledger, where all are asked for.
    pub ledger: Option<SimulationJson>,
}

/// The status of witnesses: one, or all. `reader` is the key of the person at the keyboard: what is private is shown to them
/// alone.
///
/// # Errors
/// The ledger cannot be read.
pub fn standing(ws: &Workspace, who: Option<&str>, reader: Option<&str>) -> Result<Standings, OpsError> {
    let ledger = asking::look(ws)?.with_policy()?;
    let reader = reader.and_then(|key| ledger.who(key)).map(str::to_owned);
    let json = of_ledger(&ledger.review, &ledger.folded, reader.as_deref());
    let wanted = |(name, _): &(&String, &WitnessJson)| who.is_none_or(|who| who == name.as_str());
    let found = json.witnesses.iter().filter(wanted);
    let witnesses: Vec<StandingJson> =
        found.map(|(name, found)| one(&ledger, &json, name, (found, reader.as_deref()))).collect();
    match (witnesses.is_empty(), who) {
        (true, Some(who)) => Err(OpsError::Usage {
            what: format!("{who} is no witness here"),
            help: "andon witness list".to_owned(),
        }),
        (_, _) => Ok(Standings { witnesses, ledger: who.is_none().then_some(json) }),
    }
}

fn one(
    ledger: &SignedLedger,
    json: &SimulationJson,
    name: &str,
    (found, reader): (&WitnessJson, Option<&str>),
) -> StandingJson {
    let is_self = reader == Some(name);
    let hasty = json.detectors.fatigue.iter().filter(|entry| voted(ledger, entry, name)).count();
    let captures = json.detectors.capture.iter().filter(|(_, topic)| topic.on.contains(name));
    let newest = json.settlements.iter().rev().find(|one| one.witness == name && one.bias_score.is_some());
    let costs = |one: &&SettlementJson| is_self && one.penalty.is_some_and(|penalty| penalty.abs() > 0.0);
    let bias = newest.filter(costs).and_then(|one| one.bias_score);
    let private = json.private.as_ref().filter(|_| is_self);
    StandingJson {
        witness: name.to_owned(),
        tier: if ledger.folded.authority.at_end.is_solo() { "full" } else { found.tier },
        reputation: found.reputation.clone(),
        votes: found.n,
        overturned: found.o,
        self_reviewed: found.self_reviewed,
        conv: found.conv,
        align: found.align,
        total: found.total,
        multiplier: found.multiplier,
        cap_left: found.cap_left,
        free_at: ledger.cap_of(name).free_at,
        blocked_until: found.blocked_until.map(Timestamp),
        milli_au: json.accounts.au_milli.get(name).copied().unwrap_or(0),
        cc: json.accounts.cc.get(name).copied().unwrap_or(0),
        hasty,
        captures: captures.map(|(tag, _)| tag.clone()).collect(),
        bias_warning: bias.map(|score| {
            format!(
                "your newest decision was much like those before it (cosine {score:.2}): it costs alignment"
            )
        }),
        care: private.map(|found| CareJson {
            decisions: found.n,
            variance: found.variance,
            notice: found.low.then_some(ALIKE),
        }),
    }
}

fn voted(ledger: &SignedLedger, entry: &str, who: &str) -> bool {
    let votes = ledger.folded.state.votes.by_witness(who);
    votes.into_iter().any(|vote| ledger.review[vote.entry].id == entry)
}

/// The same for people.
pub fn standing_text(found: &Standings, style: Style) -> String {
    let mut out = String::new();
    for one in &found.witnesses {
        out.push_str(&lines(one));
    }
    if let Some(ledger) = &found.ledger {
        out.push_str(&summary::books(ledger, style));
    }
    let care = found.witnesses.iter().find_map(|one| one.care.as_ref()?.notice);
    out + &care.map_or_else(String::new, |notice| format!("\n{notice}\n"))
}

fn lines(one: &StandingJson) -> String {
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
