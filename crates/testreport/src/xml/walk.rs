//! A streaming walk over an XML report: every dialect sees the same few events, and the bounds hold for all.
//!
//! No tree is built and nothing recurses, so depth and size cost nothing but time. DTDs are skipped and
//! entities other than the five of XML are never expanded. That every element is closed is checked here:
//! the parser itself accepts a document that just ends.
//!
//! A character that had to be replaced (a NUL, bytes that are no UTF-8) is let pass in texts and in values that only
//! name something. In markup, and in values that decide how a test ended, it makes the report malformed.

use std::borrow::Cow;

use quick_xml::errors::{Error, SyntaxError};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{escape::resolve_predefined_entity, reader::Reader};

use super::pieces::Pieces;
use crate::{ReportProblem, WordList, words::RUNNERS};

/// Deepest nesting of elements that is followed.
const MAX_DEPTH: usize = 1000;

/// Attributes of one element that are looked at.
const MAX_ATTRIBUTES: usize = 64;

/// Longest name of an element.
const MAX_NAME: usize = 1024;

/// The character in place of an unreadable part.
const REPLACED: char = '\u{fffd}';

/// Attributes whose values only name or describe.
const DESCRIPTIVE: WordList = WordList::section(RUNNERS, "descriptive attributes of XML");

/// A node of a document.
pub(super) enum Node<'a> {
    /// An element begins.
    Open(Element<'a>),
    /// Text, character data or a resolved reference, unchanged.
    Text(&'a str),
    /// The innermost open element ends.
    Close,
}

pub(super) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    /// The name without its namespace prefix.
    pub(super) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of an attribute; unchanged from the file when a reference in it cannot be resolved.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.attributes([name]).into_iter().flatten().next().map(Cow::into_owned)
    }

    /// The values of several attributes, in one pass.
    pub(super) fn attributes<const N: usize>(&self, names: [&str; N]) -> [Option<Cow<'_, str>>; N] {
        let mut values = [const { None }; N];
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        for attribute in attributes.take(MAX_ATTRIBUTES).filter_map(Result::ok) {
            let wanted = names.iter().zip(&mut values).find(|(name, _)| **name == attribute.key.as_ref());
            if let Some((_, value @ None)) = wanted {
                *value = Some(unescaped(attribute.value));
            }
        }
        values
    }
}

fn unescaped(value: Cow<'_, str>) -> Cow<'_, str> {
    match quick_xml::escape::unescape(&value) {
        Ok(Cow::Owned(unescaped)) => Cow::Owned(unescaped),
        Ok(Cow::Borrowed(_)) | Err(_) => value,
    }
}

/// Walks through a document that comes in chunks. An error says where it ends; what was handed on before
/// stays true.
#[derive(Default)]
pub(super) struct Walk {
    pieces: Pieces,
    elements: Elements,
    /// Bytes that have come.
    at: u64,
    /// The place of the first NUL.
    nul: Option<u64>,
}

/// The receiver of the nodes of a walk.
pub(super) type Visit<'v> = dyn FnMut(Node<'_>) -> Result<(), ReportProblem> + 'v;

impl Walk {
    pub(super) fn new() -> Self {
        Self { pieces: Pieces::new(), ..Self::default() }
    }

    /// True when the root element has begun and ended.
    pub(super) fn is_whole(&self) -> bool {
        self.elements.seen > 0 && self.elements.open.is_empty()
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, text: &str, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        if let Some(nul) = memchr::memchr(0, text.as_bytes()) {
            self.nul.get_or_insert(self.at.saturating_add(bytes(nul)));
            return self.push(&text.replace('\0', "\u{fffd}"), each);
        }
        let before = self.at.saturating_sub(bytes(self.pieces.all().len()));
        let cut = self.pieces.push(text);
        visit(self.pieces.whole(), before, &mut self.elements, each)?;
        self.pieces.forget();
        self.at = self.at.saturating_add(bytes(text.len()));
        cut
    }

    /// The remark about NUL bytes.
    pub(super) fn warning(&self) -> Option<String> {
        self.nul.map(|at| format!("a NUL at byte {at}: read with a replacement there"))
    }

    /// The document has ended: whether it is whole shows now.
    pub(super) fn finish(mut self, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let before = self.at.saturating_sub(bytes(self.pieces.all().len()));
        visit(self.pieces.all(), before, &mut self.elements, each)?;
        match (self.elements.open.len(), self.elements.seen) {
            (0, 0) => Err(ReportProblem::Truncated("no element at all".to_owned())),
            (0, _) => Ok(()),
            (depth, _) => Err(ReportProblem::Truncated(format!("{depth} elements are not closed"))),
        }
    }
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Reads pieces that are whole. They may begin inside elements, so names are matched here and not there.
fn visit(pieces: &str, at: u64, elements: &mut Elements, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
    // At the beginning of what it is given the parser takes a byte order mark for one; here it is text.
    if pieces.starts_with('\u{feff}') && !elements.open.is_empty() {
        each(Node::Text("\u{feff}"))?;
    }
    let mut reader = Reader::from_str(pieces);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.expand_empty_elements = true;
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return Err(problem_of(&error, at.saturating_add(reader.error_position()))),
        };
        match event {
            Event::Start(start) => {
                elements.seen += 1;
                sound(&start, at.saturating_add(reader.buffer_position()))?;
                elements.begin(start.name().into_inner())?;
                each(Node::Open(Element(start)))?;
            }
            Event::End(end) => {
                elements.end(end.name().into_inner(), at.saturating_add(reader.buffer_position()))?;
                each(Node::Close)?;
            }
            Event::Text(content) => each(Node::Text(&content.into_inner()))?,
            Event::CData(content) => each(Node::Text(&content.into_inner()))?,
            Event::GeneralRef(reference) => each(Node::Text(&resolve(&reference)))?,
            Event::DocType(declared) if replaces(&declared) => {
                let what = "an entity of its own, whose content is not read".to_owned();
                return Err(ReportProblem::Malformed { at, what });
            }
            Event::Empty(_) | Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => return Ok(()),
        }
    }
}

/// True where an entity that the document declares may stand for more than text.
fn replaces(declared: &str) -> bool {
    declared.split("<!ENTITY").skip(1).any(|entity| {
        let entity = entity.split("<!").next().unwrap_or_default();
        ["<", "&", "%", "SYSTEM", "PUBLIC"].iter().any(|mark| entity.contains(mark))
    })
}

/// That nothing was replaced in a tag but in values that only describe.
fn sound(start: &BytesStart<'_>, at: u64) -> Result<(), ReportProblem> {
    let tag: &str = start;
    if !tag.contains(REPLACED) {
        return Ok(());
    }
    let mut attributes = start.attributes();
    attributes.with_checks(false);
    let mut rest = tag.matches(REPLACED).count();
    for attribute in attributes.filter_map(Result::ok) {
        if DESCRIPTIVE.contains(attribute.key.local_name().as_ref()) {
            rest = rest.saturating_sub(attribute.value.matches(REPLACED).count());
        }
    }
    if rest == 0 {
        return Ok(());
    }
    Err(ReportProblem::Malformed { at, what: "a NUL or a byte that is no text in a tag".to_owned() })
}

/// The elements of a document.
#[derive(Debug, Default)]
struct Elements {
    seen: u64,
    /// The names of those that are open, bounded in number and length.
    open: Vec<String>,
}

impl Elements {
    fn begin(&mut self, name: &str) -> Result<(), ReportProblem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(ReportProblem::TooDeep(MAX_DEPTH));
        }
        if name.len() > MAX_NAME {
            return Err(ReportProblem::PieceTooLong(MAX_NAME));
        }
        self.open.push(name.to_owned());
        Ok(())
    }

    fn end(&mut self, name: &str, at: u64) -> Result<(), ReportProblem> {
        let opened = self.open.pop();
        if opened.as_deref() == Some(name) {
            return Ok(());
        }
        let shown = |name: &str| name.chars().take(80).collect::<String>();
        let open = opened.map_or_else(|| "nothing".to_owned(), |opened| format!("<{}>", shown(&opened)));
        Err(ReportProblem::Malformed { at, what: format!("</{}> where {open} is open", shown(name)) })
    }
}

/// A character reference or one of the five entities; any other stays unchanged.
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
        let mut each = |node: Node<'_>| {
            match node {
                Node::Open(element) => {
                    let value = element.attribute("a").unwrap_or_default();
                    out += &["<", element.name(), " ", &format!("{value:?}"), ">"].concat();
                }
                Node::Text(text) => out += text,
                Node::Close => out += "</>",
            }
            Ok(())
        };
        let mut walk = Walk::new();
        let middle = xml.find('\u{feff}').filter(|at| *at > 0).unwrap_or(0);
        walk.push(&xml[..middle], &mut each)?;
        walk.push(&xml[middle..], &mut each)?;
        walk.finish(&mut each)?;
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
            ("<x name='b\0'>a\0<![CDATA[\0]]></x>", "<x \"\">a\u{fffd}\u{fffd}</>"),
            ("<x>\u{feff}a</x>", "<x \"\">\u{feff}a</>"),
        ];
        for (xml, expected) in cases {
            assert_eq!(texts(xml).as_deref(), Ok(expected), "{xml}");
        }
    }

    #[test]
    fn what_is_not_whole_or_not_well_formed() {
        let truncated = [
            "",
            "   ",
            "<x>",
            "<x><y/>",
            "<x a='",
            "<x><!-- ",
            "<x><![CDATA[ ",
            "<!DOCTYPE x [",
            "<?xml ",
            "<x></x",
        ];
        for xml in truncated {
            assert!(matches!(texts(xml), Err(ReportProblem::Truncated(_))), "{xml} {:?}", texts(xml));
        }
        for xml in [
            "<x></y>",
            "</x>",
            "<x>& </x>",
            "<x><!oops></x>",
            "<x\0></x\0>",
            "<x a\0='1'/>",
            "<x a='1'\0/>",
            "<x status='fail\0ed'/>",
            "<\0x/>",
            "<x><y></x></y>",
        ] {
            assert!(matches!(texts(xml), Err(ReportProblem::Malformed { .. })), "{xml} {:?}", texts(xml));
        }
        assert_eq!(texts(&"<x>".repeat(20_000)), Err(ReportProblem::TooDeep(MAX_DEPTH)));
    }
}
