//! The code that a run of the tests is bound to: its fingerprint, and how the working tree came to it.

use std::collections::BTreeSet;

use crate::domain::ids::{CodeId, TreeId};
use crate::domain::paths::PathClass;
use crate::domain::tests::{OverlayEntry, RunValidity, TestRun};
use crate::domain::time::Timestamp;
use crate::git::{Glance, Overlay};
use crate::ops::error::OpsError;
use crate::ops::workspace::Workspace;
use crate::record::fingerprint::Fingerprinter;
use crate::testreport::ParsedRun;

/// The code that tests ran on.
pub struct TestedCode {
    code: CodeId,
    base: Option<TreeId>,
    /// Code paths that differ from `base`.
    overlay: Vec<OverlayEntry>,
    truncated: bool,
    glance: Option<Glance>,
}

/// What happened to code since it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing.
    Unchanged,
    /// It is other code now. The paths that tell, as far as they are known.
    Changed(BTreeSet<Vec<u8>>),
}

impl TestedCode {
    /// The working tree as it is now; HEAD's tree in a repository without one.
    pub fn now(ws: &Workspace) -> Result<Self, OpsError> {
        let overlay = if ws.repo.workdir().is_some() {
            ws.overlay()?
        } else {
            let head = ws.repo.head()?.commit();
            Overlay { base: head.map(|head| ws.repo.tree_of(head)).transpose()?, entries: Vec::new() }
        };
        let rules = &ws.config.paths.rules;
        let code = fingerprint(ws, &overlay)?;
        let glance = ws.repo.glance(&overlay);
        let mut entries = overlay.entries;
        entries.retain(|entry| rules.class(&entry.path) == PathClass::Code);
        let truncated = entries.len() > TestRun::MAX_OVERLAY;
        entries.truncate(TestRun::MAX_OVERLAY);
        Ok(Self { code, base: overlay.base, overlay: entries, truncated, glance })
    }

    /// Code of which only the fingerprint is known.
    pub fn told(code: CodeId) -> Self {
        Self { code, base: None, overlay: Vec::new(), truncated: true, glance: None }
    }

    /// What happened to this code since.
    pub fn since(&self, ws: &Workspace) -> Result<Since, OpsError> {
        // The whole look costs as much as `git status`: it is taken where stat data does not answer.
        if self.glance.as_ref().is_some_and(|glance| ws.repo.is_as_seen(glance)) {
            return Ok(Since::Unchanged);
        }
        let now = ws.overlay()?;
        if fingerprint(ws, &now)? == self.code {
            return Ok(Since::Unchanged);
        }
        let rules = &ws.config.paths.rules;
        let before: BTreeSet<&OverlayEntry> = self.overlay.iter().collect();
        let after: BTreeSet<&OverlayEntry> =
            now.entries.iter().filter(|entry| rules.class(&entry.path) == PathClass::Code).collect();
        let paths = before.symmetric_difference(&after).map(|entry| entry.path.clone()).collect();
        Ok(Since::Changed(paths))
    }

    /// A run on this code.
    pub fn run(
        self,
        at: Option<Timestamp>,
        parsed: ParsedRun,
        command: &str,
        validity: RunValidity,
    ) -> TestRun {
        TestRun {
            at,
            evidence: parsed.into_evidence(self.code, command),
            validity,
            base: self.base,
            overlay: self.overlay,
            overlay_truncated: self.truncated,
        }
    }
}

fn fingerprint(ws: &Workspace, overlay: &Overlay) -> Result<CodeId, OpsError> {
    Ok(Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_overlay(overlay.base, &overlay.entries)?)
}
