//! The reasons why git does not see what the tests saw, and the commands that make git see it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Result, Workspace};
use andon_core::detect::{PathDifference, PathHint, Side, Whereabouts};
use andon_core::domain::{HiddenPath, Hint, Tracking, TreeId, Veil};
use andon_core::escape::shell_quote_bytes;
use andon_git::platform::paths::path_from_bytes;
use andon_git::{MODE_EXECUTABLE, MODE_FILE, MODE_SUBMODULE, is_changed_submodule};
use andon_store::Difference;

/// The differences as the rule gets them; `head` is HEAD's tree. Looks at these paths only.
pub(super) fn named(
    ws: &Workspace,
    head: Option<TreeId>,
    differing: Vec<Difference>,
) -> Result<Vec<PathDifference>> {
    let paths: BTreeSet<Vec<u8>> = differing.iter().map(|difference| difference.path.clone()).collect();
    let veils = if paths.is_empty() { BTreeMap::new() } else { ws.repo.veils(&paths) };
    let named = |difference: Difference| {
        let hint = hint(ws, &difference, veils.get(&difference.path));
        let state = whereabouts(ws, head, &difference, hint.as_ref())?;
        Ok(PathDifference {
            hint,
            state,
            word: word(ws, &difference.path),
            side: if difference.run_side.is_some() { Side::Run } else { Side::CandidateOnly },
            path: difference.path,
            tracking: difference.tracking,
        })
    };
    differing.into_iter().map(named).collect()
}

fn hint(ws: &Workspace, difference: &Difference, veil: Option<&Veil>) -> Option<PathHint> {
    let (path, run) = (&difference.path, difference.run_side);
    if run.is_some_and(|(mode, id)| is_changed_submodule(path, mode, id)) {
        let reason = "the submodule has changes of its own".to_owned();
        return Some(PathHint { reason, command: Hint::StatusOf.with([&shell_quote_bytes(path)]) });
    }
    // The tests saw something else than is there now: edited since, and no wonder that it differs.
    if run.map(|(_, id)| id) != ws.repo.worktree_blob(path) {
        return None;
    }
    let veil = match (run, difference.commit_side) {
        (Some((then, id)), Some((now, same)))
            if id == same
                && then != now
                && [then, now].iter().all(|mode| [MODE_FILE, MODE_EXECUTABLE].contains(mode)) =>
        {
            ws.repo
                .config_string("core.filemode")
                .is_some_and(|value| value == "false")
                .then_some(Veil::FileMode)
        }
        _ => veil.cloned(),
    }?;
    let hidden = HiddenPath { submodule: Vec::new(), path: path.clone(), veil };
    Some(PathHint { reason: hidden.veil.reason(), command: hidden.command(shell_quote_bytes)? })
}

/// The states of a path in HEAD, the commit and the working tree. `head` is HEAD's tree, `hint` tells what keeps git
/// from seeing the path.
fn whereabouts(
    ws: &Workspace,
    head: Option<TreeId>,
    difference: &Difference,
    hint: Option<&PathHint>,
) -> Result<Whereabouts> {
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
    // If only the mode differs, the contents tell nothing.
    if inside.is_none() && id(run_side) != id(commit_side) && ws.repo.worktree_blob(path) == id(commit_side) {
        return Ok(Whereabouts::AsCommitted);
    }
    let in_head = ws.repo.entry_at(head, path)?;
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
fn word(ws: &Workspace, path: &[u8]) -> String {
    let is_pattern = path.first() == Some(&b':') || path.iter().any(|byte| b"*?[\\".contains(byte));
    let magic: &[u8] = match (is_pattern, ws.below_top) {
        (true, true) => b":(top,literal)",
        (true, false) => b":(literal)",
        (false, true) => b":(top)",
        (false, false) => b"",
    };
    shell_quote_bytes(&[magic, path].concat())
}
