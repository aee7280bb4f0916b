//! The refs below a prefix. libgit2's own listing copies every packed ref of the repository for each question, and three
//! questions made `andon status` take a tenth of a second where there are 40,000 of them.

use std::{collections::BTreeMap, io::ErrorKind, path::Path};

use memchr::{memchr, memmem};

use crate::{Repo, Result, files::if_there, objects::from_git2};
use andon_core::domain::Oid;

/// The length of an object id in `packed-refs`.
const ID_DIGITS: usize = 40;

impl Repo {
    /// The refs whose names begin with `prefix` (such as `refs/andon/ledger/`), sorted by name: of those that all
    /// worktrees share. Names that are not UTF-8 are left out, and refs that lead nowhere.
    pub fn refs_with_prefix(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        if !prefix.starts_with("refs/") {
            return Ok(Vec::new());
        }
        // Loose ones first, as git does: what is packed in between is found in the second place.
        let loose = self.loose_names(prefix)?;
        let path = self.common_dir().join("packed-refs");
        let unread = |error| self.ref_message(prefix, &format!("{}: {error}", path.display()));
        let packed = if_there(std::fs::read(&path)).map_err(unread)?.unwrap_or_default();
        let mut found = packed_below(&packed, prefix);
        for name in loose {
            if let Ok(id) = self.inner.refname_to_id(&name) {
                found.insert(name, from_git2(id));
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The names of loose refs that begin with `prefix`.
    fn loose_names(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let Some((top, _)) = prefix.rsplit_once('/') else { return Ok(names) };
        let mut folders =
            if super::valid_name(&format!("{top}/x")) { vec![format!("{top}/")] } else { vec![] };
        while let Some(folder) = folders.pop() {
            let entries = list(&self.common_dir().join(&folder));
            let entries = entries.map_err(|error| self.ref_message(&folder, &error.to_string()))?;
            for (entry, is_folder) in entries {
                let name = format!("{folder}{entry}");
                if !name.starts_with(prefix) {
                    continue;
                }
                if is_folder {
                    folders.push(format!("{name}/"));
                } else if super::valid_name(&name) {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }
}

/// Returns the names in a folder, each with true when it is a folder itself. Empty where there is no such folder (any more: git
/// removes that of the last ref which it packs).
fn list(folder: &Path) -> std::io::Result<Vec<(String, bool)>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(kind) = entry.file_type() else { continue };
        found.extend(entry.file_name().into_string().ok().map(|name| (name, kind.is_dir())));
    }
    Ok(found)
}

/// The refs of a `packed-refs` file whose names begin with `prefix`.
fn packed_below(packed: &[u8], prefix: &str) -> BTreeMap<String, Oid> {
    let wanted = format!(" {prefix}");
    let read = |at: usize| {
        let id_at = at.checked_sub(ID_DIGITS)?;
        let is_line = id_at == 0 || packed[id_at - 1] == b'\n';
        let id = std::str::from_utf8(&packed[id_at..at]).ok()?.parse().ok()?;
        let rest = &packed[at + 1..];
        let name = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        let name = std::str::from_utf8(name.strip_suffix(b"\r").unwrap_or(name)).ok()?;
        is_line.then(|| (name.to_owned(), id))
    };
    memmem::find_iter(packed, wanted.as_bytes()).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "96a9febff29ce0b11d6cf9dab79632a8291020c0";
    const OTHER: &str = "0c0201928a23697bad9fc6d11b0ec92ffbef9a69";

    #[test]
    fn packed_refs_are_read_by_prefix() {
        let packed = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{ID} refs/andon/a\n{OTHER} refs/andon/b/c\n\
             {ID} refs/andonx\n{ID} refs/tags/v1\n^{OTHER}\n{ID} refs/tags/v2"
        );
        let below = |prefix: &str| -> Vec<(String, String)> {
            packed_below(packed.as_bytes(), prefix)
                .into_iter()
                .map(|(name, id)| (name, id.to_string()))
                .collect()
        };
        let row = |name: &str, id: &str| (name.to_owned(), id.to_owned());
        assert_eq!(below("refs/andon/"), [row("refs/andon/a", ID), row("refs/andon/b/c", OTHER)]);
        assert_eq!(below("refs/andon/b"), [row("refs/andon/b/c", OTHER)]);
        assert_eq!(below("refs/tags/"), [row("refs/tags/v1", ID), row("refs/tags/v2", ID)]);
        assert_eq!(below("refs/none/"), []);
        assert_eq!(below("pack"), []);
    }

    #[test]
    fn what_is_no_packed_refs_file_has_no_refs() {
        for bytes in [&b""[..], b" refs/a/b", b"x refs/a/b\n", b"96a9 refs/a/b\n"] {
            assert_eq!(packed_below(bytes, "refs/a/").len(), 0, "{}", bytes.escape_ascii());
        }
        let shifted = format!("x{ID} refs/a/b\n");
        assert_eq!(packed_below(shifted.as_bytes(), "refs/a/").len(), 0);
        let windows = format!("{ID} refs/a/b\r\n");
        assert_eq!(packed_below(windows.as_bytes(), "refs/a/").keys().collect::<Vec<_>>(), ["refs/a/b"]);
    }
}
