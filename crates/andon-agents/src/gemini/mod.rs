//! Gemini CLI. Its tools have no ids, and its shell keeps git from running any hook that is a file.

pub(super) mod payload;
pub(super) mod reply;
