//! The remote compared with this clone: what to take, what to send, what to report.

use super::records::{self, Tips};
use super::{Peer, Sync};
use crate::Result;
use andon_core::domain::{CommitId, Diagnostic, Hint};
use andon_core::escape::shell_quote;
use andon_git::{GitError, Repo, platform::test_seam::stop_point};
use andon_store::union::{self, PREFIX};
use andon_store::{Arrival, Ledger, ledger, notes};

/// Most writers that are taken over from one remote.
const MAX_WRITERS: usize = 10_000;

/// The refs of the remote when it was last looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemoteState {
    pub(super) notes: Option<CommitId>,
    /// Tips by writer.
    pub(super) ledgers: Tips,
    /// The same of records.
    pub(super) records: Tips,
}

impl RemoteState {
    pub(crate) fn read(repo: &Repo, peer: &Peer) -> Result<Self, GitError> {
        let notes = repo.ref_commit(&peer.notes)?;
        Ok(Self { notes, ledgers: tips(repo, &peer.ledgers)?, records: tips(repo, &peer.records)? })
    }
}

/// The refs below `prefix` whose names are ids, like those that Andon makes: nothing else is taken over from any
/// source.
fn tips(repo: &Repo, prefix: &str) -> Result<Tips, GitError> {
    let found = repo.refs_with_prefix(prefix)?.into_iter();
    let named = found.filter_map(|(name, tip)| Some((name.strip_prefix(prefix)?.to_owned(), CommitId(tip))));
    Ok(named.filter(|(writer, _)| ledger::is_writer(writer)).take(MAX_WRITERS).collect())
}

impl Sync<'_> {
    pub(super) fn found(&mut self, one: Diagnostic) {
        if !self.report.found.contains(&one) {
            self.report.found.push(one);
        }
    }

    /// A command that looks at what is kept of the peer; of an address nothing is.
    fn look(&self, command: String) -> String {
        if self.peer.is_configured {
            return command;
        }
        Hint::LsRemote.with([&shell_quote(&self.peer.label)])
    }

    /// Warns once, with a command that looks at what is kept of the peer.
    fn warn(&mut self, what: String, code: &str, command: String) {
        let help = self.look(command);
        self.found(Diagnostic::warning(what).code(code).help(help));
    }

    fn dropped(&mut self, count: usize, command: String) {
        let what = format!("{count} record(s) were taken away at {}; they are kept here", self.peer.label);
        self.warn(what, "dropped-records", command);
    }

    /// Takes over what the remote has.
    pub(crate) fn adopt(&mut self, theirs: &RemoteState) -> Result<()> {
        if let Some(tip) = theirs.notes {
            let union = union::unite(self.repo, tip, self.ctx.now)?;
            self.report.received.records += union.received;
            stop_point("sync:united");
            let remote = self.peer.label.clone();
            if union.kept > 0 {
                self.dropped(union.kept, Hint::LogPatches.with([&self.peer.notes]));
            }
            for commit in union.skipped {
                let what = format!(
                    "the note of commit {commit} at {remote} is too large to be a record; it was left there"
                );
                let command = Hint::ReadNotesOf.with([&self.peer.notes, &commit.to_string()]);
                self.warn(what, "oversized-note", command);
            }
        }
        self.adopt_records(&theirs.records)?;
        for (writer, tip) in &theirs.ledgers {
            self.adopt_ledger(writer, *tip);
        }
        Ok(())
    }

    /// The records of writers. One whose records cannot be read must not keep the others away.
    fn adopt_records(&mut self, tips: &Tips) -> Result<()> {
        let (taken_in, incoming) = records::adopt(self.repo, &self.peer, tips, self.ctx.now)?;
        self.report.received.records += taken_in.received;
        stop_point("sync:joined");
        let (remote, refs) = (self.peer.label.clone(), self.peer.records.clone());
        if taken_in.kept > 0 {
            self.dropped(taken_in.kept, Hint::LogPatches.with([&refs]));
        }
        for (writer, commit) in incoming.too_large {
            let what = format!(
                "the note of commit {commit} by writer {writer} at {remote} is too large to be a record; it was left there"
            );
            self.warn(what, "oversized-note", Hint::LogHead.with([&format!("{refs}{writer}")]));
        }
        for (writer, error) in incoming.unread {
            let what = format!("the records of writer {writer} at {remote} could not be read: {error}");
            self.warn(what, "unreadable-records", Hint::LogPatches.with([&format!("{refs}{writer}")]));
        }
        Ok(())
    }

    /// One ledger that cannot be taken over must not keep the others away.
    fn adopt_ledger(&mut self, writer: &str, tip: CommitId) {
        if let Some(why) = self.unbelievable(writer, tip) {
            let what = format!("the ledger of {writer} at {} was not taken over: {why}", self.peer.label);
            return self.found(
                Diagnostic::warning(what).code("foreign-ledger").help(
                    "nothing here changed; its owner syncs from the clone in which the halts were made",
                ),
            );
        }
        match Ledger::open(self.repo).adopt(writer, tip) {
            Ok(Arrival::Same | Arrival::Behind) => {}
            Ok(Arrival::Forward(entries)) => self.report.received.entries += entries,
            Ok(Arrival::Forked) => {
                let remote = self.peer.label.clone();
                let kept = "both are kept, ours is not pushed";
                let end = if self.peer.is_configured { kept } else { "theirs was not taken over" };
                let what = format!(
                    "the ledger of {writer} at {remote} is not the one that is here: it was rewritten, or two clones \
                     were copied from one and share an id; {end}"
                );
                self.forked.push(writer.to_owned());
                let [here, there] =
                    [ledger::REF_PREFIX, &self.peer.ledgers].map(|at| format!("{at}{writer}"));
                let help = self.look(Hint::LogBoth.with([&here, &there]));
                self.found(Diagnostic::error(what).code("forked-ledger").help(help));
            }
            Err(err) => {
                let what = format!("the ledger of {writer} was not taken over: {err}");
                self.found(Diagnostic::warning(what).code("unreadable-ledger").helps(err.help()));
            }
        }
    }

    /// Returns the reason why a ledger from an unknown source cannot be what it says. A configured remote is believed, and
    /// judged by `check`.
    fn unbelievable(&self, writer: &str, tip: CommitId) -> Option<String> {
        if self.peer.is_configured {
            return None;
        }
        let ledger = Ledger::open(self.repo);
        let name = format!("{}{writer}", ledger::REF_PREFIX);
        if ledger.own_ref().ok().flatten().as_ref() == Some(&name)
            && let Ok(Some(own)) = self.repo.ref_commit(&name)
        {
            let known = self.repo.is_ancestor(tip, own).unwrap_or(false);
            return (!known).then(|| "it is this clone's own, which no other clone writes".to_owned());
        }
        match ledger.writer_at(tip) {
            Ok(Some(found)) if found == writer => None,
            Ok(Some(found)) => Some(format!("its newest entry is of {found}")),
            Ok(None) => Some("its newest entry cannot be read".to_owned()),
            Err(err) => Some(err.to_string()),
        }
    }

    /// Says what went back, or away, at the remote since it was last seen.
    pub(crate) fn compare(&mut self, before: &RemoteState, now: &RemoteState) -> Result<()> {
        if let Some(seen) = before.notes {
            self.went_back("the records", notes::REF, seen, now.notes)?;
        }
        for (writer, seen) in &before.records {
            match now.records.get(writer) {
                Some(tip) => {
                    let what = format!("the records of {writer}");
                    self.went_back(&what, &format!("{PREFIX}{writer}"), *seen, Some(*tip))?;
                }
                // Its records may have been folded into another ref: `offer` looks for them.
                None => drop(self.missed.insert(writer.clone(), *seen)),
            }
        }
        for (writer, seen) in &before.ledgers {
            let (what, name) = (format!("the ledger of {writer}"), format!("{}{writer}", ledger::REF_PREFIX));
            self.went_back(&what, &name, *seen, now.ledgers.get(writer).copied())?;
        }
        Ok(())
    }

    fn went_back(&mut self, what: &str, name: &str, seen: CommitId, now: Option<CommitId>) -> Result<()> {
        let how = match now {
            Some(tip) if self.repo.is_ancestor(seen, tip)? => return Ok(()),
            Some(tip) if self.repo.is_ancestor(tip, seen)? => {
                format!("went back from {} to {}", seen.short(), tip.short())
            }
            Some(tip) => format!("were replaced: {} is not in {}", seen.short(), tip.short()),
            None => format!("are gone; they were at {}", seen.short()),
        };
        let remote = self.peer.label.clone();
        let warning = Diagnostic::warning(format!("{what} at {remote} {how}; nothing is lost here"))
            .code("rewound-remote")
            .help(format!("find out who forced {name} there, and forbid it (receive.denyNonFastForwards)"));
        self.found(warning);
        Ok(())
    }

    /// Finds out what the remote lacks of our records, and lets them follow from what it has of this clone's ref.
    pub(crate) fn offer(&mut self, theirs: &RemoteState) -> Result<()> {
        let own =
            Ledger::open(self.repo).own_writer()?.and_then(|writer| theirs.records.get(&writer)).copied();
        // Removed here, or written by a copy of this clone that has the same id.
        if let (Some(there), Some(here)) = (own, self.repo.ref_commit(notes::REF)?)
            && !self.repo.is_ancestor(there, here)?
        {
            union::unite(self.repo, there, self.ctx.now)?;
        }
        let others = theirs.records.values().copied().filter(|tip| Some(*tip) != own);
        let there: Vec<CommitId> = own.into_iter().chain(theirs.notes).chain(others).collect();
        self.lacking = match self.repo.ref_commit(notes::REF)? {
            Some(tip) => union::lacking(self.repo, tip, &there)?,
            None => 0,
        };
        stop_point("sync:offered");
        for (writer, seen) in std::mem::take(&mut self.missed) {
            if union::lacking(self.repo, seen, &there).is_ok_and(|lacking| lacking > 0) {
                let what = format!("the records of {writer}");
                self.went_back(&what, &format!("{PREFIX}{writer}"), seen, None)?;
            }
        }
        Ok(())
    }
}
