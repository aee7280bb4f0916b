//! The state of the commit that is being made, as far as the way out of its refusal depends on it.

use crate::workspace::Workspace;
use andon_core::detect::{CommitDraft, GitUnderway, IndexUse};
use andon_core::domain::ids::TreeId;
use andon_git::Operation;

/// Digits of a tree's id in a command.
const DIGITS: usize = 12;

/// What is being made of `tree`.
pub fn draft(ws: &Workspace, tree: TreeId) -> CommitDraft {
    let index = index_use(ws);
    let exact = match index {
        IndexUse::AsIs => "andon test --staged".to_owned(),
        IndexUse::All | IndexUse::Paths => {
            format!("andon test --tree {}", tree.to_string().chars().take(DIGITS).collect::<String>())
        }
    };
    CommitDraft { underway: underway(ws), index, exact }
}

fn underway(ws: &Workspace) -> GitUnderway {
    match ws.repo.operation() {
        Operation::None => GitUnderway::Nothing,
        Operation::Merge => GitUnderway::Merge,
        Operation::CherryPick => GitUnderway::Pick,
        Operation::Revert => GitUnderway::Revert,
        Operation::Rebase | Operation::Patches => GitUnderway::Rebase,
    }
}

/// Recognized by the name of the index that git gives its hooks (docs/git-facts.md).
fn index_use(ws: &Workspace) -> IndexUse {
    let path = ws.repo.index_path();
    match path.file_name().and_then(|name| name.to_str()) {
        Some("index") => IndexUse::AsIs,
        Some("index.lock") => IndexUse::All,
        Some(_) | None => IndexUse::Paths,
    }
}
