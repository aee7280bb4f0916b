//! The change of a commit for people who read about it, bounded, and followed by the command that shows all of it.

use andon_core::domain::change::Change;
use andon_core::domain::ids::{CommitId, TreeId};
use andon_git::{GitError, Repo, Text, Texts, hunks};

/// Most lines that are shown, and most characters of each.
const LINES: usize = 80;
const COLUMNS: usize = 200;
/// Largest file that is compared, in bytes.
const MAX_FILE: usize = 1 << 20;

/// What the commit changed against its first parent.
///
/// # Errors
/// The commit is not here.
pub fn list(repo: &Repo, head: CommitId) -> Result<Vec<String>, GitError> {
    let info = repo.commit(head)?;
    let before = info.parents.first().map(|parent| repo.tree_of(*parent)).transpose()?;
    between(repo, before, info.tree, &format!("git show {}", head.short()))
}

/// What is different in the code of the second commit.
///
/// # Errors
/// One of them is not here.
pub fn of_two(repo: &Repo, first: CommitId, second: CommitId) -> Result<Vec<String>, GitError> {
    let all = format!("git diff {} {}", first.short(), second.short());
    between(repo, Some(repo.tree_of(first)?), repo.tree_of(second)?, &all)
}

/// What leads from one tree to another; `all` is the command that shows all of it.
///
/// # Errors
/// One of the trees is not here.
pub fn between(
    repo: &Repo,
    before: Option<TreeId>,
    after: TreeId,
    all: &str,
) -> Result<Vec<String>, GitError> {
    let mut texts = Texts::new(repo, 0);
    let mut lines = Vec::new();
    for change in repo.changes(before, after)? {
        if lines.len() >= LINES {
            break;
        }
        of_file(&mut texts, &change, &mut lines)?;
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push(format!("(cut; all of it: {all})"));
    }
    Ok(lines)
}

/// The lines that went and came, without those around them.
fn of_file(texts: &mut Texts<'_>, change: &Change, lines: &mut Vec<String>) -> Result<(), GitError> {
    let path = String::from_utf8_lossy(&change.path);
    let moved = change.old_path.as_ref().map(|old| format!("{} -> ", String::from_utf8_lossy(old)));
    lines.push(format!("{}{path}", moved.unwrap_or_default()));
    let mut sides = Vec::new();
    for side in [change.old, change.new] {
        sides.push(match side {
            Some((_, id)) => texts.read(id, MAX_FILE)?,
            None => Some(Text::default()),
        });
    }
    let [Some(old), Some(new)] = sides.as_slice() else {
        lines.push("  (too large to be shown)".to_owned());
        return Ok(());
    };
    for hunk in hunks(old, new) {
        let signed = |sign: char, line: &[u8]| {
            let text: String = String::from_utf8_lossy(line).trim_end().chars().take(COLUMNS).collect();
            format!("{sign} {text}")
        };
        lines.extend(hunk.removed.iter().take(LINES).map(|line| signed('-', line)));
        lines.extend(hunk.added.iter().take(LINES).map(|line| signed('+', line)));
        if lines.len() > LINES {
            break;
        }
    }
    Ok(())
}
