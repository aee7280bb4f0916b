//! Sends records along with a push, so that no one has to remember `andon sync`.
//!
//! Only on a person's request: `andon.push` is in git's own configuration (`andon install` sets it), never in the
//! repository's `andon.toml`, which must not make a person push more than intended. Nothing is fetched unless a push is
//! refused because others were faster. A failure is one warning; the branch is pushed all the same.
//!
//! It happens in pre-push, before the branch is sent: a pipeline that the branch starts at the other side finds the
//! records there. git has no way to add refs to a running push (docs/git-facts.md), so it takes a connection of its
//! own, without a second prompt for a passphrase, and the person's push waits a few seconds at most. At that moment the
//! outcome of the push is unknown, so nothing here reports it.

use std::time::Duration;

use super::{Peer, RemoteState, Sync, SyncDirection, peer, unheard};
use crate::{Context, OpsError, Result, Workspace, view::SyncReport};
use andon_core::domain::{Diagnostic, Hint, Level, Span, Timestamp};
use andon_core::escape::shell_quote;
use andon_git::{Online, Prompt, RemoteError, Repo};
use andon_store::{Memory, memory::Kind};

/// The key of git's configuration that asks for it.
pub const KEY: &str = "andon.push";
/// The longest time for one call of git.
const PATIENCE: Duration = Duration::from_secs(5);
/// After a remote that kept a push waiting, pushes leave the records to `andon sync` for so long.
const LEFT_ALONE: Span = Span(60 * 60);
/// Seconds that all of them may take, and after which no race is gone into any more.
const MAX_SECONDS: i64 = 5;

/// The target of a push, as git reports it to pre-push.
pub struct Destination {
    /// The remote's name, or its address again.
    pub name: String,
    /// The address that git pushes to, with all that it may hold of passwords.
    pub url: String,
}

/// True if the person wants records to be sent along.
pub fn sends(repo: &Repo) -> bool {
    repo.config_string(KEY).is_some_and(|value| {
        ["true", "yes", "on", "1"].iter().any(|word| value.trim().eq_ignore_ascii_case(word))
    })
}

/// Sends what the other side lacks; says what went wrong, and the first time that it was done.
pub fn send_along(ctx: &Context, ws: &Workspace, to: &Destination, prompt: Prompt) -> Option<Diagnostic> {
    let peer = peer::pushed_to(&ws.repo, &to.name, &to.url);
    let label = peer.label.clone();
    let first =
        peer.is_configured && ws.repo.refs_with_prefix(&peer.records).is_ok_and(|known| known.is_empty());
    let again = Hint::SyncRemote.with([&shell_quote(&label)]);
    let waits = Memory::new(&ws.repo, Kind::WAITS);
    if waits.get::<Timestamp>(&label).is_some_and(|since| ctx.now.since(since) < LEFT_ALONE) {
        return None;
    }
    let failed = |why: &str| {
        let why: String =
            why.lines().filter(|line| !line.trim().is_empty()).take(2).collect::<Vec<_>>().join("; ");
        Diagnostic::warning(format!("the records of Andon were not sent along to {label}: {why}"))
            .code("records-not-sent")
            .help(again.clone())
            .help(Hint::NoPushFromNowOn.with([KEY]))
    };
    let online = Online { prompt: unheard(ctx, prompt), patience: Some(PATIENCE) };
    match send(ctx, ws, peer, online) {
        Err(OpsError::Remote(err)) if err.would_ask() => {
            waits.put(&label, &ctx.now);
            Some(Diagnostic::note(format!(
                "the records of Andon stay here, since {label} would ask for a password or passphrase once more; to send them, \
                 for pushes of the next hour too: {again}"
            )))
        }
        Err(err) => {
            if let OpsError::Remote(RemoteError::Unreachable { .. } | RemoteError::Dropped { .. }) = err {
                waits.put(&label, &ctx.now);
            }
            Some(failed(&err.to_string()))
        }
        Ok(report) => {
            let wrong = report.found.iter().find(|one| one.level >= Level::Block);
            let reported = (first && report.sent.records > 0).then(|| reported(&report, &label));
            wrong.map(|one| failed(&one.message)).or(reported)
        }
    }
}

fn reported(report: &SyncReport, label: &str) -> Diagnostic {
    let count = report.sent.records;
    let records = if count == 1 { "record" } else { "records" };
    let what = format!(
        "sent {count} {records} of Andon to {label} ahead of the branch, as every push will from now on"
    );
    Diagnostic::note(what).help(Hint::NoPush.with([KEY]))
}

fn send(ctx: &Context, ws: &Workspace, peer: Peer, online: Online) -> Result<SyncReport> {
    let mut work = Sync::new(ctx, &ws.repo, peer, online)?;
    work.max_seconds = MAX_SECONDS;
    let known = RemoteState::read(&ws.repo, &work.peer)?;
    work.adopt(&known)?;
    work.offer(&known)?;
    let outgoing = work.outgoing(&known)?;
    if !outgoing.is_empty() && work.push(&outgoing)?.is_none() {
        work.exchange(SyncDirection::Both)?;
    }
    Ok(work.finish())
}
