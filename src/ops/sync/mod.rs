//! `andon sync`: records and ledgers of this clone and of a remote become the union of both.
//!
//! What a remote has is fetched into names of its own (`refs/notes/remotes/NAME/andon`, `refs/andon/remote/NAME/ledger/`)
//! and taken over from there: records by uniting lines, ledgers forward only. Then everything that the remote lacks
//! is pushed, never by force. Each step leaves a state from which any other clone, and the next sync, goes on: dying
//! between two of them loses nothing.

mod takeover;

use super::context::Context;
use super::error::OpsError;
use super::standing;
use super::workspace::Workspace;
use crate::domain::action::Action;
use crate::git::{Prompt, PushEnd, PushedTo, RemoteError, back_off};
use crate::report::message::Diagnostic;
use crate::report::sync::SyncReport;
use takeover::{Outgoing, Takeover, Tracked};

/// How often a sync begins anew when others are faster. Of each round one clone wins, so that even a hundred of them
/// are through by then.
const MAX_TRIES: u32 = 1000;
/// Seconds after which it does no longer.
const MAX_SECONDS: i64 = 300;
/// How often it does when the connection breaks.
const MAX_DROPS: u32 = 2;

/// Unites the records and ledgers of this clone with those of `remote`; without one, of the remote that the branch
/// follows, of `origin`, or of the only one.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    remote: Option<&str>,
    prompt: Prompt,
) -> Result<SyncReport, OpsError> {
    let remote = choose(ws, remote)?;
    // An answer by deletion that no hook has seen yet is to travel too.
    let halted = standing::resolve(ctx, ws)?.halt;
    let mut work =
        Sync { ctx, ws, prompt, drops: 0, last: String::new(), takeover: Takeover::new(ctx, ws, &remote) };
    work.exchange()?;
    let report = work.takeover.finish();
    show(ctx, ws, halted.is_some())?;
    Ok(report)
}

fn choose(ws: &Workspace, asked: Option<&str>) -> Result<String, OpsError> {
    let known = ws.repo.remotes()?;
    let has = |name: &str| known.iter().any(|one| one == name);
    let chosen = match asked {
        Some(name) => Some(name.to_owned()),
        None => ws
            .repo
            .upstream_remote()
            .or_else(|| has("origin").then(|| "origin".to_owned()))
            .or_else(|| known.first().filter(|_| known.len() == 1).cloned()),
    };
    match chosen.filter(|name| has(name)) {
        Some(name) => Ok(name),
        None => Err(RemoteError::Unknown { remote: asked.unwrap_or("origin").to_owned(), known }.into()),
    }
}

/// One run of the verb.
struct Sync<'a> {
    ctx: &'a Context,
    ws: &'a Workspace,
    prompt: Prompt,
    drops: u32,
    /// What was in the way the last time.
    last: String,
    takeover: Takeover<'a>,
}

/// How a step ended that others can be faster in.
enum Step<T> {
    Done(T),
    Again,
}

impl Sync<'_> {
    fn exchange(&mut self) -> Result<(), OpsError> {
        // What an earlier fetch left behind: the next one may move or remove it.
        let left = Tracked::read(&self.ws.repo, self.takeover.remote())?;
        self.takeover.adopt(&left)?;
        let mut before = left;
        let mut tries = 0;
        while tries < MAX_TRIES && self.ctx.later().0.saturating_sub(self.ctx.now.0) < MAX_SECONDS {
            if tries > 0 {
                self.takeover.retried();
                back_off(tries);
            }
            tries += 1;
            let Step::Done(()) = self.fetch()? else { continue };
            let now = Tracked::read(&self.ws.repo, self.takeover.remote())?;
            self.takeover.compare(&before, &now)?;
            self.takeover.adopt(&now)?;
            self.ctx.stop_point("sync:adopted");
            let outgoing = self.takeover.outgoing(&now)?;
            before = now;
            if outgoing.is_empty() {
                return Ok(());
            }
            let Step::Done(pushed) = self.push(&outgoing)? else { continue };
            self.ctx.stop_point("sync:pushed");
            self.takeover.arrived(&outgoing, &pushed)?;
            self.ctx.stop_point("sync:tracked");
            let raced = pushed.iter().find_map(|one| match &one.end {
                PushEnd::Raced(words) => Some(format!("{}: {words}", one.name)),
                PushEnd::Same | PushEnd::Moved | PushEnd::Created | PushEnd::Refused(_) => None,
            });
            match raced {
                Some(words) => self.last = words,
                None => return Ok(()),
            }
        }
        let words = format!("{tries} tries did not help, the last time: {}", self.last);
        Err(RemoteError::Raced { remote: self.takeover.remote().to_owned(), words }.into())
    }

    fn fetch(&mut self) -> Result<Step<()>, OpsError> {
        self.ctx.stop_point("sync:begin");
        let specs = takeover::fetch_specs(self.takeover.remote());
        let fetched = self.ws.repo.fetch_refs(self.takeover.remote(), &specs, self.prompt);
        self.ctx.stop_point("sync:fetched");
        self.step(fetched)
    }

    fn push(&mut self, outgoing: &[Outgoing]) -> Result<Step<Vec<PushedTo>>, OpsError> {
        let specs: Vec<String> = outgoing.iter().map(Outgoing::spec).collect();
        let pushed = self.ws.repo.push_refs(self.takeover.remote(), &specs, self.prompt);
        self.step(pushed)
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

/// The files for people follow what came: a halt of another clone gets its face here, an answered one loses it.
fn show(ctx: &Context, ws: &Workspace, was_halted: bool) -> Result<(), OpsError> {
    let resolved = standing::resolve(ctx, ws)?;
    match resolved.halt {
        Some(_) => resolved.failed.map_or(Ok(()), Err),
        None if was_halted => {
            let faces = crate::domain::findings::Face::ALL.map(|(face, _)| Action::RemoveFace(face));
            Ok(crate::action::execute(&faces, &standing::site(ctx, ws))?)
        }
        None => Ok(()),
    }
}

/// What refused or forked refs mean for the exit code: somebody has to look.
pub fn needs_a_person(report: &SyncReport) -> bool {
    report.found.iter().any(|one: &Diagnostic| one.severity == crate::report::message::Severity::Error)
}
