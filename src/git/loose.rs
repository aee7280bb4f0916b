//! Loose objects, written as they are, not deflated, and read without libgit2.
//!
//! What Andon adds at a commit (a record, two or three trees of hashes, a commit) is small: a file of it takes the same
//! blocks on the disk either way, and `git gc` packs and deflates all of it. To deflate an object costs 190 kB of
//! tables that are cleared and paged in first, and libgit2 looks through the directory of packs before each. git itself
//! writes the same with `core.loosecompression=0`.
//!
//! What a hook reads is mostly loose too: the commit was made just now. libgit2 asks the system five times for each of
//! these files and inflates it piece by piece; here it is read at once.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use sha1::{Digest as _, Sha1};
use tempfile::Builder;

use super::error::GitError;
use super::loose_files::{Damaged, Of};
use super::repo::Repo;
use crate::domain::ids::Oid;

/// Largest object that is stored as it is, in bytes: at most two to three blocks of a disk are lost to it.
const MAX_STORED: usize = 16 * 1024;

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

impl Repo {
    /// The object, if it is a file of its own in this repository. `None` where libgit2 is to look for it. A damaged one is
    /// an error here already: libgit2 waits for the rest of one that was cut short, and believes one that was altered.
    pub(super) fn read_loose(
        &self,
        of: Of,
        kind: git2::ObjectType,
        id: Oid,
    ) -> Result<Option<Vec<u8>>, GitError> {
        if self.objects_elsewhere || !self.loose.expects(of) {
            return Ok(None);
        }
        self.loose.read(of, kind, &self.loose_path(id)).map_err(|Damaged| GitError::BadObject {
            kind: kind.str(),
            id,
            git_dir: self.git_dir().to_path_buf(),
            message: "its file is cut short or altered".to_owned(),
        })
    }
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
