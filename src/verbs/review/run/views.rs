//! What is shown of rounds, for people and for programs.

use serde_json::Value;

use super::act::ActReport;
use super::rounds::state;
use super::show::ShownRound;
use super::votes;
use crate::json::{ActedJson, RoundShownJson};
use andon_core::domain::plural::count;
use andon_core::escape;
use andon_engine::asking::WaitingRound;
use andon_engine::text::style::Style;

/// Columns of a question.
const QUESTION: usize = 72;

/// The rounds that wait, for people; nothing when none does.
pub fn waiting_text(rounds: &[WaitingRound], style: Style) -> String {
    let mut out = String::new();
    for round in rounds {
        let id: String = round.id.chars().take(8).collect();
        let question = escape::terminal_clip(round.question.lines().next().unwrap_or_default(), QUESTION);
        out.push_str(&format!("{}  {}  {}\n", style.bold(&id), round.status, round.triggers.join(", ")));
        out.push_str(&format!("  {question}\n  since {}\n", style.when(round.since)));
        match round.missing {
            0 => {}
            missing => out.push_str(&format!("  needs {}\n", count(missing, "more witness"))),
        }
        let free = round.caps.iter().filter(|cap| cap.left > 0);
        let people: Vec<String> =
            free.map(|cap| format!("{} ({} left today)", escape::terminal(&cap.witness), cap.left)).collect();
        let full = round.caps.iter().filter_map(|cap| Some((cap, cap.free_at?)));
        let full: Vec<String> = full
            .map(|(cap, at)| format!("{}, free {}", escape::terminal(&cap.witness), style.when(at)))
            .collect();
        if !full.is_empty() {
            out.push_str(&format!("  at their cap for today: {}\n", full.join("; ")));
        }
        if people.is_empty() && round.status.starts_with("panel") && round.missing == 0 {
            out.push_str("  its panel is complete and votes\n");
        } else if let Some(advice) = &round.advice {
            out.push_str(&format!("  {}\n", escape::terminal(advice)));
        } else if people.is_empty() {
            out.push_str("  no one may answer now: ask for a panel, or name more witnesses\n");
        } else {
            out.push_str(&format!("  may answer: {}\n", people.join(", ")));
        }
    }
    if let Some(first) = rounds.first() {
        let id: String = first.id.chars().take(8).collect();
        out.push_str(&format!("  help: andon review show {id}\n"));
    }
    out
}

/// A round for programs.
pub fn shown_json(shown: &ShownRound) -> Option<RoundShownJson> {
    let round = state(&shown.ledger, shown.round)?;
    let entry = &shown.ledger.entries[shown.round];
    Some(RoundShownJson {
        id: entry.id.to_string(),
        status: round.status().name(),
        triggers: round.triggers.clone(),
        decision: round.decision().map(|decided| choice(&decided.key).to_owned()),
        words: shown.ledger.decided_words(round),
        votes: votes::votes(&shown.ledger, shown.round),
        flags: votes::flags(&shown.ledger, shown.round),
        evidence: shown.evidence.iter().cloned().collect(),
        may_answer: shown.may_answer.clone(),
        said: Value::Object((*entry.body).clone()),
    })
}

/// The name of a decision, without the digest of an amended text.
pub(super) fn choice(key: &str) -> &str {
    key.split(':').next().unwrap_or(key)
}

/// What was appended, for programs.
pub fn acted_json(acted: &ActReport) -> Option<ActedJson> {
    let round = state(&acted.ledger, acted.round)?;
    Some(ActedJson {
        entry: acted.entry.to_string(),
        round: acted.ledger.entries[acted.round].id.to_string(),
        status: round.status().name(),
        decision: round.decision().map(|decided| choice(&decided.key).to_owned()),
        words: acted.ledger.decided_words(round),
        resumed: acted.resumed,
    })
}
