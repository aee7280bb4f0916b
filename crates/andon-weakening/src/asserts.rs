//! The assertions of a test: each statement that asserts, its strength, and its subject.

use std::collections::{BTreeMap, BTreeSet};
use std::{cell::OnceCell, ops::Range};

use crate::code_mask::{Family, QUOTED};
use crate::source::{Source, holds_start, is_name};
use crate::strength::{Strength, strength};
use crate::{statements::statements, words::Words};

#[derive(Debug, Clone)]
pub(super) struct Assertion {
    /// Its text without white space that means nothing, and without comments.
    pub(super) text: String,
    /// The same, with [`QUOTED`] for what is quoted.
    pub(super) shape: String,
    pub(super) strength: Strength,
    /// The number of conditions that it chains.
    pub(super) weight: usize,
    pub(super) words: Vocabulary,
}

impl Assertion {
    fn new(text: String, shape: String) -> Self {
        let mut words = Vocabulary::default();
        words.add(&text, &shape);
        let (strength, weight) = (strength(&text, &shape), weight(&shape));
        Self { text, shape, strength, weight, words }
    }
}

/// The content of a test.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) assertions: Vec<Assertion>,
    /// The words of everything that is no assertion, its attributes as well.
    pub(super) around: Vocabulary,
    /// The number of calls of each name in it.
    pub(super) called: BTreeMap<String, usize>,
    /// True for a test that runs over generated values.
    pub(super) is_property: bool,
    words: OnceCell<Vocabulary>,
}

impl Content {
    /// True when the test now asserts something else, or with other values.
    pub(super) fn differs(&self, now: &Self) -> bool {
        let texts =
            |content: &'_ Self| content.assertions.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
        self.around.values != now.around.values || texts(self) != texts(now)
    }
}

/// The assertions of a place of a file, whose attributes end at `attributes` and whose body begins at `body`.
pub(super) fn content(
    source: &Source,
    words: &Words<'_>,
    block: Range<usize>,
    attributes: usize,
    body: usize,
) -> Content {
    let mut content = Content::default();
    let (head, shape) = condensed(source, block.start..attributes);
    content.around.add(&head, &shape);
    // A word that an attribute seems to call is its name.
    let called = std::mem::take(&mut content.around.calls);
    content.around.names.extend(called);
    if ["#[should_panic", "(expected", ", expected"].iter().any(|word| head.contains(word)) {
        content.assertions.push(Assertion::new(PANICS.to_owned(), PANICS.to_owned()));
    }
    let found = statements(source, body..block.end);
    let mut last: Option<usize> = None;
    for (at, statement) in found.iter().enumerate() {
        let code = source.code.get(statement.place.clone()).unwrap_or_default();
        if !is_assertion(code, source.family, words) {
            let (text, shape) = condensed(source, statement.place.clone());
            content.around.add(&text, &shape);
            content.around.bind(&text);
            continue;
        }
        if !statement.live {
            continue;
        }
        // A statement that reports a failure says nothing; its condition does.
        let above = at.checked_sub(1).and_then(|above| found.get(above)).map(|above| above.place.clone());
        let condition = above.filter(|above| {
            let code = source.code.get(above.clone()).unwrap_or_default();
            code.starts_with("if ") && !code.contains("return") || code.starts_with("unless ")
        });
        let place: Range<usize> =
            condition.filter(|_| reports(code)).unwrap_or_else(|| statement.place.clone());
        let (text, shape) = condensed(source, place);
        // Said twice in a row, it is still one.
        let again = last == at.checked_sub(1) && content.assertions.last().is_some_and(|it| it.text == text);
        last = Some(at);
        if !again {
            content.assertions.push(Assertion::new(text, shape));
        }
    }
    let code = source.code.get(block.clone()).unwrap_or_default();
    for (at, _) in code.match_indices('(') {
        let name = code.get(..at).and_then(|head| head.rsplit(|c| !is_name(c)).next()).unwrap_or_default();
        if !name.is_empty() {
            *content.called.entry(name.to_owned()).or_default() += 1;
        }
    }
    let made_up = PROPERTIES.iter().any(|word| code.contains(word));
    content.is_property = made_up || source.makes_up && code.contains(" in ");
    content
}

/// Words of tests that run over generated values.
const PROPERTIES: &[&str] =
    &["quickcheck", "@given", "forAll", "fc.assert", "fc.property", "@Property", "check all "];

/// The text of the assertion that an attribute makes.
pub(super) const PANICS: &str = "panics";

/// True for a statement that only reports a failure.
fn reports(code: &str) -> bool {
    ["t.Error", "t.Fatal", "t.Fail", "fail(", "XCTFail(", "FAIL(", "Assert.Fail("]
        .iter()
        .any(|word| code.starts_with(word))
}

/// True for a statement that asserts.
pub(super) fn is_assertion(code: &str, family: Family, words: &Words<'_>) -> bool {
    words.assertions.iter().any(|word| {
        // The brace of a block is not part of what opens it.
        if word.strip_suffix(" {").is_some_and(|word| code.trim_end() == word) {
            return true;
        }
        let Some(at) = code.find(word).filter(|_| holds_start(code, word)) else { return false };
        // In Go a method asserts where it is the statement itself, not in one of its values.
        let method = family == Family::Go && word.starts_with('.');
        let leads =
            || code.get(..at).is_some_and(|head| head.chars().all(|c| is_name(c) || "().".contains(c)));
        let rest = code.get(at + word.len()..).unwrap_or_default();
        let is_bound = rest.trim_start_matches(is_name).trim_start();
        (!method || leads()) && !(is_bound.starts_with("= ") || is_bound.starts_with(":="))
    })
}

/// A place's text and code without white space that separates no names, and without comments.
fn condensed(source: &Source, place: Range<usize>) -> (String, String) {
    let (code, raw) = (source.code.get(place.clone()), source.raw.get(place));
    let (Some(code), Some(raw)) = (code, raw) else { return Default::default() };
    let (mut text, mut shape) = (Vec::with_capacity(raw.len()), Vec::with_capacity(raw.len()));
    let mut blank = false;
    for (code, raw) in code.bytes().zip(raw.bytes()) {
        if code.is_ascii_whitespace() {
            blank = true;
            continue;
        }
        let names = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        if blank && names(&code) && shape.last().is_some_and(names) {
            text.push(b' ');
            shape.push(b' ');
        }
        blank = false;
        // A comma before a closing bracket comes with a line end.
        if matches!(code, b')' | b']' | b'}') && shape.last() == Some(&b',') {
            text.pop();
            shape.pop();
        }
        text.push(if code == QUOTED { raw } else { code });
        shape.push(code);
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let shape = String::from_utf8_lossy(&shape).into_owned();
    if text.len() == shape.len() { (text, shape) } else { (text.clone(), text) }
}

/// The number of conditions that a statement chains: `assertThat(x).isNotNull().hasSize(3)` has two.
fn weight(shape: &str) -> usize {
    let (mut depth, mut calls) = (0_usize, 0_usize);
    for byte in shape.bytes() {
        match byte {
            b'(' => {
                calls += usize::from(depth == 0);
                depth += 1;
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    calls.saturating_sub(1).max(1)
}

/// The words of a text, by what they are.
#[derive(Debug, Default, Clone)]
pub(super) struct Vocabulary {
    /// Numbers, and what is quoted.
    pub(super) values: BTreeSet<String>,
    /// Names of what is called.
    pub(super) calls: BTreeSet<String>,
    pub(super) names: BTreeSet<String>,
    /// Names that are bound here: another name would do.
    pub(super) locals: BTreeSet<String>,
}

impl Vocabulary {
    /// Adds the words of a text, whose quoted parts `shape` tells.
    pub(super) fn add(&mut self, text: &str, shape: &str) {
        let mut from = 0;
        let bytes = text.as_bytes();
        while from < text.len() {
            let rest = text.get(from..).unwrap_or_default();
            let word = super::source::name(rest);
            if word.is_empty() {
                from += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            }
            let end = from + word.len();
            let value =
                shape.as_bytes().get(from) == Some(&QUOTED) || word.starts_with(|c: char| c.is_ascii_digit());
            let called = matches!(bytes.get(end), Some(b'('))
                || text.get(end..).is_some_and(|it| it.starts_with("!("));
            if value {
                self.values.insert(word.to_owned());
            } else if called {
                self.calls.insert(word.to_owned());
            } else {
                self.names.insert(word.to_owned());
            }
            from = end;
        }
    }

    /// Adds what a statement binds.
    fn bind(&mut self, text: &str) {
        let Some((bound, rest)) = text.split_once('=') else { return };
        if rest.starts_with(['=', '>', '~'])
            || bound.ends_with(['!', '<', '>', '+', '-'])
            || bound.contains('(')
        {
            return;
        }
        let bound = bound.split(':').next().unwrap_or(bound);
        let last = bound.split(',').filter_map(|name| name.trim().rsplit([' ', '$']).next());
        self.locals
            .extend(last.filter(|name| !name.is_empty() && name.chars().all(is_name)).map(str::to_owned));
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.values.extend(other.values.iter().cloned());
        self.calls.extend(other.calls.iter().cloned());
        self.names.extend(other.names.iter().cloned());
        self.locals.extend(other.locals.iter().cloned());
    }
}

/// All words of a test, put together when they are first asked for.
pub(super) fn words(content: &Content) -> &Vocabulary {
    content.words.get_or_init(|| {
        let mut words = content.around.clone();
        content.assertions.iter().for_each(|it| words.extend(&it.words));
        words
    })
}
