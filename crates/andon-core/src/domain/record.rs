//! The record of one commit: the value that the rules read, and its form in `refs/notes/andon`, with its bounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    ChangeFacts, CodeId, CommitId, DiffHash, Digest, EntryId, Extent, HunkHash, Level, TestEvidence,
    Timestamp, TreeId, Uptime, Usage, codec::listed,
};
use crate::format::fields::{Items, Packed, Text, Texts, count, or_default, unless_default};
use crate::format::{Count, bounded};

/// Bytes of the id of a rule as JSON.
const MAX_RULE: usize = 128;
/// Bytes of what a rule or a person says.
const MAX_MESSAGE: usize = 2048;
/// Bytes of the name of a test.
const MAX_TEST_NAME: usize = 256;
/// Bytes of the marker of an agent's shell.
const MAX_MARKER: usize = 256;
/// Bytes of the name of a node, a worktree, a layer or a ledger's writer in a record.
const MAX_NODE: usize = 256;
/// Hashes of outputs in a record.
const MAX_OUTPUTS: usize = 64;
/// Findings in a record.
const MAX_FINDINGS: usize = 64;
/// Bytes of the name of a session in a record.
const MAX_SESSION: usize = 1024;

crate::named_enum! {
    /// The way in which a commit came to be. Only `Normal` and `Amend` can be strikes (docs/spec-map.md, settled choice 7).
    #[derive(Default)]
    pub enum CommitKind, "a kind of commit" {
        /// A plain commit.
        #[default]
        Normal = "normal",
        /// `git commit --amend`: replaces the iteration it amends.
        Amend = "amend",
        /// More than one parent.
        Merge = "merge",
        /// `git revert`.
        Revert = "revert",
        /// `git cherry-pick`.
        CherryPick = "cherry-pick",
        /// A pick of a rebase.
        Rebase = "rebase",
    }
}

crate::named_enum! {
    /// The result of the pre-commit gate for a commit.
    #[derive(Default)]
    pub enum Gate, "passed, bypassed or not-run" {
        /// pre-commit left a receipt for exactly this tree.
        Passed = "passed",
        /// post-commit ran and pre-commit had not passed this tree (`--no-verify`).
        Bypassed = "bypassed",
        /// git runs no pre-commit for this kind of commit, or no hook ran at all.
        #[default]
        NotRun = "not-run",
    }
}

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
    /// By the hook of a rebase, a pick, a patch or a new message, which moved a commit that no hook had recorded: it says as
    /// little of how the code came about as that one.
    Moved,
    /// Not written at all: derived from the commit alone, because no hook recorded it. Never in a record.
    Derived,
}

impl Recording {
    /// Returns whether a later hook wrote the record, in place of one that did not run.
    pub fn is_later(self) -> bool {
        matches!(self, Self::CaughtUp | Self::Patched)
    }

    /// Returns whether a hook wrote the record, at the commit or later.
    pub fn is_by_hook(self) -> bool {
        matches!(self, Self::AtCommit | Self::Moved) || self.is_later()
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

listed!(Hunk, removed, added);

impl Hunk {
    /// The hash of a side without lines.
    pub const NO_LINES: HunkHash = HunkHash([0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14]);
}

/// The normalized diff of a commit against its first parent (docs/formats.md): the member `diff` of a record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    /// True if `other` is this change once more. Commits that change nothing are not the same one.
    pub fn is_again(&self, other: &Self) -> bool {
        !self.empty && self.hash == other.hash
    }

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
pub struct RecordedFinding {
    #[serde(serialize_with = "Text::<MAX_RULE>::serialize")]
    pub rule: String,
    pub level: Level,
    #[serde(default, with = "Text::<MAX_MESSAGE>")]
    pub message: String,
}

/// The losses of the tests in a commit (rule `test-weakening`). Names are as in the test files; each list holds at most
/// [`Weakening::MAX_NAMES`]. This is the member `weakening` of a record, where empty lists are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    /// The number of tests in all three lists together, where the lists are cut.
    #[serde(default, deserialize_with = "count")]
    pub total: u64,
    /// The exactness of the lists and of the total.
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
    /// Counts how many tests are removed, newly skipped and loosened. The rest of lists that are cut is added to the first cut
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
pub struct Skip {
    /// Rule id; `hook-bypass` where the whole gate was skipped by name (`SKIP` of pre-commit and prek).
    #[serde(serialize_with = "Text::<MAX_RULE>::serialize")]
    pub rule: String,
    /// The stated reason; empty when none was given.
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

/// The statement of a record about the record of its first parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum PrevRecord {
    /// Nothing: written by an earlier version, or there is no parent.
    #[default]
    Unsaid,
    /// There was none when this one was written: a chain begins here.
    Absent,
    /// sha256 of its line.
    Line(Digest),
}

impl PrevRecord {
    /// The line that is named.
    pub fn line(self) -> Option<Digest> {
        if let Self::Line(digest) = self { Some(digest) } else { None }
    }
}

/// The record of one commit in `refs/notes/andon` (docs/formats.md). The commit id is the key, not a member.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommitRecord {
    /// When the record was written.
    pub recorded_at: Timestamp,
    /// The same since the system was started; `None` where that is not known.
    pub uptime: Option<Uptime>,
    /// The commit's tree.
    pub tree: TreeId,
    /// The first parent; `None` for a root commit.
    pub parent: Option<CommitId>,
    /// The record before it in the chain: two members of the line, which `wire` writes and reads.
    #[serde(default, with = "Packed")]
    pub prev: PrevRecord,
    pub kind: CommitKind,
    /// Gate receipt.
    pub gate: Gate,
    /// The time of writing, at the commit or later: three members of the line, which `wire` writes and reads.
    #[serde(default, with = "Packed")]
    pub recording: Recording,
    /// Node of the workflow; `agent` without one.
    #[serde(default = "agent", serialize_with = "Text::<MAX_NODE>::serialize", deserialize_with = "node")]
    pub node: String,
    /// Session id, when the environment names one.
    #[serde(default, with = "Text::<MAX_SESSION>")]
    pub session: Option<String>,
    /// Iterations since the last acknowledgement, within the run; 1 starts a new window.
    #[serde(deserialize_with = "number")]
    pub iteration: u64,
    /// Code fingerprint.
    pub code: CodeId,
    /// Normalized diff.
    pub diff: DiffSummary,
    /// The content of the diff; `None` in records of earlier versions and in event streams.
    pub change: Option<ChangeFacts>,
    /// The newest valid test run on exactly this code.
    pub tests: Option<TestEvidence>,
    /// The weakening of the tests by this commit.
    pub weakening: Option<Weakening>,
    /// The rules or gates that were passed over for this commit, and by whose word.
    #[serde(default, with = "Items::<{ Skip::MAX }>")]
    pub skipped: Vec<Skip>,
    /// Output hashes of the turn.
    #[serde(default, with = "Items::<MAX_OUTPUTS>")]
    pub outputs: Vec<Digest>,
    /// The usage of the turn since its previous commit.
    pub usage: Option<Usage>,
    /// The newest ledger entries that were seen, by writer: an entry that is removed later leaves a gap here.
    #[serde(default, serialize_with = "heads", deserialize_with = "read_heads")]
    pub ledger: BTreeMap<String, EntryId>,
    /// The layers that guarded the commit of an agent: `git`, and the clients whose hooks were live. Empty where no agent was
    /// at work as far as is known.
    #[serde(default, with = "Texts::<{ CommitRecord::MAX_GUARDS }, MAX_NODE>")]
    pub guards: Vec<String>,
    /// The linked worktree in which it was made; `None` in the main one, and where that is not known.
    #[serde(default, with = "Text::<MAX_NODE>")]
    pub worktree: Option<String>,
    /// The hash of the name and address that git was set up with there, where the commit was recorded as it was made: it tells whether two
    /// clones belong to one loop.
    pub by: Option<Digest>,
    /// The findings of the rules at post-commit.
    #[serde(default, with = "Items::<MAX_FINDINGS>")]
    pub findings: Vec<RecordedFinding>,
    /// The attempt that this commit is once more, moved by a rebase, a pick or a patch, or the newest
    /// of those that it joins (a squash); `None` where it is the first.
    pub carries: Option<Box<CarriedAttempt>>,
    /// The commits that a rebase made this one of, in the order in which they were applied; none where it was one.
    #[serde(default, with = "Items::<{ CommitRecord::MAX_JOINED }>")]
    pub joins: Vec<CommitId>,
}

fn agent() -> String {
    "agent".to_owned()
}

fn node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    if deserializer.is_human_readable() {
        return Ok(Option::deserialize(deserializer)?.unwrap_or_else(agent));
    }
    String::deserialize(deserializer)
}

/// Every record has one.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Count::deserialize(deserializer).map(|Count(number)| number)
}

/// By writer, and `null` where there are none.
fn heads<S: Serializer>(ledger: &BTreeMap<String, EntryId>, serializer: S) -> Result<S::Ok, S::Error> {
    let heads = ledger.iter().take(CommitRecord::MAX_LEDGERS);
    let heads = heads.map(|(writer, entry)| (bounded(writer, MAX_NODE), *entry));
    unless_default(&heads.collect::<BTreeMap<_, _>>(), serializer)
}

/// A malformed pair says nothing.
fn read_heads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, EntryId>, D::Error> {
    if !deserializer.is_human_readable() {
        return BTreeMap::deserialize(deserializer);
    }
    let heads: BTreeMap<String, Value> = or_default(deserializer)?;
    let heads = heads.into_iter().take(CommitRecord::MAX_LEDGERS);
    Ok(heads.filter_map(|(writer, entry)| Some((writer, entry.as_str()?.parse().ok()?))).collect())
}

/// The attempt that a moved commit carries on, as it was recorded when it was made. The code that was tested then is
/// not the code of the moved commit, so its tests are kept here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedAttempt {
    /// The commit as it was made first.
    pub commit: CommitId,
    /// The first parent of the commit that was moved: what an amend is known by.
    pub parent: Option<CommitId>,
    /// The kind of the commit as it was made.
    pub kind: CommitKind,
    /// The code fingerprint of that commit.
    pub code: CodeId,
    /// The tests of that code.
    pub tests: Option<TestEvidence>,
}

impl CarriedAttempt {
    /// The attempt behind `commit`, whose record is `record`: its own, or the one that it carries already.
    pub fn new(commit: CommitId, record: &CommitRecord) -> Self {
        let own = record.tests.clone().filter(|tests| tests.code == record.code);
        match record.carries.as_deref() {
            Some(carried) if own.is_none() => carried.clone(),
            Some(carried) => Self { code: record.code, tests: own, ..carried.clone() },
            None => Self { commit, parent: record.parent, kind: record.kind, code: record.code, tests: own },
        }
    }
}

impl CommitRecord {
    /// Returns whether its writer had no record of the parent, as in a clone that was made for one turn: its number says nothing of
    /// what came before.
    pub fn knew_nothing(&self) -> bool {
        let begins = self.iteration == 1 && self.prev == PrevRecord::Absent;
        begins && self.parent.is_some() && self.recording == Recording::AtCommit
    }

    /// A record of a plain commit of which nothing else is known.
    pub fn new(recorded_at: Timestamp, tree: TreeId, code: CodeId, diff: DiffSummary) -> Self {
        Self { recorded_at, tree, code, diff, node: agent(), ..Self::default() }
    }

    /// True if the record shows no more of how the code came about than the commit itself: no hook saw it being made, and no
    /// tests are known.
    pub fn is_silent(&self) -> bool {
        let tested = self.tests.as_ref().is_some_and(|tests| tests.code == self.code);
        matches!(self.recording, Recording::Backfilled | Recording::Moved) && !tested
    }

    /// The same within the bounds of its lists that say when they were cut: what another program wrote may be longer.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        if let Some(carried) = &mut self.carries {
            carried.tests = carried.tests.take().map(TestEvidence::bounded);
        }
        Self {
            diff: self.diff.bounded(),
            change: self.change.map(ChangeFacts::bounded),
            tests: self.tests.map(TestEvidence::bounded),
            ..self
        }
    }

    /// The number of its iteration, where it has one.
    pub fn number(&self) -> Option<u64> {
        Some(self.iteration).filter(|number| *number > 0)
    }

    /// Counts as an amend from now on, whatever it was made by.
    pub fn amend(&mut self) {
        self.carries
            .as_mut()
            .map_or(&mut self.kind, |carried| &mut carried.kind)
            .clone_from(&CommitKind::Amend);
    }

    /// Returns the way the attempt was made, whatever moved it since.
    pub(crate) fn made_as(&self) -> CommitKind {
        self.carries.as_ref().map_or(self.kind, |carried| carried.kind)
    }

    /// Most commits that a record says its commit was made of.
    pub const MAX_JOINED: usize = 64;
    /// Most ledgers that a record names.
    pub const MAX_LEDGERS: usize = 16;
    /// Most layers that it names.
    pub const MAX_GUARDS: usize = 16;
    /// The layer of git's own hooks.
    pub const GIT: &'static str = "git";
}
