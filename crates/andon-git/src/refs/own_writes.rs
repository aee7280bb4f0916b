//! The tips that our own writes gave a notes ref: `<common dir>/andon/written/<ref>`, one a line, newest last.
//!
//! Only a hint where to look: [`crate::Repo::notes_restore`] restores what others lost, by comparing trees. There is
//! one tip as long as each write of ours begins where the last one ended. Where another program has moved the ref in
//! between, a note that it may have dropped is only in the older tip, which is kept until it was compared.

use std::fs::{self, OpenOptions};
use std::{io::Write as _, path::PathBuf};

use crate::{Repo, files::read_plain, platform::files::never_following};
use andon_core::domain::CommitId;

/// Most tips that are kept.
const TIPS: usize = 16;
/// Longest content: so many ids, each with its line end.
const MAX: u64 = 65 * TIPS as u64;

impl Repo {
    fn written_file(&self, name: &str) -> PathBuf {
        self.common_dir().join("andon").join("written").join(name)
    }

    /// The tips that our writes left since it was last compared what others had lost, oldest first.
    pub fn written_tips(&self, name: &str) -> Vec<CommitId> {
        let bytes = read_plain(&self.written_file(name), MAX).ok().flatten().unwrap_or_default();
        // A reader during a write may see half a line, which is no id.
        std::str::from_utf8(&bytes).unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Remembers, under the lock of notes ref `name`, that it moves from `before` to `tip`; ledgers have one writer
    /// each and do not need this. Where it cannot be written, only this hint is lost.
    pub fn remember_written(&self, name: &str, before: Option<CommitId>, tip: CommitId) {
        let mut tips = self.written_tips(name);
        tips.retain(|known| Some(*known) != before && *known != tip);
        tips.push(tip);
        tips.drain(..tips.len().saturating_sub(TIPS));
        self.write_tips(name, &tips);
    }

    /// The same where `tip` holds all that was written before.
    pub(crate) fn remember_whole(&self, name: &str, tip: CommitId) {
        self.write_tips(name, &[tip]);
    }

    fn write_tips(&self, name: &str, tips: &[CommitId]) {
        if !name.starts_with("refs/notes/") {
            return;
        }
        let text: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
        let path = self.written_file(name);
        // In place, and cut afterwards: a process that dies in between leaves tips too many, which cost a comparison.
        let open =
            || never_following(OpenOptions::new().write(true).create(true).truncate(false)).open(&path);
        let opened =
            open().or_else(|_| path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| open()));
        let _a_hint = opened.and_then(|mut file| {
            file.write_all(text.as_bytes()).and_then(|()| file.set_len(text.len() as u64))
        });
    }
}
