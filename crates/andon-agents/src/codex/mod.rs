//! Codex. Its tools answer with a bare text and no exit code: that is in the rollout file.

pub(super) mod payload;
pub(super) mod reply;
