//! Which layers guarded the commit of an agent: git's own hooks, and the hooks of its client. A client whose hooks are silent
//! is not among them, so that its silence shows in `andon check`.

use andon_agents::ruling::in_order;
use andon_core::domain::agent;
use andon_core::domain::agent_door::AgentFact;
use andon_core::domain::facts::{CommitKind, CommitRecord, Recording};
use andon_core::domain::time::Timestamp;
use andon_engine::context::Context;
use andon_engine::recording::bound;
use andon_engine::workspace::Workspace;
use andon_git::CommitInfo;
use andon_store::journal::Journal;

/// For how long a hook that was heard counts in any case, in seconds: one command may make several commits.
const WITHIN: i64 = 600;

/// A commit that is being recorded.
pub(super) struct CommitInProgress<'a> {
    pub(super) commit: &'a CommitInfo,
    pub(super) kind: CommitKind,
    pub(super) recording: Recording,
    /// When the iteration before it was.
    pub(super) before: Option<Timestamp>,
}

/// The layers at a commit; none where no agent is known to be at work, and where git made the commit again.
pub(super) fn live(ctx: &Context, ws: &Workspace, made: &CommitInProgress<'_>) -> Vec<String> {
    let new = matches!(made.kind, CommitKind::Normal | CommitKind::Amend);
    if made.recording != Recording::AtCommit || !new {
        return Vec::new();
    }
    let mut facts = Journal::of_agents(ws.repo.git_dir()).agent_facts();
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

/// Whether a hook was heard since the iteration before, or a short while ago.
fn was_heard(fact: &AgentFact, before: Option<Timestamp>, now: Timestamp) -> bool {
    let recent =
        |at: Timestamp| before.is_none_or(|before| at >= before) || now.0.saturating_sub(at.0) <= WITHIN;
    !fact.is_canary() && fact.at.is_some_and(recent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::agent::Client;
    use andon_core::domain::agent_door::AgentAction;

    #[test]
    fn a_hook_is_live_when_it_was_heard_since_the_iteration_before_or_lately() {
        let fact = |at: Option<i64>| AgentFact {
            at: at.map(Timestamp),
            client: Client::Claude,
            session: None,
            deed: AgentAction::Asked,
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
