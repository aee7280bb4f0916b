//! What a commit removed from the tests, for the rule `test-weakening`, whether earlier tests failed or passed. It is
//! looked for in the files that the commit changed, and where tests are gone also in files that came shortly before.

mod files;
mod merge;

use std::borrow::Cow;

use crate::error::OpsError;
use andon_core::detect::{self, Patterns, TestComparison};
use andon_core::domain::facts::Weakening;
use andon_core::domain::ids::{CodeId, CommitId, TreeId};
use andon_core::domain::settings::{RuleSetting, RuleSettings};
use andon_core::domain::tests::{RunValidity, TestEvidence, TestRun};
use andon_core::history::{Timeline, failing_count};
use andon_git::{CommitInfo, Repo, keyed_lines};

use self::files::FileSelection;
pub use self::files::{extension, text};

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

/// What `commit` removed, given the result before it. A merge removes tests that its parents have and none of them
/// removed; where something failed before it, all tests that its first parent has in addition.
pub fn find(
    repo: &Repo,
    rules: &RuleSettings,
    commit: &CommitInfo,
    before: Option<&TestEvidence>,
) -> Result<Option<Weakening>, OpsError> {
    let failing = before.and_then(failing_count).unwrap_or_default();
    let (Some(setting), Some(parent)) = (setting(rules), commit.parents.first()) else { return Ok(None) };
    let patterns = Patterns::new(&setting);
    if repo.tree_of(*parent).is_err() {
        return Ok(None);
    }
    let found = if commit.parents.len() > 1 && failing == 0 {
        merge::taken(repo, &patterns, commit)?
    } else {
        since(repo, &patterns, *parent, commit.tree)?
    };
    let ran = before.map_or(0, |before| before.counts().ran());
    // A loss that only a test run shows is waived as well.
    let waiver = waiver(repo, commit.id)?;
    let found = found.or_else(|| waiver.is_some().then(Weakening::default));
    Ok(found.map(|found| Weakening { failing, ran, waiver, ..found }))
}

/// The reasons of lines `Tests-Removed: why` anywhere in a message: a squash moves them away from its end and indents
/// them.
fn waiver(repo: &Repo, commit: CommitId) -> Result<Option<String>, OpsError> {
    let mut reasons = keyed_lines(&repo.message(commit)?, TRAILER);
    reasons.retain(|reason| !reason.is_empty());
    Ok((!reasons.is_empty()).then(|| reasons.join("; ")))
}

/// What a change removed from the tests of commit `below`. A test in a file that came shortly before and is still there
/// was moved by two commits.
pub fn since(
    repo: &Repo,
    patterns: &Patterns<'_>,
    below: CommitId,
    after: TreeId,
) -> Result<Option<Weakening>, OpsError> {
    let before = repo.tree_of(below)?;
    let own = repo.changes(Some(before), after)?;
    let mut changed = files::changed(repo, patterns, &own, files::TextRequest::Losses, FileSelection::ALL)?;
    let found = andon_weakening::compared(&changed.texts, patterns);
    if found.gone.is_empty() {
        return Ok(changed.told(&found));
    }
    let Some(earlier) = some_commits_before(repo, below)? else { return Ok(changed.told(&found)) };
    let came = files::came(repo, patterns, &own, [earlier, after])?;
    if came.is_empty() {
        return Ok(changed.told(&found));
    }
    changed.texts.extend(came);
    let found = andon_weakening::compared(&changed.texts, patterns);
    Ok(changed.told(&found))
}

/// What the way from one tree to another did to the tests.
pub fn compared(
    repo: &Repo,
    patterns: &Patterns<'_>,
    before: TreeId,
    after: TreeId,
) -> Result<TestComparison, OpsError> {
    files::compared(repo, patterns, &repo.changes(Some(before), after)?, FileSelection::ALL)
}

/// The tree of the commit so many commits before.
fn some_commits_before(repo: &Repo, commit: CommitId) -> Result<Option<TreeId>, OpsError> {
    let (mut at, mut tree) = (commit, None);
    for _ in 0..LATELY {
        // A shallow clone ends somewhere.
        let Some(parent) = repo.commit(at)?.parents.first().copied() else { break };
        let Ok(found) = repo.tree_of(parent) else { break };
        (at, tree) = (parent, Some(found));
    }
    Ok(tree)
}
