//! Two questions of the hooks about single things: was this commit made here, and what does this file hold now.

use std::io::Read as _;

use crate::platform::paths::{bytes_of, path_from_bytes};
use crate::{ReflogEntry, Repo};
use andon_core::domain::facts::CommitKind;
use andon_core::domain::ids::Oid;

/// Files larger than this are not hashed for a message.
const MAX_HASHED: u64 = 16 << 20;

impl ReflogEntry {
    /// The kind of commit that this move of HEAD made; `None` for moves that made none (checkout, reset, pull of
    /// what others made).
    pub fn made(&self) -> Option<CommitKind> {
        let (action, _) = self.message.split_once(':')?;
        let kind = match action {
            "commit" | "commit (initial)" | "am" => CommitKind::Normal,
            "commit (amend)" => CommitKind::Amend,
            "commit (merge)" => CommitKind::Merge,
            "cherry-pick" | "commit (cherry-pick)" => CommitKind::CherryPick,
            "revert" => CommitKind::Revert,
            _ if action.starts_with("rebase") && !action.contains("finish") && !action.contains("start") => {
                CommitKind::Rebase
            }
            _ if action.starts_with("merge ") && !self.message.contains("Fast-forward") => CommitKind::Merge,
            _ => return None,
        };
        Some(kind)
    }

    /// Whether it is that of a commit which `git am` made.
    pub fn is_patch(&self) -> bool {
        self.message.starts_with("am:")
    }
}

impl Repo {
    /// The blob id that a file of the working tree would have, without filters; `None` when it is not there, is
    /// no file or is very large. Looks at this one path only.
    pub fn worktree_blob(&self, path: &[u8]) -> Option<Oid> {
        let file = self.workdir()?.join(path_from_bytes(path));
        let meta = file.symlink_metadata().ok()?;
        let bytes = if meta.file_type().is_symlink() {
            bytes_of(std::fs::read_link(&file).ok()?.as_os_str()).into_owned()
        } else if meta.is_file() && meta.len() <= MAX_HASHED {
            let mut bytes = Vec::new();
            std::fs::File::open(&file).ok()?.take(MAX_HASHED).read_to_end(&mut bytes).ok()?;
            bytes
        } else {
            return None;
        };
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, &bytes).ok()?;
        Oid::from_bytes(id.as_bytes())
    }
}
