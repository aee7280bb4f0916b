//! Which paths make two fingerprints differ: for the message that names them.

use std::collections::BTreeMap;

use crate::Result;
use andon_core::domain::{Oid, OverlayEntry, PathClass, PathRules, Tracking, TreeId};
use andon_git::Repo;

/// A code path that was one thing when the tests ran and is another in the tree being committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Path from the root, as git stores it.
    pub path: Vec<u8>,
    /// Mode and id when the tests ran; `None` when it was not there.
    pub run_side: Option<(u32, Oid)>,
    /// Mode and id in the tree; `None` when it is not there.
    pub commit_side: Option<(u32, Oid)>,
    /// The tracking of the path by git when the tests ran.
    pub tracking: Tracking,
}

type Side = Option<(u32, Oid)>;

/// The code paths, in byte order, in which `base` with `overlay` differs from `tree`.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git) when a tree is missing, such as a base that was collected as garbage.
pub fn differing(
    repo: &Repo,
    rules: &PathRules,
    base: Option<TreeId>,
    overlay: &[OverlayEntry],
    tree: TreeId,
) -> Result<Vec<Difference>> {
    // Path by path: what the base has and what the tree has.
    let mut sides: BTreeMap<Vec<u8>, (Side, Side)> = BTreeMap::new();
    for change in repo.changes(base, tree)? {
        if let Some(moved_from) = change.old_path {
            sides.entry(moved_from).or_default().0 = change.old;
            sides.entry(change.path).or_default().1 = change.new;
        } else {
            sides.insert(change.path, (change.old, change.new));
        }
    }
    let over: BTreeMap<&[u8], &OverlayEntry> =
        overlay.iter().map(|entry| (entry.path.as_slice(), entry)).collect();
    for path in over.keys().filter(|path| rules.class(path) == PathClass::Code) {
        if !sides.contains_key(*path) {
            let same = repo.entry_at(tree, path)?;
            sides.insert(path.to_vec(), (same, same));
        }
    }
    let differences = sides.into_iter().filter_map(|(path, (base_side, commit_side))| {
        let entry = over.get(path.as_slice());
        let run_side = entry.map_or(base_side, |entry| entry.entry);
        let tracking = entry.map_or(Tracking::Tracked, |entry| entry.tracking);
        let differs = run_side != commit_side && rules.class(&path) == PathClass::Code;
        differs.then_some(Difference { path, run_side, commit_side, tracking })
    });
    Ok(differences.collect())
}
