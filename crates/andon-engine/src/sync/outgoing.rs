//! The refs that the remote lacks, and the result of pushing them.

use super::{RemoteState, Sync, records::Tips};
use crate::Result;
use andon_core::domain::{CommitId, Diagnostic, Hint};
use andon_git::{GitError, PushEnd, PushedTo, Repo, Update, platform::test_seam::stop_point};
use andon_store::union::{self, PREFIX};
use andon_store::{Ledger, WriterNews, ledger, notes};

/// A ref that the remote lacks or has less of.
pub(crate) struct OutgoingRef {
    name: String,
    tip: CommitId,
    tracking: String,
    records: usize,
    entries: usize,
}

impl OutgoingRef {
    /// The tip by its id: hooks may move the ref on meanwhile.
    pub(crate) fn spec(&self) -> String {
        format!("{}:{}", self.tip, self.name)
    }
}

/// The names of every ref that travels.
pub(crate) fn everything(repo: &Repo) -> Result<Vec<String>, GitError> {
    let notes = repo.ref_commit(notes::REF)?.map(|_| notes::REF.to_owned());
    let ledgers = repo.refs_with_prefix(ledger::REF_PREFIX)?.into_iter().map(|(name, _)| name);
    Ok(notes.into_iter().chain(ledgers).collect())
}
impl Sync<'_> {
    /// The refs that the remote lacks or has less of: this clone's own for all records, and ledgers.
    pub(crate) fn outgoing(&self, theirs: &RemoteState) -> Result<Vec<OutgoingRef>> {
        let mut outgoing = Vec::new();
        if (self.lacking > 0 || self.has_to_move)
            && let Some(tip) = self.repo.ref_commit(notes::REF)?
        {
            let writer = Ledger::open(self.repo).writer_id()?;
            let tracking = format!("{}{writer}", self.peer.records);
            let name = format!("{PREFIX}{writer}");
            outgoing.push(OutgoingRef { name, tip, tracking, records: self.lacking, entries: 0 });
        }
        outgoing.extend(self.of_ledgers(theirs)?);
        Ok(outgoing)
    }

    /// The refs that a bundle lacks: it has one ref for all records, which no other clone writes at the same time.
    pub(crate) fn outgoing_to_file(&self, theirs: &RemoteState) -> Result<Vec<OutgoingRef>> {
        let mut outgoing = Vec::new();
        if let Some(tip) = self.repo.ref_commit(notes::REF)?.filter(|tip| theirs.notes != Some(*tip)) {
            let records = self.repo.notes_lacking(tip, theirs.notes.as_slice())?.len();
            let (name, tracking) = (notes::REF.to_owned(), self.peer.notes.clone());
            outgoing.push(OutgoingRef { name, tip, tracking, records, entries: 0 });
        }
        outgoing.extend(self.of_ledgers(theirs)?);
        Ok(outgoing)
    }

    fn of_ledgers(&self, theirs: &RemoteState) -> Result<Vec<OutgoingRef>> {
        let mut outgoing = Vec::new();
        for (name, tip) in self.repo.refs_with_prefix(ledger::REF_PREFIX)? {
            let writer = name.strip_prefix(ledger::REF_PREFIX).unwrap_or(&name);
            let there = theirs.ledgers.get(writer).copied();
            let tip = CommitId(tip);
            if there == Some(tip) || self.forked.iter().any(|forked| forked == writer) {
                continue;
            }
            let entries = Ledger::open(self.repo).entries_since(writer, there, tip)?;
            let tracking = format!("{}{writer}", self.peer.ledgers);
            outgoing.push(OutgoingRef { name, tip, tracking, records: 0, entries });
        }
        Ok(outgoing)
    }

    /// Remembers what arrived and says what was refused.
    pub(crate) fn arrived(&mut self, outgoing: &[OutgoingRef], pushed: &[PushedTo]) -> Result<()> {
        for one in pushed {
            let Some(sent) = outgoing.iter().find(|sent| sent.name == one.name) else { continue };
            match &one.end {
                PushEnd::Same => self.remember(sent)?,
                PushEnd::Moved => {
                    self.sent(sent);
                    self.remember(sent)?;
                }
                PushEnd::Raced(_) => {}
                PushEnd::Refused(words) => self.refused(&one.name, words),
            }
        }
        Ok(())
    }

    /// Counts what has reached the other side.
    pub(crate) fn sent(&mut self, one: &OutgoingRef) {
        self.report.sent.records += one.records;
        self.report.sent.entries += one.entries;
    }

    fn remember(&self, sent: &OutgoingRef) -> Result<()> {
        Ok(self.repo.update_ref(&sent.tracking, "sync", |_| Ok(Update::Set(sent.tip, ())))?)
    }

    pub(super) fn refused(&mut self, name: &str, words: &str) {
        let remote = self.peer.label.clone();
        let what = format!("{remote} does not take {name}: {words}");
        self.found(
            Diagnostic::error(what)
                .code("refused-ref")
                .help(format!(
                    "let the server take {PREFIX}* and {}* (hooks, receive.hideRefs, rights of the account)",
                    ledger::REF_PREFIX
                ))
                .help(Hint::OtherRemote.with([&remote])),
        );
    }
}

// Takes over the refs of writers that are gone. First this clone's ref follows theirs and arrives at the remote; only then
// their refs are removed, each only in the state that was read. So a crash in between leaves everything twice. If two
// clones fold each other at once, neither finds the other's ref in the state that it read, because each has moved its own
// first.

impl Sync<'_> {
    /// Removes the refs of writers that have been silent for `days`, once this clone's ref has their records. No lock is
    /// needed: a ref is removed only in the state that was read, and a writer that continues makes it anew.
    pub fn fold(&mut self, days: u32) -> Result<()> {
        let now = RemoteState::read(self.repo, &self.peer)?;
        let silent = self.take_silent(&now, days)?;
        if silent.is_empty() {
            return Ok(());
        }
        stop_point("fold:taken");
        let outgoing = self.outgoing(&now)?;
        let specs: Vec<String> = outgoing.iter().map(OutgoingRef::spec).collect();
        let address = &self.peer.address;
        let pushed = self.repo.push_refs(address, &specs, self.online)?;
        self.arrived(&outgoing, &pushed)?;
        // If this clone's ref did not arrive, nothing is removed.
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
    fn take_silent(&mut self, theirs: &RemoteState, days: u32) -> Result<Vec<(String, CommitId)>> {
        let until = self.ctx.now.0.saturating_sub(i64::from(days).saturating_mul(86_400));
        let own = Ledger::open(self.repo).own_writer()?;
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
    fn folded(&mut self, silent: &[(String, CommitId)], removed: &[PushedTo]) -> Result<()> {
        let mut gone = Vec::new();
        for one in removed {
            let Some(writer) = one.name.strip_prefix(PREFIX) else { continue };
            match &one.end {
                PushEnd::Moved | PushEnd::Same => {
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
