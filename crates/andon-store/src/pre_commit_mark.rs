//! The marks that the shim of pre-commit leaves (`hooks/pre-commit.sh`): "this git process ran pre-commit". By it
//! prepare-commit-msg distinguishes a commit that has to pass the gate from one with `--no-verify`, and from the steps
//! of a rebase, picks, reverts and clean merges, for which git runs no pre-commit either.
//!
//! A mark is the system's line about the process. It has the start time, so that the mark of a dead process does not
//! count for the next one with the same id. There is one file for each process; its name is the process id modulo
//! `SLOTS`, so that there are never more files, even where no program of ours ever sweeps.

use std::path::{Path, PathBuf};

use super::{GitProcess, file, process};

/// The number of names for marks, as the shim counts them.
const SLOTS: u32 = 1024;
/// More than a mark holds, in bytes.
const MAX_BYTES: u64 = 4096;

fn dir(git_dir: &Path) -> PathBuf {
    git_dir.join("andon").join("asked")
}

/// True if the shim ran for the nearest of the git processes `now`.
pub fn is_marked(git_dir: &Path, now: &[GitProcess]) -> bool {
    now.first().is_some_and(|git| marked(&dir(git_dir).join((git.pid % SLOTS).to_string())) == Some(*git))
}

/// Removes the marks of the git processes `now`, and those of processes that do not run any more.
pub fn sweep(git_dir: &Path, now: &[GitProcess]) {
    let Ok(entries) = std::fs::read_dir(dir(git_dir)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        // A file that is no mark yet may be one that is being written.
        let Some(git) = marked(&path) else { continue };
        if now.first() == Some(&git) || !process::is_running(&git) {
            // One that stays names a process that is dead.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn marked(path: &Path) -> Option<GitProcess> {
    process::of_stat(&file::read(path, MAX_BYTES).ok()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as the system has it.
    fn stat(pid: u32, name: &str, started: u64) -> String {
        format!("{pid} ({name}) S 4 4 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 {started} 1 2\n")
    }

    fn mark(git_dir: &Path, slot: u32, text: &str) {
        std::fs::create_dir_all(dir(git_dir)).unwrap();
        std::fs::write(dir(git_dir).join(slot.to_string()), text).unwrap();
    }

    #[test]
    fn a_mark_speaks_for_the_process_that_left_it() {
        let here = tempfile::tempdir().unwrap();
        let git = GitProcess { pid: 2048 + 7, started: 99 };
        assert!(!is_marked(here.path(), &[git]));
        let cases = [
            (stat(2048 + 7, "git", 99), true),
            // The number came again: of another start, and of another process in the same place of the ring.
            (stat(2048 + 7, "git", 98), false),
            (stat(1024 + 7, "git", 99), false),
            (stat(2048 + 7, "sh", 99), false),
            (String::new(), false),
            ("2055".to_owned(), false),
        ];
        for (text, wanted) in cases {
            mark(here.path(), 7, &text);
            assert_eq!(is_marked(here.path(), &[git]), wanted, "{text}");
            let above = GitProcess { pid: 3, started: 1 };
            assert!(!is_marked(here.path(), &[above, git]), "another git between");
            assert!(!is_marked(here.path(), &[]), "no process is known");
        }
    }

    #[test]
    fn what_is_over_is_swept_and_what_is_being_written_stays() {
        let here = tempfile::tempdir().unwrap();
        sweep(here.path(), &[]);
        let git = GitProcess { pid: 7, started: 99 };
        for (slot, text) in [(7, stat(7, "git", 99)), (8, stat(u32::MAX, "git", 1)), (9, String::new())] {
            mark(here.path(), slot, &text);
        }
        sweep(here.path(), &[git]);
        let left: Vec<_> = std::fs::read_dir(dir(here.path())).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].path().ends_with("9"));
    }
}
