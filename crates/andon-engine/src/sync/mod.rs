//! Records and ledgers of this clone and of a remote become the union of both: by `andon sync`, and along with a push.
//!
//! The records of a remote are fetched into names of their own (`refs/andon/remote-records/NAME/`,
//! `refs/andon/remote/NAME/ledger/`, and `refs/notes/remotes/NAME/andon` for what others push of their notes) and taken
//! over from there: records by uniting lines, ledgers forward only. Then everything that the remote lacks is pushed,
//! never by force, to refs that no other clone writes. Each step leaves a state from which any other clone, and the
//! next sync, can continue: a crash between two of them loses nothing.

mod outgoing;
pub mod peer;
mod records;
mod send;
mod takeover;

pub use self::peer::Peer;

pub(crate) use self::takeover::RemoteState;

use std::time::Duration;

use outgoing::OutgoingRef;
use records::Tips;

use crate::{Context, OpsError, Result, VerbError, Workspace, view::SyncReport};
use andon_git::platform::test_seam::stop_point;
use andon_git::{
    Online, Prompt, PushEnd, PushedTo, Quiet, RemoteError, Repo, access_help, back_off, platform::files,
};
pub use records::take_in_fetched;
pub use send::{Destination, KEY as PUSH_KEY, send_along, sends};

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

/// One sync with one remote.
pub struct Sync<'a> {
    ctx: &'a Context,
    repo: &'a Repo,
    peer: Peer,
    online: Online,
    max_seconds: i64,
    drops: u32,
    /// The words of the last race that was lost.
    last: String,
    report: SyncReport,
    /// Ledgers that both sides have rewritten: never pushed.
    forked: Vec<String>,
    /// Writers whose records are gone at the remote, as they were.
    missed: Tips,
    /// The number of records that the remote lacks.
    lacking: usize,
    /// This clone's ref is to be sent although the remote lacks nothing of it.
    has_to_move: bool,
}

/// A peer that only passed through is forgotten, whatever came of it.
impl Drop for Sync<'_> {
    fn drop(&mut self) {
        let _left_for_the_next = self.peer.forget(self.repo);
    }
}

impl<'a> Sync<'a> {
    /// Prepares a run with `peer`; asks it nothing yet.
    pub fn new(ctx: &'a Context, repo: &'a Repo, peer: Peer, online: Online) -> Result<Self> {
        peer.forget(repo)?;
        let report = SyncReport { remote: peer.label.clone(), ..SyncReport::default() };
        Ok(Self {
            ctx,
            repo,
            peer,
            online,
            max_seconds: MAX_SECONDS,
            drops: 0,
            last: String::new(),
            report,
            forked: Vec::new(),
            missed: Tips::new(),
            lacking: 0,
            has_to_move: false,
        })
    }

    /// The report of what was moved, and of what was odd about it.
    pub fn finish(mut self) -> SyncReport {
        std::mem::take(&mut self.report)
    }

    /// Receives, sends, or both; what others were faster in is done again.
    pub fn exchange(&mut self, way: SyncDirection) -> Result<()> {
        let refs = self.repo.common_dir().join("refs");
        if let Err(why) = files::check_writable(&refs) {
            let what = format!("nothing can be fetched, {} cannot be written: {why}", refs.display());
            return Err(OpsError::verb(VerbError::Failed, what, access_help(&refs)));
        }
        // The refs that an earlier fetch left behind: the next one may move or remove them.
        let left = RemoteState::read(self.repo, &self.peer)?;
        self.adopt(&left)?;
        let mut before = left;
        let mut tries = 0;
        while tries < MAX_TRIES && self.ctx.later().0.saturating_sub(self.ctx.now.0) < self.max_seconds {
            if tries > 0 {
                self.report.retries += 1;
                back_off(tries);
            }
            tries += 1;
            if self.fetch()?.is_none() {
                continue;
            }
            let now = RemoteState::read(self.repo, &self.peer)?;
            self.compare(&before, &now)?;
            self.adopt(&now)?;
            stop_point("sync:adopted");
            if way == SyncDirection::FetchOnly {
                return Ok(());
            }
            self.offer(&now)?;
            let outgoing = self.outgoing(&now)?;
            if outgoing.is_empty() || self.push(&outgoing)?.is_some() {
                return Ok(());
            }
            before = now;
        }
        let words = format!("{tries} tries did not help, the last time: {}", self.last);
        Err(RemoteError::Raced { remote: self.peer.label.clone(), words }.into())
    }

    /// The time that is left: all calls of git together have no more than that.
    fn online(&self) -> Online {
        let Some(patience) = self.online.patience else { return self.online };
        let used = self.ctx.later().0.saturating_sub(self.ctx.now.0).max(0);
        let left = Duration::from_secs(self.max_seconds.saturating_sub(used).max(1).unsigned_abs());
        Online { patience: Some(patience.min(left)), ..self.online }
    }

    fn fetch(&mut self) -> Result<Option<()>> {
        stop_point("sync:begin");
        self.repo.heal_locks();
        let peer = &self.peer;
        let fetched = self.repo.fetch_refs(&peer.address, &peer.fetch_specs(), self.online());
        stop_point("sync:fetched");
        self.step(fetched)
    }

    /// Nothing where another writer was faster at one of the refs.
    fn push(&mut self, outgoing: &[OutgoingRef]) -> Result<Option<()>> {
        let specs: Vec<String> = outgoing.iter().map(OutgoingRef::spec).collect();
        let pushed = self.repo.push_refs(&self.peer.address, &specs, self.online());
        let Some(pushed) = self.step(pushed)? else { return Ok(None) };
        stop_point("sync:pushed");
        self.arrived(outgoing, &pushed)?;
        stop_point("sync:tracked");
        let raced = pushed.iter().find_map(|one: &PushedTo| match &one.end {
            PushEnd::Raced(words) => Some(format!("{}: {words}", one.name)),
            PushEnd::Same | PushEnd::Moved | PushEnd::Refused(_) => None,
        });
        if let Some(words) = raced {
            self.last = words;
            return Ok(None);
        }
        Ok(Some(()))
    }

    /// Writes what is here to a bundle, where that holds less.
    pub fn write_bundle(&mut self, file: &std::path::Path) -> Result<()> {
        let there = RemoteState::read(self.repo, &self.peer)?;
        let lacking = self.outgoing_to_file(&there)?;
        if lacking.is_empty() {
            return Ok(());
        }
        let refs = outgoing::everything(self.repo)?;
        self.repo.write_bundle(file, &refs)?;
        for one in &lacking {
            self.sent(one);
        }
        Ok(())
    }

    /// Nothing where another try is due: after a race, and a few times after a broken connection.
    fn step<T>(&mut self, result: Result<T, RemoteError>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(RemoteError::Raced { words, .. }) => {
                self.last = words;
                Ok(None)
            }
            Err(RemoteError::Dropped { .. }) if self.drops < MAX_DROPS => {
                self.drops += 1;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
