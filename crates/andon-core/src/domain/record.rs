//! The record of one commit: the value that the rules read, and its form in `refs/notes/andon`, with its bounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::change::ChangeFacts;
use super::facts::{CommitKind, DiffSummary, Gate, RecordedFinding, Recording, Skip, Weakening};
use super::ids::{CodeId, CommitId, Digest, EntryId, TreeId};
use super::tests::TestEvidence;
use super::time::{Timestamp, Uptime};
use super::usage::Usage;
use crate::format::fields::{Items, Packed, Text, Texts, or_default, unless_default};
use crate::format::{Count, bounded};

/// Bytes of the name of a node, a worktree, a layer or a ledger's writer in a record.
const MAX_NODE: usize = 256;
/// Hashes of outputs in a record.
const MAX_OUTPUTS: usize = 64;
/// Findings in a record.
const MAX_FINDINGS: usize = 64;
/// Bytes of the name of a session in a record.
const MAX_SESSION: usize = 1024;

/// What a record says of the record of its first parent.
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
        match self {
            Self::Line(digest) => Some(digest),
            Self::Unsaid | Self::Absent => None,
        }
    }
}

/// The record of one commit in `refs/notes/andon` (docs/formats.md). The commit id is the key, not a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
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
    /// Kind of commit.
    pub kind: CommitKind,
    /// Gate receipt.
    pub gate: Gate,
    /// Whether it was written at the commit: three members of the line, which `wire` writes and reads.
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
    /// What the diff is made of; `None` in records of earlier versions and in event streams.
    pub change: Option<ChangeFacts>,
    /// The newest valid test run on exactly this code.
    pub tests: Option<TestEvidence>,
    /// What it took from the tests.
    pub weakening: Option<Weakening>,
    /// What was passed over for this commit, by whose word.
    #[serde(default, with = "Items::<{ Skip::MAX }>")]
    pub skipped: Vec<Skip>,
    /// Output hashes of the turn.
    #[serde(default, with = "Items::<MAX_OUTPUTS>")]
    pub outputs: Vec<Digest>,
    /// What the turn spent since its commit before.
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
    /// What the rules concluded at post-commit.
    #[serde(default, with = "Items::<MAX_FINDINGS>")]
    pub findings: Vec<RecordedFinding>,
    /// The attempt that this commit is once more, moved by a rebase, a pick or a patch, or the newest
    /// of those that it joins (a squash); `None` where it is the first.
    pub carries: Option<Box<CarriedAttempt>>,
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
#[serde(expecting = "an object")]
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
    /// A record of a plain commit of which nothing else is known.
    pub fn new(recorded_at: Timestamp, tree: TreeId, code: CodeId, diff: DiffSummary) -> Self {
        Self {
            recorded_at,
            uptime: None,
            tree,
            parent: None,
            prev: PrevRecord::Unsaid,
            kind: CommitKind::Normal,
            gate: Gate::NotRun,
            recording: Recording::AtCommit,
            node: agent(),
            session: None,
            iteration: 0,
            code,
            diff,
            change: None,
            tests: None,
            weakening: None,
            skipped: Vec::new(),
            outputs: Vec::new(),
            usage: None,
            ledger: BTreeMap::new(),
            guards: Vec::new(),
            worktree: None,
            findings: Vec::new(),
            carries: None,
        }
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

    /// How the attempt was made, whatever moved it since.
    pub fn made_as(&self) -> CommitKind {
        self.carries.as_ref().map_or(self.kind, |carried| carried.kind)
    }

    /// Most ledgers that a record names.
    pub const MAX_LEDGERS: usize = 16;
    /// Most layers that it names.
    pub const MAX_GUARDS: usize = 16;
    /// The layer of git's own hooks.
    pub const GIT: &'static str = "git";
}
