//! Why git does not see what the tests saw, and the command that makes git see it.

use std::collections::{BTreeMap, BTreeSet};

use super::path_state;
use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_core::detect::{PathDifference, PathHint, Side};
use andon_core::domain::ids::TreeId;
use andon_core::domain::veil::{HiddenPath, Veil};
use andon_core::escape::shell_quote_bytes;
use andon_git::{MODE_EXECUTABLE, MODE_FILE, is_changed_submodule};
use andon_store::fingerprint::Difference;

/// The differences as the rule gets them; `head` is HEAD's tree. Looks at these paths only.
pub(super) fn named(
    ws: &Workspace,
    head: Option<TreeId>,
    differing: Vec<Difference>,
) -> Result<Vec<PathDifference>, OpsError> {
    let paths: BTreeSet<Vec<u8>> = differing.iter().map(|difference| difference.path.clone()).collect();
    let veils = if paths.is_empty() { BTreeMap::new() } else { ws.repo.veils(&paths) };
    let named = |difference: Difference| {
        let hint = hint(ws, &difference, veils.get(&difference.path));
        let state = path_state::read(ws, head, &difference, hint.as_ref())?;
        Ok(PathDifference {
            hint,
            state,
            word: path_state::word(ws, &difference.path),
            side: match difference.run_side {
                Some(_) => Side::Run,
                None => Side::CandidateOnly,
            },
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
        return Some(PathHint { reason, command: format!("git -C {} status", shell_quote_bytes(path)) });
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
    Some(PathHint { reason: hidden.veil.reason(), command: hidden.command(shell_quote_bytes) })
}
