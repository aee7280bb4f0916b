//! Facts: what was observed, never edited afterwards.
//!
//! The memory of a commit that was made here, wherever HEAD has gone since.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CommitId, EntryId, Event, TestEvidence, TestRun, Timestamp, codec::flag};
use crate::format::fields::{Items, Text, Texts, or_default};

pub use super::record::{
    CarriedAttempt, CommitKind, CommitRecord, DiffSummary, Gate, Hunk, PrevRecord, RecordedFinding,
    Recording, Skip, UncreditedFall, Weakening,
};
pub use super::usage::Usage;

/// Bytes of the name of a person, an agent or a worktree in the journal.
const MAX_NAME: usize = 1024;
/// Bytes of what a person says there.
const MAX_REASON: usize = 8192;

/// The presence of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    /// It is there.
    Present,
    /// It is not there.
    Absent,
}

/// A commit as the fold sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommitFact {
    /// The commit; `None` in event streams, which have none.
    pub id: Option<CommitId>,
    /// First line of the message, for exemptions (revert, reland, release) and for people.
    pub subject: String,
    /// Who wrote it, as git names the author; empty where unknown.
    pub author: String,
    /// The record, as recorded or re-derived.
    pub record: CommitRecord,
    /// The commit as an event stream names it. It is shown to people, and nothing else follows from it: what a stream names
    /// need not be there.
    pub named: Option<CommitId>,
}

impl CommitFact {
    /// The first commit of the attempt: its own, except for a moved one. A line of a stream names its own.
    pub fn root(&self) -> Option<CommitId> {
        self.record.carries.as_ref().map(|carried| carried.commit).or(self.id).or(self.named)
    }
}

crate::named_enum! {
    /// The way in which an acknowledgement was given.
    #[derive(Default)]
    pub enum AckHow, "resume, unattended, file_deleted, signed or unsigned" {
        /// `andon resume`, by somebody at a terminal. Journals of the first versions do not say so.
        #[default]
        Resume = "resume",
        /// `andon resume --yes`, without a terminal.
        Unattended = "unattended",
        /// The halt's file was deleted; first seen at a hook.
        FileDeleted = "file_deleted",
        /// A witness resolved it, signed.
        Signed = "signed",
        /// Read of an answer without the signature that its halt asks for: it ends nothing.
        Unsigned = "unsigned",
    }
}

/// A person's assessment of the halt that is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum HaltAssessment {
    /// Nothing: it was right, or the question did not come up.
    #[default]
    Unsaid,
    /// The loop was not stuck. Such halts are counted by rule, and calibration knows them as good work.
    Mistaken,
}

impl HaltAssessment {
    /// As the optional key of the wire formats, which is there only where it was mistaken.
    pub fn key(self) -> Option<bool> {
        (self == Self::Mistaken).then_some(true)
    }
}

flag!(HaltAssessment, Mistaken, Unsaid);

/// A person's answer to a halt (docs/concepts.md), as the journal and the ledger hold it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ack {
    /// The halt that is answered; `None` for a reset without a standing halt.
    pub halt: Option<EntryId>,
    /// The one counter that is reset, by the id of its rule: the window continues. `None` starts a new window.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub counter: Option<String>,
    /// Name and address of the git user.
    #[serde(serialize_with = "Text::<MAX_NAME>::serialize")]
    pub by: String,
    /// The way in which the acknowledgement was given.
    #[serde(default, deserialize_with = "or_default")]
    pub how: AckHow,
    /// The person's assessment of the halt.
    #[serde(default, rename = "mistaken")]
    pub halt_was: HaltAssessment,
    /// The marker of an agent's shell in which it was first seen, such as `CLAUDECODE`.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub agent: Option<String>,
    /// The provider of the fallback chain that goes on: it was answered on its behalf, as `on_stall` says, and no person did.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub provider: Option<String>,
    /// The words of the person; empty for a deletion.
    #[serde(default, with = "Text::<MAX_REASON>")]
    pub reason: String,
    /// The instruction for the worker, word for word, where that is not the reason: the amended text of a witness, the prompt
    /// of an advisor.
    #[serde(default, with = "Text::<MAX_REASON>")]
    pub words: Option<String>,
    /// HEAD then: the window starts anew after it.
    pub head: Option<CommitId>,
    /// The tests that were red before the run, as the person says who called a halt about them mistaken: they halt it no more.
    #[serde(default, with = "Texts::<{ TestEvidence::MAX_FAILING }, MAX_NAME>")]
    pub known_red: Vec<String>,
    /// Name of the worktree.
    #[serde(default = "main_worktree", serialize_with = "Text::<MAX_NAME>::serialize")]
    pub worktree: String,
    pub at: Timestamp,
}

/// The place of an answer, as seen from a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerPlace {
    /// Both are of one worktree of one clone.
    Same,
    /// The answer is of another worktree, or of another clone.
    Other,
}

impl AnswerPlace {
    /// The place of an answer in `answer` to a halt in `halt`.
    pub fn of<T: PartialEq>(answer: &T, halt: &T) -> Self {
        if answer == halt { Self::Same } else { Self::Other }
    }
}

fn main_worktree() -> String {
    Attempt::MAIN.to_owned()
}

impl Ack {
    /// The answer of `by` at `at`, with nothing else said.
    pub fn new(by: impl Into<String>, at: Timestamp) -> Self {
        Self { by: by.into(), at, ..Self::default() }
    }

    /// Returns whether it ends the halt of that entry. An answer that names no halt ends the one in the same place, unless it
    /// resets a single counter.
    pub fn ends(&self, halt: EntryId, place: AnswerPlace) -> bool {
        let ends_unnamed = place == AnswerPlace::Same && self.counter.is_none();
        self.halt.map_or(ends_unnamed, |answered| answered == halt)
    }

    /// Returns whether this is `earlier` once more, under the commit that replaced its own (an amend, a rebase).
    pub fn is_moved(&self, earlier: &Self) -> bool {
        let reported = |ack: &Self| (ack.at, ack.halt, ack.how);
        let words = |ack: &Self| (ack.by.clone(), ack.reason.clone(), ack.counter.clone());
        let moved = self.head.is_some() && earlier.head.is_some() && self.head != earlier.head;
        moved && reported(self) == reported(earlier) && words(self) == words(earlier)
    }
}

/// One fact in the order in which it was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A commit was recorded.
    Commit(Box<CommitFact>),
    /// Tests ran.
    TestRun(Box<TestRun>),
    /// A halt was acknowledged: the window starts anew.
    Ack(Box<Ack>),
    /// An agent or an orchestrator reported something.
    Event(Box<Event>),
}

/// A commit that was recorded in one of the repository's worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The commit as it was recorded; a reset may have left it unreachable.
    pub commit: CommitId,
    /// Its first parent; `None` for a root commit.
    pub parent: Option<CommitId>,
    /// The worktree in which it was made. A worktree that is removed and added again is another one.
    #[serde(serialize_with = "Text::<MAX_NAME>::serialize")]
    pub worktree: String,
    /// The other linked worktrees that there were then.
    #[serde(default, serialize_with = "write_beside", deserialize_with = "read_beside")]
    pub beside: Vec<String>,
}

fn write_beside<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    let many = [Attempt::MANY.to_owned()];
    let names = if names.len() > Attempt::MAX_BESIDE { &many } else { names };
    Texts::<{ Attempt::MAX_BESIDE }, MAX_NAME>::serialize(names, serializer)
}

fn read_beside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let mut names: Vec<String> = Items::<{ Attempt::MAX_BESIDE + 1 }>::deserialize(deserializer)?;
    if let Some(beyond) = names.get_mut(Attempt::MAX_BESIDE) {
        Attempt::MANY.clone_into(beyond);
    }
    Ok(names)
}

impl Attempt {
    /// The main worktree, which is always there.
    pub const MAIN: &'static str = "main";
    /// Bound of [`Self::beside`].
    pub const MAX_BESIDE: usize = 256;
    /// The entry of [`Self::beside`] that marks a longer list.
    pub const MANY: &'static str = "*";

    /// Returns whether the worktree `here` is another one and was there when this commit was made: then both go their own ways.
    pub(crate) fn is_beside(&self, here: &str) -> bool {
        self.worktree != here
            && (here == Self::MAIN || self.beside.iter().any(|other| other == here || other == Self::MANY))
    }
}
