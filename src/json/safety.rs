//! `andon log --events`.

use serde::Serialize;
use serde_json::{Map, Value};

use andon_core::domain::about::DirtyBit;
use andon_core::domain::detail::Figures;
use andon_core::domain::findings::HaltReason;
use andon_core::domain::ids::{CommitId, TreeId};
use andon_core::domain::time::Timestamp;
use andon_core::format::members_of;

/// `{"events":[...]}`.
#[derive(Debug, Serialize)]
pub struct SafetyLogJson {
    pub events: Vec<SafetyEventJson>,
}

/// One safety event.
#[derive(Debug, Serialize)]
pub struct SafetyEventJson {
    pub timestamp: Option<Timestamp>,
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The members of a [`SafetyDetails`] that are known.
    pub details: Map<String, Value>,
    pub action_taken: &'static str,
}

/// What is known of an event. Texts raw, and none of them empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SafetyDetails {
    pub rule: Option<String>,
    pub message: Option<String>,
    pub reason: Option<String>,
    pub by: Option<String>,
    pub how: Option<&'static str>,
    pub agent: Option<String>,
    pub halt_reason: Option<HaltReason>,
    pub cycle_id: Option<String>,
    pub iteration: Option<u64>,
    pub commit: Option<CommitId>,
    pub tree: Option<TreeId>,
    pub worktree: Option<String>,
    /// The figures of a tool loop.
    pub signature: Option<String>,
    pub count: Option<u64>,
    /// The figures of the context gate.
    pub context_pct: Option<u64>,
    pub threshold: Option<u64>,
    pub code_modified: Option<bool>,
    pub tests_run: Option<bool>,
    pub tests_passing: Option<bool>,
    pub docs_updated: Option<bool>,
}

impl SafetyDetails {
    /// A text, unless it is empty.
    pub fn text(text: &str) -> Option<String> {
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    /// The members that are known.
    pub fn members(&self) -> Map<String, Value> {
        members_of(self)
    }

    /// Adds what the dirty bits of a rule are, as the document has them.
    pub fn set_bits(&mut self, dirty: Option<DirtyBit>) {
        match dirty {
            Some(DirtyBit::TestsRun) => (self.code_modified, self.tests_run) = (Some(true), Some(false)),
            Some(DirtyBit::TestsPassing) => (self.tests_run, self.tests_passing) = (Some(true), Some(false)),
            Some(DirtyBit::DocsUpdated) => self.docs_updated = Some(false),
            None => {}
        }
    }

    /// Adds what the document shows of a tool loop (`signature`, `count`) and of the context gate (`context_pct`,
    /// `threshold`).
    pub fn set_figures(&mut self, figures: &Figures) {
        match figures {
            Figures::Unreported => {}
            Figures::Calls { tool, signature, count } => {
                let signature = signature.clone().unwrap_or_else(|| format!("{tool}(...)"));
                (self.signature, self.count) = (Some(signature), Some(*count));
            }
            Figures::Bits { code_modified, tests_run, tests_passing, docs_updated } => {
                (self.code_modified, self.docs_updated) = (*code_modified, *docs_updated);
                (self.tests_run, self.tests_passing) = (*tests_run, *tests_passing);
            }
            Figures::Fill { percent, threshold } => {
                (self.context_pct, self.threshold) = (Some(*percent), Some(*threshold));
            }
        }
    }
}
