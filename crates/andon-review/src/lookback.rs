//! Spans of time that rules look back over (T1), in seconds.

/// Seconds of a day.
pub const DAY: i64 = 86_400;
/// Seconds of the window in which reputations and detectors look back (T1).
pub const LOOKBACK: i64 = 90 * DAY;
/// Seconds for which an agent's penalties and a witness's declined concerns are remembered.
pub const MONTH: i64 = 30 * DAY;

/// Whether `at` lies in the `span` seconds that end with `now`; `now` itself belongs to them.
pub fn within(now: i64, at: i64, span: i64) -> bool {
    let age = now.saturating_sub(at);
    (0..span).contains(&age)
}
