//! Finds the report files that `test.reports` names, and reads them in chunks.

use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::files::beginning;
use andon_git::platform::{FileStat, files};
use testreport::RunReader;

/// Directory entries looked at, at the most: a glob over a huge tree must not hang the run.
const MAX_ENTRIES: usize = 200_000;
/// Depth below the fixed part of a glob.
const MAX_DEPTH: usize = 32;
/// Reports of one run, at the most.
const MAX_REPORTS: usize = 4_096;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// A file that a glob names, with what the file system keeps of it: a report that was put there with an old time stamp
/// (`cp -p`, `tar x`) has another inode, size or time of change.
pub type ReportCandidate = (PathBuf, Option<FileStat>);

/// The regular files below `top` that match one of `globs` (relative to `top`), sorted.
pub fn matching(top: &Path, globs: &[String]) -> Vec<ReportCandidate> {
    let mut found = Vec::new();
    let mut budget = MAX_ENTRIES;
    for glob in globs {
        let Ok(matcher) = globset::GlobBuilder::new(glob).literal_separator(true).build() else { continue };
        let matcher = matcher.compile_matcher();
        let mut walk = Walk { top, matcher: &matcher, found: &mut found, budget: &mut budget };
        walk.below(&top.join(fixed_part(glob)), 0);
    }
    found.sort_by(|(one, _), (two, _)| one.cmp(two));
    found.dedup_by(|(one, _), (two, _)| one == two);
    found
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
    found: &'a mut Vec<ReportCandidate>,
    budget: &'a mut usize,
}

impl Walk<'_> {
    fn below(&mut self, dir: &Path, depth: usize) {
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            if *self.budget == 0 || self.found.len() >= MAX_REPORTS {
                return;
            }
            *self.budget -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH && entry.file_name() != ".git" {
                self.below(&path, depth + 1);
            } else if kind.is_file()
                && path.strip_prefix(self.top).is_ok_and(|inside| self.matcher.is_match(inside))
            {
                let written = entry.metadata().ok().map(|facts| files::stat(&facts));
                self.found.push((path, written));
            }
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

/// Hands a report on in chunks, until its end or until `each` has seen enough. It is never held.
pub fn stream(path: &Path, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    let mut file = std::fs::File::open(path)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match file.read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 || each(chunk.get(..read).unwrap_or_default()).is_break() {
            return Ok(());
        }
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
            matching(&top, &globs)
                .iter()
                .map(|(path, _)| path.strip_prefix(&top).unwrap().to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(names(&["target/**/junit.xml"]), ["target/a/b/junit.xml", "target/junit.xml"]);
        assert_eq!(names(&["*.xml", "other.xml"]), ["other.xml"]);
        assert!(names(&["../*.xml", "/etc/*", "**/nothing"]).is_empty());
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
