//! git's own configuration: what the user set.
//!
//! libgit2 does not see `git -c` and `GIT_CONFIG_COUNT` (docs/git-facts.md): nothing that must hold against a
//! single command line may be asked here.

use crate::open::repo::Repo;

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
