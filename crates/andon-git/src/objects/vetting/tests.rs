use std::io::Write as _;

use flate2::{Compression, write::ZlibEncoder};

use super::*;
use crate::objects::inflate::{Inflater, STEP};
use crate::{GitError, MergeClaim, RepoEnv, TreeVerdict, testkit::Scratch};
use andon_core::domain::CommitId;

fn check(file: &[u8]) -> Result<(), DamagedObject> {
    Inflater::new().check(file)
}

fn deflated(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut deflater = ZlibEncoder::new(Vec::new(), Compression::new(level));
    deflater.write_all(bytes).unwrap();
    deflater.finish().unwrap()
}

fn blob(content: &[u8]) -> Vec<u8> {
    [format!("blob {}\0", content.len()).as_bytes(), content].concat()
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
fn a_file_is_whole_only_to_its_last_byte() {
    let lengths = [0, 1, 300, STEP - 11, STEP - 10, STEP, 2 * STEP - 11, 90_000];
    for (length, level) in lengths.into_iter().flat_map(|length| [0, 6].map(|level| (length, level))) {
        let file = deflated(&blob(&text(length)), level);
        assert_eq!(check(&file), Ok(()), "{length} {level}");
        assert_eq!(
            check(&[&file[..], b"x"].concat()),
            Err(DamagedObject),
            "{length} {level}: more behind it"
        );
        for at in (0..file.len()).step_by(file.len() / 30 + 1).chain(file.len() - 5..file.len()) {
            assert_eq!(check(&file[..at]), Err(DamagedObject), "{length} {level}: cut at {at}");
            let mut altered = file.clone();
            altered[at] ^= 1;
            // The level of compression that the header names means nothing.
            assert!(at == 1 || check(&altered).is_err(), "{length} {level}: bit at {at}");
        }
    }
    // Bytes that shrink to nothing come in many steps from one.
    assert_eq!(check(&deflated(&blob(&vec![b'x'; 40 * STEP]), 9)), Ok(()));
}

/// libgit2 makes room for as much as an object says that it has.
#[test]
fn an_object_that_lies_about_its_length_is_damaged() {
    for object in [
        "blob 1\0",
        "blob 99999999999\0x",
        "tree 99999999999\0x",
        "commit -1\0x",
        "blob\0",
        "blob 01\0x",
        "x",
        "blob 0\0x",
        "bulb 1\0x",
        "",
    ] {
        assert_eq!(check(&deflated(object.as_bytes(), 6)), Err(DamagedObject), "{object:?}");
    }
    assert_eq!(check(b"not deflated"), Err(DamagedObject));
}

/// Leaves half of the file of an object.
fn cut_short(dir: &Path, id: Oid) {
    let digits = id.to_string();
    let path = dir.join(&digits[..2]).join(&digits[2..]);
    let file = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &file[..file.len() / 2]).unwrap();
}

fn is_bad<T>(answer: &Result<T>) -> bool {
    matches!(answer, Err(GitError::BadObject { .. }))
}

#[test]
fn history_above_a_commit_that_was_cut_short_is_an_error_and_no_wait() {
    let scratch = Scratch::new();
    for number in 0..5 {
        scratch.commit("a", &number.to_string(), "x");
    }
    scratch.git(&["branch", "side", "HEAD~4"]);
    let (tip, lost, side) = (scratch.rev("HEAD"), scratch.rev("HEAD~3"), scratch.rev("side"));
    cut_short(&scratch.path().join(".git/objects"), lost.0);
    let repo = scratch.open();
    let range = |spec: &str| scratch.open().range(spec);
    assert!(is_bad(&range("HEAD")) && is_bad(&range("side..HEAD")) && is_bad(&range("HEAD...side")));
    assert!(is_bad(&repo.merge_base(side, tip)) && is_bad(&repo.is_ancestor(side, tip)));
    for rev in ["HEAD~3", &lost.to_string(), &lost.to_string()[..9]] {
        assert!(is_bad(&repo.resolve(rev)), "{rev}");
    }
    // The git program finds these, and fails at the damaged one by itself.
    for rev in ["HEAD~4", "HEAD~3^{}", "HEAD^{/x}~4"] {
        assert!(matches!(repo.resolve(rev), Err(GitError::Program { .. })), "{rev}");
    }
    assert!(repo.resolve("HEAD^{/x}~3").is_err() && repo.resolve("HEAD~3^{tree}").is_err());
    assert_eq!(repo.resolve("HEAD~2").unwrap(), scratch.rev("HEAD~2"));
}

/// Two branches that only libgit2's merge brings together, because it follows renames: the merge, its sides and their
/// files.
fn renamed() -> Scratch {
    let scratch = Scratch::new();
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    scratch.write("deep/er/untouched", "u\n");
    scratch.write(".gitattributes", "*.bin binary\n");
    scratch.commit("old", &long, "base");
    scratch.git(&["branch", "side"]);
    scratch.git(&["mv", "old", "new"]);
    scratch.git(&["commit", "-qm", "moved"]);
    scratch.git(&["checkout", "-q", "side"]);
    scratch.commit("old", &long.replace("line 7\n", "line seven\n"), "edited");
    scratch.git(&["merge", "-q", "--no-edit", "main"]);
    scratch
}

#[test]
fn a_merge_of_what_was_cut_short_is_no_wait() {
    let of = |scratch: &Scratch, rev: &str| scratch.git(&["rev-parse", rev]).parse::<Oid>().unwrap();
    let made = |scratch: &Scratch| {
        let repo = scratch.open();
        repo.is_made(&repo.commit(scratch.rev("HEAD")).unwrap(), &MergeClaim::Merge)
    };
    assert_eq!(made(&renamed()).unwrap(), TreeVerdict::Same);
    for lost in
        ["HEAD^1:old", "HEAD^2:new", "HEAD^1:deep", "HEAD:deep/er", "HEAD^2^{tree}", "HEAD:.gitattributes"]
    {
        let scratch = renamed();
        cut_short(&scratch.path().join(".git/objects"), of(&scratch, lost));
        let made = made(&scratch);
        assert!(!matches!(made, Ok(TreeVerdict::Same)), "{lost}: {made:?}");
    }
}

#[test]
fn alternates_are_looked_into() {
    let (near, far) = (Scratch::new(), Scratch::new());
    let commit = far.commit("a", "1", "one");
    let info = near.path().join(".git/objects/info");
    std::fs::create_dir_all(&info).unwrap();
    let objects = far.path().join(".git/objects");
    std::fs::write(info.join("alternates"), format!("# theirs\n{}\n", objects.display())).unwrap();
    assert_eq!(near.open().commit(commit).unwrap().subject, "one");
    cut_short(&objects, commit.0);
    assert!(is_bad(&near.open().commit(commit)));
    std::fs::remove_file(info.join("alternates")).unwrap();
    assert!(matches!(near.open().commit(commit), Err(GitError::Missing { .. })));
    let env = RepoEnv { alternate_objects: Some(objects.into_os_string()), ..RepoEnv::default() };
    assert!(is_bad(&Repo::open(&near.path(), &env).unwrap().commit(commit)));
}

#[test]
fn a_pipe_in_the_place_of_an_object_is_no_wait() {
    let scratch = Scratch::new();
    let commit: CommitId = scratch.commit("a", "1", "one");
    let digits = commit.to_string();
    let path = scratch.path().join(".git/objects").join(&digits[..2]).join(&digits[2..]);
    std::fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(is_bad(&scratch.open().commit(commit)));
}
