//! The `stat` data of the files that hold the refs of ledgers: shows whether a ref moved without reading it.

use std::fs;
use std::path::Path;

use andon_git::Repo;
use andon_git::platform::files;

/// Most files that are looked at.
const MAX_FILES: usize = 10_000;
/// Deepest directory of remote names that is looked into.
const MAX_DEPTH: usize = 8;

/// What the files look like that hold the ledgers of others: every ref file but our own, and the packed refs.
pub(super) fn read(repo: &Repo, own: Option<&str>) -> String {
    let common = repo.common_dir();
    let mut seen = Vec::new();
    if let Ok(facts) = fs::metadata(common.join("packed-refs")) {
        seen.push(format!("packed {}", look_of(&facts)));
    }
    for entry in entries(&common.join("refs/andon/ledger")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if Some(name.as_str()) != own
            && let Ok(facts) = entry.metadata()
        {
            seen.push(format!("{name} {}", look_of(&facts)));
        }
    }
    below(&common.join("refs/andon/remote"), MAX_DEPTH, &mut seen);
    seen.sort_unstable();
    seen.join("\n")
}

fn below(dir: &Path, depth: usize, seen: &mut Vec<String>) {
    for entry in entries(dir) {
        let Ok(facts) = entry.metadata() else { continue };
        if !facts.is_dir() {
            seen.push(format!("{} {}", entry.path().display(), look_of(&facts)));
        } else if depth > 0 && seen.len() < MAX_FILES {
            below(&entry.path(), depth - 1, seen);
        }
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).take(MAX_FILES)
}

fn look_of(facts: &fs::Metadata) -> String {
    let stat = files::stat(facts);
    format!("{} {} {} {}", stat.inode, stat.size, stat.modified.0, stat.modified.1)
}
