//! The states of a path that differs: in HEAD, in the commit, in the working tree. Looks at this path only.

use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_core::detect::{PathHint, Whereabouts};
use andon_core::domain::ids::TreeId;
use andon_core::domain::tests::Tracking;
use andon_core::escape::shell_quote_bytes;
use andon_git::platform::paths::path_from_bytes;
use andon_git::{MODE_SUBMODULE, is_changed_submodule};
use andon_store::fingerprint::Difference;

/// What of the path is where. `head` is HEAD's tree, `hint` what keeps git from seeing the path.
pub(super) fn read(
    ws: &Workspace,
    head: Option<TreeId>,
    difference: &Difference,
    hint: Option<&PathHint>,
) -> Result<Whereabouts, OpsError> {
    let Difference { path, run_side, commit_side, tracking } = difference;
    let inside = run_side.filter(|(mode, _)| *mode == MODE_SUBMODULE);
    if inside.is_some() && *tracking == Tracking::Untracked {
        return Ok(Whereabouts::Nested);
    }
    if inside.is_some_and(|(mode, id)| is_changed_submodule(path, mode, id)) {
        return Ok(Whereabouts::ChangedSubmodule);
    }
    if hint.is_some() {
        return Ok(Whereabouts::Veiled);
    }
    let id = |side: &Option<(u32, _)>| side.map(|(_, id)| id);
    // Where only the mode differs, the contents tell nothing.
    if inside.is_none() && id(run_side) != id(commit_side) && ws.repo.worktree_blob(path) == id(commit_side) {
        return Ok(Whereabouts::AsCommitted);
    }
    let in_head = head.map(|tree| ws.repo.entry_at(tree, path)).transpose()?.flatten();
    Ok(match (commit_side, tracking) {
        _ if *commit_side != in_head => Whereabouts::PartlyStaged,
        (None, Tracking::Untracked) => Whereabouts::Untracked,
        (None, Tracking::Tracked) => Whereabouts::Intended,
        (Some(_), _) if run_side.is_none() && is_gone(ws, path) => Whereabouts::Gone,
        (Some(_), Tracking::Tracked | Tracking::Untracked) => Whereabouts::Unstaged,
    })
}

fn is_gone(ws: &Workspace, path: &[u8]) -> bool {
    let there = ws.repo.workdir().map(|top| top.join(path_from_bytes(path)));
    there.is_some_and(|path| path.symlink_metadata().is_err())
}

/// The path as a word of a shell that git reads as this path alone, in any directory.
pub(super) fn word(ws: &Workspace, path: &[u8]) -> String {
    let is_pattern = path.first() == Some(&b':') || path.iter().any(|byte| b"*?[\\".contains(byte));
    let magic: &[u8] = match (is_pattern, ws.below_top) {
        (true, true) => b":(top,literal)",
        (true, false) => b":(literal)",
        (false, true) => b":(top)",
        (false, false) => b"",
    };
    shell_quote_bytes(&[magic, path].concat())
}
