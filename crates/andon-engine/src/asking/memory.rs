//! Entries of a ledger, remembered (`<common dir>/andon/cache/ledger`) by commit, so that commands that show it read
//! and verify only what is new. Only for showing: no hook, no check and no answer reads a ledger through it, because
//! the file can be forged. So that even the display is hard to forge, the newest entries and those about keys are read
//! again each time, and where one differs all of them are.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::SignedLedger;
use crate::{Workspace, halts};
use andon_core::domain::{CLOCK_SKEW, CommitId};
use andon_git::Repo;
use andon_review::{Code, Malformed, Payload, payload::member::malformed, window::LOOKBACK};
use andon_store::{Ledger, Memory, SignatureState, WholeEntry, WholeLedger, memory::Kind};

/// So many new entries are read again rather than everything written anew.
const FEW: usize = 32;
/// Up to so many entries everything is written anew for each.
const SMALL: usize = 512;

/// The number of newest entries that are held against what is remembered of them.
const HELD_AGAINST: usize = 64;

/// The payloads of entries, by commit.
pub(super) type Payloads = HashMap<CommitId, Arc<Result<Payload, Malformed>>>;

/// Entries that were read before, each with its payload; without one where it is malformed. Bodies but those of policies are
/// read where they are shown.
type KnownEntries = Vec<(WholeEntry, Option<Payload>)>;

/// The remembered ledgers of a repository.
#[derive(Default)]
pub(super) struct LedgerMemory {
    pub(super) entries: Rc<HashMap<CommitId, WholeEntry>>,
    pub(super) payloads: Payloads,
}

/// True for the types of entries that decide who may act.
fn is_about_keys(kind: &str) -> bool {
    ["policy", "policy-sign", "key-add", "key-revoke"].contains(&kind)
}

impl LedgerMemory {
    /// The remembered ledgers; nothing where the file is damaged. A command reads it once.
    pub(super) fn load(repo: &Repo) -> Rc<Self> {
        let known = repo.made().get::<Self>("");
        known.unwrap_or_else(|| {
            let memory =
                Rc::new(Some(Self::read(repo)).filter(|memory| memory.holds(repo)).unwrap_or_default());
            repo.made().keep(String::new(), Rc::clone(&memory));
            memory
        })
    }

    fn read(repo: &Repo) -> Self {
        let known: KnownEntries = Memory::new(repo, Kind::LEDGER).get(&"entries").unwrap_or_default();
        let (mut entries, mut payloads) = (HashMap::new(), Payloads::new());
        for (entry, payload) in known {
            payloads.insert(entry.commit, Arc::new(payload.ok_or_else(|| malformed("", "is wrong"))));
            entries.insert(entry.commit, entry);
        }
        Self { entries: Rc::new(entries), payloads }
    }

    /// True where the newest entries, and those about keys, say what is remembered of them.
    fn holds(&self, repo: &Repo) -> bool {
        let keys = self.entries.values().filter(|entry| is_about_keys(&entry.kind));
        let keys: Vec<CommitId> = keys.map(|entry| entry.commit).collect();
        let read = Ledger::open(repo).read_some(HELD_AGAINST, &keys).ok().flatten();
        read.is_some_and(|read| read.iter().all(|entry| self.agrees(entry)))
    }

    /// Of a new entry nothing is remembered.
    fn agrees(&self, entry: &WholeEntry) -> bool {
        let Some(known) = self.entries.get(&entry.commit) else { return true };
        let as_kept = WholeEntry { body: Arc::clone(&known.body), ..entry.clone() };
        let said = self.payloads.get(&entry.commit).and_then(|said| said.as_ref().as_ref().ok());
        as_kept == *known && said == Payload::read(&entry.kind, &entry.body).ok().as_ref()
    }

    /// Remembers a ledger, where that saves more than it costs. One with faults is read whole every time: later entries
    /// are at another place than they say.
    pub(super) fn keep(&self, repo: &Repo, whole: &WholeLedger) {
        let is_new = |entry: &&WholeEntry| !self.payloads.contains_key(&entry.commit);
        let new = whole.entries.iter().filter(is_new).count();
        let is_plain = |entry: &WholeEntry| {
            entry.copies.is_empty() && !matches!(entry.signature, SignatureState::Bad(_))
        };
        let is_worth_it = new >= FEW || (new > 0 && whole.entries.len() <= SMALL);
        if is_worth_it && whole.faults.is_empty() && whole.entries.iter().all(is_plain) {
            let known: KnownEntries = whole.entries.iter().map(|entry| self.known(entry)).collect();
            Memory::new(repo, Kind::LEDGER).put(&"entries", &known);
        }
    }

    fn known(&self, entry: &WholeEntry) -> (WholeEntry, Option<Payload>) {
        let payload = match self.payloads.get(&entry.commit) {
            Some(known) => known.as_ref().as_ref().ok().cloned(),
            None => Payload::read(&entry.kind, &entry.body).ok(),
        };
        // Policies are few, and read as a whole with every ledger.
        let is_whole = entry.kind == "policy";
        let body = if is_whole { Arc::clone(&entry.body) } else { Arc::default() };
        (WholeEntry { body, ..entry.clone() }, payload)
    }
}

/// The list, and for which clocks it holds.
#[derive(Serialize, Deserialize)]
struct RoundMemory<T> {
    made: i64,
    until: i64,
    list: T,
}

/// The place in which the list of waiting rounds is remembered (`<common dir>/andon/cache/rounds`) until a ref moves or time alone
/// changes it, and what it depends on apart from the clock. It is there to be looked at: nothing is decided by it, and each answer
/// is judged by the whole ledger.
pub(super) struct List {
    memory: Memory,
    inputs: (String, Option<String>, Option<String>),
}

impl List {
    /// None where a ledger is cut: then nothing is known of its state. None either while a halt waits here for a signature:
    /// an agent that is halted could write a list without it.
    pub(super) fn read(ws: &Workspace) -> Option<Self> {
        let state = Ledger::open(&ws.repo).state().ok()?;
        let halt = halts::binding(ws).ok()?;
        if halt.as_ref().is_some_and(|halt| super::asks_signature(ws, halt).is_some()) {
            return None;
        }
        let halt = halt.map(|halt| halt.id.to_string());
        let ledger = ws.config.guard.ledger.map(|id| id.to_string());
        Some(Self { memory: Memory::new(&ws.repo, Kind::ROUNDS), inputs: (state, ledger, halt) })
    }

    /// The list, where it is the same at `now`.
    pub(super) fn get<T: DeserializeOwned>(&self, now: i64) -> Option<T> {
        let known: RoundMemory<T> = self.memory.get(&self.inputs)?;
        (known.made..known.until).contains(&now).then_some(known.list)
    }

    /// Failing to remember costs time only.
    pub(super) fn put(&self, ledger: &SignedLedger, list: &impl Serialize) {
        let now = ledger.folded.now;
        let known = RoundMemory { made: now, until: until(ledger), list };
        self.memory.put(&self.inputs, &known);
    }
}

/// The time from which on the list may differ without any entry: a vote leaves the window, a panel's deadline passes, an entry that is
/// dated ahead begins to count.
fn until(ledger: &SignedLedger) -> i64 {
    let folded = &ledger.folded;
    let now = folded.now;
    // Weights decay from epoch to epoch.
    if folded.authority.at_end.rules.referee_gate {
        return now;
    }
    let votes = folded.state.votes.all.iter().map(|vote| vote.at.saturating_add(LOOKBACK));
    let panels = folded.state.rounds.iter().filter_map(|round| Some(round.open_panel()?.deadline));
    let ahead = folded.state.codes.iter().filter(|(_, code)| **code == Code::FromTheFuture);
    let ahead = ahead.map(|(at, _)| ledger.review[*at].at.saturating_sub(CLOCK_SKEW));
    let caps = folded.state.votes.next_free(now);
    votes.chain(panels).chain(ahead).chain(caps).filter(|time| *time > now).min().unwrap_or(i64::MAX)
}
