//! Fills the object that a simulation prints.

use std::collections::BTreeSet;

use super::answers::{self, AgreementJson};
use super::output::{
    AccountsJson, CaptureChangeJson, CaptureJson, CollusionJson, ConcernsJson, DetectorsJson, EarnedJson,
    EntryJson, FlagJson, GamingJson, InvalidJson, PanelJson, PolicyJson, PrivateJson, RoundJson, SCHEMA,
    SettlementJson, SimulationJson, TransferJson, WitnessJson,
};
use super::read::Script;
use crate::fold::LedgerState;
use crate::law::{self, VITALITY};
use crate::payload::Payload;
use crate::round::{Panel, RoundState};
use crate::votes::Vantage;

/// Writes what the entries of `script` came to.
pub fn write(script: &Script, folded: &LedgerState, reader: Option<&str>) -> SimulationJson {
    let id = |entry: usize| script.entries[entry].id.clone();
    let graph = &folded.graph;
    let mut invalid: Vec<_> = folded.state.codes.iter().collect();
    invalid.sort_by_key(|(entry, _)| graph.place[**entry]);
    let place = |entry: usize| EntryJson { lamport: graph.lamport[entry], eff: graph.eff[entry] };
    let version = |entry: usize| match &*script.entries[entry].payload {
        Ok(Payload::Policy(policy)) => Some(policy.version),
        Ok(_) | Err(_) => None,
    };
    SimulationJson {
        schema: SCHEMA,
        now: folded.now,
        order: graph.order.iter().map(|entry| id(*entry)).collect(),
        entries: (0..script.entries.len()).map(|entry| (id(entry), place(entry))).collect(),
        invalid: invalid
            .into_iter()
            .map(|(entry, code)| InvalidJson { id: id(*entry), code: code.word() })
            .collect(),
        policy: folded
            .authority
            .at_end
            .policy()
            .and_then(|policy| Some(PolicyJson { id: id(policy), version: version(policy)? })),
        witnesses: folded
            .authority
            .at_end
            .witnesses
            .iter()
            .map(|who| (who.clone(), witness(folded, who)))
            .collect(),
        rounds: folded
            .state
            .rounds
            .iter()
            .map(|state| (id(state.entry), round(script, folded, state)))
            .collect(),
        settlements: settlements(script, folded),
        accounts: accounts(script, folded),
        detectors: detectors(script, folded),
        probes: script.probes.iter().map(|asking| answers::answer(script, folded, asking)).collect(),
        private: reader.map(|who| private(folded, who)),
    }
}

fn witness(folded: &LedgerState, who: &str) -> WitnessJson {
    let policy = &folded.authority.at_end;
    let state = &folded.state;
    let since = policy.reinstated.get(who).map(|policy| folded.graph.place[*policy]);
    let found =
        state.votes.standing(&state.rounds, who, Vantage { place: usize::MAX, at: folded.now, since });
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
        tier: found.tier().name(),
        conv: weights.conv,
        freq: weights.freq,
        align: weights.align,
        total: weights.total(epoch),
        multiplier: law::multiplier(weights.founding, epoch),
        mean: weights.mean,
        prior: weights.prior,
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
        opened_by: panel.cause.name(),
    };
    RoundJson {
        status: state.status().name(),
        triggers: state.triggers.clone(),
        decision: decision.map(|decided| decided.key.clone()),
        decided_by: decision.map(|decided| decided.by.name()),
        decided_at: decision.map(|decided| decided.at),
        depth: decision.map(|decided| decided.depth),
        by: decision.map(|decided| people(&decided.votes)).unwrap_or_default(),
        dissent: decision.map(|decided| people(&decided.dissent)).unwrap_or_default(),
        self_reviewed: decision.is_some_and(|decided| decided.self_reviewed),
        accepted_by: state.accepts.iter().map(|accept| accept.witness.clone()).collect(),
        panel: state.panel.as_ref().map(panel),
        flags: state
            .flags
            .iter()
            .map(|(entry, route)| FlagJson { id: script.entries[*entry].id.clone(), route: route.name() })
            .collect(),
        agreement: state.similarity.map(AgreementJson::from),
    }
}

fn settlements(script: &Script, folded: &LedgerState) -> Vec<SettlementJson> {
    let json = folded.state.settlements.iter().map(|settlement| SettlementJson {
        id: script.entries[settlement.entry].id.clone(),
        witness: settlement.witness.clone(),
        gain: settlement.settled.gain,
        bias_score: settlement.settled.bias,
        penalty: settlement.settled.penalty,
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
        ops: moved
            .into_iter()
            .map(|moved| TransferJson {
                id: id(moved.entry),
                from: moved.from.clone(),
                to: moved.to.clone(),
                amount: moved.amount,
                why: moved.why,
            })
            .collect(),
        au: books
            .earned
            .iter()
            .map(|earned| EarnedJson {
                id: id(earned.entry),
                witness: earned.witness.clone(),
                milli: earned.milli,
            })
            .collect(),
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
        let changes = topic.changes.iter().map(|change| CaptureChangeJson {
            id: id(change.entry),
            witness: change.witness.clone(),
            on: change.on,
        });
        (tag.clone(), CaptureJson { changes: changes.collect(), on: topic.on.clone() })
    });
    let gaming = state.agents.clone().rates(folded.now).into_iter();
    let mut collusion: Vec<_> = state
        .collusions
        .iter()
        .map(|(round, pair)| CollusionJson { round: id(state.rounds[*round].entry), witnesses: pair.clone() })
        .collect();
    collusion.sort();
    let flagged = state.rounds.iter().filter(|round| round.flags.iter().any(|(_, route)| route.has_effect()));
    DetectorsJson {
        fatigue: state.hasty.iter().map(|entry| id(*entry)).collect(),
        capture: capture.collect(),
        gaming: gaming
            .map(|(agent, found)| {
                (agent, GamingJson { rate: found.rate.to_string(), flagged: found.flagged })
            })
            .collect(),
        concerns: state
            .concerns
            .all(folded.now)
            .into_iter()
            .map(|(who, found)| (who, ConcernsJson { answered: found.answered, declined: found.declined }))
            .collect(),
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
