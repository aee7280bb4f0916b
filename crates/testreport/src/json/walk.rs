//! A walk through one JSON document that comes in chunks: a report of any size in the memory of its longest
//! string, and of that only the beginning is kept.
//!
//! `json-event-parser` reads the tokens, as RFC 8259 has them: `NaN` is none, and neither is half of a surrogate pair.
//! The path of each, and the bounds, are added here.

use encoding_rs::UTF_8;
use json_event_parser::{JsonEvent, LowLevelJsonParser, LowLevelJsonParserResult};

use crate::{ReportProblem, cases::Cases, decode::Decoder, words::cut};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 128;

/// Bytes of a string that are kept.
const MAX_STRING: usize = 16 * 1024;

/// Bytes of the beginning of a string that are held until it ends: escapes write a byte with six.
const MAX_HELD: usize = 6 * MAX_STRING;

/// Longest key that any format has; a longer one is some other key.
const MAX_KEY: usize = 64;

/// Longest number.
const MAX_WORD: usize = 1024;

/// A node of a document, under a path such as `.testResults[].name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// An object or a list begins.
    Open,
    /// It ends.
    Close,
    /// A string; a long one is cut.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Word(&'a str),
}

/// The receiver of the nodes.
pub(super) type Visit<'v> = dyn FnMut(&str, Node<'_>) + 'v;

/// A format that is one document.
pub(super) trait Document {
    /// Takes the next node, under its path.
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>);

    /// True when the keys of the format have come.
    fn is_sure(&self) -> bool;

    /// The document is whole: holds what it claims against what it lists.
    fn conclude(&mut self, cases: &mut Cases);

    /// No more of it comes, whether it is whole or not.
    fn end(&mut self, _: &mut Cases) {}
}

/// One document, as far as it has come.
pub(super) struct Walk {
    decoder: Decoder,
    parser: LowLevelJsonParser,
    /// The token that is not whole yet.
    pending: String,
    place: Place,
    at: u64,
}

/// The place in the document.
#[derive(Default)]
struct Place {
    path: String,
    /// Lengths of the paths of the objects and lists that are open.
    open: Vec<usize>,
    is_done: bool,
}

impl Walk {
    pub(super) fn new() -> Self {
        let (decoder, mut parser) = (Decoder::of(UTF_8), LowLevelJsonParser::new());
        // It waits for three bytes, which may be a byte order mark.
        parser.parse_next(b"   ", false);
        Self { decoder, parser, pending: String::new(), place: Place::default(), at: 0 }
    }

    /// True when the document is whole.
    pub(super) fn is_done(&self) -> bool {
        self.place.is_done
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, bytes: &[u8], each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let Self { decoder, parser, pending, place, at } = self;
        decoder.push(bytes, &mut |text| {
            pending.push_str(text);
            Ok(())
        })?;
        // A string without its end was looked at before.
        let goes_on = pending.starts_with('"') && !bytes.iter().any(|byte| *byte == b'"' || *byte < b' ');
        if goes_on && pending.len() <= 2 * MAX_HELD {
            return Ok(());
        }
        let mut taken = 0;
        loop {
            let rest = pending.as_bytes().get(taken..).unwrap_or_default();
            let LowLevelJsonParserResult { event, consumed_bytes } = parser.parse_next(rest, false);
            taken += consumed_bytes;
            match event {
                Some(Ok(event)) => place.take(&event, each)?,
                Some(Err(error)) => {
                    let (at, what) = (error.location().start.offset, error.message().to_owned());
                    return Err(ReportProblem::Malformed { at, what });
                }
                None => break,
            }
        }
        pending.drain(..taken);
        *at = at.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        self.hold()
    }

    fn wrong<T>(&self, what: &str) -> Result<T, ReportProblem> {
        Err(ReportProblem::Malformed { at: self.at, what: what.to_owned() })
    }

    /// Looks at a token that has no end yet: it may be none whatever comes, or a string of which enough is held.
    fn hold(&mut self) -> Result<(), ReportProblem> {
        match self.pending.trim_ascii_start().as_bytes() {
            [_, ..] if self.is_done() => self.wrong("text after the end of the document"),
            [b'"', ..] => self.hold_string(),
            [b'-' | b'0'..=b'9' | b'a'..=b'z', ..]
                if self.pending.len() > MAX_WORD || self.pending.contains([' ', '\n', ',', ']', '}']) =>
            {
                self.wrong("no value that JSON knows")
            }
            _ => Ok(()),
        }
    }

    fn hold_string(&mut self) -> Result<(), ReportProblem> {
        let bytes = self.pending.as_bytes();
        if bytes.iter().any(|byte| *byte < b' ') {
            return self.wrong("a control character in a string");
        }
        let (mut at, mut kept, mut last) = (1, 1, 1);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            // Between two characters, not in the middle of a surrogate pair.
            let is_second = matches!(rest, [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..]);
            if self.pending.is_char_boundary(at) && !is_second && rest.len() > 3 {
                kept = if at <= MAX_HELD { at } else { kept };
                last = at;
            }
            at += match rest {
                [b'"', ..] => return self.wrong("half of a surrogate pair"),
                [b'\\', b'u', ..] => 6,
                [b'\\', ..] => 2,
                _ => 1,
            };
        }
        if bytes.len() > 2 * MAX_HELD {
            let dropped = format!("\"{}\"", self.pending.get(kept..last).unwrap_or_default());
            if kept == last || serde_json::from_str::<String>(&dropped).is_err() {
                return self.wrong("no text that JSON knows");
            }
            self.pending.drain(kept..last);
        }
        Ok(())
    }
}

impl Place {
    fn take(&mut self, event: &JsonEvent<'_>, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let node = match event {
            JsonEvent::StartObject | JsonEvent::StartArray if self.open.len() >= MAX_DEPTH => {
                return Err(ReportProblem::TooDeep(MAX_DEPTH));
            }
            JsonEvent::StartObject | JsonEvent::StartArray => {
                each(&self.path, Node::Open);
                self.open.push(self.path.len());
                self.path.push_str(if *event == JsonEvent::StartArray { "[]" } else { "" });
                return Ok(());
            }
            JsonEvent::EndObject | JsonEvent::EndArray => {
                self.path.truncate(self.open.pop().unwrap_or(0));
                self.is_done = self.open.is_empty();
                Node::Close
            }
            JsonEvent::ObjectKey(key) => {
                let strange = key.len() > MAX_KEY || key.contains(['.', '[']);
                self.path.truncate(self.open.last().copied().unwrap_or(0));
                self.path.extend([".", if strange { "?" } else { key }]);
                return Ok(());
            }
            JsonEvent::String(text) => Node::Text(cut(text, MAX_STRING)),
            JsonEvent::Number(number) => Node::Word(number),
            JsonEvent::Boolean(true) => Node::Word("true"),
            JsonEvent::Boolean(false) => Node::Word("false"),
            JsonEvent::Null => Node::Word("null"),
            JsonEvent::Eof => return Ok(()),
        };
        each(&self.path, node);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
