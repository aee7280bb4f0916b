//! The last window, kept in the worktree's git directory under the two ids that it depends on. Safe to delete; what is
//! cut short, of another version or about other ids is not used.

use serde_json::Value;

use super::Window;
use crate::domain::facts::CommitFact;
use crate::domain::ids::CommitId;
use crate::git::Repo;
use crate::record::file;
use crate::record::format::v1::{UnknownKeys, decode_commit, encode_commit};

const FILE: &str = "andon/cache/window";
const HEAD: &str = "andon/window@1";
const END: &str = "end";
/// A larger file is not read.
const MAX_BYTES: u64 = 16 << 20;

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
}

/// The window under `key`, if that is what is kept.
pub(super) fn read(repo: &Repo, key: &Key) -> Option<Window> {
    let bytes = file::read(&repo.git_dir().join(FILE), MAX_BYTES).ok()??;
    let text = std::str::from_utf8(&bytes).ok()?;
    let mut lines = text.lines();
    if lines.next()? != key.line() {
        return None;
    }
    let unrecorded = match lines.next()? {
        "-" => None,
        id => Some(id.parse().ok()?),
    };
    let mut facts = Vec::new();
    loop {
        let line = lines.next()?;
        if line == END {
            return Some(Window { facts, warnings: Vec::new(), unrecorded });
        }
        let (id, subject) = line.split_once(' ')?;
        let Value::String(subject) = serde_json::from_str(subject).ok()? else { return None };
        let record = decode_commit(lines.next()?.as_bytes()).ok()?.record;
        facts.push(CommitFact { id: Some(id.parse().ok()?), subject, record });
    }
}

/// Keeps `window` under `key`; a failure only costs time.
pub(super) fn write(repo: &Repo, key: &Key, window: &Window) {
    let unrecorded = window.unrecorded.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let mut text = format!("{}\n{unrecorded}\n", key.line());
    for fact in &window.facts {
        let Some(id) = fact.id else { return };
        let subject = Value::String(fact.subject.clone());
        text.push_str(&format!("{id} {subject}\n{}", encode_commit(&fact.record, &UnknownKeys::default())));
    }
    text.push_str(END);
    text.push('\n');
    let _ = file::replace(&repo.git_dir().join(FILE), &[text.as_bytes()]);
}
