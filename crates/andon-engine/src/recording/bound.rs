//! The commits that the guard binds. With `guard.applies_to = "agents"` people's commits are only recorded: nothing
//! refuses, warns or halts because of them. A commit is an agent's when its shell, its message or its author says so.

use std::ffi::OsString;

use crate::{Context, Workspace, adapter::agents::DEFAULT_NODE, recording::skip};
use andon_config::{AppliesTo, Config};
use andon_core::domain::{CommitFact, CommitId, CommitRecord, Maker, agent};
use andon_git::{self as git, CommitInfo, Repo};
use andon_store::NotesStore;

/// True if the guard binds the user of this process: always, or as an agent that its shell or one above gives away.
pub fn binds(ctx: &Context, ws: &Workspace) -> bool {
    is_everyone(&ws.config) || ctx.actor().is_agent() || ctx.agent_mark().is_some()
}

/// True if it binds the commit that is being made with the message in the file that `args` begin with.
pub fn binds_message(ctx: &Context, ws: &Workspace, args: &[OsString]) -> bool {
    binds(ctx, ws) || {
        let message = args.first().map(|name| skip::message(ctx, name)).unwrap_or_default();
        let subject = message.trim_start().lines().next().unwrap_or_default();
        let trailers = git::trailers(&message);
        let (author, committer) = (ctx.author(&ws.repo), ctx.committer(&ws.repo));
        is_agents(&[&author, &committer], &trailers, subject)
            || agent::in_closing_lines(&message)
            || is_node(&ws.config, &committer, &trailers)
    }
}

/// True if it binds a commit that was just made here. Costs a look at the processes above: ask once.
pub fn binds_commit(ctx: &Context, ws: &Workspace, commit: &CommitInfo) -> bool {
    binds(ctx, ws) || by_trace(&ws.config, commit)
}

/// True if a recorded commit counts in the rules.
pub fn counts(config: &Config, fact: &CommitFact) -> bool {
    is_everyone(config)
        || by_record(config, &fact.record)
        || is_agents(&[&fact.author], &[], &fact.subject)
        || is_node(config, &fact.author, &[])
}

/// True if the commit itself shows that an agent wrote it, or a node of the declared workflow.
pub fn by_trace(config: &Config, commit: &CommitInfo) -> bool {
    let author = format!("{} <{}>", commit.author, commit.email);
    shows_agent(commit) || is_node(config, &author, &commit.trailers)
}

/// True if trailers, subject, closing lines, author or committer of a commit are an agent's.
pub fn shows_agent(commit: &CommitInfo) -> bool {
    let author = format!("{} <{}>", commit.author, commit.email);
    let committer = format!("{} <{}>", commit.committer, commit.committer_email);
    commit.closes_as_agent || is_agents(&[&author, &committer], &commit.trailers, &commit.subject)
}

/// True if the record holds traces of an agent's shell: a session, a node, markers and hooks of a client.
pub fn by_record(config: &Config, record: &CommitRecord) -> bool {
    let node = record.node != DEFAULT_NODE || config.workflow.node(&record.node).is_some();
    record.session.is_some() || node || !record.guards.is_empty()
}

/// True if people, trailers or subject of a commit are an agent's.
fn is_agents(people: &[&str], trailers: &[(String, String)], subject: &str) -> bool {
    people.iter().any(|person| agent::is_agent(person))
        || agent::in_trailers(trailers)
        || agent::in_subject(subject)
}

/// True if a node of the declared workflow made a commit.
fn is_node(config: &Config, author: &str, trailers: &[(String, String)]) -> bool {
    let maker = Maker { environment: None, author, trailers, branch: None };
    config.workflow.node_for(&maker).is_some()
}

/// The number of first parents below a commit that are searched for a record.
const BELOW: usize = 16;

/// The address of who made a commit, where author and committer are one.
pub fn maker(commit: &CommitInfo) -> Option<String> {
    let own = !commit.email.is_empty() && commit.email.eq_ignore_ascii_case(&commit.committer_email);
    own.then(|| commit.email.to_ascii_lowercase())
}

/// True if a commit below has a record that a hook wrote, and is by the same person: who made this one had the hooks.
pub fn had_hooks(repo: &Repo, store: &NotesStore<'_>, commit: &CommitInfo, maker_of_it: &str) -> bool {
    let mut at = commit.parents.first().copied();
    for _ in 0..BELOW {
        let Some(below) = at.and_then(|id| repo.commit(id).ok()) else { return false };
        let by_hook = store.readable(below.id).is_some_and(|record| record.recording.is_by_hook());
        if by_hook && maker(&below).as_deref() == Some(maker_of_it) {
            return true;
        }
        at = below.parents.first().copied();
    }
    false
}

/// True if no hook recorded a commit, and `user`, who moves it, has not gone round the hooks with it.
pub fn is_unseen(repo: &Repo, store: &NotesStore<'_>, id: CommitId, user: &str) -> bool {
    match store.get(id) {
        Ok(Some(stored)) => stored.record.is_silent(),
        Ok(None) => repo.commit(id).is_ok_and(|commit| {
            let own = maker(&commit).filter(|maker| maker.eq_ignore_ascii_case(user));
            own.is_none_or(|own| !had_hooks(repo, store, &commit, &own))
        }),
        Err(_) => false,
    }
}

fn is_everyone(config: &Config) -> bool {
    config.guard.applies_to == AppliesTo::Everyone
}
