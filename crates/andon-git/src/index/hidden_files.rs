//! The files that git does not read when it compares the working tree.
//!
//! git takes a file as unchanged where a bit in the index says so (assume-unchanged, skip-worktree), or where size and
//! times are those in the index. The tests read the file. So these files are listed here, and always hashed.
//!
//! Stat data prove a content when they are equal to the nanosecond, change time included (which cannot be set), and
//! when the file last changed well before the index was written. git itself compares seconds. Not seen: a second write
//! within the tick of the kernel's clock in which git read the first.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs::Metadata, io::Write as _, path::Path};

use tempfile::{NamedTempFile, TempPath};

use crate::files::{if_there, temporary_in};
use crate::index::entries::{self, Entries, Entry, HASH, STAT, be32};
use crate::objects::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK, MODE_SUBMODULE};
use crate::platform::{files, paths::path_from_bytes};
use crate::{GitError, Repo, Result, open::file_system::is_false, worktree::write_times::side_by_side};
use andon_core::domain::{Oid, Veil};

/// The least time between the last change of a file and the writing of the index, in nanoseconds: more than a tick of the
/// clock.
const TICK: i128 = 20_000_000;
/// The same where times come in seconds.
const SECONDS: i128 = 2_000_000_000;

/// The result of a look at the index.
#[derive(Debug, Default, Clone)]
pub(crate) struct IndexReport {
    /// Files whose content is to be read, since git may not have looked at it, with what the index has there.
    pub(crate) unread: Vec<(Vec<u8>, (u32, Oid))>,
    /// The veils that keep git from seeing a change of these paths, if there are any.
    pub(crate) veils: BTreeMap<Vec<u8>, Veil>,
    /// Submodules that are checked out.
    pub(crate) submodules: Vec<Vec<u8>>,
    /// Plain files that are tracked.
    pub(crate) files: Vec<(Vec<u8>, Oid)>,
    /// The index with a mark at the files that are surely unchanged: git then looks at the others alone. Only where
    /// there are many of them.
    pub(crate) settled: Option<Vec<u8>>,
}

/// Files that are worth a copy of the index.
const MANY: usize = 1000;

/// The paths that are looked at.
pub(crate) struct Scope<'a> {
    pub(crate) top: &'a Path,
    /// These paths and what is below them; everything where there are none.
    pub(crate) paths: &'a BTreeSet<Vec<u8>>,
}

impl Scope<'_> {
    fn has(&self, path: &[u8]) -> bool {
        let mut above = memchr::memchr_iter(b'/', path).map(|at| &path[..at]);
        self.paths.is_empty() || self.paths.contains(path) || above.any(|part| self.paths.contains(part))
    }
}

impl IndexReport {
    /// Looks at the index of `repo`, and at the stat data of what is in scope.
    pub(crate) fn read(repo: &Repo, scope: &Scope<'_>) -> Result<Self> {
        let path = repo.index_path();
        let io = |source| GitError::Io { path: path.clone(), source };
        let Some(meta) = if_there(path.metadata()).map_err(io)? else { return Ok(Self::default()) };
        let written = modified(&meta);
        let mut bytes = entries::read(&path).ok_or_else(|| unknown("it is too large, or cannot be read"))?;
        if entries::walk(&bytes, &mut |_| {}) != Some(Entries::All) {
            let whole = repo.whole_index(&bytes)?;
            bytes = entries::read(&whole).ok_or_else(|| unknown("it cannot be made whole"))?;
        }
        let examination = Examination::new(repo, scope, written).all(&bytes);
        let Some(Examination { same, mut examined, .. }) = examination else {
            return Err(unknown("its format is not known"));
        };
        if same.len() >= MANY {
            for at in same {
                entries::assume_unchanged(&mut bytes, at);
            }
            examined.settled = Some(bytes);
        }
        Ok(examined)
    }
}

fn unknown(why: &str) -> GitError {
    GitError::Answer { command: "reading the index".to_owned(), detail: why.to_owned() }
}

/// One walk over the entries.
#[derive(Clone)]
struct Examination<'a> {
    scope: &'a Scope<'a>,
    /// When the index was written, in nanoseconds.
    written: i128,
    sparse: bool,
    compared: ComparedStat,
    examined: IndexReport,
    /// Places of the entries whose files are as git read them.
    same: Vec<usize>,
    /// The newest folder of a file, and whether it is one, as all above it are.
    folder: (Vec<u8>, bool),
}

impl<'a> Examination<'a> {
    fn new(repo: &Repo, scope: &'a Scope<'a>, written: i128) -> Self {
        let sparse = repo.config_string("core.sparsecheckout").is_some_and(|value| value != "false");
        let is_minimal =
            repo.config_string("core.checkstat").is_some_and(|value| value.eq_ignore_ascii_case("minimal"));
        let trusts = !repo.config_string("core.trustctime").is_some_and(|value| is_false(&value));
        let compared = ComparedStat { change_time: trusts && !is_minimal, file: !is_minimal };
        let (same, folder) = (Vec::new(), (Vec::new(), true));
        let examined = IndexReport::default();
        Self { scope, written, sparse, compared, examined, same, folder }
    }

    /// Takes all entries, side by side where there are many: to ask for the times of files is most of the work.
    fn all(self, bytes: &[u8]) -> Option<Self> {
        let count = usize::try_from(be32(bytes, 8)?).ok()?;
        let parts = side_by_side(count, MANY, |part| {
            let (mut own, mut at) = (self.clone(), 0);
            let walked = entries::walk(bytes, &mut |entry| {
                if part.contains(&at) {
                    own.take(entry, bytes);
                }
                at += 1;
            });
            (walked == Some(Entries::All)).then_some(own)
        })?;
        parts.into_iter().reduce(|mut all, Self { same, examined, .. }| {
            all.same.extend(same);
            all.examined.unread.extend(examined.unread);
            all.examined.veils.extend(examined.veils);
            all.examined.submodules.extend(examined.submodules);
            all.examined.files.extend(examined.files);
            all
        })
    }

    /// Returns whether no link leads to `path` within the working tree.
    fn is_in_place(&mut self, path: &[u8]) -> bool {
        let above = &path[..memchr::memrchr(b'/', path).unwrap_or(0)];
        if above != self.folder.0 {
            let is_dir = |end: usize| {
                let part = self.scope.top.join(path_from_bytes(&above[..end]));
                part.symlink_metadata().is_ok_and(|meta| meta.is_dir())
            };
            let is_one = memchr::memchr_iter(b'/', above).chain([above.len()]).all(is_dir);
            self.folder = (above.to_vec(), is_one);
        }
        self.folder.1
    }

    fn take(&mut self, entry: &Entry<'_>, bytes: &[u8]) {
        if !self.scope.has(entry.path) {
            return;
        }
        let file = self.scope.top.join(path_from_bytes(entry.path));
        let meta = file.symlink_metadata().ok();
        if entry.mode == MODE_SUBMODULE {
            if meta.is_some() && file.join(".git").exists() {
                self.examined.submodules.push(entry.path.to_vec());
            }
        } else if meta.is_none() && entry.skips_worktree() && self.sparse {
            // Files that a sparse checkout leaves out are as the index says.
            return;
        }
        let Some(id) = bytes.get(entry.at + STAT..entry.at + STAT + HASH).and_then(Oid::from_bytes) else {
            return;
        };
        // git looks into a submodule itself, whatever the times of its folder.
        let is_file = entry.mode != MODE_SUBMODULE;
        if is_file && entry.mode != MODE_LINK && !entry.in_conflict() {
            self.examined.files.push((entry.path.to_vec(), id));
        }
        let stat = meta
            .as_ref()
            .filter(|_| is_file)
            .and_then(|meta| Some((Stat::parse(bytes, entry.at)?, Stat::at(meta))));
        let (written, compared) = (self.written, self.compared);
        let answer = stat.map_or(Answer::Other, |(index, disk)| index.answers_for(disk, written, compared));
        let is_of_mode = |meta: &Metadata| match entry.mode {
            MODE_LINK => meta.is_symlink(),
            MODE_FILE | MODE_EXECUTABLE => {
                meta.is_file() && files::owner_executes(meta) == (entry.mode == MODE_EXECUTABLE)
            }
            _ => false,
        };
        if answer == Answer::Same && meta.as_ref().is_some_and(is_of_mode) && self.is_in_place(entry.path) {
            self.same.push(entry.at);
        }
        let veil = match answer {
            _ if entry.assumed_unchanged() => Some(Veil::AssumeUnchanged),
            _ if entry.skips_worktree() => Some(Veil::SkipWorktree),
            // A file that changed in the second in which the index was written, git reads by itself.
            Answer::Unsure if stat.is_some_and(|(index, _)| index.is_older_than(self.written)) => {
                Some(Veil::Stat)
            }
            Answer::Same | Answer::Unsure | Answer::Other => None,
        };
        if (veil.is_some() || answer == Answer::Unsure) && !entry.in_conflict() {
            self.examined.unread.push((entry.path.to_vec(), (entry.mode, id)));
        }
        self.examined.veils.extend(veil.map(|veil| (entry.path.to_vec(), veil)));
    }
}

/// The stat data that git compares beside size and modification time (`core.trustctime`, `core.checkStat`).
#[derive(Debug, Clone, Copy)]
struct ComparedStat {
    change_time: bool,
    /// Inode, user and group.
    file: bool,
}

/// Stat data as an index keeps them: 32 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    /// Change time, then modification time, each in seconds and nanoseconds.
    times: [u32; 4],
    /// Inode, user, group, size.
    facts: [u32; 4],
}

/// The verdict of stat data on a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// It is the one that git read.
    Same,
    /// git would take it for that one, and it may be another.
    Unsure,
    /// git would read it.
    Other,
}

impl Stat {
    fn parse(bytes: &[u8], at: usize) -> Option<Self> {
        let word = |offset| be32(bytes, at + offset);
        Some(Self {
            times: [word(0)?, word(4)?, word(8)?, word(12)?],
            facts: [word(20)?, word(28)?, word(32)?, word(36)?],
        })
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as git cuts them")]
    fn at(meta: &Metadata) -> Self {
        let stat = files::stat(meta);
        let (changed, modified) = (stat.changed, stat.modified);
        Self {
            times: [changed.0, changed.1, modified.0, modified.1].map(|part| part as u32),
            facts: [stat.inode as u32, stat.user, stat.group, stat.size as u32],
        }
    }

    /// Returns the answer of these stat data, of an index that was `written` then, for a file with the stat data `disk`.
    fn answers_for(self, disk: Self, written: i128, compared: ComparedStat) -> Answer {
        let of_file = |stat: Self| (stat.times[2], stat.facts[3]);
        if of_file(self) != of_file(disk)
            || compared.change_time && self.times[0] != disk.times[0]
            || compared.file && self.facts != disk.facts
        {
            return Answer::Other;
        }
        let coarse = self.times[1] == 0 && self.times[3] == 0;
        let changed = time(self.times[0].into(), self.times[1].into());
        let before = changed + if coarse { SECONDS } else { TICK } < written;
        if self.times == disk.times && self.facts == disk.facts && before {
            Answer::Same
        } else {
            Answer::Unsure
        }
    }

    /// As git sees it, in seconds.
    fn is_older_than(self, written: i128) -> bool {
        i128::from(self.times[2]) < written / 1_000_000_000
    }
}

fn modified(meta: &Metadata) -> i128 {
    let (seconds, nanoseconds) = files::stat(meta).modified;
    time(seconds, nanoseconds)
}

fn time(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

impl Repo {
    /// Returns the veils that keep git from seeing a change of these paths, if there are any. Looks at the index and at these
    /// paths only, and starts no process.
    pub fn veils(&self, paths: &BTreeSet<Vec<u8>>) -> BTreeMap<Vec<u8>, Veil> {
        let (Some(top), Ok(meta)) = (self.workdir(), self.index_path().metadata()) else {
            return BTreeMap::new();
        };
        let scope = Scope { top, paths };
        let mut examination = Examination::new(self, &scope, modified(&meta));
        if let Some(bytes) = entries::read(&self.index_path()) {
            let _those_seen = entries::walk(&bytes, &mut |entry| examination.take(entry, &bytes));
        }
        examination.examined.veils
    }

    /// A copy of the index, or of what is made of it.
    pub(crate) fn index_copy(&self, bytes: &[u8]) -> Result<TempPath> {
        let io = |source| GitError::Io { path: self.git_dir.clone(), source };
        // An agent's shell may have a git directory that it cannot write: a copy to read does as well elsewhere.
        let made = temporary_in(&self.git_dir).or_else(|denied| NamedTempFile::new().map_err(|_| denied));
        let mut file = made.map_err(io)?;
        file.write_all(bytes).map_err(io)?;
        Ok(file.into_temp_path())
    }

    /// A split or sparse index with all its entries, made by git, to be read here.
    fn whole_index(&self, bytes: &[u8]) -> Result<TempPath> {
        let copy = self.index_copy(bytes)?;
        let args = "-c index.sparse=false -c core.splitIndex=false -c core.fsmonitor=false -c core.hooksPath=/dev/null \
                    update-index --no-split-index --force-write-index";
        let args: Vec<&str> = args.split(' ').collect();
        self.git_with(&[("GIT_INDEX_FILE", copy.as_os_str())], &args, b"")?;
        Ok(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_data_answer_only_where_nothing_can_have_happened_since() {
        let index = Stat { times: [100, 7, 50, 9], facts: [1, 2, 3, 4] };
        let at = |times| Stat { times, ..index };
        let late = time(200, 0);
        let all = ComparedStat { change_time: true, file: true };
        let cases = [
            (index, late, Answer::Same),
            (at([100, 8, 50, 9]), late, Answer::Unsure),
            (at([100, 7, 50, 0]), late, Answer::Unsure),
            (at([101, 7, 50, 9]), late, Answer::Other),
            (Stat { facts: [1, 2, 3, 5], ..index }, late, Answer::Other),
            (index, time(100, 10_000_000), Answer::Unsure),
            (index, time(100, 30_000_000), Answer::Same),
        ];
        for (disk, written, expected) in cases {
            assert_eq!(index.answers_for(disk, written, all), expected, "{disk:?} {written}");
        }
        let no_times = ComparedStat { change_time: false, file: true };
        assert_eq!(index.answers_for(at([101, 7, 50, 9]), late, no_times), Answer::Unsure, "trustctime");
        let (minimal, moved) =
            (ComparedStat { file: false, ..no_times }, Stat { facts: [9, 2, 3, 4], ..index });
        assert_eq!(index.answers_for(moved, late, minimal), Answer::Unsure, "checkStat");
        assert_eq!(index.answers_for(moved, late, no_times), Answer::Other);
        let coarse = at([100, 0, 50, 0]);
        assert_eq!(coarse.answers_for(coarse, time(101, 0), all), Answer::Unsure);
        assert_eq!(coarse.answers_for(coarse, late, all), Answer::Same);
    }
}
