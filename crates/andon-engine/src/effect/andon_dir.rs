//! `.andon/` of a working tree, opened by its handle.
//!
//! The working tree may come from a stranger. A link in place of `.andon`, or in it, would redirect an answer, a report
//! or a stop switch to another repository: so the directory is opened without following links, and its files are
//! reached from its handle alone.

use std::io::{self, Read as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use cap_tempfile::TempFile;

use andon_git::{if_there, is_litter, platform::files::is_ours};

/// Its name, under the top of the working tree.
pub const ANDON_DIR: &str = ".andon";

/// Its own list of ignored files, and what is in it.
const GITIGNORE: &str = ".gitignore";
const IGNORES_ALL: &[u8] = b"*\n";

/// The presence of a file in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePresence {
    /// There is something of that name.
    There,
    /// There is certainly nothing.
    Gone,
    /// Unknown: the directory, or what is in its place, cannot be read.
    Unknown,
}

/// The directory, whether or not it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AndonDir {
    top: PathBuf,
}

impl AndonDir {
    /// The directory of the working tree whose top is `top`.
    pub fn below(top: &Path) -> Self {
        Self { top: top.to_owned() }
    }

    /// Its path, for messages.
    pub fn path(&self) -> PathBuf {
        self.top.join(ANDON_DIR)
    }

    /// The top of the working tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// An error when something else is in its place; none when nothing is.
    ///
    /// # Errors
    /// A symbolic link, a file, a directory of another user, or what the system says.
    pub fn check(&self) -> io::Result<()> {
        if_there(self.open()).map(drop)
    }

    /// Looks for `name`; a link of that name counts as there.
    pub fn look(&self, name: &str) -> FilePresence {
        match if_there(self.open().and_then(|dir| dir.symlink_metadata(name))) {
            Ok(Some(_)) => FilePresence::There,
            Ok(None) => FilePresence::Gone,
            Err(_) => FilePresence::Unknown,
        }
    }

    /// The size of the plain file `name`, in bytes.
    pub fn size(&self, name: &str) -> Option<u64> {
        let found = self.open().ok()?.symlink_metadata(name).ok()?;
        found.is_file().then(|| found.len())
    }

    /// The newest bytes of the plain file `name`, at most `most`, from the beginning of a line on.
    pub fn newest(&self, name: &str, most: u64) -> Option<String> {
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let mut file = self.open().ok()?.open_with(name, &options).ok()?;
        let found = file.metadata().ok()?;
        if !found.is_file() {
            return None;
        }
        newest_of(&mut file, found.len(), most)
    }

    /// Writes `name`, whole or not at all, with the directory and its own `.gitignore` where they are missing. `name` may
    /// lie in one directory below.
    ///
    /// # Errors
    /// The error of the system, or what is in its place.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let dir = self.prepared()?;
        match name.split_once('/') {
            None => put(&dir, name, bytes)?,
            Some((below, name)) => {
                made(dir.create_dir(below))?;
                put(&dir.open_dir_nofollow(below)?, name, bytes)?;
            }
        }
        Ok(self.path().join(name))
    }

    /// Makes it, so that a person can put STOP into it at once.
    ///
    /// # Errors
    /// The error of the system, or what is in its place.
    pub fn prepare(&self) -> io::Result<()> {
        self.prepared().map(drop)
    }

    /// The file that [`Self::prepare`] would write; none if it exists already.
    pub fn unprepared(&self) -> Option<(PathBuf, &'static [u8])> {
        (self.look(GITIGNORE) != FilePresence::There).then(|| (self.path().join(GITIGNORE), IGNORES_ALL))
    }

    /// Removes it where nothing but its own `.gitignore` is in it.
    ///
    /// # Errors
    /// The error of the system, or what is in its place.
    pub fn remove_unused(&self) -> io::Result<()> {
        let Some(dir) = if_there(self.open())? else { return Ok(()) };
        for entry in dir.entries()? {
            if entry?.file_name() != GITIGNORE {
                return Ok(());
            }
        }
        if self.newest(GITIGNORE, 16).is_some_and(|text| text.as_bytes() == IGNORES_ALL) {
            dir.remove_file(GITIGNORE)?;
            Dir::open_ambient_dir(&self.top, ambient_authority())?.remove_dir(ANDON_DIR)?;
        }
        Ok(())
    }

    fn prepared(&self) -> io::Result<Dir> {
        let dir = self.make()?;
        if dir.symlink_metadata(GITIGNORE).is_err() {
            put(&dir, GITIGNORE, IGNORES_ALL)?;
        }
        Ok(dir)
    }

    /// Removes `name`, an empty directory of that name too; one that is not there is fine.
    ///
    /// # Errors
    /// The error of the system, or what is in its place.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let no_file = |dir: &Dir, error| dir.remove_dir(name).map_err(|_| error);
        let removed = |dir: Dir| dir.remove_file(name).or_else(|error| no_file(&dir, error));
        if_there(self.open().and_then(removed)).map(drop)
    }

    fn open(&self) -> io::Result<Dir> {
        let top = Dir::open_ambient_dir(&self.top, ambient_authority())?;
        let dir = top.open_dir_nofollow(ANDON_DIR).map_err(|error| in_its_place(&top, error))?;
        if is_ours(&dir.dir_metadata()?, &top.dir_metadata()?) {
            Ok(dir)
        } else {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
        }
    }

    fn make(&self) -> io::Result<Dir> {
        if let Some(dir) = if_there(self.open())? {
            return Ok(dir);
        }
        made(Dir::open_ambient_dir(&self.top, ambient_authority())?.create_dir(ANDON_DIR))?;
        self.open()
    }
}

/// The newest bytes of a file of `size` bytes, at most `most`, from the beginning of a line on.
pub(super) fn newest_of(file: &mut (impl io::Read + io::Seek), size: u64, most: u64) -> Option<String> {
    let from = size.saturating_sub(most);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match (from, text.split_once('\n')) {
        (0, _) | (_, None) => Some(text),
        (_, Some((_, whole))) => Some(whole.to_owned()),
    }
}

/// The error, with what is there where it is no directory.
fn in_its_place(top: &Dir, error: io::Error) -> io::Error {
    match top.symlink_metadata(ANDON_DIR) {
        Ok(found) if found.is_symlink() => io::Error::new(
            io::ErrorKind::NotADirectory,
            "it is a symbolic link, and no link is followed here",
        ),
        Ok(found) if !found.is_dir() => io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory"),
        Ok(_) | Err(_) => error,
    }
}

/// Something that exists already counts as made.
fn made(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn put(dir: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    sweep(dir);
    let mut file = TempFile::new(dir)?;
    file.write_all(bytes)?;
    file.replace(name)
}

/// Removes what a writer that was killed left half-written.
fn sweep(dir: &Dir) {
    for entry in dir.entries().into_iter().flatten().flatten() {
        let modified = || entry.metadata().ok()?.modified().ok().map(cap_std::time::SystemTime::into_std);
        if is_litter(&entry.file_name(), modified) {
            let _another_was_first = dir.remove_file(entry.file_name());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn fresh() -> (tempfile::TempDir, AndonDir) {
        let top = tempfile::tempdir().unwrap();
        let dir = AndonDir::below(top.path());
        (top, dir)
    }

    #[test]
    fn files_are_written_read_and_removed() {
        let (top, dir) = fresh();
        assert_eq!(dir.look("STOP"), FilePresence::Gone);
        dir.check().unwrap();
        dir.remove("STOP").unwrap();
        assert!(!top.path().join(".andon").exists());
        assert_eq!(dir.replace("STOP", b"one\n").unwrap(), top.path().join(".andon/STOP"));
        dir.replace("STOP", b"one\ntwo\n").unwrap();
        dir.replace("handoffs/a.json", b"{}").unwrap();
        assert_eq!(dir.look("STOP"), FilePresence::There);
        assert_eq!(dir.newest("STOP", 99).as_deref(), Some("one\ntwo\n"));
        assert_eq!(dir.newest("STOP", 5).as_deref(), Some("two\n"));
        assert_eq!((dir.size("STOP"), dir.size("handoffs")), (Some(8), None));
        assert_eq!(fs::read_to_string(top.path().join(".andon/.gitignore")).unwrap(), "*\n");
        assert_eq!(fs::read_to_string(top.path().join(".andon/handoffs/a.json")).unwrap(), "{}");
        dir.remove("STOP").unwrap();
        assert_eq!(dir.look("STOP"), FilePresence::Gone);
        let made = top.path().join(".andon/STOP");
        fs::create_dir_all(made.join("kept")).unwrap();
        assert!(dir.remove("STOP").is_err(), "what is in it would be lost");
        fs::remove_dir(made.join("kept")).unwrap();
        dir.remove("STOP").unwrap();
        assert_eq!(dir.look("STOP"), FilePresence::Gone);
    }

    #[test]
    fn no_link_is_followed_and_nothing_else_is_taken_for_it() {
        let (other, theirs) = fresh();
        theirs.replace("STOP", b"theirs").unwrap();
        let (top, dir) = fresh();
        let place = top.path().join(".andon");
        symlink(other.path().join(".andon"), &place).unwrap();
        for _ in 0..2 {
            assert_eq!(dir.look("STOP"), FilePresence::Unknown);
            assert_eq!(dir.newest("STOP", 99), None);
            assert!(dir.remove("STOP").is_err() && dir.replace("STOP", b"ours").is_err());
            assert!(dir.check().is_err());
            fs::remove_file(&place).unwrap();
            fs::write(&place, "a file").unwrap();
        }
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        symlink(other.path().join(".andon/STOP"), place.join("STOP")).unwrap();
        symlink(other.path().join(".andon"), place.join("handoffs")).unwrap();
        assert_eq!((dir.look("STOP"), dir.newest("STOP", 99)), (FilePresence::There, None));
        assert!(dir.replace("handoffs/STOP", b"ours").is_err());
        dir.replace("STOP", b"ours").unwrap();
        assert_eq!(theirs.newest("STOP", 99).as_deref(), Some("theirs"));
    }

    #[test]
    fn what_a_killed_writer_left_goes_with_the_next_write() {
        let (top, dir) = fresh();
        dir.replace("STOP", b"one").unwrap();
        let gone = top.path().join(".andon").join(format!(".tmp-{}-abc", i32::MAX));
        let alive = top.path().join(".andon").join(format!(".tmp-{}-abc", std::process::id()));
        fs::write(&gone, "half").unwrap();
        fs::write(&alive, "half").unwrap();
        dir.replace("STOP", b"two").unwrap();
        assert!(!gone.exists() && alive.exists());
    }
}
