//! A streaming walk over an XML report: every dialect sees the same few events, and the bounds hold for all.
//!
//! No tree is built and nothing recurses, so depth and size cost nothing but time. DTDs are skipped and
//! entities other than the five of XML are never expanded. That every element is closed is checked here:
//! the parser itself accepts a document that just ends.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::problem::ReportProblem;

/// Deepest nesting of elements that is followed.
const MAX_DEPTH: usize = 1000;

/// Attributes of one element that are looked at.
const MAX_ATTRIBUTES: usize = 64;

/// Bytes in which an XML declaration is looked for.
const MAX_DECLARATION: usize = 1024;

/// What the walk meets.
pub(super) enum Node<'a> {
    /// An element begins.
    Open(Element<'a>),
    /// Text, character data or a resolved reference, as it stands.
    Text(Cow<'a, str>),
    /// The innermost open element ends.
    Close,
}

/// An element that begins.
pub(super) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    /// The name without its namespace prefix.
    pub(super) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of an attribute; as it stands in the file when a reference in it cannot be resolved.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let mut known = attributes.take(MAX_ATTRIBUTES).filter_map(Result::ok);
        let found = known.find(|attribute| attribute.key.as_ref() == name)?;
        let unescaped = quick_xml::escape::unescape(&found.value);
        Some(unescaped.map_or_else(|_| found.value.to_string(), Cow::into_owned))
    }
}

/// The text of a report file: in the encoding of its byte order mark, or else of its XML declaration, or
/// else UTF-8. UTF-8 that is cut inside a character is cut before it.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ReportProblem> {
    let foreign = match Encoding::for_bom(bytes) {
        Some((marked, _)) => Some(marked).filter(|marked| *marked != UTF_8),
        None => declared_encoding(bytes)?,
    };
    if let Some(encoding) = foreign {
        return Ok(encoding.decode(bytes).0);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            match (error.error_len(), std::str::from_utf8(valid)) {
                (None, Ok(text)) => Ok(Cow::Borrowed(text)),
                (Some(_), _) | (None, Err(_)) => Err(ReportProblem::NotUtf8(error.valid_up_to())),
            }
        }
    }
}

/// The encoding that the XML declaration names, unless it is UTF-8. A declaration that can be read as ASCII
/// is not in UTF-16, whatever it says: .NET writes that of a string into a file of UTF-8.
fn declared_encoding(bytes: &[u8]) -> Result<Option<&'static Encoding>, ReportProblem> {
    if bytes.starts_with(b"<\0?\0") {
        return Ok(Some(UTF_16LE));
    }
    let head = bytes.get(..MAX_DECLARATION).unwrap_or(bytes);
    let end = head.windows(2).position(|pair| pair == b"?>").map_or(0, |at| at + 2);
    let head = head.get(..end).unwrap_or_default();
    let Ok(text) = std::str::from_utf8(head) else { return Ok(None) };
    let mut reader = Reader::from_str(text.trim_start());
    let Ok(Event::Decl(declaration)) = reader.read_event() else { return Ok(None) };
    let Some(Ok(name)) = declaration.encoding() else { return Ok(None) };
    let unknown = || ReportProblem::Encoding(name.chars().take(40).collect());
    let named = Encoding::for_label(name.as_bytes()).ok_or_else(unknown)?;
    Ok(Some(named).filter(|named| ![UTF_8, UTF_16LE, UTF_16BE].contains(named)))
}

/// The name of the root element without its namespace prefix; `None` when none is found.
pub(super) fn root_name(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(root) | Event::Empty(root)) => return Some(Element(root).name().to_owned()),
            Ok(Event::Eof) | Err(_) => return None,
            Ok(
                Event::End(_)
                | Event::Text(_)
                | Event::CData(_)
                | Event::GeneralRef(_)
                | Event::Decl(_)
                | Event::Comment(_)
                | Event::PI(_)
                | Event::DocType(_),
            ) => {}
        }
    }
}

/// Walks through a document. An error says where it ends; what was handed on before stays true.
pub(super) fn walk(
    text: &str,
    mut each: impl FnMut(Node<'_>) -> Result<(), ReportProblem>,
) -> Result<(), ReportProblem> {
    let mut reader = Reader::from_str(text);
    let (mut depth, mut elements) = (0_usize, 0_u64);
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return Err(problem_of(&error, reader.error_position())),
        };
        match event {
            Event::Start(start) => {
                depth += 1;
                elements += 1;
                if depth > MAX_DEPTH {
                    return Err(ReportProblem::TooDeep(MAX_DEPTH));
                }
                each(Node::Open(Element(start)))?;
            }
            Event::Empty(start) => {
                elements += 1;
                each(Node::Open(Element(start)))?;
                each(Node::Close)?;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                each(Node::Close)?;
            }
            Event::Text(content) => each(Node::Text(content.into_inner()))?,
            Event::CData(content) => each(Node::Text(content.into_inner()))?,
            Event::GeneralRef(reference) => each(Node::Text(resolve(&reference)))?,
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof if depth > 0 => {
                return Err(ReportProblem::Truncated(format!("{depth} elements are not closed")));
            }
            Event::Eof if elements == 0 => {
                return Err(ReportProblem::Truncated("no element at all".to_owned()));
            }
            Event::Eof => return Ok(()),
        }
    }
}

/// A character reference or one of the five entities; any other stays as it stands.
fn resolve<'a>(reference: &BytesRef<'_>) -> Cow<'a, str> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Cow::Owned(character.to_string());
    }
    let name: &str = reference;
    resolve_predefined_entity(name).map_or_else(|| Cow::Owned(format!("&{name};")), Cow::Borrowed)
}

fn problem_of(error: &Error, at: u64) -> ReportProblem {
    if let Error::Syntax(syntax) = error
        && *syntax != SyntaxError::InvalidBangMarkup
    {
        return ReportProblem::Truncated(syntax.to_string());
    }
    ReportProblem::Malformed { at, what: error.to_string().chars().take(200).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(xml: &str) -> Result<String, ReportProblem> {
        let mut out = String::new();
        walk(xml, |node| {
            match node {
                Node::Open(element) => {
                    let value = element.attribute("a").unwrap_or_default();
                    out += &["<", element.name(), " ", &format!("{value:?}"), ">"].concat();
                }
                Node::Text(text) => out += &text,
                Node::Close => out += "</>",
            }
            Ok(())
        })?;
        Ok(out)
    }

    #[test]
    fn nodes() {
        let cases = [
            ("<x a='1'/>", "<x \"1\"></>"),
            ("\u{feff}<?xml version='1.0' encoding='utf-8'?><x>a&lt;b</x>", "<x \"\">a<b</>"),
            ("<n:x a='&quot;&#x41;'><![CDATA[<raw>&]]></n:x>", "<x \"\\\"A\"><raw>&</>"),
            ("<!DOCTYPE x [<!ENTITY e \"boom\">]><x a='&e;'>&e;</x>", "<x \"&e;\">&e;</>"),
            ("<x>&#0;</x>", "<x \"\">&#0;</>"),
        ];
        for (xml, expected) in cases {
            assert_eq!(texts(xml).as_deref(), Ok(expected), "{xml}");
        }
    }

    #[test]
    fn what_is_not_whole_or_not_well_formed() {
        let truncated =
            ["", "   ", "<x>", "<x><y/>", "<x a='", "<x><!-- ", "<x><![CDATA[ ", "<!DOCTYPE x [", "<?xml "];
        for xml in truncated {
            assert!(matches!(texts(xml), Err(ReportProblem::Truncated(_))), "{xml} {:?}", texts(xml));
        }
        for xml in ["<x></y>", "</x>", "<x>& </x>", "<x><!oops></x>"] {
            assert!(matches!(texts(xml), Err(ReportProblem::Malformed { .. })), "{xml} {:?}", texts(xml));
        }
        assert_eq!(texts(&"<x>".repeat(20_000)), Err(ReportProblem::TooDeep(MAX_DEPTH)));
    }

    #[test]
    fn encodings() {
        let utf16: Vec<u8> = "\u{feff}<?xml version='1.0' encoding='UTF-16'?><x>é</x>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let cases: &[(&[u8], &str)] = &[
            (b"<x/>", "<x/>"),
            (b"\xef\xbb\xbf<x>caf\xc3\xa9</x>", "caf\u{e9}"),
            (&utf16, "<x>é</x>"),
            (&utf16[2..], "<x>é</x>"),
            (b"\xfe\xff\0<\0x\0/\0>", "<x/>"),
            (b"<?xml version='1.0' encoding='utf-16'?><x>caf\xc3\xa9</x>", "caf\u{e9}"),
            (b"<?xml version='1.0' encoding='ISO-8859-1'?><x>caf\xe9</x>", "caf\u{e9}"),
            (b"<?xml version='1.0' encoding=\"Shift_JIS\"?><x>\x83e\x83X\x83g</x>", "テスト"),
            (b"<x>caf\xc3", "<x>caf"),
        ];
        for (bytes, part) in cases {
            let text = decode(bytes).expect("an encoding that is read");
            assert!(text.contains(part), "{text}");
        }
        let odd = b"<?xml version='1.0' encoding='klingon'?><x/>";
        assert_eq!(decode(odd), Err(ReportProblem::Encoding("klingon".to_owned())));
        assert_eq!(decode(b"<x>caf\xe9</x>"), Err(ReportProblem::NotUtf8(6)));
    }

    #[test]
    fn roots() {
        let cases =
            [("<?xml version='1.0'?><!-- <y/> --><n:x a='1'>", Some("x")), ("", None), ("text", None)];
        for (xml, name) in cases {
            assert_eq!(root_name(xml).as_deref(), name, "{xml}");
        }
    }
}
