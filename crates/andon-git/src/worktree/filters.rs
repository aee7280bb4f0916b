//! Filter drivers: programs of git's configuration that change a file on its way into the repository.
//!
//! A commit holds what the driver makes of a file, so a file is compared as git does: where its stat data are those of the
//! index it is as the index says, else its driver is asked, which must say the same twice. What git-lfs stores is known (a
//! pointer with the sha256 of the file), so that it is computed and not asked.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::{fs::File, path::Path};

use sha2::{Digest as _, Sha256};

use crate::{Repo, Result, platform::paths::text_from_bytes};
use andon_core::domain::{Oid, ids::hex_digits};

/// The driver of git-lfs.
pub(crate) const LFS: &[u8] = b"lfs";
/// The first line of a pointer of git-lfs.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
/// Longest pointer, in bytes.
const MAX_POINTER: u64 = 1024;

/// The drivers that git's configuration names.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    drivers: BTreeSet<Vec<u8>>,
}

/// Paths, each with the driver that its attributes name.
pub(crate) type FilteredPaths = BTreeMap<Vec<u8>, Vec<u8>>;

impl Repo {
    /// Asks the git program: libgit2 does not see every level of the configuration.
    pub(crate) fn filters(&self) -> Result<Filters> {
        let listed = self.git(&["config", "-z", "--list"], b"")?;
        Ok(Filters { drivers: listed.stdout.split(|byte| *byte == 0).filter_map(driver).collect() })
    }

    /// Those of `paths` whose attributes name one of the drivers.
    pub(crate) fn filtered<'p>(
        &self,
        filters: &Filters,
        paths: impl Iterator<Item = &'p [u8]>,
    ) -> Result<FilteredPaths> {
        if filters.drivers.is_empty() {
            return Ok(FilteredPaths::new());
        }
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path);
            input.push(0);
        }
        if input.is_empty() {
            return Ok(FilteredPaths::new());
        }
        let answer = self.git(&["check-attr", "-z", "--stdin", "filter"], &input)?;
        let mut words = answer.stdout.split(|byte| *byte == 0);
        let mut found = FilteredPaths::new();
        while let (Some(path), Some(_attribute), Some(value)) = (words.next(), words.next(), words.next()) {
            if filters.drivers.contains(value) {
                found.insert(path.to_vec(), value.to_vec());
            }
        }
        Ok(found)
    }
}

/// The driver that an entry of the configuration (`KEY LF VALUE`) gives a program for files on their way in.
fn driver(entry: &[u8]) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'\n', entry)?;
    let (key, value) = (entry.get(..end)?, entry.get(end + 1..)?);
    let rest = key.strip_prefix(b"filter.")?;
    let name = rest.strip_suffix(b".clean").or_else(|| rest.strip_suffix(b".process"))?;
    (!value.is_empty()).then(|| name.to_vec())
}

impl Filters {
    pub(crate) fn is_empty(&self) -> bool {
        self.drivers.is_empty()
    }

    /// Options for the git program that switch all of them off. `nothing` and `no` are variables that hold an empty
    /// text and `false`: a name may hold the character that `-c` splits at.
    pub(crate) fn options(&self) -> Vec<OsString> {
        let option = |driver: &Vec<u8>, key: &str, variable: &str| {
            let tail = format!(".{key}={variable}");
            text_from_bytes([b"--config-env=filter.", driver.as_slice(), tail.as_bytes()].concat())
        };
        let off = [("clean", NOTHING), ("process", NOTHING), ("required", NO)];
        let each = |driver| off.map(|(key, variable)| option(driver, key, variable));
        self.drivers.iter().flat_map(each).collect()
    }

    /// The values of those variables.
    pub(crate) fn variables() -> [(&'static str, &'static OsStr); 2] {
        [(NOTHING, OsStr::new("")), (NO, OsStr::new("false"))]
    }
}

const NOTHING: &str = "ANDON_NO_FILTER";
const NO: &str = "ANDON_NOT_REQUIRED";

/// The pointer that git-lfs stores for a file; `None` where it stores the file as it is: an empty one, and a pointer.
pub(crate) fn pointer(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut open = File::open(file)?;
    let mut start = Vec::new();
    open.by_ref().take(MAX_POINTER).read_to_end(&mut start)?;
    if start.is_empty() || ((start.len() as u64) < MAX_POINTER && start.starts_with(POINTER)) {
        return Ok(None);
    }
    let mut hash = Sha256::new();
    hash.update(&start);
    let mut size = start.len() as u64;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match open.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hash.update(buffer.get(..count).unwrap_or_default());
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let digits: Vec<u8> = hash.finalize().iter().flat_map(|byte| hex_digits(*byte)).collect();
    Ok(Some([POINTER, b"oid sha256:", &digits, format!("\nsize {size}\n").as_bytes()].concat()))
}

impl Repo {
    /// True if a blob is a pointer of git-lfs to a file of this size.
    pub(crate) fn points_at(&self, blob: Oid, size: u64) -> bool {
        let limit = usize::try_from(MAX_POINTER).unwrap_or(usize::MAX);
        let Ok(Some(text)) = self.read_blob(blob, limit) else { return false };
        text.starts_with(POINTER) && text.ends_with(format!("\nsize {size}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_with_a_program_are_found_by_whatever_name() {
        let cases: [(&[u8], Option<&[u8]>); 6] = [
            (b"filter.a.clean\ncat", Some(b"a")),
            (b"filter.a.b=c\xff.process\nx", Some(b"a.b=c\xff")),
            (b"filter.a.smudge\ncat", None),
            (b"filter.a.clean\n", None),
            (b"filter.a.clean", None),
            (b"core.filter.clean\nx", None),
        ];
        for (entry, expected) in cases {
            assert_eq!(driver(entry).as_deref(), expected);
        }
    }

    #[test]
    fn the_pointer_of_lfs_is_computed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let of = |content: &[u8]| {
            std::fs::write(&file, content).unwrap();
            pointer(&file).unwrap().map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(of(b""), None);
        let expected = "version https://git-lfs.github.com/spec/v1\noid sha256:1adb41cf8efa0c375bf64d08bc0fe027a720fef0d7ac05140c2a1fe1200155a2\nsize 4\n";
        assert_eq!(of(b"hi!\n").as_deref(), Some(expected));
        assert_eq!(of(expected.as_bytes()), None, "a pointer is stored as it is");
        let large = of(&vec![b'x'; 200_000]).unwrap();
        assert!(large.ends_with("\nsize 200000\n"), "{large}");
    }
}
