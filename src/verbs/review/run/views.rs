//! What is shown of rounds, for people and for programs.

use serde_json::Value;

use super::act::ActReport;
use super::rounds::{WaitingRound, state};
use super::show::ShownRound;
use crate::json::{ActedJson, RoundShownJson};
use andon_core::domain::counted::count;
use andon_core::escape;
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
        let people: Vec<String> =
            round.may_answer.iter().map(|who| escape::terminal(who).into_owned()).collect();
        if people.is_empty() && round.status.starts_with("panel") && round.missing == 0 {
            out.push_str("  its panel is complete and votes\n");
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
        triggers: round.triggers.iter().map(|trigger| trigger.name()).collect(),
        decision: round.decision().map(|decided| decided.key.clone()),
        may_answer: shown.may_answer.clone(),
        said: Value::Object((*entry.body).clone()),
    })
}

/// What was appended, for programs.
pub fn acted_json(acted: &ActReport) -> Option<ActedJson> {
    let round = state(&acted.ledger, acted.round)?;
    Some(ActedJson {
        entry: acted.entry.to_string(),
        round: acted.ledger.entries[acted.round].id.to_string(),
        status: round.status().name(),
        decision: round.decision().map(|decided| decided.key.clone()),
        resumed: acted.resumed,
    })
}
