//! Files, as unix has them.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::{io, path::Path};

use cap_std::fs::MetadataExt as _;
use nix::fcntl::OFlag;
use nix::unistd::{AccessFlags, access};

use crate::platform::FileStat;

/// Has a named pipe opened without waiting for its other end, which would hang a hook.
pub fn never_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(OFlag::O_NONBLOCK.bits())
}

/// The same, and has a symbolic link be an error.
pub fn never_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW).bits())
}

/// The stat data of a file.
pub fn stat(facts: &Metadata) -> FileStat {
    FileStat {
        modified: (facts.mtime(), facts.mtime_nsec()),
        changed: (facts.ctime(), facts.ctime_nsec()),
        inode: facts.ino(),
        device: facts.dev(),
        user: facts.uid(),
        group: facts.gid(),
        size: facts.size(),
    }
}

/// The inode, which no other file of its file system has.
pub fn inode(facts: &Metadata) -> Option<u64> {
    Some(facts.ino())
}

/// True if `file` is the one at `path`; a link is another.
pub fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// True if any user may execute the file, which git requires of a hook.
pub fn is_executable(facts: &Metadata) -> bool {
    facts.permissions().mode() & 0o111 != 0
}

/// True if its owner may execute the file, which is all that git keeps of a mode.
pub fn owner_executes(facts: &Metadata) -> bool {
    facts.permissions().mode() & 0o100 != 0
}

/// The permissions of this mode; `None` where there are no modes.
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Makes a symbolic link at `link` that leads to the program.
pub fn link_program(program: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

/// Makes a symbolic link at `link` to `target`, which may be relative.
pub fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Fails with the system's error where files cannot be made in `dir`. Asked of the system: nothing is written.
pub fn check_writable(dir: &Path) -> io::Result<()> {
    Ok(access(dir, AccessFlags::W_OK | AccessFlags::X_OK)?)
}

/// True for a user that this process is not, unless it may write everywhere.
pub fn is_of_another_user(user: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    own != 0 && own != user
}

/// A directory of this user, of the owner of the working tree (a container's user differs), or of the superuser.
pub fn is_ours(dir: &cap_std::fs::Metadata, top: &cap_std::fs::Metadata) -> bool {
    [rustix::process::geteuid().as_raw(), top.uid(), 0].contains(&dir.uid())
}
