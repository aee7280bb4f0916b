//! The input of a guess: the names at the top of a repository and one level below, and the beginnings of a few
//! files.

use std::collections::BTreeMap;

use super::WORDS;
use andon_core::WordList;

/// Files whose content matters. The caller reads at most [`READ_BYTES`] of each.
pub const READ: WordList = WordList::section(WORDS, "read");

/// Bytes of a file that are read.
pub const READ_BYTES: u64 = 256 * 1024;

/// Modules of tests in Python that are read although [`READ`] does not name them.
pub const MAX_MODULES: usize = 16;

/// Directories below the top whose names are listed in full.
pub const LISTED: [&str; 6] = ["tests", "test", "spec", ".config", "build", "t"];

/// In any other directory at the top, only these names are looked for.
pub const MANIFESTS: WordList = WordList::section(WORDS, "manifests");

/// Programs of an environment that lies in the project, below directories that are not listed.
pub const PROGRAMS: [&str; 4] =
    [".venv/bin/pytest", ".venv/Scripts/pytest.exe", "venv/bin/pytest", "venv/Scripts/pytest.exe"];

/// Directories at the top that hold nothing of the project's own.
pub const FOREIGN: [&str; 6] = ["node_modules", "vendor", "target", "dist", "third_party", "venv"];

/// Most names that are listed, and most directories at the top that are looked into.
pub const MAX_NAMES: usize = 4_000;

/// Tests in the sources of a language whose runner needs no configuration.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Tests {
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

    /// True when the file is there.
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

/// The kind of a source file by its name, for the languages whose runner finds tests by itself: `cargo test`
/// and `go test` pass where there is nothing to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The name alone says that it is a test.
    Test,
    /// Its text says whether it holds one.
    Rust,
    /// None of these languages, or one whose tests are recognised by their names.
    Other,
}

/// The kind of the file at `path`, from the top of the project.
pub fn kind(path: &str) -> Kind {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_tests = dir.split('/').next_back() == Some("tests");
    match name.rsplit_once('.') {
        Some((stem, "go")) if stem.ends_with("_test") => Kind::Test,
        Some((_, "rs")) if in_tests => Kind::Test,
        Some((_, "rs")) => Kind::Rust,
        Some(_) | None => Kind::Other,
    }
}

/// Macros that make tests without an attribute.
const MACROS: [&str; 3] = ["proptest!", "quickcheck!", "test_suite!"];

/// True for a Rust file with a test: an attribute that names one (`#[test]`, `#[tokio::test]`, `#[cfg(test)]`), a macro
/// that makes some, or an example in its documentation.
pub fn holds_test(rust: &str) -> bool {
    rust.lines().map(str::trim_start).any(|line| {
        let attribute = line.starts_with("#[") && line.contains("test");
        let example = (line.starts_with("///") || line.starts_with("//!")) && line.contains("```");
        attribute || example || MACROS.iter().any(|name| line.starts_with(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_tell_tests() {
        for (path, is) in [
            ("a_test.go", Kind::Test),
            ("x/y/a_test.go", Kind::Test),
            ("test.go", Kind::Other),
            ("tests/all.rs", Kind::Test),
            ("crates/a/tests/all.rs", Kind::Test),
            ("src/main.rs", Kind::Rust),
            ("README", Kind::Other),
        ] {
            assert_eq!(kind(path), is, "{path}");
        }
        for (text, holds) in [
            ("fn main() {}", false),
            ("fn test() {}", false),
            ("    #[test]\n    fn it() {}", true),
            ("#[tokio::test]\nasync fn it() {}", true),
            ("#[cfg(test)]\nmod tests;", true),
            ("/// ```\n/// let a = 1;\n/// ```\nfn a() {}", true),
            ("proptest! { }", true),
        ] {
            assert_eq!(holds_test(text), holds, "{text}");
        }
    }
}
