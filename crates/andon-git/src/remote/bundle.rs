//! Bundles: refs and their objects in one file, which git fetches from as from a remote. A bundle may come from anyone,
//! so it is checked before git reads it: a plain file, of bounded size, that begins as bundles do.

use std::io::Read as _;
use std::path::Path;

use crate::error::GitError;
use crate::files::{open_plain, temporary_in};
use crate::open::repo::Repo;
use crate::platform::{Life, processes};
use crate::remote::online::RemoteError;

/// Largest bundle that is read, in bytes: some millions of records.
const MAX_BUNDLE: u64 = 512 << 20;
/// How bundles begin.
const HEADS: [&[u8]; 2] = [b"# v2 git bundle\n", b"# v3 git bundle\n"];

/// Whether there is a bundle at `path`; `false` when there is nothing at all.
///
/// # Errors
/// [`RemoteError::Bundle`] when there is something else.
pub fn is_bundle(path: &Path) -> Result<bool, RemoteError> {
    let bad = |why: String| RemoteError::Bundle { path: path.display().to_string(), why };
    let file = match open_plain(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(false),
        Err(error) => return Err(bad(error.to_string())),
    };
    let size = file.metadata().map_err(|error| bad(error.to_string()))?.len();
    if size > MAX_BUNDLE {
        return Err(bad(format!("it has {size} bytes, more than {MAX_BUNDLE}")));
    }
    let mut head = Vec::new();
    file.take(HEADS[0].len() as u64).read_to_end(&mut head).map_err(|error| bad(error.to_string()))?;
    if HEADS.iter().any(|known| *known == head) {
        Ok(true)
    } else {
        Err(bad("it is no git bundle".to_owned()))
    }
}

impl Repo {
    /// Writes `refs` with all that they reach to a bundle at `path`, whole or not at all.
    pub fn write_bundle(&self, path: &Path, refs: &[String]) -> Result<(), RemoteError> {
        let bad = |error: std::io::Error| RemoteError::Bundle {
            path: path.display().to_string(),
            why: error.to_string(),
        };
        let parent = path.parent().unwrap_or(Path::new("."));
        let temporary = temporary_in(parent).map_err(bad)?;
        let mut args: Vec<std::ffi::OsString> = ["bundle", "create", "--quiet"].map(Into::into).to_vec();
        args.push(temporary.path().into());
        args.extend(refs.iter().map(Into::into));
        self.git(&args, b"")?;
        temporary.persist(path).map_err(|error| bad(error.error))?;
        Ok(())
    }

    /// Removes the refs below `prefix` that this process made, or one that is gone: `<prefix><process id>/...`.
    pub fn drop_passing(&self, prefix: &str) -> Result<(), GitError> {
        let mut lines = String::new();
        for (name, id) in self.refs_with_prefix(prefix)? {
            let owner = name.strip_prefix(prefix).and_then(|rest| rest.split('/').next());
            if owner.and_then(|pid| pid.parse().ok()).is_none_or(is_over) {
                lines.push_str(&format!("delete {name} {id}\n"));
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.git(&["update-ref", "--no-deref", "--stdin"], lines.as_bytes()).map(drop)
    }
}

/// Whether the process is this one, which is done with its refs, or is gone.
fn is_over(pid: i32) -> bool {
    u32::try_from(pid).is_ok_and(|pid| pid == std::process::id()) || processes::life(pid) == Life::Gone
}
