//! The rounds that wait for people, and the calls for them.

use serde::{Deserialize, Serialize};

use super::{CapLeft, SignedLedger, memory::List};
use crate::{Context, Result, Workspace, effect, halts};
use andon_core::domain::{Diagnostic, Effect, EntryId, Hint, Notice, NoticeKind, Timestamp, plural::count};
use andon_review::{RoundState, RoundStatus, Tier};

/// Seats of the smallest panel.
const PANEL: usize = 3;
/// Characters of a question in a message.
const QUESTION: usize = 200;

/// A round that waits for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingRound {
    /// The id of the round.
    pub id: String,
    /// The state of the round, as `andon review` names it.
    pub status: String,
    /// The reasons for which a person is needed.
    pub triggers: Vec<String>,
    /// The question that is put.
    pub question: String,
    /// The time at which it was put.
    pub since: Timestamp,
    /// The witnesses who may take it now.
    pub may_answer: Vec<String>,
    /// The caps of those, and of those who have reached theirs.
    pub caps: Vec<CapLeft>,
    /// Witnesses that a panel still needs.
    pub missing: usize,
    /// Advice where no witness may answer alone.
    pub advice: Option<String>,
}

/// The list of waiting rounds, and how many entries of the ledger could not be read for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WaitingList {
    /// The waiting rounds, oldest first.
    pub rounds: Vec<WaitingRound>,
    /// Entries that are missing or cannot be read.
    pub unread: usize,
}

impl WaitingList {
    /// A warning that rounds and answers may be missing.
    pub fn warning(&self) -> Option<Diagnostic> {
        let what = match self.unread {
            0 => return None,
            unread => format!("{} cannot be read", count(unread, "ledger entry")),
        };
        Some(Diagnostic::warning(what + ": rounds and answers may be missing").help(Hint::VerifyLedger))
    }
}

/// The rounds that wait.
///
/// # Errors
/// The ledger cannot be read.
pub fn waiting(ws: &Workspace) -> Result<WaitingList> {
    super::only_look(&ws.repo);
    let memory = List::read(ws);
    if let Some(known) = memory.as_ref().and_then(|memory| memory.get(ws.opened.0)) {
        return Ok(known);
    }
    // Nothing about a halt that waits for a signature is taken from a memory.
    let mut ledger = if memory.is_some() { super::look(ws)? } else { super::load(ws)? };
    let found = list(ws, &mut ledger);
    if let Some(memory) = memory {
        memory.put(&ledger, &found);
    }
    Ok(found)
}

fn list(ws: &Workspace, ledger: &mut SignedLedger) -> WaitingList {
    let halt = halts::binding(ws).ok().flatten();
    let halt = halt.filter(|halt| super::asks_signature(ws, halt).is_some()).map(|halt| halt.id);
    let rounds = ledger.folded.state.rounds.iter().filter(|round| waits(ledger, round, halt));
    let shown: Vec<usize> = rounds.map(|round| round.entry).collect();
    ledger.fetch(&ws.repo, shown.iter().copied());
    let may = ledger.may_accept(ws.opened, &shown);
    let rounds: Vec<&RoundState> = shown.iter().filter_map(|entry| ledger.folded.round(*entry)).collect();
    let found = rounds.iter().zip(may).map(|(round, may_take)| {
        // A round can be taken at the cap and not be answered.
        let caps: Vec<CapLeft> = may_take.iter().map(|who| ledger.cap_of(who)).collect();
        let may_answer = caps.iter().filter(|cap| cap.left > 0).map(|cap| cap.witness.clone()).collect();
        let missing = round.open_panel().map_or(0, |panel| panel.size.saturating_sub(panel.seats.len()));
        WaitingRound {
            id: ledger.entries[round.entry].id.to_string(),
            status: round.status().to_string(),
            triggers: round.triggers.iter().map(ToString::to_string).collect(),
            question: ledger.question(round.entry),
            since: Timestamp(ledger.folded.graph.eff[round.entry]),
            may_answer,
            advice: advice(ledger, round, &caps),
            caps,
            missing: missing.saturating_sub(usize::from(round.panel.is_none())),
        }
    });
    let mut found: Vec<WaitingRound> = found.collect();
    found.sort_by_key(|round| round.since);
    WaitingList { rounds: found, unread: ledger.faulty.len() }
}

/// Advice on a round that no witness may answer alone.
fn advice(ledger: &SignedLedger, round: &RoundState, may_take: &[CapLeft]) -> Option<String> {
    let policy = &ledger.folded.authority.at_end;
    if let Some(panel) = round.open_panel() {
        let there = panel.seats.len() + may_take.iter().filter(|cap| !panel.has(&cap.witness)).count();
        let missing = panel.size.saturating_sub(there);
        return (missing > 0).then(|| {
            let missing = count(missing, "more witness");
            Hint::AddWitness.led(&format!("its panel cannot be filled without {missing}"))
        });
    }
    if !may_take.is_empty() || policy.witnesses.is_empty() {
        return None;
    }
    if policy.rules.referee_gate {
        return Some(
            Hint::Policy.led("no witness has the weight that rules.referee_gate asks for: answers to halts after which the loop goes on earn it; or \
             an admin takes the rule out"),
        );
    }
    let alone = policy.witnesses.iter().filter(|who| ledger.tier(who) == Tier::Full).count();
    if alone > 0 {
        return None;
    }
    let id = ledger.short(round.entry);
    Some(match PANEL.saturating_sub(policy.witnesses.len()) {
        0 => Hint::PanelOfThree.with([&id]),
        missing => Hint::AddWitness.led(&format!(
            "no witness may answer alone yet, and a panel of three needs {}",
            count(missing, "more witness")
        )),
    })
}

/// A halt waits for a signature only where one is needed, and not after another answer: `halt` is the waiting one.
fn waits(ledger: &SignedLedger, round: &RoundState, halt: Option<EntryId>) -> bool {
    let is_open = matches!(
        round.status(),
        RoundStatus::Open | RoundStatus::Accepted | RoundStatus::Panel3 | RoundStatus::Panel5
    );
    is_open && (!round.is_halt || halt == Some(ledger.entries[round.entry].id))
}

/// Calls people for the rounds that wait. Who was called for a round in one state is not called for it again; nothing depends on it.
pub fn call_people(ctx: &Context, ws: &Workspace) {
    let Ok(found) = waiting(ws) else { return };
    let calls = found.rounds.iter().filter(|round| !round.triggers.iter().any(|trigger| trigger == "halt"));
    let plan: Vec<Effect> = calls
        .map(|round| {
            let id: String = round.id.chars().take(8).collect();
            let question: String =
                round.question.lines().next().unwrap_or_default().chars().take(QUESTION).collect();
            let kind = if round.status.starts_with("panel") { "panel" } else { "person" };
            let (episode, worktree) = (format!("round:{}:{kind}", round.id), ws.repo.worktree_name());
            Effect::Notify(Box::new(Notice {
                rule: round.triggers.join(","),
                message: format!("round {id} needs a {kind}: {question}"),
                ..Notice::new(NoticeKind::RoundWaits, episode, worktree, ctx.now)
            }))
        })
        .collect();
    // A notification that failed loses nothing: `andon review` lists the round.
    let _failed = effect::carry_out(&plan, &ws.site(ctx));
}
