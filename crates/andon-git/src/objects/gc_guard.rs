//! Objects of ours and `git gc --prune=now`.
//!
//! gc lists what is reachable, then deletes every other loose object, however young: what is written in between and
//! made reachable a moment later is gone. So after a ref was moved while a gc runs, its end is waited for a moment,
//! and what it took is written again. A gc that takes longer finds the objects copied to `<common dir>/andon/unsettled`,
//! from where the next writer puts back what is missing.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::{path::PathBuf, time::Duration};

use crate::platform::{Life, processes};
use crate::{GitError, Repo, Result, objects::from_git2};
use andon_core::domain::Oid;

/// The longest wait for the end of a gc, in steps of [`STEP_MS`].
const STEPS: u32 = 100;
const STEP_MS: u64 = 10;
/// Most bytes that are read of what was left unsettled.
const MAX_UNSETTLED: u64 = 64 << 20;
/// `ID KIND SIZE` and a line end, at most.
const MAX_HEAD: usize = 100;

impl Repo {
    /// Remembers an object that was just written, until [`Self::guard_from_gc`].
    pub(crate) fn wrote(&self, id: Oid) {
        self.written.borrow_mut().push(id);
    }

    /// The gc that runs now, by what it wrote of itself.
    pub(crate) fn running_gc(&self) -> Option<String> {
        let text = fs::read_to_string(self.common_dir().join("gc.pid")).ok()?;
        let pid: i32 = text.split_whitespace().next()?.parse().ok()?;
        (processes::life(pid) != Life::Gone).then_some(text)
    }

    /// Sees to it that what was written since the last call is still there, now that a ref leads to it. `again` writes
    /// the same once more.
    pub(crate) fn guard_from_gc(&self, mut again: impl FnMut() -> Result<()>) -> Result<()> {
        let written = self.written.take();
        if written.is_empty() {
            return Ok(());
        }
        let gc = self.running_gc();
        for _ in 0..STEPS {
            if gc.is_none() || self.running_gc() != gc {
                break;
            }
            std::thread::sleep(Duration::from_millis(STEP_MS));
        }
        if !written.iter().all(|id| self.is_loose(*id)) {
            again()?;
            self.written.take();
        }
        if gc.is_some() && self.running_gc() == gc {
            // Best effort: a later hook restores what is missing.
            let _ = self.leave_unsettled(&written);
        }
        Ok(())
    }

    /// Puts back what a gc took after its writer was gone.
    pub(crate) fn settle_objects(&self) {
        let path = self.unsettled();
        if !path.exists() {
            return;
        }
        let mut bytes = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(MAX_UNSETTLED).read_to_end(&mut bytes));
        let Ok(odb) = self.inner.odb() else { return };
        let mut rest = bytes.as_slice();
        while let Some((id, kind, raw, after)) = next_object(rest) {
            if !self.is_loose(id)
                && git2::Oid::hash_object(kind, raw).is_ok_and(|found| from_git2(found) == id)
            {
                let _ = odb.write(kind, raw);
            }
            rest = after;
        }
        if read.is_ok() && self.running_gc().is_none() {
            let _ = fs::remove_file(&path);
        }
    }

    fn unsettled(&self) -> PathBuf {
        self.common_dir().join("andon").join("unsettled")
    }

    fn leave_unsettled(&self, written: &[Oid]) -> Result<()> {
        let odb = self.inner.odb().map_err(|error| self.ref_error("objects", &error))?;
        let mut bytes = Vec::new();
        for id in written {
            let object = odb
                .read(self.vetted("object", *id)?)
                .map_err(|error| self.object_error("object", *id, &error))?;
            bytes.extend_from_slice(format!("{id} {} {}\n", object.kind(), object.len()).as_bytes());
            bytes.extend_from_slice(object.data());
            bytes.push(b'\n');
        }
        let path = self.unsettled();
        let append = || OpenOptions::new().append(true).create(true).open(&path)?.write_all(&bytes);
        append().map_err(|source| GitError::Io { path: path.clone(), source })
    }

    /// True if the object is a file of its own. One that was packed meanwhile is not, and does no harm.
    fn is_loose(&self, id: Oid) -> bool {
        self.loose_path(id).exists()
    }

    /// The path of an object as a file of its own.
    pub(crate) fn loose_path(&self, id: Oid) -> PathBuf {
        let digits = id.to_string();
        let (dir, file) = digits.split_at(2);
        self.common_dir().join("objects").join(dir).join(file)
    }
}

/// The first object of what was left, and the rest; `None` at the end and where it is cut off.
fn next_object(bytes: &[u8]) -> Option<(Oid, git2::ObjectType, &[u8], &[u8])> {
    let end = bytes.iter().take(MAX_HEAD).position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut words = head.split(' ');
    let id = words.next()?.parse().ok()?;
    let kind = git2::ObjectType::from_str(words.next()?)?;
    let size: usize = words.next()?.parse().ok()?;
    let (raw, rest) = bytes[end + 1..].split_at_checked(size)?;
    Some((id, kind, raw, rest.strip_prefix(b"\n")?))
}

#[cfg(test)]
mod tests {
    use crate::testkit::Scratch;

    #[test]
    fn what_a_gc_took_is_written_again() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = repo.write_blob(b"mine").unwrap();
        scratch.git(&["prune", "--expire=now"]);
        assert!(!repo.is_loose(id));
        repo.guard_from_gc(|| repo.write_blob(b"mine").map(|_| ())).unwrap();
        assert!(repo.is_loose(id));
        // Nothing written, nothing done.
        repo.guard_from_gc(|| unreachable!()).unwrap();
    }

    // Something that lives as long as it should seem to.
    #[allow(clippy::disallowed_methods)]
    fn sleeper() -> std::process::Child {
        std::process::Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn a_long_gc_leaves_it_to_the_next_writer() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        std::fs::create_dir_all(repo.common_dir().join("andon")).unwrap();
        let mut gc = sleeper();
        std::fs::write(repo.common_dir().join("gc.pid"), format!("{} host", gc.id())).unwrap();
        let ids = [repo.write_blob(b"one").unwrap(), repo.write_blob(b"two\n").unwrap()];
        repo.guard_from_gc(|| unreachable!()).unwrap();
        gc.kill().unwrap();
        gc.wait().unwrap();
        assert!(repo.running_gc().is_none());
        scratch.git(&["prune", "--expire=now"]);
        assert!(!repo.is_loose(ids[0]));
        // Cut off and damaged leftovers do no harm.
        repo.settle_objects();
        assert!(ids.iter().all(|id| repo.is_loose(*id)));
        assert!(!repo.unsettled().exists());
        std::fs::write(repo.unsettled(), format!("{} blob 3\nbad\n{} blob 99\ncut", ids[0], ids[1])).unwrap();
        repo.settle_objects();
    }
}
