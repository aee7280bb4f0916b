//! The patterns for one file, sorted by where each is looked for. What does not occur in the file is left out at once.

use crate::{all, code_mask::Family};
use andon_core::{WordList, detect::Patterns};

/// The lists of words of this crate.
pub(super) const WORDS: &str = include_str!("words.txt");

/// Words of what holds several tests.
pub(super) const GROUPS: WordList = WordList::section(WORDS, "groups");

/// Declarations of a group or a test besides which no other of its file runs.
const FOCUSES: WordList = WordList::section(WORDS, "focuses");

/// Words that mark a file of tests where the name of a function alone marks a test.
const SIGNS: WordList = WordList::section(WORDS, "signs");

/// Functions that run before each test of a group.
pub(super) const SETUPS: WordList = WordList::section(WORDS, "setups");

/// Words of conditions on the machine that a test runs on: what skips it on some is no weaker on the others.
pub(super) const PLATFORMS: WordList = WordList::section(WORDS, "platforms");

/// The patterns for one file.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    pub(super) tests: Vec<&'a str>,
    pub(super) skips: Marks<'a>,
    pub(super) focuses: Marks<'a>,
    pub(super) assertions: Vec<&'a str>,
    /// True where functions that are called like tests are tests.
    pub(super) is_of_tests: bool,
}

/// Words that say one thing of a test, by their place.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks<'a> {
    /// Names of attributes and decorators.
    pub(super) attributes: Vec<&'a str>,
    /// Words in a text of the declaration.
    pub(super) quoted: Vec<&'a str>,
    /// Words behind the closing bracket of the test.
    pub(super) tails: Vec<&'a str>,
    /// Words appended to the one that declares: `it.skip`.
    pub(super) chains: Vec<&'a str>,
    /// Options of the declaration.
    pub(super) options: Vec<&'a str>,
    /// Words at the beginning of a statement.
    pub(super) statements: Vec<&'a str>,
    /// Words in place of the one that declares: `xit(`.
    pub(super) declares: Vec<&'a str>,
}

/// The patterns for files of one ending, whatever is in them.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub(super) family: Family,
    signs: Vec<&'a str>,
    tests: Vec<&'a str>,
    skips: Vec<&'a str>,
    focuses: Vec<&'a str>,
    assertions: Vec<&'a str>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(patterns: &Patterns<'a>, extension: &str) -> Self {
        let alternatives =
            |words: WordList| all(words.iter(), extension).flat_map(|row| row.split('|')).collect();
        Self {
            family: Family::from_extension(extension),
            signs: alternatives(SIGNS),
            tests: all(patterns.tests, extension).collect(),
            skips: all(patterns.skips, extension).collect(),
            focuses: alternatives(FOCUSES),
            assertions: all(patterns.assertions, extension).collect(),
        }
    }
}

impl<'a> Words<'a> {
    /// The patterns that matter to the text `raw`.
    pub(super) fn new(rows: &Rows<'a>, raw: &str) -> Self {
        let Rows { family, signs, tests, skips, focuses, assertions } = rows;
        let tests: Vec<&str> = tests.iter().copied().filter(|word| occurs(raw, word)).collect();
        // Nothing marks a test where there is none.
        let text = if tests.is_empty() { "" } else { raw };
        Self {
            is_of_tests: signs.is_empty() || signs.iter().any(|sign| raw.contains(sign)),
            tests,
            skips: Marks::new(skips, *family, text),
            focuses: Marks::new(focuses, *family, text),
            assertions: assertions.iter().copied().filter(|word| raw.contains(word)).collect(),
        }
    }
}

impl<'a> Marks<'a> {
    fn new(words: &[&'a str], family: Family, raw: &str) -> Self {
        let mut marks = Self::default();
        for word in words.iter().copied().filter(|word| occurs(raw, word)) {
            let list = match word.as_bytes() {
                _ if is_marker(word) => {
                    marks
                        .attributes
                        .push(word.trim_start_matches(['@', '#', '[', '!']).trim_end_matches(']'));
                    continue;
                }
                [b'"' | b'[', ..] => &mut marks.quoted,
                [b'-', b'>', ..] => &mut marks.tails,
                [b'.', ..] if family == Family::Script => &mut marks.chains,
                [b'.' | b':', ..] | [.., b'_' | b'=' | b':' | b','] => &mut marks.options,
                _ if word.contains(" = ") || word.contains("::") => &mut marks.options,
                [.., b' '] => &mut marks.declares,
                [.., b'('] if !word.contains('.') => {
                    marks.declares.push(word);
                    &mut marks.statements
                }
                _ => &mut marks.statements,
            };
            list.push(word);
        }
        marks
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { attributes, quoted, tails, chains, options, statements, declares } = self;
        [attributes, quoted, tails, chains, options, statements, declares].iter().all(|list| list.is_empty())
    }
}

/// True for a text that has the core of a pattern.
fn occurs(text: &str, word: &str) -> bool {
    let core = word.trim_start_matches(['@', '#', '[', '!', '"']).trim_end_matches([']', '=', ' ', '(']);
    let core = core.split([' ', '(']).next_back().unwrap_or(core);
    let core = core.rsplit("::").next().unwrap_or(core);
    text.contains(core)
}

/// True for a pattern that is an attribute, behind which a function is declared.
pub(super) fn is_marker(word: &str) -> bool {
    let name = |rest: Option<&str>| rest.is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    !word.ends_with(' ')
        && (word.starts_with("#[") || name(word.strip_prefix('@')) || name(word.strip_prefix('[')))
}
