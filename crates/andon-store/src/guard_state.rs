//! The guard of the loop as it was before the tool calls that run now: kept from one hook of a client to the next.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, time::SystemTime};

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::{GitProcess, RecordError, Result, file, process};
use andon_core::domain::{AgentFact, Digest};
use andon_git::platform::files;

/// More than this is no such file.
const MAX_BYTES: u64 = 4 << 20;

/// The part that a kept file plays for the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardPart {
    /// A hook of git.
    Hook,
    /// Settings by which a client starts Andon.
    Settings,
    /// Other settings, which could switch off what those start.
    Switch,
    /// A file of a halt, a stop or a pause.
    Halt,
    /// The person's own configuration of Andon.
    UserConfig,
    /// The repository's own configuration: it may change, and is kept for the place of the hooks in it.
    Config,
    /// A file that installing changed: commands of Andon's write it.
    Installed,
}

/// A file that guards the loop, as it was before a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardFile {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The place behind the links of that path.
    #[serde(default)]
    pub real: Option<PathBuf>,
    /// The part that the file plays for the guard.
    pub part: GuardPart,
    /// Its text; `None` of one that is not there, or no text.
    pub text: Option<String>,
    /// True for a file that the system may start.
    pub executable: bool,
}

/// Everything that guards a loop, as it was before the calls that run now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GuardSnapshot {
    /// The session whose calls run.
    pub session: Option<String>,
    /// The number of calls that run now.
    pub open: u32,
    /// True while their turn goes on: what is taken away between two of its calls is put back too.
    #[serde(default)]
    pub in_turn: bool,
    /// git started Andon through every hook that is needed.
    pub armed: bool,
    /// The effective `core.hooksPath`.
    pub hooks_path: Option<String>,
    /// The folder in which git looks for hooks, as git itself reports it.
    pub hooks_dir: Option<PathBuf>,
    /// The files in which that is configured, each with its time and length: git is asked again once one of them is another.
    #[serde(default)]
    pub configured_in: BTreeMap<PathBuf, Option<FileStamp>>,
    /// The commit that was HEAD then.
    pub head: Option<String>,
    /// The object of the newest stash, where there was one.
    pub stash: Option<String>,
    /// Every file that guards the loop.
    pub files: Vec<GuardFile>,
    /// The refs of records and halts, each with its object.
    pub refs: Vec<(String, String)>,
    /// The extents of the journals of this worktree, which are only appended to: facts, attempts and what agents did.
    #[serde(default)]
    pub journals: [(u64, u64); 3],
    /// The hook that was heard last before a call; a record names the client whose call makes the commit.
    #[serde(default)]
    pub heard: Option<AgentFact>,
    /// The client's own process, where the system tells.
    pub client: Option<GitProcess>,
}

/// The time at which a file was written, and its length.
pub type FileStamp = (SystemTime, u64);

/// The stamp of a file; `None` of one that is not there.
pub fn stamp(path: &Path) -> Option<FileStamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

fn path(git_dir: &Path) -> PathBuf {
    git_dir.join("andon").join("guard-state.json")
}

/// The places of the snapshot of one repository: its git directory, and while calls run a folder of the user, which outlives all
/// that is lost with the repository's own.
#[derive(Debug, Clone)]
pub struct GuardStore {
    own: PathBuf,
    outside: Option<PathBuf>,
}

impl GuardStore {
    /// The store for a repository, where the user has the folder `user_dir` of Andon's.
    pub fn of(git_dir: &Path, user_dir: Option<&Path>) -> Self {
        let name = Digest(sha2::Sha256::digest(git_dir.as_os_str().as_encoded_bytes()).into()).to_string();
        let outside = |dir: &Path| dir.join("guarded").join(name).with_extension("json");
        Self { own: path(git_dir), outside: user_dir.map(outside) }
    }

    /// The snapshot; `None` where neither place has one that can be read.
    pub fn read(&self) -> Option<GuardSnapshot> {
        read(&self.own).or_else(|| self.outside())
    }

    /// The one in the folder of the user.
    pub fn outside(&self) -> Option<GuardSnapshot> {
        read(self.outside.as_ref()?)
    }

    /// Keeps a snapshot in the git directory, and in the folder of the user while calls run, unless that holds `before`, which was
    /// read here and says the same. The number of calls, the journals and the time of the last one are not kept there.
    ///
    /// # Errors
    /// [`RecordError::Io`] naming the file in the git directory: a home that cannot be written keeps no call from being made.
    pub fn keep(&self, snapshot: &GuardSnapshot, before: Option<&GuardSnapshot>) -> Result<()> {
        if let Some(outside) = self.outside.as_ref().filter(|_| snapshot.open > 0) {
            let of = |one: &GuardSnapshot| GuardSnapshot {
                open: 1,
                journals: Default::default(),
                heard: None,
                ..one.clone()
            };
            let copy = of(snapshot);
            let is_same = before.is_some_and(|before| of(before) == copy);
            if !(is_same && outside.is_file()) {
                let _ = write(outside, &copy);
            }
        }
        write(&self.own, snapshot)
    }

    /// No call runs any more: the snapshot stays in the git directory.
    ///
    /// # Errors
    /// [`RecordError::Io`] naming the file.
    pub fn close(&self, snapshot: GuardSnapshot) -> Result<()> {
        self.outside.as_ref().map(std::fs::remove_file);
        write(&self.own, &GuardSnapshot { open: 0, in_turn: false, ..snapshot })
    }

    /// Removes the snapshot from both places.
    pub fn forget(&self) {
        // One that is not there is forgotten.
        [Some(&self.own), self.outside.as_ref()].into_iter().flatten().for_each(|path| {
            let _ = std::fs::remove_file(path);
        });
    }
}

fn read(path: &Path) -> Option<GuardSnapshot> {
    serde_json::from_slice(&file::read(path, MAX_BYTES).ok()??).ok()
}

fn write(path: &Path, snapshot: &GuardSnapshot) -> Result<()> {
    let text = serde_json::to_vec(snapshot).unwrap_or_default();
    // Settings may hold keys.
    let own = |()| files::permissions(0o600).map_or(Ok(()), |mode| std::fs::set_permissions(path, mode));
    let written = file::replace(path, &text).and_then(own);
    written.map_err(|source| RecordError::Io { doing: "write", path: path.to_owned(), source })
}

impl GuardSnapshot {
    /// True while the turn whose calls these are goes on, as far as hooks and the system tell: a client may be killed in it.
    pub fn is_live(&self) -> bool {
        (self.open > 0 || self.in_turn) && self.client.is_none_or(|client| process::is_running(&client))
    }

    /// The kept one; `None` where there is none that can be read.
    pub fn read(git_dir: &Path) -> Option<Self> {
        read(&path(git_dir))
    }
}

/// The process of the client, of which one that runs somewhere above `parent`.
pub fn client_above(git_dir: &Path, parent: u32) -> Option<u32> {
    let client = GuardSnapshot::read(git_dir)?.client?;
    process::above(parent).contains(&client).then_some(client.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(GuardSnapshot::read(dir.path()), None);
        let file = GuardFile {
            path: "/w/.git/hooks/pre-commit".into(),
            real: None,
            part: GuardPart::Hook,
            text: Some("#!/bin/sh\n".into()),
            executable: true,
        };
        let kept = GuardSnapshot {
            open: 2,
            armed: true,
            files: vec![file],
            refs: vec![("refs/notes/andon".into(), "1".repeat(40))],
            ..GuardSnapshot::default()
        };
        GuardStore::of(dir.path(), None).keep(&kept, None).unwrap();
        assert_eq!(GuardSnapshot::read(dir.path()), Some(kept));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = path(dir.path()).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "readable by its owner alone");
        }
        let store = GuardStore::of(dir.path(), Some(dir.path()));
        let calls = |open| GuardSnapshot { open, ..GuardSnapshot::default() };
        store.keep(&calls(1), None).unwrap();
        let stamped = || stamp(store.outside.as_ref().unwrap());
        let first = stamped();
        store.keep(&calls(3), Some(&calls(1))).unwrap();
        assert_eq!(stamped(), first, "how many calls run is no reason to write it again");
        assert_eq!([store.read(), store.outside()].map(|kept| kept.unwrap().open), [3, 1]);
        std::fs::write(path(dir.path()), "{").unwrap();
        assert_eq!((GuardSnapshot::read(dir.path()), store.read()), (None, Some(calls(1))));
        store.close(calls(1)).unwrap();
        assert_eq!((store.outside(), store.read(), first.is_some()), (None, Some(calls(0)), true));
        store.forget();
        assert_eq!(store.read(), None);
    }
}
