//! HEAD's reflog, newest first, read from the end of its file: the cost is that of the entries that are read.

use std::{io::Read as _, path::Path};

use crate::files::{from_end, open_plain};
use crate::platform::paths::{bytes_of, path_from_bytes};
use crate::{GitError, Repo, Result, objects::blob_id};
use andon_core::domain::{CommitKind, Oid};

/// The last bytes that are read, and how many more where these do not suffice.
const WINDOWS: [u64; 7] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];

/// One movement of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflogEntry {
    /// The old value; all zeros at the start of a branch.
    pub old: Oid,
    /// The new value.
    pub new: Oid,
    /// git's message, such as `commit (amend): subject`.
    pub message: String,
}

impl Repo {
    /// The last `max` movements of this worktree's HEAD, newest first. Empty without a reflog; lines that
    /// are no entries are skipped.
    pub fn reflog_head(&self, max: usize) -> Result<Vec<ReflogEntry>> {
        Ok(self.reflog_entries(max)?.collect())
    }

    /// The same, one after the other: mostly only the newest is needed.
    pub(crate) fn reflog_entries(&self, max: usize) -> Result<impl Iterator<Item = ReflogEntry> + use<>> {
        let path = self.git_dir().join("logs").join("HEAD");
        let lines = last_lines(&path, max).map_err(|source| GitError::Io { path, source })?;
        Ok(lines.into_iter().rev().filter_map(|line| parse(&line)).take(max))
    }
}

/// The last `max` whole lines of a file, oldest first; none when there is no file.
pub(crate) fn last_lines(path: &Path, max: usize) -> Result<Vec<Vec<u8>>, std::io::Error> {
    let mut last = Vec::new();
    let Some(mut file) = open_plain(path)? else { return Ok(last) };
    from_end(&mut file, &WINDOWS, |start, bytes| {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines: Vec<&[u8]> = lines.skip(usize::from(start > 0)).collect();
        last = lines[lines.len().saturating_sub(max)..].iter().map(|line| line.to_vec()).collect();
        (last.len() >= max).then_some(())
    })?;
    Ok(last)
}

/// `OLD SP NEW SP NAME <MAIL> TIME ZONE TAB MESSAGE`
fn parse(line: &[u8]) -> Option<ReflogEntry> {
    let text = String::from_utf8_lossy(line);
    let (head, message) = text.split_once('\t').unwrap_or((&text, ""));
    let mut words = head.splitn(3, ' ');
    let old = words.next()?.parse().ok()?;
    let new = words.next()?.parse().ok()?;
    Some(ReflogEntry { old, new, message: message.to_owned() })
}

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

    /// True for a commit that `git am` made.
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
        blob_id(&bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::testkit::Scratch;

    #[test]
    fn entries_come_newest_first_as_git_shows_them() {
        let scratch = Scratch::new();
        for content in ["1", "2", "3"] {
            scratch.commit("a", content, &format!("commit {content}\twith a tab"));
        }
        scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
        let log = scratch.open().reflog_head(10).unwrap();
        let by_git = scratch.git(&["reflog", "--format=%H %gs"]);
        let ours: Vec<String> = log.iter().map(|entry| format!("{} {}", entry.new, entry.message)).collect();
        assert_eq!(ours.join("\n"), by_git);
        assert!(log[3].old.is_zero());
        assert_eq!(scratch.open().reflog_head(2).unwrap(), log[..2]);
        assert_eq!(scratch.open().reflog_head(0).unwrap(), vec![]);
    }

    #[test]
    fn only_the_end_of_a_long_file_matters() {
        let scratch = Scratch::new();
        let mut text = String::new();
        for number in 0..20_000_u32 {
            writeln!(text, "{number:040x} {:040x} A <a@b> 1 +0000\tcommit: {number}", number + 1).unwrap();
        }
        let file = scratch.path().join(".git/logs/HEAD");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
        for max in [1, 2, 100, 5_000] {
            let log = scratch.open().reflog_head(max).unwrap();
            assert_eq!(log.len(), max);
            assert_eq!(log[0].message, "commit: 19999");
            assert_eq!(log[max - 1].message, format!("commit: {}", 20_000 - max));
        }
        std::fs::write(&file, format!("{text}half a li")).unwrap();
        assert_eq!(scratch.open().reflog_head(3).unwrap()[0].message, "commit: 19999");
    }

    #[test]
    fn no_reflog_is_no_error() {
        let scratch = Scratch::new();
        scratch.git(&["config", "core.logAllRefUpdates", "false"]);
        scratch.commit("a", "1", "one");
        assert_eq!(scratch.open().reflog_head(5).unwrap(), vec![]);
    }
}
