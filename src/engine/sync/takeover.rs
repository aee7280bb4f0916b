//! What the remote has against what is here: what to take, what to send, what to tell.

use std::collections::BTreeMap;

use crate::domain::diagnostic::Diagnostic;
use crate::domain::ids::CommitId;
use crate::domain::view::sync::SyncReport;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::git::{GitError, PushEnd, PushedTo, Repo, Update};
use crate::ledger::{self, Arrival, Ledger};
use crate::platform::test_seam::stop_point;
use crate::report::escape::shell_quote;
use crate::store::{notes, unite};

use super::peer::{Peer, Standing};

/// Most ledgers that are taken over from one remote.
const MAX_LEDGERS: usize = 10_000;

/// What the remote had when it was last looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracked {
    notes: Option<CommitId>,
    /// Tips by writer.
    ledgers: BTreeMap<String, CommitId>,
}

impl Tracked {
    pub(crate) fn read(repo: &Repo, peer: &Peer) -> Result<Self, GitError> {
        let found = repo.refs_with_prefix(&peer.ledgers)?;
        // Ledgers of our own making have an id for a name: nothing else is taken over, whoever offers it.
        let ledgers: BTreeMap<String, CommitId> = found
            .into_iter()
            .filter_map(|(name, tip)| Some((name.strip_prefix(&peer.ledgers)?.to_owned(), CommitId(tip))))
            .filter(|(writer, _)| ledger::is_writer(writer))
            .take(MAX_LEDGERS)
            .collect();
        Ok(Self { notes: repo.ref_commit(&peer.notes)?, ledgers })
    }
}

/// A ref that the remote lacks or has less of.
pub(crate) struct Outgoing {
    name: String,
    tip: CommitId,
    tracking: String,
    records: usize,
    entries: usize,
}

impl Outgoing {
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

/// One sync with one remote, as far as refs of this clone are concerned.
pub(crate) struct Takeover<'a> {
    ctx: &'a Context,
    repo: &'a Repo,
    peer: Peer,
    report: SyncReport,
    /// Ledgers that both sides have rewritten: never pushed.
    forked: Vec<String>,
    /// The newest union that was made here and has not arrived.
    united: Option<CommitId>,
}

impl<'a> Takeover<'a> {
    pub(crate) fn new(ctx: &'a Context, ws: &'a Workspace, peer: Peer) -> Self {
        let report = SyncReport { remote: peer.label.clone(), ..SyncReport::default() };
        Self { ctx, repo: &ws.repo, peer, report, forked: Vec::new(), united: None }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    fn remote(&self) -> &str {
        &self.peer.label
    }

    pub(crate) fn retried(&mut self) {
        self.report.retries += 1;
    }

    pub(crate) fn finish(self) -> SyncReport {
        self.report
    }

    fn found(&mut self, one: Diagnostic) {
        if !self.report.found.contains(&one) {
            self.report.found.push(one);
        }
    }

    /// A command that looks at what is kept of the peer; of an address nothing is.
    fn look(&self, command: String) -> String {
        match self.peer.standing {
            Standing::Configured => command,
            Standing::Passing => {
                format!("see what is there: git ls-remote {}", shell_quote(&self.peer.label))
            }
        }
    }

    /// Takes over what the remote has.
    pub(crate) fn adopt(&mut self, theirs: &Tracked) -> Result<(), OpsError> {
        if let Some(tip) = theirs.notes {
            let union = unite::unite(self.repo, tip, self.united, self.ctx.now)?;
            self.united = union.made.or(self.united);
            self.report.received.records += union.received;
            stop_point("sync:united");
            let remote = self.remote().to_owned();
            if union.kept > 0 {
                let what =
                    format!("{} record(s) were taken away at {remote}; they are kept here", union.kept);
                self.found(
                    Diagnostic::warning(what)
                        .code("dropped-records")
                        .help(self.look(format!("see who did: git log -p {}", self.peer.notes))),
                );
            }
            for commit in union.skipped {
                let what = format!(
                    "the note of commit {commit} at {remote} is too large to be a record; it was left there"
                );
                self.found(
                    Diagnostic::warning(what)
                        .code("oversized-note")
                        .help(self.look(format!("git notes --ref={} show {commit} | head", self.peer.notes))),
                );
            }
        }
        for (writer, tip) in &theirs.ledgers {
            self.adopt_ledger(writer, *tip);
        }
        Ok(())
    }

    /// One ledger that cannot be taken over must not keep the others away.
    fn adopt_ledger(&mut self, writer: &str, tip: CommitId) {
        if let Some(why) = self.unbelievable(writer, tip) {
            let what = format!("the ledger of {writer} at {} was not taken over: {why}", self.remote());
            return self.found(Diagnostic::warning(what).code("foreign-ledger").help(
                "nothing here changed; whoever offers it is to sync from the clone in which the halts were made",
            ));
        }
        match Ledger::open(self.repo).adopt(writer, tip) {
            Ok(Arrival::Same | Arrival::Behind) => {}
            Ok(Arrival::Forward(entries)) => self.report.received.entries += entries,
            Ok(Arrival::Forked) => {
                let remote = self.remote().to_owned();
                let end = match self.peer.standing {
                    Standing::Configured => "both are kept, ours is not pushed",
                    Standing::Passing => "theirs was not taken over",
                };
                let what = format!(
                    "the ledger of {writer} at {remote} is not the one that is here: it was rewritten, or two clones \
                     were copied from one and share an id; {end}"
                );
                self.forked.push(writer.to_owned());
                let both = format!(
                    "look at both: git log --oneline --graph {0}{writer} {1}{writer}",
                    ledger::REF_PREFIX,
                    self.peer.ledgers
                );
                let help = self.look(both);
                self.found(Diagnostic::error(what).code("forked-ledger").help(help));
            }
            Err(err) => {
                let what = format!("the ledger of {writer} was not taken over: {err}");
                let warning = Diagnostic::warning(what).code("unreadable-ledger");
                self.found(match err.help() {
                    Some(help) => warning.help(help),
                    None => warning,
                });
            }
        }
    }

    /// Why a ledger from anybody cannot be what it says. A configured remote is believed, and judged by `check`.
    fn unbelievable(&self, writer: &str, tip: CommitId) -> Option<String> {
        if self.peer.standing == Standing::Configured {
            return None;
        }
        let ledger = Ledger::open(self.repo);
        let name = format!("{}{writer}", ledger::REF_PREFIX);
        if ledger.own_ref().ok().flatten().as_ref() == Some(&name)
            && let Ok(Some(own)) = self.repo.ref_commit(&name)
        {
            let known = own == tip || self.repo.is_ancestor(tip, own).unwrap_or(false);
            return (!known).then(|| "it is this clone's own, which nobody else writes".to_owned());
        }
        match ledger.writer_at(tip) {
            Ok(Some(found)) if found == writer => None,
            Ok(Some(found)) => Some(format!("its newest entry is of {found}")),
            Ok(None) => Some("its newest entry cannot be read".to_owned()),
            Err(err) => Some(err.to_string()),
        }
    }

    /// Says what went back, or away, at the remote since it was last seen.
    pub(crate) fn compare(&mut self, before: &Tracked, now: &Tracked) -> Result<(), OpsError> {
        if let Some(seen) = before.notes {
            self.went_back("the records", notes::REF, seen, now.notes)?;
        }
        for (writer, seen) in &before.ledgers {
            let name = format!("{}{writer}", ledger::REF_PREFIX);
            self.went_back(
                &format!("the ledger of {writer}"),
                &name,
                *seen,
                now.ledgers.get(writer).copied(),
            )?;
        }
        Ok(())
    }

    fn went_back(
        &mut self,
        what: &str,
        name: &str,
        seen: CommitId,
        now: Option<CommitId>,
    ) -> Result<(), OpsError> {
        let how = match now {
            Some(tip) if self.repo.is_ancestor(seen, tip)? => return Ok(()),
            Some(tip) if self.repo.is_ancestor(tip, seen)? => {
                format!("went back from {} to {}", seen.short(), tip.short())
            }
            Some(tip) => format!("were replaced: {} is not in {}", seen.short(), tip.short()),
            None => format!("are gone; they were at {}", seen.short()),
        };
        let remote = self.remote().to_owned();
        let warning = Diagnostic::warning(format!("{what} at {remote} {how}; nothing is lost here"))
            .code("rewound-remote")
            .help(format!("find out who forced {name} there, and forbid it (receive.denyNonFastForwards)"));
        self.found(warning);
        Ok(())
    }

    /// What the remote lacks.
    pub(crate) fn outgoing(&self, theirs: &Tracked) -> Result<Vec<Outgoing>, OpsError> {
        let mut outgoing = Vec::new();
        if let Some(tip) = self.repo.ref_commit(notes::REF)?.filter(|tip| theirs.notes != Some(*tip)) {
            let records = self.repo.notes_ahead(theirs.notes, tip)?;
            outgoing.push(Outgoing {
                name: notes::REF.to_owned(),
                tip,
                tracking: self.peer.notes.clone(),
                records,
                entries: 0,
            });
        }
        for (name, tip) in self.repo.refs_with_prefix(ledger::REF_PREFIX)? {
            let writer = name.strip_prefix(ledger::REF_PREFIX).unwrap_or(&name);
            let there = theirs.ledgers.get(writer).copied();
            let tip = CommitId(tip);
            if there == Some(tip) || self.forked.iter().any(|forked| forked == writer) {
                continue;
            }
            let entries = Ledger::open(self.repo).entries_since(writer, there, tip)?;
            let tracking = format!("{}{writer}", self.peer.ledgers);
            outgoing.push(Outgoing { name, tip, tracking, records: 0, entries });
        }
        Ok(outgoing)
    }

    /// Remembers what arrived and says what was refused.
    pub(crate) fn arrived(&mut self, outgoing: &[Outgoing], pushed: &[PushedTo]) -> Result<(), OpsError> {
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

    fn remember(&self, sent: &Outgoing) -> Result<(), OpsError> {
        Ok(self.repo.update_ref(&sent.tracking, "sync", |_| Ok(Update::Set(sent.tip, ())))?)
    }

    /// Remembers what was written to a file.
    pub(crate) fn written(&mut self, outgoing: &[Outgoing]) {
        for one in outgoing {
            self.report.sent.records += one.records;
            self.report.sent.entries += one.entries;
        }
    }

    fn refused(&mut self, name: &str, words: &str) {
        let remote = self.remote().to_owned();
        let what = format!("{remote} does not take {name}: {words}");
        self.found(
            Diagnostic::error(what)
                .code("refused-ref")
                .help(format!(
                    "let the server take refs/notes/andon and {}* (hooks, receive.hideRefs, rights of the account)",
                    ledger::REF_PREFIX
                ))
                .help(format!("or sync with a remote that does: git remote add records URL && andon sync records # instead of {remote}")),
        );
    }
}
