//! Cline. It looks at neither exit codes nor decisions: a shell call is refused by another command in its place.

pub(super) mod payload;
pub(super) mod reply;
