//! What people said of the halts that the ledger has.

use crate::config::{self, ConfigSource, Layer, MAX_BYTES};
use crate::detect::{self, calibration};
use crate::domain::decision::{Halt, LedgerEvent};
use crate::domain::facts::HaltWas;
use crate::domain::ids::{CommitId, EntryId};
use crate::domain::paths::CONFIG_FILE;
use crate::domain::settings::RuleSettings;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::git::{Blob, Repo};
use crate::ledger::{EntryEvent, Ledger};

/// A halt that a person answered.
#[derive(Debug)]
pub(super) struct PastHalt {
    /// Its rule.
    pub(super) rule: &'static str,
    /// HEAD then.
    pub(super) head: CommitId,
    /// What was said of it.
    pub(super) was: HaltWas,
}

/// The answered halts of rules on the ladder. A mistaken one by a rule whose setting has been changed since is left
/// out: it says nothing of the setting that is judged.
pub(super) fn of(ws: &Workspace) -> Result<Vec<PastHalt>, OpsError> {
    let (entries, _) = Ledger::open(&ws.repo).read_all()?;
    let mut standing: Vec<(EntryId, Halt)> = Vec::new();
    let mut found: Vec<PastHalt> = Vec::new();
    for entry in entries {
        match entry.event {
            EntryEvent::Known(LedgerEvent::Halted(halt)) => standing.push((entry.id, *halt)),
            EntryEvent::Known(LedgerEvent::Acknowledged(ack)) => {
                let Some(at) = standing.iter().position(|(id, _)| Some(*id) == ack.halt) else { continue };
                found.extend(answered(ws, &standing.swap_remove(at).1, ack.halt_was));
            }
            EntryEvent::Known(LedgerEvent::StopSwitch(_)) | EntryEvent::Unknown { .. } => {}
        }
    }
    Ok(found)
}

fn answered(ws: &Workspace, halt: &Halt, was: HaltWas) -> Option<PastHalt> {
    let (rule, head) = (detect::rule(&halt.rule)?, halt.head?);
    if !calibration::is_on_ladder(rule, &ws.config.rules) {
        return None;
    }
    let then = rules_at(&ws.repo, head);
    let same = then.is_none_or(|then| rule.setting(&then) == rule.setting(&ws.config.rules));
    (same || was == HaltWas::Unsaid).then_some(PastHalt { rule: rule.id, head, was })
}

/// The rules as `andon.toml` of that commit sets them; `None` where that cannot be read.
fn rules_at(repo: &Repo, commit: CommitId) -> Option<RuleSettings> {
    let tree = repo.tree_of(commit).ok()?;
    let Some(blob) = repo.blob_at(tree, CONFIG_FILE.as_bytes()).ok()? else {
        return config::load(&[]).ok().map(|config| config.rules);
    };
    let Blob::Content(text) = repo.read_blob(blob, MAX_BYTES).ok()? else { return None };
    let source = ConfigSource { layer: Layer::Repository, name: CONFIG_FILE.to_owned(), text };
    config::load(&[source]).ok().map(|config| config.rules)
}
