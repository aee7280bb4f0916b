//! The sections about what is done when a loop is stuck: `[on_stall]`, `[advisor]`, `[fallback]`, `[notify]`.

use andon_core::domain::response::{Bell, OnStall, Program, Provider};
use andon_core::domain::time::Span;

/// Whether the loop is meant to run for ever (docs/spec-map.md, signals and escalation: section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Perpetual {
    /// A pause halts it.
    No,
    /// A pause is cleared, an escalation only tells.
    Yes,
}

/// The four sections. Programs come from the user's own configuration only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// `on_stall.policy`
    pub on_stall: OnStall,
    /// `on_stall.command`, with `on_stall.timeout`.
    pub on_stall_program: Option<Program>,
    /// `advisor.command`, with `advisor.timeout`.
    pub advisor: Option<Program>,
    /// `fallback.providers`
    pub providers: Vec<Provider>,
    /// `notify.command`, with its five seconds.
    pub notify: Option<Program>,
    /// `notify.bell`
    pub bell: Bell,
    /// `notify.again`; `None` for never.
    pub again: Option<Span>,
}
