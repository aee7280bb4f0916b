//! What a simulation found, for people.

use andon_core::domain::plural::count;
use andon_core::escape;
use andon_engine::text::style::Style;
use andon_review::payload::fields::names;
use andon_review::simulation::output::{RoundJson, SimulationJson, TransferJson, WitnessJson};

/// A table under a heading; nothing for no rows.
struct Section {
    title: &'static str,
    rows: Vec<Vec<String>>,
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
    let sections = [
        Section {
            title: "Rounds",
            rows: found.rounds.iter().map(|(id, round)| round_row(id, round)).collect(),
        },
        Section {
            title: "Witnesses",
            rows: found.witnesses.iter().map(|(who, witness)| witness_row(who, witness)).collect(),
        },
        Section { title: "Credits", rows: credits(found) },
        Section { title: "Penalties and reversals", rows: moved(found, str::to_owned) },
        Section { title: "Detectors", rows: detectors(found, str::to_owned) },
        Section {
            title: "Invalid",
            rows: found.invalid.iter().map(|entry| vec![entry.id.clone(), entry.code.to_owned()]).collect(),
        },
    ];
    text.push_str(&shown(&sections, style));
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
pub fn books(found: &SimulationJson, style: Style) -> String {
    let digits = |id: &str| id.chars().take(8).collect::<String>();
    let sections = [
        Section { title: "Credits", rows: credits(found) },
        Section { title: "Penalties and reversals", rows: moved(found, digits) },
        Section { title: "Detectors", rows: detectors(found, digits) },
    ];
    shown(&sections, style)
}

fn shown(sections: &[Section], style: Style) -> String {
    let some = sections.iter().filter(|section| !section.rows.is_empty());
    some.map(|section| format!("\n{}\n{}", style.bold(section.title), table(&section.rows))).collect()
}

/// Credits that a decision took from somebody, with its entry.
fn moved(found: &SimulationJson, id: impl Fn(&str) -> String) -> Vec<Vec<String>> {
    let taken =
        found.accounts.ops.iter().filter(|op| ["reverse", "penalty", "penalty_back"].contains(&op.why));
    let row = |op: &TransferJson| {
        vec![op.why.to_owned(), format!("{} CC", op.amount), format!("{} -> {}", op.from, op.to), id(&op.id)]
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
    vec![id.to_owned(), round.status.to_owned(), because, decision]
}

fn witness_row(who: &str, witness: &WitnessJson) -> Vec<String> {
    vec![
        who.to_owned(),
        witness.tier.to_owned(),
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
