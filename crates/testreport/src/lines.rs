//! Cuts a stream into lines in bounded memory, whatever is thrown at it.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::{decode::Decoder, normalize::strip_ansi};

/// The stream of a chunk of output. Lines are put together per stream.
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
    if let Some(text) = line_of_utf16(raw) {
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

/// Bytes that tell.
const HEAD: usize = 4;

/// Decodes a stream that begins in UTF-16, and passes any other on as it is.
pub(super) struct Utf16Filter {
    state: State,
}

enum State {
    /// The first bytes, which do not tell yet.
    Head(Vec<u8>),
    Plain,
    Decoded(Box<Decoder>),
}

impl Default for Utf16Filter {
    fn default() -> Self {
        Self { state: State::Head(Vec::new()) }
    }
}

impl Utf16Filter {
    /// Takes the next chunk and hands on what it comes to in UTF-8.
    pub(super) fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
        match &mut self.state {
            State::Plain => each(bytes),
            State::Decoded(decoder) => decode(decoder, bytes, each),
            State::Head(head) => {
                let begins_plainly = head.is_empty() && bytes.len() >= HEAD && encoding_of(bytes).is_none();
                if begins_plainly {
                    self.state = State::Plain;
                    return each(bytes);
                }
                head.extend_from_slice(bytes);
                if head.len() >= HEAD {
                    self.begin(each);
                }
            }
        }
    }

    /// The stream has ended.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(&[u8])) {
        self.begin(each);
    }

    fn begin(&mut self, each: &mut dyn FnMut(&[u8])) {
        let State::Head(head) = &mut self.state else { return };
        let head = std::mem::take(head);
        let Some(encoding) = encoding_of(&head) else {
            self.state = State::Plain;
            if !head.is_empty() {
                each(&head);
            }
            return;
        };
        let mut decoder = Box::new(Decoder::of(encoding));
        decode(&mut decoder, &head, each);
        self.state = State::Decoded(decoder);
    }
}

/// By its mark, or by the zeros beside plain characters.
fn encoding_of(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [one, 0, two, 0, ..] if *one != 0 && *two != 0 => Some(UTF_16LE),
        [0, one, 0, two, ..] if *one != 0 && *two != 0 => Some(UTF_16BE),
        _ => None,
    }
}

fn decode(decoder: &mut Decoder, bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
    let _ = decoder.push(bytes, &mut |text| {
        each(text.as_bytes());
        Ok(())
    });
}

/// A line of UTF-16 in a stream of other text, cut at the byte of its line end: half of the unit of that end precedes
/// the line or follows it. `None` where it is other text.
fn line_of_utf16(raw: &[u8]) -> Option<String> {
    let zeros = memchr::memchr_iter(0, raw).count();
    if raw.len() < HEAD || zeros.saturating_mul(3) < raw.len() {
        return None;
    }
    let unmarked = raw.strip_prefix(b"\xff\xfe").or_else(|| raw.strip_prefix(b"\xfe\xff")).unwrap_or(raw);
    // After the line end of little endian its second byte remains.
    let little = match unmarked {
        [0, rest @ ..] if unmarked.len() % 2 == 1 && zeros_at(rest, 1) > zeros_at(rest, 0) => Some(rest),
        _ if zeros_at(unmarked, 1) > zeros_at(unmarked, 0) => Some(unmarked),
        _ => None,
    };
    let units: Vec<u16> = match little {
        Some(text) => text.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect(),
        None => unmarked.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect(),
    };
    Some(String::from_utf16_lossy(&units))
}

/// The number of zeros among every second byte.
fn zeros_at(bytes: &[u8], first: usize) -> usize {
    bytes.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count()
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

#[cfg(test)]
mod utf16_tests {
    use super::*;

    const TEXT: &str = "✓ a\r\n1 failed in 0.1s\n";

    fn little() -> Vec<u8> {
        TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn big() -> Vec<u8> {
        TEXT.encode_utf16().flat_map(u16::to_be_bytes).collect()
    }

    fn decoded(bytes: &[u8], size: usize) -> Vec<u8> {
        let (mut filter, mut out) = (Utf16Filter::default(), Vec::new());
        for chunk in bytes.chunks(size) {
            filter.push(chunk, &mut |text| out.extend_from_slice(text));
        }
        filter.finish(&mut |text| out.extend_from_slice(text));
        out
    }

    #[test]
    fn streams_are_decoded_whatever_the_chunks() {
        let marked = [b"\xff\xfe".to_vec(), little()].concat();
        let other = [b"\xfe\xff".to_vec(), big()].concat();
        let plain: Vec<u8> = "ab\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for size in 1..9 {
            assert_eq!(decoded(&marked, size), TEXT.as_bytes(), "{size}");
            assert_eq!(decoded(&other, size), TEXT.as_bytes(), "{size}");
            assert_eq!(decoded(&plain, size), b"ab\n", "{size}");
            for same in [&b"ok 1\n"[..], b"", b"a", b"\0", b"\xff\xff\0\0", b"a\0b", b"\xef\xbb\xbfok"] {
                assert_eq!(decoded(same, size), same, "{size} {same:?}");
            }
        }
    }

    #[test]
    fn lines_in_the_middle_are_decoded() {
        for bytes in [little(), big()] {
            let lines: Vec<Option<String>> = bytes.split(|byte| *byte == b'\n').map(line_of_utf16).collect();
            assert_eq!(lines[1].as_deref(), Some("1 failed in 0.1s"), "{lines:?}");
        }
        for other in [&b"1 failed"[..], b"", b"\0", b"a\0b\xc3\xa9 c d e f g"] {
            assert_eq!(line_of_utf16(other), None, "{other:?}");
        }
    }
}
