//! The working tree as it is now: its code, and the state of the documents and files beside it.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::evidence::{TreeSnapshot, untracked};
use crate::{Result, Workspace};
use andon_core::change::is_source;
use andon_core::domain::{CodeId, Digest, OverlayEntry, PathClass, Timestamp, TurnEnd};
use andon_git::Overlay;
use andon_store::Content;

/// Largest document that is read, in bytes; a larger one counts by its id.
const MAX_DOCUMENT: u64 = 1 << 20;

/// The working tree at the end of a turn: looking at it costs by its size, so that it is done once.
pub struct WorkingTree {
    /// The differences from HEAD.
    pub overlay: Overlay,
    pub code: CodeId,
    /// Untracked files that no tests are bound to and that are no program: what an agent or a shell writes along, such as a
    /// transcript.
    beside: Vec<OverlayEntry>,
}

impl WorkingTree {
    pub fn look(ws: &Workspace) -> Result<Self> {
        ws.top()?;
        let TreeSnapshot { mut overlay, mut beside } = untracked::tested_overlay(ws)?;
        overlay.entries.extend(beside.extract_if(.., |file| is_source(&file.path)));
        overlay.entries.sort_by(|one, other| one.path.cmp(&other.path));
        let code = ws.fingerprinter().of(Content::Overlay(overlay.base, &overlay.entries))?;
        Ok(Self { overlay, code, beside })
    }

    /// The end of a turn that left it like this.
    pub fn ended(&self, ws: &Workspace) -> TurnEnd {
        TurnEnd { code: Some(self.code), docs: Some(documents(ws, self)) }
    }

    /// True if a part of the code may have been written since then. A deleted file shows in its directory.
    pub fn is_newer(&self, ws: &Workspace, since: Timestamp) -> bool {
        let Some(top) = ws.repo.workdir() else { return true };
        let is_code = |entry: &&OverlayEntry| ws.is_code(&entry.path);
        self.overlay.entries.iter().filter(is_code).any(|entry| {
            let Ok(path) = std::str::from_utf8(&entry.path) else { return true };
            let path = top.join(path);
            let place = if entry.entry.is_some() { Some(path.as_path()) } else { path.parent() };
            let written = place.and_then(|place| place.symlink_metadata().ok()?.modified().ok());
            let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            written.is_none_or(|at| i64::try_from(at.as_secs()).unwrap_or(i64::MAX) >= since.0)
        })
    }
}

/// The state of the documents that are not committed as they are: their text without white space (docs/spec-map.md, loop safety:
/// progress measurement), and which files there are beside the code: that one comes or goes is work, that it grows is none, nor
/// is another of a row that differs by its number.
fn documents(ws: &Workspace, tree: &WorkingTree) -> Digest {
    let mut hasher = Sha256::new();
    let unnumbered = |file: &OverlayEntry| {
        let letters = file.path.iter().copied().filter(|byte| !byte.is_ascii_digit());
        letters.collect::<Vec<u8>>()
    };
    let kinds: BTreeSet<Vec<u8>> = tree.beside.iter().map(unnumbered).collect();
    for name in &kinds {
        hasher.update(name);
    }
    let is_docs = |entry: &&OverlayEntry| ws.config.paths.rules.class(&entry.path) == PathClass::Docs;
    for entry in tree.overlay.entries.iter().filter(is_docs) {
        hasher.update(&entry.path);
        hasher.update([0]);
        match (entry.entry, text(ws, &entry.path)) {
            (Some(_), Some(text)) => {
                text.split_ascii_whitespace().for_each(|word| {
                    hasher.update(word);
                    hasher.update(b" ");
                });
            }
            (Some((_, id)), None) => hasher.update(id.as_bytes()),
            (None, _) => {}
        }
        hasher.update([0]);
    }
    Digest(hasher.finalize().into())
}

fn text(ws: &Workspace, path: &[u8]) -> Option<String> {
    let path = ws.repo.workdir()?.join(std::str::from_utf8(path).ok()?);
    let facts = path.symlink_metadata().ok()?;
    (facts.is_file() && facts.len() <= MAX_DOCUMENT).then(|| std::fs::read_to_string(path).ok()).flatten()
}
