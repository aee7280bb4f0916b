//! The normalized diff of a commit (docs/formats.md): its changes, independent of their time, their place in the file
//! and the message. Other clones derive the same hash, so its bytes are defined here.
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
//! the indent heuristic; a hunk whose two sides are equal after normalization is left out, and so is a path without any
//! hunk or change of mode or path left. Ids represent submodules, files that are binary (a NUL in the first 8,000 bytes
//! of either side) or larger than 4 MiB, blobs that are missing (a partial clone), and everything after 64 MiB of text.
//! A rename that changes no content is one path; a path that moves into or out of the ignored ones is an addition or a
//! deletion.
//!
//! A hunk's pair in `diff.hunks` is, per side, the first 8 bytes of the sha256 over its normalized lines, each ended
//! by LF: a hunk that undoes another has the two swapped. `added`, `removed` and `files` count as `git diff --numstat`
//! does, before normalization.
//!
//! The hash of one directory of the code fingerprint (docs/formats.md). `andon_store::fingerprint` walks the trees.
//!
//! `fp(dir) = sha256` over the kept entries in git order of
//! `mode SP name NUL (id | fp(subdir)) LF`, with the mode as git writes it in trees (octal ASCII without a leading
//! zero: `100644`, `40000`) and ids and fingerprints as lowercase hexadecimal ASCII.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::survey::{Survey, first_eight};
use super::{normalize::Normalizer, notebook, rewrites::ChangedLines};
use crate::domain::{
    Change, ChangeFacts, CodeId, DiffHash, DiffSummary, Hunk, HunkHash, Oid, PathRules, RawHunk,
    ids::hex_digits,
};

/// The rules by which a change is read.
#[derive(Debug, Clone, Copy)]
pub struct HashOptions<'a> {
    /// Classes of paths: those that count, and documents.
    pub rules: &'a PathRules,
    /// The normalization of lines before they are compared.
    pub normalizer: &'a Normalizer,
}

/// Both texts of a changed file.
#[derive(Debug, Clone, Copy)]
pub struct TextPair<'a> {
    pub old: &'a [u8],
    pub new: &'a [u8],
    /// The hunks of the diff, with their lines.
    pub hunks: &'a [RawHunk<'a>],
}

/// The normalized diff so far. Changes come in byte order of their paths.
pub struct HashInput<'a> {
    reading: HashOptions<'a>,
    hash: Sha256,
    summary: DiffSummary,
    survey: Survey<'a>,
}

/// Removed and added lines of a hunk.
type Sides<'h, 'a> = (&'h [Cow<'a, [u8]>], &'h [Cow<'a, [u8]>]);

/// The normalized lines of a hunk.
struct NormalizedHunk<'a> {
    removed: Vec<Cow<'a, [u8]>>,
    added: Vec<Cow<'a, [u8]>>,
}

impl NormalizedHunk<'_> {
    fn pair(&self) -> Hunk {
        Hunk { removed: side_hash(&self.removed), added: side_hash(&self.added) }
    }
}

/// Returns whether neither path nor mode changed.
fn is_in_place(change: &Change) -> bool {
    change.old_path.is_none() && change.old.map(|old| old.0) == change.new.map(|new| new.0)
}

fn sides<'h, 'a>(hunks: &'h [NormalizedHunk<'a>]) -> Vec<Sides<'h, 'a>> {
    hunks.iter().map(|hunk| (hunk.removed.as_slice(), hunk.added.as_slice())).collect()
}

/// The hunks that are not empty after normalization.
fn normalized<'a>(normalizer: &Normalizer, raw: &[RawHunk<'a>]) -> Vec<NormalizedHunk<'a>> {
    let side = |lines: &[&'a [u8]]| lines.iter().map(|line| normalizer.line(line)).collect();
    let hunks =
        raw.iter().map(|hunk| NormalizedHunk { removed: side(&hunk.removed), added: side(&hunk.added) });
    hunks.filter(|hunk| hunk.removed != hunk.added).collect()
}

impl<'a> HashInput<'a> {
    /// Nothing yet.
    pub fn new(reading: &HashOptions<'a>) -> Self {
        let summary = DiffSummary { empty: true, ..DiffSummary::default() };
        let hash = Sha256::new_with_prefix(b"andon/diff@1\n");
        Self { reading: *reading, hash, summary, survey: Survey::new(reading.rules, reading.normalizer) }
    }

    /// The sum, what the diff is made of, and its lines.
    pub fn finish(mut self) -> (DiffSummary, ChangeFacts, ChangedLines) {
        self.summary.hash = DiffHash(self.hash.finalize().into());
        let (facts, lines) = self.survey.finish();
        (self.summary, facts, lines)
    }

    /// Says that something could not be read.
    pub fn truncate(&mut self) {
        self.summary.truncated = true;
    }

    /// Takes in a change whose texts are not read: only modes or paths differ, or the ids represent the texts.
    pub fn by_ids(&mut self, change: &Change) {
        self.count(change);
        self.survey.no_lines(change);
        self.begin(change);
        let (old_id, new_id) = (change.old.map(|side| side.1), change.new.map(|side| side.1));
        if old_id != new_id {
            self.hash.update(b"I");
            for id in [old_id, new_id] {
                field(&mut self.hash, id.map(|id| id.to_string()).unwrap_or_default().as_bytes());
            }
        }
        self.hash.update(b"E");
    }

    fn count(&mut self, change: &Change) {
        self.summary.files = self.summary.files.saturating_add(1);
        self.survey.step(change);
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

    /// Takes in a change of a text.
    pub fn by_lines(&mut self, change: &Change, texts: TextPair<'_>) {
        self.count(change);
        for hunk in texts.hunks {
            self.summary.removed = self.summary.removed.saturating_add(hunk.removed.len() as u64);
            self.summary.added = self.summary.added.saturating_add(hunk.added.len() as u64);
        }
        let is_notebook = change.path.ends_with(b".ipynb");
        let work = is_notebook.then(|| notebook::without_results(texts.hunks, texts.old, texts.new));
        let hunks = normalized(self.reading.normalizer, work.as_deref().unwrap_or(texts.hunks));
        if hunks.is_empty() && is_in_place(change) {
            return;
        }
        self.survey.lines(change, &sides(&hunks));
        self.survey.document(change, texts.old, texts.new);
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

/// sha256 of nothing: the fingerprint of a tree without code.
pub const EMPTY: CodeId = CodeId([
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
]);

/// The mode of a directory in a tree of git.
const MODE_TREE: u32 = 0o40000;
/// The longest id, and a fingerprint, in bytes.
const MAX_ID: usize = 32;
/// Bytes that are hashed at once.
const AT_ONCE: usize = 4096;

/// The hash of one directory, entry by entry in git order.
#[derive(Debug, Default)]
pub struct DirectoryHash {
    hash: Sha256,
    /// Not hashed yet.
    lines: Vec<u8>,
}

impl DirectoryHash {
    /// Takes in a file.
    pub fn file(&mut self, name: &[u8], mode: u32, id: Oid) {
        file_line(&mut self.lines, name, mode, id);
        self.drain();
    }

    /// Takes in a directory by its fingerprint.
    pub fn directory(&mut self, name: &[u8], fingerprint: &[u8; 32]) {
        directory_line(&mut self.lines, name, fingerprint);
        self.drain();
    }

    fn drain(&mut self) {
        if self.lines.len() >= AT_ONCE {
            self.hash.update(&self.lines);
            self.lines.clear();
        }
    }

    /// The fingerprint of the directory.
    pub fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.lines);
        self.hash.finalize().into()
    }
}

/// Adds the line of a file.
pub fn file_line(lines: &mut Vec<u8>, name: &[u8], mode: u32, id: Oid) {
    line(lines, mode, name, id.as_bytes());
}

/// Adds the line of a directory. None when nothing in it is kept.
pub fn directory_line(lines: &mut Vec<u8>, name: &[u8], fingerprint: &[u8; 32]) {
    if *fingerprint != EMPTY.0 {
        line(lines, MODE_TREE, name, fingerprint);
    }
}

fn line(lines: &mut Vec<u8>, mode: u32, name: &[u8], id: &[u8]) {
    lines.extend_from_slice(format!("{mode:o} ").as_bytes());
    lines.extend_from_slice(name);
    lines.push(0);
    let mut digits = [0; 2 * MAX_ID];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(id) {
        *pair = hex_digits(*byte);
    }
    lines.extend_from_slice(&digits[..2 * id.len()]);
    lines.push(b'\n');
}

/// The fingerprint of a directory of these lines.
pub fn print_of(lines: &[u8]) -> [u8; 32] {
    Sha256::digest(lines).into()
}
