//! Foreign input to facts: what git, the pre-commit framework and agents' shells hand over.
//!
//! Each source has its own file, so that what is believed of a source is in one place.

pub mod agents;
pub mod chain;
pub mod events;
pub mod git_hook;

pub use self::{agents::*, chain::*, events::*, git_hook::*};
