//! What a commit took from the tests, for the rule `test-weakening`, whether earlier ones failed or passed: looked for
//! only in the files that the commit changed.

use std::borrow::Cow;

use super::error::OpsError;
use crate::detect::{self, ChangedText, Patterns, weakened};
use crate::domain::change::Change;
use crate::domain::facts::Weakening;
use crate::domain::ids::{CodeId, Oid, TreeId};
use crate::domain::settings::{RuleSetting, RuleSettings};
use crate::domain::tests::{RunValidity, TestEvidence, TestRun};
use crate::git::{Blob, CommitInfo, GitError, Repo};
use crate::history::{Timeline, failing_count};

/// Files that are read at the most, and bytes of each: a change beyond that is no edit of tests by hand.
const MAX_FILES: usize = 256;
const MAX_TEXT: usize = 1 << 20;
/// Bytes of all of them.
const MAX_ALL: usize = 16 << 20;

/// Key of the trailer that waives the rule.
const TRAILER: &str = "Tests-Removed";

/// The rule's setting, unless it is off.
pub fn setting(rules: &RuleSettings) -> Option<Cow<'_, RuleSetting>> {
    detect::TEST_WEAKENING.active(rules)
}

/// The last result with a known count on code other than `code`: a run that nobody committed, else the records.
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

/// What `commit` took away, given the result before it. A merge takes nothing away that its parents did not, unless
/// something failed before it.
pub fn of(
    repo: &Repo,
    rules: &RuleSettings,
    commit: &CommitInfo,
    before: Option<&TestEvidence>,
) -> Result<Option<Weakening>, OpsError> {
    let failing = before.and_then(failing_count).unwrap_or_default();
    let (Some(setting), Some(parent)) = (setting(rules), commit.parents.first()) else { return Ok(None) };
    if commit.parents.len() > 1 && failing == 0 {
        return Ok(None);
    }
    let Ok(parent) = repo.tree_of(*parent) else { return Ok(None) };
    let found = between(repo, &Patterns::of(&setting), parent, commit.tree)?;
    let ran = before.map_or(0, |before| before.counts.ran());
    // What only a run tells of is waived as well.
    let waiver = waiver(commit);
    let found = found.or_else(|| waiver.is_some().then(Weakening::default));
    Ok(found.map(|found| Weakening { failing, ran, waiver, ..found }))
}

/// The reason that a trailer of `commit` gives.
pub fn waiver(commit: &CommitInfo) -> Option<String> {
    let waives =
        |(key, reason): &&(String, String)| key.eq_ignore_ascii_case(TRAILER) && !reason.trim().is_empty();
    commit.trailers.iter().find(waives).map(|(_, reason)| reason.trim().to_owned())
}

/// What the way from one tree to another took from the tests.
pub fn between(
    repo: &Repo,
    patterns: &Patterns<'_>,
    before: TreeId,
    after: TreeId,
) -> Result<Option<Weakening>, OpsError> {
    let changes = repo.changes(Some(before), after)?;
    let (mut files, mut left) = (Vec::new(), MAX_ALL);
    // A file that was added takes nothing away, but what went elsewhere may have come there.
    let takes = changes.iter().any(|change| change.old.is_some() && patterns.knows(&extension(&change.path)));
    let holds = |change: &&Change| takes && patterns.knows(&extension(&change.path));
    for change in changes.iter().filter(holds).take(MAX_FILES) {
        let old = text(repo, change.old.map(|side| side.1))?;
        let new = text(repo, change.new.map(|side| side.1))?;
        let (Some(old), Some(new)) = (old, new) else { continue };
        left = left.saturating_sub(old.len() + new.len());
        if left == 0 {
            break;
        }
        files.push(ChangedText { extension: extension(&change.path), old, new });
    }
    Ok(weakened(&files, patterns))
}

/// Ending of a file's name, in lower case.
pub fn extension(path: &[u8]) -> String {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let ending = name.rsplit(|byte| *byte == b'.').next().filter(|ending| ending.len() < name.len());
    String::from_utf8_lossy(ending.unwrap_or_default()).to_ascii_lowercase()
}

/// The text of a blob; empty where there is none, `None` where it is not there, too large or no text.
pub fn text(repo: &Repo, id: Option<Oid>) -> Result<Option<String>, OpsError> {
    let Some(id) = id else { return Ok(Some(String::new())) };
    match repo.read_blob(id, MAX_TEXT) {
        Ok(Blob::Content(bytes)) if !bytes.contains(&0) => {
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Ok(Blob::Content(_) | Blob::TooLarge(_)) | Err(GitError::Missing { .. }) => Ok(None),
        Err(err) => Err(err.into()),
    }
}
