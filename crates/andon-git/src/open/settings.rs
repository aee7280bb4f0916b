//! Reading git's configuration with all its sources, and changing the repository's own.
//!
//! For installing and diagnosing, never for a hook: it starts the git program, which alone sees `git -c`,
//! `GIT_CONFIG_COUNT` and every form of include (docs/git-facts.md).

use crate::error::GitError;
use crate::open::repo::Repo;

/// Where git found a value.
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
    /// All values of `key` in the order in which git reads them: the last one wins where only one counts.
    pub fn config_sources(&self, key: &str) -> Result<Vec<SourcedValue>, GitError> {
        let listed =
            self.git_as_configured(&["config", "--show-scope", "--show-origin", "--null", "--list"])?;
        let mut parts = listed.stdout.split(|byte| *byte == 0);
        let mut found = Vec::new();
        while let (Some(scope), Some(origin), Some(entry)) = (parts.next(), parts.next(), parts.next()) {
            let entry = String::from_utf8_lossy(entry);
            let (name, value) = entry.split_once('\n').unwrap_or((&entry, ""));
            if !same_key(name, key) {
                continue;
            }
            let Some(scope) = scope_of(scope) else { continue };
            let origin = String::from_utf8_lossy(origin);
            let origin = origin.strip_prefix("file:").unwrap_or(&origin).to_owned();
            found.push(SourcedValue { scope, origin, value: value.to_owned() });
        }
        Ok(found)
    }

    /// Every fetch refspec of every remote, as (remote, refspec).
    pub fn fetch_refspecs(&self) -> Result<Vec<(String, String)>, GitError> {
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
    pub fn config_add(&self, key: &str, value: &str) -> Result<(), GitError> {
        self.git(&["config", "--local", "--add", key, value], b"").map(|_| ())
    }

    /// Takes every value of `key` that equals `value` out of the repository's own configuration.
    /// It must be there.
    pub fn config_remove(&self, key: &str, value: &str) -> Result<(), GitError> {
        let pattern = format!("^{}$", regex::escape(value));
        self.git(&["config", "--local", "--unset-all", key, &pattern], b"").map(|_| ())
    }
}

/// Section and variable are compared without case, a subsection with it; git lists the former in lower case.
fn same_key(listed: &str, wanted: &str) -> bool {
    listed.eq_ignore_ascii_case(wanted)
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
