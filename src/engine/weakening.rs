//! What a commit took from the tests, for the rule `test-weakening`: looked for only while earlier tests failed, and
//! only in the files that the commit changed.

use std::borrow::Cow;

use super::error::OpsError;
use crate::detect::{self, ChangedText, Patterns, weakened};
use crate::domain::facts::Weakening;
use crate::domain::ids::{CodeId, Oid};
use crate::domain::settings::{RuleSetting, RuleSettings};
use crate::domain::tests::{RunValidity, TestEvidence, TestRun};
use crate::git::{Blob, CommitInfo, GitError, Repo};
use crate::history::{Timeline, failing_count};

/// Files that are read at the most, and bytes of each: a change beyond that is no edit of tests by hand.
const MAX_FILES: usize = 64;
const MAX_TEXT: usize = 1 << 20;

/// Key of the trailer that waives the rule.
const TRAILER: &str = "Tests-Removed";

/// The rule's setting, unless it is off.
pub fn setting(rules: &RuleSettings) -> Option<Cow<'_, RuleSetting>> {
    detect::TEST_WEAKENING.active(rules)
}

/// The last result on code other than `code`, where it has failures: a run that nobody committed, else the records.
pub fn open_failures<'a>(
    runs: &'a [TestRun],
    timeline: &'a Timeline,
    code: CodeId,
) -> Option<&'a TestEvidence> {
    let known = |tests: &&TestEvidence| tests.code != code && failing_count(tests).is_some();
    let valid = runs.iter().rev().filter(|run| run.validity == RunValidity::Valid);
    let last = valid.map(|run| &run.evidence).find(known);
    let last = last.or_else(|| timeline.last_result_before(code))?;
    failing_count(last).filter(|failing| *failing > 0).map(|_| last)
}

/// What `commit` took away, given the failures that were open before it.
pub fn of(
    repo: &Repo,
    rules: &RuleSettings,
    commit: &CommitInfo,
    before: &TestEvidence,
) -> Result<Option<Weakening>, OpsError> {
    let (Some(setting), Some(parent)) = (setting(rules), commit.parents.first()) else { return Ok(None) };
    let patterns = Patterns::of(&setting);
    let Ok(parent) = repo.tree_of(*parent) else { return Ok(None) };
    let changes = repo.changes(Some(parent), commit.tree)?;
    let mut files = Vec::new();
    let holds = |change: &&crate::domain::change::Change| patterns.knows(&extension(&change.path));
    for change in changes.iter().filter(holds).take(MAX_FILES) {
        let old = text(repo, change.old.map(|side| side.1))?;
        let new = text(repo, change.new.map(|side| side.1))?;
        if let (Some(old), Some(new)) = (old, new) {
            files.push(ChangedText { extension: extension(&change.path), old, new });
        }
    }
    let waiver = commit
        .trailers
        .iter()
        .find(|(key, reason)| key.eq_ignore_ascii_case(TRAILER) && !reason.trim().is_empty());
    Ok(weakened(&files, &patterns).map(|found| Weakening {
        waiver: waiver.map(|(_, reason)| reason.trim().to_owned()),
        failing: failing_count(before).unwrap_or_default(),
        ran: before.counts.ran(),
        ..found
    }))
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
