//! The text of a report file, chunk by chunk: in the encoding of its byte order mark, or else of its XML
//! declaration, or else UTF-8.

use encoding_rs::{Decoder as Coder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::{events::Event, reader::Reader};

use crate::ReportProblem;

/// Bytes at the beginning of a report that tell its encoding.
pub(super) const HEAD: usize = 1024;

/// The text in place of bytes that are not of the encoding.
const REPLACEMENT: &str = "\u{fffd}";

/// Decodes one report. Bytes that are not of the encoding are replaced, and where the first of them was is kept: one
/// wrong byte in a log must not cost the report.
pub(super) struct Decoder {
    coder: Coder,
    /// The place of the first replacement.
    replaced: Option<u64>,
    /// Bytes taken.
    at: u64,
}

impl Decoder {
    /// For the report that begins with `head`: [`HEAD`] bytes, or all of a shorter one. XML may declare its
    /// encoding; any other text is UTF-8, unless it has a mark.
    pub(super) fn new(head: &[u8]) -> Result<Self, ReportProblem> {
        Ok(Self::of(match Encoding::for_bom(head) {
            Some((marked, _)) => marked,
            None => declared_encoding(head)?,
        }))
    }

    /// For text in that encoding, whose byte order mark is left out.
    pub(super) fn of(encoding: &'static Encoding) -> Self {
        Self { coder: encoding.new_decoder(), replaced: None, at: 0 }
    }

    /// True when the text is taken for UTF-8.
    pub(super) fn is_utf8(&self) -> bool {
        self.coder.encoding() == UTF_8
    }

    /// The remark about bytes that were replaced.
    pub(super) fn warning(&self) -> Option<String> {
        let encoding = self.coder.encoding().name();
        self.replaced.map(|at| {
            format!("not {encoding} at byte {at}: read with a replacement there; have the runner write UTF-8")
        })
    }

    /// Takes the next chunk and hands its text on.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        each: &mut dyn FnMut(&str) -> Result<(), ReportProblem>,
    ) -> Result<(), ReportProblem> {
        let Self { coder, replaced, at } = self;
        let mut buffer = [0_u8; 8 * 1024];
        loop {
            let (result, read, written) = coder.decode_to_utf8_without_replacement(bytes, &mut buffer, false);
            *at = at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            bytes = bytes.get(read..).unwrap_or_default();
            each(std::str::from_utf8(buffer.get(..written).unwrap_or_default()).unwrap_or_default())?;
            match result {
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(wrong, behind) => {
                    replaced.get_or_insert(at.saturating_sub(u64::from(wrong) + u64::from(behind)));
                    each(REPLACEMENT)?;
                }
            }
        }
    }

    /// The report has ended: one in UTF-8 must not end inside a character.
    pub(super) fn finish(&mut self) -> Result<(), ReportProblem> {
        let (result, ..) = self.coder.decode_to_utf8_without_replacement(b"", &mut [0; 16], true);
        if self.is_utf8() && matches!(result, DecoderResult::Malformed(..)) {
            return Err(ReportProblem::Truncated("it ends inside a character".to_owned()));
        }
        Ok(())
    }
}

/// The encoding that the XML declaration names, or UTF-8. A declaration that can be read as ASCII
/// is not in UTF-16, whatever it says: .NET writes that of a string into a file of UTF-8.
fn declared_encoding(head: &[u8]) -> Result<&'static Encoding, ReportProblem> {
    if head.starts_with(b"<\0?\0") {
        return Ok(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?") {
        return Ok(UTF_16BE);
    }
    let end = head.windows(2).position(|pair| pair == b"?>").map_or(0, |at| at + 2);
    let Ok(text) = std::str::from_utf8(head.get(..end).unwrap_or_default()) else { return Ok(UTF_8) };
    let mut reader = Reader::from_str(text.trim_start());
    let Ok(Event::Decl(declaration)) = reader.read_event() else { return Ok(UTF_8) };
    let Some(Ok(name)) = declaration.encoding() else { return Ok(UTF_8) };
    let unknown = || ReportProblem::Encoding(name.chars().take(40).collect());
    let named = Encoding::for_label(name.as_bytes()).ok_or_else(unknown)?;
    Ok(if [UTF_16LE, UTF_16BE].contains(&named) { UTF_8 } else { named })
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
    fn what_is_not_in_its_encoding_is_replaced_and_what_is_cut_is_named() {
        let odd = ReportProblem::Encoding("klingon".to_owned());
        let cut = ReportProblem::Truncated("it ends inside a character".to_owned());
        let cases: &[(&[u8], Result<&str, ReportProblem>)] = &[
            (b"<?xml version='1.0' encoding='klingon'?><x/>", Err(odd)),
            (b"<x>caf\xc3", Err(cut)),
            (b"<x>caf\xe9</x>", Ok("<x>caf\u{fffd}</x>")),
            (b"\xff<x/>\xfe", Ok("\u{fffd}<x/>\u{fffd}")),
            (b"<x>\xe2\x82x\xc3\xa9\xc3(</x>", Ok("<x>\u{fffd}x\u{e9}\u{fffd}(</x>")),
            (b"<x>\xed\xa0\x80</x>", Ok("<x>\u{fffd}\u{fffd}\u{fffd}</x>")),
            (b"\xff\xfe\x00\xdcx\0", Ok("\u{fffd}x")),
        ];
        for (bytes, expected) in cases {
            for size in [1, 2, 3, 1000] {
                let expected = expected.clone().map(str::to_owned);
                assert_eq!(text(bytes, size), expected, "{} {size}", bytes.escape_ascii());
            }
        }
        let mut decoder = Decoder::new(b"<x>").unwrap();
        decoder.push(b"<x>\xff\xff", &mut |_| Ok(())).unwrap();
        assert!(decoder.warning().unwrap().starts_with("not UTF-8 at byte 3:"));
    }
}
