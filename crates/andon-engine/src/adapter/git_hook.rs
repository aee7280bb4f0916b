//! Input of git's hooks: lines on standard input for two of them; from the pre-commit framework and prek, which pass no input
//! on, variables.

use std::{collections::BTreeMap, path::Path};

use andon_core::domain::{CommitId, Oid};
use andon_core::escape::shell_quote;

/// A commit that was rewritten: post-rewrite's "old new" line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewrite {
    /// The commit before.
    pub old: CommitId,
    /// The commit after.
    pub new: CommitId,
}

/// The command that rewrote commits: post-rewrite's first argument.
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

/// Reads lines of words; those that `read` can make nothing of are counted, not guessed at.
fn lines_of<T>(stdin: &[u8], read: impl Fn(&[&str]) -> Option<T>) -> (Vec<T>, usize) {
    let text = String::from_utf8_lossy(stdin);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let all: Vec<Option<T>> = lines.map(|line| read(&line.split_whitespace().collect::<Vec<_>>())).collect();
    let bad = all.iter().filter(|one| one.is_none()).count();
    (all.into_iter().flatten().collect(), bad)
}

/// Reads post-rewrite's lines, and counts those that are none.
pub fn parse_rewrites(stdin: &[u8]) -> (Vec<Rewrite>, usize) {
    lines_of(stdin, |words| match words {
        [old, new, ..] => Some(Rewrite { old: old.parse().ok()?, new: new.parse().ok()? }),
        _ => None,
    })
}

/// A ref that is being pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// The remote ref, such as `refs/heads/main`.
    pub remote_ref: String,
    /// The tip that leaves; `None` for a deletion.
    pub tip: Option<CommitId>,
    /// The commit that the remote ref points to; `None` where it is new, or unknown.
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

/// Reads pre-push's lines, `<local ref> <local id> <remote ref> <remote id>`, and counts those that are none.
pub fn parse_pushes(stdin: &[u8]) -> (Vec<PushedRef>, usize) {
    lines_of(stdin, |words| match words {
        [_, tip, remote_ref, there] => Some(PushedRef {
            remote_ref: (*remote_ref).to_owned(),
            tip: some_commit(tip.parse().ok()?),
            there: there.parse().ok().and_then(some_commit),
        }),
        _ => None,
    })
}

/// git writes an id of zeros where there is none.
fn some_commit(id: Oid) -> Option<CommitId> {
    (!id.is_zero()).then_some(CommitId(id))
}

/// True where a framework called the hook and not git: standard input is lost, and unstaged edits are stashed.
pub fn is_by_framework(vars: &BTreeMap<String, String>) -> bool {
    vars.get("PRE_COMMIT").is_some_and(|value| value == "1")
}

/// The path of the running program as a word of a shell, where it lies in an environment that a framework of hooks made for
/// itself: the shell of a person finds no `andon` then.
pub fn hidden_program(vars: &BTreeMap<String, String>, program: Option<&Path>) -> Option<String> {
    let program = program.filter(|_| is_by_framework(vars))?;
    let cache = |home: &str, below: &str| vars.get(home).map(|home| Path::new(home).join(below));
    let mut homes = ["pre-commit", "prek"].into_iter().flat_map(|name| {
        let own = cache(if name == "prek" { "PREK_HOME" } else { "PRE_COMMIT_HOME" }, "");
        [own, cache("XDG_CACHE_HOME", name), cache("HOME", &format!(".cache/{name}"))]
    });
    let is_hidden = homes.any(|home| home.is_some_and(|home| program.starts_with(home)));
    is_hidden.then(|| shell_quote(&program.to_string_lossy()))
}

/// A variable of the framework, where it says something.
fn named(vars: &BTreeMap<String, String>, name: &str) -> Option<String> {
    vars.get(name).filter(|value| !value.is_empty()).cloned()
}

/// The range that the framework names at push and in CI.
pub fn from_to(vars: &BTreeMap<String, String>) -> Option<(String, String)> {
    named(vars, "PRE_COMMIT_FROM_REF").zip(named(vars, "PRE_COMMIT_TO_REF"))
}

/// The ref that is being pushed, from `PRE_COMMIT_TO_REF` and `PRE_COMMIT_REMOTE_BRANCH`.
pub fn pushed_ref(vars: &BTreeMap<String, String>) -> Option<PushedRef> {
    let tip = some_commit(vars.get("PRE_COMMIT_TO_REF")?.parse().ok()?);
    let remote_ref =
        vars.get("PRE_COMMIT_REMOTE_BRANCH").cloned().unwrap_or_else(|| "refs/heads/".to_owned());
    let there = vars.get("PRE_COMMIT_FROM_REF").and_then(|there| there.parse().ok());
    Some(PushedRef { remote_ref, tip, there: there.and_then(some_commit) })
}

/// The ref that is being pushed with the whole tree below it: pre-commit names no commits then, only the local ref, whose
/// tip `tip_of` finds.
pub fn pushed_whole(
    vars: &BTreeMap<String, String>,
    tip_of: impl Fn(&str) -> Option<CommitId>,
) -> Option<PushedRef> {
    let tip = tip_of(&named(vars, "PRE_COMMIT_LOCAL_BRANCH")?)?;
    Some(PushedRef { remote_ref: named(vars, "PRE_COMMIT_REMOTE_BRANCH")?, tip: Some(tip), there: None })
}

/// The name and the address of the remote that is pushed to.
pub fn pushed_to(vars: &BTreeMap<String, String>) -> Option<(String, String)> {
    named(vars, "PRE_COMMIT_REMOTE_NAME").zip(named(vars, "PRE_COMMIT_REMOTE_URL"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const ZERO: &str = "0000000000000000000000000000000000000000";

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

    #[test]
    fn the_framework_is_recognised_and_its_refs_are_read() {
        let vars: BTreeMap<String, String> = [
            ("PRE_COMMIT", "1"),
            ("PRE_COMMIT_FROM_REF", "origin/main"),
            ("PRE_COMMIT_TO_REF", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            ("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/main"),
            ("PRE_COMMIT_REMOTE_NAME", "origin"),
            ("PRE_COMMIT_REMOTE_URL", "/srv/x.git"),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
        assert!(is_by_framework(&vars) && !is_by_framework(&BTreeMap::new()));
        assert_eq!(from_to(&vars).unwrap().0, "origin/main");
        assert!(pushed_ref(&vars).unwrap().is_branch());
        assert_eq!(pushed_to(&vars), Some(("origin".to_owned(), "/srv/x.git".to_owned())));
        assert_eq!(pushed_to(&BTreeMap::new()), None);
        assert_eq!(pushed_ref(&BTreeMap::new()), None);
        let mut whole = vars.clone();
        whole.insert("PRE_COMMIT_LOCAL_BRANCH".to_owned(), "refs/heads/x".to_owned());
        let tip = pushed_ref(&vars).unwrap().tip;
        let found = pushed_whole(&whole, |name| tip.filter(|_| name == "refs/heads/x")).unwrap();
        assert!(found.is_branch() && found.tip == tip);
        assert_eq!(pushed_whole(&vars, |_| tip), None);
    }
}
