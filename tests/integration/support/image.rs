//! Directories kept in memory: what takes a dozen processes to build is built once and written out for each test.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, io::Write as _};

use super::Stage;

/// A directory with all that is in it.
pub(crate) struct Image {
    /// Where it was.
    from: String,
    /// Below it, a directory before what is in it.
    entries: Vec<(PathBuf, Entry)>,
}

enum Entry {
    Directory,
    Link(PathBuf),
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// A file that tells where it is.
    Placed {
        text: String,
        mode: u32,
    },
}

impl Image {
    /// What is in `dir`.
    pub(crate) fn of(dir: &Path) -> Self {
        let from = dir.canonicalize().unwrap();
        let mut image = Self { from: from.to_str().unwrap().to_owned(), entries: Vec::new() };
        image.add(&from);
        image
    }

    fn add(&mut self, dir: &Path) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(&self.from).unwrap().to_owned();
            // Written out, it is no copy of a clone but the clone itself, which has one id.
            if below.ends_with("andon/writer-homes") {
                continue;
            }
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                self.entries.push((below, Entry::Directory));
                self.add(&path);
            } else if metadata.is_symlink() {
                self.entries.push((below, Entry::Link(path.read_link().unwrap())));
            } else {
                let (bytes, mode) = (fs::read(&path).unwrap(), metadata.permissions().mode());
                let entry = match String::from_utf8(bytes) {
                    Ok(text) if text.contains(&self.from) => Entry::Placed { text, mode },
                    Ok(text) => Entry::File { bytes: text.into_bytes(), mode },
                    Err(err) => Entry::File { bytes: err.into_bytes(), mode },
                };
                self.entries.push((below, entry));
            }
        }
    }

    /// Writes all of it into `to`, which is made where it is not there.
    pub(crate) fn write(&self, to: &Path) {
        fs::create_dir_all(to).unwrap();
        let to = to.canonicalize().unwrap();
        for (below, entry) in &self.entries {
            let path = to.join(below);
            match entry {
                Entry::Directory => fs::create_dir(&path).unwrap(),
                Entry::Link(target) => symlink(target, &path).unwrap(),
                Entry::File { bytes, mode } => file(&path, bytes, *mode),
                Entry::Placed { text, mode } => {
                    file(&path, text.replace(&self.from, to.to_str().unwrap()).as_bytes(), *mode);
                }
            }
        }
    }
}

fn file(path: &Path, bytes: &[u8], mode: u32) {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode & 0o777).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// A stage that was built once: its directory, its clock and its variables.
pub(crate) struct Built {
    image: Image,
    clock: i64,
    set_by: i64,
    env: BTreeMap<String, Option<String>>,
}

impl Built {
    /// Keeps what `stage` is now.
    pub(crate) fn of(stage: &Stage) -> Self {
        Self {
            image: Image::of(stage.root()),
            clock: *stage.clock.borrow(),
            set_by: *stage.set_by.borrow(),
            env: stage.env.borrow().clone(),
        }
    }

    /// A stage of its own that is as this one was.
    pub(crate) fn stage(&self) -> Stage {
        let stage = Stage::empty();
        self.image.write(stage.root());
        let root = stage.root().canonicalize().unwrap();
        let moved = |value: &String| value.replace(&self.image.from, root.to_str().unwrap());
        let env = self.env.iter().map(|(name, value)| (name.clone(), value.as_ref().map(moved)));
        *stage.env.borrow_mut() = env.collect();
        (*stage.clock.borrow_mut(), *stage.set_by.borrow_mut()) = (self.clock, self.set_by);
        stage
    }
}

/// The stage that a block builds: built once, and written out for each that asks for it.
macro_rules! built {
    ($build:expr) => {{
        static BUILT: std::sync::LazyLock<$crate::support::image::Built> =
            std::sync::LazyLock::new(|| $crate::support::image::Built::of(&$build));
        BUILT.stage()
    }};
}
pub(crate) use built;
