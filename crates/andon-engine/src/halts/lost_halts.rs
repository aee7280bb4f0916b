//! Halts that were seen and are missing from the ledger. The journal notes a halt as soon as it is in the ledger, and
//! each commit record names the newest entries of its time; so a ledger that is removed, rewound or renamed leaves a
//! gap, and the halts in the gap bind as before.
//!
//! Looked for only when a ledger has lost an entry, or a halt or an answer has come, since nothing was found (`CleanLedgers`): that
//! costs one small file a hook.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use crate::{Result, Workspace};
use andon_core::domain::{
    AckHow, AdvisedStep, AnswerPlace, CommitFact, CommitId, Digest, EntryId, Figures, Halt, HaltEvidence,
    HaltReach, HaltReason, Hint, ReportFile, StandingHalt, Suggestion,
};
use andon_store::{
    Entry, Journal, JournalLine, Ledger, Memory, NotesStore, ledger::REF_PREFIX, memory::Kind, window,
};

/// The rule that a gap without any other trace is named by.
pub const RULE: &str = "missing-ledger";
/// The part of the journal that is looked through, in bytes from its end.
const MAX_JOURNAL: u64 = 4 << 20;
/// The number of records that are looked through.
const MAX_RECORDS: usize = 24;
/// The number of entries of HEAD's reflog that are read for commits that were made here.
const MAX_REFLOG: usize = 256;

/// The ids, answers and resumes of all ledgers together.
pub struct LedgerContents {
    ids: BTreeSet<EntryId>,
    answered: BTreeSet<EntryId>,
    /// The commits at which a person resumed.
    resumed: BTreeSet<CommitId>,
}

impl LedgerContents {
    /// The ids, answers and resumes of these entries.
    pub fn collect(entries: &[Entry]) -> Self {
        let acks = || entries.iter().filter_map(|entry| entry.event.answer());
        let resumed = acks().filter(|ack| ack.how != AckHow::FileDeleted && ack.counter.is_none());
        Self {
            ids: entries.iter().map(|entry| entry.id).collect(),
            answered: acks().filter_map(|ack| ack.halt).collect(),
            resumed: resumed.filter_map(|ack| ack.head).collect(),
        }
    }

    /// True where a ledger holds the entry.
    pub fn has(&self, id: EntryId) -> bool {
        self.ids.contains(&id)
    }

    /// True where a person has answered for the entry that the record of this commit names, by its id or at this commit.
    fn answers_for(&self, fact: &CommitFact, id: EntryId) -> bool {
        self.answers(id) || fact.id.is_some_and(|id| self.resumed.contains(&id))
    }

    /// True where some ledger holds an answer to it.
    pub fn answers(&self, id: EntryId) -> bool {
        self.answered.contains(&id)
    }
}

/// The halt that binds here by its traces alone: the ledger of this clone does not hold it.
pub fn standing(ws: &Workspace, head: Option<CommitId>) -> Result<Option<StandingHalt>> {
    let holdings = LedgerContents::collect(&Ledger::open(&ws.repo).read_all()?.0);
    match from_journal(ws, &holdings) {
        Some(found) => Ok(Some(found)),
        None => from_records(ws, head, &holdings),
    }
}

/// The newest unanswered halt of this worktree in the journal.
fn from_journal(ws: &Workspace, holdings: &LedgerContents) -> Option<StandingHalt> {
    let (lines, _) = Journal::open(ws.repo.git_dir()).read_back(MAX_JOURNAL);
    let mut newest: Option<StandingHalt> = None;
    for line in lines {
        if let JournalLine::Halt(halt) = line {
            newest = Some(*halt);
        } else if let JournalLine::Ack(ack) = line
            && newest.as_ref().is_some_and(|halt| ack.ends(halt.id, AnswerPlace::Same))
        {
            newest = None;
        }
    }
    let mut found = newest.filter(|found| !holdings.answers(found.id))?;
    if !holdings.has(found.id) {
        let gone = "its entry is gone from the ledger (removed or rewound), so it holds until it is answered";
        found.halt.message = format!("{}; {gone}", found.halt.message);
        found.halt.suggested_actions = ways_on();
    }
    Some(found)
}

fn ways_on() -> Vec<Suggestion> {
    let texts = [
        Hint::Sync.led("bring the ledger back from a remote that has it"),
        Hint::Answer.led("or a person looks what happened and answers"),
    ];
    texts.map(|text| Suggestion::new(AdvisedStep::AskPerson, text)).to_vec()
}

/// An entry that the newest record made here names and no ledger holds. A clone that was given records without ledgers
/// has lost nothing, so commits that were made elsewhere do not count.
fn from_records(
    ws: &Workspace,
    head: Option<CommitId>,
    holdings: &LedgerContents,
) -> Result<Option<StandingHalt>> {
    let store = NotesStore::open(&ws.repo)?;
    let facts = window::read_window(&ws.repo, &store, head, MAX_RECORDS).facts;
    if facts.iter().all(|fact| fact.record.ledger.is_empty()) {
        return Ok(None);
    }
    let made = ws.repo.reflog_head(MAX_REFLOG)?.into_iter().filter(|entry| entry.made().is_some());
    let made_here: BTreeSet<CommitId> = made.map(|entry| CommitId(entry.new)).collect();
    let is_ours = |fact: &&CommitFact| fact.id.is_some_and(|id| made_here.contains(&id));
    let mut with_ledger = facts.iter().rev().filter(|fact| !fact.record.ledger.is_empty());
    let Some(fact) = with_ledger.find(is_ours) else { return Ok(None) };
    let missing =
        fact.record.ledger.iter().find(|(_, id)| !holdings.has(**id) && !holdings.answers_for(fact, **id));
    Ok(missing.map(|(writer, id)| StandingHalt { id: *id, halt: unknown(ws, fact, writer) }))
}

/// A halt in place of an entry of which nothing but its id is left.
fn unknown(ws: &Workspace, fact: &CommitFact, writer: &str) -> Halt {
    let commit = fact.id.map_or_else(String::new, |id| format!(" of {}", id.short()));
    let message = format!(
        "the record{commit} names an entry that the ledger {REF_PREFIX}{writer} does not hold any more: it was removed or \
         turned back, and whether it held an unanswered halt is not known"
    );
    Halt {
        cycle_id: fact.record.node.clone(),
        reason: HaltReason::UserStop,
        rule: RULE.to_owned(),
        message,
        figures: Figures::Unreported,
        summary: Box::default(),
        report_file: ReportFile::Checkpoint,
        evidence: HaltEvidence::default(),
        suggested_actions: ways_on(),
        iteration: fact.record.iteration,
        head: fact.id,
        branch: None,
        worktree: ws.repo.worktree_name(),
        base: None,
        beside: Vec::new(),
        binds: HaltReach::Line,
        at: fact.record.recorded_at,
    }
}

/// An entry that a record names and no ledger holds.
#[derive(Debug, Clone, Copy)]
pub struct Gap {
    /// The id of the entry that is missing.
    pub entry: EntryId,
    /// The commit whose record names it.
    pub named_by: Option<CommitId>,
    /// A person has answered for it since.
    pub answered: bool,
}

/// The gaps that records show, which come in the order of the range: for each writer the newest entry that is named and
/// that `holdings` lacks.
pub fn gaps(holdings: &LedgerContents, facts: impl Iterator<Item = CommitFact>) -> BTreeMap<String, Gap> {
    let mut found = BTreeMap::new();
    for fact in facts {
        for (writer, &entry) in fact.record.ledger.iter().filter(|(_, entry)| !holdings.has(**entry)) {
            let answered = holdings.answers_for(&fact, entry);
            found.insert(writer.clone(), Gap { entry, named_by: fact.id, answered });
        }
    }
    found
}

/// The ledgers as they are now, and where it is remembered, until a ledger moves, that no halt was found in any of them: without it
/// every hook would search again.
pub(super) struct CleanLedgers {
    /// Changes whenever a ledger loses an entry, and whenever a halt or an answer comes.
    losses: String,
    /// Changes whenever a ledger moves.
    state: String,
    memory: Memory,
}

impl CleanLedgers {
    /// # Errors
    /// The ledgers cannot be read.
    pub(super) fn open(ws: &Workspace) -> Result<Self> {
        let (losses, state) = Ledger::open(&ws.repo).losses_and_state()?;
        let digest = |text: &str| Digest(Sha256::digest(text.as_bytes()).into()).to_string();
        let (losses, state) = (digest(&losses), digest(&state));
        let memory = Memory::new(&ws.repo, Kind::TRACES);
        Ok(Self { losses, state, memory })
    }

    /// Forgets ledgers without a halt where `found` is in them now: they may go back to what they were then.
    pub(super) fn forget<T>(ws: &Workspace, found: T) -> T {
        let memory = Memory::new(&ws.repo, Kind::TRACES);
        if memory.get::<(String, String)>(&()).is_some() {
            memory.put(&(), &());
        }
        found
    }

    /// True where nothing was found in these ledgers.
    pub(super) fn is_known(&self) -> bool {
        self.known().is_some_and(|known| known == (self.losses.clone(), self.state.clone()))
    }

    /// True where nothing was found to be lost, and nothing was lost since.
    pub(super) fn has_lost_nothing(&self) -> bool {
        self.known().is_some_and(|(losses, _)| losses == self.losses)
    }

    /// Remembers that nothing was found.
    pub(super) fn remember(&self) {
        self.memory.put(&(), &(&self.losses, &self.state));
    }

    fn known(&self) -> Option<(String, String)> {
        self.memory.get(&())
    }
}
