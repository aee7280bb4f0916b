//! `OpenHands`.

pub(super) mod payload;
pub(super) mod reply;
