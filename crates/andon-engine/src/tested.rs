//! The code that a run of the tests is bound to: its fingerprint, and how the working tree came to it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use crate::effect::program::ProgramEnd;
use crate::error::OpsError;
use crate::untracked;
pub use crate::untracked::Mentions;
use crate::workspace::Workspace;
use andon_core::domain::ids::{CodeId, TreeId};
use andon_core::domain::paths::PathClass;
use andon_core::domain::tests::{OverlayEntry, RunValidity, TestEvidence, TestRun};
use andon_core::domain::time::Timestamp;
use andon_core::domain::veil::Hidden;
use andon_git::{Ended, Events, IndexFile, MODE_SUBMODULE, Overlay, Watch};
use andon_store::fingerprint::Fingerprinter;
use testreport::ParsedRun;

/// Most paths that are looked at again one by one: git compares each with every path of the index, and beyond this
/// the whole look is as cheap.
const MAX_ASKED: usize = 32;

/// The code that tests ran on.
pub struct TestedCode {
    code: CodeId,
    base: Option<TreeId>,
    /// Code paths that differ from `base`, sorted.
    overlay: Vec<OverlayEntry>,
    truncated: bool,
    /// Code paths that git does not see as they are.
    hidden: Vec<Hidden>,
    /// Untracked files that bind nothing, and when each was last written before the run.
    beside: Vec<OverlayEntry>,
    written: BTreeMap<Vec<u8>, SystemTime>,
    watched: Option<Watched>,
    /// The watch when it is over.
    ended: Option<(Ended, BTreeSet<Vec<u8>>)>,
}

/// A watch over code, begun before the code was looked at.
struct Watched {
    watch: Watch,
    /// Directories with code that are not under watch.
    beside: BTreeSet<Vec<u8>>,
}

/// What happened to code since it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// The code at the end is the code at the beginning.
    Unchanged,
    /// It is other code now. The paths that tell, as far as they are known.
    Changed(BTreeSet<Vec<u8>>),
    /// It is as it was. Meanwhile these files held something else for a while.
    PutBack(BTreeSet<Vec<u8>>),
}

/// What running a test command gave, before anybody says what it is worth.
pub struct Executed {
    /// How the command ended.
    pub end: ProgramEnd,
    /// What its output and its reports say.
    pub parsed: ParsedRun,
    /// What happened to the code meanwhile.
    pub since: Since,
    /// What was wrong with its reports, or with the code that it saw.
    pub warnings: Vec<String>,
}

impl TestedCode {
    /// The working tree as it is now; HEAD's tree in a repository without one.
    pub fn now(ws: &Workspace) -> Result<Self, OpsError> {
        if ws.repo.workdir().is_some() {
            return Self::of(ws, untracked::tested_overlay(ws)?);
        }
        let head = ws.repo.head()?.commit();
        let base = head.map(|head| ws.repo.tree_of(head)).transpose()?;
        Self::of(ws, (Overlay { base, entries: Vec::new(), hidden: Vec::new() }, Vec::new()))
    }

    /// The working tree as it is now, under watch from here on.
    pub fn under_watch(ws: &Workspace) -> Result<Self, OpsError> {
        // Watched first: what changes while it is looked at has happened since.
        let Some(watch) = ws.repo.watch() else { return Self::now(ws) };
        let (overlay, untracked) = untracked::tested_overlay(ws)?;
        let beside = watch.unwatched(&overlay.entries);
        // A repository inside has files that only its own index knows.
        let plain =
            overlay.entries.iter().all(|one| one.entry.is_none_or(|(mode, _)| mode != MODE_SUBMODULE));
        let mut tested = Self::of(ws, (overlay, untracked))?;
        tested.watched = plain.then_some(Watched { watch, beside });
        Ok(tested)
    }

    fn of(ws: &Workspace, (overlay, mut beside): (Overlay, Vec<OverlayEntry>)) -> Result<Self, OpsError> {
        let rules = &ws.config.paths.rules;
        let code = fingerprint(ws, &overlay)?;
        let mut entries = overlay.entries;
        entries.retain(|entry| rules.class(&entry.path) == PathClass::Code);
        let mut hidden = overlay.hidden;
        hidden.retain(|one| rules.class(&one.full_path()) == PathClass::Code);
        beside.truncate(TestRun::MAX_BESIDE);
        let written = untracked::written_at(ws, &beside);
        let (base, truncated, watched, ended) = (overlay.base, false, None, None);
        Ok(Self { code, base, overlay: entries, truncated, hidden, beside, written, watched, ended })
    }

    /// Code of which only the fingerprint is known.
    pub fn reported(code: CodeId) -> Self {
        Self {
            code,
            base: None,
            overlay: Vec::new(),
            truncated: true,
            hidden: Vec::new(),
            beside: Vec::new(),
            written: BTreeMap::new(),
            watched: None,
            ended: None,
        }
    }

    /// Looks out for untracked files that the output of the tests names: those bind after all.
    pub fn mentions(&self, ws: &Workspace) -> Mentions {
        Mentions::of(self.beside.iter().map(|file| file.path.as_slice()), ws.repo.workdir())
    }

    /// Has the files that the tests named bind like tracked ones, but for those that the run itself wrote.
    pub fn bind(&mut self, ws: &Workspace, named: &BTreeSet<Vec<u8>>) -> Result<(), OpsError> {
        if named.is_empty() {
            return Ok(());
        }
        let now = untracked::written_at(ws, &self.beside);
        let written = std::mem::take(&mut self.written);
        let binds = |file: &mut OverlayEntry| {
            named.contains(&file.path) && now.get(&file.path) == written.get(&file.path)
        };
        let bound: Vec<_> = self.beside.extract_if(.., binds).collect();
        if bound.is_empty() {
            return Ok(());
        }
        self.overlay.extend(bound);
        self.overlay.sort();
        self.code =
            Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_overlay(self.base, &self.overlay)?;
        Ok(())
    }

    /// What the tests saw and git does not: a commit would be without it.
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// Ends the watch: what happens to the code from now on is of no interest.
    pub fn ran(&mut self) {
        if let Some(Watched { watch, beside }) = self.watched.take() {
            self.ended = Some((watch.end(), beside));
        }
    }

    /// What happened to this code since.
    pub fn since(&mut self, ws: &Workspace) -> Result<Since, OpsError> {
        self.ran();
        let ended = self.ended.take();
        let events = ended.and_then(|(ended, beside)| Some((ended.events(&ws.repo, &self.overlay)?, beside)));
        // The whole look costs as much as `git status`: it is taken where single paths do not answer.
        let Some((mut events, beside)) = events else { return self.whole_look(ws) };
        let rules = &ws.config.paths.rules;
        let is_beside = |path: &Vec<u8>| self.beside.iter().any(|file| file.path == *path);
        events.put_back.retain(|path| rules.class(path) == PathClass::Code && !is_beside(path));
        events.paths.extend(beside);
        let answer = match self.looked_at(ws, &events)? {
            Some(answer) => answer,
            None => self.whole_look(ws)?,
        };
        let unchanged = answer == Since::Unchanged && !events.put_back.is_empty();
        Ok(if unchanged { Since::PutBack(events.put_back) } else { answer })
    }

    /// What the paths tell to which something happened; `None` where they are no answer for all the others.
    fn looked_at(&self, ws: &Workspace, events: &Events) -> Result<Option<Since>, OpsError> {
        let asked = &events.paths;
        let head = ws.repo.head()?.commit().map(|head| ws.repo.tree_of(head)).transpose()?;
        if events.index == IndexFile::Written || head != self.base || asked.len() > MAX_ASKED {
            return Ok(None);
        }
        if asked.is_empty() {
            return Ok(Some(Since::Unchanged));
        }
        // Where git does not answer for these paths, it is asked for all of them.
        let Ok((now, _)) = untracked::tested_overlay_at(ws, asked) else { return Ok(None) };
        let before = self.overlay.iter().filter(|entry| is_below(&entry.path, asked));
        Ok(Some(self::since(ws, before, &now)))
    }

    fn whole_look(&self, ws: &Workspace) -> Result<Since, OpsError> {
        let (now, _) = untracked::tested_overlay(ws)?;
        if fingerprint(ws, &now)? == self.code {
            return Ok(Since::Unchanged);
        }
        Ok(match since(ws, self.overlay.iter(), &now) {
            Since::Unchanged | Since::PutBack(_) => Since::Changed(BTreeSet::new()),
            changed @ Since::Changed(_) => changed,
        })
    }

    /// A run on this code.
    pub fn run(
        self,
        at: Option<Timestamp>,
        parsed: ParsedRun,
        command: &str,
        validity: RunValidity,
    ) -> TestRun {
        let mut overlay = self.overlay;
        let overlay_truncated = self.truncated || overlay.len() > TestRun::MAX_OVERLAY;
        overlay.truncate(TestRun::MAX_OVERLAY);
        TestRun {
            at,
            evidence: TestEvidence::of(parsed, self.code, command),
            validity,
            base: self.base,
            overlay,
            overlay_truncated,
            beside: self.beside,
        }
    }
}

/// What the code paths among `now` tell that are not as they were `before`.
fn since<'a>(ws: &Workspace, before: impl Iterator<Item = &'a OverlayEntry>, now: &Overlay) -> Since {
    let rules = &ws.config.paths.rules;
    let before: BTreeSet<_> = before.map(|entry| (&entry.path, &entry.entry)).collect();
    let code = now.entries.iter().filter(|entry| rules.class(&entry.path) == PathClass::Code);
    let after: BTreeSet<_> = code.map(|entry| (&entry.path, &entry.entry)).collect();
    let paths: BTreeSet<Vec<u8>> =
        before.symmetric_difference(&after).map(|(path, _)| (*path).clone()).collect();
    if paths.is_empty() { Since::Unchanged } else { Since::Changed(paths) }
}

/// Whether `path` is one of `asked` or lies below one.
fn is_below(path: &[u8], asked: &BTreeSet<Vec<u8>>) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    asked.contains(path) || slashes.into_iter().any(|(at, _)| asked.contains(&path[..at]))
}

fn fingerprint(ws: &Workspace, overlay: &Overlay) -> Result<CodeId, OpsError> {
    Ok(Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_overlay(overlay.base, &overlay.entries)?)
}
