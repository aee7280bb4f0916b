//! Files that take another's place: readable by whom the umask lets, as what git writes is. A store may be shared.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

/// A new file in `dir`, to be written and put in its place.
pub fn temporary_in(dir: &Path) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(dir)
}
