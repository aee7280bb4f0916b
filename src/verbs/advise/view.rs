//! Whom to ask next.

use andon_core::domain::decision::Halt;
use andon_core::domain::response::{Condition, Deadlock, OnStall, Provider};

/// What can be advised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderAdvice {
    /// The unanswered halt.
    pub halt: Option<Halt>,
    /// Its type, where an advisor can say something about it.
    pub deadlock: Option<Deadlock>,
    /// `on_stall.policy`
    pub policy: OnStall,
    /// Whether the policy has its program; `None` when it needs none.
    pub starts: Option<bool>,
    /// The conditions of the fallback chain that hold.
    pub conditions: Vec<Condition>,
    /// The provider at work.
    pub current: Option<String>,
    /// The provider that goes on.
    pub next: Option<Provider>,
    /// The question for an advisor.
    pub question: Option<String>,
    /// What the advisor answered, untrusted; `None` before it was asked.
    pub answer: Option<String>,
}
