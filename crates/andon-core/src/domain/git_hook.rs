//! The hooks of git that Andon takes part in, a row of the registry each (docs/git-facts.md, "Which hooks fire").

/// All that is known of one hook.
#[derive(Debug)]
pub struct HookSpec {
    /// git's name of it.
    pub name: &'static str,
    /// The work that Andon does at the hook.
    pub work: Work,
    /// The step that is refused at the hook; `None` after the fact.
    pub refuses: Option<PreventedStep>,
    /// When a configuration that cannot be read refuses.
    pub gate: ConfigGate,
    /// True if git writes lines to its standard input.
    pub reads_stdin: bool,
    /// True if it sees what is to be committed, so that hooks which change files come first.
    pub sees_index: bool,
    /// True if git names files to it.
    pub names_files: bool,
    /// True if pre-commit and prek have a stage for it.
    pub in_frameworks: bool,
    /// True if nothing is stopped or recorded without it; without another one `andon check` finds fewer things in order.
    pub is_needed: bool,
    /// The setups in which the hook says that the program is gone.
    pub says_gone: MissingProgramNotice,
}

/// The work that Andon does at a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Marks git's process, or judges early where that is not enough.
    Mark,
    /// Judges the commit.
    Judge,
    /// Asks whether the loop is halted.
    AskHalts,
    /// Records the commit.
    Record,
    RecordMerge,
    /// Gives rewritten commits the records of the commits they replace.
    Rewrite,
    /// Judges the tips that are pushed.
    JudgePush,
}

/// A step that git does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreventedStep {
    /// It makes no commit.
    Commit,
    /// It does not push.
    Push,
    /// It does not begin the rebase.
    Rebase,
    /// It does not commit the patch.
    Patch,
}

/// When a configuration that cannot be read refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigGate {
    Always,
    /// Only if the gate is asked for.
    WhereAsked,
    /// Never: at most a halt refuses.
    Never,
}

/// The setups in which a hook says that the program is gone: once per commit and once per push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingProgramNotice {
    Nowhere,
    /// In setups that show the output of every hook.
    WhereAllIsSeen,
    /// In setups that do not show the output of prepare-commit-msg.
    InFrameworks,
    Everywhere,
}

macro_rules! registry {
    ($($(#[$doc:meta])* $hook:ident = $row:expr,)*) => {
        /// A hook of git that Andon installs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum GitHook {
            $($(#[$doc])* $hook,)*
        }

        impl GitHook {
            /// Every hook, in the order in which git may run them.
            pub const ALL: [Self; [$(stringify!($hook)),*].len()] = [$(Self::$hook),*];

            /// The row of the hook.
            pub fn spec(self) -> &'static HookSpec {
                match self {
                    $(Self::$hook => const { &$row },)*
                }
            }
        }
    };
}

registry! {
    /// Before a commit: the gate.
    PreCommit = HookSpec {
        gate: ConfigGate::Always,
        sees_index: true,
        is_needed: true,
        ..before("pre-commit", Work::Mark, PreventedStep::Commit)
    },
    /// Before a clean true merge is committed.
    PreMergeCommit = HookSpec { sees_index: true, ..before("pre-merge-commit", Work::AskHalts, PreventedStep::Commit) },
    /// Before the message is edited: not skipped by `--no-verify`.
    PrepareCommitMsg = HookSpec {
        gate: ConfigGate::WhereAsked,
        names_files: true,
        is_needed: true,
        says_gone: MissingProgramNotice::WhereAllIsSeen,
        ..before("prepare-commit-msg", Work::Judge, PreventedStep::Commit)
    },
    /// After a commit.
    PostCommit = HookSpec {
        is_needed: true,
        says_gone: MissingProgramNotice::InFrameworks,
        ..after("post-commit", Work::Record)
    },
    /// After a merge, true or fast-forward.
    PostMerge = HookSpec { says_gone: MissingProgramNotice::InFrameworks, ..after("post-merge", Work::RecordMerge) },
    /// After an amend or a rebase.
    PostRewrite = HookSpec { reads_stdin: true, ..after("post-rewrite", Work::Rewrite) },
    /// Before refs leave this clone.
    PrePush = HookSpec {
        gate: ConfigGate::Always,
        reads_stdin: true,
        says_gone: MissingProgramNotice::Everywhere,
        ..before("pre-push", Work::JudgePush, PreventedStep::Push)
    },
    /// Before a patch that `git am` or `rebase --apply` put into the tree is committed.
    PreApplypatch = HookSpec {
        in_frameworks: false,
        says_gone: MissingProgramNotice::WhereAllIsSeen,
        ..before("pre-applypatch", Work::AskHalts, PreventedStep::Patch)
    },
    /// After that commit.
    PostApplypatch = HookSpec { in_frameworks: false, ..after("post-applypatch", Work::Record) },
    /// Before a rebase moves anything.
    PreRebase = before("pre-rebase", Work::AskHalts, PreventedStep::Rebase),
}

impl GitHook {
    /// git's name of it, which is that of the file in the hooks directory.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The hook of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }

    /// Those that pre-commit and prek can install.
    pub fn of_frameworks() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|hook| hook.spec().in_frameworks)
    }

    /// Returns whether nothing is stopped or recorded without it.
    pub fn is_needed(self) -> bool {
        self.spec().is_needed
    }

    /// The hooks that are needed.
    pub fn needed() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|hook| hook.is_needed())
    }

    /// The name of the file that holds the hook that was there before.
    pub fn chained_name(self) -> String {
        format!("{}.andon-chained", self.name())
    }
}

/// A hook after the fact.
const fn after(name: &'static str, work: Work) -> HookSpec {
    HookSpec {
        name,
        work,
        refuses: None,
        gate: ConfigGate::Never,
        reads_stdin: false,
        sees_index: false,
        names_files: false,
        in_frameworks: true,
        is_needed: false,
        says_gone: MissingProgramNotice::Nowhere,
    }
}

const fn before(name: &'static str, work: Work, refused: PreventedStep) -> HookSpec {
    HookSpec { refuses: Some(refused), ..after(name, work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for hook in GitHook::ALL {
            assert_eq!(GitHook::from_name(hook.name()), Some(hook));
        }
        assert_eq!(GitHook::from_name("update"), None);
    }
}
