//! Who this clone is in the ledger: a random id, so that no two clones ever write one ref.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{collections::hash_map::RandomState, fs, hash::BuildHasher as _};

use super::{LedgerError, Result};
use crate::file;
use andon_core::domain::CommitId;
use andon_git::{Repo, platform::files};

const DIGITS: usize = 32;

fn path(common_dir: &Path) -> PathBuf {
    common_dir.join("andon").join("writer")
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LedgerError {
    let path = path.to_path_buf();
    move |source| LedgerError::Io { doing, path, source }
}

/// The error of an id that was there.
pub(super) fn lost(common_dir: &Path) -> LedgerError {
    LedgerError::BadWriter { path: path(common_dir), known: Vec::new() }
}

/// True if `text` can be an id.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The id, if there is one.
pub(super) fn get(common_dir: &Path) -> Result<Option<String>> {
    let path = path(common_dir);
    let bytes = match file::read_start(&path, DIGITS + 2) {
        Ok(None) => return Ok(None),
        Ok(Some(bytes)) => bytes,
        Err(_) if path.exists() && !path.is_file() => return Err(lost(common_dir)),
        Err(error) => return Err(io_error("read", &path)(error)),
    };
    let id = String::from_utf8(bytes).ok().map(|text| text.trim_ascii_end().to_owned());
    id.filter(|id| is_id(id)).map(Some).ok_or_else(|| lost(common_dir))
}

/// Whose entries are this clone's own.
pub(super) struct Writer {
    /// The id that it writes under.
    pub(super) id: String,
    /// The ids that it had before it was copied, each with the newest entry of that time: what came later is another's.
    pub(super) former: Vec<(String, CommitId)>,
}

/// An id and the directory that it was made for: a copy of the clone is another directory.
struct Home {
    id: String,
    directory: String,
    /// The tip of its ledger when the clone went on under another id.
    left: Option<CommitId>,
}

/// This clone's id, if it has one. A clone that was copied, restored or moved to another file system gets a new one and
/// keeps what it has: two clones that write one ledger could never send it. Where nothing can be written, it stays.
pub(super) fn of(repo: &Repo) -> Result<Option<Writer>> {
    let common_dir = repo.common_dir();
    let Some(id) = get(common_dir)? else { return Ok(None) };
    let Some(directory) = directory(common_dir) else { return Ok(Some(Writer { id, former: Vec::new() })) };
    let mut homes = homes(common_dir);
    let known = homes.iter().find(|home| home.directory == directory).map(|home| home.id.clone());
    let is_at_home = |homes: &[Home]| homes.iter().any(|home| home.id == id && home.directory == directory);
    if !is_at_home(&homes) {
        let is_new = homes.iter().all(|home| home.id != id);
        let now = known.unwrap_or_else(|| if is_new { id.clone() } else { random() });
        for home in homes.iter_mut().filter(|home| home.id == id) {
            home.left = repo.ref_target(&super::ref_of(&id)).ok().flatten().map(CommitId);
        }
        if homes.iter().all(|home| home.id != now) {
            homes.push(Home { id: now.clone(), directory, left: None });
        }
        if keep(common_dir, &homes).is_ok() && now != id && replace(&path(common_dir), &now).is_ok() {
            return of(repo);
        }
    }
    let former = homes.into_iter().filter(|home| home.id != id);
    Ok(Some(Writer { former: former.filter_map(|home| Some((home.id, home.left?))).collect(), id }))
}

/// The directory of ours as the file system knows it; `None` where that is not known. Its path is no part: a clone may be
/// moved, and be seen under several.
fn directory(common_dir: &Path) -> Option<String> {
    let facts = fs::metadata(common_dir.join("andon")).ok()?;
    let inode = files::stat(&facts).inode;
    let made =
        facts.created().ok().and_then(|at| Some(at.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos()));
    (inode != 0).then(|| format!("{inode}.{}", made.unwrap_or_default()))
}

/// Most ids that are remembered, the newest.
const MAX_HOMES: usize = 16;

fn homes(common_dir: &Path) -> Vec<Home> {
    let bytes = file::read_start(&homes_path(common_dir), MAX_HOMES * 256).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let home = |line: &str| {
        let mut words = line.split(' ');
        let (id, directory, left) = (words.next()?, words.next()?, words.next()?);
        is_id(id).then(|| Home {
            id: id.to_owned(),
            directory: directory.to_owned(),
            left: left.parse().ok(),
        })
    };
    text.lines().filter_map(home).collect()
}

fn keep(common_dir: &Path, homes: &[Home]) -> io::Result<()> {
    let newest = &homes[homes.len().saturating_sub(MAX_HOMES)..];
    let line = |home: &Home| {
        let left = home.left.map_or_else(|| "-".to_owned(), |tip| tip.to_string());
        format!("{} {} {left}\n", home.id, home.directory)
    };
    let text: String = newest.iter().map(line).collect();
    file::replace(&homes_path(common_dir), text.as_bytes())
}

fn homes_path(common_dir: &Path) -> PathBuf {
    common_dir.join("andon").join("writer-homes")
}

fn replace(path: &Path, id: &str) -> io::Result<()> {
    file::replace(path, format!("{id}\n").as_bytes())
}

/// The id; of several who make one up at once, one wins and all use it.
pub(super) fn get_or_create(repo: &Repo) -> Result<String> {
    if let Some(own) = of(repo)? {
        return Ok(own.id);
    }
    let path = path(repo.common_dir());
    create(&path).map_err(io_error("write", &path))?;
    of(repo)?.map(|own| own.id).ok_or_else(|| lost(repo.common_dir()))
}

fn create(path: &Path) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let mut temporary = andon_git::temporary_in(parent)?;
    writeln!(temporary, "{}", random())?;
    match temporary.persist_noclobber(path) {
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
        Ok(_) => Ok(()),
    }
}

/// 128 bits from the keys that the standard library takes from the system for its hash maps.
fn random() -> String {
    let (first, second) = (RandomState::new(), RandomState::new());
    format!("{:016x}{:016x}", first.hash_one(1_u8), second.hash_one(2_u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    #[test]
    fn an_id_is_made_up_once_and_by_one() {
        let scratch = Scratch::new();
        let common_dir = scratch.repo().common_dir().to_owned();
        assert_eq!(get(&common_dir).unwrap(), None);
        let ids: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
            let one = || get_or_create(&scratch.repo()).unwrap();
            let all: Vec<_> = (0..16).map(|_| scope.spawn(one)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(ids.len(), 1);
        assert_eq!(get(&common_dir).unwrap(), ids.into_iter().next());
        assert_eq!(fs::read_dir(common_dir.join("andon")).unwrap().count(), 2);
        assert_ne!(random(), random());
    }

    #[test]
    fn a_damaged_id_is_an_error_and_not_a_new_one() {
        let scratch = Scratch::new();
        let (repo, own) = (scratch.repo(), path(scratch.repo().common_dir()));
        get_or_create(&repo).unwrap();
        for bad in ["", "abc", "../../../../../../../../../etc/pw", &"A".repeat(32), &"a".repeat(33)] {
            fs::write(&own, bad).unwrap();
            let error = get_or_create(&repo).unwrap_err();
            assert!(matches!(error, LedgerError::BadWriter { .. }), "{bad}");
            assert!(error.help().unwrap().contains("andon/writer"));
        }
    }
}
