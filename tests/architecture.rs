//! The house rules of ARCHITECTURE.md, checked over every file of `src/`.
//!
//! `house::check` is a plain function over (path, text) pairs. The first test gives it the sources; the
//! tests in `planted` give it sources with one fault each and expect that fault at its line, so that a
//! check that can no longer fail is itself a failure. `tests/architecture/plant.sh` does the same to a copy
//! of the sources on disk.

#[path = "architecture/house.rs"]
mod house;
#[path = "architecture/imports.rs"]
mod imports;
#[path = "architecture/planted.rs"]
mod planted;
#[path = "architecture/scan.rs"]
mod scan;
#[path = "architecture/sizes.rs"]
mod sizes;
#[path = "architecture/source.rs"]
mod source;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A copy of the repository to check in place of this one; `plant.sh` sets it.
const ROOT_OVERRIDE: &str = "ANDON_ARCHITECTURE_ROOT";

#[test]
fn the_sources_keep_the_rules_of_the_house() {
    let files = read_sources(&root().join("src")).expect("src/ can be read");
    assert!(files.iter().any(|(path, _)| path == "src/lib.rs"), "no src/lib.rs under {}", root().display());
    let violations = house::check(&files);
    let listed: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(listed.is_empty(), "{} violations of the house rules:\n{}", listed.len(), listed.join("\n"));
}

#[allow(clippy::disallowed_methods, reason = "the doors are those of src/; plant.sh names another tree here")]
fn root() -> PathBuf {
    env::var_os(ROOT_OVERRIDE).map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

/// Every `.rs` file below `dir` with its path from the repository root, in order.
fn read_sources(dir: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let mut waiting = vec![(dir.to_path_buf(), String::from("src"))];
    while let Some((dir, name)) = waiting.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let path = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                waiting.push((entry.path(), path));
            } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
                files.push((path, fs::read_to_string(entry.path())?));
            }
        }
    }
    files.sort();
    Ok(files)
}
