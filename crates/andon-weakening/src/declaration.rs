//! Finds the declaration of a test in a line, by the words of its language.

use crate::code_mask::Family;
use crate::source::{Source, is_name, is_noise, name};
use crate::words::{GROUPS, WORDS, Words, is_marker};
use andon_core::WordList;

/// Lines after a marker, or of a table of cases, in which the name of a test is looked for.
const NAME_WITHIN: usize = 64;

/// The declaration of a test.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    /// The line of the name.
    pub(super) line: usize,
    /// The place of the name, or of the text behind the word that declares.
    pub(super) place: usize,
}

/// Words after `it.` and `test.` that declare no test.
const NO_TEST: WordList = WordList::section(WORDS, "no test");

/// Words that may come before a declaration.
const BEFORE: WordList = WordList::section(WORDS, "before");

/// The test that is declared at a line.
pub(super) fn declared(source: &Source, words: &Words<'_>, at: usize) -> Option<Declaration> {
    let line = source.code(at);
    let mut code = line.trim_start();
    if code.is_empty() || source.is_quoted(at) || words.tests.is_empty() {
        return None;
    }
    for word in BEFORE.iter() {
        code = code.strip_prefix(word).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(code);
    }
    let finder = Finder {
        source,
        at,
        is_of_tests: words.is_of_tests,
        place: source.start(at) + line.len() - code.len(),
    };
    let declares = words.skips.declares.iter().chain(&words.focuses.declares);
    let declares =
        declares.filter(|word| word.ends_with("Table(") || !GROUPS.iter().any(|group| word.contains(group)));
    words.tests.iter().chain(declares).find_map(|word| finder.by(code, word)).or_else(|| {
        let annotated = source.family == Family::Php && words.tests.contains(&"function test");
        annotated.then(|| finder.annotated(code)).flatten()
    })
}

struct Finder<'s> {
    source: &'s Source,
    at: usize,
    /// The place of the code of the line, without words that may come before a declaration.
    place: usize,
    is_of_tests: bool,
}

impl Finder<'_> {
    fn here(&self, name: impl Into<String>, place: usize) -> Declaration {
        Declaration { name: name.into(), line: self.at, place }
    }

    /// The text of the line from a place on.
    fn text(&self, place: usize) -> &str {
        self.source.raw.get(place..self.source.start(self.at + 1)).unwrap_or_default().trim_end()
    }

    fn by(&self, code: &str, word: &str) -> Option<Declaration> {
        if is_marker(word) {
            return attributes(code).0.iter().any(|it| is_named(it, word)).then(|| self.function(code))?;
        }
        if word == "\"" {
            return self.spec(code);
        }
        if self.source.family == Family::Go && word.starts_with("func ") {
            return self.go(code, word);
        }
        if let Some(head) = word.strip_suffix('(') {
            let rest = code.strip_prefix(head).filter(|rest| rest.starts_with(['(', '.']))?;
            return self.called(code, word, rest);
        }
        let rest = code.strip_prefix(word)?;
        let place = self.place + word.len();
        if word.ends_with(' ') {
            if let Some(name) = quoted(self.text(place)) {
                return Some(self.here(name, place));
            }
            // A test without a name of its own: `it { is_expected.to be_valid }`.
            let is_block = rest.starts_with('{') || rest.starts_with("do\n") || rest.trim() == "do";
            return (is_block && word.starts_with("it")).then(|| self.here(self.text(place), place));
        }
        let head = word.rsplit(' ').next().unwrap_or_default();
        // PHPUnit and XCTest take any name that begins so.
        let any = matches!(self.source.family, Family::Php | Family::Swift) || word.ends_with('_');
        let goes_on = rest.starts_with(char::is_lowercase) && !any;
        (!goes_on && self.is_of_tests).then(|| self.here(format!("{head}{}", name(rest)), place))
    }

    /// `func TestX(t *testing.T)`, or a method of a suite.
    fn go(&self, code: &str, word: &str) -> Option<Declaration> {
        let head = word.strip_prefix("func ")?;
        let method = code.strip_prefix("func (").and_then(|rest| rest.split_once(") ")).map(|(_, rest)| rest);
        let rest = method.or_else(|| code.strip_prefix("func "))?;
        let tail = rest.strip_prefix(head).filter(|tail| !tail.starts_with(char::is_lowercase))?;
        let name = name(tail);
        let parameters = tail.get(name.len()..)?;
        let suite = parameters.starts_with("()") && !parameters.contains(") (") || parameters.contains("C)");
        let plain = ["testing.T", "testing.F"].iter().any(|it| parameters.contains(it));
        let is_test = plain || method.is_some() && suite && parameters.trim_end().ends_with('{');
        is_test.then(|| self.here(format!("{head}{name}"), self.place))
    }

    /// `"name" { … }` of kotest, `"name" in { … }` of `ScalaTest`.
    fn spec(&self, code: &str) -> Option<Declaration> {
        let rest = code.strip_prefix('"')?;
        let after = rest.get(rest.find('"')? + 1..)?.trim();
        let scala = after.ends_with("in {") || after.ends_with("in:");
        let kotest = after == "{" || after.starts_with(".config(") || after.starts_with("{ ");
        let specs = ["Spec", "FreeSpec", "FlatSpec"].iter().any(|it| self.source.raw.contains(it));
        (specs && (scala || kotest)).then(|| Some(self.here(quoted(self.text(self.place))?, self.place)))?
    }

    /// `it.only("name", …)`, `TEST(Suite, Name)`; `rest` begins behind the word without its bracket.
    fn called(&self, code: &str, word: &str, mut rest: &str) -> Option<Declaration> {
        let mut each = false;
        loop {
            if let Some(tail) = rest.strip_prefix('.') {
                let modifier = name(tail);
                if self.source.family != Family::Script || NO_TEST.contains(modifier) {
                    return None;
                }
                each = matches!(modifier, "each" | "for");
                rest = tail.get(modifier.len()..)?;
            } else if rest.starts_with('(') {
                let Some(after) = closing(rest).and_then(|end| rest.get(end..)) else { break };
                if !after.starts_with('(') {
                    break;
                }
                (rest, each) = (after, false);
            } else if rest.starts_with('`') && each {
                break;
            } else {
                return None;
            }
        }
        let place = self.place + code.len() - rest.len();
        if each {
            return self.below_a_table();
        }
        let inner = rest.get(1..)?;
        if word.starts_with(char::is_uppercase) && self.source.family == Family::C {
            let name = inner.split([')', '*']).next().unwrap_or_default().trim();
            let named = quoted(self.text(place)).or_else(|| {
                (name.contains(',') || word.starts_with("BOOST"))
                    .then(|| name.split(", *").next().unwrap_or(name).to_owned())
            });
            return Some(self.here(named?, place));
        }
        if inner.trim().is_empty() {
            let line =
                (self.at + 1..self.source.len()).find(|at| !self.source.code(*at).trim().is_empty())?;
            let name = quoted(self.source.text(line).trim_start())?;
            return Some(Declaration { name, line, place: self.source.start(line) });
        }
        let spoken = quoted(self.text(place));
        let named = spoken.or_else(|| {
            let has_body = inner.contains("=>") || inner.contains("function");
            has_body.then(|| inner.split(',').next().unwrap_or_default().to_owned())
        });
        Some(self.here(named?, place))
    }

    /// `it.each([…])("name", …)`: the name comes behind the table.
    fn below_a_table(&self) -> Option<Declaration> {
        (self.at..self.source.len().min(self.at + NAME_WITHIN)).find_map(|line| {
            let code = self.source.code(line);
            let behind =
                code.rfind(")(").map(|found| found + 1).or_else(|| code.rfind("`(").map(|at| at + 1))?;
            let place = self.source.start(line) + behind;
            let name = quoted(self.source.raw.get(place..self.source.start(line + 1))?)?;
            Some(Declaration { name, line, place })
        })
    }

    /// The function below a marker, or behind it on the same line.
    fn function(&self, code: &str) -> Option<Declaration> {
        let depth = self.source.depth(self.at);
        let rest = attributes(code).1;
        let is_hidden = |code: &str| code.starts_with("private ");
        if !is_noise(rest) {
            return Some(Declaration { name: function(rest)?, line: self.at, place: self.place });
        }
        for line in self.at + 1..self.source.len().min(self.at + NAME_WITHIN) {
            let code = attributes(self.source.code(line).trim_start()).1;
            if self.source.depth(line) > depth || is_noise(code) {
                continue;
            }
            let name = function(code).filter(|_| !is_hidden(code))?;
            return Some(Declaration { name, line, place: self.source.start(line) });
        }
        None
    }

    /// A method of PHP that its comment calls a test.
    fn annotated(&self, code: &str) -> Option<Declaration> {
        let named = code.strip_prefix("function ")?;
        let comment = (0..self.at).rev().take(30).take_while(|line| {
            let code = self.source.code(*line);
            is_noise(code) && code.trim().is_empty() && !self.source.text(*line).trim().is_empty()
        });
        let mut comment = comment.map(|line| self.source.text(line));
        comment.any(|line| super::source::holds(line, "@test")).then(|| self.here(name(named), self.place))
    }
}

/// True for an attribute of a pattern's name, wherever it comes from.
fn is_named(attribute: &str, word: &str) -> bool {
    let wanted = word.trim_start_matches(['@', '#', '[']).trim_end_matches(']');
    let inner = attribute.trim_start_matches(['@', '#', '[']).trim_start();
    let path = inner.get(..inner.find(|c| !is_name(c) && !matches!(c, ':' | '.')).unwrap_or(inner.len()));
    let path = path.unwrap_or_default();
    path == wanted || path.rsplit([':', '.']).next() == Some(wanted)
}

/// The attributes that a line begins with, and the rest of it; one that is not closed is the whole line.
pub(super) fn attributes(code: &str) -> (Vec<&str>, &str) {
    let (mut found, mut rest) = (Vec::new(), code.trim_start());
    while is_attribute(rest) {
        let bracket = rest.find('[').filter(|at| *at < 3 && !rest.starts_with('@'));
        let open = bracket.or_else(|| {
            let end = rest.get(1..)?.find(|c| !is_name(c) && c != '.').map(|at| at + 1)?;
            rest.get(end..)?.starts_with('(').then_some(end)
        });
        let end = match open {
            Some(open) => rest.get(open..).and_then(closing).map_or(rest.len(), |end| open + end),
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (attribute, tail) = rest.split_at(end);
        found.push(attribute);
        rest = tail.trim_start();
    }
    (found, rest)
}

pub(super) fn is_attribute(code: &str) -> bool {
    let code = code.trim_start();
    code.starts_with('@') || code.starts_with("#[") || code.starts_with("#![") || code.starts_with('[')
}

/// The place behind the bracket that closes the first one.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text in quotes at the beginning.
fn quoted(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['(', ' ']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = rest.get(1..)?;
    Some(inner.get(..inner.find(quote)?)?.to_owned())
}

/// The function that a line declares.
pub(super) fn function(code: &str) -> Option<String> {
    let code = code.trim_start();
    let words = ["fn ", "def ", "func ", "fun ", "function ", "void "];
    let keyword = |word: &&str| {
        let at = code.find(*word).filter(|at| !code.get(..*at).is_some_and(|it| it.ends_with(is_name)))?;
        code.get(at + word.len()..)
    };
    // Behind the receiver of a method in Go.
    let named =
        |rest| str::strip_prefix(rest, "(").and_then(|it| it.split_once(") ")).map_or(rest, |(_, it)| it);
    let after = words.iter().find_map(keyword).map(named);
    if let Some(spoken) = after.and_then(|rest| rest.strip_prefix('`')) {
        return spoken.split('`').next().map(str::to_owned);
    }
    // `public async Task Name()`: a type and a name; `name := func()`, `const name = () =>`.
    let bound = || {
        let (before, value) = code.split_once('=')?;
        let is_function = ["func(", "(", "async ", "function", "lambda", "->"].iter();
        let is_function = is_function.clone().any(|word| value.trim_start().starts_with(word));
        is_function.then(|| before.trim_end_matches([' ', ':']).rsplit(' ').next())?
    };
    let typed = || {
        let (before, name) = code.split_once('(')?.0.trim_end().rsplit_once(' ')?;
        (!before.contains(['=', '.', '(']) && !matches!(before.trim(), "return" | "new" | "await"))
            .then_some(name)
    };
    let name = name(after.filter(|rest| rest.starts_with(is_name)).or_else(bound).or_else(typed)?);
    (!name.is_empty()).then(|| name.to_owned())
}
