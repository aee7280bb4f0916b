//! Many objects at once: gathered in memory, then put into the store as one pack.
//!
//! The pack and its index are made in a directory of their own and synced there. Then a `.keep` is put where packs are,
//! then the pack, and last the index, which makes the pack visible: `git gc --prune=now` drops a pack that nothing
//! leads to yet, but not one that has a `.keep`. The `.keep` is removed when the ref has moved. A killed process leaves
//! a directory or a `.keep` behind; the next process that packs, while no other does, removes both.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::objects::pack_builder::PackBuilder;
use crate::open::repo::Repo;
use crate::platform::test_seam::stop_point;
use crate::{error::GitError, objects::write_error};

/// Shared by all processes that pack; exclusive for one that clears up.
const LEASE: &str = "packing";
/// The prefix of our directories next to the packs; git looks into none.
const PREFIX: &str = ".andon-";
/// The content of our `.keep`.
const KEEP: &[u8] = b"andon\n";
/// The number of looks for the end of the clearing, and the pause between two of them.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);
/// The name of a pack in messages.
const WHAT: &str = "a pack";

/// The right to pack, until it is dropped.
pub(crate) struct Lease {
    file: File,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// A pack that is in the store, and safe from every gc until this is dropped.
pub(crate) struct StoredPack {
    keep: PathBuf,
    _lease: Lease,
}

impl Drop for StoredPack {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.keep);
    }
}

impl Repo {
    /// The right to pack; `None` where that cannot be had: then objects are written one by one.
    pub(crate) fn lease(&self) -> Option<Lease> {
        if self.objects_elsewhere {
            return None;
        }
        let path = self.common_dir().join("andon").join(LEASE);
        fs::create_dir_all(path.parent()?).ok()?;
        let open = || File::options().write(true).create(true).truncate(false).open(&path).ok();
        let alone = Lease { file: open()? };
        if alone.file.try_lock().is_ok() {
            self.clear_packing();
        }
        drop(alone);
        for _ in 0..LOOKS {
            let file = open()?;
            match file.try_lock_shared() {
                Ok(()) => return Some(Lease { file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }

    /// Has what `write` writes gathered, not put into the store.
    pub(crate) fn build_pack<T>(
        &self,
        write: impl FnOnce() -> Result<T, GitError>,
    ) -> Result<(T, PackBuilder), GitError> {
        let new = || PackBuilder::new().map_err(|error| write_error(WHAT, &error));
        self.pack_builder.replace(Some(new()?));
        let made = write();
        let builder = self.pack_builder.take();
        Ok((made?, builder.map_or_else(new, Ok)?))
    }

    /// Puts what was gathered into the store. `None` where it is not seen there.
    pub(crate) fn place(&self, builder: PackBuilder, lease: Lease) -> Result<Option<StoredPack>, GitError> {
        let packs = self.packs();
        let last = builder.last();
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| GitError::Io { path, source }
        };
        fs::create_dir_all(&packs).map_err(io(&packs))?;
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&packs).map_err(io(&packs))?;
        let name = builder.pack(dir.path()).map_err(|error| write_error(WHAT, &error))?;
        stop_point("pack:made");
        let [pack, index] = ["pack", "idx"].map(|kind| format!("{name}.{kind}"));
        let hardened = self.hardened();
        hardened.pack(&dir.path().join(&pack))?;
        hardened.pack(&dir.path().join(&index))?;
        let keep = packs.join(format!("{name}.keep"));
        fs::write(&keep, KEEP).map_err(io(&keep))?;
        let placed = StoredPack { keep, _lease: lease };
        stop_point("pack:kept");
        for file in [pack, index] {
            fs::rename(dir.path().join(&file), packs.join(&file)).map_err(io(&packs))?;
            stop_point("pack:moved");
        }
        hardened.pack(&packs)?;
        let odb = self.inner.odb().map_err(|error| write_error(WHAT, &error))?;
        Ok(last.is_some_and(|id| odb.exists(id)).then_some(placed))
    }

    /// Removes what killed processes left. No other process packs.
    fn clear_packing(&self) {
        let entries = fs::read_dir(self.packs()).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(PREFIX) {
                let _ = fs::remove_dir_all(&path);
                continue;
            }
            let plain =
                fs::symlink_metadata(&path).is_ok_and(|is| is.is_file() && is.len() == KEEP.len() as u64);
            if plain && name.ends_with(".keep") && fs::read(&path).is_ok_and(|is| is == KEEP) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn packs(&self) -> PathBuf {
        self.common_dir().join("objects").join("pack")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;
    use andon_core::domain::ids::Oid;

    fn there(scratch: &Scratch, ids: &[Oid]) -> bool {
        ids.iter().all(|id| scratch.try_git(&["cat-file", "-e", &id.to_string()]))
    }

    #[test]
    fn no_gc_takes_a_pack_before_it_is_let_go_of() {
        let scratch = Scratch::new();
        scratch.commit("a", "1", "one");
        scratch.git(&["config", "core.fsync", "all"]);
        let repo = scratch.open();
        let lease = repo.lease().unwrap();
        let texts: Vec<String> = (0..300).map(|number| format!("text {number}\n").repeat(9)).collect();
        let write =
            || texts.iter().map(|text| repo.write_blob(text.as_bytes())).collect::<Result<Vec<_>, _>>();
        let (ids, builder) = repo.build_pack(write).unwrap();
        assert!(!there(&scratch, &ids[..1]), "nothing is in the store yet");
        let placed = repo.place(builder, lease).unwrap().unwrap();
        scratch.git(&["gc", "-q", "--prune=now"]);
        assert!(there(&scratch, &ids));
        let sealed = scratch.git(&["cat-file", "blob", &ids[7].to_string()]);
        assert_eq!(sealed, texts[7].trim_end());
        // Another who packs takes nothing away from one that lives.
        drop(scratch.open().lease().unwrap());
        scratch.git(&["gc", "-q", "--prune=now"]);
        assert!(there(&scratch, &ids));
        drop(placed);
        scratch.git(&["gc", "-q", "--prune=now"]);
        assert!(!there(&scratch, &ids[..1]));
    }

    #[test]
    fn what_the_dead_left_is_taken_away_and_nothing_else() {
        let scratch = Scratch::new();
        let packs = scratch.path().join(".git/objects/pack");
        fs::create_dir_all(packs.join(".andon-dead")).unwrap();
        for (name, text) in
            [(".andon-dead/pack_x", "cut"), ("pack-1.keep", "andon\n"), ("pack-2.keep", "fetch\n")]
        {
            fs::write(packs.join(name), text).unwrap();
        }
        drop(scratch.open().lease().unwrap());
        let left: Vec<_> = fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["pack-2.keep"]);
    }

    #[test]
    fn what_fails_while_it_is_gathered_leaves_the_store_as_the_place_to_write_to() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let fails = || repo.write_blob(b"lost").and_then(|_| Err::<(), _>(repo.ref_message("x", "no")));
        assert!(repo.build_pack(fails).is_err());
        let id = repo.write_blob(b"kept").unwrap();
        assert!(there(&scratch, &[id]));
    }
}
