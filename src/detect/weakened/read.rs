//! The tests of a file, found line by line.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Patterns, Side, Test, all};

/// Tests per side that are looked at; more of them in one commit is no edit by hand.
const MAX_TESTS: usize = 1 << 14;
/// Lines after a marker, or of a table of cases, in which the name of a test is looked for.
const NAME_WITHIN: usize = 64;

/// The patterns for one file.
pub(super) struct Words<'a> {
    tests: Vec<&'a str>,
    skips: Vec<&'a str>,
    assertions: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn of(patterns: &Patterns<'a>, extension: &str) -> Self {
        let all = |entries| all(entries, extension).collect();
        Self { tests: all(patterns.tests), skips: all(patterns.skips), assertions: all(patterns.assertions) }
    }

    /// Adds the tests of a file to a side.
    pub(super) fn read<'t>(&self, text: &'t str, side: &mut Side<'t>) {
        let lines = uncommented(text);
        let mut inside = BTreeSet::new();
        let (mut at, mut skipped_until) = (0, 0);
        while at < lines.len() && side.tests.len() < MAX_TESTS {
            let Some((name, named)) = self.declared(&lines, at) else {
                skipped_until = skipped_until.max(self.skips_until(&lines, at));
                at += 1;
                continue;
            };
            let block = with_attributes(&lines, at)..end_of(&lines, named);
            at = block.end.max(at + 1);
            if lines[block.start..named].iter().any(|line| line.contains("fixture")) {
                continue;
            }
            let found = self.test(&lines, block.clone(), named, name);
            side.tests.push(Test { skipped: found.skipped || named < skipped_until, ..found });
            inside.extend(block);
        }
        side.cut |= at < lines.len();
        let outside =
            lines.iter().enumerate().filter(|(at, line)| !inside.contains(at) && has(line, &self.assertions));
        side.outside = side.outside.saturating_add(outside.count());
    }

    fn test<'t>(&self, lines: &[&'t str], block: Range<usize>, named: usize, name: String) -> Test<'t> {
        let body = lines.get(named + 1..block.end).unwrap_or_default();
        let whole = lines.get(block.clone()).unwrap_or_default();
        let skips = |(at, line): (usize, &&str)| {
            let declares = block.start + at <= named;
            if declares { self.skips_declared(line) } else { self.skips_inside(line) }
        };
        Test {
            name,
            lines: body.iter().map(|line| line.trim()).filter(|line| !is_noise(line)).collect(),
            skipped: whole.iter().enumerate().any(skips),
            assertions: whole.iter().filter(|line| has(line, &self.assertions)).count(),
            rows: whole.iter().map(|line| line.matches(['(', '[', '{']).count()).sum(),
        }
    }

    /// Where the tests end that a line outside of tests skips: those of the block that it opens, or that follows it where
    /// it is an attribute, or of the whole file.
    fn skips_until(&self, lines: &[&str], at: usize) -> usize {
        let Some(line) = lines.get(at).filter(|line| self.skips_declared(line)) else { return 0 };
        if line.trim_start().starts_with("pytestmark") {
            return lines.len();
        }
        let opens = (at..lines.len()).find(|at| !is_attribute(lines[*at]));
        opens.filter(|at| self.declared(lines, *at).is_none()).map_or(0, |at| end_of(lines, at))
    }

    /// Whether a line of a declaration, or an attribute of it, says that the test is skipped; what is quoted says nothing.
    fn skips_declared(&self, line: &str) -> bool {
        let text = unquoted(line);
        is_code(line) && self.skips.iter().any(|word| holds(&text, word))
    }

    /// Whether a line inside of a test skips it. A word alone, which may be a name or a value, has to begin the line.
    fn skips_inside(&self, line: &str) -> bool {
        let says = |word: &&str| {
            let alone = word.bytes().all(|byte| byte.is_ascii_lowercase());
            let declares = word.ends_with('_') || word.ends_with('=');
            !declares && holds(line, word) && (!alone || line.trim_start().starts_with(*word))
        };
        is_code(line) && self.skips.iter().any(says)
    }

    /// The name of the test that is declared at a line, and the line of the name.
    fn declared(&self, lines: &[&str], at: usize) -> Option<(String, usize)> {
        let line = code(lines.get(at)?);
        if let Some(name) = method(line).filter(|_| self.tests.contains(&"func Test")) {
            return Some((name, at));
        }
        // `it.skip("x")` declares a test as `it("x")` does, unless it skips a group of them.
        let skipped = || {
            let declares =
                |word: &&&str| word.ends_with(['(', ' ']) && !GROUPS.iter().any(|it| word.contains(it));
            self.skips.iter().filter(declares).find(|word| line.starts_with(**word))
        };
        let word = self.tests.iter().find(|word| begins(line, word)).or_else(skipped)?;
        let rest = line.get(word.len()..).unwrap_or_default();
        if let Some(name) = quoted(rest) {
            return Some((name, at));
        }
        if word.strip_suffix(".each").is_some() {
            // `it.each([...])("name", ...)`: the name comes behind the table.
            return (at..lines.len().min(at + NAME_WITHIN)).find_map(|at| {
                let line = lines.get(at)?;
                let behind = line.rfind(")(").map(|found| found + 1).or_else(|| line.rfind("`("))?;
                Some((quoted(line.get(behind..)?.trim_start_matches('`'))?, at))
            });
        }
        if word.ends_with('(') {
            // `TEST(Suite, Name)`; a call without a text names no test.
            let name = rest.split(')').next().unwrap_or_default().trim();
            let macros = name.contains(',') || word.starts_with("BOOST");
            return (macros && word.starts_with(char::is_uppercase)).then(|| (name.to_owned(), at));
        }
        if !is_marker(word) {
            let tail: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let head = word.rsplit(' ').next().unwrap_or_default();
            return Some((format!("{head}{tail}"), at));
        }
        (at..lines.len().min(at + NAME_WITHIN)).find_map(|at| Some((function(lines.get(at)?)?, at)))
    }
}

/// Words of what holds several tests.
const GROUPS: &[&str] = &["describe", "context", "suite"];

/// Whether a pattern is an attribute, behind which a function is declared.
fn is_marker(word: &str) -> bool {
    word.starts_with(['@', '[', '#'])
}

/// Whether a line begins as `word` says; an attribute ends where its name does.
fn begins(line: &str, word: &str) -> bool {
    let Some(rest) = line.strip_prefix(word) else { return false };
    !(is_marker(word) && word.ends_with(char::is_alphanumeric) && rest.starts_with(is_name))
}

/// A line without white space and what may stand before a declaration.
fn code(line: &str) -> &str {
    let mut line = line.trim_start();
    for word in ["export ", "public ", "pub ", "async ", "static "] {
        line = line.strip_prefix(word).unwrap_or(line);
    }
    line
}

/// The test that a method of a suite is in Go: `func (s *Suite) TestName() {`.
fn method(line: &str) -> Option<String> {
    let (_, name) = line.strip_prefix("func (")?.split_once(") ")?;
    name.starts_with("Test").then(|| name.chars().take_while(|c| is_name(*c)).collect())
}

/// The text in quotes at the beginning.
fn quoted(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['(', ' ']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = rest.get(1..)?;
    Some(inner.get(..inner.find(quote)?)?.to_owned())
}

/// A line without what is quoted in it.
fn unquoted(line: &str) -> String {
    let mut quote = None;
    let outside = |c: &char| {
        let open = quote;
        if open == Some(*c) {
            quote = None;
        } else if open.is_none() && matches!(c, '"' | '`') {
            quote = Some(*c);
        }
        open.is_none() && quote.is_none()
    };
    line.chars().filter(outside).collect()
}

/// The function that a line declares.
fn function(line: &str) -> Option<String> {
    if is_attribute(line) {
        return None;
    }
    let words = ["fn ", "def ", "func ", "fun ", "function ", "void "];
    let after = words.iter().find_map(|word| line.find(word).and_then(|at| line.get(at + word.len()..)));
    if let Some(spoken) = after.and_then(|rest| rest.strip_prefix('`')) {
        return spoken.split('`').next().map(str::to_owned);
    }
    // `public async Task Name()`: a type and a name.
    let typed = || {
        let (before, _) = line.trim_start().strip_prefix("public ")?.split_once('(')?;
        before.rsplit_once(' ').map(|(_, name)| name)
    };
    let name: String = after.or_else(typed)?.chars().take_while(|c| is_name(*c)).collect();
    (!name.is_empty()).then_some(name)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_noise(line: &str) -> bool {
    line.chars().all(|c| !c.is_alphanumeric())
}

fn is_code(line: &str) -> bool {
    let line = line.trim();
    !(line.starts_with("//") || line.starts_with("# "))
}

fn has(line: &str, words: &[&str]) -> bool {
    is_code(line) && words.iter().any(|word| line.contains(word))
}

/// Whether a line holds a word that is not a part of a longer name. Blanks around `=` are as one likes.
fn holds(line: &str, word: &str) -> bool {
    if let Some(name) = word.strip_suffix(" =") {
        return is_attribute(line) && (line.contains(word) || line.contains(&format!("{name}=")));
    }
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        let joins = |inner: Option<char>, outer: Option<char>| {
            inner.is_some_and(is_name) && outer.is_some_and(is_name)
        };
        let opened = word.ends_with('_') || word.starts_with(is_marker_char);
        !joins(word.chars().next(), before) && (opened || !joins(word.chars().next_back(), after))
    })
}

/// What an attribute begins with may go on: `@pytest.mark.skipif`.
fn is_marker_char(c: char) -> bool {
    matches!(c, '@' | '[' | '#')
}

fn is_attribute(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('@') || line.starts_with("#[") || line.starts_with('[')
}

/// Attributes and decorators above a declaration belong to it.
fn with_attributes(lines: &[&str], mut at: usize) -> usize {
    while at > 0 && lines.get(at - 1).is_some_and(|line| is_attribute(line)) {
        at -= 1;
    }
    at
}

/// The line after a declaration's last one, by indentation.
fn end_of(lines: &[&str], named: usize) -> usize {
    let Some(declared) = lines.get(named) else { return lines.len() };
    let depth = indent(declared);
    for (at, line) in lines.iter().enumerate().skip(named + 1) {
        let text = line.trim_start();
        if text.is_empty() || indent(line) > depth || text.starts_with('{') || text.starts_with(") {") {
            continue;
        }
        let closes = text.starts_with(['}', ')', ']']) || text.starts_with("end");
        return if closes { at + 1 } else { at };
    }
    lines.len()
}

/// What begins a comment of several lines at the beginning of one, and what ends it.
const COMMENTS: &[(&str, &str)] = &[("/*", "*/"), ("#if 0", "#endif"), ("=begin", "=end")];

/// The lines of a text; those of comments over several lines are empty.
fn uncommented(text: &str) -> Vec<&str> {
    let mut until: Option<&str> = None;
    let line = |line| {
        let begun = COMMENTS.iter().find(|(begin, _)| str::trim_start(line).starts_with(begin));
        let end = until.or_else(|| begun.map(|(_, end)| *end));
        until = end.filter(|end| !line.contains(end));
        if end.is_some() { "" } else { line }
    };
    text.lines().map(line).collect()
}
