//! Files, as Windows has them: without modes, inodes and named pipes among them.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{io, os::windows::fs::OpenOptionsExt as _, path::Path};

use same_file::Handle;

use crate::platform::FileStat;

/// Opens a link itself, which then is no plain file.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Nothing that is opened by a path waits here.
pub fn never_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Has a symbolic link opened itself: it is no plain file.
pub fn never_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
}

/// The stat data of a file, as Git for Windows has them.
pub fn stat(facts: &Metadata) -> FileStat {
    FileStat {
        modified: since_1970(facts.modified()),
        changed: since_1970(facts.created()),
        inode: 0,
        device: 0,
        user: 0,
        group: 0,
        size: facts.len(),
    }
}

/// A time as seconds and nanoseconds; one that is not known as 0.
fn since_1970(time: io::Result<SystemTime>) -> (i64, i64) {
    let span = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    (i64::try_from(span.as_secs()).unwrap_or(i64::MAX), i64::from(span.subsec_nanos()))
}

/// There is none.
pub fn inode(_facts: &Metadata) -> Option<u64> {
    None
}

/// True if `file` is the one at `path`.
pub fn is_at(file: &File, path: &Path) -> bool {
    let ours = file.try_clone().and_then(Handle::from_file);
    ours.is_ok_and(|ours| Handle::from_path(path).is_ok_and(|there| ours == there))
}

/// git starts any file in the place of a hook.
pub fn is_executable(_facts: &Metadata) -> bool {
    true
}

/// A file has no mode: git keeps the one of the index.
pub fn owner_executes(_facts: &Metadata) -> bool {
    false
}

/// There are no modes.
pub fn permissions(_mode: u32) -> Option<Permissions> {
    None
}

/// Gives the program a second name, or copies it: a symbolic link is for administrators.
pub fn link_program(program: &Path, link: &Path) -> io::Result<()> {
    std::fs::hard_link(program, link).or_else(|_| std::fs::copy(program, link).map(drop))
}

/// Makes a symbolic link at `link` to `target`, which may be relative; fails where the user may make none.
pub fn link(target: &Path, link: &Path) -> io::Result<()> {
    let there = link.parent().map_or_else(|| target.to_owned(), |parent| parent.join(target));
    if there.is_dir() {
        std::os::windows::fs::symlink_dir(target, link)
    } else {
        std::os::windows::fs::symlink_file(target, link)
    }
}

/// Lists of access are only asked by trying.
pub fn check_writable(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Who may write is in lists of access.
pub fn is_of_another_user(_user: u32) -> bool {
    false
}

/// Who may write into a directory is in its list of access, which its maker has set.
pub fn is_ours(_dir: &cap_std::fs::Metadata, _top: &cap_std::fs::Metadata) -> bool {
    true
}
