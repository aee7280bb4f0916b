//! The content of a file while it stands, as a hash of its bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::platform::files::never_following;
use crate::platform::paths::path_from_bytes;

/// Bytes that are hashed in one run at the most: what is looked at must not slow the tests down.
pub(super) const BUDGET: u64 = 64 << 20;

/// sha256 of a content.
pub(super) type Digest = [u8; 32];

/// Hashes the regular file at `path`; `None` where there is none, or more bytes than are left of the budget.
pub(super) fn digest(top: &Path, path: &[u8], budget: &mut u64) -> Option<Digest> {
    // Neither a link's target nor a pipe that nobody writes to.
    let file = never_following(File::options().read(true)).open(top.join(path_from_bytes(path))).ok()?;
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    *budget = budget.checked_sub(meta.len())?;
    let mut file = file.take(meta.len());
    let (mut hash, mut chunk) = (Sha256::new(), [0; 16 << 10]);
    loop {
        match file.read(&mut chunk).ok()? {
            0 => return Some(hash.finalize().into()),
            length => hash.update(&chunk[..length]),
        }
    }
}
