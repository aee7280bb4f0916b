//! A stretch of commits in which some are alike: what rules for histories without tests look at.

use std::collections::BTreeSet;

use crate::domain::{HunkHash, PathStep, Span};
use crate::history::{Iteration, Source, Timeline};

/// The newest `among` commits that are not older than `within` before the newest, the newest first.
pub(super) fn newest(timeline: &Timeline, among: u64, within: Span) -> Vec<&Iteration> {
    let Some(newest) = timeline.newest().filter(|newest| newest.at.0 != 0) else { return Vec::new() };
    let among = usize::try_from(among).unwrap_or(usize::MAX);
    let is_near = |one: &&Iteration| {
        one.source == Source::Commit && one.at.0 != 0 && newest.at.since(one.at).0 <= within.0
    };
    timeline.iterations.iter().rev().take(among).take_while(is_near).collect()
}

/// The files that all of them changed.
pub(super) fn shared_files(commits: &[&Iteration]) -> BTreeSet<HunkHash> {
    let paths = |one: &&Iteration| -> BTreeSet<HunkHash> {
        let steps = one.change.iter().flat_map(|change| &change.paths);
        steps.map(|PathStep { path, .. }| *path).collect()
    };
    let all = commits.iter().map(paths).reduce(|one, other| one.intersection(&other).copied().collect());
    all.unwrap_or_default()
}

/// Those of `commits`, the newest among them, that share a file with it and with each other: the file that most of them
/// changed decides.
pub(super) fn around_one_file<'a>(commits: &[&'a Iteration]) -> Vec<&'a Iteration> {
    let Some(newest) = commits.first() else { return Vec::new() };
    let changed = |one: &Iteration, path: HunkHash| {
        one.change.iter().flat_map(|change| &change.paths).any(|step| step.path == path)
    };
    let around =
        |path: HunkHash| commits.iter().filter(|one| changed(one, path)).copied().collect::<Vec<_>>();
    shared_files(&[newest]).into_iter().map(around).max_by_key(Vec::len).unwrap_or_default()
}
