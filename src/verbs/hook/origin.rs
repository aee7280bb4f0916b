//! The kind of the commit at HEAD, as git itself shows it. The reflog's action and the message are the committer's to set
//! (`GIT_REFLOG_ACTION=revert git commit`), so that a pick, a revert or a step of a rebase is one only when git's state
//! files said so when it was made, or when its tree is what git makes of the commits that it names.

use andon_agents::ruling::in_order;
use andon_core::domain::{AgentFact, CommitId, CommitKind, CommitRecord, Recording, Timestamp, agent};
use andon_engine::{Context, Result, Workspace, recording::bound};
use andon_git::{CommitInfo, MergeClaim, Operation, TreeVerdict};
use andon_store::{GuardSnapshot, Journal, OperationInProgress, operation, process::git_above};

/// prepare-commit-msg: leaves a word for post-commit when git is in the middle of something.
pub fn note(ctx: &Context, ws: &Workspace) -> Result<()> {
    let kind = match ws.repo.operation() {
        Operation::CherryPick => CommitKind::CherryPick,
        Operation::Revert => CommitKind::Revert,
        Operation::None => CommitKind::Normal,
        Operation::Merge | Operation::Rebase | Operation::Patches => return Ok(()),
    };
    let picked = || ws.repo.resolve("CHERRY_PICK_HEAD").ok().into_iter().collect();
    let sources = if kind == CommitKind::Normal { ws.repo.squashed() } else { picked() };
    if kind == CommitKind::Normal && sources.is_empty() {
        return Ok(());
    }
    let Some(head) = ws.repo.head()?.commit() else { return Ok(()) };
    let asked_by = git_above(ctx.parent);
    Ok(operation::write(ws.repo.git_dir(), &OperationInProgress { kind, sources, head, asked_by })?)
}

/// The kind of HEAD's commit, and the commits that git says it was made of.
pub struct Making {
    pub kind: CommitKind,
    /// Those that a plain `commit` squashes, as `git merge --squash` put them together; the one that was picked, replayed,
    /// amended or sent as a patch.
    pub sources: Vec<CommitId>,
}

/// post-commit: the making of `commit`, which is HEAD.
pub fn making(ctx: &Context, ws: &Workspace, commit: &CommitInfo) -> Result<Making> {
    if commit.parents.len() > 1 {
        return Ok(Making { kind: CommitKind::Merge, sources: Vec::new() });
    }
    let claimed_kind = ws.repo.commit_origin(commit.id)?;
    let noted = match claimed_kind {
        CommitKind::Normal | CommitKind::Revert | CommitKind::CherryPick => {
            operation::take(ws.repo.git_dir(), commit.parents.first().copied(), &git_above(ctx.parent))
        }
        CommitKind::Amend | CommitKind::Merge | CommitKind::Rebase => None,
    };
    let noted = noted.filter(|noted| noted.kind == claimed_kind);
    let proven = match claimed_kind {
        CommitKind::Normal | CommitKind::Amend => true,
        // It has one parent.
        CommitKind::Merge => false,
        CommitKind::Rebase => ws.repo.operation() == Operation::Rebase,
        CommitKind::Revert | CommitKind::CherryPick => noted.is_some() || is_made(ws, commit, claimed_kind)?,
    };
    let kind = if proven { claimed_kind } else { ws.repo.plain_or_amend(commit)? };
    let sources = match kind {
        CommitKind::Rebase => ws.repo.rebased_from().into_iter().collect(),
        CommitKind::Amend => replaced(ws, commit)?.into_iter().collect(),
        CommitKind::CherryPick if noted.is_none() => {
            ws.repo.resolve("CHERRY_PICK_HEAD").into_iter().collect()
        }
        CommitKind::Normal | CommitKind::Revert | CommitKind::Merge | CommitKind::CherryPick => {
            noted.map_or_else(|| ws.repo.patched_from().into_iter().collect(), |noted| noted.sources)
        }
    };
    Ok(Making { kind, sources })
}

/// The commit that HEAD was before an amend made `commit`.
fn replaced(ws: &Workspace, commit: &CommitInfo) -> Result<Option<CommitId>> {
    let newest =
        ws.repo.reflog_head(1)?.pop().filter(|entry| entry.new == commit.id.0 && !entry.old.is_zero());
    Ok(newest.map(|entry| CommitId(entry.old)))
}

/// The kind of a commit that was made while the hooks were off; the reflog says that it is `claimed_kind`.
pub fn kind_of_earlier(ws: &Workspace, commit: &CommitInfo, claimed_kind: CommitKind) -> Result<CommitKind> {
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

/// True where its tree is what reverting or picking a commit gives: one that the message names, or git's own state file.
fn is_made(ws: &Workspace, commit: &CommitInfo, claimed_kind: CommitKind) -> Result<bool> {
    let mut sources = ws.repo.named_sources(commit, claimed_kind)?;
    if claimed_kind == CommitKind::CherryPick {
        sources.extend(ws.repo.resolve("CHERRY_PICK_HEAD").ok());
    }
    let is_revert = claimed_kind == CommitKind::Revert;
    let claimed = if is_revert { MergeClaim::Revert } else { MergeClaim::pick };
    for source in sources {
        if ws.repo.is_made(commit, &claimed(source))? == TreeVerdict::Same {
            return Ok(true);
        }
    }
    Ok(false)
}

/// For how long a hook that was heard counts in any case, in seconds: one command may make several commits.
const WITHIN: i64 = 600;

/// A commit that is being recorded.
pub(super) struct CommitInProgress<'a> {
    pub(super) commit: &'a CommitInfo,
    pub(super) kind: CommitKind,
    pub(super) recording: Recording,
    /// The time of the iteration before it.
    pub(super) before: Option<Timestamp>,
}

/// The layers at a commit; none where no agent is known to be at work, and where git made the commit again.
pub(super) fn live_guards(ctx: &Context, ws: &Workspace, made: &CommitInProgress<'_>) -> Vec<String> {
    let new = matches!(made.kind, CommitKind::Normal | CommitKind::Amend);
    if made.recording != Recording::AtCommit || !new {
        return Vec::new();
    }
    let mut facts = Journal::of_agents(ws.repo.git_dir()).agent_facts();
    facts.extend(GuardSnapshot::read(ws.repo.git_dir()).and_then(|kept| kept.heard));
    facts.retain(|fact| was_heard(fact, made.before, ctx.now));
    let mut clients = in_order(&facts);
    let actor = ctx.actor();
    // The hooks of one client say nothing of a commit that another makes.
    let own = actor.client.or_else(|| agent::of_trailers(&made.commit.trailers));
    clients.retain(|client| own.is_none_or(|own| own == *client));
    if clients.is_empty() && own.is_none() && !actor.is_agent() && !bound::shows_agent(made.commit) {
        return Vec::new();
    }
    // A record that an agent's own hook writes shows that no hook of git did.
    let by_git = ctx.args.get(1).is_none_or(|verb| verb != "agent").then(|| CommitRecord::GIT.to_owned());
    let clients = clients.into_iter().map(|client| client.as_str().to_owned());
    by_git.into_iter().chain(clients).take(CommitRecord::MAX_GUARDS).collect()
}

/// True where a hook was heard since the iteration before, or a short while ago.
fn was_heard(fact: &AgentFact, before: Option<Timestamp>, now: Timestamp) -> bool {
    let recent =
        |at: Timestamp| before.is_none_or(|before| at >= before) || now.0.saturating_sub(at.0) <= WITHIN;
    !fact.is_canary() && fact.at.is_some_and(recent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::{AgentAction, Client};

    #[test]
    fn a_hook_is_live_when_it_was_heard_since_the_iteration_before_or_lately() {
        let fact = |at: Option<i64>| AgentFact {
            at: at.map(Timestamp),
            client: Client::Claude,
            session: None,
            deed: AgentAction::Heard,
            about: String::new(),
            mark: None,
        };
        let (before, now) = (Timestamp(10_000), Timestamp(20_000));
        for (at, expected) in
            [(Some(19_999), true), (Some(10_000), true), (Some(9_999), false), (None, false)]
        {
            assert_eq!(was_heard(&fact(at), Some(before), now), expected, "{at:?}");
        }
        assert!(was_heard(&fact(Some(9_999)), Some(before), Timestamp(10_300)), "one command, two commits");
        assert!(was_heard(&fact(Some(1)), None, now), "the first commit");
    }
}
