//! A cache of what was read from git. Where commits are read one after another, the new side of one is the old side of the
//! next.

use std::collections::{HashMap, VecDeque};

use andon_core::domain::Oid;

/// Bytes of trees that are kept by default: a hook looks more than once at the trees above a note and at those of the
/// commit.
pub(crate) const MAX_CACHED: usize = 256 << 10;

/// The newest of what was read, up to a bound.
#[derive(Debug)]
pub(crate) struct Cache<T> {
    /// Bytes that are kept at the most; with 0 nothing is.
    pub(crate) max: usize,
    /// The greatest number that is kept.
    most: usize,
    bytes: usize,
    /// In the order in which they came.
    order: VecDeque<Oid>,
    /// Each with its bytes.
    known: HashMap<Oid, (T, usize)>,
}

impl<T: Clone> Cache<T> {
    pub(crate) fn up_to(max: usize, most: usize) -> Self {
        Self { max, most, bytes: 0, order: VecDeque::new(), known: HashMap::new() }
    }

    pub(crate) fn get(&self, id: Oid) -> Option<T> {
        self.known.get(&id).map(|(known, _)| known.clone())
    }

    pub(crate) fn has(&self, id: Oid) -> bool {
        self.known.contains_key(&id)
    }

    /// Takes in one of `size` bytes and lets go of the oldest. What would push out most of the others is not kept.
    pub(crate) fn keep(&mut self, id: Oid, one: T, size: usize) {
        if self.max == 0 || size > self.max / 4 {
            return;
        }
        self.bytes += size;
        self.order.push_back(id);
        self.known.insert(id, (one, size));
        while self.bytes > self.max || self.known.len() > self.most {
            let Some(oldest) = self.order.pop_front() else { return };
            self.bytes -= self.known.remove(&oldest).map_or(0, |(_, size)| size);
        }
    }

    /// The kept ones among these, and the bytes of all.
    #[cfg(test)]
    pub(crate) fn held(&self, ids: impl IntoIterator<Item = Oid>) -> (Vec<bool>, usize) {
        assert_eq!(self.order.len(), self.known.len());
        (ids.into_iter().map(|id| self.known.contains_key(&id)).collect(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::testkit::Scratch;
    use andon_core::domain::TreeId;

    #[test]
    fn the_newest_stay_within_the_bound() {
        let scratch = Scratch::new();
        let trees: Vec<TreeId> = (0..10)
            .map(|number| {
                scratch.commit("a", &number.to_string(), "x");
                scratch.tree("HEAD")
            })
            .collect();
        let repo = scratch.open();
        assert!(repo.tree(trees[0]).is_ok());
        assert_eq!(repo.trees.borrow().held([trees[0].0]).0, [true], "a few by default");
        repo.keep(5 * 33, 0);
        for tree in &trees {
            assert_eq!(repo.tree(*tree).unwrap().entries().count(), 1);
        }
        let (held, bytes) = repo.trees.borrow().held(trees.iter().map(|tree| tree.0));
        assert_eq!(held, [false, false, false, false, false, true, true, true, true, true]);
        assert_eq!(bytes, 5 * 33);
    }
}
