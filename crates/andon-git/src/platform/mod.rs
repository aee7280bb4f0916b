//! The differences of operating systems: apart from starting the tests, the only place where their own interfaces are
//! used. Each module has a side for unix and one for Windows with the same functions, so that callers do not know which
//! one it is.

pub mod paths;
pub mod process_stat;
pub mod test_seam;

#[cfg(unix)]
#[path = "unix/files.rs"]
pub mod files;
#[cfg(unix)]
#[path = "unix/processes.rs"]
pub mod processes;
#[cfg(unix)]
#[path = "unix/signals.rs"]
pub mod signals;

#[cfg(windows)]
#[path = "windows/files.rs"]
pub mod files;
#[cfg(windows)]
#[path = "windows/processes.rs"]
pub mod processes;
#[cfg(windows)]
#[path = "windows/signals.rs"]
pub mod signals;

/// The stat data of a file, as git puts them into an index. Times are seconds since 1970 and nanoseconds; what a
/// system does not have is 0, for git too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// When the content was last modified.
    pub modified: (i64, i64),
    /// When anything of the file last changed; on Windows when it was made.
    pub changed: (i64, i64),
    /// Distinguishes a file from the others of its device.
    pub inode: u64,
    /// The file system that it lies on.
    pub device: u64,
    /// The id of the user who owns it.
    pub user: u32,
    /// The id of the group that owns it.
    pub group: u32,
    /// In bytes.
    pub size: u64,
}

/// The state of a process, as far as the system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// There is a process with this id; it may be another than the one that was meant.
    Running,
    /// No process has this id.
    Gone,
    /// The system does not tell.
    Unknown,
}
