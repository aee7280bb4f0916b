//! A run of counts at a glance: `7 -> 4 -> 2` with a sparkline (docs/spec-map.md, loop safety: recommended UX).

/// The glyphs of a sparkline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Block elements.
    Unicode,
    /// For terminals and locales without them.
    Ascii,
}

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// Points shown at either end of a longer run.
const TREND_HEAD: usize = 3;
const TREND_TAIL: usize = 7;
const SPARK_HEAD: usize = 10;
const SPARK_TAIL: usize = 29;

/// The counts in words, oldest first: `7 -> 4 -> 2`; a long run loses its middle. Empty for no counts.
pub fn trend(counts: &[u64]) -> String {
    let words = |part: &[u64]| part.iter().map(u64::to_string).collect::<Vec<_>>().join(" -> ");
    match split(counts, TREND_HEAD, TREND_TAIL) {
        None => words(counts),
        Some((head, tail)) => format!("{} -> ... -> {}", words(head), words(tail)),
    }
}

/// The counts as a sparkline between zero and the greatest; a long run loses its middle. Zero is always the
/// lowest mark, and only zero is. Empty for no counts.
pub fn line(counts: &[u64], glyphs: Glyphs) -> String {
    let (marks, gap) = match glyphs {
        Glyphs::Unicode => (&BLOCKS, "…"),
        Glyphs::Ascii => (&ASCII, "..."),
    };
    let top = u128::from(counts.iter().copied().max().unwrap_or(0));
    let draw = |part: &[u64]| part.iter().map(|count| mark(*count, top, marks)).collect::<String>();
    match split(counts, SPARK_HEAD, SPARK_TAIL) {
        None => draw(counts),
        Some((head, tail)) => format!("{}{gap}{}", draw(head), draw(tail)),
    }
}

fn mark(count: u64, top: u128, marks: &[char; 8]) -> char {
    let scaled = (u128::from(count) * 7).div_ceil(top.max(1));
    usize::try_from(scaled).ok().and_then(|level| marks.get(level)).copied().unwrap_or(marks[7])
}

fn split(counts: &[u64], head: usize, tail: usize) -> Option<(&[u64], &[u64])> {
    if counts.len() <= head + tail + 1 {
        return None;
    }
    Some((&counts[..head], &counts[counts.len() - tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_whole() {
        assert_eq!(trend(&[7, 4, 2]), "7 -> 4 -> 2");
        assert_eq!(trend(&[]), "");
        assert_eq!(line(&[7, 4, 2, 0], Glyphs::Unicode), "█▅▃▁");
        assert_eq!(line(&[7, 4, 2, 0], Glyphs::Ascii), "#=:_");
        assert_eq!(line(&[0, 0], Glyphs::Unicode), "▁▁");
        assert_eq!(line(&[], Glyphs::Unicode), "");
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(line(&[u64::MAX, 1, 0], Glyphs::Unicode), "█▂▁");
    }

    #[test]
    fn long_runs_lose_their_middle() {
        let counts: Vec<u64> = (0..100).rev().collect();
        assert_eq!(trend(&counts), "99 -> 98 -> 97 -> ... -> 6 -> 5 -> 4 -> 3 -> 2 -> 1 -> 0");
        assert_eq!(line(&counts, Glyphs::Unicode).chars().count(), 40);
    }
}
