//! The one object that a simulation prints.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::Script;
use super::probes::{self, ProbeAnswer};
use crate::law::{self, VITALITY};
use crate::{
    Adjustment, AgentRate, Answers, CaptureChange, Code, DecidedBy, Earnings, LedgerState, Panel, PanelCause,
    Payload, RoundState, RoundStatus, SettlementResult, Similarity, Tier, Transfer, Trigger, Weights,
};

/// The format of the output, in its `schema` member.
pub const SCHEMA: &str = "andon/simulation@1";

/// The same of a real ledger.
pub const LEDGER_SCHEMA: &str = "andon/review-ledger@1";

/// The output of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulationJson {
    pub schema: &'static str,
    pub now: i64,
    pub order: Vec<String>,
    pub entries: BTreeMap<String, Value>,
    pub invalid: Vec<InvalidJson>,
    pub policy: Option<PolicyJson>,
    pub witnesses: BTreeMap<String, WitnessJson>,
    pub rounds: BTreeMap<String, RoundJson>,
    pub settlements: Vec<SettlementJson>,
    pub accounts: AccountsJson,
    pub detectors: DetectorsJson,
    pub probes: Vec<ProbeAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateJson>,
}

/// An entry that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InvalidJson {
    pub id: String,
    pub code: Code,
}

/// The policy in force at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyJson {
    pub id: String,
    pub version: i64,
}

/// A witness as of now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WitnessJson {
    pub n: u64,
    pub o: u64,
    pub reputation: String,
    pub reputation_f: f64,
    pub tier: Tier,
    #[serde(flatten)]
    pub weights: Weights,
    pub total: f64,
    pub multiplier: f64,
    pub cap_left: usize,
    pub self_reviewed: usize,
    pub blocked_until: Option<i64>,
}

/// A round as of now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundJson {
    pub status: RoundStatus,
    pub triggers: BTreeSet<Trigger>,
    pub decision: Option<String>,
    pub decided_by: Option<DecidedBy>,
    pub decided_at: Option<i64>,
    pub depth: Option<u8>,
    pub by: BTreeSet<String>,
    pub dissent: BTreeSet<String>,
    pub self_reviewed: bool,
    pub accepted_by: Vec<String>,
    pub panel: Option<PanelJson>,
    pub flags: Vec<Value>,
    pub agreement: Option<Similarity>,
}

/// The newest panel of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PanelJson {
    pub size: usize,
    pub members: Vec<String>,
    pub opened_by: PanelCause,
}

/// The effect of an entry on a witness's weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettlementJson {
    pub id: String,
    pub witness: String,
    #[serde(flatten)]
    pub settled: SettlementResult,
    pub adjustment: Option<Adjustment>,
    pub h0: Option<f64>,
    pub h1: Option<f64>,
    pub converged: Option<bool>,
}

/// Something with the id of the entry that caused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WithId<T> {
    pub id: String,
    #[serde(flatten)]
    pub of: T,
}

/// The accounts of all parties, as they are printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AccountsJson {
    pub cc: BTreeMap<String, i64>,
    pub cc_total: i64,
    pub ops: Vec<WithId<Transfer>>,
    pub au: Vec<WithId<Earnings>>,
    pub au_milli: BTreeMap<String, i64>,
}

/// The findings of the detectors of H.7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DetectorsJson {
    pub fatigue: Vec<String>,
    pub capture: BTreeMap<String, CaptureJson>,
    pub gaming: BTreeMap<String, AgentRate>,
    pub concerns: BTreeMap<String, Answers>,
    pub cascade: BTreeMap<String, u8>,
    pub collusion: Vec<CollusionJson>,
}

/// The witnesses who held a tag, and those who hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptureJson {
    pub changes: Vec<WithId<CaptureChange>>,
    pub on: BTreeSet<String>,
}

/// Two members of a panel who wrote the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CollusionJson {
    pub round: String,
    pub witnesses: [String; 2],
}

/// The figures that are shown only to the witness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrivateJson {
    pub witness: String,
    pub n: usize,
    pub variance: Option<f64>,
    pub low: bool,
}

/// Writes what the entries of `script` came to.
pub fn write(script: &Script, folded: &LedgerState, reader: Option<&str>) -> SimulationJson {
    let id = |entry: usize| script.entries[entry].id.clone();
    let (graph, state, at_end) = (&folded.graph, &folded.state, &folded.authority.at_end);
    let mut invalid: Vec<_> = state.codes.iter().collect();
    invalid.sort_by_key(|(entry, _)| graph.place[**entry]);
    let invalid = invalid.into_iter().map(|(entry, code)| InvalidJson { id: id(*entry), code: *code });
    let place = |entry: usize| json!({"lamport": graph.lamport[entry], "eff": graph.eff[entry]});
    let version = |entry: usize| match &*script.entries[entry].payload {
        Ok(Payload::Policy(policy)) => Some(policy.version),
        Ok(_) | Err(_) => None,
    };
    SimulationJson {
        schema: SCHEMA,
        now: folded.now,
        order: graph.order.iter().map(|entry| id(*entry)).collect(),
        entries: (0..script.entries.len()).map(|entry| (id(entry), place(entry))).collect(),
        invalid: invalid.collect(),
        policy: at_end
            .policy()
            .and_then(|entry| Some(PolicyJson { id: id(entry), version: version(entry)? })),
        witnesses: at_end.witnesses.iter().map(|who| (who.clone(), witness(folded, who))).collect(),
        rounds: state.rounds.iter().map(|one| (id(one.entry), round(script, folded, one))).collect(),
        settlements: settlements(script, folded),
        accounts: accounts(script, folded),
        detectors: detectors(script, folded),
        probes: script.probes.iter().map(|asking| probes::answer(script, folded, asking)).collect(),
        private: reader.map(|who| private(folded, who)),
    }
}

fn witness(folded: &LedgerState, who: &str) -> WitnessJson {
    let policy = &folded.authority.at_end;
    let state = &folded.state;
    let found = folded.track_record(who);
    let weights = folded.weights(who);
    let epoch = folded.epoch();
    let reputation = found.reputation();
    #[allow(clippy::cast_precision_loss, reason = "counts of entries")]
    let reputation_f = *reputation.numer() as f64 / *reputation.denom() as f64;
    WitnessJson {
        n: found.n,
        o: found.o,
        reputation: reputation.to_string(),
        reputation_f,
        tier: found.tier(),
        total: weights.total(epoch),
        multiplier: law::multiplier(weights.founding, epoch),
        weights,
        cap_left: policy.rules.cap.saturating_sub(state.votes.spent(who, folded.now)),
        self_reviewed: state.votes.by_witness(who).filter(|vote| vote.self_reviewed).count(),
        blocked_until: state.concerns.blocked_until(who, folded.now),
    }
}

fn round(script: &Script, folded: &LedgerState, state: &RoundState) -> RoundJson {
    let decision = state.decision();
    let people = |votes: &[usize]| {
        votes.iter().map(|vote| folded.state.votes.all[*vote].witness.clone()).collect::<BTreeSet<_>>()
    };
    let panel = |panel: &Panel| PanelJson {
        size: panel.size,
        members: panel.seats.iter().map(|seat| seat.witness.clone()).collect(),
        opened_by: panel.cause,
    };
    let flag = |(entry, route): &(usize, _)| json!({"id": script.entries[*entry].id, "route": route});
    RoundJson {
        status: state.status(),
        triggers: state.triggers.clone(),
        decision: decision.map(|decided| decided.key.clone()),
        decided_by: decision.map(|decided| decided.by),
        decided_at: decision.map(|decided| decided.at),
        depth: decision.map(|decided| decided.depth),
        by: decision.map(|decided| people(&decided.votes)).unwrap_or_default(),
        dissent: decision.map(|decided| people(&decided.dissent)).unwrap_or_default(),
        self_reviewed: decision.is_some_and(|decided| decided.self_reviewed),
        accepted_by: state.accepts.iter().map(|accept| accept.witness.clone()).collect(),
        panel: state.panel.as_ref().map(panel),
        flags: state.flags.iter().map(flag).collect(),
        agreement: state.similarity,
    }
}

fn settlements(script: &Script, folded: &LedgerState) -> Vec<SettlementJson> {
    let json = folded.state.settlements.iter().map(|settlement| SettlementJson {
        id: script.entries[settlement.entry].id.clone(),
        witness: settlement.witness.clone(),
        settled: settlement.settled,
        adjustment: settlement.adjustment,
        h0: settlement.course.map(|course| course.h0),
        h1: settlement.course.and_then(|course| course.h1),
        converged: settlement.course.map(|course| course.converged),
    });
    json.collect()
}

fn accounts(script: &Script, folded: &LedgerState) -> AccountsJson {
    let id = |entry: usize| script.entries[entry].id.clone();
    let books = &folded.state.accounts;
    let mut moved: Vec<_> = books.transfers.iter().collect();
    moved.sort_by_key(|transfer| transfer.place);
    let balances = books.balances();
    AccountsJson {
        cc_total: whole(balances.values().sum()),
        cc: balances.into_iter().map(|(who, amount)| (who.to_owned(), whole(amount))).collect(),
        ops: moved.into_iter().map(|moved| WithId { id: id(moved.entry), of: moved.clone() }).collect(),
        au: books.earned.iter().map(|one| WithId { id: id(one.entry), of: one.clone() }).collect(),
        au_milli: books.attention().into_iter().map(|(who, milli)| (who.to_owned(), whole(milli))).collect(),
    }
}

/// JSON has no greater numbers; no honest ledger comes near.
fn whole(number: i128) -> i64 {
    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
}

fn detectors(script: &Script, folded: &LedgerState) -> DetectorsJson {
    let id = |entry: usize| script.entries[entry].id.clone();
    let state = &folded.state;
    let capture = state.topics.by_tag.iter().map(|(tag, topic)| {
        let changes = topic.changes.iter().map(|one| WithId { id: id(one.entry), of: one.clone() });
        (tag.clone(), CaptureJson { changes: changes.collect(), on: topic.on.clone() })
    });
    let collusion =
        state.collusions.iter().map(|(round, pair)| (id(state.rounds[*round].entry), pair.clone()));
    let mut collusion: Vec<_> =
        collusion.map(|(round, witnesses)| CollusionJson { round, witnesses }).collect();
    collusion.sort();
    let flagged = state.rounds.iter().filter(|round| round.flags.iter().any(|(_, route)| route.has_effect()));
    DetectorsJson {
        fatigue: state.hasty.iter().map(|entry| id(*entry)).collect(),
        capture: capture.collect(),
        gaming: state.agents.clone().rates(folded.now),
        concerns: state.concerns.all(folded.now),
        cascade: flagged
            .map(|round| (id(round.entry), round.decision().map_or(0, |decided| decided.depth)))
            .collect(),
        collusion,
    }
}

fn private(folded: &LedgerState, who: &str) -> PrivateJson {
    let all = folded.state.weighed.get(who).map(|weighed| weighed.adjustments.as_slice()).unwrap_or_default();
    let newest: Vec<Vec<f64>> = all.iter().rev().take(VITALITY).map(|vector| vector.to_vec()).collect();
    let found = law::vitality(&newest).filter(|_| newest.len() == VITALITY);
    PrivateJson {
        witness: who.to_owned(),
        n: all.len(),
        variance: found.map(|found| found.variance),
        low: found.is_some_and(|found| found.low),
    }
}
