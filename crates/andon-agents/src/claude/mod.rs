//! Claude Code.

pub(super) mod payload;
pub(super) mod reply;
pub(super) mod settings;
