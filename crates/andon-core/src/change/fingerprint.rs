//! The hash of one directory of the code fingerprint (docs/formats.md). `andon_store::fingerprint` walks the trees.
//!
//! `fp(dir) = sha256` over the kept entries in git order of
//! `mode SP name NUL (id | fp(subdir)) LF`, with the mode as git writes it in trees (octal ASCII without a leading
//! zero: `100644`, `40000`) and ids and fingerprints as lowercase hexadecimal ASCII.

use sha2::{Digest as _, Sha256};

use crate::domain::ids::{CodeId, Oid, hex_digits};

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
