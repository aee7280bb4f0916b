//! The id under which a clone writes: 128 random bits, kept in the git directory.

use std::io::{self, Write as _};
use std::path::Path;

use super::LedgerError;

const FILE: &str = "andon/writer";
const DIGITS: usize = 32;

/// Reads the id, or makes one. Two processes that make one at the same time agree on the first.
pub(super) fn id(common_dir: &Path) -> Result<String, LedgerError> {
    let path = common_dir.join(FILE);
    let error = |doing, source| LedgerError::Writer { doing, path: path.clone(), source };
    match std::fs::read(&path) {
        Ok(bytes) => return checked(&bytes, &path),
        Err(err) if err.kind() == io::ErrorKind::NotFound => {}
        Err(err) => return Err(error("read", err)),
    }
    create(&path).map_err(|err| error("write", err))?;
    let bytes = std::fs::read(&path).map_err(|err| error("read", err))?;
    checked(&bytes, &path)
}

fn checked(bytes: &[u8], path: &Path) -> Result<String, LedgerError> {
    let text = String::from_utf8_lossy(bytes);
    let id = text.trim();
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if id.len() == DIGITS && id.bytes().all(hex) {
        Ok(id.to_owned())
    } else {
        Err(LedgerError::BadWriter(path.to_owned()))
    }
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
