//! Loose objects as they are, not deflated.
//!
//! What Andon adds at a commit (a record, two or three trees of hashes, a commit) is small: a file of it takes the same
//! blocks on the disk either way, and `git gc` packs and deflates all of it. To deflate an object costs 190 kB of
//! tables that are cleared and paged in first, and libgit2 looks through the directory of packs before each. git itself
//! writes the same with `core.loosecompression=0`. What is stored so is also read in a third of the system calls.

use std::fs::Permissions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use adler2::adler32_slice;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use tempfile::Builder;

use super::objects::from_git2;
use super::repo::Repo;
use crate::domain::ids::Oid;

/// Largest object that is stored as it is, in bytes: at most two to three blocks of a disk are lost to it.
const MAX_STORED: usize = 16 * 1024;
/// How the one stored block of a stream begins (RFC 1950, RFC 1951).
const BEGIN: [u8; 3] = [0x78, 0x01, 0x01];
/// Bytes around the content: its beginning, its length twice, its sum.
const AROUND: usize = BEGIN.len() + 4 + 4;
/// Bytes that name kind and length of an object, at the most.
const MAX_HEADER: usize = 32;
/// After so many objects in a row that are not stored so, nobody looks any more: they are packed.
const MAX_IN_VAIN: u8 = 16;

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

impl Repo {
    /// The object, if it is a file as [`Self::write_loose`] makes them. `None` where libgit2 is to look for it, and to say
    /// what is wrong with it.
    pub(super) fn read_loose(&self, kind: git2::ObjectType, id: Oid) -> Option<Vec<u8>> {
        let in_vain = self.loose_in_vain.get();
        if in_vain >= MAX_IN_VAIN || self.objects_elsewhere {
            return None;
        }
        let read = read_up_to(&self.loose_path(id), MAX_STORED + MAX_HEADER + AROUND);
        let content = read.and_then(|file| content(&file, kind).map(<[u8]>::to_vec));
        self.loose_in_vain.set(if content.is_some() { 0 } else { in_vain + 1 });
        content
    }
}

fn read_up_to(path: &Path, max: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(max);
    std::fs::File::open(path).ok()?.take(max as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What a file of [`stored`] holds of an object of that kind, if nothing of it is damaged or cut off.
fn content(file: &[u8], kind: git2::ObjectType) -> Option<&[u8]> {
    let (length, rest) = file.strip_prefix(&BEGIN)?.split_at_checked(4)?;
    let (object, sum) = rest.split_at_checked(rest.len().checked_sub(4)?)?;
    if length != lengths(object.len()) || sum != adler32_slice(object).to_be_bytes() {
        return None;
    }
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

/// A zlib stream of one stored block (RFC 1950, RFC 1951).
fn stored(bytes: &[u8]) -> Vec<u8> {
    [&BEGIN, &lengths(bytes.len())[..], bytes, &adler32_slice(bytes).to_be_bytes()].concat()
}

/// The length of a block as it is stored: as it is and negated.
fn lengths(length: usize) -> [u8; 4] {
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    let ([low, high], [not_low, not_high]) = (length.to_le_bytes(), (!length).to_le_bytes());
    [low, high, not_low, not_high]
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
    fn what_is_stored_is_read_and_nothing_else() {
        use git2::ObjectType::{Blob, Tree};
        let scratch = Scratch::new();
        let repo = scratch.open();
        for size in [0, 1, 255, 5_553, MAX_STORED] {
            let bytes = vec![b'x'; size];
            let id = repo.write_blob(&bytes).unwrap();
            assert_eq!(repo.read_loose(Blob, id), Some(bytes), "{size}");
            assert_eq!(repo.read_loose(Tree, id), None, "another kind");
            let path = repo.loose_path(id);
            let file = std::fs::read(&path).unwrap();
            for at in [0, 2, 3, 6, 7, 12, file.len() / 2, file.len() - 1] {
                let mut damaged = file.clone();
                damaged[at] ^= 1;
                assert_eq!(content(&damaged, Blob), None, "{size}: bit at {at}");
                assert_eq!(content(&file[..at], Blob), None, "{size}: cut at {at}");
            }
            assert_eq!(content(&[&file[..], b"x"].concat(), Blob), None);
        }
        let large = repo.write_blob(&vec![b'x'; MAX_STORED + 1]).unwrap();
        assert_eq!(repo.read_loose(Blob, large), None, "deflated");
        let elsewhere = Repo::open(
            &scratch.path(),
            &RepoEnv { object_dir: Some("elsewhere".into()), ..RepoEnv::default() },
        );
        assert_eq!(elsewhere.unwrap().read_loose(Blob, repo.write_blob(b"").unwrap()), None);
    }

    #[test]
    fn nobody_looks_for_ever_for_what_is_packed() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let stored = repo.write_blob(b"mine").unwrap();
        let packed = Oid::ZERO;
        let look = |id| repo.read_loose(git2::ObjectType::Blob, id).is_some();
        for _ in 1..MAX_IN_VAIN {
            assert!(!look(packed));
        }
        assert!(look(stored), "one that is there counts anew");
        for _ in 0..MAX_IN_VAIN {
            assert!(!look(packed));
        }
        assert!(!look(stored));
    }

    #[test]
    fn high_bytes_add_up_as_zlib_adds_them() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = repo.write_loose(git2::ObjectType::Blob, &[0xff; MAX_STORED]).unwrap();
        scratch.git(&["fsck", "--strict"]);
        assert_eq!(scratch.git(&["cat-file", "-s", &id.to_string()]), MAX_STORED.to_string());
        assert_eq!(adler32_slice(b"Wikipedia"), 0x11e6_0398);
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
