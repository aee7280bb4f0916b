//! Whether what is checked out is the code of the tip: tests of anything else say nothing of it.

use std::path::PathBuf;

use super::range::{self, RangeRequest};
use andon_core::domain::ids::{CommitId, TreeId};
use andon_core::domain::paths::{PathClass, PathRules};
use andon_core::domain::tests::{OverlayEntry, Tracking};
use andon_core::escape::shell_quote;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::evidence::untracked;
use andon_engine::workspace::Workspace;
use andon_store::fingerprint::Fingerprinter;

/// How many paths a refusal names.
const NAMED: usize = 3;

/// Refuses to take the tests of other code for those of the tip. Files that the check itself writes (`own`) do not
/// count.
///
/// # Errors
/// The checkout is not the tip's code.
pub(super) fn refuse_other_code(
    ctx: &Context,
    ws: &Workspace,
    tip: CommitId,
    own: &[PathBuf],
    asked: &RangeRequest,
) -> Result<(), OpsError> {
    let top = ws.top()?;
    let ours: Vec<Vec<u8>> = own
        .iter()
        .filter_map(|file| {
            ctx.cwd.join(file).strip_prefix(top).ok().map(|path| path.to_string_lossy().into_owned())
        })
        .map(String::into_bytes)
        .collect();
    let (mut overlay, _) = untracked::tested_overlay(ws)?;
    overlay.entries.retain(|entry| entry.tracking == Tracking::Tracked || !ours.contains(&entry.path));
    let tree = ws.repo.tree_of(tip)?;
    if same_code(ws, &ws.config.paths.rules, tree, (overlay.base, &overlay.entries))? {
        return Ok(());
    }
    let rules = &ws.config.paths.rules;
    let head = ws.repo.head()?.commit();
    let moved = match head {
        Some(head) => !same_code(ws, rules, tree, (Some(ws.repo.tree_of(head)?), &[]))?,
        None => true,
    };
    let why = if moved {
        let head = head.map_or_else(|| "has no commit".to_owned(), |head| format!("is {}", head.short()));
        format!("HEAD {head}")
    } else {
        let dirty = overlay.entries.iter().filter(|entry| rules.class(&entry.path) == PathClass::Code);
        let dirty: Vec<_> = dirty.map(|entry| String::from_utf8_lossy(&entry.path)).collect();
        let more = match dirty.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = dirty.iter().take(NAMED).map(|path| &**path).collect::<Vec<_>>().join(", ");
        format!("not committed: {named}{more}")
    };
    let range = range::spelled(ctx, asked)?.text;
    let (range, short) = (by_ids(ws, &range, tip), tip.short());
    let folder = format!("../andon-{short}");
    Err(OpsError::Usage {
        what: format!(
            "this checkout is not the code of the tip, {short} ({why}): its tests would say nothing of it"
        ),
        help: format!(
            "git worktree add --detach {folder} {short} && cd {folder} && andon check --test {}",
            shell_quote(&range)
        ),
    })
}

/// The range in words that mean the same in another worktree, whose HEAD is another one.
fn by_ids(ws: &Workspace, range: &str, tip: CommitId) -> String {
    let from = range.split_once("..").map(|(from, _)| from);
    let from = from.and_then(|from| ws.repo.resolve(from).ok());
    from.map_or_else(|| tip.short(), |from| format!("{}..{}", from.short(), tip.short()))
}

fn same_code(
    ws: &Workspace,
    rules: &PathRules,
    tree: TreeId,
    (base, entries): (Option<TreeId>, &[OverlayEntry]),
) -> Result<bool, OpsError> {
    let mut prints = Fingerprinter::new(&ws.repo, rules);
    Ok(prints.of_overlay(base, entries)? == prints.of_tree(tree)?)
}
