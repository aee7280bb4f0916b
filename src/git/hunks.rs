//! Hunks of two versions of a file, without context.

use std::path::Path;

use git2::{DiffLineType, DiffOptions, Patch};

use super::texts::Text;

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
    bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

/// The hunks from `old` to `new`, in order. Empty when the two are equal, or when either [`is_binary`]: compare ids then.
/// No setting of the user or the repository changes the answer.
pub fn hunks<'a>(old: &'a Text<'_>, new: &'a Text<'_>) -> Vec<RawHunk<'a>> {
    let (before, after): (&[u8], &[u8]) = (old, new);
    let lines = |text: &'a [u8]| text.split_inclusive(|byte| *byte == b'\n').collect::<Vec<&[u8]>>();
    match (old.blob(), new.blob()) {
        _ if is_binary(before) || is_binary(after) => Vec::new(),
        _ if before.is_empty() && after.is_empty() => Vec::new(),
        // An added or deleted file is one hunk; nothing has to be compared.
        (None, _) | (_, None) => vec![RawHunk { removed: lines(before), added: lines(after) }],
        _ if before.is_empty() || after.is_empty() => {
            vec![RawHunk { removed: lines(before), added: lines(after) }]
        }
        (Some(one), Some(other)) => between(one, other),
    }
}

fn between<'a>(old: &'a git2::Blob<'_>, new: &'a git2::Blob<'_>) -> Vec<RawHunk<'a>> {
    let mut options = DiffOptions::new();
    // libgit2's own idea of binary would call UTF-16 and much else so, and may change with its version.
    options.force_text(true).context_lines(0).interhunk_lines(0).indent_heuristic(false);
    // Blobs, whose ids are known, for libgit2 hashes plain bytes: a quarter of the time. The empty path is one that has no
    // attributes: for those the index would be loaded, which fails where it is split or sparse.
    let (old_bytes, new_bytes, nowhere) = (old.content(), new.content(), Some(Path::new("")));
    let Ok(patch) = Patch::from_blobs(old, nowhere, new, nowhere, Some(&mut options)) else {
        return Vec::new();
    };
    (0..patch.num_hunks()).map(|index| hunk(&patch, index, old_bytes, new_bytes)).collect()
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
    use super::super::scratch::Scratch;
    use super::super::texts::Texts;
    use super::*;

    fn text(lines: &[&[u8]]) -> Vec<String> {
        lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    /// Hunks of two blobs, as text.
    fn shown(old: &[u8], new: &[u8]) -> Vec<(Vec<String>, Vec<String>)> {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let mut texts = Texts::new(&repo, 0);
        let mut read = |bytes: &[u8]| texts.read(repo.write_blob(bytes).unwrap(), 100_000).unwrap().unwrap();
        let (old, new) = (read(old), read(new));
        hunks(&old, &new).iter().map(|hunk| (text(&hunk.removed), text(&hunk.added))).collect()
    }

    fn pair(removed: &[&str], added: &[&str]) -> (Vec<String>, Vec<String>) {
        let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        (own(removed), own(added))
    }

    #[test]
    fn hunks_hold_the_lines_and_nothing_around_them() {
        let found = shown(b"a\nb\nc\nd\ne\n", b"a\nB\nc\ne\nf");
        assert_eq!(found, [pair(&["b\n"], &["B\n"]), pair(&["d\n"], &[]), pair(&[], &["f"])]);
    }

    #[test]
    fn additions_deletions_and_nothing() {
        assert_eq!(shown(b"", b"x\ny\n"), [pair(&[], &["x\n", "y\n"])]);
        assert_eq!(shown(b"x\n", b""), [pair(&["x\n"], &[])]);
        assert_eq!(shown(b"same\n", b"same\n"), []);
        assert_eq!(shown(b"", b""), []);
        assert_eq!(shown(b"a\0b\n", b"a\0c\n"), [], "binary");
        assert_eq!(shown(b"\x01\x02\x03\n", b"\xff\xfe\n").len(), 1, "odd, but not binary");
        assert!(!is_binary(&[&[b'x'; LOOKED_AT][..], b"\0"].concat()));
        assert_eq!(shown(b"x", b"x\n"), [pair(&["x"], &["x\n"])]);
        assert_eq!(shown(b"x\r\ny\n", b"x\ny\n"), [pair(&["x\r\n"], &["x\n"])]);
    }

    #[test]
    fn no_index_is_needed_for_what_attributes_say() {
        let scratch = Scratch::new();
        scratch.commit(".gitattributes", "* -diff\n", "attributes");
        let id = |content: &[u8]| scratch.open().write_blob(content).unwrap();
        let ids = [id(b"a\n"), id(b"b\n")];
        std::fs::write(scratch.path().join(".git/index"), "no index").unwrap();
        let repo = scratch.open();
        let mut texts = Texts::new(&repo, 0);
        let [old, new] = ids.map(|id| texts.read(id, 10).unwrap().unwrap());
        assert_eq!(hunks(&old, &new).len(), 1);
    }
}
