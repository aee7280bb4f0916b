//! Cursor, by its documentation: it has not been run here.

pub(super) mod payload;
pub(super) mod reply;
