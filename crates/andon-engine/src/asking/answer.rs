//! Answers to halts where only a signature ends one (`guard.ack = "signed"`).
//!
//! An agent can edit `andon.toml` in the working tree, so that of the halted commit says whether a signature is needed
//! and for which ledger. A `loop.acknowledged` does not end such a halt: only a resolution does, signed for this halt
//! and for the code that was halted.

use std::collections::{BTreeMap, btree_map::Entry};

use serde_json::Value;

use super::{Draft, SignedLedger, short};
use crate::{Context, OpsError, Result, Workspace};
use andon_config::{self as config, Config, ConfigSource, Guard, Layer, MAX_BYTES};
use andon_core::domain::{
    Ack, AckHow, AckMode, CONFIG_FILE, CodeId, CommitId, Diagnostic, EntryId, HaltAssessment, LedgerEvent,
    StandingHalt, Timestamp, TreeId,
};
use andon_git::Repo;
use andon_review::{ResolutionSubject, RoundDecision, Trigger, Vote, VoteChoice, VotePayload};
use andon_store::{EntryEvent, Fingerprinter, Ledger, ledger};

/// A resolution of a halt that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HaltAnswer {
    /// The id of the entry that answers the halt.
    pub resolution: EntryId,
    /// The holder of the key that signed it.
    pub who: String,
    /// The key of the decision.
    pub decision: String,
    /// The instruction, word for word.
    pub words: Option<String>,
    pub rationale: String,
    /// The witness's word on the halt itself.
    pub halt_was: HaltAssessment,
    /// The code that it is for; a panel names none.
    pub code: Option<String>,
}

impl HaltAnswer {
    /// Returns whether `ack`, which anybody can write, is how a clone took up this answer.
    fn is_taken_up_by(&self, ack: &Ack) -> bool {
        ack.how == AckHow::Signed && ack.by == self.who
    }
}

/// The topic by which an answer to a halt says that the loop was not stuck.
pub const MISTAKEN: &str = "mistaken";

fn halt_was(vote: &VotePayload) -> HaltAssessment {
    if vote.tags.iter().any(|tag| tag == MISTAKEN) {
        HaltAssessment::Mistaken
    } else {
        HaltAssessment::Unsaid
    }
}

/// The configuration that a commit has, which is the default one without a file; nothing where it cannot be read.
pub fn config_at(repo: &Repo, commit: CommitId) -> Option<Config> {
    let tree = repo.tree_of(commit).ok()?;
    let Some(blob) = repo.blob_at(tree, CONFIG_FILE.as_bytes()).ok()? else { return config::load(&[]).ok() };
    let text = repo.read_blob(blob, MAX_BYTES).ok()??;
    let source = ConfigSource { layer: Layer::Repository, name: CONFIG_FILE.to_owned(), text };
    config::load(&[source]).ok()
}

pub fn guard_at(repo: &Repo, commit: CommitId) -> Option<Guard> {
    config_at(repo, commit).map(|config| config.guard)
}

fn signed_ledger(guard: &Guard) -> Option<EntryId> {
    guard.ledger.filter(|_| guard.ack == AckMode::Signed)
}

/// The halts, answers and switches of all clones, and what could not be read. An answer that lacks the signature for which the
/// configuration of the halted commit asks is told from the others.
///
/// # Errors
/// The ledgers cannot be read.
pub fn read_all(repo: &Repo, now: Timestamp) -> Result<(Vec<ledger::Entry>, Vec<Diagnostic>)> {
    let (mut entries, warnings) = Ledger::open(repo).read_all()?;
    // Without a policy there are no witnesses.
    if !entries.iter().any(|entry| matches!(&entry.event, EntryEvent::Unknown { kind } if kind == "policy")) {
        return Ok((entries, warnings));
    }
    let (mut read, mut signed, mut newest) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for entry in &mut entries {
        match &mut entry.event {
            EntryEvent::Known(LedgerEvent::Halted(halt)) => {
                newest.insert(halt.worktree.clone(), entry.id);
                let guard = halt.head.and_then(|head| guard_at(repo, head));
                let Some(id) = guard.as_ref().and_then(signed_ledger) else { continue };
                let ledger = read_once(&mut read, repo, id, now)?;
                let is_here = ledger.entries.iter().any(|entry| entry.id == id);
                signed.extend(is_here.then(|| (entry.id, ledger.answer_to(entry.id))));
            }
            EntryEvent::Known(LedgerEvent::Acknowledged(ack)) => {
                // One that names neither a halt nor a counter answers the newest halt of its worktree.
                let unnamed = newest.get(&ack.worktree).copied().filter(|_| ack.counter.is_none());
                let Some(halt) = ack.halt.or(unnamed) else { continue };
                let answer = signed.get(&halt).map(Option::as_ref);
                if answer.is_some_and(|answer| !answer.is_some_and(|answer| answer.is_taken_up_by(ack))) {
                    (ack.how, ack.halt) = (AckHow::Unsigned, Some(halt));
                }
            }
            EntryEvent::Known(LedgerEvent::StopSwitch(_)) | EntryEvent::Unknown { .. } => {}
        }
    }
    Ok((entries, warnings))
}

/// Those of `answers` that are worth something: where only a signature ends a halt, one without sets no count back either.
///
/// # Errors
/// The ledger cannot be read.
pub fn that_count(ws: &Workspace, mut answers: Vec<Ack>) -> Result<Vec<Ack>> {
    if let Some(id) = signed_ledger(&ws.config.guard).filter(|_| !answers.is_empty()) {
        let ledger = super::open(&ws.repo, Some(id), ws.opened)?;
        let is_here = ledger.position(id).is_some();
        answers.retain(|ack| {
            let own = ack.halt.and_then(|halt| ledger.answer_to(halt));
            ack.counter.is_some() || !is_here || own.is_some_and(|own| own.is_taken_up_by(ack))
        });
    }
    Ok(answers)
}

/// The ledger whose witnesses must answer `halt`; `None` where no signature is needed.
pub fn asks_signature(ws: &Workspace, halt: &StandingHalt) -> Option<EntryId> {
    let halted = halt.halt.head.and_then(|head| guard_at(&ws.repo, head));
    halted.as_ref().and_then(signed_ledger).or_else(|| signed_ledger(&ws.config.guard))
}

/// The ledger `id`, read and judged once for many halts.
fn read_once<'a>(
    read: &'a mut BTreeMap<EntryId, SignedLedger>,
    repo: &Repo,
    id: EntryId,
    now: Timestamp,
) -> Result<&'a SignedLedger> {
    Ok(match read.entry(id) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(super::open(repo, Some(id), now)?),
    })
}

impl SignedLedger {
    /// The decision of a halt that is in force.
    fn decision_of(&self, halt: EntryId) -> Option<&RoundDecision> {
        self.folded.round(self.position(halt)?)?.decision()
    }

    /// The answer to a halt; `None` without an answer by an authorized witness.
    pub fn answer_to(&self, halt: EntryId) -> Option<HaltAnswer> {
        let decided = self.decision_of(halt)?;
        let vote = &self.folded.state.votes.all[*decided.votes.first()?];
        let said = self.voted(vote.entry)?;
        let subject = self.resolved(vote.entry);
        let is_for = subject.as_ref().is_none_or(|subject| subject.halt == Some(halt.to_string()));
        is_for.then(|| HaltAnswer {
            resolution: self.entries[vote.entry].id,
            who: vote.witness.clone(),
            decision: decided.key.clone(),
            words: self.words(self.folded.state.rounds[vote.round].entry, &said),
            halt_was: halt_was(&said),
            rationale: said.rationale.0,
            code: subject.and_then(|subject| subject.code),
        })
    }

    /// Returns whether a clone has taken up the answer to `halt`: from then on the loop goes on.
    fn has_taken_up(&self, halt: EntryId, answer: &HaltAnswer) -> bool {
        let (halt, how) = (halt.to_string(), AckHow::Signed.as_str());
        let said = [("halt", halt.as_str()), ("how", how), ("by", &answer.who)];
        self.entries.iter().filter(|entry| entry.kind == "loop.acknowledged").any(|entry| {
            said.iter().all(|(key, value)| entry.body.get(*key).and_then(Value::as_str) == Some(*value))
        })
    }

    /// The votes that decided a halt.
    pub fn votes_on(&self, halt: EntryId) -> Vec<&Vote> {
        let votes = self.decision_of(halt).into_iter().flat_map(|decided| &decided.votes);
        votes.map(|vote| &self.folded.state.votes.all[*vote]).collect()
    }

    /// A message about a resolution of the halt that was signed for another one.
    pub fn misdirected(&self, halt: EntryId) -> Option<String> {
        let vote = self.votes_on(halt).first()?.entry;
        let named = self.resolved(vote)?.halt;
        let named: String = named.filter(|named| *named != halt.to_string())?.chars().take(8).collect();
        let (answer, halt) = (self.short(vote), short(halt));
        Some(format!("resolution {answer} is for halt {named}, which is not halt {halt} that it answers"))
    }
}

/// The answer to `halt` in the ledger `id`, whatever code it is for.
///
/// # Errors
/// The ledger cannot be read.
pub fn ledger_answer(ws: &Workspace, id: EntryId, halt: EntryId) -> Result<Option<HaltAnswer>> {
    Ok(super::open(&ws.repo, Some(id), ws.opened)?.answer_to(halt))
}

/// The code of `HEAD`.
///
/// # Errors
/// It cannot be read.
pub fn code_of(ws: &Workspace, commit: CommitId) -> Result<(CodeId, TreeId)> {
    let tree = ws.repo.tree_of(commit)?;
    let code = Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_tree(tree)?;
    Ok((code, tree))
}

/// A message about an answer that is neither for the code that HEAD has nor for the code that was halted.
///
/// # Errors
/// The code cannot be read.
pub fn unfit(ws: &Workspace, answer: &HaltAnswer, halt: &StandingHalt) -> Result<Option<String>> {
    let (Some(code), Some(head)) = (&answer.code, ws.repo.head()?.commit()) else { return Ok(None) };
    let halted = halt.halt.head.filter(|halted| ws.repo.commit(*halted).is_ok());
    if let Some(halted) = halted
        && code_of(ws, halted)?.0.to_string() == *code
    {
        return Ok(None);
    }
    let found = code_of(ws, head)?.0.to_string();
    let cut = |text: &str| text.chars().take(8).collect::<String>();
    Ok((found != *code).then(|| {
        format!("resolution {} is for code {}, used on {}", short(answer.resolution), cut(code), cut(&found))
    }))
}

/// Appends a resolution of the unanswered halt here, with nothing but a decision and a reason.
///
/// # Errors
/// The key may not, or cannot sign.
pub fn resolve_halt(
    ctx: &Context,
    ws: &Workspace,
    standing: &StandingHalt,
    halt_was: HaltAssessment,
    rationale: &str,
) -> Result<EntryId> {
    super::not_an_agent(ctx, "resume")?;
    let ledger = super::load(ws)?.with_policy()?;
    let signer = super::signer(ctx, ws)?;
    let witness = ledger.who(&signer.public().to_string()).map(str::to_owned);
    let mut vote = VotePayload::new(VoteChoice::AcceptProposer, rationale);
    vote.given = Some(super::given(ctx));
    vote.tags.extend((halt_was == HaltAssessment::Mistaken).then(|| MISTAKEN.to_owned()));
    let subject = ResolutionSubject { witness, ..halt_subject(ws, standing)? };
    let body = vote.resolving(&subject);
    let draft = Draft { kind: "resolution", said: &body, evidence: &[], signer: Some(&signer) };
    ledger.append(ctx, ws, &draft)
}

/// The members that bind a resolution to a halt and to the code that was halted.
///
/// # Errors
/// The halted commit is not here.
pub fn halt_subject(ws: &Workspace, standing: &StandingHalt) -> Result<ResolutionSubject> {
    let head = ws.repo.head()?.commit();
    let halted = standing.halt.head;
    // If HEAD builds on the halted commit, the code is that of HEAD, else that of the halted commit.
    let builds_on = |halted| head.is_some_and(|head| ws.repo.is_ancestor(halted, head).unwrap_or(false));
    let commit = match halted {
        Some(halted) if !builds_on(halted) => Some(halted),
        Some(_) | None => head,
    };
    let halt = standing.id.to_string();
    let mut subject = ResolutionSubject {
        trigger: Trigger::Halt,
        round: halt.clone(),
        witness: None,
        halt: Some(halt),
        code: None,
        tree: None,
    };
    if let Some(commit) = commit {
        if ws.repo.commit(commit).is_err() {
            let what = format!("the halted commit {} is not here", commit.short());
            return Err(OpsError::usage(what, "fetch the branch that was halted, and answer from there"));
        }
        let (code, tree) = code_of(ws, commit)?;
        (subject.code, subject.tree) = (Some(code.to_string()), Some(tree.to_string()));
    }
    Ok(subject)
}

/// A halt that was ended without the signature that it needs, or whose signed answer no clone has taken up yet: it is still
/// unanswered.
///
/// # Errors
/// The ledgers cannot be read.
pub fn unanswered(ws: &Workspace) -> Result<Option<StandingHalt>> {
    let mut read: BTreeMap<EntryId, SignedLedger> = BTreeMap::new();
    for halt in Ledger::open(&ws.repo).ended()? {
        let Some(id) = asks_signature(ws, &halt) else { continue };
        let ledger = read_once(&mut read, &ws.repo, id, ws.opened)?;
        let answer = ledger.answer_to(halt.id);
        if !answer.is_some_and(|answer| ledger.has_taken_up(halt.id, &answer)) {
            return Ok(Some(halt));
        }
    }
    Ok(None)
}
