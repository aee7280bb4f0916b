//! What the remote has against what is here: what to take, what to send, what to tell.

use std::collections::BTreeMap;

use crate::domain::ids::CommitId;
use crate::git::{GitError, PushEnd, PushedTo, Repo, Update};
use crate::ledger::{self, Arrival, Ledger};
use crate::ops::context::Context;
use crate::ops::error::OpsError;
use crate::ops::workspace::Workspace;
use crate::record::{store, unite};
use crate::report::message::Diagnostic;
use crate::report::sync::SyncReport;

/// What is fetched, and where it goes: patterns even where one ref is meant, because git refuses the whole fetch when
/// a plainly named ref is missing on the other side.
pub(super) fn fetch_specs(remote: &str) -> Vec<String> {
    vec![
        format!("+{}*:{}*", store::REF, notes_of(remote)),
        format!("+{}*:{}*", ledger::REF_PREFIX, ledgers_of(remote)),
    ]
}

fn notes_of(remote: &str) -> String {
    format!("refs/notes/remotes/{remote}/andon")
}

fn ledgers_of(remote: &str) -> String {
    format!("{}{remote}/ledger/", ledger::REMOTE_PREFIX)
}

/// What the remote had when it was last looked at.
#[derive(Debug, Clone, Default)]
pub(super) struct Tracked {
    notes: Option<CommitId>,
    /// Tips by writer.
    ledgers: BTreeMap<String, CommitId>,
}

impl Tracked {
    pub(super) fn read(repo: &Repo, remote: &str) -> Result<Self, GitError> {
        let prefix = ledgers_of(remote);
        let ledgers = repo
            .refs_with_prefix(&prefix)?
            .into_iter()
            .filter_map(|(name, tip)| Some((name.strip_prefix(&prefix)?.to_owned(), CommitId(tip))))
            .collect();
        Ok(Self { notes: repo.ref_commit(&notes_of(remote))?, ledgers })
    }
}

/// A ref that the remote lacks or has less of.
pub(super) struct Outgoing {
    name: String,
    tip: CommitId,
    tracking: String,
    records: usize,
    entries: usize,
}

impl Outgoing {
    /// The tip by its id: hooks may move the ref on meanwhile.
    pub(super) fn spec(&self) -> String {
        format!("{}:{}", self.tip, self.name)
    }
}

/// One sync with one remote, as far as refs of this clone are concerned.
pub(super) struct Takeover<'a> {
    ctx: &'a Context,
    repo: &'a Repo,
    report: SyncReport,
    /// Ledgers that both sides have rewritten: never pushed.
    forked: Vec<String>,
    /// The newest union that was made here and has not arrived.
    united: Option<CommitId>,
}

impl<'a> Takeover<'a> {
    pub(super) fn new(ctx: &'a Context, ws: &'a Workspace, remote: &str) -> Self {
        let report = SyncReport { remote: remote.to_owned(), ..SyncReport::default() };
        Self { ctx, repo: &ws.repo, report, forked: Vec::new(), united: None }
    }

    pub(super) fn remote(&self) -> &str {
        &self.report.remote
    }

    pub(super) fn retried(&mut self) {
        self.report.retries += 1;
    }

    pub(super) fn finish(self) -> SyncReport {
        self.report
    }

    fn found(&mut self, one: Diagnostic) {
        if !self.report.found.contains(&one) {
            self.report.found.push(one);
        }
    }

    /// Takes over what the remote has.
    pub(super) fn adopt(&mut self, theirs: &Tracked) -> Result<(), OpsError> {
        if let Some(tip) = theirs.notes {
            let union = unite::unite(self.repo, tip, self.united, self.ctx.now)?;
            self.united = union.made.or(self.united);
            self.report.received.records += union.received;
            self.ctx.stop_point("sync:united");
            let remote = self.remote().to_owned();
            if union.kept > 0 {
                let what =
                    format!("{} record(s) were taken away at {remote}; they are kept here", union.kept);
                self.found(
                    Diagnostic::warning(what)
                        .code("dropped-records")
                        .help(format!("see who did: git log -p refs/notes/remotes/{remote}/andon")),
                );
            }
            for commit in union.skipped {
                let what = format!(
                    "the note of commit {commit} at {remote} is too large to be a record; it was left there"
                );
                self.found(
                    Diagnostic::warning(what)
                        .code("oversized-note")
                        .help(format!("git notes --ref=remotes/{remote}/andon show {commit} | head")),
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
        match Ledger::open(self.repo).adopt(writer, tip) {
            Ok(Arrival::Same | Arrival::Behind) => {}
            Ok(Arrival::Forward(entries)) => self.report.received.entries += entries,
            Ok(Arrival::Forked) => {
                let remote = self.remote().to_owned();
                let what = format!(
                    "the ledger of {writer} at {remote} is not the one that is here: it was rewritten, or two clones \
                     were copied from one and share an id; both are kept, ours is not pushed"
                );
                self.forked.push(writer.to_owned());
                self.found(Diagnostic::error(what).code("forked-ledger").help(format!(
                    "look at both: git log --oneline --graph {0}{writer} {1}{writer}",
                    ledger::REF_PREFIX,
                    ledgers_of(&remote)
                )));
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

    /// Says what went back, or away, at the remote since it was last seen.
    pub(super) fn compare(&mut self, before: &Tracked, now: &Tracked) -> Result<(), OpsError> {
        if let Some(seen) = before.notes {
            self.went_back("the records", store::REF, (seen, now.notes))?;
        }
        for (writer, seen) in &before.ledgers {
            let name = format!("{}{writer}", ledger::REF_PREFIX);
            self.went_back(
                &format!("the ledger of {writer}"),
                &name,
                (*seen, now.ledgers.get(writer).copied()),
            )?;
        }
        Ok(())
    }

    fn went_back(
        &mut self,
        what: &str,
        name: &str,
        (seen, now): (CommitId, Option<CommitId>),
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
    pub(super) fn outgoing(&self, theirs: &Tracked) -> Result<Vec<Outgoing>, OpsError> {
        let mut outgoing = Vec::new();
        let remote = self.remote();
        if let Some(tip) = self.repo.ref_commit(store::REF)?.filter(|tip| theirs.notes != Some(*tip)) {
            let records = self.repo.notes_ahead(theirs.notes, tip)?;
            outgoing.push(Outgoing {
                name: store::REF.to_owned(),
                tip,
                tracking: notes_of(remote),
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
            let tracking = format!("{}{writer}", ledgers_of(remote));
            outgoing.push(Outgoing { name, tip, tracking, records: 0, entries });
        }
        Ok(outgoing)
    }

    /// Remembers what arrived and says what was refused.
    pub(super) fn arrived(&mut self, outgoing: &[Outgoing], pushed: &[PushedTo]) -> Result<(), OpsError> {
        for one in pushed {
            let Some(sent) = outgoing.iter().find(|sent| sent.name == one.name) else { continue };
            match &one.end {
                PushEnd::Same | PushEnd::Moved | PushEnd::Created => {
                    self.report.sent.records += sent.records;
                    self.report.sent.entries += sent.entries;
                    self.repo.update_ref(&sent.tracking, "sync", |_| Ok(Update::Set(sent.tip, ())))?;
                }
                PushEnd::Raced(_) => {}
                PushEnd::Refused(words) => self.refused(&one.name, words),
            }
        }
        Ok(())
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
