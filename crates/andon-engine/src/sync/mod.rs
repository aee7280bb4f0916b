//! Records and ledgers of this clone and of a remote become the union of both: by `andon sync`, and along with a push.
//!
//! What a remote has is fetched into names of its own (`refs/andon/remote-records/NAME/`,
//! `refs/andon/remote/NAME/ledger/`, and `refs/notes/remotes/NAME/andon` for what others push of their notes) and taken
//! over from there: records by uniting lines, ledgers forward only. Then everything that the remote lacks is pushed,
//! never by force, to refs that no other clone writes. Each step leaves a state from which any other clone, and the
//! next sync, can continue: a crash between two of them loses nothing.

mod fold;
mod outgoing;
pub mod peer;
mod records;
mod send;
mod takeover;

use std::time::Duration;

use outgoing::OutgoingRef;
use peer::Peer;

use crate::view::sync::SyncReport;
use crate::{context::Context, error::OpsError, workspace::Workspace};
use andon_git::platform::test_seam::stop_point;
use andon_git::{Online, Prompt, PushEnd, PushedTo, Quiet, RemoteError, back_off};
pub use records::take_in_fetched;
pub use send::{Destination, KEY as PUSH_KEY, send_along, sends};
use takeover::{RemoteState, Takeover};

/// The maximum number of times that a sync begins anew when another writer is faster: a copy of this clone with the same id, or
/// the holder of the lock of a ref. Each time one writer wins, so that even a hundred of them are done by then.
const MAX_TRIES: u32 = 1000;
/// Seconds after which it does no longer.
const MAX_SECONDS: i64 = 300;
/// The number of new tries when the connection breaks.
const MAX_DROPS: u32 = 2;

/// The direction of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncDirection {
    /// Both.
    Both,
    /// Nothing is sent.
    FetchOnly,
}

/// The way to reach a remote without prompts for a password.
pub fn unasked(ctx: &Context, ws: &Workspace) -> Prompt {
    let own_ssh = ["GIT_SSH_COMMAND", "GIT_SSH"].into_iter().any(|name| ctx.var(name).is_some());
    if own_ssh || ws.repo.config_string("core.sshCommand").is_some() {
        Prompt::Never
    } else {
        Prompt::NeverNorSsh
    }
}

/// Returns the way to reach a remote while a person waits for their push: without any prompt. A program that answers for git is
/// used only where it cannot prompt either: in CI, and in the shell of an agent.
pub(super) fn unheard(ctx: &Context, prompt: Prompt) -> Prompt {
    let unattended = ctx.var("CI").is_some_and(|value| !value.is_empty()) || ctx.actor().marker.is_some();
    Prompt::Suppressed(Quiet { own_ssh: prompt != Prompt::NeverNorSsh, askpass: unattended })
}

/// Does what `work` does, and forgets a peer that only passed through, whatever the result.
pub fn visited<T>(
    ws: &Workspace,
    peer: &Peer,
    work: impl FnOnce() -> Result<T, OpsError>,
) -> Result<T, OpsError> {
    peer.forget(&ws.repo)?;
    let done = work();
    peer.forget(&ws.repo)?;
    done
}

/// One run of the verb.
pub struct Sync<'a> {
    ctx: &'a Context,
    ws: &'a Workspace,
    online: Online,
    max_seconds: i64,
    drops: u32,
    /// The words of the last race that was lost.
    last: String,
    pub(crate) takeover: Takeover<'a>,
}

/// The end of a step in which others can be faster.
enum Step<T> {
    Done(T),
    Again,
}

impl<'a> Sync<'a> {
    /// Prepares a run with `peer`; asks it nothing yet.
    pub fn new(ctx: &'a Context, ws: &'a Workspace, peer: Peer, online: Online) -> Self {
        let max_seconds = MAX_SECONDS;
        Self {
            ctx,
            ws,
            online,
            max_seconds,
            drops: 0,
            last: String::new(),
            takeover: Takeover::new(ctx, ws, peer),
        }
    }

    /// The report of what was moved, and of what was odd about it.
    pub fn finish(self) -> SyncReport {
        self.takeover.finish()
    }

    /// Receives, sends, or both; what others were faster in is done again.
    pub fn exchange(&mut self, way: SyncDirection) -> Result<(), OpsError> {
        // What an earlier fetch left behind: the next one may move or remove it.
        let left = RemoteState::read(&self.ws.repo, self.takeover.peer())?;
        self.takeover.adopt(&left)?;
        let mut before = left;
        let mut tries = 0;
        while tries < MAX_TRIES && self.ctx.later().0.saturating_sub(self.ctx.now.0) < self.max_seconds {
            if tries > 0 {
                self.takeover.retried();
                back_off(tries);
            }
            tries += 1;
            let Step::Done(()) = self.fetch()? else { continue };
            let now = RemoteState::read(&self.ws.repo, self.takeover.peer())?;
            self.takeover.compare(&before, &now)?;
            self.takeover.adopt(&now)?;
            stop_point("sync:adopted");
            if way == SyncDirection::FetchOnly {
                return Ok(());
            }
            self.takeover.offer(&now)?;
            let outgoing = self.takeover.outgoing(&now)?;
            if outgoing.is_empty() || matches!(self.push(&outgoing)?, Step::Done(())) {
                return Ok(());
            }
            before = now;
        }
        let words = format!("{tries} tries did not help, the last time: {}", self.last);
        Err(RemoteError::Raced { remote: self.takeover.peer().label.clone(), words }.into())
    }

    /// The time that is left: all calls of git together have no more than that.
    fn online(&self) -> Online {
        let Some(patience) = self.online.patience else { return self.online };
        let used = self.ctx.later().0.saturating_sub(self.ctx.now.0).max(0);
        let left = Duration::from_secs(self.max_seconds.saturating_sub(used).max(1).unsigned_abs());
        Online { patience: Some(patience.min(left)), ..self.online }
    }

    fn fetch(&mut self) -> Result<Step<()>, OpsError> {
        stop_point("sync:begin");
        self.ws.repo.heal_locks();
        let peer = self.takeover.peer();
        let fetched = self.ws.repo.fetch_refs(&peer.address, &peer.fetch_specs(), self.online());
        stop_point("sync:fetched");
        self.step(fetched)
    }

    /// Done when no other writer was faster at any of the refs.
    fn push(&mut self, outgoing: &[OutgoingRef]) -> Result<Step<()>, OpsError> {
        let specs: Vec<String> = outgoing.iter().map(OutgoingRef::spec).collect();
        let pushed = self.ws.repo.push_refs(&self.takeover.peer().address, &specs, self.online());
        let Step::Done(pushed) = self.step(pushed)? else { return Ok(Step::Again) };
        stop_point("sync:pushed");
        self.takeover.arrived(outgoing, &pushed)?;
        stop_point("sync:tracked");
        let raced = pushed.iter().find_map(|one: &PushedTo| match &one.end {
            PushEnd::Raced(words) => Some(format!("{}: {words}", one.name)),
            PushEnd::Same | PushEnd::Moved | PushEnd::Created | PushEnd::Refused(_) => None,
        });
        Ok(match raced {
            Some(words) => {
                self.last = words;
                Step::Again
            }
            None => Step::Done(()),
        })
    }

    /// Writes what is here to a bundle, where that holds less.
    pub fn write_bundle(&mut self, file: &std::path::Path) -> Result<(), OpsError> {
        let there = RemoteState::read(&self.ws.repo, self.takeover.peer())?;
        let lacking = self.takeover.outgoing_to_file(&there)?;
        if lacking.is_empty() {
            return Ok(());
        }
        let refs = outgoing::everything(&self.ws.repo)?;
        self.ws.repo.write_bundle(file, &refs)?;
        self.takeover.written(&lacking);
        Ok(())
    }

    /// A race is gone into again, a broken connection a few times.
    fn step<T>(&mut self, result: Result<T, RemoteError>) -> Result<Step<T>, OpsError> {
        match result {
            Ok(value) => Ok(Step::Done(value)),
            Err(RemoteError::Raced { words, .. }) => {
                self.last = words;
                Ok(Step::Again)
            }
            Err(RemoteError::Dropped { .. }) if self.drops < MAX_DROPS => {
                self.drops += 1;
                Ok(Step::Again)
            }
            Err(error) => Err(error.into()),
        }
    }
}
