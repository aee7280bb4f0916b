//! The tree that is about to be committed, without reading the index's entries.
//!
//! git keeps the tree ids it already knows in the index's TREE extension, behind the entries. At pre-commit
//! they are complete (docs/git-facts.md), so that the root tree is known from the file's last few kilobytes.
//! The extension has no pointer to it: it is found from the end, as the one place from which a run of
//! known extensions leads exactly to the trailing checksum. What is found must parse to its last byte, cover
//! as many entries as the header counts, and agree with the tree object it names; anything else is `Unknown`.

use std::io::Read as _;

use crate::files::{from_end, open_plain};
use crate::index::entries::{HASH, be32};
use crate::{GitError, Repo, Result, objects::MODE_TREE};
use andon_core::domain::{BadId, Oid, TreeId};

/// The last bytes that are read, and how many more where these do not suffice.
const WINDOWS: [u64; 6] = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
/// Digits of the largest count, which has 32 bits.
const MAX_DIGITS: u32 = 10;
/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 4096;
/// The extensions git writes behind TREE, and it.
const KNOWN: [&[u8; 4]; 8] = [b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT", b"link", b"sdir"];

/// The knowledge of the index about the tree that it would make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexTree {
    /// The tree, exactly.
    Known(TreeId),
    /// Only `git write-tree` can tell: [`Repo::write_tree`].
    Unknown,
}

/// The root of a TREE extension that parsed to its last byte.
struct CachedRoot {
    entries: u32,
    id: Oid,
    /// Names and ids of the directories right below, where known.
    children: Vec<(Vec<u8>, Option<Oid>)>,
}

impl Repo {
    /// The tree of the effective index, if its TREE extension has it. Never a wrong tree: any doubt is
    /// [`IndexTree::Unknown`].
    pub fn index_tree(&self) -> Result<IndexTree> {
        let path = self.index_path();
        let found = read_root(&path).map_err(|source| GitError::Io { path, source })?;
        match found {
            Some(root) if self.agrees(&root) => Ok(IndexTree::Known(TreeId(root.id))),
            Some(_) | None => Ok(IndexTree::Unknown),
        }
    }

    /// `git write-tree` under the effective index: the honest fallback. Fails with unmerged paths.
    pub fn write_tree(&self) -> Result<TreeId> {
        self.tree_from(&["write-tree"])
    }

    /// Mode and path of each file that git tracks, by the effective index.
    pub fn tracked_files(&self) -> Result<Vec<(u32, Vec<u8>)>> {
        let output = self.git(&["ls-files", "--stage", "--full-name", "-z", "--", ":/"], b"")?;
        // MODE ID STAGE, a tabulator and the path.
        let files = output.stdout.split(|byte| *byte == 0).filter_map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let mode = std::str::from_utf8(line.get(..6)?).ok()?;
            Some((u32::from_str_radix(mode, 8).ok()?, line[tab + 1..].to_vec()))
        });
        Ok(files.collect())
    }

    /// The tree that `named` names: by its id, also shortened, or by a commit or ref.
    pub fn tree_named(&self, named: &str) -> Result<TreeId> {
        let wanted = format!("{named}^{{tree}}");
        self.tree_from(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])
    }

    /// The tree that the git program answers with.
    fn tree_from(&self, args: &[&str]) -> Result<TreeId> {
        let output = self.git(args, b"")?;
        String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|error: BadId| GitError::Answer {
            command: format!("git {}", args[0]),
            detail: error.to_string(),
        })
    }

    /// The tree object exists and has exactly the directories that the extension lists.
    fn agrees(&self, root: &CachedRoot) -> bool {
        let Ok(tree) = self.tree(TreeId(root.id)) else { return false };
        let directories = tree.entries().filter(|entry| entry.mode == MODE_TREE);
        let mut there: Vec<(Vec<u8>, Option<Oid>)> =
            directories.map(|entry| (entry.name.to_vec(), Some(entry.id()))).collect();
        let mut listed = root.children.clone();
        there.sort_unstable();
        listed.sort_unstable();
        there == listed
    }
}

/// The root of the TREE extension of the index at `path`; `None` when there is none that can be trusted.
fn read_root(path: &std::path::Path) -> Result<Option<CachedRoot>, std::io::Error> {
    let Some(mut file) = open_plain(path)? else { return Ok(None) };
    let mut header = [0; 12];
    let read = file.read_exact(&mut header).ok();
    let Some(count) = read.and_then(|()| entry_count(&header)) else { return Ok(None) };
    let root =
        from_end(&mut file, &WINDOWS, |_, tail| find_root(tail.get(..tail.len().checked_sub(HASH)?)?))?;
    Ok(root.filter(|root| root.entries == count))
}

/// `DIRC`, version 2 to 4, number of entries.
fn entry_count(header: &[u8; 12]) -> Option<u32> {
    let version = be32(header, 4)?;
    if &header[..4] == b"DIRC" && (2..=4).contains(&version) { be32(header, 8) } else { None }
}

/// Looks from the end for a TREE whose run of extensions leads exactly to the end of `tail`.
fn find_root(tail: &[u8]) -> Option<CachedRoot> {
    let starts = memchr::memrchr_iter(b'T', tail);
    starts.filter(|at| tail[*at..].starts_with(b"TREE") && extensions_end(tail, *at)).find_map(|at| {
        let len = be32(tail, at + 4)? as usize;
        parse(tail.get(at + 8..at + 8 + len)?)
    })
}

/// True when known extensions, each at most once, fill `tail` from `at` exactly to its end.
fn extensions_end(tail: &[u8], mut at: usize) -> bool {
    let mut seen = [false; KNOWN.len()];
    while at < tail.len() {
        let known = KNOWN.iter().position(|name| tail[at..].starts_with(*name));
        let (Some(kind), Some(len)) = (known, be32(tail, at + 4)) else { return false };
        if std::mem::replace(&mut seen[kind], true) {
            return false;
        }
        at = at.saturating_add(8).saturating_add(len as usize);
    }
    at == tail.len()
}

/// Parses a whole TREE extension; `None` unless it is well formed to its last byte and its root is valid.
fn parse(data: &[u8]) -> Option<CachedRoot> {
    let mut rest = data;
    let root = node(&mut rest)?;
    if !root.name.is_empty() {
        return None;
    }
    let mut children = Vec::new();
    // The number of directories that are still to come on each level.
    let mut open = vec![root.subtrees];
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        let below = node(&mut rest)?;
        if below.name.is_empty() || open.len() > MAX_DEPTH {
            return None;
        }
        if open.len() == 1 {
            children.push((below.name.to_vec(), below.id.and_then(Oid::from_bytes)));
        }
        open.push(below.subtrees);
    }
    if !rest.is_empty() {
        return None;
    }
    let id = Oid::from_bytes(root.id?)?;
    Some(CachedRoot { entries: u32::try_from(root.entries).ok()?, id, children })
}

/// A directory as the extension has it.
struct Node<'a> {
    name: &'a [u8],
    /// Entries of the index below it; negative when its tree is not known.
    entries: i64,
    subtrees: u32,
    /// The bytes of its id: only a few of the thousands that are passed are needed.
    id: Option<&'a [u8]>,
}

/// One node: `name NUL entries SP subtrees LF`, then the id unless `entries` is negative. A name with a slash is none.
fn node<'a>(rest: &mut &'a [u8]) -> Option<Node<'a>> {
    let length = rest.iter().position(|byte| *byte == 0 || *byte == b'/')?;
    let (name, behind) = rest.split_at_checked(length)?;
    *rest = behind.strip_prefix(b"\0")?;
    let entries = number(rest, b' ')?;
    let subtrees = u32::try_from(number(rest, b'\n')?).ok()?;
    let mut id = None;
    if entries >= 0 {
        let (bytes, behind) = rest.split_at_checked(HASH)?;
        (id, *rest) = (Some(bytes), behind);
    }
    Some(Node { name, entries, subtrees, id })
}

/// A decimal number as git writes it, and what ends it.
fn number(rest: &mut &[u8], end: u8) -> Option<i64> {
    let (mut value, mut digits, mut sign) = (0_i64, 0, 1);
    loop {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        match byte {
            b'0'..=b'9' if digits < MAX_DIGITS => {
                (value, digits) = (value * 10 + i64::from(byte - b'0'), digits + 1);
            }
            b'-' if digits == 0 && sign == 1 => sign = -1,
            _ if *byte == end && digits > 0 => return Some(sign * value),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests;
