//! The fold: every entry once, in the order of the ledger. An entry that is invalid has its place there and no other
//! effect.

mod deciding;
mod rounds;
mod voting;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Accounts, Adjustment, Agents, Authority, Code, Concerns, Course, Graph, KeyRole, Material, Payload,
    ReviewEntry, RoundState, SettlementResult, Topics, TrackRecord, Vantage, Votes, Weights,
};
pub use voting::misfit;

const WITNESS: &[KeyRole] = &[KeyRole::Witness];
const FLAG: &[KeyRole] = &[KeyRole::Witness, KeyRole::Flag];

/// Folds `entries`, parents before children, as a reader does whose clock says `now`.
pub fn fold(entries: &[ReviewEntry], now: i64) -> LedgerState {
    let material = Material::new(entries, now);
    let authority = Authority::new(&material);
    let mut fold = Fold { material: &material, authority: &authority, state: FoldState::default() };
    let first = authority.at_end.chain.first().and_then(|entry| material.policy(*entry));
    fold.state.accounts.opened = first.map(|policy| policy.accounts.clone()).unwrap_or_default();
    for entry in &material.graph.order {
        fold.step(*entry);
    }
    fold.expire(now);
    let state = fold.state;
    LedgerState { state, authority, graph: material.graph, now }
}

/// The code that the last of `entries` would have if it were appended now. It follows all that count among the others, which came to
/// `folded`.
pub fn appended(folded: &LedgerState, entries: &[ReviewEntry]) -> Option<Code> {
    let material = Material::new(entries, folded.now);
    let authority = Authority::new(&material);
    let mut fold = Fold { material: &material, authority: &authority, state: folded.state.clone() };
    let last = entries.len().checked_sub(1)?;
    fold.step(last);
    fold.state.codes.get(&last).copied()
}

/// The codes of the entries from `first` on, which nothing follows: of each as if it alone were appended to those before. Those came
/// to `folded`, which is as before afterwards: a state of thousands of entries is not copied.
pub fn tried(folded: &mut LedgerState, entries: &[ReviewEntry], first: usize) -> Vec<Option<Code>> {
    let material = Material::new(entries, folded.now);
    let authority = Authority::new(&material);
    let state = std::mem::take(&mut folded.state);
    let mut fold = Fold { material: &material, authority: &authority, state };
    let codes = (first..entries.len()).map(|entry| fold.accept_tried(entry)).collect();
    folded.state = fold.state;
    codes
}

/// A settlement of a witness's weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    pub entry: usize,
    pub witness: String,
    pub settled: SettlementResult,
    pub adjustment: Option<Adjustment>,
    pub course: Option<Course>,
}

/// The weights of a witness, and since when they are so.
#[derive(Debug, Clone, Default)]
pub struct WeightSpan {
    pub weights: Weights,
    /// The epoch of the last settlement.
    pub epoch: Option<i64>,
    pub adjustments: Vec<Adjustment>,
}

/// Everything that entries came to.
#[derive(Debug, Clone, Default)]
pub struct FoldState {
    pub codes: BTreeMap<usize, Code>,
    pub rounds: Vec<RoundState>,
    /// The round of each round's entry.
    pub round_at: BTreeMap<usize, usize>,
    pub votes: Votes,
    pub accounts: Accounts,
    pub topics: Topics,
    pub agents: Agents,
    pub concerns: Concerns,
    pub weighed: BTreeMap<String, WeightSpan>,
    pub settlements: Vec<Settlement>,
    /// Entries that took their witness suspiciously little time.
    pub hasty: Vec<usize>,
    /// Rounds whose panel colluded, with two members who did.
    pub collusions: Vec<(usize, [String; 2])>,
    /// The vote of each resolution.
    vote_at: BTreeMap<usize, usize>,
    /// Panels that have a majority but not all ballots: they decide at their deadline.
    pending: BTreeSet<(i64, usize)>,
    /// Decisions whose outcome is known, by entry.
    outcomes: BTreeSet<usize>,
    policies_seen: usize,
}

/// The state of a ledger, for a reader at `now`.
#[derive(Debug)]
pub struct LedgerState {
    pub state: FoldState,
    pub authority: Authority,
    pub graph: Graph,
    pub now: i64,
}

impl LedgerState {
    /// The votes of `witness` that count now.
    pub fn track_record(&self, witness: &str) -> TrackRecord {
        let since = self.authority.at_end.reinstated.get(witness).map(|policy| self.graph.place[*policy]);
        let from = Vantage { place: usize::MAX, at: self.now, since };
        self.state.votes.standing(&self.state.rounds, witness, from)
    }

    /// The round that `entry` opened.
    pub fn round(&self, entry: usize) -> Option<&RoundState> {
        self.state.round_at.get(&entry).map(|round| &self.state.rounds[*round])
    }
}

/// A fold under way.
struct Fold<'a> {
    material: &'a Material<'a>,
    authority: &'a Authority,
    state: FoldState,
}

impl Fold<'_> {
    /// Takes up one entry, or notes why it does not count.
    fn step(&mut self, entry: usize) {
        let code = self.material.graph.clock[entry].or_else(|| {
            self.expire(self.at(entry));
            self.take(entry).err()
        });
        if let Some(code) = code {
            self.state.codes.insert(entry, code);
        }
        self.answer_concerns(self.place(entry));
    }

    fn take(&mut self, entry: usize) -> Result<(), Code> {
        let material = self.material;
        let payload = material.payload(entry).as_ref().map_err(|_| Code::BadPayload)?;
        match payload {
            Payload::Policy(_) | Payload::PolicySign(_) | Payload::KeyAdd(_) | Payload::KeyRevoke(_) => {
                self.authority.codes.get(&entry).map_or(Ok(()), |code| Err(*code))
            }
            Payload::Round(asked) => self.open_round(entry, asked),
            Payload::Halt => {
                self.open_halt(entry);
                Ok(())
            }
            Payload::Accept(round) => self.accept(entry, round),
            Payload::Panel(round) => self.ask_for_panel(entry, round),
            Payload::Flag(round) => self.flag(entry, round),
            Payload::BallotCommit(ballot) => self.commit(entry, ballot),
            Payload::BallotReveal(ballot) => self.reveal(entry, ballot),
            Payload::Resolution(resolution) => self.resolve(entry, resolution),
            Payload::Outcome(outcome) => self.outcome(entry, outcome),
            Payload::Other => Ok(()),
        }
    }

    /// The code that an accept would have. It changes nothing but its round, which is put back.
    fn accept_tried(&mut self, entry: usize) -> Option<Code> {
        let Ok(Payload::Accept(id)) = self.material.payload(entry) else { return Some(Code::BadPayload) };
        let round = match self.round_of(entry, id) {
            Ok(round) => round,
            Err(code) => return Some(code),
        };
        let before = self.state.rounds[round].clone();
        let code = self.material.graph.clock[entry].or_else(|| self.accept(entry, id).err());
        self.state.rounds[round] = before;
        code
    }

    /// The votes of `witness` that count at the time and place of `entry`.
    fn track_record(&self, entry: usize, witness: &str) -> TrackRecord {
        let reinstated = &self.authority.for_entry(entry).reinstated;
        let since = reinstated.get(witness).map(|policy| self.place(*policy));
        let from = Vantage { place: self.place(entry), at: self.at(entry), since };
        self.state.votes.standing(&self.state.rounds, witness, from)
    }

    fn at(&self, entry: usize) -> i64 {
        self.material.graph.eff[entry]
    }

    fn place(&self, entry: usize) -> usize {
        self.material.graph.place[entry]
    }

    /// The round that `entry` names: a valid one among its ancestors.
    fn round_of(&self, entry: usize, id: &str) -> Result<usize, Code> {
        let named = self.material.ancestor(id, entry).ok_or(Code::UnknownRound)?;
        self.state.round_at.get(&named).copied().ok_or(Code::UnknownRound)
    }

    fn witness(&self, entry: usize) -> Result<String, Code> {
        self.authority.actor(self.material, entry, WITNESS).map(str::to_owned)
    }

    /// Policies that came into force at `place` answer concerns.
    fn answer_concerns(&mut self, place: usize) {
        while let Some((came, policy)) = self.authority.came.get(self.state.policies_seen)
            && *came <= place
        {
            self.state.policies_seen += 1;
            let Some(said) = self.material.policy(*policy) else { continue };
            let valid = |ids: &[String]| -> Vec<usize> {
                let known = ids.iter().filter_map(|id| self.material.ids.get(id.as_str()).copied());
                known.filter(|entry| !self.state.codes.contains_key(entry)).collect()
            };
            let (accepted, declined) = (valid(&said.concerns.accepted), valid(&said.concerns.declined));
            let at = self.at(*policy);
            self.state.concerns.answer(at, &accepted, &declined);
        }
    }

    /// Everybody with a stake in a round: who put the question, took part, answers for who took part, or wrote with them.
    fn has_conflict(&self, entry: usize, round: usize, witness: &str) -> bool {
        let state = &self.state.rounds[round];
        if state.stakes.contains(witness) {
            return true;
        }
        let operators = &self.authority.for_entry(entry).operators;
        let agents = [&state.cast.proposer, &state.cast.opposer].into_iter().flatten();
        agents.filter_map(|agent| operators.get(agent)).flatten().any(|person| person == witness)
    }
}
