//! The receipt that pre-commit leaves for post-commit: "this tree passed the gate". A commit whose tree has no
//! receipt went around it (`--no-verify`).
//!
//! Two lines: the id of the git process whose pre-commit it was, which the shim of prepare-commit-msg reads to
//! know that this very process was asked already, and the tree.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RecordError, file};
use crate::domain::ids::TreeId;
use crate::domain::time::Timestamp;

const MAX_BYTES: u64 = 4096;

#[derive(Serialize, Deserialize)]
struct Wire {
    at: String,
    tree: String,
}

fn path(git_dir: &Path) -> PathBuf {
    git_dir.join("andon").join("receipt")
}

/// Leaves a receipt for `tree` in the git directory of the worktree, in place of any older one. `asked_by` is the id
/// of the process that ran the hook.
pub fn write(git_dir: &Path, tree: TreeId, asked_by: u32, at: Timestamp) -> Result<(), RecordError> {
    let path = path(git_dir);
    let wire = Wire { at: at.to_string(), tree: tree.to_string() };
    let text = format!("{asked_by}\n{}\n", serde_json::to_string(&wire).unwrap_or_default());
    file::replace(&path, &[text.as_bytes()]).map_err(|source| RecordError::Io {
        doing: "write",
        path,
        source,
    })
}

/// The tree that passed, if any. A receipt that cannot be read is none: it proves nothing.
pub fn peek(git_dir: &Path) -> Option<TreeId> {
    let bytes = file::read(&path(git_dir), MAX_BYTES).ok()??;
    let line = bytes.trim_ascii().split(|byte| *byte == b'\n').next_back()?;
    let wire: Wire = serde_json::from_slice(line).ok()?;
    wire.tree.parse().ok()
}

/// The tree that passed, if any, and no receipt afterwards: it holds for one commit.
pub fn take(git_dir: &Path) -> Option<TreeId> {
    let tree = peek(git_dir);
    // Without a file there is nothing to remove; a file that cannot be removed names a tree, and only that tree.
    let _ = std::fs::remove_file(path(git_dir));
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;
    use proptest::prelude::*;

    #[test]
    fn a_receipt_holds_for_one_commit() {
        let dir = tempfile::tempdir().unwrap();
        let tree = TreeId(Oid::from_bytes(&[7; 20]).unwrap());
        assert_eq!(take(dir.path()), None);
        write(dir.path(), TreeId(Oid::from_bytes(&[8; 20]).unwrap()), 1, Timestamp(0)).unwrap();
        write(dir.path(), tree, 1, Timestamp(0)).unwrap();
        assert_eq!(peek(dir.path()), Some(tree));
        assert_eq!(take(dir.path()), Some(tree));
        assert_eq!(take(dir.path()), None);
        assert_eq!(std::fs::read_dir(dir.path().join("andon")).unwrap().count(), 0);
    }

    #[test]
    fn a_broken_receipt_is_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("andon")).unwrap();
        for bytes in [&b""[..], b"{", b"\xff", b"{\"at\":\"\",\"tree\":\"x\"}", &[b'a'; 9999]] {
            std::fs::write(path(dir.path()), bytes).unwrap();
            assert_eq!(take(dir.path()), None);
            assert!(!path(dir.path()).exists());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_receipt_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let dir = tempfile::tempdir().unwrap();
            let tree = TreeId(Oid::from_bytes(&[7; 20]).unwrap());
            write(dir.path(), tree, 1, Timestamp(0)).unwrap();
            let good = std::fs::read(path(dir.path())).unwrap();
            // Cut anywhere it names no other tree.
            std::fs::write(path(dir.path()), &good[..cut.min(good.len())]).unwrap();
            prop_assert!(take(dir.path()).is_none_or(|found| found == tree));
            std::fs::write(path(dir.path()), &bytes).unwrap();
            let _ = take(dir.path());
            prop_assert!(!path(dir.path()).exists());
        }
    }
}
