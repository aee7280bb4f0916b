//! The change of a commit for people who read about it, bounded, and followed by the command that shows all of it.

use std::fmt;

use crate::text::halt;
use andon_core::domain::{Change, CommitId, Halt, Hint};
use andon_git::{GitError, Repo, Text, hunks};

/// Most lines that are shown, and most characters of each.
const LINES: usize = 80;
const COLUMNS: usize = 200;
/// Largest file that is compared, in bytes.
const MAX_FILE: usize = 1 << 20;

/// The difference between two states of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownChange {
    /// The state that the removed lines are of; `None` where everything is new.
    pub before: Option<CommitId>,
    /// The state that the added lines are of.
    pub after: CommitId,
    /// Files, each followed by its lines, without those around them.
    pub lines: Vec<ShownLine>,
    /// There were more of them.
    pub is_cut: bool,
    /// The command that shows all of it.
    pub command: String,
}

/// A line of a change. Numbers count from 1; texts are raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownLine {
    /// The file that the lines below are of.
    File { path: String, old: Option<String> },
    /// A line that went, with its number before the change.
    Removed(usize, String),
    /// A line that came, with its number after the change.
    Added(usize, String),
    /// The reason why nothing is shown of a file.
    Note(&'static str),
}

/// The sign comes first: colours go by it, those of `diff` blocks in Markdown too.
impl fmt::Display for ShownLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, old: Some(old) } => write!(f, "{old} -> {path}"),
            Self::File { path, old: None } => f.write_str(path),
            Self::Removed(number, text) => write!(f, "-{number:>5}  {text}"),
            Self::Added(number, text) => write!(f, "+{number:>5}  {text}"),
            Self::Note(text) => write!(f, "  ({text})"),
        }
    }
}

impl ShownChange {
    /// The first `max` lines as text, and where the rest is.
    pub fn text(&self, max: usize) -> Vec<String> {
        let mut text: Vec<String> = self.lines.iter().take(max).map(ToString::to_string).collect();
        if self.is_cut || self.lines.len() > max {
            text.push(format!("(cut; all of it: {})", self.command));
        }
        text
    }
}

/// The change that a person has to decide about: two states that alternate, the ends of what is stuck, or its only
/// commit. `None` where no commit is stuck.
///
/// # Errors
/// A commit is not here.
pub fn of_halt(repo: &Repo, halt: &Halt) -> Result<Option<ShownChange>, GitError> {
    let Some((before, after)) = halt::compared(halt) else { return Ok(None) };
    Ok(Some(match before {
        Some(before) => between(repo, before, after)?,
        None => of_commit(repo, after)?,
    }))
}

/// The change of a commit against its first parent.
///
/// # Errors
/// The commit is not here.
pub fn of_commit(repo: &Repo, commit: CommitId) -> Result<ShownChange, GitError> {
    read(repo, repo.commit(commit)?.parents.first().copied(), commit, Hint::GitShow.with([&commit.short()]))
}

/// The change from the code of one commit to that of another.
///
/// # Errors
/// One of them is not here.
pub fn between(repo: &Repo, before: CommitId, after: CommitId) -> Result<ShownChange, GitError> {
    read(repo, Some(before), after, Hint::Diff.with([&before.short(), &after.short()]))
}

fn read(
    repo: &Repo,
    before: Option<CommitId>,
    after: CommitId,
    command: String,
) -> Result<ShownChange, GitError> {
    let old = before.map(|before| repo.tree_of(before)).transpose()?;
    let mut lines = Vec::new();
    for change in repo.changes(old, repo.tree_of(after)?)? {
        if lines.len() > LINES {
            break;
        }
        of_file(repo, &change, &mut lines)?;
    }
    let is_cut = lines.len() > LINES;
    lines.truncate(LINES);
    Ok(ShownChange { before, after, lines, is_cut, command })
}

/// The lines that went and came, without those around them.
fn of_file(repo: &Repo, change: &Change, lines: &mut Vec<ShownLine>) -> Result<(), GitError> {
    let name = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    lines.push(ShownLine::File { path: name(&change.path), old: change.old_path.as_deref().map(name) });
    let mut sides = Vec::new();
    for side in [change.old, change.new] {
        sides.push(side.map_or(Ok(Some(Text::default())), |(_, id)| repo.text(id, MAX_FILE))?);
    }
    let [Some(old), Some(new)] = sides.as_slice() else {
        lines.push(ShownLine::Note("too large to be shown"));
        return Ok(());
    };
    for hunk in hunks(old, new) {
        let removed = numbered(old, &hunk.removed).map(|(number, text)| ShownLine::Removed(number, text));
        lines.extend(removed);
        let added = numbered(new, &hunk.added).map(|(number, text)| ShownLine::Added(number, text));
        lines.extend(added);
        if lines.len() > LINES {
            break;
        }
    }
    Ok(())
}

/// Neighbouring lines of `text` with their numbers in it, as many as are ever shown.
fn numbered(text: &[u8], lines: &[&[u8]]) -> impl Iterator<Item = (usize, String)> {
    // A line of a hunk is a part of the text, so its address says where in it.
    let before = lines.first().map_or(0, |first| first.as_ptr().addr().saturating_sub(text.as_ptr().addr()));
    let ended = text.get(..before).unwrap_or_default().split(|byte| *byte == b'\n').count() - 1;
    let shown = |line: &&[u8]| String::from_utf8_lossy(line).trim_end().chars().take(COLUMNS).collect();
    lines.iter().take(LINES).map(shown).enumerate().map(move |(at, line)| (ended + at + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples;

    #[test]
    fn lines_have_the_numbers_that_they_have_in_their_file() {
        let text = b"one\ntwo\nthree\nfour";
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let found: Vec<(usize, String)> = numbered(text, &lines[2..]).collect();
        assert_eq!(found, [(3, "three".to_owned()), (4, "four".to_owned())]);
        assert_eq!(numbered(text, &lines).next(), Some((1, "one".to_owned())));
        assert_eq!(numbered(text, &[]).next(), None);
    }

    #[test]
    fn what_is_cut_says_where_the_rest_is() {
        let (before, after) = (Some(samples::commit(1)), samples::commit(2));
        let file = ShownLine::File { path: "b".to_owned(), old: Some("a".to_owned()) };
        let lines = vec![file, ShownLine::Removed(7, "x".to_owned()), ShownLine::Added(12, "y".to_owned())];
        let command = "git diff 1 2".to_owned();
        let change = ShownChange { before, after, lines, is_cut: false, command };
        assert_eq!(change.text(9), ["a -> b", "-    7  x", "+   12  y"]);
        assert_eq!(change.text(2).last().map(String::as_str), Some("(cut; all of it: git diff 1 2)"));
        assert_eq!(ShownChange { is_cut: true, ..change }.text(9).len(), 4);
    }
}
