//! `andon status --rules`: how often each rule halted here, and how often people said that it was mistaken.

use std::collections::BTreeMap;

use crate::view::status::RuleCount;
use andon_core::detect;
use andon_core::domain::diagnostic::Diagnostic;
use andon_engine::error::OpsError;
use andon_engine::halts::halt_fates::{self, HaltFate, PastHalt};
use andon_engine::workspace::Workspace;

/// Counts the halts of the ledger, rule by rule: those of this version in their order, then others.
pub fn run(ws: &Workspace) -> Result<(Vec<RuleCount>, Vec<Diagnostic>), OpsError> {
    let (halts, warnings) = halt_fates::past_halts(ws)?;
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for PastHalt { halt, fate } in halts {
        let count = counts.entry(halt.rule).or_default();
        count.0 += 1;
        count.1 += u64::from(fate == HaltFate::Mistaken);
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
