//! What was said and done in a session already: a fold over the facts of agents' hooks.

use std::collections::{BTreeMap, BTreeSet};

use andon_core::domain::agent::Client;
use andon_core::domain::agent_door::{AgentAction, AgentFact};
use andon_core::domain::ids::ShortHash;

/// What is remembered of one session of one client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// Whether anything is.
    pub remembered: bool,
    /// Marks of what was refused.
    pub refused: BTreeSet<ShortHash>,
    /// Marks of the messages that the model got.
    pub nudged: BTreeSet<ShortHash>,
    /// Marks of messages whose tokens were taken in.
    pub counted: BTreeSet<ShortHash>,
    /// Marks of what was missing when the turn was held, since the newest prompt, oldest first.
    pub held: Vec<ShortHash>,
    /// How often each call was reported, as far as the newest of them knows: only the end is remembered.
    pub called: BTreeMap<ShortHash, u64>,
    /// How many turns have ended, in the same way.
    pub ended: u64,
    /// HEAD at the newest prompt, or where the session began.
    pub began: Option<String>,
}

impl Session {
    /// Folds the facts, oldest first, of this session. A message that the model got from another client, whose settings
    /// start us too, counts.
    pub fn of(facts: &[AgentFact], client: Client, session: Option<&str>) -> Self {
        let of_session = |fact: &&AgentFact| fact.session.as_deref() == session;
        facts.iter().filter(of_session).fold(Self::default(), |folded, fact| {
            if fact.client == client {
                folded.take(fact)
            } else if let (AgentAction::Nudged, Some(mark), Some(_)) = (fact.deed, fact.mark, session) {
                let mut folded = folded;
                folded.nudged.insert(mark);
                folded
            } else {
                folded
            }
        })
    }

    fn take(mut self, fact: &AgentFact) -> Self {
        self.remembered = true;
        if matches!(fact.deed, AgentAction::Session | AgentAction::Prompt) {
            self.began = Some(fact.about.clone());
        }
        match (fact.deed, fact.mark) {
            (AgentAction::Prompt, _) => self.held.clear(),
            (AgentAction::Refused, Some(mark)) => {
                self.refused.insert(mark);
            }
            (AgentAction::Nudged, Some(mark)) => {
                self.nudged.insert(mark);
            }
            (AgentAction::Counted, Some(mark)) => {
                self.counted.insert(mark);
            }
            (AgentAction::Held, Some(mark)) => self.held.push(mark),
            (AgentAction::Called, Some(mark)) => {
                let times = self.called.entry(mark).or_default();
                *times = number(fact).unwrap_or(*times).saturating_add(1);
            }
            (AgentAction::Ended, _) => self.ended = number(fact).unwrap_or(self.ended).saturating_add(1),
            // A compaction begins a session anew that is the same to people: nothing is forgotten.
            (
                AgentAction::Asked
                | AgentAction::Session
                | AgentAction::Released
                | AgentAction::Kept
                | AgentAction::Broken,
                _,
            )
            | (_, None) => {}
        }
        self
    }
}

/// The number that a fact has among its kind.
fn number(fact: &AgentFact) -> Option<u64> {
    fact.about.parse().ok()
}

/// The clients whose hooks reported anything, in the order of their names.
pub fn in_order(facts: &[AgentFact]) -> Vec<Client> {
    let clients: BTreeSet<Client> = facts.iter().map(|fact| fact.client).collect();
    let mut clients: Vec<Client> = clients.into_iter().collect();
    clients.sort_by_key(|client| client.as_str());
    clients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(client: Client, session: &str, deed: AgentAction, mark: u8) -> AgentFact {
        let mark = (mark > 0).then_some(ShortHash([mark; 8]));
        AgentFact { at: None, client, session: Some(session.into()), deed, about: String::new(), mark }
    }

    #[test]
    fn a_session_is_folded_from_its_own_facts() {
        use Client::{Claude, Copilot};
        let facts = [
            fact(Claude, "a", AgentAction::Session, 0),
            fact(Claude, "a", AgentAction::Held, 1),
            fact(Claude, "b", AgentAction::Held, 7),
            fact(Copilot, "a", AgentAction::Refused, 8),
            fact(Claude, "a", AgentAction::Prompt, 0),
            fact(Claude, "a", AgentAction::Held, 2),
            fact(Claude, "a", AgentAction::Called, 3),
            fact(Claude, "a", AgentAction::Called, 3),
            fact(Claude, "a", AgentAction::Refused, 4),
        ];
        let session = Session::of(&facts, Claude, Some("a"));
        assert_eq!(session.held, [ShortHash([2; 8])]);
        assert_eq!(session.called[&ShortHash([3; 8])], 2);
        assert_eq!((session.refused.len(), session.remembered), (1, true));
        assert!(!Session::of(&facts, Claude, None).remembered);
        assert_eq!(in_order(&facts), [Claude, Copilot]);
    }
}
