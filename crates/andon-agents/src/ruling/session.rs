//! The state of a session: a fold over the facts of agents' hooks.

use std::collections::{BTreeMap, BTreeSet};

use andon_core::domain::{AgentAction, AgentFact, Client, CodeId, ShortHash, Timestamp};

/// The effect that the calls of a turn may have had on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Touch {
    /// Nothing: they read.
    #[default]
    Nothing,
    /// A command ran that is not known to read alone.
    Ran,
    /// A file was edited, or a tool ran of which nothing is known.
    Edited,
}

impl Touch {
    /// The name in the journal of agents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Ran => RAN,
            Self::Edited => "edit",
        }
    }
}

/// See [`Touch::Ran`].
const RAN: &str = "command";

/// The turn that is open, or would begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenTurn {
    /// A new prompt of a person began it, as one of several in its session.
    pub asked: bool,
    /// It is the first of its session.
    pub first: bool,
    pub touch: Touch,
    pub since: Option<Timestamp>,
    /// The code at the prompt that began it.
    pub code: Option<CodeId>,
}

/// The memory of one session of one client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// Something is remembered.
    pub remembered: bool,
    /// Marks of the messages that the model got.
    pub nudged: BTreeSet<ShortHash>,
    /// Marks of messages whose tokens were taken in.
    pub counted: BTreeSet<ShortHash>,
    /// The turn was held since the newest prompt.
    pub held: bool,
    /// The number of reports of each call, as far as the newest of them knows: only the end is remembered.
    pub called: BTreeMap<ShortHash, u64>,
    /// The number of turns that have ended, in the same way.
    pub ended: u64,
    /// HEAD at the newest prompt, or where the session began.
    pub began: Option<String>,
    pub turn: OpenTurn,
    /// The number of compactions of the context window.
    pub compacted: u64,
    /// Nothing was done since the last of them.
    pub just_compacted: bool,
    /// The number of payloads of each content that came without an id, and of refusals for each reason.
    pub heard: BTreeMap<ShortHash, u64>,
    /// Prompts of all sessions of the client.
    prompts: BTreeSet<ShortHash>,
}

impl Session {
    /// Folds the facts, oldest first, of this session. What another client, whose settings start us too, reported of a
    /// message to the model and of a compaction counts. A prompt is new where no session of the client had it before.
    pub fn from_facts(facts: &[AgentFact], client: Client, session: Option<&str>) -> Self {
        let mut folded = Self::default();
        for fact in facts {
            folded.take(fact, client, session);
        }
        folded
    }

    /// Adds the next fact to the fold of this session of `client`.
    pub fn take(&mut self, fact: &AgentFact, client: Client, session: Option<&str>) {
        let own = fact.session.as_deref() == session;
        if fact.client == client {
            let prompt = fact.mark.filter(|_| fact.deed == AgentAction::Prompt);
            let is_new = prompt.is_some_and(|mark| self.prompts.insert(mark));
            if own {
                self.take_own(fact);
                self.turn.asked |= is_new;
            }
        } else if own && session.is_some() {
            self.take_of_other(fact);
        }
    }

    fn take_of_other(&mut self, fact: &AgentFact) {
        if let (AgentAction::Nudged, Some(mark)) = (fact.deed, fact.mark) {
            self.nudged.insert(mark);
        }
        if fact.deed == AgentAction::Compacted {
            self.take_compaction(fact);
        }
    }

    fn take_compaction(&mut self, fact: &AgentFact) {
        self.compacted = number(fact).unwrap_or(self.compacted).saturating_add(1);
        self.just_compacted = true;
    }

    fn take_own(&mut self, fact: &AgentFact) {
        self.remembered = true;
        let turn = OpenTurn { since: fact.at, ..OpenTurn::default() };
        if matches!(fact.deed, AgentAction::Session | AgentAction::Prompt) {
            self.began = fact.about.split(' ').next().map(str::to_owned);
        }
        match fact.deed {
            AgentAction::Session => self.turn = OpenTurn { first: true, ..turn },
            AgentAction::Prompt => {
                let code = fact.about.split_once(' ').and_then(|(_, code)| code.parse().ok());
                self.turn = OpenTurn { first: self.turn.first, code, ..turn };
                self.held = false;
            }
            AgentAction::Ended => {
                self.turn = turn;
                self.ended = number(fact).unwrap_or(self.ended).saturating_add(1);
            }
            AgentAction::Wrote => {
                let touch = if fact.about == RAN { Touch::Ran } else { Touch::Edited };
                self.turn.touch = self.turn.touch.max(touch);
            }
            AgentAction::Called => {
                if let Some(mark) = fact.mark {
                    let times = self.called.entry(mark).or_default();
                    *times = number(fact).unwrap_or(*times).saturating_add(1);
                }
            }
            // It begins a session anew that is the same to people: nothing is forgotten.
            AgentAction::Compacted => return self.take_compaction(fact),
            AgentAction::Nudged => return self.nudged.extend(fact.mark),
            AgentAction::Counted => return self.counted.extend(fact.mark),
            AgentAction::Heard | AgentAction::Refused => {
                return fact.mark.into_iter().for_each(|mark| *self.heard.entry(mark).or_default() += 1);
            }
            AgentAction::Held => {
                self.held = true;
                return;
            }
            AgentAction::Released | AgentAction::Kept | AgentAction::Broken => return,
        }
        self.just_compacted = false;
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
    fn a_turn_is_known_by_its_prompt_and_what_was_done_in_it() {
        use AgentAction::{Called, Compacted, Ended, Prompt, Session as Began, Wrote};
        use Client::{Claude, Copilot};
        let turn = |facts: &[AgentFact]| {
            let turn = Session::from_facts(facts, Claude, Some("a")).turn;
            (turn.asked, turn.first, turn.touch)
        };
        let mut facts = vec![fact(Claude, "a", Began, 0), fact(Claude, "a", Prompt, 1)];
        assert_eq!(turn(&facts), (true, true, Touch::Nothing));
        facts.extend([fact(Claude, "a", Ended, 0), fact(Claude, "a", Prompt, 2)]);
        assert_eq!(turn(&facts), (true, false, Touch::Nothing), "a second question");
        facts.push(AgentFact { about: "command".into(), ..fact(Claude, "a", Wrote, 0) });
        assert_eq!(turn(&facts).2, Touch::Ran);
        facts.push(AgentFact { about: "edit".into(), ..fact(Claude, "a", Wrote, 0) });
        assert_eq!(turn(&facts).2, Touch::Edited);
        facts.push(fact(Claude, "a", Ended, 0));
        assert_eq!(turn(&facts), (false, false, Touch::Nothing), "no prompt began it");
        facts.push(fact(Claude, "a", Prompt, 2));
        assert!(!turn(&facts).0, "the same again");
        let other = [fact(Claude, "b", Prompt, 1), fact(Claude, "a", Began, 0), fact(Claude, "a", Prompt, 1)];
        assert!(!turn(&other).0, "the same in another session");
        let compacted = |facts: &[AgentFact]| {
            let session = Session::from_facts(facts, Claude, Some("a"));
            (session.compacted, session.just_compacted)
        };
        let mut facts = vec![fact(Claude, "a", Called, 1), fact(Copilot, "a", Compacted, 0)];
        assert_eq!(compacted(&facts), (1, true), "whichever client reported it");
        facts.extend([fact(Claude, "a", Called, 2), fact(Claude, "a", Compacted, 0)]);
        assert_eq!(compacted(&facts), (2, true));
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
        let session = Session::from_facts(&facts, Claude, Some("a"));
        assert!(session.held && !Session::from_facts(&facts[..5], Claude, Some("a")).held);
        assert_eq!(session.called[&ShortHash([3; 8])], 2);
        assert_eq!((session.heard[&ShortHash([4; 8])], session.remembered), (1, true));
        assert!(!Session::from_facts(&facts, Claude, None).remembered);
        assert_eq!(in_order(&facts), [Claude, Copilot]);
    }
}
