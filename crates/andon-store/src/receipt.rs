//! The receipts that the gate leaves for post-commit: "this tree passed, on top of this commit". A commit that has none
//! went around it (`--no-verify`). post-commit takes them away when its record is written, so that those of a
//! post-commit that was killed are still there for the next one, and tell it from hooks that were off.
//!
//! One line a receipt, the newest last. A receipt says what passed the tests' gate and nothing else: every hook asks
//! the ledger for an unanswered halt. It names the git process that it was made for, so that a stale or forged receipt
//! does not count for the commit of another process.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{GitProcess, RecordError, Result, file, process};
use andon_core::domain::{CommitId, Skip, Timestamp, TreeId};

const MAX_BYTES: u64 = 64 << 10;
/// Receipts that are kept: of commits that were given up, or whose post-commit was cut short.
const MAX_KEPT: usize = 8;

/// A tree that passed the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The tree that was to be committed.
    pub tree: TreeId,
    /// HEAD then; `None` before the first commit.
    pub head: Option<CommitId>,
    /// The rules that were passed over for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skip>,
    /// The git processes above the hook; empty where the system does not tell.
    #[serde(default, rename = "by", skip_serializing_if = "Vec::is_empty")]
    pub asked_by: Vec<GitProcess>,
}

impl Receipt {
    /// True when the receipt is for the commit that the git processes `now` make. Unknown is no contradiction: where the system
    /// does not report processes, receipts name none.
    pub fn is_of(&self, now: &[GitProcess]) -> bool {
        now.is_empty() || now.iter().any(|one| self.asked_by.contains(one))
    }

    /// The same of the nearest git process alone: a rebase makes commits of several.
    pub fn is_nearest_of(&self, now: &[GitProcess]) -> bool {
        self.asked_by.first() == now.first()
    }
}

/// A receipt as it is stored, with the time for people who look at it.
#[derive(Serialize)]
struct StoredReceipt<'a> {
    at: Timestamp,
    #[serde(flatten)]
    receipt: &'a Receipt,
}

fn path(git_dir: &Path) -> PathBuf {
    git_dir.join("andon").join("receipt")
}

/// Leaves a receipt in the git directory of the worktree, next to older ones.
pub fn write(git_dir: &Path, receipt: &Receipt, at: Timestamp) -> Result<()> {
    let path = path(git_dir);
    let older = lines(&path);
    let beyond = older.len().saturating_sub(MAX_KEPT - 1);
    let mut text = String::new();
    let same = |known: &Receipt| (known.tree, known.head) == (receipt.tree, receipt.head);
    let kept = older.iter().skip(beyond).filter(|(_, known)| !same(known)).map(|(line, _)| line.clone());
    for line in kept.chain([serde_json::to_string(&StoredReceipt { at, receipt }).unwrap_or_default()]) {
        text.push_str(&line);
        text.push('\n');
    }
    file::replace(&path, text.as_bytes()).map_err(|source| RecordError::Io { doing: "write", path, source })
}

/// Returns the receipts of what passed and is not recorded yet, the newest last. A receipt that cannot be read is none: it
/// proves nothing.
pub fn read(git_dir: &Path) -> Vec<Receipt> {
    lines(&path(git_dir)).into_iter().map(|(_, receipt)| receipt).collect()
}

/// Takes the receipts away: each holds for one commit, and that of the git processes `now` is recorded. Those of commits
/// that others are making meanwhile stay.
pub fn clear(git_dir: &Path, now: &[GitProcess]) {
    let path = path(git_dir);
    let awaited =
        |receipt: &Receipt| !receipt.is_of(now) && receipt.asked_by.first().is_some_and(process::is_running);
    let kept: String =
        lines(&path).into_iter().filter(|(_, one)| awaited(one)).map(|(line, _)| line + "\n").collect();
    // Without a file there is nothing to remove; a file that cannot be removed names trees, and only those.
    let _ = if kept.is_empty() { std::fs::remove_file(path) } else { file::replace(&path, kept.as_bytes()) };
}

fn lines(path: &Path) -> Vec<(String, Receipt)> {
    let Ok(Some(bytes)) = file::read(path, MAX_BYTES) else { return Vec::new() };
    // Older versions began the file with a number.
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")).filter_map(|line| {
        let mut receipt: Receipt = serde_json::from_slice(line).ok()?;
        receipt.skipped.truncate(Skip::MAX);
        Some((String::from_utf8(line.to_vec()).ok()?, receipt))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use andon_core::domain::Oid;

    fn receipt(byte: u8) -> Receipt {
        let id = Oid::from_bytes(&[byte; 20]).unwrap();
        let skip = Skip { rule: "untested-edit".into(), reason: "a\n\u{1b}b".into(), agent: None };
        let head = byte.is_multiple_of(2).then_some(CommitId(id));
        let asked_by = vec![GitProcess { pid: u32::from(byte), started: 7 }; usize::from(byte % 3)];
        Receipt { tree: TreeId(id), head, skipped: vec![skip; usize::from(byte % 2)], asked_by }
    }

    #[test]
    fn receipts_hold_until_they_are_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), []);
        for byte in [8, 7, 8] {
            write(dir.path(), &receipt(byte), Timestamp(0)).unwrap();
        }
        // One that comes again is the newest.
        assert_eq!(read(dir.path()), [receipt(7), receipt(8)]);
        clear(dir.path(), &[]);
        assert_eq!(read(dir.path()), []);
        assert_eq!(std::fs::read_dir(dir.path().join("andon")).unwrap().count(), 0);
    }

    #[test]
    fn only_so_many_are_kept_and_all_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        for byte in 0..40 {
            write(dir.path(), &receipt(byte * 2), Timestamp(i64::from(u32::MAX))).unwrap();
        }
        let kept: Vec<Receipt> = (32..40).map(|byte| receipt(byte * 2)).collect();
        assert_eq!(read(dir.path()), kept);
    }

    #[test]
    fn a_receipt_speaks_for_the_process_that_was_asked() {
        let one = GitProcess { pid: 10, started: 1 };
        // The number was given to another process since.
        let other = GitProcess { pid: 10, started: 2 };
        let of = |asked_by: &[GitProcess]| Receipt { asked_by: asked_by.to_vec(), ..receipt(8) };
        assert!(of(&[one]).is_of(&[one]) && of(&[one, other]).is_of(&[other]));
        assert!(!of(&[one]).is_of(&[other]) && !of(&[]).is_of(&[one]));
        assert!(of(&[one]).is_of(&[]) && of(&[]).is_of(&[]));
    }

    #[test]
    fn a_broken_receipt_is_none() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("andon")).unwrap();
        for bytes in [&b""[..], b"{", b"\xff", b"{\"at\":\"\",\"tree\":\"x\"}", &b"a".repeat(99_999)] {
            std::fs::write(path(dir.path()), bytes).unwrap();
            assert_eq!(read(dir.path()), []);
            clear(dir.path(), &[]);
            assert!(!path(dir.path()).exists());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_receipt_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), &receipt(8), Timestamp(0)).unwrap();
            let good = std::fs::read(path(dir.path())).unwrap();
            // Cut anywhere it names no other tree.
            std::fs::write(path(dir.path()), &good[..cut.min(good.len())]).unwrap();
            prop_assert!(read(dir.path()).iter().all(|found| *found == receipt(8)));
            std::fs::write(path(dir.path()), &bytes).unwrap();
            let _ = read(dir.path());
        }
    }
}
