//! The files behind findings, by name. Records hold paths as hashes. The path with a given hash is looked up in the
//! newest commit of the window, so that a person reads which file alternates.

use super::phrase::some_of;
use andon_core::change::{is_pipeline, path_hash};
use andon_core::domain::{Decision, Evidence, Finding, HunkHash, PathClass, PathRules};
use andon_core::{history::Timeline, policy};
use andon_git::Repo;

/// Files that a message names.
const NAMED: usize = 3;
/// Characters of each name in a message.
const CHARS: usize = 120;

/// The same decision with its files named. What is about documents alone is no finding about code.
pub fn named(repo: &Repo, rules: &PathRules, timeline: &Timeline, mut decision: Decision) -> Decision {
    if decision.findings.iter().all(|finding| finding.files.is_empty()) {
        return decision;
    }
    name(repo, rules, timeline, &mut decision.findings);
    policy::decide(decision.findings, decision.standing)
}

/// Names the files of `findings`, and drops those that are about documents alone and should not be.
pub fn name(repo: &Repo, rules: &PathRules, timeline: &Timeline, findings: &mut Vec<Finding>) {
    if findings.iter().all(|finding| finding.files.is_empty()) {
        return;
    }
    let Some(changed) = changed(repo, timeline) else { return };
    findings.retain_mut(|finding| {
        let about = |path: &&Vec<u8>| finding.files.contains(&path_hash(path));
        let found: Vec<&Vec<u8>> = changed.iter().filter(about).collect();
        let class = if finding.about.names_documents { PathClass::Docs } else { PathClass::Code };
        let is_of = |path: &&&Vec<u8>| rules.class(path) == class || is_pipeline(path);
        let named: Vec<&Vec<u8>> = found.iter().filter(is_of).copied().collect();
        if named.is_empty() {
            return found.is_empty();
        }
        say(finding, &named);
        true
    });
}

fn say(finding: &mut Finding, paths: &[&Vec<u8>]) {
    let names = paths.iter().take(NAMED).map(|path| String::from_utf8_lossy(path).into_owned());
    let short = some_of(paths, NAMED, |path| String::from_utf8_lossy(path).chars().take(CHARS).collect());
    finding.detail = finding.detail.before(&format!(": {short}"));
    finding.evidence.extend(names.map(Evidence::Path));
    let hashes: Vec<HunkHash> = std::mem::take(&mut finding.files);
    finding.files =
        hashes.into_iter().filter(|hash| !paths.iter().any(|it| path_hash(it) == *hash)).collect();
}

/// The paths that the newest commit of the window changed.
fn changed(repo: &Repo, timeline: &Timeline) -> Option<Vec<Vec<u8>>> {
    let newest = timeline.newest()?;
    newest.commit?;
    let before = newest.parent.map(|parent| repo.tree_of(parent)).transpose().ok()?;
    let changes = repo.changes(before, newest.tree).ok()?;
    Some(changes.into_iter().flat_map(|change| change.old_path.into_iter().chain([change.path])).collect())
}
