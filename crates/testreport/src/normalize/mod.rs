//! Takes out of ids and error texts what changes while the failure stays the same.
//!
//! Two lists of small named rules in a fixed order ([`texts`] and [`ids`]); a new rule is one function, its
//! table of tests, and one entry in a list. The project's own patterns come after. What the hashes mean depends
//! on them, so a change of any rule's result is a new signature format. Outputs of agents' calls are hashed by the same
//! rules; what [`volatile`] adds is for printed output alone, which has no signature.

mod escapes;
mod frames;
mod ids;
mod items;
mod numbers;
mod paths;
mod rule;
#[cfg(test)]
mod tests;
mod texts;
mod volatile;

use std::sync::Arc;

pub(super) use escapes::strip_ansi;
pub use ids::normalize_id;
pub(super) use numbers::{mask_digits, with_positions};
pub use rule::Change;
pub use rule::Mask;
pub(super) use rule::{Pattern, pattern};
pub(super) use texts::MAX_TEXT;
pub use texts::{normalize_contents, normalize_error};
pub(super) use volatile::mask_volatile;
pub use volatile::stable_id;

/// The project, as far as normalization knows it: its root directory, whose absolute path is taken out of ids and
/// errors, and its own patterns.
#[derive(Debug, Clone, Default)]
pub struct Root {
    path: Option<String>,
    patterns: Arc<[Mask]>,
    keep: Keep,
}

/// The parts of failures that are kept besides the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Keep {
    #[default]
    Nothing,
    Originals,
}

impl Root {
    /// From an absolute path. A path without any name in it (`/`) is no root that could be taken out.
    pub fn new(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        Self { path: (path.len() > 1).then(|| path.to_owned()), ..Self::none() }
    }

    /// No root: paths stay as they are.
    pub fn none() -> Self {
        Self::default()
    }

    /// With patterns of its own as (name, pattern), in order.
    #[must_use]
    pub fn with_patterns(mut self, pairs: &[(String, String)]) -> Self {
        self.patterns = Mask::all(pairs).into();
        self
    }

    /// Readers keep ids and texts as they came, too: for tracing what the rules did.
    #[must_use]
    pub fn keeping_originals(mut self) -> Self {
        self.keep = Keep::Originals;
        self
    }

    pub(super) fn keeps_originals(&self) -> bool {
        self.keep == Keep::Originals
    }

    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    fn patterns(&self) -> &[Mask] {
        &self.patterns
    }
}

/// The result of each rule for an id, in order; rules that changed nothing are left out.
pub fn explain_id(id: &str, root: &Root) -> Vec<Change> {
    let mut changes = Vec::new();
    ids::traced(id, root, &mut |rule, whys, text| changes.push(Change::new(rule, whys, text)));
    changes
}

/// The result of each rule for an error text, in order; rules that changed nothing are left out.
pub fn explain_error(text: &str, root: &Root) -> Vec<Change> {
    let mut changes = Vec::new();
    texts::traced(text, root, &mut |rule, whys, text| changes.push(Change::new(rule, whys, text)));
    changes
}
