//! Stored objects are equal to git's, and a damaged one is an error for every reader.

use std::{io::Write as _, os::unix::fs::MetadataExt as _, path::Path};

use flate2::{Compression, write::ZlibEncoder};

use super::*;
use crate::{Repo, testkit::Scratch};
use andon_core::domain::CommitId;

fn age(path: &Path) {
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::options().read(true).open(path).and_then(|file| file.set_modified(old)).unwrap();
}

/// The object of `bytes` as git itself writes it.
fn deflated(scratch: &Scratch, bytes: &[u8]) -> Oid {
    std::fs::write(scratch.path().join("deflated"), bytes).unwrap();
    scratch.git(&["hash-object", "-w", "deflated"]).parse().unwrap()
}

/// Bytes of few kinds in no order: they shrink, but not to nothing.
fn text(length: usize) -> Vec<u8> {
    let mut seed = 7_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"abcdefgh ijkl\n"[usize::try_from(seed >> 16).unwrap() % 14]
    };
    (0..length).map(|_| next()).collect()
}

fn put(repo: &Repo, id: Oid, file: &[u8]) {
    let path = repo.loose_path(id);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, file).unwrap();
}

#[test]
fn git_reads_what_is_stored() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    for size in [0, 1, 255, 5_551, 5_552, 5_553, 16 * 1024, 16 * 1024 + 1, 100_000] {
        let bytes = vec![0xff; size];
        let id = repo.write_blob(&bytes).unwrap();
        assert_eq!(scratch.git(&["cat-file", "-s", &id.to_string()]), size.to_string());
        assert_eq!(repo.read_blob(id, size).unwrap(), Some(bytes));
        assert_eq!(std::fs::metadata(repo.loose_path(id)).unwrap().mode() & 0o777, 0o444);
    }
    scratch.git(&["fsck", "--strict"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
}

#[test]
fn an_object_is_read_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    for (size, ours) in [(0, true), (255, true), (16_384, true), (0, false), (300, false), (90_000, false)] {
        let bytes = text(size);
        let id = if ours { repo.write_blob(&bytes).unwrap() } else { deflated(&scratch, &bytes) };
        let read = || scratch.open().read_blob(id, usize::MAX);
        assert_eq!(read().unwrap(), Some(bytes), "{size} {ours}");
        assert!(scratch.open().tree(TreeId(id)).is_err() && scratch.open().commit(CommitId(id)).is_err());
        let file = std::fs::read(repo.loose_path(id)).unwrap();
        for at in [0, 2, 3, 6, 7, 12, file.len() / 2, file.len() - 1] {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            put(&repo, id, &damaged);
            assert!(read().is_err(), "{size} {ours}: bit at {at}");
            put(&repo, id, &file[..at]);
            assert!(read().is_err(), "{size} {ours}: cut at {at}");
        }
        put(&repo, id, &file);
        read().unwrap();
    }
    let commit = scratch.commit("a", "1", "one");
    assert_eq!(repo.tree_of(commit).unwrap().to_string(), scratch.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn an_object_that_was_cut_short_is_an_error_and_no_wait() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    for id in [deflated(&scratch, &text(300)), deflated(&scratch, &text(1 << 20)), deflated(&scratch, b"")] {
        let file = std::fs::read(repo.loose_path(id)).unwrap();
        for at in (0..file.len()).step_by(file.len() / 30 + 1).chain([file.len() - 4, file.len() - 1]) {
            put(&repo, id, &file[..at]);
            assert!(repo.read_blob(id, usize::MAX).is_err(), "{} of {}", at, file.len());
            assert!(repo.text(id, usize::MAX).is_err(), "{} of {}", at, file.len());
            assert!(repo.tree(TreeId(id)).is_err() && repo.commit(CommitId(id)).is_err());
        }
    }
}

/// libgit2 makes room for as much as an object says that it has.
#[test]
fn an_object_that_lies_about_its_length_is_an_error() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let id = repo.write_blob(b"").unwrap();
    for object in [
        "blob 1\0",
        "blob 99999999999\0x",
        "tree 99999999999\0x",
        "commit -1\0x",
        "blob\0",
        "blob 01\0x",
        "x",
    ] {
        let mut deflater = ZlibEncoder::new(Vec::new(), Compression::default());
        deflater.write_all(object.as_bytes()).unwrap();
        put(&repo, id, &deflater.finish().unwrap());
        assert!(repo.read_blob(id, usize::MAX).is_err(), "{object:?}");
        assert!(repo.tree(TreeId(id)).is_err() && repo.commit(CommitId(id)).is_err(), "{object:?}");
    }
}

#[test]
fn what_is_large_or_shrinks_to_nothing_is_read_too() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    for bytes in [text(1 << 19), vec![b'x'; 1 << 19], vec![b'x'; 1 << 18]] {
        let id = deflated(&scratch, &bytes);
        assert_eq!(repo.read_blob(id, bytes.len() - 1).unwrap(), None);
        assert_eq!(repo.read_blob(id, bytes.len()).unwrap(), Some(bytes));
    }
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
fn a_directory_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let id = git2::Oid::hash_object(git2::ObjectType::Blob, b"mine").map(from_git2).unwrap();
    std::fs::write(repo.loose_path(id).parent().unwrap(), "in the way").unwrap();
    assert!(repo.write_blob(b"mine").is_err());
}
