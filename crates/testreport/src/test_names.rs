//! The set of tests of a run: the id of every test that its runner named, in bounded memory.
//!
//! The set is known only where every test that ran was named. Runners may name all that they skipped or none of them.
//! Beyond the bounds, or where only some were named, nothing is known: half a set would make the rest look deleted.

use std::collections::HashMap;

use crate::Counts;

/// A test of a run, by its normalized id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedTest {
    /// Normalized id ([`normalize_id`](super::normalize_id)), made stable ([`stable_id`](super::stable_id)).
    pub id: String,
    /// True when no test of that id ran: all of them were skipped.
    pub skipped: bool,
}

/// Most distinct ids of one run, and most names that a reader gathers for it.
pub(super) const MAX_IDS: usize = 100_000;
/// Bytes of all of them.
const MAX_BYTES: usize = 16 << 20;

/// The part that a test took in a run; the lesser one counts where its id came several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Took {
    Ran,
    Skipped,
}

/// The ids so far.
#[derive(Debug, Clone, Default)]
pub(super) struct TestNames {
    /// Each with the part that it took in the run.
    ids: HashMap<String, Took>,
    bytes: usize,
    ran: u64,
    skipped: u64,
    /// They are too many, or known not to be all.
    lost: bool,
}

impl TestNames {
    /// True while another name is of any use.
    pub(super) fn are_wanted(&self) -> bool {
        !self.lost
    }

    /// A test of this normalized id ended, or was skipped.
    pub(super) fn add(&mut self, id: String, took: Took) {
        let number = if took == Took::Skipped { &mut self.skipped } else { &mut self.ran };
        *number = number.saturating_add(1);
        if id.is_empty() {
            self.lose();
        }
        self.insert(id, took);
    }

    fn insert(&mut self, id: String, took: Took) {
        if self.lost {
            return;
        }
        if let Some(known) = self.ids.get_mut(&id) {
            *known = took.min(*known);
            return;
        }
        self.bytes = self.bytes.saturating_add(id.len());
        self.ids.insert(id, took);
        if self.ids.len() > MAX_IDS || self.bytes > MAX_BYTES {
            self.lose();
        }
    }

    /// Notes that not all tests were named.
    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.ids = HashMap::new();
    }

    /// The ids that are known.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.keys().map(String::as_str)
    }

    /// Gives each another name.
    pub(super) fn rename(&mut self, name: impl Fn(String) -> String) {
        let ids = std::mem::take(&mut self.ids);
        self.bytes = 0;
        for (id, took) in ids {
            self.insert(name(id), took);
        }
    }

    /// Takes in those of another report of the same run.
    pub(super) fn absorb(&mut self, other: Self) {
        self.ran = self.ran.saturating_add(other.ran);
        self.skipped = self.skipped.saturating_add(other.skipped);
        if other.lost {
            self.lose();
        }
        if self.ids.is_empty() && !self.lost {
            (self.ids, self.bytes) = (other.ids, other.bytes);
            return;
        }
        for (id, took) in other.ids {
            self.insert(id, took);
        }
    }

    /// All of them, sorted, if they are those of a run with these counts.
    pub(super) fn sorted(self, counts: &Counts) -> Option<Vec<NamedTest>> {
        let ran = counts.total.saturating_sub(counts.skipped);
        let all = self.ran == ran && (self.skipped == counts.skipped || self.skipped == 0);
        if self.lost || !all || ran == 0 {
            return None;
        }
        let mut ids: Vec<NamedTest> =
            self.ids.into_iter().map(|(id, took)| NamedTest { id, skipped: took == Took::Skipped }).collect();
        ids.sort_unstable();
        Some(ids)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(cases: &[(&str, bool)]) -> TestNames {
        let mut all = TestNames::default();
        for (id, skipped) in cases {
            all.add((*id).to_owned(), if *skipped { Took::Skipped } else { Took::Ran });
        }
        all
    }

    fn counts(passed: u64, skipped: u64) -> Counts {
        Counts { total: passed + skipped, passed, skipped, ..Counts::default() }
    }

    #[test]
    fn a_set_is_known_where_every_test_that_ran_was_named() {
        let cases = [("b", false), ("a", false), ("c", true)];
        let known = names(&cases).sorted(&counts(2, 1)).unwrap();
        let shown: Vec<_> = known.iter().map(|one| (one.id.as_str(), one.skipped)).collect();
        assert_eq!(shown, [("a", false), ("b", false), ("c", true)]);
        for (counts, is_known) in
            [(counts(3, 1), false), (counts(1, 1), false), (counts(2, 2), false), (counts(2, 0), false)]
        {
            assert_eq!(names(&cases).sorted(&counts).is_some(), is_known, "{counts:?}");
        }
        assert!(names(&cases[..2]).sorted(&counts(2, 5)).is_some(), "no skipped one was named");
        assert!(names(&cases[2..]).sorted(&counts(0, 1)).is_none(), "none ran");
        assert!(names(&[("", false)]).sorted(&counts(1, 0)).is_none(), "a test without a name");
    }

    #[test]
    fn one_that_ran_at_all_was_not_skipped() {
        let twice = names(&[("a", true), ("a", false)]).sorted(&counts(1, 1)).unwrap();
        assert_eq!(twice, [NamedTest { id: "a".into(), skipped: false }]);
    }

    #[test]
    fn too_many_are_none() {
        let mut many = TestNames::default();
        for number in 0..MAX_IDS {
            many.add(format!("t{number}"), Took::Ran);
        }
        assert!(many.are_wanted());
        many.add("one more".to_owned(), Took::Ran);
        assert!(!many.are_wanted());
        assert!(many.sorted(&counts(MAX_IDS as u64 + 1, 0)).is_none());
        let mut long = TestNames::default();
        for number in 0..=(MAX_BYTES / 400) {
            long.add(format!("{number:0400}"), Took::Ran);
        }
        assert!(!long.are_wanted());
    }

    proptest! {
        #[test]
        fn neither_order_nor_reports_matter(
            cases in prop::collection::vec(("[a-c]{0,2}", any::<bool>()), 0..20),
            cut in any::<prop::sample::Index>(),
        ) {
            let of = |cases: &[(String, bool)]| {
                let mut all = TestNames::default();
                for (id, skipped) in cases {
                    all.add(id.clone(), if *skipped { Took::Skipped } else { Took::Ran });
                }
                all
            };
            let skipped = cases.iter().filter(|case| case.1).count() as u64;
            let counts = counts(cases.len() as u64 - skipped, skipped);
            let mut turned = cases.clone();
            turned.reverse();
            let cut = cut.index(cases.len() + 1);
            let (one, two) = cases.split_at(cut);
            let mut merged = of(two);
            merged.absorb(of(one));
            let whole = of(&cases).sorted(&counts);
            prop_assert_eq!(of(&turned).sorted(&counts), whole.clone());
            prop_assert_eq!(merged.sorted(&counts), whole);
        }
    }
}
