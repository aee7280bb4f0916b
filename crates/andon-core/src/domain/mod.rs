//! The words of the product as plain values.
//!
//! The words are one vocabulary: whatever is about one of them takes it from here, as `domain::CommitId`, and functions by their
//! module, as `plural::count`.
//!
//! Pure: imports nothing of the crate but `format`, reads no clock, no disk, no environment.
//! A type that records, the journal, the ledger and JSON hold in one shape is written and read as it is here: its serde attributes
//! are its bounds and its defaults, and format version 1, which golden files freeze (docs/formats.md). Where a format has
//! another shape, its type is in `wire` of andon-store.

pub mod about;
pub mod agent;
pub mod agent_door;
pub mod briefing;
pub mod change;
pub mod client_spec;
pub mod codec;
pub mod context;
pub mod decision;
pub mod diagnostic;
pub mod effect;
pub mod escalation;
pub mod events;
pub mod facts;
pub mod findings;
pub mod git_hook;
pub mod hint;
pub mod identity;
pub mod ids;
pub mod paths;
mod patterns;
pub mod platforms;
pub mod plural;
pub mod record;
pub mod safety;
pub mod scopes;
pub mod settings;
pub mod signatures;
pub mod summary;
pub mod test_run;
pub mod time;
pub mod usage;
pub mod veil;
pub mod workflow;

pub use self::{
    about::*, agent::*, agent_door::*, briefing::*, change::*, client_spec::*, codec::*, context::*,
    decision::*, diagnostic::*, effect::*, escalation::*, events::*, facts::*, findings::*, git_hook::*,
    hint::*, identity::*, ids::*, paths::*, platforms::*, plural::*, record::*, safety::*, scopes::*,
    settings::*, signatures::*, summary::*, test_run::*, time::*, usage::*, veil::*, workflow::*,
};
