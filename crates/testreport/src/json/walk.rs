//! A walk through one JSON document that comes in chunks: a report of any size in the memory of its longest
//! string, and of that only the beginning is kept.
//!
//! JSON is read as RFC 8259 has it: `NaN` is none, and neither is half of a surrogate pair.

use serde::de::IgnoredAny;

use crate::{ReportProblem, cases::Cases};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 128;

/// Bytes of a string that are kept.
const MAX_STRING: usize = 16 * 1024;

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
pub(super) type Visit<'v> = dyn FnMut(&str, Node<'_>) -> Result<(), ReportProblem> + 'v;

/// A format that is one document.
pub(super) trait Document {
    /// Takes the next node, under its path.
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) -> Result<(), ReportProblem>;

    /// True when the keys of the format have come.
    fn is_sure(&self) -> bool;

    /// The document is whole: holds what it claims against what it lists.
    fn conclude(&mut self, cases: &mut Cases) -> Result<(), ReportProblem>;

    /// No more of it comes, whether it is whole or not.
    fn end(&mut self, _: &mut Cases) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    List,
}

/// The place of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Value,
    /// A value, or the end of an empty list.
    First,
    /// A key, or the end of an empty object.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end of what is open.
    After,
    String(Role),
    Escape(Role),
    /// Hexadecimal digits of `\u`, with how many have come.
    Unicode(Role, u8),
    Word,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

/// One document, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Walk {
    state: State,
    open: Vec<(Kind, usize)>,
    path: String,
    /// The bytes of the open string or word.
    text: Vec<u8>,
    code: u32,
    /// First half of a surrogate pair that waits for its second.
    high: Option<u32>,
    at: u64,
}

impl Walk {
    pub(super) fn new() -> Self {
        Self { ..Self::default() }
    }

    /// True when the document is whole.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes the next chunk; where chunks end does not matter.
    pub(super) fn push(&mut self, bytes: &[u8], each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let taken = if let State::String(role) = self.state {
                self.string(rest, role, each)?
            } else {
                self.byte(*first, each)?
            };
            self.at = self.at.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    fn wrong<T>(&self, what: &str) -> Result<T, ReportProblem> {
        Err(ReportProblem::Malformed { at: self.at, what: what.to_owned() })
    }

    /// Takes one byte outside of a string's plain text; returns 0 when it has to be looked at again.
    fn byte(&mut self, byte: u8, each: &mut Visit<'_>) -> Result<usize, ReportProblem> {
        match self.state {
            State::Escape(role) => self.escape(byte, role)?,
            State::Unicode(role, digits) => self.unicode(byte, role, digits)?,
            State::Word => {
                if !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}') {
                    if self.text.len() >= MAX_WORD {
                        return self.wrong("a number that never ends");
                    }
                    self.text.push(byte);
                    return Ok(1);
                }
                self.word(each)?;
                return Ok(0);
            }
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
            State::Value | State::First => self.value(byte, each)?,
            State::FirstKey | State::Key => match byte {
                b'"' => self.begin_string(Role::Key),
                b'}' if self.state == State::FirstKey => self.close(Kind::Object, each)?,
                _ => return self.wrong("a key is missing"),
            },
            State::Colon if byte == b':' => self.state = State::Value,
            State::After => self.after(byte, each)?,
            State::Colon => return self.wrong("a colon is missing"),
            State::String(_) | State::Done => return self.wrong("text after the end of the document"),
        }
        Ok(1)
    }

    fn value(&mut self, byte: u8, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        match byte {
            b'{' => self.begin(Kind::Object, each),
            b'[' => self.begin(Kind::List, each),
            b']' if self.state == State::First => self.close(Kind::List, each),
            b'"' => {
                self.begin_string(Role::Value);
                Ok(())
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if !self.open.is_empty() => {
                self.text.clear();
                self.text.push(byte);
                self.state = State::Word;
                Ok(())
            }
            _ => self.wrong("a value is missing"),
        }
    }

    fn begin_string(&mut self, role: Role) {
        self.text.clear();
        self.high = None;
        self.state = State::String(role);
    }

    fn begin(&mut self, kind: Kind, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(ReportProblem::TooDeep(MAX_DEPTH));
        }
        each(&self.path, Node::Open)?;
        self.open.push((kind, self.path.len()));
        if kind == Kind::List {
            self.path.push_str("[]");
        }
        self.state = if kind == Kind::List { State::First } else { State::FirstKey };
        Ok(())
    }

    fn close(&mut self, kind: Kind, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        match self.open.pop() {
            Some((opened, start)) if opened == kind => {
                self.path.truncate(start);
                each(&self.path, Node::Close)?;
                self.ended();
                Ok(())
            }
            Some(_) | None => self.wrong("a bracket that closes nothing"),
        }
    }

    /// A value has ended.
    fn ended(&mut self) {
        self.state = if self.open.is_empty() { State::Done } else { State::After };
    }

    fn after(&mut self, byte: u8, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let (kind, start) = self.open.last().copied().unwrap_or((Kind::List, 0));
        match (byte, kind) {
            (b',', Kind::Object) => {
                self.path.truncate(start);
                self.state = State::Key;
                Ok(())
            }
            (b',', Kind::List) => {
                self.state = State::Value;
                Ok(())
            }
            (b'}', Kind::Object) | (b']', Kind::List) => self.close(kind, each),
            _ => self.wrong("a comma is missing"),
        }
    }

    fn word(&mut self, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let Ok(word) = std::str::from_utf8(&self.text) else { return self.wrong("no value") };
        if serde_json::from_str::<IgnoredAny>(word).is_err() {
            return self.wrong("no value that JSON knows");
        }
        each(&self.path, Node::Word(word))?;
        self.ended();
        Ok(())
    }

    /// Plain text of a string up to its end or its next escape.
    fn string(&mut self, bytes: &[u8], role: Role, each: &mut Visit<'_>) -> Result<usize, ReportProblem> {
        let end = memchr::memchr2(b'"', b'\\', bytes);
        let plain = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        if plain.iter().any(|byte| *byte < 0x20) {
            return self.wrong("a control character in a string");
        }
        let closes = end.and_then(|at| bytes.get(at)) == Some(&b'"');
        if self.high.is_some() && (!plain.is_empty() || closes) {
            return self.wrong("half of a surrogate pair");
        }
        self.keep(plain);
        let Some(at) = end else { return Ok(plain.len()) };
        if closes {
            self.end_string(role, each)?;
        } else {
            self.state = State::Escape(role);
        }
        Ok(at + 1)
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_STRING.saturating_sub(self.text.len());
        self.text.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn end_string(&mut self, role: Role, each: &mut Visit<'_>) -> Result<(), ReportProblem> {
        let text = String::from_utf8_lossy(&self.text);
        // A character that the bound has torn apart.
        let text = if self.text.len() == MAX_STRING { text.trim_end_matches('\u{fffd}') } else { &text };
        match role {
            Role::Value => {
                each(&self.path, Node::Text(text))?;
                self.ended();
            }
            Role::Key => {
                let strange = text.len() > MAX_KEY || text.contains(['.', '[']);
                self.path.push('.');
                self.path.push_str(if strange { "?" } else { text });
                self.state = State::Colon;
            }
        }
        Ok(())
    }

    fn escape(&mut self, byte: u8, role: Role) -> Result<(), ReportProblem> {
        let plain = match byte {
            b'u' => {
                self.code = 0;
                self.state = State::Unicode(role, 0);
                return Ok(());
            }
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return self.wrong("an escape that JSON does not know"),
        };
        if self.high.is_some() {
            return self.wrong("half of a surrogate pair");
        }
        self.keep(&[plain]);
        self.state = State::String(role);
        Ok(())
    }

    fn unicode(&mut self, byte: u8, role: Role, digits: u8) -> Result<(), ReportProblem> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return self.wrong("an escape that JSON does not know");
        };
        self.code = self.code * 16 + digit;
        if digits < 3 {
            self.state = State::Unicode(role, digits + 1);
            return Ok(());
        }
        self.state = State::String(role);
        let code = match (self.high.take(), self.code) {
            (None, 0xd800..=0xdbff) => {
                self.high = Some(self.code);
                return Ok(());
            }
            (Some(high), low @ 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
            (None, code) => code,
            (Some(_), _) => return self.wrong("half of a surrogate pair"),
        };
        let Some(character) = char::from_u32(code) else { return self.wrong("half of a surrogate pair") };
        self.keep(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
