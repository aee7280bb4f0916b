//! The directories in which the tests ran: those of a clone, of another worktree or of another project say nothing of the
//! code of this one.

use std::fs;
use std::path::{Path, PathBuf};

/// The directories of one run, as far as they are known.
pub(super) struct Whereabouts {
    top: PathBuf,
    elsewhere: Option<PathBuf>,
}

impl Whereabouts {
    /// For a run in the working tree at `top`.
    pub(super) fn of(top: &Path) -> Self {
        Self { top: top.canonicalize().unwrap_or_else(|_| top.to_owned()), elsewhere: None }
    }

    /// Takes note of a directory in which tests run. It has to be there while they do: a container has directories of its own,
    /// and one that holds the working tree may hold the configuration of its tests.
    pub(super) fn ran_in(&mut self, directory: &Path) {
        let Some(directory) = Some(directory).filter(|_| self.elsewhere.is_none()) else { return };
        let Ok(place) = directory.canonicalize() else { return };
        let is_here = self.top.starts_with(&place) || place.starts_with(&self.top) && !self.is_cloned(&place);
        self.elsewhere = (!is_here).then_some(place);
    }

    /// True for a directory of a clone or a linked worktree inside the working tree. A submodule is code of it.
    fn is_cloned(&self, place: &Path) -> bool {
        let inside = place.ancestors().take_while(|above| *above != self.top);
        inside.map(|above| above.join(".git")).any(|git| {
            git.is_dir() || fs::read_to_string(&git).is_ok_and(|text| text.contains("/worktrees/"))
        })
    }

    /// The first directory outside of the working tree.
    pub(super) fn elsewhere(&self) -> Option<&Path> {
        self.elsewhere.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_other_directories_ran_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        for name in ["top/.git", "top/pkg", "top/clone/.git", "top/clone/pkg", "top/tree", "top/sub", "other"]
        {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        fs::write(top.join("tree/.git"), "gitdir: /p/.git/worktrees/tree\n").unwrap();
        fs::write(top.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        for (place, elsewhere) in [
            ("top", false),
            ("top/pkg", false),
            ("top/sub", false),
            (".", false),
            ("no/such/app", false),
            ("top/clone", true),
            ("top/clone/pkg", true),
            ("top/tree", true),
            ("other", true),
        ] {
            let mut seen = Whereabouts::of(&top);
            seen.ran_in(&dir.path().join(place));
            assert_eq!(seen.elsewhere().is_some(), elsewhere, "{place}");
        }
    }
}
