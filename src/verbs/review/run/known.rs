//! Earlier decisions, what witnesses flagged about the rules, and the status of a witness.

use serde_json::Value;

use crate::json::{ConcernJson, StandingJson};
use andon_core::domain::counted::count;
use andon_core::escape;
use andon_engine::error::OpsError;
use andon_engine::json::RoundPrecedentJson;
use andon_engine::witnessing::{self, SignedLedger};
use andon_engine::workspace::Workspace;
use andon_review::law::{self, VITALITY};
use andon_review::precedents::PrecedentQuery;
use andon_review::similarity::Words;
use andon_review::votes::Vantage;

/// Decisions by tag and words, the newest first.
///
/// # Errors
/// The ledger cannot be read.
pub fn precedents(
    ws: &Workspace,
    tag: Option<&str>,
    words: &[String],
) -> Result<Vec<RoundPrecedentJson>, OpsError> {
    let mut ledger = witnessing::look(ws)?;
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
    let ledger = witnessing::load(ws)?;
    let votes = ledger.folded.state.votes.all.iter();
    let found = votes.filter_map(|vote| {
        let body = &ledger.entries[vote.entry].body;
        let body = body.get("ballot").and_then(Value::as_object).unwrap_or(body);
        let concern = body.get("policy_concern").and_then(Value::as_object)?;
        let say = |name: &str| concern.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = ledger.entries[vote.entry].id.to_string();
        Some(ConcernJson {
            standing: answered(&ledger, &id),
            id,
            by: vote.witness.clone(),
            subject: say("subject"),
            direction: say("direction"),
            rationale: say("rationale"),
        })
    });
    Ok(found.collect())
}

/// What the policies that came into force said of a concern.
fn answered(ledger: &SignedLedger, id: &str) -> &'static str {
    let names = |entry: usize, list: &str| {
        let concerns = ledger.entries[entry].body.get("concerns").and_then(|concerns| concerns.get(list));
        concerns.and_then(Value::as_array).into_iter().flatten().any(|named| named.as_str() == Some(id))
    };
    let chain = &ledger.folded.authority.at_end.chain;
    let said = chain.iter().rev().find_map(|policy| {
        if names(*policy, "accepted") {
            Some("accepted")
        } else {
            names(*policy, "declined").then_some("declined")
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

/// The status of witnesses: one, or all.
///
/// # Errors
/// The ledger cannot be read.
pub fn standing(ws: &Workspace, who: Option<&str>) -> Result<Vec<StandingJson>, OpsError> {
    let ledger = witnessing::look(ws)?.with_policy()?;
    let folded = &ledger.folded;
    let policy = &folded.authority.at_end;
    let state = &folded.state;
    let wanted = |name: &&String| who.is_none_or(|who| who == name.as_str());
    let attention = state.accounts.attention();
    let balances = state.accounts.balances();
    let found = policy.witnesses.iter().filter(wanted).map(|name| {
        let since = policy.reinstated.get(name).map(|policy| folded.graph.place[*policy]);
        let from = Vantage { place: usize::MAX, at: folded.now, since };
        let record = state.votes.standing(&state.rounds, name, from);
        StandingJson {
            witness: name.clone(),
            tier: if policy.is_solo() { "full" } else { record.tier().name() },
            reputation: record.reputation().to_string(),
            votes: record.n,
            overturned: record.o,
            cap_left: policy.rules.cap.saturating_sub(state.votes.spent(name, folded.now)),
            milli_au: attention
                .get(name.as_str())
                .map_or(0, |milli| i64::try_from(*milli).unwrap_or(i64::MAX)),
            cc: balances.get(name.as_str()).map_or(0, |amount| i64::try_from(*amount).unwrap_or(i64::MAX)),
            hasty: state.hasty.iter().filter(|entry| voted(&ledger, **entry, name)).count(),
            captures: state
                .topics
                .by_tag
                .iter()
                .filter(|(_, topic)| topic.on.contains(name))
                .map(|(tag, _)| tag.clone())
                .collect(),
        }
    });
    let found: Vec<StandingJson> = found.collect();
    match (found.is_empty(), who) {
        (true, Some(who)) => Err(OpsError::Usage {
            what: format!("{who} is no witness here"),
            help: "andon witness list".to_owned(),
        }),
        (_, _) => Ok(found),
    }
}

fn voted(ledger: &SignedLedger, entry: usize, who: &str) -> bool {
    ledger.folded.state.votes.by_witness(who).any(|vote| vote.entry == entry)
}

/// The same for people.
pub fn standing_text(found: &[StandingJson]) -> String {
    let mut out = String::new();
    for one in found {
        let au = format!("{}.{:03}", one.milli_au / 1_000, one.milli_au % 1_000);
        let line = format!(
            "{}  {}  reputation {}  {}, {} overturned  {} left today  {au} AU",
            one.witness,
            one.tier,
            one.reputation,
            count(one.votes, "vote"),
            one.overturned,
            one.cap_left
        );
        out.push_str(&escape::terminal(&line));
        out.push('\n');
        if one.hasty > 0 {
            out.push_str(&format!(
                "  {} took less than half of the usual time\n",
                count(one.hasty, "answer")
            ));
        }
        for tag in &one.captures {
            out.push_str(&format!("  decides most of {}: its rounds go to panels\n", escape::terminal(tag)));
        }
    }
    out
}

/// What a witness sees about themselves, and no one else does: whether their decisions have been very alike.
///
/// # Errors
/// The ledger cannot be read.
pub fn private_notice(ws: &Workspace, key: &str) -> Result<Option<&'static str>, OpsError> {
    let ledger = witnessing::look(ws)?;
    let weighed = ledger.who(key).and_then(|who| ledger.folded.state.weighed.get(who));
    let Some(weighed) = weighed else { return Ok(None) };
    let newest: Vec<Vec<f64>> =
        weighed.adjustments.iter().rev().take(VITALITY).map(|vector| vector.to_vec()).collect();
    let low = newest.len() == VITALITY && law::vitality(&newest).is_some_and(|found| found.low);
    Ok(low.then_some("Your decisions have been very alike recently. Would you like to talk to someone?"))
}
