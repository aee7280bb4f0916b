//! Loose objects, written as they are, not deflated, and read without libgit2.
//!
//! What Andon adds at a commit (a record, two or three trees of hashes, a commit) is small: a file of it takes the same
//! blocks on the disk either way, and `git gc` packs and deflates all of it. To deflate an object costs 190 kB of
//! tables that are cleared and paged in first, and libgit2 looks through the directory of packs before each. git itself
//! writes the same with `core.loosecompression=0`.
//!
//! What a hook reads is mostly loose too: the commit was made just now. libgit2 asks the system five times for each of
//! these files and inflates it piece by piece; here it is read at once.

use std::cell::{Cell, RefCell};
use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use libdeflater::{DecompressionError, Decompressor};
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use sha1::{Digest as _, Sha1};
use tempfile::Builder;

use super::repo::Repo;
use crate::domain::ids::Oid;

/// Largest object that is stored as it is, in bytes: at most two to three blocks of a disk are lost to it.
const MAX_STORED: usize = 16 * 1024;
/// Bytes that name kind and length of an object, at the most.
const MAX_HEADER: usize = 32;
/// After so many objects in a row that are not loose, nobody looks any more: they are packed.
const MAX_IN_VAIN: u8 = 16;
/// Bytes that are read of a file at once; most are smaller.
const FIRST_READ: usize = 32 * 1024;
/// Largest file that is read here, in bytes. The tree of a directory of 3,000 files is no larger.
const MAX_FILE: usize = 128 * 1024;
/// Largest object that is inflated here, in bytes; a file that holds more is left to libgit2, which knows its length.
const MAX_INFLATED: usize = 512 * 1024;

impl Repo {
    /// Writes an object as a file of its own, or makes the one that is there younger, so that no gc takes it.
    /// `None` where libgit2 is to do it, and to say what is wrong if it cannot: a large object, another directory of
    /// objects, or any error.
    pub(super) fn write_loose(&self, kind: git2::ObjectType, bytes: &[u8]) -> Option<Oid> {
        if bytes.len() > MAX_STORED || self.objects_elsewhere {
            return None;
        }
        let object = [format!("{kind} {}\0", bytes.len()).as_bytes(), bytes].concat();
        let id = Oid::from_bytes(&Sha1::digest(&object))?;
        let path = self.loose_path(id);
        if (self.young.borrow().contains(&id) && path.exists()) || is_made_younger(&path) {
            return Some(id);
        }
        put(&stored(&object), &path).ok()?;
        Some(id)
    }
}

/// Which objects somebody reads. Records may be loose where the code is packed, and the other way round.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    /// Andon's own.
    Records,
    /// The user's.
    Code,
}

/// Reads the loose objects of one repository.
#[derive(Default)]
pub(super) struct Loose {
    /// How many objects in a row were not loose, of each [`Of`].
    in_vain: [Cell<u8>; 2],
    tools: RefCell<Option<Tools>>,
}

/// What reading takes, made once.
struct Tools {
    inflater: Decompressor,
    file: Vec<u8>,
    inflated: Vec<u8>,
}

impl Loose {
    /// Whether it is still worth while to look.
    fn expects(&self, of: Of) -> bool {
        self.in_vain[of as usize].get() < MAX_IN_VAIN
    }

    fn saw(&self, of: Of, found: bool) {
        let in_vain = &self.in_vain[of as usize];
        in_vain.set(if found { 0 } else { in_vain.get() + 1 });
    }
}

impl Tools {
    fn new() -> Self {
        Self { inflater: Decompressor::new(), file: vec![0; FIRST_READ], inflated: Vec::new() }
    }

    /// The object in the file, header and all; `room` is how many times the size of the file that probably is.
    fn read(&mut self, file: &mut File, room: usize) -> Option<&[u8]> {
        // By one call of the system where the file is small. What is cut short on the way does not inflate.
        let mut length = file.read(&mut self.file).ok()?;
        if length == self.file.len() {
            self.file.extend_from_slice(&vec![0; MAX_FILE + 1 - length]);
            length += file.read(&mut self.file[length..]).ok()?;
        }
        let stream = self.file.get(..length).filter(|stream| stream.len() <= MAX_FILE)?;
        for room in [room, 8 * room] {
            let room = MAX_INFLATED.min(room * stream.len() + 1024);
            if self.inflated.len() < room {
                // Not by `resize`, which a compiler that looks for small code makes a loop over bytes.
                self.inflated = vec![0; room];
            }
            match self.inflater.zlib_decompress(stream, &mut self.inflated) {
                Ok(length) => return self.inflated.get(..length),
                Err(DecompressionError::BadData) => return None,
                Err(DecompressionError::InsufficientSpace) => {}
            }
        }
        None
    }
}

impl Repo {
    /// The object, if it is a file of its own in this repository. `None` where libgit2 is to look for it, and to say what
    /// is wrong with it.
    pub(super) fn read_loose(&self, of: Of, kind: git2::ObjectType, id: Oid) -> Option<Vec<u8>> {
        if self.objects_elsewhere || !self.loose.expects(of) {
            return None;
        }
        let file = File::open(self.loose_path(id)).ok();
        self.loose.saw(of, file.is_some());
        let mut tools = self.loose.tools.borrow_mut();
        // Hashes hardly shrink, and texts to a quarter.
        let room = if kind == git2::ObjectType::Blob { 6 } else { 2 };
        content(tools.get_or_insert_with(Tools::new).read(&mut file?, room)?, kind).map(<[u8]>::to_vec)
    }
}

/// What comes behind the header of an object of that kind.
fn content(object: &[u8], kind: git2::ObjectType) -> Option<&[u8]> {
    let end = object.iter().take(MAX_HEADER).position(|byte| *byte == 0)?;
    let (header, content) = (&object[..end], &object[end + 1..]);
    (header == format!("{kind} {}", content.len()).as_bytes()).then_some(content)
}

/// True when the file is there and was made younger.
fn is_made_younger(path: &Path) -> bool {
    let now = TimeSpec::UTIME_NOW;
    utimensat(nix::fcntl::AT_FDCWD, path, &now, &now, UtimensatFlags::FollowSymlink).is_ok()
}

/// Writes the file beside the directory that it belongs into: ext4 finds room for a new file several times as fast where
/// others were made just now. A writer that dies leaves it under a name that `git gc` knows as a leftover.
fn put(bytes: &[u8], path: &Path) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let objects = dir.parent().ok_or(io::ErrorKind::NotFound)?;
    let permissions = Permissions::from_mode(0o444);
    let mut file = Builder::new().prefix("tmp_obj_").permissions(permissions).tempfile_in(objects)?;
    file.write_all(bytes)?;
    let (file, place) = file.into_parts();
    // Some file systems say only here that the disk is full.
    nix::unistd::close(file)?;
    let persisted = place.persist_noclobber(path).or_else(|error| {
        if error.error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        // Another writer may make it at the same time.
        let _ = std::fs::create_dir(dir);
        error.path.persist_noclobber(path)
    });
    match persisted {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A zlib stream of one stored block (RFC 1950, RFC 1951); at most 65,535 bytes go into one.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let around = [&[0x78, 0x01, 0x01], &length.to_le_bytes()[..], &(!length).to_le_bytes()].concat();
    [&around, bytes, &adler32(bytes).to_be_bytes()].concat()
}

/// Adler-32 (RFC 1950, section 8.2). Our own: libdeflate has one, but its crate does not show it.
fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1, 0);
    // As many as can be added up before a remainder must be taken.
    for run in bytes.chunks(5_552) {
        for byte in run {
            low += u32::from(*byte);
            high += low;
        }
        low %= 65_521;
        high %= 65_521;
    }
    (high << 16) | low
}

#[cfg(test)]
mod tests;
