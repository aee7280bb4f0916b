//! Loose objects: a file that is damaged is never taken for another object, and one that lies about itself is an error.

use std::fs;
use std::io::Write as _;
use std::time::Instant;

use andon_core::domain::{CommitId, Oid, TreeId};
use andon_git::{Repo, RepoEnv};
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::mutate::{Dice, mutate};
use super::{Ground, TOKENS, holds, loops};

/// Most bytes that are asked for.
const MAX: usize = 100_000;

fn deflated(object: &[u8]) -> Vec<u8> {
    let mut deflater = ZlibEncoder::new(Vec::new(), Compression::default());
    deflater.write_all(object).unwrap();
    deflater.finish().unwrap()
}

/// What the bytes of an object hold, if they are those of a blob and say so.
fn blob(object: &[u8]) -> Option<&[u8]> {
    let end = object.iter().position(|byte| *byte == 0)?;
    let content = &object[end + 1..];
    (object[..end] == *format!("blob {}", content.len()).as_bytes()).then_some(content)
}

/// One file of an object store, mutated: as it lies there, or what is in it.
pub fn objects(end: Instant, dice: &mut Dice) -> (u64, u64) {
    let ground = Ground::new();
    Repo::cache_nothing();
    let text: Vec<u8> =
        (0..200_u32).flat_map(|line| format!("line {}\n", line * line % 977).into_bytes()).collect();
    let plain: Vec<Vec<u8>> = [&b""[..], b"one\ntwo\n", &text]
        .iter()
        .map(|content| [format!("blob {}\0", content.len()).as_bytes(), content].concat())
        .chain([b"tree 29\x00100644 a\x00aaaaaaaaaaaaaaaaaaaa".to_vec(), b"commit 12\0tree abcdefg".to_vec()])
        .collect();
    let files: Vec<Vec<u8>> = plain.iter().map(|object| deflated(object)).collect();
    let id: Oid = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let path = ground.dir.path().join(".git/objects/01/23456789abcdef0123456789abcdef01234567");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let seeds: Vec<&[u8]> = plain.iter().map(Vec::as_slice).collect();
    loops(end, dice, &seeds, |mutant, dice| {
        let within = dice.roll(2) == 0;
        let at = dice.roll(plain.len());
        let mut file = files[at].clone();
        if within {
            file = deflated(mutant);
        } else {
            for _ in 0..=dice.roll(4) {
                mutate(&mut file, &files[dice.roll(files.len())], TOKENS, dice);
            }
        }
        let wanted = if within { blob(mutant) } else { blob(&plain[at]) };
        fs::write(&path, &file).unwrap();
        // A file that was found whole once is believed by its finder.
        let repo = Repo::open(ground.dir.path(), &RepoEnv::default()).unwrap();
        let read = repo.read_blob(id, MAX);
        let _ = (repo.tree(TreeId(id)), repo.tree_of(CommitId(id)));
        match read {
            Ok(Some(content)) => {
                holds(content.len() <= MAX, "more than was asked for")?;
                // An object that lies about its length is cut or filled up by libgit2; its name would not be its hash.
                let lies = within && wanted.is_none();
                // A part of another file that was put in may be the whole of it.
                let other = !within && plain.iter().any(|object| blob(object) == Some(&content));
                let what = || format!("{} is not what {} holds", content.escape_ascii(), file.escape_ascii());
                if lies || other || wanted == Some(&content) { Ok(()) } else { Err(what()) }
            }
            Ok(None) => Ok(()),
            Err(error) => holds(!error.to_string().is_empty(), "an error without a word"),
        }
    })
}
