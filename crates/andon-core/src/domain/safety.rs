//! Safety events that no other fact shows (docs/spec-map.md, loop rules: safety event log): what a gate refused or let
//! pass on request, and what was said within a turn. Halts and answers are in the ledger, findings of commits in their
//! records.

use serde::{Deserialize, Serialize};

use super::{Figures, Level, Timestamp, TreeId};
use crate::format::fields::{Text, or_default};

/// Bytes of a name in the journal.
const MAX_NAME: usize = 1024;
/// Bytes of a message in the journal.
const MAX_MESSAGE: usize = 8192;

crate::named_enum! {
    /// The kinds of safety events, as the requirements name them.
    pub enum SafetyKind, "a kind of safety event" {
        /// A commit was refused.
        Refused = "refused",
        /// A rule was passed over for one commit.
        Skipped = "skipped",
        /// Something was said, and nothing refused.
        Noticed = "noticed",
        /// A person pulled the stop switch while a halt was unanswered.
        Pulled = "pulled",
        /// A person lifted it while that halt was still unanswered.
        Lifted = "lifted",
        RefusedPush = "refused_push",
        /// A task was not called done.
        RefusedCompletion = "refused_completion",
    }
}

/// A safety event: a line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafetyFact {
    /// The kind of the event.
    #[serde(rename = "type")]
    pub kind: SafetyKind,
    pub at: Option<Timestamp>,
    #[serde(serialize_with = "Text::<MAX_NAME>::serialize")]
    pub rule: String,
    pub level: Level,
    /// Its message, or the reason that was given. Untrusted text.
    #[serde(default, with = "Text::<MAX_MESSAGE>")]
    pub message: String,
    /// The figures that the rule counted.
    #[serde(default, deserialize_with = "or_default")]
    pub figures: Figures,
    /// The tree that was to be committed.
    pub tree: Option<TreeId>,
    /// The marker of the agent's shell in which it happened.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub agent: Option<String>,
}

impl SafetyFact {
    /// Returns whether `other` reports the same at another time.
    pub fn repeats(&self, other: &Self) -> bool {
        (self.kind, &self.rule, self.level, self.tree) == (other.kind, &other.rule, other.level, other.tree)
            && self.message == other.message
    }
}
