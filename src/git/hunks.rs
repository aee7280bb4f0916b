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

/// How many bytes git looks at to tell text from binary.
const LOOKED_AT: usize = 8000;

/// git's rule: a NUL among the first 8,000 bytes.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

/// The hunks from `old` to `new`, in order. Empty when the two are equal, or when either [`is_binary`]: compare ids then.
/// No setting of the user or the repository changes the answer. Plain bytes, though libgit2 hashes them: comparing blobs
/// of a repository loads its index for attributes, which costs more and fails where that index is split or sparse.
pub fn hunks<'a>(old: &'a [u8], new: &'a [u8]) -> Vec<RawHunk<'a>> {
    if is_binary(old) || is_binary(new) {
        return Vec::new();
    }
    let mut options = DiffOptions::new();
    // libgit2's own idea of binary would call UTF-16 and much else so, and may change with its version.
    options.force_text(true).context_lines(0).interhunk_lines(0).indent_heuristic(false);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&[u8]]) -> Vec<String> {
        lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    #[test]
    fn hunks_hold_the_lines_and_nothing_around_them() {
        let old = b"a\nb\nc\nd\ne\n";
        let new = b"a\nB\nc\ne\nf";
        let hunks = hunks(old, new);
        let shown: Vec<(Vec<String>, Vec<String>)> =
            hunks.iter().map(|hunk| (text(&hunk.removed), text(&hunk.added))).collect();
        let pair = |removed: &[&str], added: &[&str]| {
            let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
            (own(removed), own(added))
        };
        assert_eq!(shown, [pair(&["b\n"], &["B\n"]), pair(&["d\n"], &[]), pair(&[], &["f"])]);
    }

    #[test]
    fn additions_deletions_and_nothing() {
        assert_eq!(text(&hunks(b"", b"x\ny\n")[0].added), ["x\n", "y\n"]);
        assert_eq!(text(&hunks(b"x\n", b"")[0].removed), ["x\n"]);
        assert_eq!(hunks(b"same\n", b"same\n"), vec![]);
        assert_eq!(hunks(b"", b""), vec![]);
        assert_eq!(hunks(b"a\0b\n", b"a\0c\n"), vec![], "binary");
        assert_eq!(hunks(b"\x01\x02\x03\n", b"\xff\xfe\n").len(), 1, "odd, but not binary");
        assert!(!is_binary(&[&[b'x'; LOOKED_AT][..], b"\0"].concat()));
        let ends = hunks(b"x", b"x\n");
        assert_eq!((text(&ends[0].removed), text(&ends[0].added)), (vec!["x".into()], vec!["x\n".into()]));
        let crlf = hunks(b"x\r\ny\n", b"x\ny\n");
        assert_eq!(text(&crlf[0].removed), ["x\r\n"]);
    }
}
