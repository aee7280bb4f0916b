//! Who this clone is in the ledger: a random id, so that no two clones ever write one ref.

use std::collections::hash_map::RandomState;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, hash::BuildHasher as _};

use super::LedgerError;

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
pub(super) fn get(common_dir: &Path) -> Result<Option<String>, LedgerError> {
    let path = path(common_dir);
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("read", &path)(error)),
        Ok(found) if !found.is_file() => return Err(lost(common_dir)),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&path).map_err(io_error("read", &path))?;
    file.take(DIGITS as u64 + 2).read_to_end(&mut bytes).map_err(io_error("read", &path))?;
    let id = String::from_utf8(bytes).ok().map(|text| text.trim_ascii_end().to_owned());
    id.filter(|id| is_id(id)).map(Some).ok_or_else(|| lost(common_dir))
}

/// The id; of several who make one up at once, one wins and all use it.
pub(super) fn get_or_create(common_dir: &Path) -> Result<String, LedgerError> {
    if let Some(id) = get(common_dir)? {
        return Ok(id);
    }
    let path = path(common_dir);
    create(&path).map_err(io_error("write", &path))?;
    get(common_dir)?.ok_or_else(|| lost(common_dir))
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

    #[test]
    fn an_id_is_made_up_once_and_by_one() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(get(dir.path()).unwrap(), None);
        let ids: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..16).map(|_| scope.spawn(|| get_or_create(dir.path()).unwrap())).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(ids.len(), 1);
        assert_eq!(get(dir.path()).unwrap(), ids.into_iter().next());
        assert_eq!(fs::read_dir(dir.path().join("andon")).unwrap().count(), 1);
        assert_ne!(random(), random());
    }

    #[test]
    fn a_damaged_id_is_an_error_and_not_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        get_or_create(dir.path()).unwrap();
        for bad in ["", "abc", "../../../../../../../../../etc/pw", &"A".repeat(32), &"a".repeat(33)] {
            fs::write(path(dir.path()), bad).unwrap();
            let error = get_or_create(dir.path()).unwrap_err();
            assert!(matches!(error, LedgerError::BadWriter { .. }), "{bad}");
            assert!(error.help().unwrap().contains("andon/writer"));
        }
    }
}
