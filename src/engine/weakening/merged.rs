//! What a merge itself takes from the tests: what one of its parents has and none of them removed.

use std::collections::BTreeMap;

use super::files;
use crate::detect::Patterns;
use crate::domain::facts::Weakening;
use crate::engine::error::OpsError;
use crate::git::{Claimed, CommitInfo, Made, Repo};

/// Of a merge that is no function of its parents, and of two of them: others are made by programs.
pub(super) fn taken(
    repo: &Repo,
    patterns: &Patterns<'_>,
    commit: &CommitInfo,
) -> Result<Option<Weakening>, OpsError> {
    let [ours, theirs] = commit.parents[..] else { return Ok(None) };
    if repo.is_made(commit, Claimed::Merge)? == Made::Same {
        return Ok(None);
    }
    let Some(base) = repo.merge_base(ours, theirs)? else { return Ok(None) };
    let (Ok(base), Ok(ours), Ok(theirs)) = (repo.tree_of(base), repo.tree_of(ours), repo.tree_of(theirs))
    else {
        return Ok(None);
    };
    let compared = |before, after| files::compared(repo, patterns, before, after);
    let (one, other) = (compared(ours, commit.tree)?, compared(theirs, commit.tree)?);
    if one.taken.is_none() && other.taken.is_none() {
        return Ok(None);
    }
    let mut removed = without(&one.gone, &compared(base, theirs)?.gone);
    let more = without(&other.gone, &compared(base, ours)?.gone);
    removed.extend(without(&more, &removed));
    Ok(found(removed, &one.taken.unwrap_or_default(), &other.taken.unwrap_or_default()))
}

fn found(removed: Vec<String>, one: &Weakening, other: &Weakening) -> Option<Weakening> {
    // What is so against both parents came with the merge.
    let both = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|name| other.contains(name)).cloned().collect()
    };
    let skipped = both(&one.skipped, &other.skipped);
    let loosened = both(&one.loosened, &other.loosened);
    let total = removed.len() + skipped.len() + loosened.len();
    let removed: Vec<String> = removed.into_iter().take(Weakening::MAX_NAMES).collect();
    let extent = one.extent.max(other.extent);
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    (total > 0).then(|| Weakening { removed, skipped, loosened, total, extent, ..Weakening::default() })
}

/// `names` less `others`, each as often as it is there.
fn without(names: &[String], others: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in others {
        *counts.entry(name).or_default() += 1;
    }
    let mut left = Vec::new();
    for name in names {
        match counts.get_mut(name.as_str()) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None => left.push(name.clone()),
        }
    }
    left
}
