//! What some rules ask of a change, told without a whole summary of it: what undoing it would need (`undo-churn`), and
//! whether it is more than weak (`weak-change`).
//!
//! A commit undoes an earlier one only where a hunk takes away what that one brought and brings what that one took away.
//! Of the earlier one it is enough, nearly always, to know which lines it may have changed: those between the lines that
//! both texts begin and end with. That is more than a diff finds, never less, and costs no diff.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Content, Normalized, Normalizer, Reading, Summing, is_in_place, normalized, sides};
use crate::domain::facts::{DiffSummary, Hunk};
use crate::git::{Change, Texts, hunks, middle};
use crate::record::RecordError;

/// A hunk, and the hashes of its normalized lines: of many, the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLines {
    /// As a record has it.
    pub hunk: Hunk,
    removed: Vec<u64>,
    added: Vec<u64>,
}

/// Lines of a side of a hunk that are kept: enough to tell that it is another one.
const MAX_LINES: usize = 16;

/// The hashes of all normalized lines that a change may have removed and added, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sketch {
    removed: Vec<u64>,
    added: Vec<u64>,
    /// More than is kept: it may be any line.
    anything: bool,
}

impl Sketch {
    /// Lines of either side that are kept.
    const MAX: usize = 1 << 11;

    /// Whether `hunk` may undo a hunk of this change.
    pub fn may_be_undone_by(&self, hunk: &HunkLines) -> bool {
        let among = |lines: &[u64], all: &[u64]| lines.iter().all(|line| all.binary_search(line).is_ok());
        hunk.hunk.removed != hunk.hunk.added
            && (self.anything || (among(&hunk.removed, &self.added) && among(&hunk.added, &self.removed)))
    }

    fn add(&mut self, normalizer: &Normalizer, old: &[u8], new: &[u8]) {
        let (old, new) = middle(old, new);
        for (text, into) in [(old, &mut self.removed), (new, &mut self.added)] {
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                if into.len() >= Self::MAX {
                    self.anything = true;
                    return;
                }
                into.push(hash(&normalizer.line(line)));
            }
        }
    }

    fn finish(mut self) -> Self {
        if self.anything {
            return Self { anything: true, ..Self::default() };
        }
        for lines in [&mut self.removed, &mut self.added] {
            lines.sort_unstable();
            lines.dedup();
            lines.shrink_to_fit();
        }
        self
    }
}

fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

/// Which lines some changes may have removed and added.
///
/// # Errors
/// As [`super::summarize`].
pub fn sketch(
    texts: &mut Texts<'_>,
    reading: &Reading<'_>,
    changes: &[Change],
) -> Result<Sketch, RecordError> {
    let mut sketch = Sketch::default();
    let mut sum = Summing::new(texts, reading);
    for change in changes.iter().filter(|change| differs(change)) {
        if let Content::Text(old, new) = sum.content(change)? {
            sketch.add(reading.normalizer, &old, &new);
        }
    }
    Ok(sketch.finish())
}

/// What some changes brought and took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunks {
    /// As a summary has them, and as far as it has them.
    pub hunks: Vec<HunkLines>,
    /// Whether they are more than weak ([`crate::domain::change::Nature::is_weak`]) or nothing.
    pub strong: bool,
}

/// The hunks of some changes.
///
/// # Errors
/// As [`super::summarize`].
pub fn hunk_lines(
    texts: &mut Texts<'_>,
    reading: &Reading<'_>,
    changes: &[Change],
) -> Result<Hunks, RecordError> {
    let mut found = Vec::new();
    let mut sum = Summing::new(texts, reading);
    for change in changes {
        sum.nature(change, &mut |hunks| {
            let left = DiffSummary::MAX_HUNKS - found.len();
            found.extend(hunks.iter().take(left).map(HunkLines::new));
        })?;
    }
    Ok(Hunks { hunks: found, strong: sum.survey.is_strong() })
}

/// Whether some changes are more than weak or nothing: one file is mostly enough to know.
///
/// # Errors
/// As [`super::summarize`].
pub fn is_strong(
    texts: &mut Texts<'_>,
    reading: &Reading<'_>,
    changes: &[Change],
) -> Result<bool, RecordError> {
    let mut sum = Summing::new(texts, reading);
    for change in changes {
        if sum.survey.is_strong() {
            break;
        }
        sum.nature(change, &mut |_| ())?;
    }
    Ok(sum.survey.is_strong())
}

impl HunkLines {
    fn new(hunk: &Normalized<'_>) -> Self {
        let lines = |side: &[Cow<'_, [u8]>]| side.iter().take(MAX_LINES).map(|line| hash(line)).collect();
        Self { hunk: hunk.pair(), removed: lines(&hunk.removed), added: lines(&hunk.added) }
    }
}

impl Summing<'_, '_, '_> {
    /// Takes in what a change is made of, as long as that can make a difference, and shows its hunks.
    fn nature(
        &mut self,
        change: &Change,
        show: &mut dyn FnMut(&[Normalized<'_>]),
    ) -> Result<(), RecordError> {
        let content = if differs(change) { self.content(change)? } else { Content::Ids };
        let Content::Text(old, new) = content else {
            self.survey.no_lines(change);
            return Ok(());
        };
        let hunks = normalized(self.reading.normalizer, &hunks(&old, &new));
        show(&hunks);
        let nothing = hunks.is_empty() && is_in_place(change);
        if !nothing && !self.survey.is_strong() {
            self.survey.lines(change, &sides(&hunks));
        }
        Ok(())
    }
}

/// Whether there is a content that differs.
fn differs(change: &Change) -> bool {
    change.old.map(|side| side.1) != change.new.map(|side| side.1)
}

#[cfg(test)]
mod testkit {
    use super::*;

    impl HunkLines {
        /// The hunk of these lines.
        pub fn of(removed: &[u8], added: &[u8]) -> Self {
            let lines =
                |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(hash).collect::<Vec<u64>>();
            let side = |text: &[u8]| crate::domain::ids::HunkHash(hash(text).to_be_bytes());
            let hunk = Hunk { removed: side(removed), added: side(added) };
            Self { hunk, removed: lines(removed), added: lines(added) }
        }
    }

    impl Sketch {
        /// The sketch of a change of these lines.
        pub fn of(removed: &[u8], added: &[u8]) -> Self {
            let HunkLines { removed, added, .. } = HunkLines::of(removed, added);
            Self { removed, added, anything: false }.finish()
        }
    }
}
