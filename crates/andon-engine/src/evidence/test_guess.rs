//! The test command of the project in a working tree, as far as that can be guessed from its files: for the first
//! `andon.toml`, and for the message where no test command is configured.
//!
//! Bounded: names at the top and of a few directories, and the beginnings of a few files; where Cargo.toml or go.mod is at
//! the top, sources until one holds a test.

use andon_core::domain::Hint;
use std::{fs, path::Path};

use crate::effect::files;
use crate::guess::listing::{
    self, FOREIGN, Kind, LISTED, Listing, MANIFESTS, MAX_MODULES, MAX_NAMES, PROGRAMS, READ, READ_BYTES,
    Tests,
};
use crate::guess::members::{self, Manifests, ProposedScope};
use crate::guess::{self, Guess, is_test_module};

/// Directories at the top that are looked into.
const MAX_DIRS: usize = 200;
/// Names of one directory below the top that are listed.
const MAX_INSIDE: usize = 500;

/// Guesses from the files below `top`.
pub fn in_directory(top: &Path) -> Guess {
    let mut listing = listing(top);
    if listing.first(&["Cargo.toml", "go.mod", "go.work"]).is_some() {
        listing.tests = tests_below(top);
    }
    guess::guess(&listing)
}

/// Names and sources that are looked at for a test.
const MAX_LOOKED_AT: usize = 4_000;
const MAX_SOURCES: usize = 300;

/// Looks for a test in the sources below `top`. Links are not followed.
fn tests_below(top: &Path) -> Tests {
    let (mut open, mut seen, mut read) = (vec![String::new()], 0, 0);
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(top.join(&dir)) else { return Tests::Unknown };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_LOOKED_AT || read > MAX_SOURCES {
                return Tests::Unknown;
            }
            let path = match below(&dir, &entry) {
                Some(Below::Folder(path)) => {
                    open.push(path);
                    continue;
                }
                Some(Below::File(path)) => path,
                None => continue,
            };
            let found = match listing::kind(&path) {
                Kind::Test => true,
                Kind::Rust => {
                    read += 1;
                    listing::holds_test(&beginning(&entry.path()))
                }
                Kind::Other => false,
            };
            if found {
                return Tests::Present;
            }
        }
    }
    Tests::Absent
}

/// Directories that are looked into for the members of a workspace, and how deep they may lie.
const MAX_WALKED: usize = 4_000;
const MAX_DEPTH: usize = 6;
/// Manifests that are read.
const MAX_MANIFESTS: usize = 1_000;

/// The scopes that the manifests of a workspace at `top` give; none where it is no workspace.
pub fn scopes(top: &Path) -> Vec<ProposedScope> {
    let mut manifests = Manifests::new();
    let mut open = vec![(String::new(), 0)];
    let mut walked = 0;
    while let Some((dir, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(top.join(&dir)) else { continue };
        walked += 1;
        for entry in entries.flatten().take(MAX_NAMES) {
            match below(&dir, &entry) {
                Some(Below::File(path)) if manifests.len() < MAX_MANIFESTS && is_manifest(&path) => {
                    manifests.insert(path, beginning(&entry.path()));
                }
                Some(Below::Folder(path)) if depth < MAX_DEPTH && walked + open.len() < MAX_WALKED => {
                    open.push((path, depth + 1));
                }
                Some(_) | None => {}
            }
        }
    }
    members::scopes(&manifests)
}

fn is_manifest(path: &str) -> bool {
    let (is_top, name) = path.rsplit_once('/').map_or((true, path), |(_, name)| (false, name));
    members::NAMES.contains(name) || is_top && members::TOP_NAMES.contains(name)
}

/// An entry that a walk meets, by its path from the top.
enum Below {
    File(String),
    Folder(String),
}

/// An entry of `dir`. Links are not followed, since they may lead anywhere, and folders of other people's code are left out.
fn below(dir: &str, entry: &fs::DirEntry) -> Option<Below> {
    let (name, kind) = (entry.file_name().into_string().ok()?, entry.file_type().ok()?);
    let foreign = || name.starts_with('.') || FOREIGN.contains(&name.as_str());
    let is_folder = kind.is_dir() && !foreign() && !entry.path().join(".git").exists();
    let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
    match (kind.is_file(), is_folder) {
        (true, _) => Some(Below::File(path)),
        (false, true) => Some(Below::Folder(path)),
        (false, false) => None,
    }
}

/// The beginning of a file, as text.
fn beginning(path: &Path) -> String {
    String::from_utf8_lossy(&files::beginning(path, READ_BYTES).unwrap_or_default()).into_owned()
}

/// The advice to a person without a test command, in one line.
pub fn advice(top: &Path) -> String {
    let guess = in_directory(top);
    match &guess {
        Guess::Sure(candidate) => {
            let command = toml::Value::from(candidate.command.as_str()).to_string();
            Hint::UseTestCommand.with([&command, &candidate.because])
        }
        Guess::Unsure { .. } | Guess::Compiles(_) => {
            let doubt = guess.doubt().unwrap_or_default();
            format!("name the test command in andon.toml ([test] command); {doubt}")
        }
        Guess::None => {
            "name the test command in andon.toml, such as:  [test]  command = \"make test\"".to_owned()
        }
    }
}

fn listing(top: &Path) -> Listing {
    let mut listing = Listing::default();
    let mut dirs = 0;
    for program in PROGRAMS {
        add_file(top, program, &mut listing);
    }
    let Ok(entries) = fs::read_dir(top) else { return listing };
    for entry in entries.flatten().take(MAX_NAMES) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(facts) = fs::metadata(entry.path()) else { continue };
        if facts.is_file() {
            add_file(top, &name, &mut listing);
        } else if facts.is_dir() && dirs < MAX_DIRS {
            dirs += 1;
            add_folder(top, &name, &mut listing);
        }
    }
    listing
}

fn add_folder(top: &Path, dir: &str, listing: &mut Listing) {
    let path = top.join(dir);
    if LISTED.contains(&dir) {
        let Ok(entries) = fs::read_dir(&path) else { return };
        for entry in entries.flatten().take(MAX_INSIDE) {
            if let Ok(name) = entry.file_name().into_string() {
                add_file(top, &format!("{dir}/{name}"), listing);
            }
        }
        return;
    }
    // A repository of its own, such as a submodule, has tests of its own.
    if dir.starts_with('.') || FOREIGN.contains(&dir) || path.join(".git").exists() {
        return;
    }
    for name in MANIFESTS.iter() {
        add_file(top, &format!("{dir}/{name}"), listing);
    }
}

/// Adds a regular file; an unreadable or too long one counts by its name alone.
fn add_file(top: &Path, path: &str, listing: &mut Listing) {
    let full = top.join(path);
    if !fs::metadata(&full).is_ok_and(|facts| facts.is_file()) {
        return;
    }
    let modules = || listing.paths().filter(|path| is_test_module(path)).count();
    let is_read = READ.contains(path) || (is_test_module(path) && modules() < MAX_MODULES);
    let content = if is_read { files::beginning(&full, READ_BYTES).unwrap_or_default() } else { Vec::new() };
    listing.add_file(path, &content);
}
