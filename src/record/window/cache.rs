//! The last window, kept in the worktree's git directory under the two ids that it depends on. Where others have moved
//! the notes since, it serves as long as the notes of its own commits are as they were: with many writers on one store
//! that is nearly always. Safe to delete; what is cut short, of another version or about other ids is not used.

use serde_json::Value;

use super::Window;
use crate::domain::facts::CommitFact;
use crate::domain::ids::CommitId;
use crate::git::Repo;
use crate::record::file;
use crate::record::format::v1::{UnknownKeys, decode_commit, encode_commit};
use crate::record::store::REF;

const FILE: &str = "andon/cache/window";
const HEAD: &str = "andon/window@2";
const END: &str = "end";
/// A larger file is not read.
const MAX_BYTES: u64 = 16 << 20;
/// The first two lines are shorter.
const MAX_START: usize = 512;

/// What a window depends on.
pub(super) struct Key {
    /// The newest commit.
    pub(super) head: CommitId,
    /// The notes commit.
    pub(super) tip: Option<CommitId>,
    /// How many records were asked for.
    pub(super) max: usize,
}

impl Key {
    fn line(&self) -> String {
        let tip = self.tip.map_or_else(|| "-".to_owned(), |tip| tip.to_string());
        format!("{HEAD} {} {tip} {}", self.head, self.max)
    }

    /// The tip under which `line` keeps a window, if that is the one that is asked for.
    fn kept_under(&self, line: &str) -> Option<CommitId> {
        let words: Vec<&str> = line.split(' ').collect();
        let [version, head, tip, max] = words[..] else { return None };
        let wanted = version == HEAD && head == self.head.to_string() && max == self.max.to_string();
        tip.parse().ok().filter(|_| wanted)
    }
}

/// Whether what was kept under the tip `old` still holds: its commits have the notes that they had.
fn holds(repo: &Repo, key: &Key, old: CommitId, window: &Window) -> bool {
    let Some(new) = key.tip else { return false };
    let commits = window.facts.iter().filter_map(|fact| fact.id).chain(window.unrecorded);
    old == new || repo.same_notes(REF, (old, new), commits).unwrap_or(false)
}

/// The window under `key`, if that is what is kept.
pub(super) fn read(repo: &Repo, key: &Key) -> Option<Window> {
    let (old, window) = kept(repo, key)?;
    holds(repo, key, old, &window).then_some(window)
}

/// The window behind the commit of `key`, and the tip of the notes then.
fn kept(repo: &Repo, key: &Key) -> Option<(CommitId, Window)> {
    let bytes = file::read(&repo.git_dir().join(FILE), MAX_BYTES).ok()??;
    let text = std::str::from_utf8(&bytes).ok()?;
    let mut lines = text.lines();
    let old = key.kept_under(lines.next()?)?;
    let (unrecorded, _) = lines.next()?.split_once(' ')?;
    let unrecorded = match unrecorded {
        "-" => None,
        id => Some(id.parse().ok()?),
    };
    let (mut facts, mut blocks) = (Vec::new(), Vec::new());
    loop {
        let line = lines.next()?;
        if line == END {
            return Some((old, Window { facts, blocks, warnings: Vec::new(), unrecorded }));
        }
        let (id, subject) = line.split_once(' ')?;
        let Value::String(subject) = serde_json::from_str(subject).ok()? else { return None };
        let json = lines.next()?;
        let record = decode_commit(json.as_bytes()).ok()?.record;
        facts.push(CommitFact { id: Some(id.parse().ok()?), subject, record });
        blocks.push(format!("{line}\n{json}\n"));
    }
}

/// How long the journal was when the window under `key` was judged and no halt was owed; `None` when that is not
/// known. Reads the first lines only, unless the notes have moved.
pub(super) fn settled(repo: &Repo, key: &Key) -> Option<u64> {
    let start = file::read_start(&repo.git_dir().join(FILE), MAX_START).ok()??;
    let mut lines = start.split(|byte| *byte == b'\n');
    let old = key.kept_under(std::str::from_utf8(lines.next()?).ok()?)?;
    if Some(old) != key.tip && !kept(repo, key).is_some_and(|(old, window)| holds(repo, key, old, &window)) {
        return None;
    }
    std::str::from_utf8(lines.next()?).ok()?.split_once(' ')?.1.parse().ok()
}

/// Keeps `window` under `key`; a failure only costs time.
pub(super) fn write(repo: &Repo, key: &Key, window: &Window, settled: Option<u64>) {
    let unrecorded = window.unrecorded.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let settled = settled.map_or_else(|| "-".to_owned(), |len| len.to_string());
    let mut text = format!("{}\n{unrecorded} {settled}\n", key.line());
    window.blocks.iter().for_each(|block| text.push_str(block));
    text.push_str(END);
    text.push('\n');
    let _ = file::replace(&repo.git_dir().join(FILE), &[text.as_bytes()]);
}

/// A fact as it stands in the file; empty for one without a commit, which is never kept.
pub(super) fn block(fact: &CommitFact) -> String {
    let Some(id) = fact.id else { return String::new() };
    let subject = Value::String(fact.subject.clone());
    format!("{id} {subject}\n{}", encode_commit(&fact.record, &UnknownKeys::default()))
}
