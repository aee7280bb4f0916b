//! What the pre-commit framework and prek hand over: no standard input, but variables.

use std::collections::BTreeMap;

use super::git_hook::PushedRef;
use andon_core::domain::ids::{CommitId, Oid};

/// Whether the hook runs under pre-commit or prek.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookRunner {
    /// git called the hook.
    Git,
    /// The framework did: standard input is lost and unstaged edits are stashed.
    Framework,
}

/// Distinguishes the two by `PRE_COMMIT=1`.
pub fn runner(vars: &BTreeMap<String, String>) -> HookRunner {
    if vars.get("PRE_COMMIT").is_some_and(|value| value == "1") {
        HookRunner::Framework
    } else {
        HookRunner::Git
    }
}

/// The range that the framework names at push and in CI.
pub fn from_to(vars: &BTreeMap<String, String>) -> Option<(String, String)> {
    let named = |name: &str| vars.get(name).filter(|value| !value.is_empty()).cloned();
    named("PRE_COMMIT_FROM_REF").zip(named("PRE_COMMIT_TO_REF"))
}

/// The ref that is being pushed, from `PRE_COMMIT_TO_REF` and `PRE_COMMIT_REMOTE_BRANCH`.
pub fn pushed_ref(vars: &BTreeMap<String, String>) -> Option<PushedRef> {
    let tip: Oid = vars.get("PRE_COMMIT_TO_REF")?.parse().ok()?;
    let remote_ref =
        vars.get("PRE_COMMIT_REMOTE_BRANCH").cloned().unwrap_or_else(|| "refs/heads/".to_owned());
    let there = vars.get("PRE_COMMIT_FROM_REF").and_then(|there| there.parse().ok());
    let there = there.filter(|there: &Oid| !there.is_zero()).map(CommitId);
    Some(PushedRef { remote_ref, tip: (!tip.is_zero()).then_some(CommitId(tip)), there })
}

/// The ref that is being pushed with the whole tree below it: pre-commit names no commits then, only the local ref, whose
/// tip `tip_of` finds.
pub fn pushed_whole(
    vars: &BTreeMap<String, String>,
    tip_of: impl Fn(&str) -> Option<CommitId>,
) -> Option<PushedRef> {
    let named = |name: &str| vars.get(name).filter(|value| !value.is_empty());
    let tip = tip_of(named("PRE_COMMIT_LOCAL_BRANCH")?)?;
    Some(PushedRef { remote_ref: named("PRE_COMMIT_REMOTE_BRANCH")?.clone(), tip: Some(tip), there: None })
}

/// Where the push goes: the remote's name and its address.
pub fn pushed_to(vars: &BTreeMap<String, String>) -> Option<(String, String)> {
    let named = |name: &str| vars.get(name).filter(|value| !value.is_empty()).cloned();
    named("PRE_COMMIT_REMOTE_NAME").zip(named("PRE_COMMIT_REMOTE_URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(runner(&vars), HookRunner::Framework);
        assert_eq!(from_to(&vars).unwrap().0, "origin/main");
        assert!(pushed_ref(&vars).unwrap().is_branch());
        assert_eq!(pushed_to(&vars), Some(("origin".to_owned(), "/srv/x.git".to_owned())));
        assert_eq!(pushed_to(&BTreeMap::new()), None);
        assert_eq!(runner(&BTreeMap::new()), HookRunner::Git);
        assert_eq!(pushed_ref(&BTreeMap::new()), None);
        let mut whole = vars.clone();
        whole.insert("PRE_COMMIT_LOCAL_BRANCH".to_owned(), "refs/heads/x".to_owned());
        let tip = pushed_ref(&vars).unwrap().tip;
        let found = pushed_whole(&whole, |name| tip.filter(|_| name == "refs/heads/x")).unwrap();
        assert!(found.is_branch() && found.tip == tip);
        assert_eq!(pushed_whole(&vars, |_| tip), None);
    }
}
