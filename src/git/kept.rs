//! Trees that are wanted again: where one commit after the other is looked at, what the one has brought is what the next
//! is compared with.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::trees::RawTree;
use crate::domain::ids::Oid;

/// Bytes of trees that are kept where nobody asks for more: a hook looks more than once at the trees above a note and
/// at those of the commit.
pub(super) const MAX_KEPT: usize = 256 << 10;

/// The newest trees, up to a bound.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Bytes that are kept at the most.
    pub(super) max: usize,
    bytes: usize,
    /// In the order in which they came.
    order: VecDeque<Oid>,
    trees: HashMap<Oid, Rc<RawTree>>,
}

impl Kept {
    pub(super) fn up_to(max: usize) -> Self {
        Self { max, ..Self::default() }
    }

    pub(super) fn get(&self, id: Oid) -> Option<Rc<RawTree>> {
        self.trees.get(&id).cloned()
    }

    pub(super) fn keep(&mut self, id: Oid, tree: &Rc<RawTree>) {
        if tree.size() > self.max / 4 {
            return;
        }
        self.bytes += tree.size();
        self.order.push_back(id);
        self.trees.insert(id, tree.clone());
        while self.bytes > self.max {
            let Some(oldest) = self.order.pop_front() else { return };
            self.bytes -= self.trees.remove(&oldest).map_or(0, |gone| gone.size());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use crate::domain::ids::TreeId;

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
        assert_eq!(repo.trees.borrow().trees.len(), 1, "a few by default");
        repo.keep_trees(5 * 33);
        for tree in &trees {
            assert_eq!(repo.tree(*tree).unwrap().entries().count(), 1);
        }
        let kept = repo.trees.borrow();
        let held: Vec<bool> = trees.iter().map(|tree| kept.trees.contains_key(&tree.0)).collect();
        assert_eq!(held, [false, false, false, false, false, true, true, true, true, true]);
        assert_eq!((kept.bytes, kept.order.len()), (5 * 33, 5));
    }
}
