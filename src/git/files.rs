//! Files of ours in the git directory: read only where they are plain ones, and, where they take another's place,
//! readable by whom the umask lets, as what git writes is. A store may be shared.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;
use tempfile::NamedTempFile;

/// A new file in `dir`, to be written and put in its place.
pub fn temporary_in(dir: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(dir)
}

/// Opens `path` for reading; `None` when there is none, an error when it is no plain file. A named pipe is opened
/// without waiting for its other end, which would hang a hook.
pub fn open_plain(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(io::Error::other("not a plain file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
