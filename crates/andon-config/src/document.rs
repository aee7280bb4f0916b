//! From bytes to spanned TOML, with the lines that messages name.

use std::ops::Range;

use toml::de::DeTable;

use super::mistake::{Problems, mistake};
use super::source::{ConfigSource, check_size};
use andon_core::domain::diagnostic::{Diagnostic, TextPosition};

/// Up to this size all syntax errors of a file are listed; beyond, the first: a parser that recovers over
/// and over again in a megabyte of noise would keep every one of them in memory.
const RECOVER_BYTES: usize = 64 * 1024;

/// A text that is TOML, and where its lines begin.
pub(super) struct Document<'a> {
    pub(super) table: DeTable<'a>,
    pub(super) lines: Lines<'a>,
}

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// The lines of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// The position of a byte offset.
    pub(super) fn position(&self, offset: usize) -> TextPosition {
        let line = self.line(offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.as_bytes().get(start..offset.min(self.text.len())).unwrap_or_default();
        // Continuation bytes do not begin a character; a byte order mark takes no column.
        let marked = usize::from(start == 0 && before.starts_with("\u{feff}".as_bytes()));
        let characters = before.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        TextPosition { line, column: characters - marked + 1 }
    }
}

/// Parses a source. Syntax errors go to `problems` and end it for this source, except duplicate keys: the other keys
/// can still be judged.
pub(super) fn parse<'a>(source: &'a ConfigSource, problems: &mut Problems) -> Option<Document<'a>> {
    if let Err(error) = check_size(&source.name, source.text.len()) {
        problems.push(error);
        return None;
    }
    let text = match std::str::from_utf8(&source.text) {
        Ok(text) => text,
        Err(error) => {
            problems.push(not_utf8(source, error.valid_up_to()));
            return None;
        }
    };
    let lines = Lines::new(text);
    let (table, errors) = parse_text(text);
    let Some(table) = table else {
        return report(source, &lines, &errors, problems)
            .then_some(Document { table: DeTable::new(), lines });
    };
    report(source, &lines, &errors, problems).then_some(Document { table, lines })
}

fn parse_text(text: &str) -> (Option<DeTable<'_>>, Vec<toml::de::Error>) {
    if text.len() <= RECOVER_BYTES {
        let (table, errors) = DeTable::parse_recoverable(text);
        return (Some(table.into_inner()), errors);
    }
    match DeTable::parse(text) {
        Ok(table) => (Some(table.into_inner()), Vec::new()),
        Err(error) => (None, vec![error]),
    }
}

/// Words the parser's errors; true when the rest of the document can be relied on.
fn report(
    source: &ConfigSource,
    lines: &Lines<'_>,
    errors: &[toml::de::Error],
    problems: &mut Problems,
) -> bool {
    for error in errors {
        if problems.is_full() {
            problems.push(syntax(source, lines, "syntax error", None));
        } else {
            problems.push(syntax(source, lines, error.message(), error.span()));
        }
    }
    errors.iter().all(|error| error.message() == DUPLICATE)
}

const DUPLICATE: &str = "duplicate key";

fn syntax(source: &ConfigSource, lines: &Lines<'_>, message: &str, span: Option<Range<usize>>) -> Diagnostic {
    let (what, hint) = if message == DUPLICATE {
        let name = span.clone().and_then(|span| lines.text.get(span)).unwrap_or("it");
        let before = span.as_ref().and_then(|span| lines.text.get(..span.start)).unwrap_or_default();
        let is_table = before.lines().last().is_some_and(|line| line.trim_start().starts_with('['));
        let both = if is_table { ", with the keys of both" } else { "" };
        (format!("{} is set twice", super::mistake::quoted(name)), format!("keep one of the two{both}"))
    } else {
        (format!("not valid TOML: {message}"), "fix the syntax; https://toml.io shows it".to_owned())
    };
    let at = span.map(|span| lines.position(span.start));
    mistake(&source.name, at, what, hint)
}

fn not_utf8(source: &ConfigSource, valid_up_to: usize) -> Diagnostic {
    let valid = source.text.get(..valid_up_to).unwrap_or_default();
    let at = std::str::from_utf8(valid).ok().map(|text| Lines::new(text).position(text.len()));
    mistake(&source.name, at, "not UTF-8 text", "save the file as UTF-8")
}
