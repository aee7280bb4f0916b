#![doc = include_str!("../README.md")]

pub mod adapter;
pub mod asking;
pub mod calibrate;
pub mod context;
pub mod effect;
pub mod error;
pub mod evidence;
pub mod gate;
pub mod guess;
pub mod halts;
pub mod json;
pub mod range;
pub mod recording;
pub mod sync;
pub mod test_program;
pub mod text;
pub mod view;
pub mod weakening;
pub mod workspace;

pub use self::error::{OpsError, VerbError};
pub use self::{context::Context, workspace::Workspace};

/// The value that was asked for, or the reason why a verb cannot have it.
pub type Result<T, E = error::OpsError> = std::result::Result<T, E>;
