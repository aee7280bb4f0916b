//! The change of a commit, beyond the hash of its diff: enough to see fake progress, ping-pong in one file behind other
//! work, and work on documents.
//!
//! Everything here can be derived again from the commit and the configuration, so `check` compares it; records of
//! earlier versions lack it, and then it is unknown, which proves nothing.

use serde::{Deserialize, Deserializer, Serialize};

use super::{HunkHash, Oid, codec::listed};
use crate::format::fields::{Items, count, or_default};

/// One path that differs. `old` is `None` for an added path, `new` for a deleted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path in the new tree; the old one for a deletion.
    pub path: Vec<u8>,
    /// The path of the same blob before, when it was moved unchanged.
    pub old_path: Option<Vec<u8>>,
    /// Mode and id before.
    pub old: Option<(u32, Oid)>,
    /// Mode and id after.
    pub new: Option<(u32, Oid)>,
}

/// One changed region: the lines that went and the lines that came, each with its line end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawHunk<'a> {
    /// Removed lines, slices of the old buffer.
    pub removed: Vec<&'a [u8]>,
    /// Added lines, slices of the new buffer.
    pub added: Vec<&'a [u8]>,
}

crate::named_enum! {
    /// The nature of the changed lines (docs/spec-map.md, loop safety: what to hash; docs/rules.md, `weak-change`).
    #[derive(Default)]
    pub enum Nature, "a nature of a change" {
        /// Done by a program, or unknown: never counts against the loop.
        #[default]
        Work = "work",
        /// Documentation and nothing else that counts.
        Docs = "docs",
        /// White space inside lines, or blank lines, where indentation means nothing.
        Space = "space",
        /// Comments, in a language that is known.
        Comments = "comments",
        /// A version number.
        Version = "version",
        /// Lines of a log.
        Log = "log",
        /// File modes.
        Mode = "mode",
        /// Several of the weak ones.
        Weak = "weak",
        /// Nothing is left after normalization.
        Nothing = "nothing",
        /// Ignored paths alone, Andon's own configuration among them: no iteration.
        Ignored = "ignored",
    }
}

impl Nature {
    /// Returns whether a program behaves as before.
    pub(crate) fn is_weak(self) -> bool {
        !matches!(self, Self::Work | Self::Docs | Self::Nothing | Self::Ignored)
    }

    /// The nature of two changes together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == Self::Nothing {
            return other;
        }
        match (self, other) {
            (one, Self::Nothing | Self::Ignored) | (Self::Ignored, one) => one,
            (Self::Work, _) | (_, Self::Work) => Self::Work,
            (Self::Docs, _) | (_, Self::Docs) => Self::Docs,
            (one, other) if one == other => one,
            (_, _) => Self::Weak,
        }
    }
}

/// One path of a commit: which, and what it was and is. Absent sides are zero. Written as a list of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(expecting = "a list of three hashes")]
pub struct PathStep {
    pub path: HunkHash,
    /// Hash of mode and content before.
    pub old: HunkHash,
    /// Hash of mode and content after.
    pub new: HunkHash,
}

listed!(PathStep, path, old, new);

/// A file from which a commit removes what commits of the same author had only just added. Written as a list of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(expecting = "a list of a hash and a percentage")]
pub struct Rewrite {
    pub path: HunkHash,
    /// The share of the removed lines that those commits had added.
    #[serde(deserialize_with = "count")]
    pub percent: u64,
}

listed!(Rewrite, path, percent);

/// Checklist items of a document: `- [x]` and `- [ ]`. Written as a list of both counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(expecting = "a list of two counts")]
pub struct Checklist {
    /// Ticked items.
    #[serde(deserialize_with = "count")]
    pub done: u64,
    /// All items.
    #[serde(deserialize_with = "count")]
    pub total: u64,
}

listed!(Checklist, done, total);

/// The effect of a commit on documents (docs/spec-map.md, loop safety: "docs progress").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(expecting = "a state of documents")]
pub struct DocsState {
    /// Hash over the changed documents' paths and text without white space and volatile parts.
    pub hash: HunkHash,
    /// Checklist items of the changed documents before.
    pub was: Checklist,
    /// Checklist items of the changed documents after.
    pub now: Checklist,
}

/// The facts about one commit's change: the member `change` of a record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangeFacts {
    /// The nature of the changed lines.
    #[serde(default, deserialize_with = "nature")]
    pub nature: Nature,
    /// The changed paths that are not ignored, in byte order, at most [`ChangeFacts::MAX_PATHS`].
    #[serde(default, deserialize_with = "Items::<{ ChangeFacts::MAX_PATHS + 1 }>::deserialize")]
    pub paths: Vec<PathStep>,
    /// True when `paths` was cut.
    #[serde(default, deserialize_with = "or_default")]
    pub truncated: bool,
    /// Documents; `None` when none changed, or more text than is looked at.
    pub docs: Option<DocsState>,
    /// The files that are rewritten, documents aside; none in records of earlier versions.
    #[serde(default, with = "Items::<{ ChangeFacts::MAX_PATHS }>")]
    pub rewrites: Vec<Rewrite>,
    /// The changed files of a build that runs elsewhere; none in records of earlier versions.
    #[serde(default, with = "Items::<{ ChangeFacts::MAX_PATHS }>")]
    pub pipelines: Vec<HunkHash>,
}

impl PathStep {
    /// Returns whether the path was there before and is there after.
    pub fn stays(&self) -> bool {
        self.old != Self::ABSENT && self.new != Self::ABSENT
    }

    /// A side where the path is not there.
    pub(crate) const ABSENT: HunkHash = HunkHash([0; 8]);
}

impl ChangeFacts {
    /// Returns whether both changed something at one path; also when that is not known, because one has too many.
    pub fn meets(&self, other: &Self) -> bool {
        self.truncated
            || other.truncated
            || self.paths.iter().any(|step| other.paths.iter().any(|theirs| theirs.path == step.path))
    }

    /// Bound of `paths`.
    pub const MAX_PATHS: usize = 32;

    /// The same within its bound: what another program wrote may be longer.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.truncated |= self.paths.len() > Self::MAX_PATHS;
        self.paths.truncate(Self::MAX_PATHS);
        self
    }
}

/// A word of a later version does no harm.
fn nature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nature, D::Error> {
    Ok(Nature::from_name(&or_default::<String, D>(deserializer)?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stronger_nature_wins() {
        for (one, _) in Nature::ALL {
            assert_eq!(one.and(one), one);
            assert_eq!(one.and(Nature::Nothing), one);
            assert_eq!(Nature::Work.and(one), Nature::Work);
            for (other, _) in Nature::ALL {
                assert_eq!(one.and(other), other.and(one), "{one:?} {other:?}");
            }
        }
        assert_eq!(Nature::Comments.and(Nature::Log), Nature::Weak);
        assert_eq!(Nature::Comments.and(Nature::Docs), Nature::Docs);
    }
}
