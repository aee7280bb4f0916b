//! Takes over the refs of writers that are gone. First this clone's ref gets all their records and arrives at the
//! remote; only then their refs are removed, each only in the state that was read. So a crash in between leaves
//! everything twice. If two clones fold each other at once, neither finds the other's ref in the state that it read,
//! because each has moved its own first.

use super::Sync;
use super::by_writer::{Tips, own_ref};
use super::outgoing::OutgoingRef;
use super::takeover::{RemoteState, Takeover};
use crate::error::OpsError;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;
use andon_git::platform::test_seam::stop_point;
use andon_git::{PushEnd, PushedTo, Repo};
use andon_store::by_writer::{self, PREFIX, WriterNews};
use andon_store::ledger::Ledger;

impl Sync<'_> {
    /// Copies the records of writers that have been silent for `days` into this clone's ref, and then removes their
    /// refs. No lock is needed: a ref is removed only in the state that was read, and a writer that continues makes it
    /// anew.
    pub fn fold(&mut self, days: u32) -> Result<(), OpsError> {
        let now = RemoteState::read(&self.ws.repo, self.takeover.peer())?;
        let silent = self.takeover.take_silent(&now, days)?;
        if silent.is_empty() {
            return Ok(());
        }
        stop_point("fold:taken");
        let outgoing = self.takeover.outgoing(&now)?;
        let pushed = self.ws.repo.push_refs(
            &self.takeover.peer().address,
            &outgoing.iter().map(OutgoingRef::spec).collect::<Vec<_>>(),
            self.online,
        )?;
        self.takeover.arrived(&outgoing, &pushed)?;
        // Where this clone's ref did not arrive, nothing is removed.
        let arrived = |one: &PushedTo| !matches!(one.end, PushEnd::Raced(_) | PushEnd::Refused(_));
        if !pushed.iter().all(arrived) {
            return Ok(());
        }
        stop_point("fold:pushed");
        let removed = self.ws.repo.remove_refs_at(&self.takeover.peer().address, &silent, self.online)?;
        self.takeover.folded(&silent, &removed)
    }
}

impl Takeover<'_> {
    /// Copies the records of silent writers into this clone's ref; returns the names of their refs and the commits that
    /// they point to.
    fn take_silent(&mut self, theirs: &RemoteState, days: u32) -> Result<Vec<(String, CommitId)>, OpsError> {
        let until = self.ctx.now.0.saturating_sub(i64::from(days).saturating_mul(86_400));
        let mut silent = Tips::new();
        for (writer, tip) in &theirs.records {
            if self.repo.commit(*tip)?.committed_at.0 <= until {
                silent.insert(writer.clone(), *tip);
            }
        }
        self.records.need();
        let taken = take_over(self.repo, silent, self.ctx.now)?;
        Ok(taken.into_iter().map(|(writer, tip)| (format!("{PREFIX}{writer}"), tip)).collect())
    }

    /// Reports which refs of silent writers are gone now.
    fn folded(&mut self, silent: &[(String, CommitId)], removed: &[PushedTo]) -> Result<(), OpsError> {
        let mut gone = Vec::new();
        for one in removed {
            let Some(writer) = one.name.strip_prefix(PREFIX) else { continue };
            match &one.end {
                PushEnd::Moved | PushEnd::Same | PushEnd::Created => {
                    gone.push(format!("{}{writer}", self.peer().records));
                }
                // It wrote again, or another clone folds too.
                PushEnd::Raced(_) => {}
                PushEnd::Refused(words) => self.refused(&one.name, words),
            }
        }
        self.report.folded += gone.len().min(silent.len());
        let known: Vec<String> =
            gone.into_iter().filter(|name| matches!(self.repo.ref_commit(name), Ok(Some(_)))).collect();
        if !known.is_empty() {
            self.repo.delete_refs(&known)?;
        }
        Ok(())
    }
}

/// Adds to this clone's ref what others have at these tips, with their history, and returns those whose records could
/// be read; never its own.
fn take_over(repo: &Repo, silent: Tips, at: Timestamp) -> Result<Tips, OpsError> {
    let own = own_ref(repo)?;
    let own =
        own.map_or_else(|| Ok(format!("{PREFIX}{}", Ledger::open(repo).writer_id()?)), Ok::<_, OpsError>)?;
    let mut taken = Tips::new();
    let mut incoming = WriterNews::default();
    for (writer, tip) in silent.into_iter().filter(|(writer, _)| *writer != own[PREFIX.len()..]) {
        incoming.add(repo, &writer, None, tip);
        taken.insert(writer, tip);
    }
    let unfit: Vec<&String> = incoming
        .unread
        .iter()
        .map(|(writer, _)| writer)
        .chain(incoming.too_large.iter().map(|(writer, _)| writer))
        .collect();
    taken.retain(|writer, _| !unfit.contains(&writer));
    if !taken.is_empty() {
        by_writer::take_over(repo, &own, &incoming, at)?;
    }
    Ok(taken)
}
