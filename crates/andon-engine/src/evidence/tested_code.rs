//! The code that a test run is bound to: its fingerprint, and the state of the working tree behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

pub use crate::evidence::untracked::Mentions;
use crate::evidence::untracked::{self, TreeSnapshot};
use crate::{Result, Workspace, effect::ProgramEnd};
use andon_core::domain::{
    CodeId, HiddenPath, OverlayEntry, RunValidity, TestEvidence, TestRun, Timestamp, TreeId,
};
use andon_git::Overlay;
use andon_store::Content;
use testreport::ParsedRun;

/// The code that tests ran on.
pub struct TestedCode {
    code: CodeId,
    base: Option<TreeId>,
    /// Code paths that differ from `base`, sorted.
    overlay: Vec<OverlayEntry>,
    truncated: bool,
    /// Code paths that git does not see as they are.
    hidden: Vec<HiddenPath>,
    /// Untracked files that bind nothing, and when each was last written before the run.
    beside: Vec<OverlayEntry>,
    written: BTreeMap<Vec<u8>, SystemTime>,
}

/// Most new files that are told from files that changed.
const WRITTEN: usize = 256;

/// The fate of code since it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeComparison {
    /// The code at the end is the code at the beginning.
    Unchanged,
    /// It is other code now. The paths that tell, as far as they are known.
    Changed(BTreeSet<Vec<u8>>),
    /// The run wrote these files, which were not there before, and touched nothing else.
    Written(BTreeSet<Vec<u8>>),
    /// It is the same code, and these directories of it, or links to directories, were moved away or replaced meanwhile:
    /// what the tests saw there is not known.
    Replaced(BTreeSet<Vec<u8>>),
}

/// The result of running a test command, before it is judged.
pub struct CommandResult {
    /// The end of the command.
    pub end: ProgramEnd,
    /// The result by its output and its reports.
    pub parsed: ParsedRun,
    /// The fate of the code meanwhile.
    pub since: CodeComparison,
    /// Faults of its reports, or of the code that it saw.
    pub warnings: Vec<String>,
}

impl TestedCode {
    /// The working tree as it is now; HEAD's tree in a repository without one.
    pub fn now(ws: &Workspace) -> Result<Self> {
        if ws.repo.workdir().is_some() {
            return Self::from_overlay(ws, untracked::tested_overlay(ws)?);
        }
        let head = ws.repo.head()?.commit();
        let base = head.map(|head| ws.repo.tree_of(head)).transpose()?;
        let overlay = Overlay { base, entries: Vec::new(), hidden: Vec::new() };
        Self::from_overlay(ws, TreeSnapshot { overlay, beside: Vec::new() })
    }

    /// The working tree as it was looked at.
    pub fn from_overlay(ws: &Workspace, seen: TreeSnapshot) -> Result<Self> {
        let TreeSnapshot { overlay, mut beside } = seen;
        let code = fingerprint(ws, &overlay)?;
        let mut entries = overlay.entries;
        entries.retain(|entry| ws.is_code(&entry.path));
        let mut hidden = overlay.hidden;
        hidden.retain(|one| ws.is_code(&one.full_path()));
        beside.truncate(TestRun::MAX_BESIDE);
        let written = untracked::written_at(ws, &beside);
        let (base, truncated) = (overlay.base, false);
        Ok(Self { code, base, overlay: entries, truncated, hidden, beside, written })
    }

    /// Code that is known by its fingerprint alone: that of HEAD, or some that differs from it.
    pub fn reported(ws: &Workspace, code: CodeId) -> Result<Self> {
        let base = head_with(ws, code)?;
        Ok(Self {
            code,
            base,
            overlay: Vec::new(),
            truncated: base.is_none(),
            hidden: Vec::new(),
            beside: Vec::new(),
            written: BTreeMap::new(),
        })
    }

    /// Looks out for untracked files that the output of the tests names: those bind after all.
    pub fn mentions(&self, ws: &Workspace) -> Mentions {
        Mentions::from_paths(self.beside.iter().map(|file| file.path.as_slice()), ws.repo.workdir())
    }

    /// Has the files that the tests named bind like tracked ones, but for those that the run itself wrote.
    pub fn bind(&mut self, ws: &Workspace, named: &BTreeSet<Vec<u8>>) -> Result<()> {
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
        self.code = ws.fingerprinter().of(Content::Overlay(self.base, &self.overlay))?;
        Ok(())
    }

    /// Files that the tests saw and git does not: a commit would be without them.
    pub fn hidden(&self) -> &[HiddenPath] {
        &self.hidden
    }

    /// Compares this code with the working tree, all of which is looked at once more. A change that was taken back
    /// meanwhile leaves no trace.
    pub fn since(&self, ws: &Workspace) -> Result<CodeComparison> {
        let now = untracked::tested_overlay(ws)?.overlay;
        if fingerprint(ws, &now)? == self.code {
            return Ok(CodeComparison::Unchanged);
        }
        let before: BTreeSet<_> = self.overlay.iter().map(|entry| (&entry.path, &entry.entry)).collect();
        let code = now.entries.iter().filter(|entry| ws.is_code(&entry.path));
        let after: BTreeSet<_> = code.map(|entry| (&entry.path, &entry.entry)).collect();
        let differs: BTreeSet<_> =
            before.symmetric_difference(&after).map(|(path, _)| (*path).clone()).collect();
        let was_there = |path: &Vec<u8>| -> Result<bool> {
            let known = before.iter().any(|(own, entry)| *own == path && entry.is_some());
            Ok(known || ws.repo.entry_at(self.base, path)?.is_some())
        };
        for path in differs.iter().take(WRITTEN) {
            if was_there(path)? {
                return Ok(CodeComparison::Changed(differs));
            }
        }
        let all_new = !differs.is_empty() && differs.len() <= WRITTEN;
        Ok(if all_new { CodeComparison::Written(differs) } else { CodeComparison::Changed(differs) })
    }

    /// A run on this code.
    pub fn run(
        self,
        at: Option<Timestamp>,
        parsed: ParsedRun,
        command: &str,
        validity: RunValidity,
    ) -> TestRun {
        let evidence = TestEvidence::from_run(parsed, self.code, command);
        self.run_of(at, evidence, validity)
    }

    /// The fingerprint.
    pub fn code(&self) -> CodeId {
        self.code
    }

    /// A run with this result.
    pub fn run_of(self, at: Option<Timestamp>, evidence: TestEvidence, validity: RunValidity) -> TestRun {
        let mut overlay = self.overlay;
        let overlay_truncated = self.truncated || overlay.len() > TestRun::MAX_OVERLAY;
        overlay.truncate(TestRun::MAX_OVERLAY);
        TestRun { at, evidence, validity, base: self.base, overlay, overlay_truncated, beside: self.beside }
    }
}

/// HEAD's tree, where its code is `code`.
pub fn head_with(ws: &Workspace, code: CodeId) -> Result<Option<TreeId>> {
    let Some(head) = ws.repo.head()?.commit() else { return Ok(None) };
    let tree = ws.repo.tree_of(head)?;
    let own = ws.fingerprinter().of_tree(tree)?;
    Ok((own == code).then_some(tree))
}

fn fingerprint(ws: &Workspace, overlay: &Overlay) -> Result<CodeId> {
    Ok(ws.fingerprinter().of(Content::Overlay(overlay.base, &overlay.entries))?)
}
