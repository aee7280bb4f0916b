//! Loose objects as they are, not deflated.
//!
//! What Andon adds at a commit (a record, two or three trees of hashes, a commit) is small: a file of it takes the same
//! blocks on the disk either way, and `git gc` packs and deflates all of it. To deflate an object costs 190 kB of
//! tables that are cleared and paged in first, and libgit2 looks through the directory of packs before each. git itself
//! writes the same with `core.loosecompression=0`.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use tempfile::Builder;

use super::objects::from_git2;
use super::repo::Repo;
use crate::domain::ids::Oid;

/// Largest object that is stored as it is, in bytes: at most two to three blocks of a disk are lost to it.
const MAX_STORED: usize = 16 * 1024;
/// The largest prime below 2^16, of Adler-32 (RFC 1950).
const ADLER: u32 = 65_521;
/// As many bytes as Adler-32 may add up before a remainder must be taken (RFC 1950).
const ADLER_RUN: usize = 5_552;

impl Repo {
    /// Writes an object as a file of its own, or makes the one that is there younger, so that no gc takes it.
    /// `None` where libgit2 is to do it, and to say what is wrong if it cannot: a large object, another directory of
    /// objects, or any error.
    pub(super) fn write_loose(&self, kind: git2::ObjectType, bytes: &[u8]) -> Option<Oid> {
        if bytes.len() > MAX_STORED || self.objects_elsewhere {
            return None;
        }
        let id = from_git2(git2::Oid::hash_object(kind, bytes).ok()?);
        let path = self.loose_path(id);
        if is_made_younger(&path) {
            return Some(id);
        }
        let header = format!("{kind} {}\0", bytes.len());
        put(&stored(&[header.as_bytes(), bytes].concat()), &path).ok()?;
        Some(id)
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

/// A zlib stream of one stored block (RFC 1950, RFC 1951).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let mut stream = Vec::with_capacity(bytes.len() + 11);
    stream.extend_from_slice(&[0x78, 0x01, 0x01]);
    stream.extend_from_slice(&length.to_le_bytes());
    stream.extend_from_slice(&(!length).to_le_bytes());
    stream.extend_from_slice(bytes);
    stream.extend_from_slice(&adler32(bytes).to_be_bytes());
    stream
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1, 0);
    for run in bytes.chunks(ADLER_RUN) {
        for byte in run {
            low += u32::from(*byte);
            high += low;
        }
        low %= ADLER;
        high %= ADLER;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::super::scratch::Scratch;
    use super::super::{Repo, RepoEnv};
    use super::*;

    fn age(path: &Path) {
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        std::fs::File::open(path).and_then(|file| file.set_modified(old)).unwrap();
    }

    #[test]
    fn git_reads_what_is_stored() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        for size in [0, 1, 255, 5_551, 5_552, 5_553, MAX_STORED, MAX_STORED + 1, 100_000] {
            let bytes = vec![b'x'; size];
            let id = repo.write_blob(&bytes).unwrap();
            assert_eq!(scratch.git(&["cat-file", "blob", &id.to_string()]).len(), size);
            assert_eq!(repo.read_blob(id, size).unwrap(), super::super::Blob::Content(bytes));
            let metadata = std::fs::metadata(repo.loose_path(id)).unwrap();
            assert_eq!(metadata.mode() & 0o777, 0o444);
            assert_eq!(metadata.len() > size as u64, size <= MAX_STORED, "{size}");
        }
        scratch.git(&["fsck", "--strict"]);
        scratch.git(&["gc", "-q", "--prune=now"]);
    }

    #[test]
    fn high_bytes_add_up_as_zlib_adds_them() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = repo.write_loose(git2::ObjectType::Blob, &[0xff; MAX_STORED]).unwrap();
        scratch.git(&["fsck", "--strict"]);
        assert_eq!(scratch.git(&["cat-file", "-s", &id.to_string()]), MAX_STORED.to_string());
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn what_is_there_is_made_younger() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = repo.write_blob(b"mine").unwrap();
        let path = repo.loose_path(id);
        age(&path);
        let inode = std::fs::metadata(&path).unwrap().ino();
        assert_eq!(repo.write_blob(b"mine").unwrap(), id);
        let metadata = std::fs::metadata(&path).unwrap();
        assert!(metadata.mtime() > 1_000_000_000);
        assert_eq!(metadata.ino(), inode);
        let names = |dir: &Path| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let objects = path.ancestors().nth(2).unwrap();
        let left = names(objects).filter(|name| name.to_string_lossy().starts_with("tmp_")).count();
        assert_eq!((left, names(path.parent().unwrap()).count()), (0, 1), "no temporary file is left");
    }

    #[test]
    fn another_directory_of_objects_is_written_by_libgit2() {
        let scratch = Scratch::new();
        let env = RepoEnv { object_dir: Some("elsewhere".into()), ..RepoEnv::default() };
        let repo = Repo::open(&scratch.path(), &env).unwrap();
        assert_eq!(repo.write_loose(git2::ObjectType::Blob, b"mine"), None);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_left_to_libgit2_to_name() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, b"mine").map(from_git2).unwrap();
        std::fs::write(repo.loose_path(id).parent().unwrap(), "in the way").unwrap();
        assert_eq!(repo.write_loose(git2::ObjectType::Blob, b"mine"), None);
        assert!(repo.write_blob(b"mine").is_err());
    }
}
