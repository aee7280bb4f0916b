//! Copilot CLI, with both of its dialects: events in camel case with flat members, in Pascal case with those of Claude Code.

pub(super) mod payload;
pub(super) mod reply;
