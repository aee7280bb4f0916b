//! The tip that our own last write gave a notes ref: `<common dir>/andon/written/<ref>`.
//!
//! Only a hint of where to look: [`crate::git::Repo::notes_restore`] puts back what others lost, by comparing trees.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use crate::domain::ids::CommitId;
use crate::git::files::read_plain;
use crate::git::open::repo::Repo;
use crate::platform::files::never_following;

/// Longest content: an id and its line end.
const MAX: u64 = 65;

impl Repo {
    fn written_file(&self, name: &str) -> PathBuf {
        self.common_dir().join("andon").join("written").join(name)
    }

    /// The tip that our last write left, where it is known.
    pub(in crate::git) fn written_tip(&self, name: &str) -> Option<CommitId> {
        let bytes = read_plain(&self.written_file(name), MAX).ok()??;
        std::str::from_utf8(&bytes).ok()?.trim_end().parse().ok()
    }

    /// Remembers the tip of notes ref `name`, under its lock; ledgers have one writer each and need none. Where it cannot be
    /// written nothing is lost but this.
    pub(in crate::git) fn remember_written(&self, name: &str, tip: CommitId) {
        if !name.starts_with("refs/notes/") {
            return;
        }
        let path = self.written_file(name);
        // In place: one write of always the same length.
        let open =
            || never_following(OpenOptions::new().write(true).create(true).truncate(false)).open(&path);
        let opened =
            open().or_else(|_| path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| open()));
        let _a_hint = opened.and_then(|mut file| file.write_all(format!("{tip}\n").as_bytes()));
    }
}
