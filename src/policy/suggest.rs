//! What to do next, chosen from the evidence.
//!
//! A list that is the same for every halt is not read. Each line names the test, the commits or the key
//! that this halt is about.

use crate::domain::findings::{Finding, HaltReason};
use crate::history::Timeline;

/// Suggestions for the halt that `finding` makes, the likeliest first.
pub fn suggested_actions(finding: &Finding, timeline: &Timeline) -> Vec<String> {
    let _ = (finding, timeline, HaltReason::ALL);
    Vec::new()
}
