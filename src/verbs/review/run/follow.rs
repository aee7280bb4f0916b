//! What follows from an answer, shown to its giver.

use super::act::ActReport;
use super::panel;
use super::rounds::state;
use super::views::choice;
use andon_core::escape;
use andon_engine::asking::short;
use andon_review::payload::vote::VoteChoice;
use andon_review::round::RoundStatus;

/// The present status of the round, what was paid, what was earned, and what is next.
pub fn text(acted: &ActReport) -> String {
    let ledger = &acted.ledger;
    let plain = |text: &str| escape::terminal(text).into_owned();
    let mut lines = Vec::new();
    let round = ledger.short(acted.round);
    let Some(found) = state(ledger, acted.round) else { return String::new() };
    let status = found.status();
    let decision =
        found.decision().map_or_else(String::new, |decided| format!(": {}", plain(choice(&decided.key))));
    lines.push(format!("entry {}: round {round} is {}{decision}", short(acted.entry), status.name()));
    let amended =
        found.decision().is_some_and(|decided| choice(&decided.key) == VoteChoice::Amend.to_string());
    let words = ledger.decided_words(found).filter(|_| amended);
    for line in words.iter().flat_map(|words| words.lines()) {
        lines.push(format!("  > {}", plain(line)));
    }
    let at = ledger.entries.iter().position(|entry| entry.id == acted.entry);
    let books = &ledger.folded.state.accounts;
    for moved in books.transfers.iter().filter(|moved| Some(moved.entry) == at) {
        let (from, to) = (plain(&moved.from), plain(&moved.to));
        lines.push(format!("  {}: {} CC from {from} to {to}", moved.why, moved.amount));
    }
    for earned in books.earned.iter().filter(|earned| Some(earned.entry) == at) {
        let whole = format!("{}.{:03}", earned.milli / 1_000, earned.milli % 1_000);
        lines.push(format!("  attention: {whole} AU for {}", plain(&earned.witness)));
    }
    if found.decision().is_some_and(|decided| decided.self_reviewed) {
        lines.push("  self-reviewed: it counts, and earns neither reputation nor attention".to_owned());
    }
    if let Some(panel) = found.open_panel() {
        lines.push(format!("  {}", plain(&panel::members(panel))));
    }
    lines.push(format!("  help: {}", next(acted, status)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn next(acted: &ActReport, status: RoundStatus) -> String {
    let round = acted.ledger.short(acted.round);
    if acted.resumed {
        return "the halt is answered, the loop may go on; send it to the others: andon sync".to_owned();
    }
    let panel = state(&acted.ledger, acted.round).and_then(|found| found.open_panel());
    if let Some(panel) = panel {
        return panel::next(panel, &round);
    }
    match status {
        RoundStatus::Accepted => {
            format!("read it: andon review show {round}; answer it: andon review resolve {round}")
        }
        RoundStatus::Resolved => "it is a precedent now; send it to the others: andon sync".to_owned(),
        RoundStatus::Panel3
        | RoundStatus::Panel5
        | RoundStatus::Open
        | RoundStatus::Closed
        | RoundStatus::Unresolvable
        | RoundStatus::Voided => "send it to the others: andon sync".to_owned(),
    }
}
