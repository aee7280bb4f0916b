//! Finds the report files that `test.reports` names, and reads them in chunks.

use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::files::beginning;
use andon_git::platform::{FileStat, files};
use testreport::RunReader;

/// Depth below the fixed part of a glob.
const MAX_DEPTH: usize = 32;

/// Directory entries that are looked at for each report that may be found: a glob over a huge tree must not hang the run.
const ENTRIES: usize = 4;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// A file that a glob names, with what the file system keeps of it: a report that was put there with an old time stamp
/// (`cp -p`, `tar x`) has another inode, size or time of change.
pub type ReportCandidate = (PathBuf, Option<FileStat>);

/// The files that globs name.
#[derive(Debug, Default, Clone)]
pub struct MatchingFiles {
    /// Sorted. Links, pipes and the like are among them; [`stream`] refuses them.
    pub found: Vec<ReportCandidate>,
    /// The bound that was crossed, in words: files were left out.
    pub left_out: Option<String>,
}

impl MatchingFiles {
    /// True where this file is among them, as it is.
    pub fn has(&self, report: &ReportCandidate) -> bool {
        let at = self.found.binary_search_by(|(path, _)| path.cmp(&report.0));
        at.is_ok_and(|at| self.found.get(at) == Some(report))
    }
}

/// The files below `top` that match one of `globs` (relative to `top`), at most `most`. Where a bound is crossed, none of them
/// is the whole.
pub fn matching(top: &Path, globs: &[String], most: u64) -> MatchingFiles {
    let mut files = MatchingFiles::default();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let entries = most.saturating_mul(ENTRIES);
    let mut budget = entries;
    for glob in globs {
        let Ok(matcher) = globset::GlobBuilder::new(glob).literal_separator(true).build() else { continue };
        let matcher = matcher.compile_matcher();
        let fixed = fixed_part(glob);
        let deepest = if glob.contains("**") { MAX_DEPTH } else { glob.matches('/').count() };
        let mut walk =
            Walk { top, matcher: &matcher, glob, deepest, files: &mut files, budget: &mut budget, entries };
        walk.below(&top.join(&fixed), 0);
    }
    let MatchingFiles { found, left_out } = &mut files;
    found.sort_by(|(one, _), (two, _)| one.cmp(two));
    found.dedup_by(|(one, _), (two, _)| one == two);
    let count = found.len();
    if count > most {
        let key = raised(count);
        *left_out = Some(format!("{count} report files match test.reports, over the bound of {most}: {key}"));
        found.truncate(most);
    }
    files
}

/// The words that raise the bounds, for as many reports.
fn raised(reports: usize) -> String {
    format!("write max_reports = {reports} in [test]")
}

/// The directories of a glob before its first wildcard. `..` and absolute paths lead nowhere: reports outside
/// the repository are not read.
fn fixed_part(glob: &str) -> PathBuf {
    let mut fixed = PathBuf::new();
    let parts: Vec<&str> = glob.split('/').collect();
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        if part.contains(['*', '?', '[', '{', '\\']) || *part == ".." || part.is_empty() {
            break;
        }
        fixed.push(part);
    }
    fixed
}

struct Walk<'a> {
    top: &'a Path,
    matcher: &'a globset::GlobMatcher,
    glob: &'a str,
    /// Directories below the fixed part that are looked into.
    deepest: usize,
    files: &'a mut MatchingFiles,
    /// The entries that may still be looked at, and those at first.
    budget: &'a mut usize,
    entries: usize,
}

impl Walk<'_> {
    fn below(&mut self, dir: &Path, depth: usize) {
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            if *self.budget == 0 {
                let (glob, most, key) = (self.glob, self.entries, raised(self.entries / ENTRIES * 2));
                self.files.left_out = Some(format!(
                    "more files than the bound of {most} lie where {glob:?} of test.reports looks: name a narrower one, or {key}"
                ));
                return;
            }
            *self.budget -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && entry.file_name() != ".git" {
                self.directory(&path, depth);
            } else if !kind.is_dir()
                && path.strip_prefix(self.top).is_ok_and(|inside| self.matcher.is_match(inside))
            {
                let written = entry.metadata().ok().map(|facts| files::stat(&facts));
                self.files.found.push((path, written));
            }
        }
    }

    fn directory(&mut self, path: &Path, depth: usize) {
        if depth < self.deepest {
            self.below(path, depth + 1);
        } else if self.deepest == MAX_DEPTH {
            let what = format!(
                "{} lies more than {MAX_DEPTH} directories below the beginning of {:?} of test.reports",
                path.display(),
                self.glob
            );
            self.files.left_out = Some(what);
        }
    }
}

/// Reads a file of the project of at most `max` bytes; a larger one is an error that says so.
pub fn read(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let bytes = beginning(path, u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1))?;
    if bytes.len() > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {max} bytes")));
    }
    Ok(bytes)
}

/// Reads a report that was named, from the directory `cwd`, into `reader`. It must be there: a slip in its path is no run
/// without reports.
pub fn take_in(cwd: &Path, report: &Path, reader: &mut RunReader) -> io::Result<()> {
    let mut coming = reader.open_report(&report.to_string_lossy());
    stream(&cwd.join(report), &mut |bytes| coming.push(bytes))?;
    reader.close_report(coming);
    Ok(())
}

/// Hands a report on in chunks, until its end or until `each` has seen enough. It is never held. A pipe may have no end, and a
/// link another file behind it each time: only a file is read, and only one that stays as it is meanwhile.
pub fn stream(path: &Path, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    let begun = path.symlink_metadata()?;
    if !begun.is_file() {
        let why = "it is no file, but a link, a pipe or a device";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let file = std::fs::File::open(path)?;
    // A file that grows has an end here all the same.
    let mut file = file.take(begun.len());
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match file.read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read > 0 && each(chunk.get(..read).unwrap_or_default()).is_continue() {
            continue;
        }
        let grew = path.symlink_metadata()?.len() != begun.len();
        let why = || io::Error::new(io::ErrorKind::InvalidData, "it changed while it was read");
        return if grew { Err(why()) } else { Ok(()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_find_files_and_nothing_outside() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        std::fs::create_dir_all(top.join("target/a/b")).unwrap();
        std::fs::create_dir_all(top.join(".git")).unwrap();
        for file in ["target/a/b/junit.xml", "target/junit.xml", "other.xml", ".git/junit.xml"] {
            std::fs::write(top.join(file), "x").unwrap();
        }
        std::fs::write(dir.path().join("out.xml"), "x").unwrap();
        let names = |globs: &[&str]| -> Vec<String> {
            let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
            matching(&top, &globs, 9)
                .found
                .iter()
                .map(|(path, _)| path.strip_prefix(&top).unwrap().to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(names(&["target/**/junit.xml"]), ["target/a/b/junit.xml", "target/junit.xml"]);
        assert_eq!(names(&["*.xml", "other.xml"]), ["other.xml"]);
        assert!(names(&["../*.xml", "/etc/*", "**/nothing"]).is_empty());
    }

    #[test]
    fn crossing_a_bound_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let deep = |depth: usize| (0..depth).fold(dir.path().join("out"), |path, _| path.join("d"));
        std::fs::create_dir_all(deep(MAX_DEPTH)).unwrap();
        std::fs::write(deep(MAX_DEPTH).join("r.xml"), "x").unwrap();
        let globs = |glob: &str| vec![glob.to_owned()];
        let files = matching(dir.path(), &globs("out/**/*.xml"), 99);
        assert_eq!((files.found.len(), files.left_out), (1, None));
        std::fs::create_dir_all(deep(MAX_DEPTH + 1)).unwrap();
        let files = matching(dir.path(), &globs("out/**/*.xml"), 99);
        assert!(files.left_out.unwrap().contains("more than 32 directories below"));
        assert_eq!(matching(dir.path(), &globs("out/*.xml"), 99).left_out, None);
    }

    #[test]
    fn as_many_as_the_bound_are_whole_and_one_more_are_not() {
        let dir = tempfile::tempdir().unwrap();
        for name in 0..8 {
            let kind = if name < 3 { "xml" } else { "txt" };
            std::fs::write(dir.path().join(format!("{name}.{kind}")), "x").unwrap();
        }
        let reports =
            "3 report files match test.reports, over the bound of 2: write max_reports = 3 in [test]";
        let entries = "more files than the bound of 4 lie where \"*.none\" of test.reports looks: name a narrower one, \
                       or write max_reports = 2 in [test]";
        for (glob, most, said) in [
            ("*.xml", 3, None),
            ("*.xml", 2, Some(reports)),
            ("*.none", 2, None),
            ("*.none", 1, Some(entries)),
        ] {
            let files = matching(dir.path(), &[glob.to_owned()], most);
            let told = files.left_out.as_deref();
            assert_eq!(told, said, "{glob} {most}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_named_and_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (link, pipe) = (dir.path().join("link.xml"), dir.path().join("pipe.xml"));
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&pipe).unwrap();
        assert_eq!(matching(dir.path(), &["*.xml".to_owned()], 9).found.len(), 2);
        for path in [link, pipe] {
            let error = stream(&path, &mut |_| ControlFlow::Continue(())).unwrap_err();
            assert!(error.to_string().contains("it is no file"), "{error}");
        }
    }

    #[test]
    fn a_report_comes_in_chunks_until_enough_was_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.xml");
        std::fs::write(&path, vec![b'x'; CHUNK + 11]).unwrap();
        let (mut chunks, mut size) = (0, 0);
        let mut each = |bytes: &[u8]| {
            (chunks, size) = (chunks + 1, size + bytes.len());
            ControlFlow::Continue(())
        };
        stream(&path, &mut each).unwrap();
        assert_eq!((chunks, size), (2, CHUNK + 11));
        let mut seen = 0;
        let mut enough = |_: &[u8]| {
            seen += 1;
            ControlFlow::Break(())
        };
        stream(&path, &mut enough).unwrap();
        assert_eq!(seen, 1);
        assert!(stream(&dir.path().join("gone"), &mut |_| ControlFlow::Continue(())).is_err());
    }
}
