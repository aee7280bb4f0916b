//! Appends the entries of a person or an orchestrator. Before anything is signed, the entry is folded in at its place:
//! an invalid entry is refused with its reason, and never appended. The key that signs is the one that git's own set-up names.

use std::{collections::BTreeSet, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::faults::{reason, span, texts_of};
use super::{EntryStatement, SignedLedger};
use crate::{Context, OpsError, Result, Workspace, effect::consult};
use andon_core::domain::{CLOCK_SKEW, CommitId, EntryId, Hint, Timestamp};
use andon_git::{ConfigScope, GitError};
use andon_review::{Code, KeyGrant, Malformed, Payload, ReviewEntry, Tier, VoteSetting, fold};
use andon_signing::{Signer, SigningSetup};
use andon_store::{EvidenceText, Ledger, LedgerError, NewEntry};

/// Most commits that are no entries, behind which the newest entry is looked for.
const MAX_FAULTY: usize = 1_000;
/// The largest number of witnesses that are checked for a round.
const MAX_ASKED: usize = 16;

/// The answers that a witness has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapLeft {
    pub witness: String,
    /// Answers left in these 24 hours.
    pub left: usize,
    /// The time at which one becomes free; `None` where some are left.
    pub free_at: Option<Timestamp>,
}

/// An entry to be appended.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// The type of the entry, such as `round.accepted`.
    pub kind: &'static str,
    /// The body of the entry.
    pub said: &'a EntryStatement,
    /// The texts that belong to it.
    pub evidence: &'a [EvidenceText],
    /// The signer; `None` for entries of agents.
    pub signer: Option<&'a Signer>,
}

impl SignedLedger {
    /// Appends a draft.
    ///
    /// # Errors
    /// `VerbError::Refused` with the rule that forbids it; or it could not be signed or written.
    pub fn append(&self, ctx: &Context, ws: &Workspace, draft: &Draft<'_>) -> Result<EntryId> {
        self.allow(ctx, draft)?;
        self.not_behind(ctx, ws)?;
        let new = NewEntry {
            kind: draft.kind,
            ledger: self.id,
            body: draft.said,
            evidence: draft.evidence,
            at: ctx.now,
        };
        Ok(Ledger::open(&ws.repo).append_open(&new, draft.signer)?)
    }

    /// Refuses a draft that would not be valid here and now.
    ///
    /// # Errors
    /// `VerbError::Refused` with the rule that forbids it.
    pub fn allow(&self, ctx: &Context, draft: &Draft<'_>) -> Result<()> {
        let mut entries = self.review.clone();
        let new = entries.len();
        let payload = Payload::read(draft.kind, draft.said);
        entries.push(ReviewEntry {
            signer: draft.signer.map(|signer| signer.public().to_string()),
            // Only the signature itself will tell.
            touched: draft.signer.is_some_and(|signer| signer.public().is_hardware()),
            body: draft.said.clone().into(),
            ..unwritten("this entry".to_owned(), draft.kind, ctx.now, self.heads(ctx.now), payload)
        });
        let Some(code) = fold::appended(&self.folded, &entries) else { return Ok(()) };
        let (what, help) = reason(self, &entries[new], code);
        Err(OpsError::refused(what, help))
    }

    /// Refuses a ballot that could not be revealed: it would be sealed by then, and its seat lost.
    ///
    /// # Errors
    /// `VerbError::Refused` with the member that does not fit the round.
    pub fn allow_ballot(&self, round: usize, reveal: &EntryStatement) -> Result<()> {
        let why = match Payload::read("ballot-reveal", reveal) {
            Err(malformed) => Some(malformed.to_string()),
            Ok(Payload::BallotReveal(said)) => {
                self.folded.round(round).and_then(|round| fold::misfit(round, &said.vote)).map(str::to_owned)
            }
            Ok(_) => None,
        };
        let refused = |why| OpsError::refused(format!("this ballot: {why}"), texts_of(Code::BadPayload).1);
        why.map_or(Ok(()), |why| Err(refused(why)))
    }

    /// The witnesses who may take each of `rounds` now: everyone named by the policy tries, and the rules decide.
    pub fn may_accept(&mut self, now: Timestamp, rounds: &[usize]) -> Vec<Vec<String>> {
        let mut may = vec![Vec::new(); rounds.len()];
        let keys = &self.folded.authority.at_end.keys;
        let of = |who: &String| {
            keys.values().find(|grant| grant.who == *who && !self.folded.authority.is_out(grant.key()))
        };
        let witnesses = self.folded.authority.at_end.witnesses.iter().take(MAX_ASKED);
        let signers: Vec<(&String, &KeyGrant)> = witnesses.filter_map(|who| Some((who, of(who)?))).collect();
        if rounds.is_empty() || signers.is_empty() {
            return may;
        }
        let heads = self.heads(now);
        let all = self.review.len();
        let accept = |round: usize| Ok(Payload::Accept(self.review[round].id.clone()));
        let tries = rounds.iter().flat_map(|round| signers.iter().map(move |(_, grant)| (round, grant)));
        let tries = tries.enumerate().map(|(number, (round, grant))| ReviewEntry {
            signer: Some(grant.key().to_owned()),
            ..unwritten(format!("try {number}"), "accept", now, heads.clone(), accept(*round))
        });
        let tries: Vec<ReviewEntry> = tries.collect();
        let names: Vec<String> = signers.iter().map(|(who, _)| (*who).clone()).collect();
        self.review.extend(tries);
        let codes = fold::tried(&mut self.folded, &self.review, all);
        self.review.truncate(all);
        for (may, codes) in may.iter_mut().zip(codes.chunks(names.len())) {
            let fine = names.iter().zip(codes).filter(|(_, code)| code.is_none());
            may.extend(fine.map(|(who, _)| who.clone()));
        }
        may
    }

    /// The tier of `witness` now.
    pub fn tier(&self, witness: &str) -> Tier {
        if self.folded.authority.at_end.is_solo() {
            Tier::Full
        } else {
            self.folded.track_record(witness).tier()
        }
    }

    /// The rest of the cap of `witness`, and the time at which it ends where nothing is left.
    pub fn cap_of(&self, witness: &str) -> CapLeft {
        let (votes, now) = (&self.folded.state.votes, self.folded.now);
        let cap = self.folded.authority.at_end.rules.cap;
        CapLeft {
            witness: witness.to_owned(),
            left: cap.saturating_sub(votes.spent(witness, now)),
            free_at: votes.free_at(witness, now, cap).map(Timestamp),
        }
    }

    /// An error for a witness who could take a round and not answer it: the cap is asked at the answer.
    ///
    /// # Errors
    /// `VerbError::Refused` with the time at which it ends.
    pub fn below_cap(&self, signer: &Signer) -> Result<()> {
        let Some(who) = self.who(&signer.public().to_string()) else { return Ok(()) };
        let Some(free_at) = self.cap_of(who).free_at else { return Ok(()) };
        let what = format!("{who} has answered as many rounds as a day may have: free at {free_at}");
        Err(OpsError::refused(what, Hint::Review.led("take it then, or leave it to another witness")))
    }

    /// The entries that nothing follows yet. One from the future is no parent of what is appended: once its time has come,
    /// whatever follows it would have been made by a clock that was set back. What it follows is.
    fn heads(&self, now: Timestamp) -> Vec<usize> {
        let mut followed = BTreeSet::new();
        let settled = |at: &usize| !self.is_ahead(*at, now);
        let mut todo: Vec<usize> = (0..self.review.len()).filter(settled).collect();
        while let Some(at) = todo.pop() {
            for parent in self.review[at].parents.iter().filter(|parent| followed.insert(**parent)) {
                todo.extend(Some(*parent).filter(|parent| self.is_ahead(*parent, now)));
            }
        }
        (0..self.review.len()).filter(|at| settled(at) && !followed.contains(at)).collect()
    }

    fn is_ahead(&self, at: usize, now: Timestamp) -> bool {
        self.review[at].at > now.0.saturating_add(CLOCK_SKEW)
    }

    /// This clone's own ledger may hold an entry from the future: it appends nothing until then.
    fn not_behind(&self, ctx: &Context, ws: &Workspace) -> Result<()> {
        let own = self.own_newest(ws)?;
        let is_own = |at: &usize| own.iter().any(|tip| self.folded.graph.is_at_or_before(*at, *tip));
        let mut ahead = (0..self.review.len()).filter(|at| self.is_ahead(*at, ctx.now));
        let Some(at) = ahead.find(is_own) else { return Ok(()) };
        let by = span(self.review[at].at.saturating_sub(ctx.now.0));
        Err(OpsError::refused(
            format!(
                "entry {} of this clone is dated {by} ahead: what follows it would count for nothing then",
                self.short(at)
            ),
            Hint::LedgerElsewhere,
        ))
    }

    /// The newest entries of this clone's own ledger.
    fn own_newest(&self, ws: &Workspace) -> Result<Vec<usize>> {
        let Some(own) = Ledger::open(&ws.repo).own_ref()? else { return Ok(Vec::new()) };
        let mut todo: Vec<CommitId> = ws.repo.ref_commit(&own)?.into_iter().collect();
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(commit) = todo.pop().filter(|_| seen.len() < MAX_FAULTY) {
            match self.entries.iter().position(|entry| entry.commit == commit) {
                Some(at) => found.push(at),
                // Not every commit is an entry.
                None if seen.insert(commit) => {
                    todo.extend(ws.repo.commit(commit).map(|info| info.parents).unwrap_or_default());
                }
                None => {}
            }
        }
        Ok(found)
    }
}

/// An entry of this clone that follows `parents` and is still to be written.
fn unwritten(
    id: String,
    kind: &str,
    at: Timestamp,
    parents: Vec<usize>,
    payload: Result<Payload, Malformed>,
) -> ReviewEntry {
    ReviewEntry {
        id,
        rank: [0xff; 32],
        writer: "here".to_owned(),
        at: at.0,
        kind: kind.to_owned(),
        signer: None,
        touched: true,
        parents,
        body: EntryStatement::new().into(),
        payload: payload.into(),
    }
}

/// The key that git would sign commits with.
///
/// # Errors
/// git is not set up to sign with an SSH key.
pub fn signer(ctx: &Context, ws: &Workspace) -> Result<Signer> {
    // Asked of git itself, which also knows `git -c` and includes.
    let value = |key: &str| -> Result<Option<String>, GitError> {
        Ok(ws.repo.config_sources(key)?.pop().map(|found| found.value))
    };
    let setup = SigningSetup {
        format: value("gpg.format")?,
        key: value("user.signingKey")?,
        home: ctx.var("HOME").map(PathBuf::from),
        dir: ctx.cwd.clone(),
    };
    Ok(Signer::find(&setup).map_err(LedgerError::from)?)
}

/// The circumstances of an answer, which go into it: the presence of a terminal, and the number of
/// processes above were seen to be no agent's. Where neither is known, readers of the answer see that.
pub fn given(ctx: &Context) -> VoteSetting {
    let unmarked_above = u64::try_from(ctx.unmarked_above()).ok();
    VoteSetting { terminal: Some(consult::has_person()), unmarked_above }
}

/// The person's editor, as git finds it; never one that the repository's configuration names.
///
/// # Errors
/// git's configuration cannot be read.
pub fn editor(ctx: &Context, ws: &Workspace) -> Result<String> {
    let set = |name: &str| ctx.var(name).filter(|value| !value.is_empty()).map(str::to_owned);
    if let Some(editor) = set("GIT_EDITOR") {
        return Ok(editor);
    }
    let own = [ConfigScope::System, ConfigScope::Global, ConfigScope::Command];
    let mut configured = ws.repo.config_sources("core.editor")?.into_iter();
    let configured = configured.rfind(|found| own.contains(&found.scope));
    let editor = configured.map(|found| found.value).or_else(|| set("VISUAL")).or_else(|| set("EDITOR"));
    Ok(editor.unwrap_or_else(|| "vi".to_owned()))
}

/// An error in the shell of an agent: people answer, and people name witnesses.
///
/// # Errors
/// A marker of an agent is set.
pub fn not_an_agent(ctx: &Context, verb: &str) -> Result<()> {
    ctx.agent_mark().map_or(Ok(()), |marker| Err(OpsError::in_agent_shell(verb, &marker)))
}
