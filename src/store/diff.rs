//! The normalized diff of a commit (docs/formats.md): what it changed, whenever, wherever in the file, and with
//! whatever message. Other clones derive the same hash, so its bytes are defined here.
//!
//! `diff.hash` is the sha256 of
//!
//! ```text
//! "andon/diff@1" LF
//! per changed path that is not ignored, in byte order of the path:
//!     "P" field(old path) field(new path) u32(old mode) u32(new mode)
//!     text:   per hunk "H" u64(removed lines) field(line)... u64(added lines) field(line)...
//!     by ids: "I" field(old id) field(new id)
//!     "E"
//! field(bytes) = u64(length) bytes;  u32, u64 big-endian
//! ```
//!
//! A side that is not there has an empty path, mode 0 and an empty id; ids are lowercase hexadecimal ASCII. Lines are
//! normalized ([`Normalizer`]) and have no line end. Hunks are those of git's Myers diff without context and without
//! the indent heuristic; one whose two sides are equal after normalization is left out, and so is a path of which
//! nothing else is left: no hunk, no change of mode or path. By ids go submodules, files that are binary (a NUL in
//! the first 8,000 bytes of either side) or larger than 4 MiB, blobs that are missing (a partial clone), and
//! everything after 64 MiB of text. A rename that changes no content is one path; a path that moves into or out of
//! the ignored ones is an addition or a deletion.
//!
//! A hunk's pair in `diff.hunks` is, per side, the first 8 bytes of the sha256 over its normalized lines, each ended
//! by LF: a hunk that undoes another has the two swapped. `added`, `removed` and `files` count as `git diff --numstat`
//! does, before normalization.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::RecordError;
use super::normalize::Normalizer;
use super::survey::{Survey, first_eight};
use crate::domain::change::ChangeFacts;
use crate::domain::facts::{DiffSummary, Hunk};
use crate::domain::ids::{DiffHash, HunkHash, Oid, TreeId};
use crate::domain::paths::{PathClass, PathRules};
use crate::git::{Change, GitError, MODE_SUBMODULE, RawHunk, Repo, Text, Texts, hunks, is_binary};

/// Files larger than this are compared by id, in bytes.
pub const MAX_FILE: usize = 4 << 20;
/// Text beyond this in one commit is compared by id, in bytes.
pub const MAX_TEXT: usize = 64 << 20;

/// How a change is read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Which paths count, and which are documents.
    pub rules: &'a PathRules,
    /// What lines are compared as.
    pub normalizer: &'a Normalizer,
}

/// Sums up what `new` changed against `old` (`None` for a root commit), and what that change is made of.
///
/// # Errors
/// [`RecordError::Git`] when a tree is missing. A missing blob is none: it is compared by id, the summary is marked
/// truncated, and the first one is named.
pub fn summarize(
    (repo, texts): (&Repo, &mut Texts<'_>),
    reading: &Reading<'_>,
    old: Option<TreeId>,
    new: TreeId,
) -> Result<(DiffSummary, ChangeFacts, Option<Oid>), RecordError> {
    summarize_changes(texts, reading, &changes(repo, reading.rules, (old, new))?)
}

/// The paths that count of what differs between two trees (`None`: the empty one), in byte order.
///
/// # Errors
/// [`RecordError::Git`] when a tree is missing.
pub fn changes(
    repo: &Repo,
    rules: &PathRules,
    (old, new): (Option<TreeId>, TreeId),
) -> Result<Vec<Change>, RecordError> {
    let mut changes: Vec<Change> =
        repo.changes(old, new)?.into_iter().filter_map(|change| counted(rules, change)).collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// As [`summarize`], of what [`changes`] found.
///
/// # Errors
/// As [`summarize`].
pub fn summarize_changes(
    texts: &mut Texts<'_>,
    reading: &Reading<'_>,
    changes: &[Change],
) -> Result<(DiffSummary, ChangeFacts, Option<Oid>), RecordError> {
    let mut sum = Summing::new(texts, reading);
    for change in changes {
        sum.change(change)?;
    }
    Ok(sum.finish())
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

struct Summing<'a, 't, 'r> {
    texts: &'t mut Texts<'r>,
    reading: Reading<'a>,
    hash: Sha256,
    text_left: usize,
    summary: DiffSummary,
    survey: Survey<'a>,
    /// The first blob that is not there.
    missing: Option<Oid>,
}

/// The two sides of a file.
enum Content<'r> {
    Text(Text<'r>, Text<'r>),
    Ids,
}

/// Removed and added lines of a hunk.
type Sides<'h, 'a> = (&'h [Cow<'a, [u8]>], &'h [Cow<'a, [u8]>]);

/// The normalized lines of a hunk.
struct Normalized<'a> {
    removed: Vec<Cow<'a, [u8]>>,
    added: Vec<Cow<'a, [u8]>>,
}

impl Normalized<'_> {
    fn pair(&self) -> Hunk {
        Hunk { removed: side_hash(&self.removed), added: side_hash(&self.added) }
    }
}

/// Whether neither path nor mode changed.
fn is_in_place(change: &Change) -> bool {
    change.old_path.is_none() && change.old.map(|old| old.0) == change.new.map(|new| new.0)
}

fn sides<'h, 'a>(hunks: &'h [Normalized<'a>]) -> Vec<Sides<'h, 'a>> {
    hunks.iter().map(|hunk| (hunk.removed.as_slice(), hunk.added.as_slice())).collect()
}

/// The hunks of which something is left.
fn normalized<'a>(normalizer: &Normalizer, raw: &[RawHunk<'a>]) -> Vec<Normalized<'a>> {
    let side = |lines: &[&'a [u8]]| lines.iter().map(|line| normalizer.line(line)).collect();
    let hunks = raw.iter().map(|hunk| Normalized { removed: side(&hunk.removed), added: side(&hunk.added) });
    hunks.filter(|hunk| hunk.removed != hunk.added).collect()
}

impl<'a, 't, 'r> Summing<'a, 't, 'r> {
    fn new(texts: &'t mut Texts<'r>, reading: &Reading<'a>) -> Self {
        let summary = DiffSummary {
            hash: DiffHash([0; 32]),
            empty: true,
            files: 0,
            added: 0,
            removed: 0,
            hunks: Vec::new(),
            truncated: false,
        };
        let hash = Sha256::new_with_prefix(b"andon/diff@1\n");
        let survey = Survey::new(reading.rules, reading.normalizer);
        Self { texts, reading: *reading, hash, text_left: MAX_TEXT, summary, survey, missing: None }
    }

    fn finish(mut self) -> (DiffSummary, ChangeFacts, Option<Oid>) {
        self.summary.hash = DiffHash(self.hash.finalize().into());
        (self.summary, self.survey.finish(), self.missing)
    }

    fn change(&mut self, change: &Change) -> Result<(), RecordError> {
        self.summary.files = self.summary.files.saturating_add(1);
        let (old_id, new_id) = (change.old.map(|side| side.1), change.new.map(|side| side.1));
        self.survey.step(change);
        if old_id == new_id {
            self.survey.no_lines(change);
            self.begin(change);
            self.hash.update(b"E");
            return Ok(());
        }
        match self.content(change)? {
            Content::Ids => {
                self.survey.no_lines(change);
                self.begin(change);
                self.hash.update(b"I");
                for id in [old_id, new_id] {
                    field(&mut self.hash, id.map(|id| id.to_string()).unwrap_or_default().as_bytes());
                }
                self.hash.update(b"E");
            }
            Content::Text(old, new) => self.text(change, &old, &new),
        }
        Ok(())
    }

    fn begin(&mut self, change: &Change) {
        let old_path = change.old_path.as_ref().unwrap_or(&change.path);
        let side = |side: Option<(u32, Oid)>, path| match side {
            Some((mode, _)) => (path, mode),
            None => (&[][..], 0),
        };
        let (old_path, old_mode) = side(change.old, old_path.as_slice());
        let (new_path, new_mode) = side(change.new, change.path.as_slice());
        self.summary.empty = false;
        self.hash.update(b"P");
        field(&mut self.hash, old_path);
        field(&mut self.hash, new_path);
        self.hash.update(old_mode.to_be_bytes());
        self.hash.update(new_mode.to_be_bytes());
    }

    fn content(&mut self, change: &Change) -> Result<Content<'r>, RecordError> {
        let mut sides = [Text::default(), Text::default()];
        for (side, text) in [change.old, change.new].into_iter().zip(&mut sides) {
            let Some((mode, id)) = side else { continue };
            if mode == MODE_SUBMODULE {
                return Ok(Content::Ids);
            }
            match self.texts.read(id, MAX_FILE) {
                Ok(Some(content)) => *text = content,
                Ok(None) => return Ok(Content::Ids),
                Err(GitError::Missing { .. }) => {
                    self.missing = self.missing.or(Some(id));
                    self.summary.truncated = true;
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
            self.summary.truncated = true;
            return Ok(Content::Ids);
        }
        self.text_left -= size;
        Ok(Content::Text(old, new))
    }

    fn text(&mut self, change: &Change, old: &Text<'_>, new: &Text<'_>) {
        let raw = hunks(old, new);
        for hunk in &raw {
            self.summary.removed = self.summary.removed.saturating_add(hunk.removed.len() as u64);
            self.summary.added = self.summary.added.saturating_add(hunk.added.len() as u64);
        }
        let hunks = normalized(self.reading.normalizer, &raw);
        if hunks.is_empty() && is_in_place(change) {
            return;
        }
        self.survey.lines(change, &sides(&hunks));
        self.survey.document(change, old, new);
        self.begin(change);
        for hunk in &hunks {
            self.hash.update(b"H");
            for side in [&hunk.removed, &hunk.added] {
                self.hash.update((side.len() as u64).to_be_bytes());
                for line in side {
                    field(&mut self.hash, line);
                }
            }
            if self.summary.hunks.len() < DiffSummary::MAX_HUNKS {
                self.summary.hunks.push(hunk.pair());
            } else {
                self.summary.truncated = true;
            }
        }
        self.hash.update(b"E");
    }
}

fn field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

fn side_hash(lines: &[Cow<'_, [u8]>]) -> HunkHash {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line);
        hash.update(b"\n");
    }
    first_eight(hash.finalize().into())
}

#[cfg(test)]
mod tests;
