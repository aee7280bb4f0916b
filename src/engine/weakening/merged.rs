//! What a merge itself takes from the tests: what one of its parents has and none of them removed.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{self, Wanted};
use crate::detect::{Compared, Patterns};
use crate::domain::facts::Weakening;
use crate::domain::ids::TreeId;
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
    let trees = Trees { base, ours, theirs, made: commit.tree };
    // First what was decided by hand. That is little, and alone it tells of too much: a test may have gone to another file.
    let by_hand = trees.by_hand(repo)?;
    let by_hand = Wanted { path: &|path| by_hand.contains(path), text: &|_| true };
    let against_both = |wanted: Wanted<'_>| -> Result<_, OpsError> {
        let compared = |before| files::compared(repo, patterns, [before, commit.tree], wanted);
        Ok((compared(ours)?, compared(theirs)?))
    };
    let (one, other) = against_both(by_hand)?;
    let names: BTreeSet<String> = [&one, &other].into_iter().flat_map(names).collect();
    if names.is_empty() {
        return Ok(None);
    }
    // Then all files that tell of the same tests.
    let tells = |text: &str| names.iter().any(|name| text.contains(name.as_str()));
    let telling = Wanted { path: &|_| true, text: &tells };
    let (one, other) = against_both(telling)?;
    if one.taken.is_none() && other.taken.is_none() {
        return Ok(None);
    }
    let by_parent = |parent| files::compared(repo, patterns, [base, parent], telling);
    let mut removed = without(&one.gone, &by_parent(theirs)?.gone);
    let more = without(&other.gone, &by_parent(ours)?.gone);
    removed.extend(without(&more, &removed));
    Ok(found(removed, &one.taken.unwrap_or_default(), &other.taken.unwrap_or_default()))
}

/// The tests that a comparison tells of.
fn names(compared: &Compared) -> Vec<String> {
    let taken = compared.taken.iter().flat_map(|taken| taken.skipped.iter().chain(&taken.loosened));
    compared.gone.iter().chain(taken).cloned().collect()
}

/// What a merge was made of, and what it is.
struct Trees {
    base: TreeId,
    ours: TreeId,
    theirs: TreeId,
    made: TreeId,
}

impl Trees {
    /// The files that are neither what one parent left alone and the other has, nor what both have.
    fn by_hand(&self, repo: &Repo) -> Result<BTreeSet<Vec<u8>>, OpsError> {
        let changes = |before, after| -> Result<BTreeSet<Vec<u8>>, OpsError> {
            let changes = repo.changes(Some(before), after)?.into_iter();
            Ok(changes.flat_map(|change| change.old_path.into_iter().chain([change.path])).collect())
        };
        let (by_us, by_them) = (changes(self.base, self.ours)?, changes(self.base, self.theirs)?);
        let (from_ours, from_theirs) = (changes(self.ours, self.made)?, changes(self.theirs, self.made)?);
        let one_of = |path: &&Vec<u8>| match (by_us.contains(*path), by_them.contains(*path)) {
            (true, false) => from_ours.contains(*path),
            (false, true) => from_theirs.contains(*path),
            (true, true) => from_ours.contains(*path) || from_theirs.contains(*path),
            (false, false) => true,
        };
        Ok(from_ours.iter().chain(&from_theirs).filter(one_of).cloned().collect())
    }
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
