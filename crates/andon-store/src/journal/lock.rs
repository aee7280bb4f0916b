//! The lock for appends that depend on what the journal already holds: hooks of parallel calls run at the same time.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::Duration;

use super::super::file;
use super::Journal;

/// How often to try, and the pause in between: a second at most, because a client waits.
const ATTEMPTS: u32 = 250;
const PAUSE: Duration = Duration::from_millis(4);

/// While this lives no other process has one of the same journal. It ends with its process, too.
#[derive(Debug)]
pub struct JournalLock {
    _locked: File,
}

impl Journal {
    /// Waits for the others. `None` where that took too long, or the file system has no locks: the caller then
    /// continues without.
    pub fn alone(&self) -> Option<JournalLock> {
        let locked = file::open_append(&self.dir.join(format!("{}.lock", self.name))).ok()?;
        for _ in 0..ATTEMPTS {
            match locked.try_lock() {
                Ok(()) => return Some(JournalLock { _locked: locked }),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other_and_not_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::of_agents(dir.path());
        let first = journal.alone().unwrap();
        assert!(journal.alone().is_none());
        drop(first);
        assert!(journal.alone().is_some());
        assert!(Journal::of_agents(std::path::Path::new("/dev/null/x")).alone().is_none());
    }
}
