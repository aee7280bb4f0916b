//! The text of a report file, chunk by chunk: in the encoding of its byte order mark, or else of its XML
//! declaration, or else UTF-8.

use encoding_rs::{Decoder as Coder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::problem::ReportProblem;

/// Bytes at the beginning of a report that tell its encoding.
pub(super) const HEAD: usize = 1024;

/// Longest UTF-8 sequence.
const MAX_SEQUENCE: usize = 4;

/// Decodes one report. Nothing is replaced: bytes that are not of the encoding are an error.
pub(super) struct Decoder {
    coder: Option<Coder>,
    /// Bytes at the end of the last chunk that are no whole character.
    torn: Vec<u8>,
    /// Bytes taken.
    at: u64,
}

impl Decoder {
    /// For the report that begins with `head`: [`HEAD`] bytes, or all of a shorter one. XML may declare its
    /// encoding; any other text is UTF-8, unless it has a mark.
    pub(super) fn new(head: &[u8]) -> Result<Self, ReportProblem> {
        let encoding = match Encoding::for_bom(head) {
            Some((marked, _)) => Some(marked).filter(|marked| *marked != UTF_8),
            None => declared_encoding(head)?,
        };
        let coder = encoding.map(Encoding::new_decoder);
        Ok(Self { coder, torn: Vec::new(), at: 0 })
    }

    /// True when the text is taken for UTF-8.
    pub(super) fn is_utf8(&self) -> bool {
        self.coder.is_none()
    }

    /// Takes the next chunk and hands its text on.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(&str) -> Result<(), ReportProblem>,
    ) -> Result<(), ReportProblem> {
        if let Some(coder) = &mut self.coder {
            return decode(coder, bytes, &mut self.at, each);
        }
        let mut rest = bytes;
        while let (false, Some((first, tail))) = (self.torn.is_empty(), rest.split_first()) {
            self.torn.push(*first);
            rest = tail;
            match std::str::from_utf8(&self.torn) {
                Ok(text) => {
                    each(if self.at == 2 { text.trim_start_matches('\u{feff}') } else { text })?;
                    self.torn.clear();
                }
                Err(error) if error.error_len().is_some() || self.torn.len() >= MAX_SEQUENCE => {
                    return Err(ReportProblem::NotUtf8(self.at));
                }
                Err(_) => {}
            }
            self.at = self.at.saturating_add(1);
        }
        let (text, tail) = match std::str::from_utf8(rest) {
            Ok(text) => (text, &[][..]),
            Err(error) => {
                let (valid, tail) = rest.split_at(error.valid_up_to());
                let text = std::str::from_utf8(valid).unwrap_or_default();
                if error.error_len().is_some() {
                    each(text)?;
                    return Err(ReportProblem::NotUtf8(self.at.saturating_add(length(valid))));
                }
                (text, tail)
            }
        };
        self.torn.extend_from_slice(tail);
        self.at = self.at.saturating_add(length(rest));
        let text = if self.at == length(rest) { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        each(text)
    }

    /// The report has ended: it must not end inside a character.
    pub(super) fn finish(&self) -> Result<(), ReportProblem> {
        if self.torn.is_empty() {
            return Ok(());
        }
        Err(ReportProblem::Truncated("it ends inside a character".to_owned()))
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn decode(
    coder: &mut Coder,
    mut bytes: &[u8],
    at: &mut u64,
    each: &mut dyn FnMut(&str) -> Result<(), ReportProblem>,
) -> Result<(), ReportProblem> {
    let mut buffer = [0_u8; 8 * 1024];
    loop {
        let (result, read, written) = coder.decode_to_utf8_without_replacement(bytes, &mut buffer, false);
        *at = at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        bytes = bytes.get(read..).unwrap_or_default();
        let text = std::str::from_utf8(buffer.get(..written).unwrap_or_default()).unwrap_or_default();
        each(text)?;
        match result {
            DecoderResult::InputEmpty => return Ok(()),
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                return Err(ReportProblem::NotInEncoding { encoding: coder.encoding().name(), at: *at });
            }
        }
    }
}

/// The encoding that the XML declaration names, unless it is UTF-8. A declaration that can be read as ASCII
/// is not in UTF-16, whatever it says: .NET writes that of a string into a file of UTF-8.
fn declared_encoding(head: &[u8]) -> Result<Option<&'static Encoding>, ReportProblem> {
    if head.starts_with(b"<\0?\0") {
        return Ok(Some(UTF_16LE));
    }
    if head.starts_with(b"\0<\0?") {
        return Ok(Some(UTF_16BE));
    }
    let end = head.windows(2).position(|pair| pair == b"?>").map_or(0, |at| at + 2);
    let Ok(text) = std::str::from_utf8(head.get(..end).unwrap_or_default()) else { return Ok(None) };
    let mut reader = Reader::from_str(text.trim_start());
    let Ok(Event::Decl(declaration)) = reader.read_event() else { return Ok(None) };
    let Some(Ok(name)) = declaration.encoding() else { return Ok(None) };
    let unknown = || ReportProblem::Encoding(name.chars().take(40).collect());
    let named = Encoding::for_label(name.as_bytes()).ok_or_else(unknown)?;
    Ok(Some(named).filter(|named| ![UTF_8, UTF_16LE, UTF_16BE].contains(named)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], size: usize) -> Result<String, ReportProblem> {
        let mut decoder = Decoder::new(bytes.get(..HEAD).unwrap_or(bytes))?;
        let mut whole = String::new();
        for chunk in bytes.chunks(size) {
            decoder.push(chunk, &mut |text| {
                whole += text;
                Ok(())
            })?;
        }
        decoder.finish().map(|()| whole)
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn encodings_that_are_read_wherever_chunks_end() {
        let marked = utf16("\u{feff}<?xml version='1.0' encoding='UTF-16'?><x>é😀</x>");
        let cases: &[(&[u8], &str)] = &[
            (b"", ""),
            (b"<x/>", "<x/>"),
            (b"\xef\xbb\xbf<x>caf\xc3\xa9 \xf0\x9f\x98\x80</x>", "<x>caf\u{e9} 😀</x>"),
            (&marked, "<x>é😀</x>"),
            (&marked[2..], "<x>é😀</x>"),
            (b"\xfe\xff\0<\0x\0/\0>", "<x/>"),
            (b"\0<\0?\0x\0?\0>", "<?x?>"),
            (b"<?xml version='1.0' encoding='utf-16'?><x>caf\xc3\xa9</x>", "caf\u{e9}"),
            (b"<?xml version='1.0' encoding='ISO-8859-1'?><x>caf\xe9</x>", "caf\u{e9}"),
            (b"<?xml version='1.0' encoding=\"Shift_JIS\"?><x>\x83e\x83X\x83g</x>", "テスト"),
        ];
        for (bytes, part) in cases {
            for size in [1, 2, 3, 5, 1000] {
                let text = text(bytes, size).expect("an encoding that is read");
                assert!(text.contains(part) && !text.starts_with('\u{feff}'), "{text} {size}");
            }
        }
    }

    #[test]
    fn what_is_not_in_its_encoding_is_named() {
        let odd = ReportProblem::Encoding("klingon".to_owned());
        let cut = ReportProblem::Truncated("it ends inside a character".to_owned());
        let cases: &[(&[u8], ReportProblem)] = &[
            (b"<?xml version='1.0' encoding='klingon'?><x/>", odd),
            (b"<x>caf\xe9</x>", ReportProblem::NotUtf8(6)),
            (b"<x>\xed\xa0\x80</x>", ReportProblem::NotUtf8(3)),
            (b"<x>caf\xc3", cut),
            (b"\xff\xfe\x00\xdcx\0", ReportProblem::NotInEncoding { encoding: "UTF-16LE", at: 4 }),
        ];
        for (bytes, problem) in cases {
            assert_eq!(text(bytes, 1000).as_ref(), Err(problem), "{bytes:?}");
            assert!(text(bytes, 1).is_err());
        }
    }
}
