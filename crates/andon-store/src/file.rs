//! Files of ours under the git directory: never half-written, never read beyond a bound, never anything but a plain
//! file (opening a named pipe would hang a hook).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use andon_git::platform::files::{never_following, never_waiting};

pub(super) use andon_git::{open_plain as open, read_plain as read, replace_plain as replace};

/// The first bytes of the file, at most `max`, when there is one.
pub(super) fn read_start(path: &Path, max: usize) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(max);
    file.take(max as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens `path` for whole-line appends, and its directory with it.
pub(super) fn open_append(path: &Path) -> io::Result<File> {
    // A named pipe without a reader is an error at once.
    let open = || never_waiting(OpenOptions::new().append(true).read(true).create(true)).open(path);
    let file = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            open()?
        }
        opened => opened?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a plain file")) }
}

/// Puts these bytes at the beginning of `path` in one write; what a longer file holds behind them stays. For a cache that
/// is replaced at every commit and knows by a checksum what was half-written: a rename onto a file costs several times as
/// much, since file systems bring the new one to the disk first. Links are not followed.
pub(super) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Ok(mut file) = never_following(OpenOptions::new().write(true)).open(path)
        && file.metadata().is_ok_and(|found| found.is_file())
    {
        return file.write_all(bytes);
    }
    replace(path, bytes)
}
