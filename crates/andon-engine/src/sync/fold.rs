//! Takes over the refs of writers that are gone. First this clone's ref follows theirs and arrives at the remote; only then
//! their refs are removed, each only in the state that was read. So a crash in between leaves everything twice. If two
//! clones fold each other at once, neither finds the other's ref in the state that it read, because each has moved its own
//! first.

use super::Sync;
use super::records::{Tips, own_writer};
use super::takeover::RemoteState;
use crate::error::OpsError;
use andon_core::domain::ids::CommitId;
use andon_git::platform::test_seam::stop_point;
use andon_git::{PushEnd, PushedTo};
use andon_store::notes;
use andon_store::union::{self, PREFIX, WriterNews};

impl Sync<'_> {
    /// Removes the refs of writers that have been silent for `days`, once this clone's ref has their records. No lock is
    /// needed: a ref is removed only in the state that was read, and a writer that continues makes it anew.
    pub fn fold(&mut self, days: u32) -> Result<(), OpsError> {
        let now = RemoteState::read(self.repo, &self.peer)?;
        let silent = self.take_silent(&now, days)?;
        if silent.is_empty() {
            return Ok(());
        }
        stop_point("fold:taken");
        let outgoing = self.outgoing(&now)?;
        let specs: Vec<String> = outgoing.iter().map(super::outgoing::OutgoingRef::spec).collect();
        let address = &self.peer.address;
        let pushed = self.repo.push_refs(address, &specs, self.online)?;
        self.arrived(&outgoing, &pushed)?;
        // Where this clone's ref did not arrive, nothing is removed.
        let arrived = |one: &PushedTo| !matches!(one.end, PushEnd::Raced(_) | PushEnd::Refused(_));
        if !pushed.iter().all(arrived) {
            return Ok(());
        }
        stop_point("fold:pushed");
        let removed = self.repo.remove_refs_at(&self.peer.address, &silent, self.online)?;
        self.folded(&silent, &removed)
    }

    /// Has the records of silent writers follow from this clone's; returns the names of their refs and the commits that
    /// they point to.
    fn take_silent(&mut self, theirs: &RemoteState, days: u32) -> Result<Vec<(String, CommitId)>, OpsError> {
        let until = self.ctx.now.0.saturating_sub(i64::from(days).saturating_mul(86_400));
        let own = own_writer(self.repo)?;
        let mut silent = Tips::new();
        let mut incoming = WriterNews::default();
        for (writer, tip) in theirs.records.iter().filter(|(writer, _)| Some(*writer) != own.as_ref()) {
            if self.repo.commit(*tip)?.committed_at.0 <= until {
                incoming.add(self.repo, writer, None, *tip);
                silent.insert(writer.clone(), *tip);
            }
        }
        let unread = incoming.unread.iter().map(|(writer, _)| writer);
        for writer in unread.chain(incoming.too_large.iter().map(|(writer, _)| writer)) {
            silent.remove(writer);
        }
        if !silent.is_empty() {
            union::take_in(self.repo, &incoming, self.ctx.now)?;
            self.repo.notes_move_on(notes::REF, &incoming.tips, self.ctx.now)?;
            let there = own.and_then(|own| theirs.records.get(&own).copied());
            let tip = self.repo.ref_commit(notes::REF)?;
            self.lacking = tip.map_or(Ok(0), |tip| union::lacking(self.repo, tip, there.as_slice()))?;
            self.has_to_move = true;
        }
        Ok(silent.into_iter().map(|(writer, tip)| (format!("{PREFIX}{writer}"), tip)).collect())
    }

    /// Reports which refs of silent writers are gone now.
    fn folded(&mut self, silent: &[(String, CommitId)], removed: &[PushedTo]) -> Result<(), OpsError> {
        let mut gone = Vec::new();
        for one in removed {
            let Some(writer) = one.name.strip_prefix(PREFIX) else { continue };
            match &one.end {
                PushEnd::Moved | PushEnd::Same | PushEnd::Created => {
                    gone.push(format!("{}{writer}", self.peer.records));
                }
                // It wrote again, or another clone folds too.
                PushEnd::Raced(_) => {}
                PushEnd::Refused(words) => self.refused(&one.name, words),
            }
        }
        self.report.folded += gone.len().min(silent.len());
        gone.retain(|name| matches!(self.repo.ref_commit(name), Ok(Some(_))));
        if !gone.is_empty() {
            self.repo.delete_refs(&gone)?;
        }
        Ok(())
    }
}
