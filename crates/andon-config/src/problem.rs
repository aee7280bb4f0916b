//! What is wrong with one value, before its file is known.

use std::ops::Range;

/// Something wrong with a value.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) span: Range<usize>,
    pub(super) what: String,
    pub(super) hint: String,
}

pub(super) type ReadResult<T> = Result<T, Vec<Problem>>;

/// Builds the one error of a value.
pub(super) fn wrong<T>(span: Range<usize>, what: String, hint: impl Into<String>) -> ReadResult<T> {
    Err(vec![Problem { span, what, hint: hint.into() }])
}
