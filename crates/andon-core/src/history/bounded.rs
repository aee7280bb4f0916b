//! Lists of a timeline have a bound each, so that a fold over any history stays small.

/// Adds `value` to a list of a timeline, which keeps the newest.
pub(super) fn push_bounded<T>(kept: &mut Vec<T>, value: T, most: usize) {
    if kept.len() >= most {
        kept.remove(0);
    }
    kept.push(value);
}
