//! Whether the loop is halted: found out before anything else, and nothing is recorded on the way.

use crate::verbs::agent_hook::text as words;
use andon_core::detect::Stops;
use andon_core::domain::decision::Halt;
use andon_engine::context::Context;
use andon_engine::halts;
use andon_engine::workspace::Workspace;

/// Whether the loop is halted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HaltState {
    /// The loop goes on.
    No,
    /// By a halt, or by a file that a person put there.
    Yes(Option<Box<Halt>>),
    /// It could not be found out, and why.
    Unknown(String),
}

impl HaltState {
    /// The halt, where one is known.
    pub fn halt(&self) -> Option<&Halt> {
        if let Self::Yes(halt) = self { halt.as_deref() } else { None }
    }

    /// The refusal of a tool whose payload cannot be judged; `None` where the loop goes on.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::No => None,
            Self::Yes(halt) => Some(words::halted(halt.as_deref(), true)),
            Self::Unknown(why) => Some(words::unread(why)),
        }
    }
}

/// Whether the loop is halted: nothing is recorded on the way.
pub fn halted(ctx: &Context, ws: &Workspace) -> HaltState {
    let stopped = halts::stops(ws) != Stops::NONE;
    match halts::unanswered(ctx, ws) {
        Ok(Some(halt)) => HaltState::Yes(Some(Box::new(halt.halt))),
        Ok(_) | Err(_) if stopped => HaltState::Yes(None),
        Ok(_) => HaltState::No,
        Err(err) => HaltState::Unknown(err.to_string()),
    }
}
