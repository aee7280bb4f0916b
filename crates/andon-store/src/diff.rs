//! The change of a commit, read from its trees: which paths count, and their texts. What is made of them is
//! [`andon_core::change::hash`].

use super::Result;
use andon_core::change::hash::{HashInput, HashOptions, TextPair};
use andon_core::change::rewrites::ChangedLines;
use andon_core::domain::{Change, ChangeFacts, DiffSummary, Oid, PathClass, PathRules, TreeId};
use andon_git::{GitError, MODE_SUBMODULE, Repo, Text, hunks, is_binary};

/// Files larger than this are compared by id, in bytes.
pub const MAX_FILE: usize = 4 << 20;
/// Text beyond this in one commit is compared by id, in bytes.
pub const MAX_TEXT: usize = 64 << 20;

/// The paths that count of what differs between two trees (`None`: the empty one), in byte order.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git) when a tree is missing.
pub fn changes(repo: &Repo, rules: &PathRules, old: Option<TreeId>, new: TreeId) -> Result<Vec<Change>> {
    let mut changes: Vec<Change> =
        repo.changes(old, new)?.into_iter().filter_map(|change| counted(rules, change)).collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// The sum of changes, and what they are made of.
pub struct SummedChanges {
    pub diff: DiffSummary,
    pub facts: ChangeFacts,
    pub lines: ChangedLines,
    /// The first blob that is not there.
    pub missing: Option<Oid>,
}

/// Sums up the changes that [`changes`] found, and says what they are made of. A missing blob is no error: it is compared
/// by id, the summary is marked truncated, and the first one is named.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git) when a blob cannot be read.
pub fn summarize_changes(
    repo: &Repo,
    reading: &HashOptions<'_>,
    changes: &[Change],
) -> Result<SummedChanges> {
    let mut read = Reader { repo, text_left: MAX_TEXT, missing: None, sum: HashInput::new(reading) };
    for change in changes {
        read.change(change)?;
    }
    let (diff, facts, lines) = read.sum.finish();
    Ok(SummedChanges { diff, facts, lines, missing: read.missing })
}

/// The change as it counts; `None` when all of it is ignored.
fn counted(rules: &PathRules, mut change: Change) -> Option<Change> {
    let ignored = |path: &[u8]| rules.class(path) == PathClass::Ignored;
    let from_ignored = change.old_path.as_deref().is_some_and(ignored);
    match (from_ignored, ignored(&change.path), change.old_path.take()) {
        (_, true, None) | (true, true, Some(_)) => None,
        (_, false, None) => Some(change),
        (false, true, Some(old_path)) => Some(Change { path: old_path, new: None, ..change }),
        (true, false, Some(_)) => Some(Change { old: None, ..change }),
        (false, false, Some(old_path)) => Some(Change { old_path: Some(old_path), ..change }),
    }
}

/// Reads the texts of a change.
struct Reader<'a, 'r> {
    repo: &'r Repo,
    text_left: usize,
    /// The first blob that is not there.
    missing: Option<Oid>,
    sum: HashInput<'a>,
}

/// The two sides of a file.
enum Content {
    Text(Text, Text),
    Ids,
}

impl Reader<'_, '_> {
    fn change(&mut self, change: &Change) -> Result<()> {
        let (old_id, new_id) = (change.old.map(|side| side.1), change.new.map(|side| side.1));
        let content = if old_id == new_id { Content::Ids } else { self.content(change)? };
        match content {
            Content::Ids => self.sum.by_ids(change),
            Content::Text(old, new) => {
                let hunks = hunks(&old, &new);
                self.sum.by_lines(change, TextPair { old: &old, new: &new, hunks: &hunks });
            }
        }
        Ok(())
    }

    fn content(&mut self, change: &Change) -> Result<Content> {
        let mut sides = [Text::default(), Text::default()];
        for (side, text) in [change.old, change.new].into_iter().zip(&mut sides) {
            let Some((mode, id)) = side else { continue };
            if mode == MODE_SUBMODULE {
                return Ok(Content::Ids);
            }
            match self.repo.text(id, MAX_FILE) {
                Ok(Some(content)) => *text = content,
                Ok(None) => return Ok(Content::Ids),
                Err(GitError::Missing { .. }) => {
                    self.missing = self.missing.or(Some(id));
                    self.sum.truncate();
                    return Ok(Content::Ids);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let [old, new] = sides;
        let size = old.len().saturating_add(new.len());
        if is_binary(&old) || is_binary(&new) {
            return Ok(Content::Ids);
        }
        if size > self.text_left {
            self.text_left = 0;
            self.sum.truncate();
            return Ok(Content::Ids);
        }
        self.text_left -= size;
        Ok(Content::Text(old, new))
    }
}

#[cfg(test)]
mod tests;
