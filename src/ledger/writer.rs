//! The id under which a clone writes: 128 random bits, kept in the git directory.

use std::io::{self, Write as _};
use std::path::Path;

use super::{LedgerError, file};

const FILE: &str = "andon/writer";
const DIGITS: usize = 32;

/// More than any id has, in bytes.
const MAX_BYTES: u64 = 256;

/// Reads the id; `None` when there is none yet.
pub(super) fn read(common_dir: &Path) -> Result<Option<String>, LedgerError> {
    let path = common_dir.join(FILE);
    match file::read(&path, MAX_BYTES) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => {
            let text = String::from_utf8_lossy(&bytes);
            let id = text.trim();
            if is_id(id) { Ok(Some(id.to_owned())) } else { Err(lost(common_dir)) }
        }
        // Too large or a pipe is as lost as garbage is; what cannot be read may only need permissions.
        Err(err) if err.kind() == io::ErrorKind::Other => Err(lost(common_dir)),
        Err(source) => Err(LedgerError::Writer { doing: "read", path, source }),
    }
}

/// Makes an id. Two processes that make one at the same time agree on the first.
pub(super) fn make(common_dir: &Path) -> Result<String, LedgerError> {
    let path = common_dir.join(FILE);
    create(&path).map_err(|source| LedgerError::Writer { doing: "write", path, source })?;
    read(common_dir)?.ok_or_else(|| lost(common_dir))
}

/// The error of an id that was there.
pub(super) fn lost(common_dir: &Path) -> LedgerError {
    LedgerError::BadWriter { path: common_dir.join(FILE), known: Vec::new() }
}

/// Whether `text` can be an id.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn create(path: &Path) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut random = [0_u8; DIGITS / 2];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(file, "{digits}")?;
    match file.persist_noclobber(path) {
        Err(err) if err.error.kind() != io::ErrorKind::AlreadyExists => Err(err.error),
        Ok(_) | Err(_) => Ok(()),
    }
}
