//! Finds the tests that a commit removed, for the rule `test-weakening`, whether earlier tests failed or passed. It
//! looked for in the files that the commit changed, and where tests are gone also in files that came shortly before.

mod files;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use self::files::FileSelection;
use crate::Result;
use andon_core::detect::{self, TestComparison};
use andon_core::domain::{
    Change, CodeId, CommitId, RuleSetting, RuleSettings, RunValidity, TestEvidence, TestRun, TreeId,
    Weakening,
};
use andon_core::history::{Timeline, failing_count};
use andon_git::{CommitInfo, MergeClaim, Repo, TreeVerdict, keyed_lines};

pub use self::files::{extension, text};
pub use andon_weakening::TestReader;

/// Key of the line of a message that waives the rule.
const TRAILER: &str = "Tests-Removed";
/// Commits back in which a copy of a test may have come that is removed now.
const LATELY: usize = 8;

/// The rule's setting, unless it is off.
pub fn setting(rules: &RuleSettings) -> Option<Cow<'_, RuleSetting>> {
    detect::TEST_WEAKENING.active(rules)
}

/// The last result with a known count on code other than `code`: an uncommitted test run, else the records.
pub fn last_result<'a>(
    runs: &'a [TestRun],
    timeline: &'a Timeline,
    code: CodeId,
) -> Option<&'a TestEvidence> {
    let known = |tests: &&TestEvidence| tests.code != code && failing_count(tests).is_some();
    let valid = runs.iter().rev().filter(|run| run.validity == RunValidity::Valid);
    let last = valid.map(|run| &run.evidence).find(known);
    last.or_else(|| timeline.last_result_before(code))
}

/// The tests that `commit` removed, given the result before it. A merge removes tests that its parents have and none of them
/// removed; where something failed before it, all tests that its first parent has in addition.
pub fn find(
    repo: &Repo,
    rules: &RuleSettings,
    commit: &CommitInfo,
    before: Option<&TestEvidence>,
) -> Result<Option<Weakening>> {
    let Some(setting) = setting(rules) else { return Ok(None) };
    let failing = before.and_then(failing_count).unwrap_or_default();
    Ok(after(taken(repo, &TestReader::new(&setting), commit, failing)?, before))
}

/// The weakening that was [`taken`], given the result before it.
pub fn after(taken: Option<Weakening>, before: Option<&TestEvidence>) -> Option<Weakening> {
    let failing = before.and_then(failing_count).unwrap_or_default();
    let ran = before.map_or(0, |before| before.counts().ran());
    taken.map(|taken| Weakening { failing, ran, ..taken })
}

/// The tests that `commit` removed where so many failed before it, and the reason that it gives.
pub fn taken(
    repo: &Repo,
    reader: &TestReader<'_>,
    commit: &CommitInfo,
    failing: u64,
) -> Result<Option<Weakening>> {
    let Some(parent) = commit.parents.first() else { return Ok(None) };
    if repo.tree_of(*parent).is_err() {
        return Ok(None);
    }
    let found = if commit.parents.len() > 1 && failing == 0 {
        taken_by_merge(repo, reader, commit)?
    } else {
        since(repo, reader, *parent, commit.tree)?
    };
    // A loss that only a test run shows is waived as well.
    let waiver = waiver(repo, commit.id)?;
    let found = found.or_else(|| waiver.is_some().then(Weakening::default));
    Ok(found.map(|found| Weakening { waiver, ..found }))
}

/// The reasons of lines `Tests-Removed: why` anywhere in a message: a squash moves them away from its end and indents
/// them.
fn waiver(repo: &Repo, commit: CommitId) -> Result<Option<String>> {
    let mut reasons = keyed_lines(&repo.message(commit)?, TRAILER);
    reasons.retain(|reason| !reason.is_empty());
    Ok((!reasons.is_empty()).then(|| reasons.join("; ")))
}

/// The tests that a change removed since commit `below`. A test in a file that came shortly before and is still there
/// was moved by two commits.
pub fn since(
    repo: &Repo,
    reader: &TestReader<'_>,
    below: CommitId,
    after: TreeId,
) -> Result<Option<Weakening>> {
    let before = repo.tree_of(below)?;
    let own = repo.changes(Some(before), after)?;
    let mut changed = files::changed(repo, reader, &own, files::TextRequest::Losses, FileSelection::ALL)?;
    let found = andon_weakening::compared(&changed.texts);
    if found.gone.is_empty() {
        return Ok(changed.told(&found));
    }
    let Some(earlier) = some_commits_before(repo, below)? else { return Ok(changed.told(&found)) };
    let came = files::came(repo, reader, &own, [earlier, after])?;
    if came.is_empty() {
        return Ok(changed.told(&found));
    }
    changed.texts.extend(came);
    let found = andon_weakening::compared(&changed.texts);
    Ok(changed.told(&found))
}

/// Compares the tests of two trees.
pub fn compared(
    repo: &Repo,
    reader: &TestReader<'_>,
    before: TreeId,
    after: TreeId,
) -> Result<TestComparison> {
    files::compared(repo, reader, &repo.changes(Some(before), after)?, FileSelection::ALL)
}

/// The tree of the commit so many commits before.
fn some_commits_before(repo: &Repo, commit: CommitId) -> Result<Option<TreeId>> {
    let (mut at, mut tree) = (commit, None);
    for _ in 0..LATELY {
        // A shallow clone ends somewhere.
        let Some(parent) = repo.commit(at)?.parents.first().copied() else { break };
        let Ok(found) = repo.tree_of(parent) else { break };
        (at, tree) = (parent, Some(found));
    }
    Ok(tree)
}

/// Only for a merge of two parents that is no function of them: others are made by programs.
fn taken_by_merge(repo: &Repo, reader: &TestReader<'_>, commit: &CommitInfo) -> Result<Option<Weakening>> {
    let [ours, theirs] = commit.parents[..] else { return Ok(None) };
    if repo.is_made(commit, &MergeClaim::Merge)? == TreeVerdict::Same {
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
    let compared = |changes: &[Change], wanted| files::compared(repo, reader, changes, wanted);
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
    // A difference from both parents came with the merge.
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
