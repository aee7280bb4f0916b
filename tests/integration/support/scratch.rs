//! Where stages are made. Their thousands of small files are most of what the tests ask of the system, and on a disk that
//! takes longer than everything else: in memory where there is room, unless `TMPDIR` says otherwise.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A new directory that goes when it is dropped.
pub(super) fn new() -> tempfile::TempDir {
    match IN_MEMORY.as_deref() {
        Some(place) => tempfile::tempdir_in(place),
        None => tempfile::tempdir(),
    }
    .unwrap()
}

static IN_MEMORY: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let shared = Path::new("/dev/shm");
    (std::env::var_os("TMPDIR").is_none() && has_room(shared)).then(|| shared.to_owned())
});

/// Whether `place` takes files of the tests and starts programs that they write. Containers often have 64 MB there.
#[cfg(target_os = "linux")]
fn has_room(place: &Path) -> bool {
    use nix::sys::statvfs::{FsFlags, statvfs};

    const ROOM: u64 = 4 << 30;
    statvfs(place).is_ok_and(|system| {
        !system.flags().intersects(FsFlags::ST_NOEXEC | FsFlags::ST_RDONLY)
            && system.blocks_available() * system.fragment_size() >= ROOM
    }) && tempfile::tempdir_in(place).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_room(_: &Path) -> bool {
    false
}
