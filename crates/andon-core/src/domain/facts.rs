//! Facts: what was observed, never edited afterwards.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::attempt::Attempt;
use super::codec::named;
use super::events::Event;
use super::findings::Level;
use super::ids::{CommitId, DiffHash, EntryId, HunkHash};
pub use super::record::{CarriedAttempt, CommitRecord, PrevRecord};
use super::tests::{Extent, TestRun};
use super::time::Timestamp;
pub use super::usage::Usage;
use crate::format::fields::{Items, Text, Texts, count, or_default, unless_default};

/// Bytes of the id of a rule as JSON.
const MAX_RULE: usize = 128;
/// Bytes of what a rule or a person says.
const MAX_MESSAGE: usize = 2048;
/// Bytes of the name of a test.
const MAX_TEST_NAME: usize = 256;
/// Bytes of the marker of an agent's shell.
const MAX_MARKER: usize = 256;

/// Bytes of the name of a person, an agent or a worktree in the journal.
const MAX_NAME: usize = 1024;
/// Bytes of what a person says there.
const MAX_REASON: usize = 8192;

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    /// It is there.
    Present,
    /// It is not there.
    Absent,
}

/// How a commit came to be. Only `Normal` and `Amend` can be strikes (docs/spec-map.md, settled choice 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommitKind {
    /// A plain commit.
    Normal,
    /// `git commit --amend`: replaces the iteration it amends.
    Amend,
    /// More than one parent.
    Merge,
    /// `git revert`.
    Revert,
    /// `git cherry-pick`.
    CherryPick,
    /// A pick of a rebase.
    Rebase,
}

impl CommitKind {
    /// Every kind with its name in records.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Normal, "normal"),
        (Self::Amend, "amend"),
        (Self::Merge, "merge"),
        (Self::Revert, "revert"),
        (Self::CherryPick, "cherry-pick"),
        (Self::Rebase, "rebase"),
    ];
}

named!(CommitKind, "a kind of commit");

/// Whether a commit passed the gate at pre-commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    /// pre-commit left a receipt for exactly this tree.
    Passed,
    /// post-commit ran and pre-commit had not passed this tree (`--no-verify`).
    Bypassed,
    /// git runs no pre-commit for this kind of commit, or no hook ran at all.
    NotRun,
}

impl Gate {
    /// Every value with its name in records.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Passed, "passed"), (Self::Bypassed, "bypassed"), (Self::NotRun, "not-run")];
}

named!(Gate, "passed, bypassed or not-run");

/// When the record was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Recording {
    /// By the hook of the commit itself.
    #[default]
    AtCommit,
    /// Later: the commit was made while the hooks were off.
    CaughtUp,
    /// Later: `git am` made the commit, which runs no hook but those of patches, and none of ours was installed.
    Patched,
    /// Long after: the commit was made before Andon was installed, and `andon backfill` recorded what the commit alone
    /// shows.
    Backfilled,
    /// Not written at all: derived from the commit alone, because no hook recorded it. Never in a record.
    Derived,
}

impl Recording {
    /// Whether a later hook wrote the record, in place of one that did not run.
    pub fn is_later(self) -> bool {
        match self {
            Self::CaughtUp | Self::Patched => true,
            Self::AtCommit | Self::Backfilled | Self::Derived => false,
        }
    }

    /// Whether a hook wrote the record, at the commit or later.
    pub fn is_by_hook(self) -> bool {
        self == Self::AtCommit || self.is_later()
    }
}

/// One changed region of a file: hashes of the removed and of the added lines.
/// A hunk that undoes another has the two swapped. Written as a list of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(expecting = "a list of two hashes")]
pub struct Hunk {
    /// Hash of the removed lines, after normalization.
    pub removed: HunkHash,
    /// Hash of the added lines, after normalization.
    pub added: HunkHash,
}

impl Serialize for Hunk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.removed, self.added].serialize(serializer)
    }
}

impl Hunk {
    /// The hash of a side without lines.
    pub const NO_LINES: HunkHash = HunkHash([0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14]);
}

/// The normalized diff of a commit against its first parent (docs/formats.md): the member `diff` of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct DiffSummary {
    /// Hash over changed paths, modes and normalized hunks, without line numbers or context.
    pub hash: DiffHash,
    /// True when nothing is left after normalization and `paths.ignore`.
    pub empty: bool,
    /// Changed paths that are not ignored.
    #[serde(default, deserialize_with = "count")]
    pub files: u64,
    /// Added lines.
    #[serde(default, deserialize_with = "count")]
    pub added: u64,
    /// Removed lines.
    #[serde(default, deserialize_with = "count")]
    pub removed: u64,
    /// The hunks in order, at most [`DiffSummary::MAX_HUNKS`].
    #[serde(default, deserialize_with = "Items::<{ DiffSummary::MAX_HUNKS + 1 }>::deserialize")]
    pub hunks: Vec<Hunk>,
    /// True when `hunks` was cut.
    #[serde(default, deserialize_with = "or_default")]
    pub truncated: bool,
}

impl DiffSummary {
    /// Bound of `hunks`.
    pub const MAX_HUNKS: usize = 256;

    /// The same within its bound: what another program wrote may be longer.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.truncated |= self.hunks.len() > Self::MAX_HUNKS;
        self.hunks.truncate(Self::MAX_HUNKS);
        self
    }
}

/// A finding as a record keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct RecordedFinding {
    /// Rule id.
    #[serde(serialize_with = "Text::<MAX_RULE>::serialize")]
    pub rule: String,
    /// Its level then.
    pub level: Level,
    /// Its message then.
    #[serde(default, with = "Text::<MAX_MESSAGE>")]
    pub message: String,
}

/// What a commit took from the tests (rule `test-weakening`). Names as in the test files; each list holds at most
/// [`Weakening::MAX_NAMES`]. The member `weakening` of a record, where empty lists are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Weakening {
    /// Tests that are gone; one whose body came up elsewhere or under another name is not.
    #[serde(default, with = "Texts::<{ Weakening::MAX_NAMES }, MAX_TEST_NAME>")]
    pub removed: Vec<String>,
    /// Tests that are still there and are skipped now.
    #[serde(default, with = "Texts::<{ Weakening::MAX_NAMES }, MAX_TEST_NAME>")]
    pub skipped: Vec<String>,
    /// Tests that have fewer assertions now.
    #[serde(default, with = "Texts::<{ Weakening::MAX_NAMES }, MAX_TEST_NAME>")]
    pub loosened: Vec<String>,
    /// How many tests all three are, where the lists are cut.
    #[serde(default, deserialize_with = "count")]
    pub total: u64,
    /// How exactly that is known.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "extent")]
    pub extent: Extent,
    /// So many tests less may run since several became rows of one: none of them is lost.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "count")]
    pub rows: u64,
    /// Tests that failed in the last run on earlier code; 0 where none is known.
    #[serde(default, deserialize_with = "count")]
    pub failing: u64,
    /// Tests that ran there; 0 where none is known.
    #[serde(default, deserialize_with = "count")]
    pub ran: u64,
    /// The reason that a trailer `Tests-Removed` of the commit gives.
    #[serde(default, with = "Text::<MAX_MESSAGE>")]
    pub waiver: Option<String>,
    /// The file of the first of these tests, where the change itself was read; no member of a record.
    #[serde(skip)]
    pub file: Option<String>,
}

/// A word of a later version claims nothing exact.
fn extent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Extent, D::Error> {
    let name: String = or_default(deserializer)?;
    Ok(if name.is_empty() { Extent::Whole } else { Extent::from_name(&name).unwrap_or(Extent::About) })
}

/// A fall of the failing count that does not count as progress: tests that ran before are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UncreditedFall {
    /// Failing tests before.
    pub from: u64,
    /// Failing tests after.
    pub to: u64,
    /// Tests that ran earlier in the window and did not run now.
    pub gone: u64,
}

impl Weakening {
    /// How many tests are removed, newly skipped and loosened. The rest of lists that are cut is added to the first cut
    /// list.
    pub fn counts(&self) -> [u64; 3] {
        let lists = [&self.removed, &self.skipped, &self.loosened];
        let mut counts = lists.map(|list| u64::try_from(list.len()).unwrap_or(u64::MAX));
        let rest = self.total.saturating_sub(counts.iter().sum());
        if let Some(cut) = lists.iter().position(|list| list.len() >= Self::MAX_NAMES) {
            counts[cut] = counts[cut].saturating_add(rest);
        }
        counts
    }

    /// Bound of each list.
    pub const MAX_NAMES: usize = 32;
}

/// A rule that was passed over for one commit, or a gate that was (docs/spec-map.md, loop rules: skip dirty bit check).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Skip {
    /// Rule id; `hook-bypass` where the whole gate was skipped by name (`SKIP` of pre-commit and prek).
    #[serde(serialize_with = "Text::<MAX_RULE>::serialize")]
    pub rule: String,
    /// What was said; empty when nothing was.
    #[serde(default, with = "Text::<MAX_MESSAGE>")]
    pub reason: String,
    /// The marker of the agent's shell in which it was asked for.
    #[serde(default, with = "Text::<MAX_MARKER>")]
    pub agent: Option<String>,
}

impl Skip {
    /// Bound of the list in a record.
    pub const MAX: usize = 16;
    /// The trailer of a commit message that gives a reason: `Andon-Skip: untested-edit: REASON`.
    pub const TRAILER: &'static str = "Andon-Skip";
}

/// A commit as the fold sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitFact {
    /// The commit; `None` in event streams, which have none.
    pub id: Option<CommitId>,
    /// First line of the message, for exemptions (revert, reland, release) and for people.
    pub subject: String,
    /// Who wrote it, as git names the author; empty where unknown.
    pub author: String,
    /// What was recorded, or re-derived.
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

/// How an acknowledgement was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AckHow {
    /// `andon resume`, by somebody at a terminal. Journals of the first versions do not say so.
    #[default]
    Resume,
    /// `andon resume --yes`, without a terminal.
    Unattended,
    /// The halt's file was deleted; first seen at a hook.
    FileDeleted,
    /// A witness resolved it, signed.
    Signed,
}

impl AckHow {
    /// Each with its name in the journal, the ledger and JSON.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Resume, "resume"),
        (Self::Unattended, "unattended"),
        (Self::FileDeleted, "file_deleted"),
        (Self::Signed, "signed"),
    ];
}

named!(AckHow, "resume, unattended, file_deleted or signed");

/// What a person says of the halt that is answered.
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

impl Serialize for HaltAssessment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.key().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HaltAssessment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key: Option<bool> = Deserialize::deserialize(deserializer)?;
        Ok(if key == Some(true) { Self::Mistaken } else { Self::Unsaid })
    }
}

/// A person's answer to a halt (docs/concepts.md), as the journal and the ledger hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Ack {
    /// The halt that is answered; `None` for a reset without a standing halt.
    pub halt: Option<EntryId>,
    /// The one counter that is reset, by the id of its rule: the window continues. `None` starts a new window.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub counter: Option<String>,
    /// Name and address of the git user.
    #[serde(serialize_with = "Text::<MAX_NAME>::serialize")]
    pub by: String,
    /// How it was given.
    #[serde(default, deserialize_with = "or_default")]
    pub how: AckHow,
    /// Whether the halt was right.
    #[serde(default, rename = "mistaken")]
    pub halt_was: HaltAssessment,
    /// The marker of an agent's shell in which it was first seen, such as `CLAUDECODE`.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub agent: Option<String>,
    /// The provider of the fallback chain that goes on: it was answered on its behalf, as `on_stall` says, and no person did.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub provider: Option<String>,
    /// What the person said; empty for a deletion.
    #[serde(default, with = "Text::<MAX_REASON>")]
    pub reason: String,
    /// What the worker is to do, word for word, where that is not the reason: the amended text of a witness, the prompt of an
    /// advisor.
    #[serde(default, with = "Text::<MAX_REASON>")]
    pub words: Option<String>,
    /// HEAD then: the window starts anew after it.
    pub head: Option<CommitId>,
    /// Name of the worktree.
    #[serde(default = "main_worktree", serialize_with = "Text::<MAX_NAME>::serialize")]
    pub worktree: String,
    /// When.
    pub at: Timestamp,
}

fn main_worktree() -> String {
    Attempt::MAIN.to_owned()
}

impl Ack {
    /// Whether it ends the halt of that entry, `in_place` where both are of one worktree of one clone. An answer that names no
    /// halt ends the one in its place, unless it resets a single counter.
    pub fn ends(&self, halt: EntryId, in_place: bool) -> bool {
        self.halt.map_or(in_place && self.counter.is_none(), |answered| answered == halt)
    }

    /// Whether this is `earlier` once more, under the commit that replaced its own (an amend, a rebase).
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
