//! The receipt that pre-commit leaves for post-commit: "this tree passed the gate". A commit whose tree has no
//! receipt went around it (`--no-verify`).
//!
//! Two lines: the id of the git process whose pre-commit it was, which the shim of prepare-commit-msg reads to
//! know that this very process was asked already, and the tree.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RecordError, file};
use crate::domain::facts::Skip;
use crate::domain::ids::TreeId;
use crate::domain::time::Timestamp;

const MAX_BYTES: u64 = 32 << 10;

#[derive(Serialize, Deserialize)]
struct Wire {
    at: String,
    tree: String,
    /// Rule, reason and marker of an agent's shell of what was passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<(String, String, Option<String>)>,
}

/// What pre-commit let pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The tree.
    pub tree: TreeId,
    /// What was passed over for it.
    pub skipped: Vec<Skip>,
}

fn path(git_dir: &Path) -> PathBuf {
    git_dir.join("andon").join("receipt")
}

/// Leaves a receipt in the git directory of the worktree, in place of any older one. `asked_by` is the id
/// of the process that ran the hook; 0 when prepare-commit-msg must be asked all the same.
pub fn write(git_dir: &Path, receipt: &Receipt, asked_by: u32, at: Timestamp) -> Result<(), RecordError> {
    let path = path(git_dir);
    let said = |skip: &Skip| (skip.rule.clone(), skip.reason.clone(), skip.agent.clone());
    let skipped = receipt.skipped.iter().map(said).collect();
    let wire = Wire { at: at.to_string(), tree: receipt.tree.to_string(), skipped };
    let text = format!("{asked_by}\n{}\n", serde_json::to_string(&wire).unwrap_or_default());
    file::replace(&path, &[text.as_bytes()]).map_err(|source| RecordError::Io {
        doing: "write",
        path,
        source,
    })
}

/// What passed, if anything. A receipt that cannot be read is none: it proves nothing.
pub fn peek(git_dir: &Path) -> Option<Receipt> {
    let bytes = file::read(&path(git_dir), MAX_BYTES).ok()??;
    let line = bytes.trim_ascii().split(|byte| *byte == b'\n').next_back()?;
    let wire: Wire = serde_json::from_slice(line).ok()?;
    let skip = |(rule, reason, agent)| Skip { rule, reason, agent };
    let skipped = wire.skipped.into_iter().take(Skip::MAX).map(skip).collect();
    Some(Receipt { tree: wire.tree.parse().ok()?, skipped })
}

/// What passed, if anything, and no receipt afterwards: it holds for one commit.
pub fn take(git_dir: &Path) -> Option<Receipt> {
    let receipt = peek(git_dir);
    // Without a file there is nothing to remove; a file that cannot be removed names a tree, and only that tree.
    let _ = std::fs::remove_file(path(git_dir));
    receipt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;
    use proptest::prelude::*;

    fn of(byte: u8) -> Receipt {
        let skip = Skip { rule: "untested-edit".into(), reason: "a\n\u{1b}b".into(), agent: None };
        Receipt { tree: TreeId(Oid::from_bytes(&[byte; 20]).unwrap()), skipped: vec![skip] }
    }

    #[test]
    fn a_receipt_holds_for_one_commit() {
        let dir = tempfile::tempdir().unwrap();
        let tree = of(7);
        assert_eq!(take(dir.path()), None);
        write(dir.path(), &of(8), 1, Timestamp(0)).unwrap();
        write(dir.path(), &tree, 1, Timestamp(0)).unwrap();
        assert_eq!(peek(dir.path()), Some(tree.clone()));
        assert_eq!(take(dir.path()), Some(tree));
        assert_eq!(take(dir.path()), None);
        assert_eq!(std::fs::read_dir(dir.path().join("andon")).unwrap().count(), 0);
    }

    #[test]
    fn a_broken_receipt_is_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("andon")).unwrap();
        for bytes in [&b""[..], b"{", b"\xff", b"{\"at\":\"\",\"tree\":\"x\"}", &b"a".repeat(99_999)] {
            std::fs::write(path(dir.path()), bytes).unwrap();
            assert_eq!(take(dir.path()), None);
            assert!(!path(dir.path()).exists());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_receipt_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let dir = tempfile::tempdir().unwrap();
            let tree = of(7);
            write(dir.path(), &tree, 1, Timestamp(0)).unwrap();
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
