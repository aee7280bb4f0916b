//! What the remote lacks, and the result of pushing it.

use super::{Sync, takeover::RemoteState};
use crate::error::OpsError;
use andon_core::domain::{diagnostic::Diagnostic, ids::CommitId};
use andon_git::{GitError, PushEnd, PushedTo, Repo, Update};
use andon_store::ledger::{self, Ledger};
use andon_store::{notes, union::PREFIX};

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
    pub(crate) fn outgoing(&self, theirs: &RemoteState) -> Result<Vec<OutgoingRef>, OpsError> {
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
    pub(crate) fn outgoing_to_file(&self, theirs: &RemoteState) -> Result<Vec<OutgoingRef>, OpsError> {
        let mut outgoing = Vec::new();
        if let Some(tip) = self.repo.ref_commit(notes::REF)?.filter(|tip| theirs.notes != Some(*tip)) {
            let records = self.repo.notes_lacking(tip, theirs.notes.as_slice())?.len();
            let (name, tracking) = (notes::REF.to_owned(), self.peer.notes.clone());
            outgoing.push(OutgoingRef { name, tip, tracking, records, entries: 0 });
        }
        outgoing.extend(self.of_ledgers(theirs)?);
        Ok(outgoing)
    }

    fn of_ledgers(&self, theirs: &RemoteState) -> Result<Vec<OutgoingRef>, OpsError> {
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
    pub(crate) fn arrived(&mut self, outgoing: &[OutgoingRef], pushed: &[PushedTo]) -> Result<(), OpsError> {
        for one in pushed {
            let Some(sent) = outgoing.iter().find(|sent| sent.name == one.name) else { continue };
            match &one.end {
                PushEnd::Same => self.remember(sent)?,
                PushEnd::Moved | PushEnd::Created => {
                    self.report.sent.records += sent.records;
                    self.report.sent.entries += sent.entries;
                    self.remember(sent)?;
                }
                PushEnd::Raced(_) => {}
                PushEnd::Refused(words) => self.refused(&one.name, words),
            }
        }
        Ok(())
    }

    fn remember(&self, sent: &OutgoingRef) -> Result<(), OpsError> {
        Ok(self.repo.update_ref(&sent.tracking, "sync", |_| Ok(Update::Set(sent.tip, ())))?)
    }

    /// Remembers what was written to a file.
    pub(crate) fn written(&mut self, outgoing: &[OutgoingRef]) {
        for one in outgoing {
            self.report.sent.records += one.records;
            self.report.sent.entries += one.entries;
        }
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
                .help(format!("or sync with a remote that does: git remote add records URL && andon sync records # instead of {remote}")),
        );
    }
}
