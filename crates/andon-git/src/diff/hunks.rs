//! Hunks of two versions of a file, without context.

use std::{collections::HashSet, iter::from_fn, path::Path};

use git2::{DiffLineType, DiffOptions, Patch};

use crate::Text;
use andon_core::domain::RawHunk;

/// The number of bytes that git looks at to tell text from binary.
const LOOKED_AT: usize = 8000;

/// git's rule: a NUL among the first 8,000 bytes.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

/// The hunks from `old` to `new`, in order. Empty when the two are equal, or when either [`is_binary`]: compare ids then.
/// No setting of the user or the repository changes the answer.
pub fn hunks<'a>(old: &'a Text, new: &'a Text) -> Vec<RawHunk<'a>> {
    if is_binary(old) || is_binary(new) {
        return Vec::new();
    }
    forced(old, new).unwrap_or_else(|| between(old, new))
}

/// Returns the number of bytes in the lines that both begin with, and then in those that both end with.
fn ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let common = shared(old.chunks(STEP).zip(new.chunks(STEP)), |(one, other)| {
        one.iter().zip(other).take_while(|(one, other)| one == other).count()
    });
    if common == old.len() && common == new.len() {
        return (common, 0);
    }
    // Not by memchr: asking the processor what it can takes longer than searches this short.
    let newline = |byte: &u8| *byte == b'\n';
    let head = old[..common].iter().rposition(newline).map_or(0, |end| end + 1);
    let (old, new) = (&old[head..], &new[head..]);
    let common = shared(old.rchunks(STEP).zip(new.rchunks(STEP)), |(one, other)| {
        one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
    });
    let begins = |text: &[u8]| text.len() == common || text[text.len() - common - 1] == b'\n';
    let tail = match old[old.len() - common..].iter().position(newline) {
        _ if begins(old) && begins(new) => common,
        Some(end) => common - end - 1,
        None => 0,
    };
    (head, tail)
}

/// Bytes that are compared at once.
const STEP: usize = 64;

/// Returns the number of bytes that are the same up to the first pair of chunks that differ, and in that pair.
fn shared<'a>(
    chunks: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    within: impl Fn((&'a [u8], &'a [u8])) -> usize,
) -> usize {
    let mut common = 0;
    for (one, other) in chunks {
        if one != other {
            return common + within((one, other));
        }
        common += one.len();
    }
    common
}

/// Lines that are removed and added beyond which git may take another way than the shortest.
const FEW: usize = 256;

/// The hunks that any diff finds: where the whole difference is an insertion or a deletion (of all of a file too), or where,
/// between what both begin and end with, no line that is removed is on the other side, and none that is added. Then nothing has to
/// be compared, and git's way of moving hunks leaves them: an insertion cannot be moved further down, a replacement stays where both
/// sides are, and what is next to a line of both sides differs from it.
fn forced<'a>(old: &'a [u8], new: &'a [u8]) -> Option<Vec<RawHunk<'a>>> {
    let (head, tail) = ends(old, new);
    let lines = |text: &'a [u8]| text.split_inclusive(|byte| *byte == b'\n');
    let middle = |text: &'a [u8]| lines(&text[head..text.len() - tail]).collect::<Vec<&[u8]>>();
    let whole = RawHunk { removed: middle(old), added: middle(new) };
    if whole.removed.is_empty() || whole.added.is_empty() {
        let differs = whole != RawHunk::default();
        return Some(differs.then_some(whole).into_iter().collect());
    }
    let [before, after] = [&whole.removed, &whole.added].map(|lines| lines.iter().collect::<HashSet<_>>());
    let (mut removed, mut added) = (whole.removed.iter().peekable(), whole.added.iter().peekable());
    let (mut hunks, mut gaps) = (Vec::new(), Vec::new());
    loop {
        let hunk: RawHunk<'a> = RawHunk {
            removed: from_fn(|| removed.next_if(|line| !after.contains(line))).copied().collect(),
            added: from_fn(|| added.next_if(|line| !before.contains(line))).copied().collect(),
        };
        if hunk != RawHunk::default() {
            hunks.push(hunk);
            gaps.push(0);
        }
        match (removed.next(), added.next()) {
            (None, None) => break,
            (one, other) if one == other => *gaps.last_mut()? += 1,
            _ => return None,
        }
    }
    let count = |side: fn(&RawHunk<'a>) -> usize| hunks.iter().map(side).sum::<usize>();
    let (gone, came) = (count(|hunk| hunk.removed.len()), count(|hunk| hunk.added.len()));
    // Git takes lines that are in a file often for changed where changed ones are three times as many around them.
    gaps.pop();
    let is_short = |gap: &usize| gone.max(came) > 3 * (gap + 1);
    let below = lines(&old[old.len() - tail..]).next();
    let slides = |last: &RawHunk<'a>| match (last.removed.first(), last.added.first()) {
        (Some(_), Some(_)) => false,
        (one, other) => one.or(other).copied() == below,
    };
    (gone + came <= FEW && !gaps.iter().any(is_short) && !hunks.last().is_some_and(slides)).then_some(hunks)
}

fn between<'a>(old: &'a [u8], new: &'a [u8]) -> Vec<RawHunk<'a>> {
    let mut options = DiffOptions::new();
    // libgit2's own idea of binary would call UTF-16 and much else so, and may change with its version.
    options.force_text(true).context_lines(0).interhunk_lines(0).indent_heuristic(false);
    // The empty path is one that has no attributes: for those the index would be loaded, which fails where it is split or
    // sparse.
    let nowhere = Some(Path::new(""));
    let Ok(patch) = Patch::from_buffers(old, nowhere, new, nowhere, Some(&mut options)) else {
        return Vec::new();
    };
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
    use crate::testkit::Scratch;

    fn text(lines: &[&[u8]]) -> Vec<String> {
        lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    /// Hunks of two blobs, as text.
    fn shown(old: &[u8], new: &[u8]) -> Vec<(Vec<String>, Vec<String>)> {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let read = |bytes: &[u8]| repo.text(repo.write_blob(bytes).unwrap(), 100_000).unwrap().unwrap();
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
    fn the_middle_is_what_no_end_has_in_common() {
        for (old, new, left) in [
            ("", "", ("", "")),
            ("a\nb\n", "a\nb\n", ("", "")),
            ("a\nb", "a\nb", ("", "")),
            ("a\nb", "a\nb\n", ("b", "b\n")),
            ("a\nb\n", "a\nx\nb\n", ("", "x\n")),
            ("a\na\n", "a\na\na\n", ("", "a\n")),
            ("xa\nb\n", "ya\nb\n", ("xa\n", "ya\n")),
            ("a\n", "xa\n", ("a\n", "xa\n")),
            ("a\nb\nc", "a\nc", ("b\n", "")),
            ("ab", "b", ("ab", "b")),
        ] {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let (head, tail) = ends(old.as_bytes(), new.as_bytes());
            let [before, after] = [old, new].map(|text| &text.as_bytes()[head..text.len() - tail]);
            assert_eq!((text(before).as_str(), text(after).as_str()), left, "{old:?} {new:?}");
        }
    }

    #[test]
    fn several_hunks_are_told_where_no_line_is_on_both_sides() {
        let told = |old: &str, new: &str| forced(old.as_bytes(), new.as_bytes()).map(|hunks| hunks.len());
        assert_eq!(told("a\nb\nc\nd\ne\n", "a\nB\nc\nD\nD\ne\n"), Some(2));
        assert_eq!(told("a\nb\nc\nd\ne\n", "a\nB\nc\ne\n"), Some(2), "one of them removes");
        assert_eq!(told("b\nc\nd\n", "c\nd\nb\n"), None, "a line is on both sides");
        assert_eq!(told("b\nc\nd\ne\nd\n", "B\nc\nd\n"), None, "the last one can be moved");
        let long = "x\ny\nz\nv\nw\nu\nt\n";
        assert_eq!(told(&format!("b\nc\n{long}"), "B\nc\nd\n"), None, "much is changed around one line");
    }

    #[test]
    fn what_is_forced_is_what_git_finds() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let mut seed = 7_u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % bound
        };
        let (mut told, mut several) = (0, 0);
        for round in 0..1500 {
            // Few different lines, so that much can be moved; sometimes long texts, for which git saves work.
            let (kinds, size) = [(2, 8), (4, 12), (9, 40), (30, 300), (900, 60)][round % 5];
            let line = |kind: usize| format!("{kind}").repeat(1 + 30 * (kind % 3)).into_bytes();
            let mut lines: Vec<Vec<u8>> = (0..random(size)).map(|_| line(random(kinds))).collect();
            let old = lines.join(&b'\n');
            for _ in 0..random(5) {
                let from = random(lines.len() + 1);
                let to = lines.len().min(from + random(4));
                let came: Vec<Vec<u8>> = (0..random(5)).map(|_| line(random(kinds + 1))).collect();
                lines.splice(from..to, came);
            }
            let ended = |mut text: Vec<u8>, ended: bool| {
                text.extend(ended.then_some(b'\n'));
                text
            };
            let (old, new) = (ended(old, random(4) > 0), ended(lines.join(&b'\n'), random(4) > 0));
            let ids = [&old, &new].map(|bytes| repo.write_blob(bytes).unwrap());
            let [one, other] = ids.map(|id| repo.text(id, 1 << 20).unwrap().unwrap());
            if let Some(found) = forced(&old, &new) {
                let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                let wanted = between(&one, &other);
                assert_eq!(found, wanted, "{:?}", (text(&old), text(&new)));
                told += 1;
                several += usize::from(found.len() > 1);
            }
        }
        assert!(told > 200 && several > 20, "{told} {several}");
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
        let [old, new] = ids.map(|id| repo.text(id, 10).unwrap().unwrap());
        assert_eq!(hunks(&old, &new).len(), 1);
    }
}
