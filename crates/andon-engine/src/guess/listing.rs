//! What a guess may look at: the names at the top of a repository and one level below, and the beginnings of a few
//! files.

use andon_core::{WordList, words};
use std::collections::BTreeMap;

/// Files whose content matters. The caller reads at most [`READ_BYTES`] of each.
pub const READ: WordList = words![
    "Cargo.toml",
    "package.json",
    ".yarnrc.yml",
    "yarn.lock",
    "pnpm-workspace.yaml",
    "deno.json",
    "deno.jsonc",
    "pyproject.toml",
    "hatch.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "noxfile.py",
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "test-requirements.txt",
    "Pipfile",
    "go.work",
    "build.gradle",
    "build.gradle.kts",
    "app/build.gradle",
    "app/build.gradle.kts",
    "Gemfile",
    "Rakefile",
    "composer.json",
    "pubspec.yaml",
    "CMakeLists.txt",
    "GNUmakefile",
    "makefile",
    "Makefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "tests/__init__.py",
    "tests/conftest.py",
    "test/__init__.py",
    "test/conftest.py",
    "tests/CMakeLists.txt",
    "test/CMakeLists.txt",
];

/// How much of a file is read.
pub const READ_BYTES: u64 = 256 * 1024;

/// How many modules of tests in Python are read, whose names are not in [`READ`].
pub const MAX_MODULES: usize = 16;

/// Directories below the top whose names are listed in full.
pub const LISTED: [&str; 6] = ["tests", "test", "spec", ".config", "build", "t"];

/// In any other directory at the top, only these names are looked for.
pub const MANIFESTS: [&str; 10] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "mix.exs",
];

/// Programs of an environment that lies in the project, below directories that are not listed.
pub const PROGRAMS: [&str; 4] =
    [".venv/bin/pytest", ".venv/Scripts/pytest.exe", "venv/bin/pytest", "venv/Scripts/pytest.exe"];

/// Directories at the top that hold nothing of the project's own.
pub const FOREIGN: [&str; 6] = ["node_modules", "vendor", "target", "dist", "third_party", "venv"];

/// Most names that are listed, and most directories at the top that are looked into.
pub const MAX_NAMES: usize = 4_000;

/// Whether sources of a language whose runner needs no configuration hold tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Tests {
    /// A test was seen.
    Present,
    /// All sources were looked at, and none holds a test.
    Absent,
    /// There are more sources than are read, or none were read.
    #[default]
    Unknown,
}

/// The beginning of a repository.
#[derive(Debug, Default)]
pub struct Listing {
    /// Content by path from the top; empty where it was not read.
    files: BTreeMap<String, String>,
    /// Tests in the sources of Rust and Go: no manifest says whether there are any.
    pub tests: Tests,
}

impl Listing {
    /// A file, by its path from the top.
    pub fn add_file(&mut self, path: &str, content: &[u8]) {
        let text = String::from_utf8_lossy(content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content));
        if self.files.len() < MAX_NAMES {
            self.files.insert(path.to_owned(), text.into_owned());
        }
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The content of a file that is there and read.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// The first of these that is there.
    pub fn first<'n>(&self, paths: &[&'n str]) -> Option<&'n str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    /// All files, by their path from the top.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The files at the top.
    pub fn top(&self) -> impl Iterator<Item = &str> {
        self.paths().filter(|path| !path.contains('/'))
    }

    /// The files of a directory at the top, as far as they are listed, without its name.
    pub fn inside(&self, dir: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{dir}/");
        self.files.keys().filter_map(move |path| path.strip_prefix(prefix.as_str()))
    }

    /// Directories at the top that hold a file of that name.
    pub fn below(&self, name: &str) -> Vec<&str> {
        let inside =
            |path: &'_ str| path.rsplit_once('/').filter(|(_, file)| *file == name).map(|(dir, _)| dir.len());
        self.files.keys().filter_map(|path| inside(path).and_then(|end| path.get(..end))).collect()
    }
}
