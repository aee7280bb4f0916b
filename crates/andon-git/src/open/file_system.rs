//! The abilities of the file system, where git's configuration makes git skip a check.
//!
//! `core.fileMode` and `core.ignoreCase` are for file systems that hold less than git does. Set on one that holds it all,
//! they hide changes: the tests then ran on something else than a commit has. So a file system is tried, as `git init`
//! tries it, before such a setting is believed.

use std::{ffi::OsString, path::Path};

use crate::{Repo, platform::files};

/// Who says whether a file is executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modes {
    /// The file, and git looks at it too.
    OnDisk,
    /// The file, although git is configured to skip it.
    OnDiskUnseen,
    /// The index: the file system cannot tell.
    InIndex,
}

/// The settings of one look at the working tree.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) modes: Modes,
    /// Options for the git program that make it look at what there is.
    pub(crate) options: Vec<OsString>,
}

impl Repo {
    /// Has git look at what there is, whatever its configuration says. No program of the configuration is started.
    pub(crate) fn honest_settings(&self, top: &Path) -> Settings {
        let off = self.config_string("core.filemode").is_some_and(|value| is_false(&value));
        let modes = match off {
            false => Modes::OnDisk,
            true if holds_modes(&self.git_dir, top) => Modes::OnDiskUnseen,
            true => Modes::InIndex,
        };
        let mut settings = vec![
            "core.fsmonitor=false",
            "core.untrackedCache=false",
            "core.trustctime=true",
            "core.checkStat=default",
        ];
        if modes != Modes::InIndex {
            settings.push("core.fileMode=true");
        }
        // The file is called `config`: only where case does not matter it is there by this name too.
        if !self.common_dir.join("CoNfIg").exists() {
            settings.push("core.ignoreCase=false");
        }
        let options = settings.into_iter().flat_map(|setting| ["-c", setting]).map(OsString::from).collect();
        Settings { modes, options }
    }
}

/// True if the file system of `git_dir` keeps the executable bit; false where `top` is on another, unknown one.
fn holds_modes(git_dir: &Path, top: &Path) -> bool {
    let device = |path: &Path| path.metadata().ok().map(|meta| files::stat(&meta).device);
    let Ok(file) = tempfile::NamedTempFile::new_in(git_dir) else { return false };
    let keeps = |mode: u32| {
        let set = files::permissions(mode).is_some_and(|mode| file.as_file().set_permissions(mode).is_ok());
        let executes = file.path().metadata().map(|meta| files::owner_executes(&meta));
        set && executes.is_ok_and(|executes| executes == (mode & 0o100 != 0))
    };
    device(git_dir) == device(top) && keeps(0o700) && keeps(0o600)
}

/// As git reads a boolean.
pub(crate) fn is_false(value: &str) -> bool {
    ["false", "no", "off", "0", ""].iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    #[test]
    fn what_the_file_system_holds_is_not_taken_from_the_configuration() {
        let scratch = Scratch::new();
        let modes = || scratch.open().honest_settings(&scratch.path()).modes;
        assert_eq!(modes(), Modes::OnDisk);
        for value in ["false", "No", "0"] {
            scratch.git(&["config", "core.fileMode", value]);
            assert_eq!(modes(), Modes::OnDiskUnseen, "{value}");
        }
        assert!(!holds_modes(Path::new("/proc"), Path::new("/proc")));
        assert!(!holds_modes(&scratch.path(), Path::new("/proc")));
        let left: Vec<_> = std::fs::read_dir(scratch.path().join(".git"))
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".tmp"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
