//! The ignored files of the working tree that a separate checkout needs: installed dependencies and settings of this
//! machine. Build output is left out: it was made from other code, and the tests would write into it.

use std::fs;
use std::path::{Path, PathBuf};

use andon_core::WordList;
use andon_git::platform::files;

/// Directories and files that are copied along, wherever they are next to code.
const NAMES: WordList = WordList(include_str!("dependencies.txt"));
/// Those that are environments of Python.
const PYTHON: [&str; 2] = [".venv", "venv"];
/// Most directories that are looked at, and the deepest.
const MAX_DIRECTORIES: usize = 4096;
const MAX_DEPTH: usize = 6;

/// The dependencies that were copied or linked.
#[derive(Debug, Default)]
pub struct CopiedDependencies {
    /// Paths from the top.
    pub paths: Vec<PathBuf>,
    /// An environment of Python is among them: packages installed in it may point to the working tree.
    pub python: bool,
}

/// Makes the dependencies of the working tree at `from` known in the checkout at `to`. Files of the checkout stay. A
/// directory is created, and its contents are linked: a relative link in it, such as one of a package of this very
/// project, then leads to the checkout.
pub fn take_along(from: &Path, to: &Path) -> CopiedDependencies {
    let mut taken = CopiedDependencies::default();
    let mut waiting = vec![(PathBuf::new(), 0_usize)];
    let mut looked_at = 0;
    while let Some((below, depth)) = waiting.pop() {
        looked_at += 1;
        if looked_at > MAX_DIRECTORIES {
            break;
        }
        let below_it = fs::read_dir(to.join(&below)).into_iter().flatten().filter_map(Result::ok);
        for entry in below_it.filter(|_| depth < MAX_DEPTH) {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && entry.file_name() != ".git" {
                waiting.push((below.join(entry.file_name()), depth + 1));
            }
        }
        for name in NAMES.iter() {
            let path = below.join(name);
            let (there, here) = (from.join(&path), to.join(&path));
            if there.exists() && here.symlink_metadata().is_err() && link(&there, &here, 1).is_ok() {
                taken.python |= PYTHON.contains(&name);
                taken.paths.push(path);
            }
        }
    }
    taken.paths.sort();
    taken
}

/// Links what is at `from`; of a directory, and of those in it whose name begins with `@`, the entries.
fn link(from: &Path, to: &Path, levels: usize) -> std::io::Result<()> {
    let facts = from.symlink_metadata()?;
    if facts.is_symlink() {
        let target = fs::read_link(from)?;
        return files::link(if target.is_relative() { &target } else { from }, to);
    }
    if facts.is_dir() && levels > 0 {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            let scope = name.to_string_lossy().starts_with('@');
            link(&from.join(&name), &to.join(&name), if scope { levels } else { levels - 1 })?;
        }
        return Ok(());
    }
    if facts.is_file() && levels > 0 {
        // A file of settings may be written by the tests.
        return fs::copy(from, to).map(drop);
    }
    files::link(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_linked_and_packages_of_the_project_are_its_own() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = (from.path(), to.path());
        for file in ["node_modules/x/i.js", "node_modules/@s/y/i.js", "packages/b/i.js", "target/o", ".env"] {
            fs::create_dir_all(from.join(file).parent().unwrap()).unwrap();
            fs::write(from.join(file), "here").unwrap();
        }
        files::link(Path::new("../../packages/b"), &from.join("node_modules/@s/b")).unwrap();
        fs::create_dir_all(to.join("packages/b")).unwrap();
        fs::write(to.join("packages/b/i.js"), "there").unwrap();
        let taken = take_along(from, to);
        assert_eq!(taken.paths, [Path::new(".env"), Path::new("node_modules")]);
        let read = |path: &str| fs::read_to_string(to.join(path)).unwrap();
        assert_eq!([read("node_modules/x/i.js"), read("node_modules/@s/y/i.js")], ["here", "here"]);
        assert_eq!(read("node_modules/@s/b/i.js"), "there");
        fs::write(to.join(".env"), "changed").unwrap();
        assert_eq!(fs::read_to_string(from.join(".env")).unwrap(), "here");
        assert!(!to.join("target").exists() && !taken.python);
    }
}
