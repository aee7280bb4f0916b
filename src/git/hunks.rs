//! Hunks of two versions of a file, without context.

use git2::{DiffLineType, DiffOptions, Patch};

/// One changed region: the lines that went and the lines that came, each with its line end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawHunk<'a> {
    /// Removed lines, slices of the old buffer.
    pub removed: Vec<&'a [u8]>,
    /// Added lines, slices of the new buffer.
    pub added: Vec<&'a [u8]>,
}

impl super::repo::Repo {
    /// The hunks from `old` to `new`, in order. Empty when the two are equal, or when git would call either
    /// binary: compare ids then.
    pub fn hunks<'a>(&self, old: &'a [u8], new: &'a [u8]) -> Vec<RawHunk<'a>> {
        between(old, new)
    }
}

fn between<'a>(old: &'a [u8], new: &'a [u8]) -> Vec<RawHunk<'a>> {
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0).indent_heuristic(false);
    let Ok(patch) = Patch::from_buffers(old, None, new, None, Some(&mut options)) else { return Vec::new() };
    (0..patch.num_hunks()).map(|index| hunk(&patch, index, old, new)).collect()
}

fn hunk<'a>(patch: &Patch<'_>, index: usize, old: &'a [u8], new: &'a [u8]) -> RawHunk<'a> {
    let mut hunk = RawHunk::default();
    for number in 0..patch.num_lines_in_hunk(index).unwrap_or(0) {
        let Ok(line) = patch.line_in_hunk(index, number) else { continue };
        let start = usize::try_from(line.content_offset()).unwrap_or(usize::MAX);
        let range = start..start.saturating_add(line.content().len());
        if line.origin_value() == DiffLineType::Deletion {
            hunk.removed.extend(old.get(range));
        } else if line.origin_value() == DiffLineType::Addition {
            hunk.added.extend(new.get(range));
        }
    }
    hunk
}
