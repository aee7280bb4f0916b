//! Andon's own files in the git directory. Only plain files are read. A file that replaces another is readable for those whom
//! the umask allows, as git's own files are, because a store may be shared.

use andon_core::domain::Hint;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, SystemTime};
use std::{ffi::OsStr, path::Path};

use tempfile::NamedTempFile;

use crate::error::quoted_path;
use crate::platform::{Life, files, processes};

/// The prefix of temporary files; the id of the process that writes them follows.
const TEMPORARY: &str = ".tmp";
/// The same in folders that hold other people's files.
const FOREIGN: &str = ".andon-tmp";
/// The age at which a temporary file of unknown origin is litter.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// The command after which a file of ours can be written again. Where it belongs to somebody else, such as the superuser of a
/// container, it names that user; for a file or folder without a right to write, it gives its owner the right.
pub fn access_help(path: &Path) -> String {
    let there: Vec<_> =
        path.ancestors().filter_map(|at| Some((at, at.symlink_metadata().ok()?))).take(2).collect();
    let whole = |at| quoted_path(path.ancestors().filter(|at| at.ends_with(".git")).last().unwrap_or(at));
    let owner = there.first().map(|(at, facts)| (at, files::stat(facts).user));
    if let Some((at, user)) = owner.filter(|(_, user)| files::is_of_another_user(*user)) {
        let who = if user == 0 { "root".to_owned() } else { format!("user {user}") };
        return Hint::GrantAccess.with([&who, &whole(at)]);
    }
    match there.iter().find(|(_, facts)| facts.permissions().readonly()) {
        Some((at, _)) => Hint::MakeWritable.with([&whole(at)]),
        None => format!("check the permissions of {} and the space on its disk", quoted_path(path)),
    }
}

/// A new file in `dir`, to be written and put in its place. What a killed writer left in `dir` goes.
pub fn temporary_in(dir: &Path) -> io::Result<NamedTempFile> {
    sweep(dir, "")?;
    make(dir, TEMPORARY, files::permissions(0o666))
}

/// The same in a folder that is not ours, such as that of the hooks or of a client's settings: of what lies there only
/// what a killed writer of ours left goes.
pub fn temporary_beside(dir: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    sweep(dir, FOREIGN)?;
    make(dir, FOREIGN, permissions)
}

/// Removes what killed writers left in `dir` under names that begin with `prefix`.
fn sweep(dir: &Path, prefix: &str) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)?.flatten() {
        let name = entry.file_name();
        let is_meant = name.to_str().is_some_and(|name| name.starts_with(prefix));
        if is_meant && is_litter(&name, || entry.metadata().ok()?.modified().ok()) {
            let _another_was_first = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn make(dir: &Path, name: &str, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    builder.prefix(&format!("{name}-{}-", std::process::id())).tempfile_in(dir)
}

/// Replaces `path` by a file with these bytes, or leaves it as it was. Makes its directory.
pub fn replace_plain(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(temporary_in, path, bytes)
}

/// The same by a file that its owner alone may read, in a folder that need not be ours.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(|dir| temporary_beside(dir, None), path, bytes)
}

fn replace_by(make: fn(&Path) -> io::Result<NamedTempFile>, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut temporary = match make(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(parent)?;
            make(parent)?
        }
        created => created?,
    };
    temporary.write_all(bytes)?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// True when a file of this name is a temporary one without a writer: its process is gone, or, where the name has none, it was
/// last `modified` long ago.
pub fn is_litter(name: &OsStr, modified: impl FnOnce() -> Option<SystemTime>) -> bool {
    let name = name.to_str().unwrap_or_default();
    let Some(rest) = name.strip_prefix(FOREIGN).or_else(|| name.strip_prefix(TEMPORARY)) else {
        return false;
    };
    match rest.strip_prefix('-').and_then(|rest| rest.split_once('-')?.0.parse().ok()) {
        Some(pid) if processes::life(pid) != Life::Unknown => processes::life(pid) == Life::Gone,
        Some(_) | None => modified().and_then(|then| then.elapsed().ok()).is_some_and(|age| age > FORGOTTEN),
    }
}

/// Opens `path` for reading; `None` when there is none, an error when it is no plain file. A named pipe is opened
/// without waiting for its other end, which would hang a hook.
pub fn open_plain(path: &Path) -> io::Result<Option<File>> {
    Ok(opened(path)?.map(|(file, _)| file))
}

/// The same, and how many bytes it has.
fn opened(path: &Path) -> io::Result<Option<(File, u64)>> {
    let opened = files::never_waiting(OpenOptions::new().read(true)).open(path);
    let Some(file) = if_there(opened)? else { return Ok(None) };
    let facts = file.metadata()?;
    if facts.is_file() { Ok(Some((file, facts.len()))) } else { Err(io::Error::other("not a plain file")) }
}

/// Gives `None` in place of the error that nothing is there.
pub fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Looks for something at the end of a file. `read` is given the place at which the last bytes begin, and these; more of them, as
/// many as the next of `windows` says, until it has found what it looks for.
pub fn from_end<T>(
    file: &mut File,
    windows: &[u64],
    mut read: impl FnMut(u64, Vec<u8>) -> Option<T>,
) -> io::Result<Option<T>> {
    let len = file.metadata()?.len();
    for window in windows {
        let start = len.saturating_sub(*window);
        let mut bytes = Vec::with_capacity(usize::try_from(len - start).unwrap_or(0));
        file.seek(SeekFrom::Start(start))?;
        (&*file).take(len - start).read_to_end(&mut bytes)?;
        let found = read(start, bytes);
        if found.is_some() || start == 0 {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The whole plain file, when there is one and it has at most `max` bytes.
pub fn read_plain(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((mut file, length)) = opened(path)? else { return Ok(None) };
    let length = usize::try_from(length.min(max)).unwrap_or(0);
    // One byte more: where nothing fills it, the end was reached, and need not be asked for.
    let mut bytes = vec![0; length + 1];
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read != length {
        file.take(max.saturating_add(1).saturating_sub(read as u64)).read_to_end(&mut bytes)?;
    }
    Ok((bytes.len() as u64 <= max).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_file_is_read_up_to_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plain");
        for length in [0, 1, 31, 32, 33, 9_000] {
            let bytes = vec![b'x'; length];
            std::fs::write(&path, &bytes).unwrap();
            let bound = length as u64;
            assert_eq!(read_plain(&path, bound).unwrap().as_ref(), Some(&bytes), "{length}");
            assert_eq!(read_plain(&path, bound + 1).unwrap(), Some(bytes), "{length}");
            if let Some(less) = bound.checked_sub(1) {
                assert_eq!(read_plain(&path, less).unwrap(), None, "{length}");
            }
        }
        // A file that says it has no bytes and has some all the same.
        assert!(!read_plain(Path::new("/proc/self/stat"), 1 << 16).unwrap().unwrap().is_empty());
        assert_eq!(read_plain(&dir.path().join("missing"), 1).unwrap(), None);
        assert!(read_plain(dir.path(), 1).is_err());
    }

    #[test]
    fn only_plain_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("plain"), "x").unwrap();
        std::os::unix::fs::symlink("plain", at("link")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open_plain(&at("plain")).unwrap().is_some());
        assert!(open_plain(&at("link")).unwrap().is_some());
        assert!(open_plain(&at("missing")).unwrap().is_none());
        for name in ["pipe", ".", "plain/below"] {
            assert!(open_plain(&at(name)).is_err(), "{name}");
        }
    }
}
