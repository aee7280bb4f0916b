//! What a merge itself removes from the tests: tests that one of its parents has and none of them removed.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{self, FileSelection};
use crate::error::OpsError;
use andon_core::detect::{Patterns, TestComparison};
use andon_core::domain::change::Change;
use andon_core::domain::facts::Weakening;
use andon_git::{CommitInfo, MergeClaim, Repo, TreeVerdict};

/// Only for a merge of two parents that is no function of them: others are made by programs.
pub(super) fn taken(
    repo: &Repo,
    patterns: &Patterns<'_>,
    commit: &CommitInfo,
) -> Result<Option<Weakening>, OpsError> {
    let [ours, theirs] = commit.parents[..] else { return Ok(None) };
    if repo.is_made(commit, MergeClaim::Merge)? == TreeVerdict::Same {
        return Ok(None);
    }
    let Some(base) = repo.merge_base(ours, theirs)? else { return Ok(None) };
    let (Ok(base), Ok(ours), Ok(theirs)) = (repo.tree_of(base), repo.tree_of(ours), repo.tree_of(theirs))
    else {
        return Ok(None);
    };
    let changes = |before, after| repo.changes(Some(before), after);
    let (by_us, by_them) = (changes(base, ours)?, changes(base, theirs)?);
    let (from_ours, from_theirs) = (changes(ours, commit.tree)?, changes(theirs, commit.tree)?);
    let compared = |changes: &[Change], wanted| files::compared(repo, patterns, changes, wanted);
    // First the manual changes. They are few, and alone they report too much: a test may have moved to another file.
    let by_hand = by_hand([&by_us, &by_them], [&from_ours, &from_theirs]);
    let decided = FileSelection { path: &|path| by_hand.contains(path), text: &|_| true };
    let (one, other) = (compared(&from_ours, decided)?, compared(&from_theirs, decided)?);
    let names: BTreeSet<String> = [&one, &other].into_iter().flat_map(names).collect();
    if names.is_empty() {
        return Ok(None);
    }
    // Then all files that name the same tests. Where the names are too many for one pattern, all are read.
    let names: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
    let names = testreport::pattern(&names.join("|"));
    let tells = |text: &str| names.as_ref().is_none_or(|names| names.is_match(text));
    let telling = FileSelection { path: &|_| true, text: &tells };
    let (one, other) = (compared(&from_ours, telling)?, compared(&from_theirs, telling)?);
    if one.taken.is_none() && other.taken.is_none() {
        return Ok(None);
    }
    let mut removed = without(&one.gone, &compared(&by_them, telling)?.gone);
    let more = without(&other.gone, &compared(&by_us, telling)?.gone);
    removed.extend(without(&more, &removed));
    Ok(found(removed, &one.taken.unwrap_or_default(), &other.taken.unwrap_or_default()))
}

/// The tests that a comparison reports.
fn names(compared: &TestComparison) -> Vec<String> {
    let taken = compared.taken.iter().flat_map(|taken| taken.skipped.iter().chain(&taken.loosened));
    compared.gone.iter().chain(taken).cloned().collect()
}

/// The files that are neither what one parent left alone and the other has, nor what both have: by what `parents` changed since
/// they parted, and what the merge changed of each.
fn by_hand<'c>(parents: [&'c [Change]; 2], merge: [&'c [Change]; 2]) -> BTreeSet<&'c [u8]> {
    let paths = |changes: &'c [Change]| -> BTreeSet<&'c [u8]> {
        let both =
            |change: &'c Change| change.old_path.as_deref().into_iter().chain([change.path.as_slice()]);
        changes.iter().flat_map(both).collect()
    };
    let ([by_us, by_them], [from_ours, from_theirs]) = (parents.map(paths), merge.map(paths));
    let is_own = |path: &&[u8]| match (by_us.contains(path), by_them.contains(path)) {
        (true, false) => from_ours.contains(path),
        (false, true) => from_theirs.contains(path),
        (true, true) | (false, false) => true,
    };
    from_ours.union(&from_theirs).copied().filter(is_own).collect()
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
