//! Cuts a stream into lines in bounded memory, whatever is thrown at it.

use super::normalize::strip_ansi;
use super::utf16;

/// Which stream a chunk of output came from. Lines are put together per stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Standard output: where most reports are.
    Stdout,
    /// Standard error: where cargo reports builds and crashes, and some runners print their summary.
    Stderr,
}

/// Splits chunks of bytes into lines: without line end, without terminal escapes, invalid UTF-8 replaced.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    pending: Vec<u8>,
    cut: bool,
}

impl LineSplitter {
    /// Longest line that is looked at, in bytes; what comes after it up to the line end is dropped.
    pub(super) const MAX_LINE: usize = 64 * 1024;

    /// Takes the next chunk and hands on every line that it completes.
    pub(super) fn push(&mut self, mut bytes: &[u8], line: &mut dyn FnMut(&str)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.pending.is_empty() && head.len() <= Self::MAX_LINE {
                hand_on(head, line);
            } else {
                self.keep(head);
                hand_on(&self.pending, line);
                self.pending.clear();
            }
        }
        self.keep(bytes);
    }

    /// Hands on the last line if it had no line end.
    pub(super) fn finish(&mut self, line: &mut dyn FnMut(&str)) {
        if !self.pending.is_empty() {
            hand_on(&self.pending, line);
            self.pending.clear();
        }
    }

    /// True when a line was longer than what is looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = Self::MAX_LINE.saturating_sub(self.pending.len());
        if bytes.len() > room {
            self.cut = true;
        }
        self.pending.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

/// Hands on a line. One in which a terminal goes back to the beginning (progress that is drawn anew) is several: each
/// says what it said when it was seen.
fn hand_on(raw: &[u8], line: &mut dyn FnMut(&str)) {
    if let Some(text) = utf16::line(raw) {
        return line(&strip_ansi(text.trim_end_matches(['\r', '\n'])));
    }
    let end = raw.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
    let (drawn_over, last) = match memchr::memrchr(b'\r', &raw[..end]) {
        Some(at) => (&raw[..at], &raw[at + 1..end]),
        None => (&raw[..0], &raw[..end]),
    };
    for part in drawn_over.split(|byte| *byte == b'\r') {
        let text = String::from_utf8_lossy(part);
        let text = strip_ansi(&text);
        if !text.is_empty() {
            line(&text);
        }
    }
    line(&strip_ansi(&String::from_utf8_lossy(last)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(chunks: &[&[u8]]) -> Vec<String> {
        let (mut splitter, mut lines) = (LineSplitter::default(), Vec::new());
        for chunk in chunks {
            splitter.push(chunk, &mut |line| lines.push(line.to_owned()));
        }
        splitter.finish(&mut |line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn lines_come_out_whatever_the_chunks() {
        let cases: &[(&[&[u8]], &[&str])] = &[
            (&[b""], &[]),
            (&[b"a\nb"], &["a", "b"]),
            (&[b"a", b"b\r\n", b"\n"], &["ab", ""]),
            (&[b"\x1b[32mok\x1b[0m 1\n"], &["ok 1"]),
            (&[b"1/2\r\x1b[K2/2\r\r", b"\n\r\n"], &["1/2", "2/2", ""]),
            (&[b"\x1b[2K\r\ra\n1/2\r\x1b[K\n"], &["a", "1/2", ""]),
            (&[b"caf\xc3", b"\xa9\n\xff\n"], &["café", "\u{fffd}"]),
        ];
        for (chunks, lines) in cases {
            assert_eq!(split(chunks), *lines);
        }
    }

    #[test]
    fn an_endless_line_takes_bounded_memory() {
        let mut splitter = LineSplitter::default();
        for _ in 0..100 {
            splitter.push(&[b'x'; 10_000], &mut |_| {});
        }
        assert_eq!(splitter.pending.len(), LineSplitter::MAX_LINE);
        let whole = [vec![b'x'; 100_000], vec![b'\n']].concat();
        assert_eq!(split(&[&whole, b"next"])[0].len(), LineSplitter::MAX_LINE);
    }

    proptest! {
        #[test]
        fn chunk_borders_change_nothing(bytes: Vec<u8>, cut in 0_usize..64) {
            let cut = cut.min(bytes.len());
            prop_assert_eq!(split(&[&bytes]), split(&[&bytes[..cut], &bytes[cut..]]));
        }
    }
}
