//! The commits that were looked at, as they are kept: facts as bytes, and of the commits what the rest of the judgement
//! asks for. A range may have a hundred thousand of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::{CommitRef, Diagnostic, Location};
use andon_core::domain::{CodeId, CommitFact, CommitId, CommitKind, Level, Timestamp};
use andon_git::CommitInfo;
use andon_store::PackedFacts;

/// A commit and what it builds on.
pub(super) struct Link {
    pub id: CommitId,
    pub parents: Box<[CommitId]>,
}

/// The commits that were looked at, parents first.
#[derive(Default)]
pub(super) struct ExaminedCommits {
    commits: Vec<Link>,
    /// The place of each.
    index: HashMap<CommitId, usize>,
    /// The code of each, and when its record says that it was written.
    reported: Vec<(CodeId, Timestamp)>,
    /// Facts that may be believed: records that do not hold are replaced by what was derived.
    facts: PackedFacts,
    /// The places of the commits that were amended or rebased.
    rewritten: Vec<usize>,
    /// The places of the commits that have tests.
    tested: Vec<usize>,
    /// Commits that are not judged.
    pub(super) free: HashSet<CommitId>,
}

impl ExaminedCommits {
    pub(super) fn push(&mut self, commit: &CommitInfo, fact: &CommitFact) {
        let (number, record) = (self.commits.len(), &fact.record);
        self.index.insert(commit.id, number);
        self.reported.push((record.code, record.recorded_at));
        self.facts.push(fact);
        if record.carries.is_some() || matches!(record.kind, CommitKind::Amend | CommitKind::Rebase) {
            self.rewritten.push(number);
        }
        if record.tests.is_some() {
            self.tested.push(number);
        }
        self.commits.push(Link { id: commit.id, parents: commit.parents.as_slice().into() });
    }

    /// True when the guard binds a commit.
    pub(super) fn is_bound(&self, commit: CommitId) -> bool {
        !self.free.contains(&commit)
    }

    pub(super) fn commits(&self) -> &[Link] {
        &self.commits
    }

    /// The place of a commit.
    pub(super) fn place(&self, id: CommitId) -> Option<usize> {
        self.index.get(&id).copied()
    }

    /// The commit of the range with that id, all of it.
    pub(super) fn named(&self, id: &str) -> Option<CommitId> {
        id.parse().ok().filter(|known: &CommitId| known.to_string() == id && self.holds(*known))
    }

    /// True when a commit is in the range.
    pub(super) fn holds(&self, id: CommitId) -> bool {
        self.index.contains_key(&id)
    }

    /// True when a commit is in the range or right below it.
    pub(super) fn concerns(&self, head: CommitId) -> bool {
        self.commits().iter().any(|commit| commit.id == head || commit.parents.contains(&head))
    }

    /// The code of a commit of the range.
    pub(super) fn code(&self, id: CommitId) -> Option<CodeId> {
        self.reported.get(self.place(id)?).map(|(code, _)| *code)
    }

    /// When a commit of the range was recorded.
    pub(super) fn recorded_at(&self, id: CommitId) -> Option<Timestamp> {
        self.reported.get(self.place(id)?).map(|(_, at)| *at)
    }

    /// All facts, in their order.
    pub(super) fn facts(&self) -> impl Iterator<Item = CommitFact> {
        (0..self.facts.len()).filter_map(|number| self.facts.get(number))
    }

    pub(super) fn fact(&self, id: CommitId) -> Option<CommitFact> {
        self.facts.get(self.place(id)?)
    }

    /// Those of commits that replace another one.
    pub(super) fn rewritten(&self) -> impl Iterator<Item = CommitFact> {
        self.rewritten.iter().filter_map(|number| self.facts.get(*number))
    }

    /// Those that have tests, the newest first.
    pub(super) fn tested(&self) -> impl Iterator<Item = CommitFact> {
        self.tested.iter().rev().filter_map(|number| self.facts.get(*number))
    }

    /// A commit of the range as a message names it; outside the range without its subject.
    pub(super) fn at(&self, id: CommitId) -> CommitRef {
        let known = self.place(id).and_then(|number| self.facts.subject(number));
        CommitRef { commit: id, subject: known.map(|(_, subject)| subject).unwrap_or_default() }
    }
}

/// The order of the messages about one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MessageOrder {
    Witnesses,
    Configuration,
    Records,
    Weakening,
    Identity,
    Skips,
    People,
    Ledger,
    Tampering,
    Range,
}

/// The words of a violation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Wording {
    code: Option<String>,
    level: Level,
    message: String,
    file: Option<Box<str>>,
    help: Vec<String>,
}

/// Violations, in the order in which they are shown.
#[derive(Default)]
pub(super) struct ViolationGroups {
    /// About the range as a whole, or about commits outside it.
    apart: Vec<Diagnostic>,
    words: Vec<Rc<Wording>>,
    /// Their places in that list.
    numbers: BTreeMap<Rc<Wording>, u32>,
    /// The commit of the range, and the number of the words.
    declared: Vec<(u32, MessageOrder, u32)>,
}

impl ViolationGroups {
    /// Takes in what is said. What concerns no commit that was looked at comes in the order of the turns.
    pub(super) fn add(
        &mut self,
        examined: &ExaminedCommits,
        turn: MessageOrder,
        violations: impl IntoIterator<Item = Diagnostic>,
    ) {
        for violation in violations {
            let place = violation.commit().and_then(|at| examined.place(at.commit));
            let Some(place) = place.and_then(|place| u32::try_from(place).ok()) else {
                self.apart.push(violation);
                continue;
            };
            let Diagnostic { level, code, message, file, help, .. } = violation;
            let number = self.number(Wording { code, level, message, file, help });
            self.declared.push((place, turn, number));
        }
    }

    fn number(&mut self, words: Wording) -> u32 {
        if let Some(number) = self.numbers.get(&words) {
            return *number;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let words = Rc::new(words);
        self.words.push(Rc::clone(&words));
        self.numbers.insert(words, number);
        number
    }

    /// All of it: first what concerns no commit of the range, then in the order of the commits.
    pub(super) fn into_violations(mut self, examined: &ExaminedCommits) -> Vec<Diagnostic> {
        self.declared.sort_by_key(|(place, turn, _)| (*place, *turn));
        let of_one = |(place, _, number): &(u32, MessageOrder, u32)| {
            let words = self.words.get(*number as usize)?;
            Some(Diagnostic {
                excerpt: None,
                file: words.file.clone(),
                location: examined
                    .commits()
                    .get(*place as usize)
                    .map(|commit| Box::new(Location::Commit(examined.at(commit.id)))),
                code: words.code.clone(),
                level: words.level,
                message: words.message.clone(),
                help: words.help.clone(),
            })
        };
        self.apart.into_iter().chain(self.declared.iter().filter_map(of_one)).collect()
    }
}
