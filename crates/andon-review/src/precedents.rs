//! The earlier decisions of people (R27): found by tag and words, the newest first; only the first of a round binds.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{LedgerState, RoundDecision, RoundState, Vote, Words, payload::fields::shown_by_name};

/// The present status of a precedent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrecedentStatus {
    Current,
    Overturned,
    Dissent,
}

shown_by_name!(PrecedentStatus);

/// A decision, or a ballot that dissented from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precedent {
    /// The entry that opened the round.
    pub round: usize,
    pub key: String,
    pub standing: PrecedentStatus,
    pub by: BTreeSet<String>,
    pub tags: BTreeSet<String>,
    /// The entries of the votes behind it.
    pub votes: Vec<usize>,
}

/// A search for precedents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrecedentQuery {
    pub tag: Option<String>,
    pub text: Option<Words>,
}

impl LedgerState {
    /// The precedents that fit, newest first.
    pub fn precedents(&self, wanted: &PrecedentQuery) -> Vec<Precedent> {
        let mut rounds: Vec<(&RoundState, &RoundDecision)> =
            self.state.rounds.iter().filter_map(|round| Some((round, round.decision()?))).collect();
        rounds.sort_by_key(|(round, decided)| std::cmp::Reverse((decided.place, round.entry)));
        let of_round = |(round, newest): (&RoundState, &RoundDecision)| {
            let mut found = vec![(&newest.votes[..], PrecedentStatus::Current)];
            let overturned = round.decisions.iter().rev().filter(|earlier| earlier.key != newest.key);
            found.extend(overturned.map(|earlier| (&earlier.votes[..], PrecedentStatus::Overturned)));
            let mut dissent = newest.dissent.clone();
            dissent.sort_by_key(|vote| &self.state.votes.all[*vote].witness);
            found.extend(dissent.chunks(1).map(|vote| (vote, PrecedentStatus::Dissent)));
            let fitting = found.into_iter().filter_map(|(votes, standing)| {
                let has_words =
                    wanted.text.as_ref().is_none_or(|text| text.are_among(&self.words(round, votes)));
                let precedent = has_words.then(|| self.precedent(round, votes, standing))?;
                wanted.tag.as_ref().is_none_or(|tag| precedent.tags.contains(tag)).then_some(precedent)
            });
            fitting.collect::<Vec<_>>()
        };
        rounds.into_iter().flat_map(of_round).collect()
    }

    /// The words of a question and of the votes on it.
    fn words(&self, round: &RoundState, votes: &[usize]) -> BTreeSet<String> {
        let votes = votes.iter().map(|vote| &self.state.votes.all[*vote]);
        let said = votes.flat_map(|vote| [Some(&vote.said.rationale), vote.said.amended.as_ref()]).flatten();
        said.chain([&round.question]).flat_map(Words::names).map(str::to_owned).collect()
    }

    fn precedent(&self, round: &RoundState, votes: &[usize], standing: PrecedentStatus) -> Precedent {
        let votes: Vec<&Vote> = votes.iter().map(|vote| &self.state.votes.all[*vote]).collect();
        let tags = votes.iter().flat_map(|vote| &vote.said.tags).chain(&round.tags).cloned().collect();
        let by = votes.iter().map(|vote| vote.witness.clone()).collect();
        let key = votes.first().map(|vote| vote.said.key.clone()).unwrap_or_default();
        let entries = votes.iter().map(|vote| vote.entry).collect();
        Precedent { round: round.entry, key, standing, by, tags, votes: entries }
    }
}
