//! The members `diff`, `change` (what the diff is made of; records of earlier versions lack it) and `weakening` (what a commit took
//! from the tests) of a commit record.
//!
//! `{"docs":{"hash":"<16 hex>","now":[2,5],"was":[1,5]},"nature":"docs","paths":[["<16 hex>","<16 hex>","<16 hex>"]],
//! "truncated":false}`: per path hashes of its name, of what it was and of what it is; per document state the ticked
//! and all items of its checklists.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use andon_core::domain::change::{ChangeFacts, Checklist, DocsState, Nature, PathStep};
use andon_core::domain::facts::{DiffSummary, Hunk, Weakening};
use andon_core::domain::ids::{DiffHash, HunkHash};
use andon_core::domain::tests::Extent;
use andon_core::format::{Count, List, bounded};

pub(super) const MAX_MESSAGE: usize = 2048;

const MAX_TEST_NAME: usize = 256;

/// `diff`: the normalized diff against the first parent.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct DiffWire {
    hash: DiffHash,
    empty: bool,
    files: Option<Count>,
    added: Option<Count>,
    removed: Option<Count>,
    hunks: Option<List<[HunkHash; 2], { DiffSummary::MAX_HUNKS }>>,
    truncated: Option<bool>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

impl From<&DiffSummary> for DiffWire {
    fn from(diff: &DiffSummary) -> Self {
        let hunks: List<_, { DiffSummary::MAX_HUNKS }> =
            diff.hunks.iter().map(|hunk| [hunk.removed, hunk.added]).collect();
        Self {
            hash: diff.hash,
            empty: diff.empty,
            files: Some(Count(diff.files)),
            added: Some(Count(diff.added)),
            removed: Some(Count(diff.removed)),
            truncated: Some(diff.truncated || hunks.cut),
            hunks: Some(hunks),
            extra: Map::new(),
        }
    }
}

impl From<DiffWire> for DiffSummary {
    fn from(wire: DiffWire) -> Self {
        let count = |count: Option<Count>| count.unwrap_or_default().0;
        let hunks = wire.hunks.unwrap_or_default();
        Self {
            hash: wire.hash,
            empty: wire.empty,
            files: count(wire.files),
            added: count(wire.added),
            removed: count(wire.removed),
            truncated: wire.truncated.unwrap_or(false) || hunks.cut,
            hunks: hunks.items.into_iter().map(|[removed, added]| Hunk { removed, added }).collect(),
        }
    }
}

/// `change`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ChangeWire {
    nature: Option<String>,
    paths: Option<List<[HunkHash; 3], { ChangeFacts::MAX_PATHS }>>,
    truncated: Option<bool>,
    docs: Option<DocsWire>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "a state of documents")]
struct DocsWire {
    hash: HunkHash,
    was: [Count; 2],
    now: [Count; 2],
}

impl From<&ChangeFacts> for ChangeWire {
    fn from(change: &ChangeFacts) -> Self {
        let paths: List<_, { ChangeFacts::MAX_PATHS }> =
            change.paths.iter().map(|step| [step.path, step.old, step.new]).collect();
        let pair = |list: Checklist| [Count(list.done), Count(list.total)];
        Self {
            nature: Some(change.nature.as_str().to_owned()),
            truncated: Some(change.truncated || paths.cut),
            paths: Some(paths),
            docs: change.docs.map(|docs| DocsWire {
                hash: docs.hash,
                was: pair(docs.was),
                now: pair(docs.now),
            }),
            extra: Map::new(),
        }
    }
}

impl From<ChangeWire> for ChangeFacts {
    fn from(wire: ChangeWire) -> Self {
        let paths = wire.paths.unwrap_or_default();
        let list = |[done, total]: [Count; 2]| Checklist { done: done.0, total: total.0 };
        Self {
            // A word of a later version does no harm.
            nature: wire.nature.and_then(|name| Nature::from_name(&name)).unwrap_or(Nature::Work),
            truncated: wire.truncated.unwrap_or(false) || paths.cut,
            paths: paths.items.into_iter().map(|[path, old, new]| PathStep { path, old, new }).collect(),
            docs: wire.docs.map(|docs| DocsState {
                hash: docs.hash,
                was: list(docs.was),
                now: list(docs.now),
            }),
        }
    }
}

/// `weakening`. Lists that are empty are left out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct WeakeningWire {
    removed: Option<Names>,
    skipped: Option<Names>,
    loosened: Option<Names>,
    total: Option<Count>,
    extent: Option<String>,
    rows: Option<Count>,
    failing: Option<Count>,
    ran: Option<Count>,
    waiver: Option<String>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

type Names = List<String, { Weakening::MAX_NAMES }>;

impl From<&Weakening> for WeakeningWire {
    fn from(weakening: &Weakening) -> Self {
        let names = |names: &[String]| {
            let names: Names = names.iter().map(|name| bounded(name, MAX_TEST_NAME)).collect();
            names.unless_empty()
        };
        Self {
            removed: names(&weakening.removed),
            skipped: names(&weakening.skipped),
            loosened: names(&weakening.loosened),
            total: Some(Count(weakening.total)),
            extent: (weakening.extent != Extent::Whole).then(|| weakening.extent.as_str().to_owned()),
            rows: (weakening.rows > 0).then_some(Count(weakening.rows)),
            failing: Some(Count(weakening.failing)),
            ran: Some(Count(weakening.ran)),
            waiver: weakening.waiver.as_ref().map(|text| bounded(text, MAX_MESSAGE)),
            extra: Map::new(),
        }
    }
}

impl From<WeakeningWire> for Weakening {
    fn from(wire: WeakeningWire) -> Self {
        let count = |count: Option<Count>| count.unwrap_or_default().0;
        let names = |names: Option<Names>| names.unwrap_or_default().items;
        Self {
            removed: names(wire.removed),
            skipped: names(wire.skipped),
            loosened: names(wire.loosened),
            total: count(wire.total),
            // A word of a later version claims nothing exact.
            extent: wire
                .extent
                .map_or(Extent::Whole, |name| Extent::from_name(&name).unwrap_or(Extent::About)),
            rows: count(wire.rows),
            failing: count(wire.failing),
            ran: count(wire.ran),
            waiver: wire.waiver,
        }
    }
}
