//! The files of the agent's configuration, found in a tree or in the working tree. Directories that no glob can reach are
//! not read, so that a hook pays for what is declared: `.claude/**` costs that directory, `**/AGENTS.md` the whole tree.

use super::{RecordError, Result};
use andon_core::domain::{FileState, Files, MAX_FILES, PathRules, TreeId};
use andon_git::{MODE_TREE, Overlay, Repo};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 128;
/// Most directories that are read.
const MAX_DIRECTORIES: usize = 200_000;

/// The rules that tell which files belong to the configuration.
#[derive(Debug)]
pub struct ConfigFiles {
    rules: PathRules,
    /// The directories before the first wildcard of each glob, and whether there is a wildcard.
    reach: Vec<(Vec<u8>, bool)>,
}

impl ConfigFiles {
    /// From globs that the configuration has checked; one that does not compile declares nothing.
    pub fn new(globs: &[String]) -> Option<Self> {
        // As documents: `andon.toml`, which holds the pin, is never one.
        let rules = PathRules::new(globs, &[]).ok()?;
        Some(Self { rules, reach: globs.iter().map(|glob| reach(glob)).collect() })
    }

    fn has(&self, path: &[u8]) -> bool {
        self.rules.is_named(path)
    }

    /// True if anything below the directory `path` can belong to it.
    fn reaches(&self, path: &[u8]) -> bool {
        let within = |path: &[u8], dir: &[u8]| {
            dir.is_empty() || path == dir || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"))
        };
        // A pattern may match further down.
        self.reach.iter().any(|(dir, is_wild)| within(dir, path) || *is_wild && within(path, dir))
    }

    /// The files in a tree.
    ///
    /// # Errors
    /// [`RecordError::Git`] when a tree is missing, [`RecordError::HostileTree`] when there is no end to it.
    pub fn of_tree(&self, repo: &Repo, tree: TreeId) -> Result<Files> {
        let mut walk = Walk { repo, declared: self, root: tree, files: Files::new(), directories: 0 };
        walk.directory(tree, &mut Vec::new(), 0)?;
        Ok(walk.files)
    }

    /// The files in the working tree, as committing all of it would have them.
    ///
    /// # Errors
    /// As [`Self::of_tree`].
    pub fn of_overlay(&self, repo: &Repo, overlay: &Overlay) -> Result<Files> {
        let mut files = overlay.base.map(|base| self.of_tree(repo, base)).transpose()?.unwrap_or_default();
        for entry in overlay.entries.iter().filter(|entry| self.has(&entry.path)) {
            match entry.entry {
                Some((mode, id)) => files.insert(entry.path.clone(), FileState { mode, id }),
                None => files.remove(&entry.path),
            };
        }
        Ok(files)
    }
}

/// `docs/x/*.md`: `docs/x`, and a pattern.
fn reach(glob: &str) -> (Vec<u8>, bool) {
    let wild = glob.find(['*', '?', '[', '{', '\\', '!']);
    let plain = wild.map_or(glob, |at| &glob[..at]);
    let dir = plain.rsplit_once('/').map_or("", |(dir, _)| dir);
    (dir.as_bytes().to_vec(), wild.is_some())
}

struct Walk<'a> {
    repo: &'a Repo,
    declared: &'a ConfigFiles,
    root: TreeId,
    files: Files,
    directories: usize,
}

impl Walk<'_> {
    fn directory(&mut self, tree: TreeId, path: &mut Vec<u8>, depth: usize) -> Result<()> {
        self.directories += 1;
        self.bounded(depth, MAX_DEPTH, "nested directories")?;
        self.bounded(self.directories, MAX_DIRECTORIES, "directories")?;
        for entry in self.repo.tree_entries(tree)? {
            let length = path.len();
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(&entry.name);
            if entry.mode == MODE_TREE {
                if self.declared.reaches(path) {
                    self.directory(TreeId(entry.id), path, depth + 1)?;
                }
            } else if self.declared.has(path) {
                self.files.insert(path.clone(), FileState { mode: entry.mode, id: entry.id });
                self.bounded(self.files.len(), MAX_FILES, "files of the agent's configuration")?;
            }
            path.truncate(length);
        }
        Ok(())
    }

    fn bounded(&self, count: usize, max: usize, what: &'static str) -> Result<()> {
        if count <= max {
            return Ok(());
        }
        Err(RecordError::HostileTree { tree: self.root.to_string(), max, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_that_a_glob_can_reach_are_read() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("CLAUDE.md", &[], &["src", "a/b"]),
            (".claude/**", &[".claude", ".claude/skills/x"], &["src", ".claudex"]),
            ("docs/agents/*.md", &["docs", "docs/agents"], &["docs/other", "src"]),
            ("docs/AGENTS.md", &["docs"], &["docs/sub"]),
            ("**/AGENTS.md", &["a", "a/b"], &[]),
            ("do?s/AGENTS.md", &["docs"], &[]),
        ];
        for (glob, read, left) in table {
            let declared = ConfigFiles::new(&[(*glob).to_owned()]).unwrap();
            for dir in *read {
                assert!(declared.reaches(dir.as_bytes()), "{glob} {dir}");
            }
            for dir in *left {
                assert!(!declared.reaches(dir.as_bytes()), "{glob} {dir}");
            }
        }
    }

    #[test]
    fn the_file_that_holds_the_pin_is_never_pinned() {
        let declared = ConfigFiles::new(&["**".to_owned()]).unwrap();
        assert!(declared.has(b"AGENTS.md") && !declared.has(b"andon.toml"));
    }
}
