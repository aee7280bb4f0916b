//! Reading small files of ours: bounded, and never by opening a named pipe, which would hang a hook.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The file, when there is one.
///
/// # Errors
/// What the system says; also for more than `max` bytes and for anything but a plain file.
pub(super) fn read(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    match std::fs::metadata(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(err),
        Ok(found) if !found.is_file() => return Err(io::Error::other("not a plain file")),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("more than {max} bytes")));
    }
    Ok(Some(bytes))
}
