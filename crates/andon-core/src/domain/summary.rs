//! A halt as people see it: who is stuck with what, since when, and what it has cost. Made once, when a halt is made, and
//! kept with it, so that every message, page and file tells the same, in every clone.

use serde::{Deserialize, Serialize};

use super::{CommitId, Timestamp};

/// A summary of what is stuck, since when and at what cost. Texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HaltSummary {
    /// Who made the iterations: nodes, else the client. Empty where neither is known. At most [`HaltSummary::MAX_WHO`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub who: Vec<String>,
    /// When the first iteration of it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The number of iterations that it has lasted.
    pub iterations: u64,
    /// The number of these iterations that are commits.
    pub commits: u64,
    /// Tokens read and written since then, where clients report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost since then in millionths of a dollar, where clients report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Tests that passed and failed in the newest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// The tests that fail now, each with its error in one line. At most [`HaltSummary::MAX_FAILING`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailingTest>,
    /// The iterations that are stuck, oldest first: the newest [`HaltSummary::MAX_STEPS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<SummaryStep>,
    /// The files that are concerned, where the rule knows them. At most [`HaltSummary::MAX_FILES`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The commit with the fewest failing tests, where that is another than the newest state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<BestCommit>,
}

/// Counts of a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: u64,
    /// Failed or errored.
    pub failing: u64,
}

/// A failing test, or a failure of the run as a whole. Packed facts hold it: nothing of it may be left out when it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailingTest {
    /// Its id; `None` for an error of the run itself, such as one of the compiler.
    pub test: Option<String>,
    /// Its first error in one line, secrets masked; `None` where the report has none.
    pub error: Option<String>,
}

/// An iteration that is stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryStep {
    /// Equal for equal states of the code, counted from 0 in the order in which they came; `None` where no state came
    /// twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<u8>,
    /// The commit; `None` for a turn without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// First line of its message.
    #[serde(default)]
    pub subject: String,
    /// Failing tests, where tests ran on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<u64>,
}

/// The commit to begin again from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BestCommit {
    pub commit: CommitId,
    /// Tests that fail there.
    pub failing: u64,
}

impl HaltSummary {
    /// Bound of `who`.
    pub const MAX_WHO: usize = 4;
    /// Bound of `failing`.
    pub const MAX_FAILING: usize = 5;
    /// Bound of `steps`.
    pub const MAX_STEPS: usize = 12;
    /// Bound of `files`.
    pub const MAX_FILES: usize = 3;
    /// Characters of an error.
    pub const MAX_ERROR: usize = 200;
    /// Characters of any other text.
    pub const MAX_TEXT: usize = 200;

    /// The same within its bounds: what another program wrote may be longer.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let cut = |text: &mut String| {
            if let Some((end, _)) = text.char_indices().nth(Self::MAX_TEXT) {
                text.truncate(end);
            }
        };
        self.who.truncate(Self::MAX_WHO);
        self.failing.truncate(Self::MAX_FAILING);
        self.files.truncate(Self::MAX_FILES);
        self.steps.drain(..self.steps.len().saturating_sub(Self::MAX_STEPS));
        self.who.iter_mut().chain(&mut self.files).for_each(cut);
        self.steps.iter_mut().for_each(|step| cut(&mut step.subject));
        self.failing.iter_mut().for_each(|failing| {
            failing.test.iter_mut().chain(&mut failing.error).for_each(cut);
        });
        self
    }

    /// Returns whether the steps go round among states that have letters.
    pub fn goes_round(&self) -> bool {
        self.steps.iter().any(|step| step.state.is_some())
    }

    /// The distinct states in the order in which they came, each by the newest commit that brought it.
    pub fn states(&self) -> Vec<(u8, &SummaryStep)> {
        let mut states: Vec<(u8, &SummaryStep)> = Vec::new();
        for step in self.steps.iter().filter(|step| step.commit.is_some()) {
            let Some(state) = step.state else { continue };
            match states.iter_mut().find(|(known, _)| *known == state) {
                Some(known) => known.1 = step,
                None => states.push((state, step)),
            }
        }
        states.sort_by_key(|(state, _)| *state);
        states
    }

    /// The two commits whose difference is to be looked at: two states that alternate, else the ends of what is stuck.
    pub fn between(&self) -> Option<(CommitId, CommitId)> {
        if let [(_, first), (_, second), ..] = self.states().as_slice() {
            return first.commit.zip(second.commit);
        }
        let mut commits = self.steps.iter().filter_map(|step| step.commit);
        let first = commits.next()?;
        commits.next_back().filter(|last| *last != first).map(|last| (first, last))
    }
}

impl SummaryStep {
    /// The letter of its state: `A`, `B`; nothing beyond `Z`.
    pub fn letter(&self) -> Option<char> {
        self.state.filter(|state| *state < 26).map(|state| char::from(b'A' + state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;

    fn step(state: Option<u8>, commit: u8) -> SummaryStep {
        let commit = Oid::from_bytes(&[commit; 20]).map(CommitId);
        SummaryStep { state, commit, subject: format!("s{state:?}"), failing: None }
    }

    #[test]
    fn two_states_that_alternate_are_what_is_compared() {
        let steps = vec![step(Some(0), 1), step(Some(1), 2), step(Some(0), 3), step(Some(1), 4)];
        let summary = HaltSummary { steps, ..HaltSummary::default() };
        let (first, second) = summary.between().unwrap();
        assert_eq!((first, second), (step(None, 3).commit.unwrap(), step(None, 4).commit.unwrap()));
        assert_eq!(summary.states()[1].1.letter(), Some('B'));
        let plain = HaltSummary { steps: vec![step(None, 1), step(None, 2)], ..HaltSummary::default() };
        assert_eq!(plain.between(), step(None, 1).commit.zip(step(None, 2).commit));
        assert_eq!(HaltSummary { steps: vec![step(None, 1)], ..HaltSummary::default() }.between(), None);
    }

    #[test]
    fn what_is_read_is_bounded() {
        let long = "ä".repeat(500);
        let summary = HaltSummary {
            who: vec![long.clone(); 9],
            failing: vec![FailingTest { test: Some(long.clone()), error: Some(long.clone()) }; 9],
            steps: vec![SummaryStep { subject: long.clone(), ..step(None, 1) }; 40],
            files: vec![long; 9],
            ..HaltSummary::default()
        };
        let bounded = summary.bounded();
        assert!(serde_json::to_string(&bounded).unwrap().len() < 20_000);
        assert_eq!(bounded.steps.len(), HaltSummary::MAX_STEPS);
    }
}
