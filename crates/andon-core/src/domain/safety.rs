//! Safety events that no other fact shows (docs/spec-map.md, loop rules: safety event log): what a gate refused or let
//! pass on request, and what was said within a turn. Halts and answers are in the ledger, findings of commits in their
//! records.

use super::codec::named;
use super::detail::Figures;
use super::findings::Level;
use super::ids::TreeId;
use super::time::Timestamp;

/// The kinds of safety events, as the requirements name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SafetyKind {
    /// A commit was refused.
    Refused,
    /// A rule was passed over for one commit.
    Skipped,
    /// Something was said, and nothing refused.
    Noticed,
    /// A person pulled the stop switch while a halt stood already.
    Pulled,
    /// A person lifted it while that halt still stood.
    Lifted,
    /// A push was refused.
    RefusedPush,
    /// A task was not called done.
    RefusedCompletion,
}

impl SafetyKind {
    /// Every kind with its name in the journal.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Refused, "refused"),
        (Self::Skipped, "skipped"),
        (Self::Noticed, "noticed"),
        (Self::Pulled, "pulled"),
        (Self::Lifted, "lifted"),
        (Self::RefusedPush, "refused_push"),
        (Self::RefusedCompletion, "refused_completion"),
    ];
}

named!(SafetyKind, "a kind of safety event");

/// A safety event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafetyFact {
    /// The kind of the event.
    pub kind: SafetyKind,
    /// When.
    pub at: Option<Timestamp>,
    /// The rule.
    pub rule: String,
    /// Its level then.
    pub level: Level,
    /// Its message, or the reason that was given. Untrusted text.
    pub message: String,
    /// What the rule counted.
    pub figures: Figures,
    /// The tree that was to be committed.
    pub tree: Option<TreeId>,
    /// The marker of the agent's shell in which it happened.
    pub agent: Option<String>,
}

impl SafetyFact {
    /// Whether `other` reports the same at another time.
    pub fn repeats(&self, other: &Self) -> bool {
        (self.kind, &self.rule, self.level, self.tree) == (other.kind, &other.rule, other.level, other.tree)
            && self.message == other.message
    }
}
