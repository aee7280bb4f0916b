//! Results that a timeline has derived from itself: every rule needs the flaky tests, and deriving them is most of the
//! cost of a rule.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// The flaky tests of a timeline, derived once until it changes. It is no part of what the timeline says.
#[derive(Debug, Clone, Default)]
pub(super) struct Memo(OnceLock<Arc<BTreeSet<String>>>);

impl Memo {
    /// What is known, else what `derive` says.
    pub(super) fn get(&self, derive: impl FnOnce() -> Arc<BTreeSet<String>>) -> Arc<BTreeSet<String>> {
        self.0.get_or_init(derive).clone()
    }
}

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}
