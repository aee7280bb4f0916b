//! What git hands to a hook: its name, its arguments and, for two of them, lines on standard input.

use andon_core::domain::ids::{CommitId, Oid};

/// The hooks that Andon installs (docs/git-facts.md, "Which hooks fire").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookName {
    /// Before the message; skipped by `--no-verify`.
    PreCommit,
    /// Before the message is edited; `--no-verify` does not skip it.
    PrepareCommitMsg,
    /// After the commit.
    PostCommit,
    /// After a merge, true or fast-forward.
    PostMerge,
    /// Before a clean true merge is committed.
    PreMergeCommit,
    /// After `--amend` and rebase.
    PostRewrite,
    /// Before refs leave this clone.
    PrePush,
    /// Before a patch that `git am` or `rebase --apply` put into the tree is committed.
    PreApplypatch,
    /// After that commit.
    PostApplypatch,
    /// Before a rebase moves anything.
    PreRebase,
}

impl HookName {
    /// Every hook with git's name for it.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::PreCommit, "pre-commit"),
        (Self::PrepareCommitMsg, "prepare-commit-msg"),
        (Self::PostCommit, "post-commit"),
        (Self::PostMerge, "post-merge"),
        (Self::PreMergeCommit, "pre-merge-commit"),
        (Self::PostRewrite, "post-rewrite"),
        (Self::PrePush, "pre-push"),
        (Self::PreApplypatch, "pre-applypatch"),
        (Self::PostApplypatch, "post-applypatch"),
        (Self::PreRebase, "pre-rebase"),
    ];

    /// git's name.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(hook, _)| *hook == self).map_or("", |(_, name)| name)
    }

    /// The hook of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(hook, _)| *hook)
    }

    /// Whether the hook can still refuse.
    pub fn is_before_the_fact(self) -> bool {
        match self {
            Self::PreCommit
            | Self::PrepareCommitMsg
            | Self::PreMergeCommit
            | Self::PrePush
            | Self::PreApplypatch
            | Self::PreRebase => true,
            Self::PostCommit | Self::PostMerge | Self::PostRewrite | Self::PostApplypatch => false,
        }
    }

    /// Whether git writes lines to the hook's standard input.
    pub fn reads_stdin(self) -> bool {
        matches!(self, Self::PostRewrite | Self::PrePush)
    }
}

/// A commit that was rewritten: post-rewrite's "old new" line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewrite {
    /// The commit before.
    pub old: CommitId,
    /// The commit after.
    pub new: CommitId,
}

/// Which command rewrote commits: post-rewrite's first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewriteCommand {
    /// `git commit --amend`
    Amend,
    /// `git rebase`
    Rebase,
}

impl RewriteCommand {
    /// From post-rewrite's argument or `PRE_COMMIT_REWRITE_COMMAND`; anything else counts as a rebase.
    pub fn from_name(name: &str) -> Self {
        if name == "amend" { Self::Amend } else { Self::Rebase }
    }
}

/// Reads post-rewrite's lines; lines that are none are counted, not guessed at.
pub fn parse_rewrites(stdin: &[u8]) -> (Vec<Rewrite>, usize) {
    let mut bad = 0;
    let rewrites = String::from_utf8_lossy(stdin)
        .lines()
        .filter(|line| !line.trim().is_empty())
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let rewrite = words
                .next()
                .and_then(|old| old.parse().ok())
                .zip(words.next().and_then(|new| new.parse().ok()));
            bad += usize::from(rewrite.is_none());
            rewrite.map(|(old, new)| Rewrite { old, new })
        })
        .collect();
    (rewrites, bad)
}

/// A ref that is being pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// The remote ref, such as `refs/heads/main`.
    pub remote_ref: String,
    /// The tip that leaves; `None` for a deletion.
    pub tip: Option<CommitId>,
    /// What the remote ref points to; `None` where it is new, or unknown.
    pub there: Option<CommitId>,
}

impl PushedRef {
    /// Branches are judged; tags, notes and the ledger are not.
    pub fn is_branch(&self) -> bool {
        self.remote_ref.starts_with("refs/heads/")
    }

    /// Records and ledgers.
    pub fn is_ours(&self) -> bool {
        self.remote_ref.starts_with("refs/notes/andon") || self.remote_ref.starts_with("refs/andon/")
    }
}

/// Reads pre-push's lines: `<local ref> <local id> <remote ref> <remote id>`.
pub fn parse_pushes(stdin: &[u8]) -> (Vec<PushedRef>, usize) {
    let mut bad = 0;
    let pushes = String::from_utf8_lossy(stdin)
        .lines()
        .filter(|line| !line.trim().is_empty())
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let parsed = match words.as_slice() {
                [_, tip, remote_ref, there] => tip.parse::<Oid>().ok().map(|tip| PushedRef {
                    remote_ref: (*remote_ref).to_owned(),
                    tip: (!tip.is_zero()).then_some(CommitId(tip)),
                    there: there.parse().ok().filter(|there: &Oid| !there.is_zero()).map(CommitId),
                }),
                _ => None,
            };
            bad += usize::from(parsed.is_none());
            parsed
        })
        .collect();
    (pushes, bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const ZERO: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn names_survive_a_round_trip() {
        for (hook, name) in HookName::ALL {
            assert_eq!(HookName::from_name(name), Some(hook));
            assert_eq!(hook.as_str(), name);
        }
        assert_eq!(HookName::from_name("update"), None);
    }

    #[test]
    fn rewrites_are_read_and_garbage_is_counted() {
        let (rewrites, bad) =
            parse_rewrites(format!("{A} {B}\n\n{B} {A} extra\nnonsense\n\u{fffd}\n").as_bytes());
        assert_eq!(rewrites.len(), 2);
        assert_eq!(rewrites[0], Rewrite { old: A.parse().unwrap(), new: B.parse().unwrap() });
        assert_eq!(bad, 2);
    }

    #[test]
    fn pushes_know_branches_and_deletions() {
        let lines = format!(
            "refs/heads/x {A} refs/heads/x {ZERO}\n(delete) {ZERO} refs/heads/y {B}\nrefs/notes/andon {A} refs/notes/andon {B}\nbad\n"
        );
        let (pushes, bad) = parse_pushes(lines.as_bytes());
        assert_eq!(bad, 1);
        assert!(pushes[0].is_branch() && pushes[0].tip.is_some());
        assert!(pushes[1].is_branch() && pushes[1].tip.is_none());
        assert!(!pushes[2].is_branch());
    }

    proptest! {
        #[test]
        fn any_input_is_read_or_counted(stdin in prop::collection::vec(any::<u8>(), 0..600)) {
            let lines = String::from_utf8_lossy(&stdin).lines().filter(|line| !line.trim().is_empty()).count();
            let (rewrites, bad) = parse_rewrites(&stdin);
            prop_assert_eq!(rewrites.len() + bad, lines);
            let (pushes, bad) = parse_pushes(&stdin);
            prop_assert_eq!(pushes.len() + bad, lines);
        }

        #[test]
        fn good_lines_survive_among_bad_ones(
            ids in prop::collection::vec("[0-9a-f]{40}", 1..6),
            noise in "[^\\n]{0,40}",
        ) {
            let zero = ZERO;
            let rewrites: String = ids.iter().map(|id| format!("{noise}\n{id} {A}\n")).collect();
            let read = parse_rewrites(rewrites.as_bytes()).0;
            for id in &ids {
                prop_assert!(read.iter().any(|rewrite| rewrite.old.to_string() == *id));
            }
            let pushes: String = ids.iter().map(|id| format!("{noise}\nHEAD {id} refs/heads/x {zero}\n")).collect();
            prop_assert!(parse_pushes(pushes.as_bytes()).0.iter().filter(|push| push.is_branch()).count() >= ids.len());
        }
    }
}
