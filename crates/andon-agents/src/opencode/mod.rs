//! opencode: a plugin hands over what it is given as `input` and `output`, and does what the answer says.

pub(super) mod payload;
pub(super) mod reply;
