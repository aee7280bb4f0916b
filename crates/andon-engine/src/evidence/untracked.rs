//! The untracked files that belong to the code that tests are bound to (docs/concepts.md).
//!
//! Tests read the working tree, and a commit holds only what git tracks. An untracked file that the tests may have read
//! binds them: without it, nothing is known of what is committed. A file of a kind that the project has no code of,
//! such as a log or notes, does not: it is kept with the test run, and the record names it.

use std::collections::{BTreeMap, BTreeSet};
use std::{path::Path, rc::Rc, time::SystemTime};

use regex::bytes::Regex;

use super::{Asked, Subject};
use crate::{Result, Workspace, recording::LoadedTimeline, text::phrase::some_of};
use andon_core::detect::{Candidate, CodeChange, EvidenceState};
use andon_core::domain::{
    Diagnostic, Hint, OverlayEntry, TestEvidence, TestRun, Tracking, paths::kind_of, plural::count,
};
use andon_core::escape::shell_quote_bytes;
use andon_git::{MODE_SUBMODULE, Overlay, platform::paths::path_from_bytes};
use andon_store::Content;
use testreport::{ParsedRun, Stream};

/// Runs that are searched for an untracked file of a commit: each is looked at as a tree.
const RUNS: usize = 32;
/// Files that are named in a message.
const NAMED: usize = 3;

/// The working tree as it was looked at.
#[derive(Debug, Clone)]
pub struct TreeSnapshot {
    /// The difference between HEAD's tree and the code.
    pub overlay: Overlay,
    /// Untracked files that bind nothing.
    pub beside: Vec<OverlayEntry>,
}

/// The working tree as far as tests are bound to it, and the untracked files that bind nothing.
pub fn tested_overlay(ws: &Workspace) -> Result<TreeSnapshot> {
    let mut overlay = ws.overlay()?;
    let beside = set_aside(ws, &mut overlay);
    Ok(TreeSnapshot { overlay, beside })
}

/// Takes the untracked files that bind nothing out of `overlay`: those of a kind that no tracked code has. Where nothing
/// is tracked yet, and where git does not say what is, all of them bind.
pub(crate) fn set_aside(ws: &Workspace, overlay: &mut Overlay) -> Vec<OverlayEntry> {
    let may_be_aside = |entry: &OverlayEntry| {
        entry.tracking == Tracking::Untracked
            // A repository inside has a row of its own among the ways out.
            && entry.entry.is_some_and(|(mode, _)| mode != MODE_SUBMODULE)
            && ws.is_code(&entry.path)
    };
    if !overlay.entries.iter().any(may_be_aside) {
        return Vec::new();
    }
    let Ok(tracked) = ws.repo.tracked_files() else { return Vec::new() };
    let code = tracked.iter().filter(|(_, path)| ws.is_code(path));
    let kinds: BTreeSet<Vec<u8>> = code.map(|(mode, path)| kind_of(path, *mode)).collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    let is_aside = |entry: &mut OverlayEntry| may_be_aside(entry) && !kinds.contains(&kind(entry));
    overlay.entries.extract_if(.., is_aside).collect()
}

fn kind(file: &OverlayEntry) -> Vec<u8> {
    kind_of(&file.path, file.entry.map_or(0, |(mode, _)| mode))
}

/// When each of `files` was last written, before a run.
pub(crate) fn written_at(ws: &Workspace, files: &[OverlayEntry]) -> BTreeMap<Vec<u8>, SystemTime> {
    let Some(top) = ws.repo.workdir() else { return BTreeMap::new() };
    let at = |path: &[u8]| top.join(path_from_bytes(path)).symlink_metadata().ok()?.modified().ok();
    files.iter().filter_map(|file| Some((file.path.clone(), at(&file.path)?))).collect()
}

/// The test run that is evidence for the code although the tests ran when some of its files were not tracked yet and bound
/// nothing: `git add` of such a file changes the code, not what was tested.
pub(crate) fn run_before_add(asked: Asked<'_>) -> Result<Option<TestEvidence>> {
    let of_everything = |run: &TestRun| run.evidence.command != TestEvidence::OF_SCOPES;
    let found = newest_before_add(asked, of_everything)?;
    let code = asked.code;
    Ok(found.map(|(run, left)| TestEvidence { code, ..of_run(&run, |file| left.contains(file)) }))
}

/// A run, and its untracked files that are still none of the code.
type RunBeforeAdd = (Rc<TestRun>, Vec<OverlayEntry>);

/// The newest such run that `counts`, with its untracked files that are still none of the code.
pub(crate) fn newest_before_add(
    asked: Asked<'_>,
    counts: impl Fn(&TestRun) -> bool,
) -> Result<Option<RunBeforeAdd>> {
    let Asked { ws, loaded, subject, code } = asked;
    for run in loaded.results_of(ws).runs_beside().filter(|run| counts(run)).take(RUNS) {
        let (overlay, left) = as_tracked_in(ws, &run, subject)?;
        if left.len() == run.beside.len() {
            continue;
        }
        let prints = ws.fingerprinter().of(Content::Overlay(run.base, &overlay));
        // The base may be gone by now.
        if prints.is_ok_and(|found| found == code) {
            return Ok(Some((run, left)));
        }
    }
    Ok(None)
}

/// The differences of a run from its base, with those of its untracked files that `subject` has or whose kind it has:
/// that kind is one of the project's now. The other untracked files come second.
pub(crate) fn as_tracked_in(
    ws: &Workspace,
    run: &TestRun,
    subject: &Subject,
) -> Result<(Vec<OverlayEntry>, Vec<OverlayEntry>)> {
    let mut added = BTreeSet::new();
    for file in &run.beside {
        if subject.has(ws, &file.path)? {
            added.insert(kind(file));
        }
    }
    let beside = run.beside.iter().cloned();
    let (bind, left) = beside.partition::<Vec<_>, _>(|file| added.contains(&kind(file)));
    let mut overlay = run.overlay.clone();
    overlay.extend(bind);
    overlay.sort();
    Ok((overlay, left))
}

/// The evidence of a run, with the names of untracked files that existed and are in no commit.
pub(crate) fn evidence_of(run: &TestRun) -> TestEvidence {
    of_run(run, |_| true)
}

fn of_run(run: &TestRun, is_left: impl Fn(&OverlayEntry) -> bool) -> TestEvidence {
    let names = run.beside.iter().filter(|file| is_left(file));
    let names =
        names.take(TestEvidence::MAX_UNTRACKED).map(|file| String::from_utf8_lossy(&file.path).into());
    let mut evidence = run.evidence.clone();
    evidence.untracked = names.collect();
    evidence
}

/// The remark about untracked files that bind nothing, made once: not if an earlier record names them.
pub(crate) fn notice(candidate: &Candidate, loaded: &LoadedTimeline) -> Option<Diagnostic> {
    let EvidenceState::Tested(tests) = &candidate.evidence else { return None };
    if candidate.code_changed == CodeChange::Unchanged {
        return None;
    }
    let records = loaded.window.facts.iter().filter_map(|commit| commit.record.tests.as_ref());
    let said: BTreeSet<&String> = records.flat_map(|tests| &tests.untracked).collect();
    let new: Vec<&String> = tests.untracked.iter().filter(|name| !said.contains(name)).collect();
    let first = new.first()?;
    let named = some_of(&new, NAMED, |name| (*name).clone());
    let (files, were) = (count(new.len(), "untracked file"), if new.len() == 1 { "was" } else { "were" });
    let message = format!("{files} {were} there when the tests ran and will not be in the commit: {named}");
    let help = Hint::AddOne.with([&shell_quote_bytes(first.as_bytes())]);
    Some(Diagnostic::warning(message).code("untracked-files").help(help))
}

/// True if untracked files would get a remark when they are new.
pub(crate) fn has_any(candidate: &Candidate) -> bool {
    matches!(&candidate.evidence, EvidenceState::Tested(tests) if !tests.untracked.is_empty())
}

/// Looks through what tests print for the names of untracked files.
pub struct Mentions {
    paths: Vec<Vec<u8>>,
    /// `None` where there is nothing to look for.
    pattern: Option<Regex>,
    /// The end of what was printed, by stream: a name may come in two pieces.
    ends: [Vec<u8>; 2],
    kept: usize,
    found: BTreeSet<Vec<u8>>,
}

impl Mentions {
    /// Those of `paths`, from the top of a working tree.
    pub fn from_paths<'a>(paths: impl Iterator<Item = &'a [u8]>, top: Option<&Path>) -> Self {
        let paths: Vec<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
        let names: Vec<String> =
            paths.iter().map(|path| regex::escape(&String::from_utf8_lossy(path))).collect();
        let top = top.map(|top| format!("|{}/", regex::escape(&top.to_string_lossy()))).unwrap_or_default();
        // A whole path: neither the end of a longer one, nor the beginning.
        let pattern = format!(r"(?-u:[^\w./-])(?:\./{top})?({})(?-u:[^\w.-]|\.[^\w])", names.join("|"));
        let pattern = Regex::new(&pattern).ok().filter(|_| !paths.is_empty());
        let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
        let kept = longest + top.len() + 8;
        Self { paths, pattern, ends: [b"\n".to_vec(), b"\n".to_vec()], kept, found: BTreeSet::new() }
    }

    /// More of what is printed.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let Some(pattern) = &self.pattern else { return };
        let end = match stream {
            Stream::Stdout => &mut self.ends[0],
            Stream::Stderr => &mut self.ends[1],
        };
        end.extend_from_slice(bytes);
        let mut from = 0;
        // The end of one name may begin the next.
        while let Some(name) = pattern.captures_at(end, from).and_then(|found| found.get(1)) {
            self.found.insert(name.as_bytes().to_vec());
            from = name.end();
        }
        end.drain(..end.len().saturating_sub(self.kept));
    }

    /// The files that were named in what was printed, and in the names of the tests.
    pub fn named_in(mut self, run: &ParsedRun) -> BTreeSet<Vec<u8>> {
        if self.pattern.is_some() {
            let tests = run.tests.iter().flatten().map(|test| &test.id);
            let ids: String = tests.chain(&run.failing).flat_map(|id| [id.as_str(), "\n"]).collect();
            self.push(Stream::Stdout, b"\n");
            self.push(Stream::Stderr, b"\n");
            self.push(Stream::Stdout, ids.as_bytes());
        }
        self.found.retain(|name| self.paths.contains(name));
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testreport::{ExitKind, Root, RunReader};

    fn named(pieces: &[&str]) -> Vec<String> {
        let paths: [&[u8]; 3] = [b"data/x.bin", b"notes", b"a.b"];
        let mut mentions = Mentions::from_paths(paths.into_iter(), Some(Path::new("/w/top")));
        for piece in pieces {
            mentions.push(Stream::Stdout, piece.as_bytes());
        }
        let run = RunReader::new(Root::none()).finish(ExitKind::Code(0));
        let found = mentions.named_in(&run).into_iter();
        found.map(|path| String::from_utf8(path).unwrap()).collect()
    }

    #[test]
    fn a_file_is_named_by_its_whole_path() {
        for (pieces, expected) in [
            (&["cannot read data/x.bin: short\n"][..], &["data/x.bin"][..]),
            (&["cannot read data", "/x.b", "in"], &["data/x.bin"]),
            (&["./notes, /w/top/a.b."], &["a.b", "notes"]),
            (&["\"notes\" 'a.b'"], &["a.b", "notes"]),
            (&["other/notes notes.py a.b.c my-notes /elsewhere/notes data/x.bin2"], &[]),
            (&["data/x"], &[]),
            (&["notes"], &["notes"]),
            (&[""], &[]),
        ] {
            assert_eq!(named(pieces), expected, "{pieces:?}");
        }
    }
}
