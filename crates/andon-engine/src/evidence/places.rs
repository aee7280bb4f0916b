//! Finds directories of code that were moved away or replaced while tests ran.
//!
//! Code that is swapped for the run and put back before its end leaves the contents of every file as they were. The file system
//! shows the swap: a renamed directory has another time of change and the same time of modification, and a replaced directory
//! has another inode. Both are compared before and after the run. Where git moved HEAD or the stash meanwhile, each file that
//! changed since the run began was swapped by it (`git stash && pytest; git stash pop`).
//!
//! Not noticed: files that are rewritten or renamed one by one without git, or by `git checkout REV -- PATH`, of which git keeps no
//! log, a directory that was made anew in its place (a generator does that with the same contents), a mount over it, and times
//! that were set on purpose. `chmod -R` and `chown -R` also change everything below a directory, and are recognised by that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{Workspace, effect::PrivateDir};
use andon_git::platform::{FileStat, files, paths::path_from_bytes};

/// Directories that are looked at, at the most.
const MAX_PLACES: usize = 20_000;
/// The mode of symbolic links in git's index.
const LINK: u32 = 0o120_000;

/// The file system's facts about one directory.
struct Place {
    stat: FileStat,
    /// Something in it, and what is known of that.
    sample: Option<(PathBuf, FileStat)>,
}

/// The directories that code lies in, and the links to directories among the code, before a run.
#[derive(Default)]
pub struct Places {
    top: PathBuf,
    directories: BTreeMap<Vec<u8>, Place>,
    links: BTreeMap<Vec<u8>, FileStat>,
    files: Vec<Vec<u8>>,
    /// When they were looked at, by the clock of the file system, and what git changes when it moves HEAD or the stash.
    seen_at: Option<(i64, i64)>,
    moves: Vec<(PathBuf, Option<(i64, i64)>)>,
}

impl Places {
    /// As they are now. None where git does not say what is tracked.
    pub fn now(ws: &Workspace) -> Self {
        let Some(top) = ws.repo.workdir().map(Path::to_owned) else { return Self::default() };
        let tracked = ws.repo.tracked_files().unwrap_or_default();
        let (git_dir, common_dir) = (ws.repo.git_dir(), ws.repo.common_dir());
        let moves = [git_dir.join("logs/HEAD"), common_dir.join("refs"), common_dir.join("logs/refs/stash")];
        let moves = moves.into_iter().map(|path| (path.clone(), written_at(&path))).collect();
        let seen_at = PrivateDir::create(git_dir).ok().and_then(|dir| Some(stat(dir.path())?.changed));
        let mut places = Self { top, seen_at, moves, ..Self::default() };
        for (mode, path) in tracked.iter().filter(|(_, path)| ws.is_code(path)) {
            if *mode == LINK {
                places.add_link(path);
            }
            places.add_directories(path);
            if places.directories.len() >= MAX_PLACES {
                break;
            }
        }
        places.files = tracked.into_iter().map(|(_, path)| path).filter(|path| ws.is_code(path)).collect();
        places
    }

    /// The files that git replaced and put back, where it moved HEAD or the stash since.
    fn swapped_by_git(&self) -> impl Iterator<Item = &Vec<u8>> {
        let has_moved = self.moves.iter().any(|(path, then)| written_at(path) != *then);
        let seen_at = self.seen_at.filter(|_| has_moved);
        let is_newer = move |path: &&Vec<u8>| {
            stat(&self.at(path)).is_some_and(|now| seen_at.is_some_and(|seen_at| now.changed > seen_at))
        };
        self.files.iter().filter(move |_| seen_at.is_some()).filter(is_newer)
    }

    /// Those that were moved away or replaced since.
    pub fn replaced(&self) -> BTreeSet<Vec<u8>> {
        let now: BTreeMap<&Vec<u8>, Option<FileStat>> = self
            .directories
            .keys()
            .map(|path| (path, stat(&self.at(path)).filter(|_| self.at(path).is_dir())))
            .collect();
        let moved = self.directories.iter().filter(|(path, place)| {
            let now_of = |path: &Vec<u8>| now.get(path).copied().flatten();
            let Some(stat_now) = now_of(path) else { return false };
            if is_other(&place.stat, &stat_now) {
                // One that was made in its place was last changed when its last entry was.
                return stat_now.changed > stat_now.modified;
            }
            let touched = place.stat.changed != stat_now.changed && place.stat.modified == stat_now.modified;
            touched && self.is_rename(path, place, &now_of)
        });
        let links = self.links.iter().filter(|(path, before)| {
            stat(&self.at(path)).is_some_and(|now| is_other(before, &now) || before.modified != now.modified)
        });
        let moved = moved.map(|(path, _)| path).chain(links.map(|(path, _)| path));
        moved.chain(self.swapped_by_git()).cloned().collect()
    }

    /// True if a directory whose time of change is another was renamed: its parent has changed, and its contents
    /// have not.
    fn is_rename(&self, path: &[u8], place: &Place, now_of: &dyn Fn(&Vec<u8>) -> Option<FileStat>) -> bool {
        let Some(above) = parent(path) else { return false };
        let has_changed = |path: &Vec<u8>, place: &Place| {
            now_of(path).is_none_or(|now| now.modified != place.stat.modified)
        };
        let above_has =
            self.directories.get_key_value(above).is_some_and(|(path, place)| has_changed(path, place));
        let sample_has = place
            .sample
            .as_ref()
            .is_some_and(|(child, before)| stat(child).is_none_or(|now| now.changed != before.changed));
        let below = [path, b"/"].concat();
        let inside = self.directories.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        // A layered file system copies the directories above what is written, which changes their times.
        let inside_has = inside.into_iter().any(|(path, place)| has_changed(path, place));
        above_has && !sample_has && !inside_has
    }

    fn at(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() { self.top.clone() } else { self.top.join(path_from_bytes(path)) }
    }

    fn add_link(&mut self, path: &[u8]) {
        let at = self.at(path);
        if let Some(stat) = stat(&at).filter(|_| at.is_dir()) {
            self.links.insert(path.to_vec(), stat);
        }
    }

    fn add_directories(&mut self, path: &[u8]) {
        let mut below = path;
        while let Some(above) = parent(below) {
            if self.directories.contains_key(above) {
                return;
            }
            let at = self.at(above);
            let Some(stat_above) = stat(&at).filter(|_| at.is_dir()) else { return };
            let child = self.at(below);
            let sample = stat(&child).map(|stat| (child, stat));
            self.directories.insert(above.to_vec(), Place { stat: stat_above, sample });
            below = above;
        }
    }
}

/// The directory above; the top of the project is the empty path.
fn parent(path: &[u8]) -> Option<&[u8]> {
    if path.is_empty() {
        return None;
    }
    let slash = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path.get(..slash)
}

fn stat(path: &Path) -> Option<FileStat> {
    path.symlink_metadata().ok().map(|facts| files::stat(&facts))
}

fn written_at(path: &Path) -> Option<(i64, i64)> {
    stat(path).map(|facts| facts.modified)
}

/// True if they are of two different files, as far as the system tells.
fn is_other(before: &FileStat, now: &FileStat) -> bool {
    before.inode != 0 && (before.device, before.inode) != (now.device, now.inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_above() {
        assert_eq!(parent(b"a/b/c.py"), Some(&b"a/b"[..]));
        assert_eq!((parent(b"a"), parent(b"")), (Some(&b""[..]), None));
    }
}
