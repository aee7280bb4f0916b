//! git's own configuration: what the user set, and on which level.
//!
//! libgit2 does not see `git -c` and `GIT_CONFIG_COUNT` (docs/git-facts.md): nothing that must hold against a
//! single command line may be asked here.

use crate::git::open::repo::Repo;

/// Where a value was set, in rising precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigLevel {
    /// The machine's configuration.
    System,
    /// The user's, `~/.config/git/config` or `~/.gitconfig`.
    Global,
    /// The repository's.
    Local,
    /// The linked worktree's own.
    Worktree,
}

/// One value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigValue {
    /// The value; bytes that are not UTF-8 are replaced.
    pub value: String,
    /// Where it was set.
    pub level: ConfigLevel,
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

    /// All values of `key`, lowest level first.
    pub fn config_all(&self, key: &str) -> Vec<ConfigValue> {
        if key.contains('\0') {
            return Vec::new();
        }
        let Ok(config) = self.inner.config() else { return Vec::new() };
        let mut found = Vec::new();
        if let Ok(entries) = config.multivar(key, None) {
            let _ended = entries.for_each(|entry| {
                found.push(ConfigValue { value: text(entry), level: level(entry.level()) });
            });
        }
        found.sort_by_key(|value| value.level);
        found
    }

    /// `Name <mail>` of the configured user, or `unknown`.
    pub fn identity(&self) -> String {
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

fn level(level: git2::ConfigLevel) -> ConfigLevel {
    match level {
        git2::ConfigLevel::ProgramData | git2::ConfigLevel::System => ConfigLevel::System,
        git2::ConfigLevel::XDG | git2::ConfigLevel::Global => ConfigLevel::Global,
        git2::ConfigLevel::Local => ConfigLevel::Local,
        git2::ConfigLevel::Worktree | git2::ConfigLevel::App | git2::ConfigLevel::Highest => {
            ConfigLevel::Worktree
        }
    }
}
