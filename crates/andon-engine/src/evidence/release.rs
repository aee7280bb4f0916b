//! Commits of release tools, which edit and commit in one step: where the project's own version is all that changed, the tests
//! of the commit before are the evidence.

use super::{Asked, Demand, Subject, own_evidence, scopes};
use crate::{Result, Workspace};
use andon_core::change::release::{self, Rewritten};
use andon_core::domain::{Hint, PathClass, PathRules, RanOn, TestEvidence, TreeId};
use andon_core::{WordList, detect::is_in_folder_of_tests};
use andon_git::{MODE_EXECUTABLE, MODE_FILE, Repo};
use andon_store::Content;

/// Most files of code that are looked at, and most bytes of one.
const FILES: usize = 64;
const MAX_BYTES: usize = 8 << 20;

/// A file before and after.
type FileChange = (Vec<u8>, Vec<u8>, Vec<u8>);

/// Returns true if of the code nothing but the project's own version differs between two trees.
///
/// # Errors
/// Objects that are not here.
pub fn is_release(repo: &Repo, rules: &PathRules, before: TreeId, tree: TreeId) -> Result<bool> {
    let Some(files) = changed(repo, rules, before, tree)? else { return Ok(false) };
    Ok(release::is_release(&rewritten(&files)))
}

fn rewritten(files: &[FileChange]) -> Vec<Rewritten<'_>> {
    files.iter().map(|(path, old, new)| Rewritten { path, old, new }).collect()
}

/// The files of code that differ; `None` where one is not a text on both sides, or is read by tests alone.
fn changed(repo: &Repo, rules: &PathRules, before: TreeId, tree: TreeId) -> Result<Option<Vec<FileChange>>> {
    let changes = repo.changes(Some(before), tree)?;
    let code: Vec<_> = changes.into_iter().filter(|one| rules.class(&one.path) == PathClass::Code).collect();
    if code.len() > FILES {
        return Ok(None);
    }
    let mut files = Vec::new();
    for change in code {
        let read = |side: Option<(u32, _)>| match side {
            Some((MODE_FILE | MODE_EXECUTABLE, id)) => repo.read_blob(id, MAX_BYTES),
            Some(_) | None => Ok(None),
        };
        let same_mode = change.old.map(|(mode, _)| mode) == change.new.map(|(mode, _)| mode);
        let (Some(old), Some(new)) = (read(change.old)?, read(change.new)?) else { return Ok(None) };
        if !same_mode || is_in_folder_of_tests(&change.path) {
            return Ok(None);
        }
        files.push((change.path, old, new));
    }
    Ok(Some(files))
}

/// The evidence of `before` for a subject that releases it.
pub(super) fn carried(asked: Asked<'_>, before: Option<TreeId>) -> Result<Option<TestEvidence>> {
    let Asked { ws, code, .. } = asked;
    let (Subject::Tree(tree), Some(before)) = (asked.subject, before) else { return Ok(None) };
    if !is_release(&ws.repo, &ws.config.paths.rules, before, *tree)? {
        return Ok(None);
    }
    let (parent, subject) = (ws.fingerprinter().of_tree(before)?, &Subject::Tree(before));
    let found = own_evidence(Asked { subject, code: parent, ..asked }, Demand::Commit(Some(*tree)))?;
    let Some(found) = found.filter(|tests| tests.code == parent) else { return Ok(None) };
    let mut tests = TestEvidence { code, ran_on: RanOn::Parent, untracked: Vec::new(), ..found };
    if !tests.scopes.is_empty() {
        for scope in scopes::codes(&ws.repo, &ws.config, Content::Tree(*tree), Demand::Commit(Some(before)))?
        {
            if let Some(row) = tests.scopes.iter_mut().find(|row| row.name == scope.name) {
                row.tests.code = scope.code;
            }
        }
    }
    Ok(Some(tests))
}

/// The own hooks of release tools in which the tests can run: the file that configures the tool, a word that shows it there,
/// and the line. What a tool calls before it commits sees the version that it has written.
const TOOLS: WordList = WordList(include_str!("release_tools.txt"));

/// The ways in which a release tool gets its commit through at once, where `tree` declares another version than `before`.
pub(crate) fn ways(ws: &Workspace, before: Option<TreeId>, tree: TreeId) -> Result<Vec<String>> {
    let Some(before) = before else { return Ok(Vec::new()) };
    let files = changed(&ws.repo, &ws.config.paths.rules, before, tree)?.unwrap_or_default();
    if !release::declares_version(&rewritten(&files)) {
        return Ok(Vec::new());
    }
    let mut ways = vec![Hint::AtCommitOr.into()];
    for row in TOOLS.iter() {
        let Some((file, (word, line))) =
            row.split_once(" | ").and_then(|(file, rest)| Some((file, rest.split_once(" | ")?)))
        else {
            continue;
        };
        let Some(id) = ws.repo.blob_at(tree, file.as_bytes())? else { continue };
        let Some(text) = ws.repo.read_blob(id, MAX_BYTES)? else { continue };
        if String::from_utf8_lossy(&text).contains(word) {
            ways.push(format!("or let the tool run them before it commits, in {file}:  {line}"));
            break;
        }
    }
    Ok(ways)
}
