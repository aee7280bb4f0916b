//! The hooks that Andon takes part in.

/// Suffix of the file that holds the hook that was there before.
pub const CHAINED_SUFFIX: &str = ".andon-chained";

/// Suffix under which pre-commit and prek keep a hook that they replaced and still run.
pub const LEGACY_SUFFIX: &str = ".legacy";

/// A git hook that Andon installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    /// Before a commit: the gate.
    PreCommit,
    /// Before a merge commit: the gate of merges.
    PreMergeCommit,
    /// Before the message is edited: not skipped by `--no-verify`.
    PrepareCommitMsg,
    /// After a commit: records it.
    PostCommit,
    /// After a merge: records it.
    PostMerge,
    /// After an amend or a rebase: rewrites the records.
    PostRewrite,
    /// Before a push.
    PrePush,
    /// Before a patch that `git am` or `rebase --apply` put into the tree is committed.
    PreApplypatch,
    /// After that: records it.
    PostApplypatch,
    /// Before a rebase moves anything.
    PreRebase,
}

impl Hook {
    /// Every hook, in the order in which git may run them.
    pub const ALL: [Self; 10] = [
        Self::PreCommit,
        Self::PreMergeCommit,
        Self::PrepareCommitMsg,
        Self::PostCommit,
        Self::PostMerge,
        Self::PostRewrite,
        Self::PrePush,
        Self::PreApplypatch,
        Self::PostApplypatch,
        Self::PreRebase,
    ];

    /// Those that pre-commit and prek can install: git's hooks of patches are no stages of theirs.
    pub fn of_frameworks() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|hook| !matches!(hook, Self::PreApplypatch | Self::PostApplypatch))
    }

    /// The name of the file in the hooks directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PreMergeCommit => "pre-merge-commit",
            Self::PrepareCommitMsg => "prepare-commit-msg",
            Self::PostCommit => "post-commit",
            Self::PostMerge => "post-merge",
            Self::PostRewrite => "post-rewrite",
            Self::PrePush => "pre-push",
            Self::PreApplypatch => "pre-applypatch",
            Self::PostApplypatch => "post-applypatch",
            Self::PreRebase => "pre-rebase",
        }
    }

    /// The name of the file that holds the hook that was there before.
    pub fn chained_name(self) -> String {
        format!("{}{CHAINED_SUFFIX}", self.name())
    }

    /// The name under which pre-commit and prek keep a hook that they replaced.
    pub fn legacy_name(self) -> String {
        format!("{}{LEGACY_SUFFIX}", self.name())
    }

    /// The hook called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }
}
