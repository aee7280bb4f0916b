//! Where git looks for hooks: only the program knows (`core.hooksPath`, worktree configuration, includes).

use std::path::PathBuf;

use crate::error::GitError;
use crate::open::repo::Repo;
use crate::platform::paths::path_from_bytes;

/// A linked worktree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// The name that git gives it, unique in the repository.
    pub name: String,
    /// Its own git directory.
    pub git_dir: PathBuf,
    /// The top of its working tree.
    pub top: Option<PathBuf>,
}

impl Repo {
    /// Where git looks for hooks, as `git rev-parse --git-path hooks` says (`core.hooksPath` honoured).
    /// Starts a process: for installing, never for a hook.
    pub fn hooks_dir(&self) -> Result<PathBuf, GitError> {
        let output = self.git_as_configured(&["rev-parse", "--git-path", "hooks"])?;
        let path = path_from_bytes(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout));
        Ok(self.workdir().unwrap_or(self.git_dir()).join(path))
    }

    /// Where `core.hooksPath` of the user, else of the machine, leads, whatever this repository sets. Starts processes.
    pub fn shared_hooks_dir(&self) -> Option<PathBuf> {
        let of = |scope: &str| {
            let args = ["config", scope, "--includes", "--type=path", "--get", "core.hooksPath"];
            let output = self.git_as_configured(&args).ok()?;
            let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
            (!path.is_empty()).then(|| path_from_bytes(path))
        };
        of("--global").or_else(|| of("--system"))
    }

    /// Deletes refs, all of them or none. Starts a process.
    pub fn delete_refs(&self, names: &[String]) -> Result<(), GitError> {
        let input: String = names.iter().map(|name| format!("delete {name}\n")).collect();
        self.git(&["update-ref", "--stdin"], input.as_bytes()).map(|_| ())
    }

    /// The linked worktrees: name, git directory, and the top of the working tree where it is known.
    pub fn worktree_places(&self) -> Vec<LinkedWorktree> {
        let Ok(entries) = std::fs::read_dir(self.common_dir().join("worktrees")) else { return Vec::new() };
        let of_one = |git_dir: PathBuf| {
            let name = git_dir.file_name()?.to_string_lossy().into_owned();
            let link = std::fs::read(git_dir.join("gitdir")).ok()?;
            let link = git_dir.join(path_from_bytes(link.trim_ascii_end()));
            Some(LinkedWorktree { name, top: link.parent().map(PathBuf::from), git_dir })
        };
        entries.filter_map(Result::ok).filter_map(|entry| of_one(entry.path())).collect()
    }

    /// Major, minor and patch version of the git program; `None` where it does not say one. Starts a process.
    pub fn git_version(&self) -> Option<(u32, u32, u32)> {
        let output = self.git(&["--version"], b"").ok()?;
        parse_version(&String::from_utf8_lossy(&output.stdout))
    }

    /// Whether git ignores the untracked `path`, from the top. Starts a process.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.git(&["check-ignore", "-q", "--", path], b"").is_ok()
    }
}

fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let number = text.split_ascii_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.');
    let major = parts.next()?.parse().ok()?;
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let minor = digits(parts.next()?).parse().ok()?;
    let patch = parts.next().and_then(|part| digits(part).parse().ok()).unwrap_or(0);
    Some((major, minor, patch))
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions_of_every_build_are_read() {
        for (text, wanted) in [
            ("git version 2.47.3\n", Some((2, 47, 3))),
            ("git version 2.54.0.rc1", Some((2, 54, 0))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39, 5))),
            ("git version 2.54-dirty.windows.1", Some((2, 54, 0))),
            ("git version", None),
            ("", None),
        ] {
            assert_eq!(parse_version(text), wanted, "{text}");
        }
    }
}
