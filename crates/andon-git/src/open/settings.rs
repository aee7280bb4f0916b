//! Reading git's configuration with all its sources, and changing the repository's own.
//!
//! For installing and diagnosing, never for a hook: it starts the git program, which alone sees `git -c`,
//! `GIT_CONFIG_COUNT` and every form of include (docs/git-facts.md).

use std::{collections::BTreeSet, path::PathBuf};

use crate::{Repo, Result, platform::paths::path_from_bytes};

/// The source of a value in git's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigScope {
    /// The machine's configuration.
    System,
    /// The user's.
    Global,
    /// The repository's.
    Local,
    /// The linked worktree's own.
    Worktree,
    /// `git -c`, `GIT_CONFIG_COUNT` or `GIT_CONFIG_PARAMETERS`: for this command only.
    Command,
}

/// One value of a key, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedValue {
    /// The scope of the configuration file: local, global, system.
    pub scope: ConfigScope,
    /// The file, or `command line`; as git says it, without `file:`.
    pub origin: String,
    /// The value; bytes that are not UTF-8 are replaced.
    pub value: String,
}

impl Repo {
    /// The directory in which git looks for hooks, as `git rev-parse --git-path hooks` says (`core.hooksPath` honoured).
    /// Starts a process: for installing, never for a hook.
    pub fn hooks_dir(&self) -> Result<PathBuf> {
        let output = self.git_as_configured(&["rev-parse", "--git-path", "hooks"])?;
        let path = path_from_bytes(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout));
        Ok(self.workdir().unwrap_or(self.git_dir()).join(path))
    }

    /// The directory that `core.hooksPath` of the user, else of the machine, names, whatever this repository sets. Starts processes.
    pub fn shared_hooks_dir(&self) -> Option<PathBuf> {
        let of = |scope: &str| {
            let args = ["config", scope, "--includes", "--type=path", "--get", "core.hooksPath"];
            let output = self.git_as_configured(&args).ok()?;
            let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
            (!path.is_empty()).then(|| path_from_bytes(path))
        };
        of("--global").or_else(|| of("--system"))
    }

    /// All values of `key` in the order in which git reads them: the last one wins where only one counts.
    pub fn config_sources(&self, key: &str) -> Result<Vec<SourcedValue>> {
        let listed =
            self.git_as_configured(&["config", "--show-scope", "--show-origin", "--null", "--list"])?;
        let mut parts = listed.stdout.split(|byte| *byte == 0);
        let mut found = Vec::new();
        while let (Some(scope), Some(origin), Some(entry)) = (parts.next(), parts.next(), parts.next()) {
            let entry = String::from_utf8_lossy(entry);
            let (name, value) = entry.split_once('\n').unwrap_or((&entry, ""));
            if !name.eq_ignore_ascii_case(key) {
                continue;
            }
            let Some(scope) = scope_of(scope) else { continue };
            let origin = String::from_utf8_lossy(origin);
            let origin = origin.strip_prefix("file:").unwrap_or(&origin).to_owned();
            found.push(SourcedValue { scope, origin, value: value.to_owned() });
        }
        Ok(found)
    }

    /// The files in which git looks for its configuration here, as it says itself, whether they are there or not. Starts processes.
    pub fn config_files(&self) -> Result<BTreeSet<PathBuf>> {
        let base = self.workdir().unwrap_or(self.git_dir());
        let listed = self.git_as_configured(&["config", "--show-origin", "--null", "--list"])?;
        let origins = listed.stdout.split(|byte| *byte == 0).filter_map(|part| part.strip_prefix(b"file:"));
        let mut files: BTreeSet<PathBuf> = origins.map(|path| base.join(path_from_bytes(path))).collect();
        files.extend([self.common_dir().join("config"), self.git_dir().join("config.worktree")]);
        for name in ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"] {
            // An older git does not say it.
            let Ok(output) = self.git_as_configured(&["var", name]) else { continue };
            let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            files.extend(lines.map(path_from_bytes));
        }
        Ok(files)
    }

    /// Every fetch refspec of every remote, as (remote, refspec).
    pub fn fetch_refspecs(&self) -> Result<Vec<(String, String)>> {
        let listed = self.git_as_configured(&["config", "--null", "--list"])?;
        let entries = listed.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let found = entries.filter_map(|entry| {
            let (name, value) = entry.split_once('\n')?;
            let remote = name.strip_prefix("remote.")?.strip_suffix(".fetch")?;
            Some((remote.to_owned(), value.to_owned()))
        });
        Ok(found.collect())
    }

    /// Adds a value to `key` in the repository's own configuration.
    pub fn config_add(&self, key: &str, value: &str) -> Result<()> {
        self.git(&["config", "--local", "--add", key, value], b"").map(|_| ())
    }

    /// Takes every value of `key` that equals `value` out of the repository's own configuration.
    /// It must be there.
    pub fn config_remove(&self, key: &str, value: &str) -> Result<()> {
        let pattern = format!("^{}$", regex::escape(value));
        self.git(&["config", "--local", "--unset-all", key, &pattern], b"").map(|_| ())
    }
}

fn scope_of(word: &[u8]) -> Option<ConfigScope> {
    match word {
        b"system" => Some(ConfigScope::System),
        b"global" => Some(ConfigScope::Global),
        b"local" => Some(ConfigScope::Local),
        b"worktree" => Some(ConfigScope::Worktree),
        b"command" => Some(ConfigScope::Command),
        _ => None,
    }
}

impl Repo {
    /// The effective value of `key`; `None` when unset or unreadable.
    pub fn config_string(&self, key: &str) -> Option<String> {
        if key.contains('\0') {
            return None;
        }
        // Not of a snapshot: that copies the whole configuration.
        let entry = self.inner.config().ok()?;
        let entry = entry.get_entry(key).ok()?;
        Some(text(&entry))
    }

    /// `Name <mail>` of the configured user, or `unknown`.
    pub fn committer(&self) -> String {
        match (self.config_string("user.name"), self.config_string("user.email")) {
            (Some(name), Some(mail)) => format!("{name} <{mail}>"),
            (Some(name), None) => name,
            (None, Some(mail)) => format!("<{mail}>"),
            (None, None) => "unknown".to_owned(),
        }
    }
}

/// The value; a key without `=` means true to git.
fn text(entry: &git2::ConfigEntry<'_>) -> String {
    let value = if entry.has_value() { entry.value_bytes() } else { b"true" };
    String::from_utf8_lossy(value).into_owned()
}
