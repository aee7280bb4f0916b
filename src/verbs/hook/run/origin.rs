//! What kind of commit HEAD is, by what git itself shows. The reflog's action and the message are the committer's to set
//! (`GIT_REFLOG_ACTION=revert git commit`), so that a pick, a revert or a step of a rebase is one only when git's state
//! files said so when it was made, or when its tree is what git makes of the commits that it names.

use andon_core::domain::facts::CommitKind;
use andon_core::domain::ids::CommitId;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_git::{CommitInfo, MergeClaim, Operation, TreeVerdict};
use andon_store::operation::{self, OperationInProgress};
use andon_store::process::git_above;

/// prepare-commit-msg: leaves a word for post-commit when git is in the middle of something.
pub fn note(ctx: &Context, ws: &Workspace) -> Result<(), OpsError> {
    let kind = match ws.repo.operation() {
        Operation::CherryPick => CommitKind::CherryPick,
        Operation::Revert => CommitKind::Revert,
        Operation::None => CommitKind::Normal,
        Operation::Merge | Operation::Rebase | Operation::Patches => return Ok(()),
    };
    let squashed = if kind == CommitKind::Normal { ws.repo.squashed() } else { Vec::new() };
    if kind == CommitKind::Normal && squashed.is_empty() {
        return Ok(());
    }
    let Some(head) = ws.repo.head()?.commit() else { return Ok(()) };
    let asked_by = git_above(ctx.parent);
    Ok(operation::write(ws.repo.git_dir(), &OperationInProgress { kind, squashed, head, asked_by })?)
}

/// post-commit: the commits that a plain `commit` squashes, as `git merge --squash` put them together.
pub fn squashed(ctx: &Context, ws: &Workspace, commit: &CommitInfo) -> Vec<CommitId> {
    let left = operation::take(ws.repo.git_dir(), commit.parents.first().copied(), &git_above(ctx.parent));
    left.filter(|left| left.kind == CommitKind::Normal).map(|left| left.squashed).unwrap_or_default()
}

/// post-commit: the kind of `commit`, which is HEAD.
pub fn kind(ctx: &Context, ws: &Workspace, commit: &CommitInfo) -> Result<CommitKind, OpsError> {
    if commit.parents.len() > 1 {
        return Ok(CommitKind::Merge);
    }
    let claimed_kind = ws.repo.commit_origin(commit.id)?;
    let proven = match claimed_kind {
        CommitKind::Normal | CommitKind::Amend => return Ok(claimed_kind),
        // It has one parent.
        CommitKind::Merge => false,
        CommitKind::Rebase => ws.repo.operation() == Operation::Rebase,
        CommitKind::Revert | CommitKind::CherryPick => {
            let seen =
                operation::take(ws.repo.git_dir(), commit.parents.first().copied(), &git_above(ctx.parent));
            seen.is_some_and(|seen| seen.kind == claimed_kind) || is_made(ws, commit, claimed_kind)?
        }
    };
    if proven { Ok(claimed_kind) } else { Ok(ws.repo.plain_or_amend(commit)?) }
}

/// The kind of a commit that was made while the hooks were off; the reflog says that it is `claimed_kind`.
pub fn kind_of_earlier(
    ws: &Workspace,
    commit: &CommitInfo,
    claimed_kind: CommitKind,
) -> Result<CommitKind, OpsError> {
    if commit.parents.len() > 1 {
        return Ok(CommitKind::Merge);
    }
    let proven = match claimed_kind {
        CommitKind::Normal | CommitKind::Amend | CommitKind::Rebase => true,
        CommitKind::Merge => false,
        CommitKind::Revert | CommitKind::CherryPick => is_made(ws, commit, claimed_kind)?,
    };
    Ok(if proven { claimed_kind } else { CommitKind::Normal })
}

/// Whether its tree is what reverting or picking a commit gives: one that the message names, or git's own state file.
fn is_made(ws: &Workspace, commit: &CommitInfo, claimed_kind: CommitKind) -> Result<bool, OpsError> {
    let mut sources = ws.repo.named_sources(commit, claimed_kind)?;
    if claimed_kind == CommitKind::CherryPick {
        sources.extend(ws.repo.resolve("CHERRY_PICK_HEAD").ok());
    }
    let claimed = |source: CommitId| match claimed_kind {
        CommitKind::Revert => MergeClaim::Revert(source),
        CommitKind::CherryPick
        | CommitKind::Rebase
        | CommitKind::Normal
        | CommitKind::Amend
        | CommitKind::Merge => MergeClaim::Pick(source),
    };
    for source in sources {
        if ws.repo.is_made(commit, claimed(source))? == TreeVerdict::Same {
            return Ok(true);
        }
    }
    Ok(false)
}
