//! `andon status --rules`: how often each rule halted here, and how often people said that it was mistaken.

use std::collections::BTreeMap;

use crate::detect;
use crate::domain::decision::LedgerEvent;
use crate::domain::diagnostic::Diagnostic;
use crate::domain::facts::HaltWas;
use crate::domain::ids::EntryId;
use crate::domain::view::rule_counts::RuleCount;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::ledger::{EntryEvent, Ledger};

/// Counts the halts of the ledger, rule by rule: those of this version in their order, then others.
pub fn run(ws: &Workspace) -> Result<(Vec<RuleCount>, Vec<Diagnostic>), OpsError> {
    let (entries, warnings) = Ledger::open(&ws.repo).read_all()?;
    let mut by: BTreeMap<EntryId, String> = BTreeMap::new();
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for entry in entries {
        match entry.event {
            EntryEvent::Known(LedgerEvent::Halted(halt)) => {
                counts.entry(halt.rule.clone()).or_default().0 += 1;
                by.insert(entry.id, halt.rule);
            }
            EntryEvent::Known(LedgerEvent::Acknowledged(ack)) if ack.halt_was == HaltWas::Mistaken => {
                // A halt that is answered twice is counted once.
                if let Some(rule) = ack.halt.and_then(|halt| by.remove(&halt)) {
                    counts.entry(rule).or_default().1 += 1;
                }
            }
            EntryEvent::Known(LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_))
            | EntryEvent::Unknown { .. } => {}
        }
    }
    let known = detect::REGISTRY.iter().map(|rule| {
        let (halts, mistaken) = counts.remove(rule.id).unwrap_or_default();
        RuleCount { rule: rule.id.to_owned(), level: Some(rule.level_in(&ws.config.rules)), halts, mistaken }
    });
    let mut found: Vec<RuleCount> = known.collect();
    found.extend(counts.into_iter().map(|(rule, (halts, mistaken))| RuleCount {
        rule,
        level: None,
        halts,
        mistaken,
    }));
    Ok((found, warnings))
}
