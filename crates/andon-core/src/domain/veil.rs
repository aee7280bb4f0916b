//! Settings that keep git from seeing a change of the working tree, and the command that makes git see it again.

use crate::domain::hint::Hint;

/// The reason why git takes a path of the working tree for something other than it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Veil {
    /// `git update-index --assume-unchanged`, or `core.ignoreStat`.
    AssumeUnchanged,
    /// `git update-index --skip-worktree`, beyond what a sparse checkout leaves out.
    SkipWorktree,
    /// Another content with the size and the times that git remembers.
    Stat,
    /// `core.fileMode = false`: git does not look at the executable bit.
    FileMode,
    /// The filter driver of this name, which only git's configuration knows, does not say what it stores of the file.
    Filter(String),
}

/// A path whose change git does not see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HiddenPath {
    /// The submodule in which it lies, by its path from the top; empty for the repository itself.
    pub submodule: Vec<u8>,
    /// Path from the root of that repository.
    pub path: Vec<u8>,
    /// The reason why git does not see it.
    pub veil: Veil,
}

impl Veil {
    /// The reason in words: "git does not see it: ...".
    pub fn reason(&self) -> String {
        match self {
            Self::AssumeUnchanged => "it is marked assume-unchanged".to_owned(),
            Self::SkipWorktree => "it is marked skip-worktree".to_owned(),
            Self::Stat => "its size and times are those that git remembers".to_owned(),
            Self::FileMode => "core.fileMode is false".to_owned(),
            Self::Filter(name) => {
                format!("the filter {name} fails on it, or stores something else each time")
            }
        }
    }
}

impl HiddenPath {
    /// Path from the top of the working tree.
    pub fn full_path(&self) -> Vec<u8> {
        if self.submodule.is_empty() {
            return self.path.clone();
        }
        [self.submodule.as_slice(), b"/", &self.path].concat()
    }

    /// The same path seen from the repository around: `submodule` is where this one lies in it.
    #[must_use]
    pub fn within(self, submodule: &[u8]) -> Self {
        let inner = self.submodule;
        let slash: &[u8] = if inner.is_empty() { b"" } else { b"/" };
        Self { submodule: [submodule, slash, &inner].concat(), ..self }
    }

    /// The command that has git see it; `quote` makes a shell word of bytes. There is none for a filter: it is never switched off.
    pub fn command(&self, quote: impl Fn(&[u8]) -> String) -> Option<String> {
        let git = match self.submodule.as_slice() {
            [] => "git".to_owned(),
            submodule => format!("git -C {}", quote(submodule)),
        };
        let path = quote(&self.path);
        Some(match &self.veil {
            Veil::AssumeUnchanged => Hint::LiftAssumeUnchanged.with([&git, &path]),
            Veil::SkipWorktree => Hint::LiftSkipWorktree.with([&git, &path]),
            Veil::Stat => Hint::LiftStat.with([&quote(&self.full_path())]),
            Veil::FileMode => Hint::LiftFileMode.with([&git, &path]),
            Veil::Filter(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_veil_has_the_command_that_lifts_it() {
        let quote = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let cases = [
            (Veil::AssumeUnchanged, "git -C s update-index --no-assume-unchanged -- a/b"),
            (Veil::SkipWorktree, "git -C s update-index --no-skip-worktree -- a/b"),
            (Veil::Stat, "touch -- s/a/b"),
            (Veil::FileMode, "git -C s -c core.fileMode=true add -- a/b"),
        ];
        for (veil, expected) in cases {
            let mut hidden = HiddenPath { submodule: b"s".to_vec(), path: b"a/b".to_vec(), veil };
            assert_eq!(hidden.command(quote).unwrap(), expected);
            hidden.submodule.clear();
            assert_eq!(hidden.command(quote).unwrap(), expected.replace(" -C s", "").replace("s/a/b", "a/b"));
            assert!(!hidden.veil.reason().is_empty());
        }
    }
}
