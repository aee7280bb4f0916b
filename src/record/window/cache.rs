//! The last window, kept in the worktree's git directory under the two ids that it depends on. Where others have moved
//! the notes since, it serves as long as the notes of its own commits are as they were: with many writers on one store
//! that is nearly always. Safe to delete; what is cut short, altered, of another version or about other ids is not used.
//!
//! Two lines (what it depends on; where the walk ended, how it was judged, the newest record's digest and how many bytes
//! follow), then the commits, each in bytes behind their length, then a checksum over everything before. What stands
//! behind that is of a window that was longer. The file is written over in place: the two lines are in its first block
//! and true by themselves, whatever became of the rest.

use super::Window;
use crate::domain::facts::CommitFact;
use crate::domain::ids::CommitId;
use crate::git::Repo;
use crate::record::checksum::{checksum, first};
use crate::record::store::REF;
use crate::record::{compact, file};

const FILE: &str = "andon/cache/window";
/// Changes with the lines, and with the bytes of [`compact`].
const HEAD: &str = "andon/window@6";
/// A larger file is not read.
const MAX_BYTES: u64 = 16 << 20;
/// The first two lines are shorter.
const MAX_START: usize = 512;
/// Bytes of the checksum.
const SUM: usize = 8;

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
    let start = Start::of(&bytes)?;
    let old = key.kept_under(start.key)?;
    let (whole, sum) = bytes.split_at_checked(start.bytes.checked_add(start.follow)?)?;
    if checksum(whole) != first::<SUM>(sum.get(..SUM)?) {
        return None;
    }
    let unrecorded = match start.unrecorded {
        "-" => None,
        id => Some(id.parse().ok()?),
    };
    let newest = match start.newest {
        "-" => None,
        digest => Some(digest.parse().ok()?),
    };
    let (mut facts, mut blocks) = (Vec::new(), Vec::new());
    let mut rest = whole.get(start.bytes..)?;
    while !rest.is_empty() {
        let (length, after) = rest.split_at_checked(4)?;
        let length = usize::try_from(u32::from_le_bytes(first(length))).ok()?;
        let (block, after) = after.split_at_checked(length)?;
        facts.push(compact::decode(block)?);
        blocks.push(block.to_vec());
        rest = after;
    }
    Some((old, Window { facts, blocks, newest, warnings: Vec::new(), unrecorded }))
}

/// The two lines at the beginning.
struct Start<'a> {
    key: &'a str,
    unrecorded: &'a str,
    settled: &'a str,
    newest: &'a str,
    /// How long they are, with their ends.
    bytes: usize,
    /// How many bytes of commits follow.
    follow: usize,
}

impl<'a> Start<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        let start = &file[..file.len().min(MAX_START)];
        // Not by memchr: asking the processor what it can takes longer than a search this short.
        let end = |line: &[u8]| line.iter().position(|byte| *byte == b'\n');
        let first = end(start)?;
        let second = first + 1 + end(&start[first + 1..])?;
        let line = |from: usize, to: usize| std::str::from_utf8(&start[from..to]).ok();
        let words: Vec<&str> = line(first + 1, second)?.split(' ').collect();
        let [unrecorded, settled, newest, follow] = words[..] else { return None };
        Some(Self {
            key: line(0, first)?,
            unrecorded,
            settled,
            newest,
            bytes: second + 1,
            follow: follow.parse().ok()?,
        })
    }
}

/// How long the journal was when the window under `key` was judged and no halt was owed; `None` when that is not
/// known. Reads the first lines only, unless the notes have moved.
pub(super) fn settled(repo: &Repo, key: &Key) -> Option<u64> {
    let bytes = file::read_start(&repo.git_dir().join(FILE), MAX_START).ok()??;
    let start = Start::of(&bytes)?;
    let old = key.kept_under(start.key)?;
    if Some(old) != key.tip && !kept(repo, key).is_some_and(|(old, window)| holds(repo, key, old, &window)) {
        return None;
    }
    start.settled.parse().ok()
}

/// Keeps `window` under `key`; a failure only costs time.
pub(super) fn write(repo: &Repo, key: &Key, window: &Window, settled: Option<u64>) {
    let unrecorded = window.unrecorded.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let settled = settled.map_or_else(|| "-".to_owned(), |len| len.to_string());
    let newest = window.newest.map_or_else(|| "-".to_owned(), |digest| digest.to_string());
    let follow: usize = window.blocks.iter().map(|block| 4 + block.len()).sum();
    let mut bytes = format!("{}\n{unrecorded} {settled} {newest} {follow}\n", key.line()).into_bytes();
    bytes.reserve(follow + SUM);
    for block in &window.blocks {
        bytes.extend(u32::try_from(block.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(block);
    }
    let sum = checksum(&bytes);
    bytes.extend(sum);
    let _ = file::overwrite(&repo.git_dir().join(FILE), &bytes);
}

/// A fact as it stands in the file.
pub(super) fn block(fact: &CommitFact) -> Vec<u8> {
    compact::encode(fact)
}
