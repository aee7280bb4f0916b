//! The files of a change that can hold tests, each with its text before and after: read within bounds, deletions
//! together with the additions that may have taken their tests.

use std::collections::{BTreeMap, BTreeSet};
use std::{cmp::Reverse, sync::Arc};

use crate::Result;
use andon_core::detect::{TestCollection, TestComparison, left_behind, subject};
use andon_core::domain::{Change, Extent, Oid, TreeId, Weakening};
use andon_git::{GitError, Repo};
use andon_weakening::{ChangedText, FileText, TestReader};

/// Files that are read at the most, and bytes of each: a change beyond that is no edit of tests by hand.
const MAX_FILES: usize = 4096;
const MAX_TEXT: usize = 8 << 20;
/// Bytes of all of them.
const MAX_ALL: usize = 32 << 20;
/// The same of files that came shortly before.
const MAX_CAME: usize = 256;

/// The texts of a change, as far as they were read.
pub(super) struct ChangeTexts<'p> {
    pub texts: Vec<ChangedText<'p>>,
    extent: Extent,
}

impl ChangeTexts<'_> {
    /// The result of a comparison of the texts, with how much was read. Tests that became rows are reported as well.
    pub fn told(&self, found: &TestComparison) -> Option<Weakening> {
        let rows = found.rows;
        let taken = found.taken.clone().or_else(|| (rows > 0).then(Weakening::default));
        taken.map(|taken| Weakening { extent: taken.extent.max(self.extent), rows, ..taken })
    }
}

/// The request about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRequest {
    /// Only tests that it took away.
    Losses,
    /// Also what it brought where it took nothing away.
    Names,
}

/// Selects the files of a change that are read: by their paths, and then by their texts.
#[derive(Clone, Copy)]
pub(super) struct FileSelection<'w> {
    pub path: &'w dyn Fn(&[u8]) -> bool,
    pub text: &'w dyn Fn(&str) -> bool,
}

impl FileSelection<'_> {
    /// All of them.
    pub const ALL: Self = Self { path: &|_| true, text: &|_| true };

    fn has_path(&self, pair: &Pair<'_>) -> bool {
        [pair.old, pair.new].into_iter().flatten().any(|(path, _)| (self.path)(path))
    }
}

/// One side of a changed file.
type Side<'c> = (&'c [u8], Oid);

/// A changed file, the sides of it that can hold tests.
struct Pair<'c> {
    old: Option<Side<'c>>,
    new: Option<Side<'c>>,
}

impl Pair<'_> {
    fn path(&self) -> &[u8] {
        self.new.or(self.old).map_or(&[], |(path, _)| path)
    }

    /// Files that look like tests come first, and next to each other those of one name: where a bound is met, what moved
    /// was read on both sides.
    fn rank(&self) -> (Reverse<bool>, &[u8], &[u8]) {
        let path = self.path();
        (Reverse(looks_like_tests(path)), name(path), path)
    }
}

/// Reads the files of `changes`.
pub(super) fn changed<'p>(
    repo: &Repo,
    reader: &TestReader<'p>,
    changes: &[Change],
    asked: TextRequest,
    wanted: FileSelection<'_>,
) -> Result<ChangeTexts<'p>> {
    let mut pairs = pairs(changes, reader);
    pairs.retain(|pair| wanted.has_path(pair));
    let mut read = ChangeTexts { texts: Vec::new(), extent: Extent::Whole };
    // A file that was added takes nothing away, but what went elsewhere may have come there.
    if asked == TextRequest::Losses && pairs.iter().all(|pair| pair.old.is_none()) {
        return Ok(read);
    }
    pairs.sort_by(|one, other| one.rank().cmp(&other.rank()));
    let (mut left, mut files) = (MAX_ALL, MAX_FILES);
    for pair in &pairs {
        let texts = if files > 0 { texts_of(repo, reader, pair, left)? } else { None };
        let Some([old, new]) = texts else {
            let lacks = if pair.old.is_some() { Extent::AtLeast } else { Extent::About };
            read.extent = read.extent.max(lacks);
            continue;
        };
        files -= 1;
        left = left.saturating_sub(old.raw().len() + new.raw().len());
        if !(wanted.text)(old.raw()) && !(wanted.text)(new.raw()) {
            continue;
        }
        let path = String::from_utf8_lossy(pair.path()).into_owned();
        let endings = (pair.old.map(|(path, _)| extension(path)), pair.new.map(|(path, _)| extension(path)));
        match endings {
            (Some(was), Some(is)) if was != is => {
                let [gone, unborn] = [was, is].map(|ending| Arc::new(reader.text(&ending, "")));
                read.texts.push(ChangedText { path: path.clone(), old, new: gone });
                read.texts.push(ChangedText { path, old: unborn, new });
            }
            (None, None) => {}
            (Some(_), _) | (None, Some(_)) => read.texts.push(ChangedText { path, old, new }),
        }
    }
    Ok(read)
}

/// Compares the tests before and after `changes`, in the selected files.
pub(super) fn compared(
    repo: &Repo,
    reader: &TestReader<'_>,
    changes: &[Change],
    wanted: FileSelection<'_>,
) -> Result<TestComparison> {
    let read = changed(repo, reader, changes, TextRequest::Names, wanted)?;
    let found = andon_weakening::compared(&read.texts);
    Ok(TestComparison { taken: read.told(&found), ..found })
}

/// Both texts, where they fit.
fn texts_of<'p>(
    repo: &Repo,
    reader: &TestReader<'p>,
    pair: &Pair<'_>,
    left: usize,
) -> Result<Option<[Arc<FileText<'p>>; 2]>> {
    let ending = extension(pair.old.or(pair.new).map_or(&[], |(path, _)| path));
    let side = |side: Option<Side<'_>>| match side {
        Some((path, id)) => kept(repo, reader, (path, id), left),
        None => Ok(Some(Arc::new(reader.text(&ending, "")))),
    };
    let both = side(pair.old)?.zip(side(pair.new)?);
    Ok(both.filter(|(old, new)| old.raw().len() + new.raw().len() <= left).map(|(old, new)| [old, new]))
}

fn kept<'p>(
    repo: &Repo,
    reader: &TestReader<'p>,
    (path, id): Side<'_>,
    left: usize,
) -> Result<Option<Arc<FileText<'p>>>> {
    let max = left.min(MAX_TEXT);
    reader.kept(id, &extension(path), max, || text_up_to(repo, Some(id), max))
}

/// The changed files with a side that can hold tests that run there.
fn pairs<'c>(changes: &'c [Change], reader: &TestReader<'_>) -> Vec<Pair<'c>> {
    let holds = |path: &[u8]| reader.knows(&extension(path));
    let mut left: BTreeMap<(&[u8], String), &[u8]> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.new.is_none()) {
        if TestCollection::from_path(&change.path) == TestCollection::ByName {
            left.insert((folder(&change.path), subject(&change.path)), &change.path);
        }
    }
    let pair = |change: &'c Change| {
        let before = change.old_path.as_deref().unwrap_or(&change.path);
        let old = change.old.map(|(_, id)| (before, id)).filter(|(path, _)| holds(path));
        let new = change.new.map(|(_, id)| (change.path.as_slice(), id)).filter(|(path, _)| holds(path));
        // A test cannot move to a place where the runner does not look.
        let from = match change.old {
            Some(_) => Some(before),
            None if left.is_empty() => None,
            None => left.get(&(folder(&change.path), subject(&change.path))).copied(),
        };
        let new = new.filter(|(path, _)| !from.is_some_and(|from| left_behind(from, path)));
        Pair { old, new }
    };
    let differs = |pair: &Pair<'_>| pair.old.map(|(_, id)| id) != pair.new.map(|(_, id)| id);
    changes.iter().map(pair).filter(differs).collect()
}

/// The files that came since an `earlier` tree, and that the change itself, `own`, left alone: with no text before.
pub(super) fn came<'p>(
    repo: &Repo,
    reader: &TestReader<'p>,
    own: &[Change],
    [earlier, after]: [TreeId; 2],
) -> Result<Vec<ChangedText<'p>>> {
    let own: BTreeSet<&[u8]> = own.iter().map(|change| change.path.as_slice()).collect();
    let lately = repo.changes(Some(earlier), after)?;
    let holds = |change: &&Change| {
        let added = change.old.is_none() || change.old_path.is_some();
        added && !own.contains(change.path.as_slice()) && reader.knows(&extension(&change.path))
    };
    let mut texts = Vec::new();
    let mut left = MAX_ALL;
    for change in lately.iter().filter(holds).take(MAX_CAME) {
        let Some((_, id)) = change.new else { continue };
        let Some(new) = kept(repo, reader, (&change.path, id), left)? else { continue };
        left = left.saturating_sub(new.raw().len());
        let path = String::from_utf8_lossy(&change.path).into_owned();
        texts.push(ChangedText { path, old: Arc::new(reader.text(&extension(&change.path), "")), new });
    }
    Ok(texts)
}

fn looks_like_tests(path: &[u8]) -> bool {
    let path = String::from_utf8_lossy(path).to_lowercase();
    path.contains("test") || path.contains("spec")
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn folder(path: &[u8]) -> &[u8] {
    path.get(..path.len() - name(path).len()).unwrap_or_default()
}

/// Ending of a file's name, in lower case.
pub fn extension(path: &[u8]) -> String {
    let name = name(path);
    let ending = name.rsplit(|byte| *byte == b'.').next().filter(|ending| ending.len() < name.len());
    String::from_utf8_lossy(ending.unwrap_or_default()).to_ascii_lowercase()
}

/// The text of a blob; empty where there is none, `None` where it is not there, too large or no text.
pub fn text(repo: &Repo, id: Option<Oid>) -> Result<Option<String>> {
    text_up_to(repo, id, MAX_TEXT)
}

fn text_up_to(repo: &Repo, id: Option<Oid>, max: usize) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(Some(String::new())) };
    match repo.text(id, max) {
        Ok(Some(text)) if !text.contains(&0) => {
            let lossy = || String::from_utf8_lossy(&text).into_owned();
            Ok(Some(std::str::from_utf8(&text).map_or_else(|_| lossy(), str::to_owned)))
        }
        Ok(_) | Err(GitError::Missing { .. }) => Ok(None),
        Err(err) => Err(err.into()),
    }
}
