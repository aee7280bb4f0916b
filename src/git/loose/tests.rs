use std::os::unix::fs::MetadataExt as _;

use super::super::loose_files::{MAX_FILE, MAX_IN_VAIN, MAX_INFLATED};
use super::super::objects::from_git2;
use super::super::scratch::Scratch;
use super::super::texts::Texts;
use super::super::{Repo, RepoEnv};
use super::*;
use crate::domain::ids::{CommitId, TreeId};

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

#[test]
fn a_loose_object_is_read_whole_or_not_at_all() {
    use git2::ObjectType::{Blob, Commit, Tree};
    let scratch = Scratch::new();
    let repo = scratch.open();
    for (size, stored) in
        [(0, true), (255, true), (MAX_STORED, true), (0, false), (300, false), (90_000, false)]
    {
        let bytes = text(size);
        let id = if stored { repo.write_blob(&bytes).unwrap() } else { deflated(&scratch, &bytes) };
        assert_eq!(repo.read_loose(Of::Code, Blob, id).unwrap().as_ref(), Some(&bytes), "{size} {stored}");
        assert_eq!(repo.read_loose(Of::Code, Tree, id).unwrap(), None, "another kind");
        let path = repo.loose_path(id);
        let file = std::fs::read(&path).unwrap();
        let put = |bytes: &[u8]| {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, bytes).unwrap();
            repo.read_loose(Of::Code, Blob, id)
        };
        for at in [0, 2, 3, 6, 7, 12, file.len() / 2, file.len() - 1] {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            let read = put(&damaged);
            assert!(read.is_err(), "{size} {stored}: bit at {at}");
            assert!(put(&file[..at]).is_err(), "{size} {stored}: cut at {at}");
        }
        put(&file).unwrap();
    }
    let commit = scratch.commit("a", "1", "one");
    let wanted = scratch.git(&["cat-file", "commit", &commit.to_string()]);
    let read = repo.read_loose(Of::Code, Commit, commit.0).unwrap().unwrap();
    assert_eq!(String::from_utf8(read).unwrap().trim_end(), wanted);
    assert_eq!(repo.tree_of(commit).unwrap().to_string(), scratch.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn an_object_that_was_cut_short_is_an_error_and_no_wait() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    for id in
        [deflated(&scratch, &text(300)), deflated(&scratch, &text(2 * MAX_INFLATED)), deflated(&scratch, b"")]
    {
        let path = repo.loose_path(id);
        let file = std::fs::read(&path).unwrap();
        for at in (0..file.len()).step_by(file.len() / 30 + 1).chain([file.len() - 4, file.len() - 1]) {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, &file[..at]).unwrap();
            assert!(repo.read_blob(id, usize::MAX).is_err(), "{} of {}", at, file.len());
            assert!(Texts::new(&repo, 0).read(id, usize::MAX).is_err(), "{} of {}", at, file.len());
            assert!(repo.tree(TreeId(id)).is_err() && repo.commit(CommitId(id)).is_err());
        }
    }
}

/// libgit2 makes room for as much as an object says that it has.
#[test]
fn an_object_that_lies_about_its_length_is_an_error() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let path = repo.loose_path(repo.write_blob(b"").unwrap());
    let id = git2::Oid::hash_object(git2::ObjectType::Blob, b"").map(from_git2).unwrap();
    for object in [
        "blob 1\0",
        "blob 99999999999\0x",
        "tree 99999999999\0x",
        "commit -1\0x",
        "blob\0",
        "blob 01\0x",
        "x",
    ] {
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, stored(object.as_bytes())).unwrap();
        for kind in [git2::ObjectType::Blob, git2::ObjectType::Tree, git2::ObjectType::Commit] {
            assert!(repo.read_loose(Of::Code, kind, id).is_err(), "{object:?} as {kind}");
        }
    }
}

#[test]
fn what_is_large_or_elsewhere_is_left_to_libgit2() {
    use git2::ObjectType::Blob;
    let scratch = Scratch::new();
    let repo = scratch.open();
    // As a file; inflated; and one that shrinks more than anybody expects.
    for bytes in [text(4 * MAX_FILE), vec![b'x'; MAX_INFLATED], vec![b'x'; MAX_INFLATED / 2]] {
        let id = deflated(&scratch, &bytes);
        assert_eq!(repo.read_loose(Of::Code, Blob, id).unwrap(), None, "{}", bytes.len());
        assert_eq!(repo.read_blob(id, bytes.len()).unwrap(), super::super::Blob::Content(bytes));
    }
    let elsewhere =
        Repo::open(&scratch.path(), &RepoEnv { object_dir: Some("elsewhere".into()), ..RepoEnv::default() });
    let id = repo.write_blob(b"").unwrap();
    assert_eq!(elsewhere.unwrap().read_loose(Of::Code, Blob, id).unwrap(), None);
}

#[test]
fn nobody_looks_for_ever_for_what_is_packed() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let stored = repo.write_blob(b"mine").unwrap();
    let packed = Oid::ZERO;
    let look = |of, id| repo.read_loose(of, git2::ObjectType::Blob, id).unwrap().is_some();
    for _ in 1..MAX_IN_VAIN {
        assert!(!look(Of::Code, packed));
    }
    assert!(look(Of::Code, stored), "one that is there counts anew");
    for _ in 0..MAX_IN_VAIN {
        assert!(!look(Of::Code, packed));
    }
    assert!(!look(Of::Code, stored));
    assert!(look(Of::Records, stored), "records may be loose all the same");
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
