//! Qwen Code.

pub(super) mod payload;
pub(super) mod reply;
