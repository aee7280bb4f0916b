//! Tells from its declaration, its statements and the groups around it whether a test runs.

use std::{cell::OnceCell, collections::HashSet, ops::Range};

use crate::code_mask::{Family, is_off};
use crate::declaration::{attributes, is_attribute};
use crate::source::{Source, holds, holds_start, is_name, is_noise, name};
use crate::words::{GROUPS, Marks, PLATFORMS, SETUPS, Words};

/// The parts of a test, as places in its file.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// All of it, with its attributes.
    pub(super) block: Range<usize>,
    /// The line of its name.
    pub(super) line: usize,
    /// The end of its attributes.
    pub(super) attributes: usize,
    /// The beginning of its name.
    pub(super) place: usize,
    /// The beginning of its body.
    pub(super) body: usize,
}

/// True when the declaration of a test has one of the marks.
pub(super) fn is_marked(source: &Source, marks: &Marks<'_>, test: &Layout) -> bool {
    if marks.is_empty() {
        return false;
    }
    let code = |range: Range<usize>| source.code.get(range).unwrap_or_default();
    let (start, end) = (test.block.start, test.block.end);
    let above = code(start..test.attributes);
    // In PHP an attribute may be a comment.
    let raw = source.raw.get(start..test.attributes).filter(|_| source.family == Family::Php);
    let quoted = source.raw.get(test.attributes..test.body).unwrap_or_default();
    let options = code(test.attributes..test.body);
    let chain = code(start..test.place);
    let declares = options.trim_start();
    let tail = code(test.body.min(end)..end);
    let tail = tail.rfind("\n}").map_or("", |at| tail.get(at..).unwrap_or_default());
    has_attribute(raw.unwrap_or(above), marks)
        || marks.options.iter().any(|word| is_option(options, word) || is_option(above, word))
        || marks.options.iter().any(|word| word.ends_with(':') && is_option(tail, word))
        || marks.quoted.iter().any(|word| quoted.contains(word))
        || marks.chains.iter().any(|word| holds(chain, word))
        || marks.tails.iter().any(|word| tail.contains(word))
        || marks.declares.iter().any(|word| declares.starts_with(word))
}

fn has_attribute(text: &str, marks: &Marks<'_>) -> bool {
    marks.attributes.iter().any(|word| holds_start(text, word)) && !is_on_some(text) || is_never(text)
}

/// True for a condition on the machine.
pub(super) fn is_of_platform(condition: &str) -> bool {
    PLATFORMS.iter().any(|word| holds(condition, word))
}

/// True for attributes that skip a test on some machines alone, as `#[cfg_attr(miri, ignore)]` does.
fn is_on_some(text: &str) -> bool {
    let conditions = ["cfg_attr(", "skipif(", "skipIf(", "skipUnless(", "xfail("];
    let conditions = conditions.iter().filter_map(|word| text.split_once(word));
    conditions.into_iter().any(|(_, rest)| is_of_platform(rest.split(')').next().unwrap_or(rest)))
}

/// True for attributes of Rust that leave out their item.
fn is_never(text: &str) -> bool {
    let Some((_, condition)) = text.split_once("cfg(") else { return false };
    let never = ["any()", "FALSE", "(false", ", false"].iter().any(|it| condition.contains(it));
    never && !condition.contains("not(any())") || condition.starts_with("false")
}

/// True for a text that has an option and does not negate it.
fn is_option(text: &str, word: &str) -> bool {
    let bare = word.strip_suffix(" =").unwrap_or(word);
    text.match_indices(bare).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let next = text.get(at + bare.len()..).unwrap_or_default();
        let rest = next.trim_start();
        let apart = !(bare.starts_with(is_name) && before.is_some_and(is_name));
        let says = match word.as_bytes() {
            [.., b'='] => rest.starts_with('='),
            [.., b':'] => !["false", "nil", "null", "undefined"].iter().any(|no| rest.starts_with(no)),
            [b':', ..] => !next.starts_with(is_name),
            _ => true,
        };
        apart && says
    })
}

/// True when one of a line's statements is one of the marks.
pub(super) fn is_said(line: &str, marks: &Marks<'_>) -> bool {
    let mut words = marks.statements.iter();
    words.any(|word| {
        let alone = word.bytes().all(|byte| byte.is_ascii_lowercase());
        // A word that may be a name or a value has to begin a statement.
        let begins = |text: &str| text.trim_start().starts_with(word);
        holds(line, word) && (!alone && *word != "Skip(" || line.split(['{', ';']).any(begins))
    })
}

/// Reads the annotations, classes, groups and preparations that concern all tests in them.
pub(super) struct Groups<'s, 't> {
    pub(super) source: &'s Source,
    pub(super) words: &'s Words<'t>,
    /// The base classes of this side.
    pub(super) heirs: &'s Heirs<'t>,
}

impl Groups<'_, '_> {
    /// The lines whose tests a line outside of tests skips; `own` says whether a line declares one.
    pub(super) fn skipped(&self, at: usize, own: impl Fn(usize) -> bool) -> Option<Range<usize>> {
        let (source, code) = (self.source, self.source.code(at));
        if code.trim().is_empty() {
            return self.is_build_tag(at).then(|| 0..source.len());
        }
        if is_attribute(code) && has_attributes(source.family) {
            if !has_attribute(&self.statement(at), &self.words.skips) && !self.is_feature_off(at) {
                return None;
            }
            if code.trim_start().starts_with("#!") || code.contains("@moduletag") {
                return Some(source.parent(at).map_or(0..source.len(), |group| group..source.end_of(group)));
            }
            let depth = source.depth(at);
            let opens = (at + 1..source.len())
                .find(|at| source.depth(*at) <= depth && !is_noise(attributes(source.code(*at)).1));
            return opens.filter(|at| !own(*at)).map(|opens| at..source.end_of(opens));
        }
        if is_group_marked(code, &self.words.skips) {
            return Some(at..source.end_of(at));
        }
        self.by_statement(at, code)
    }

    /// The lines besides which no test of the file runs.
    pub(super) fn focused(&self, at: usize) -> Option<Range<usize>> {
        is_group_marked(self.source.code(at), &self.words.focuses).then(|| at..self.source.end_of(at))
    }

    fn around(&self, at: usize) -> Range<usize> {
        self.source.parent(at).map_or(0..self.source.len(), |group| group..self.source.end_of(group))
    }

    /// A line with those that its brackets go on to.
    fn statement(&self, at: usize) -> String {
        let depth = self.source.depth(at);
        let more = (at + 1..self.source.len()).take_while(|at| self.source.depth(*at) > depth).take(64);
        std::iter::once(at).chain(more).map(|at| self.source.code(at)).collect::<Vec<_>>().join(" ")
    }

    fn is_feature_off(&self, at: usize) -> bool {
        is_feature_off(self.source.text(at))
    }

    /// `//go:build ignore`
    fn is_build_tag(&self, at: usize) -> bool {
        let tag = |text: &str| {
            ["//go:build ", "// +build "].iter().find_map(|it| text.strip_prefix(it)).is_some_and(is_off)
        };
        self.source.family == Family::Go && at < 40 && tag(self.source.text(at))
    }

    /// The lines that a skip outside of any test skips: what it prepares, or the whole file.
    fn by_statement(&self, at: usize, code: &str) -> Option<Range<usize>> {
        let python = self.source.family == Family::Python;
        let text = code.trim_start();
        if python && text.starts_with("pytestmark") {
            let marks = &self.words.skips;
            return has_attribute(&self.statement(at), marks).then(|| self.around(at));
        }
        if python && text.starts_with("__test__ = False") {
            return Some(self.around(at));
        }
        if self.words.skips.statements.is_empty() || !is_said(code, &self.words.skips) {
            return None;
        }
        if python && self.source.indent(at) == 0 {
            return Some(0..self.source.len());
        }
        let begins = |line: &str| SETUPS.contains(name(line.trim_start()));
        if begins(text) {
            return Some(self.around(at));
        }
        let opener = self.source.parent(at)?;
        let line = self.source.code(opener);
        let declares = super::declaration::function(line).is_some_and(|name| SETUPS.contains(&name));
        (declares || begins(line)).then(|| self.around(opener))
    }

    /// A class whose tests no runner finds: none of a test's name, abstract without heirs, without its attribute.
    pub(super) fn uncollected(&self, at: usize) -> Option<Range<usize>> {
        let code = self.source.code(at).trim_start();
        let head = code.split("class ").next().filter(|head| head.len() < code.len())?;
        let plain = head.split_whitespace().all(|word| word.bytes().all(|it| it.is_ascii_lowercase()));
        let rest = code.get(head.len() + "class ".len()..)?;
        let class = name(rest);
        if !plain || class.is_empty() {
            return None;
        }
        let bases = rest.get(class.len()..).unwrap_or_default().trim_start();
        let family = self.source.family;
        let lost = if family == Family::Python {
            let bare = [":", "():", "(object)"].iter().any(|it| bases.starts_with(it));
            bare && !class.starts_with("Test")
        } else {
            let unmarked = || {
                let mut above = (0..at).rev().take_while(|at| is_attribute(self.source.code(*at)));
                !above.any(|at| self.source.code(at).contains("TestClass"))
            };
            matches!(family, Family::Jvm | Family::Php | Family::Sharp) && head.contains("abstract")
                || family == Family::Sharp && self.source.code.contains("[TestMethod") && unmarked()
        };
        (lost && !self.heirs.has(class)).then(|| at..self.source.end_of(at))
    }
}

/// True for an item behind a feature that is never on, as `#[cfg(feature = "never")]`.
pub(super) fn is_feature_off(text: &str) -> bool {
    text.split_once("feature = \"").is_some_and(|(_, name)| is_off(name))
}

/// True where attributes are on lines of their own.
pub(super) fn has_attributes(family: Family) -> bool {
    use Family::{Elixir, Jvm, Php, Python, Rust, Sharp, Swift};
    matches!(family, Rust | Python | Jvm | Sharp | Php | Swift | Elixir)
}

/// True for a line that declares a marked group.
fn is_group_marked(code: &str, marks: &Marks<'_>) -> bool {
    let mut code = code.trim_start();
    if marks.is_empty() {
        return false;
    }
    for word in ["export ", "var _ = ", "RSpec.", "test."] {
        code = code.strip_prefix(word).unwrap_or(code);
    }
    let word = name(code);
    let plain = word.strip_prefix(['x', 'f', 'X', 'P', 'F']).unwrap_or(word);
    if !GROUPS.contains(word) && !GROUPS.contains(plain) {
        return false;
    }
    let chain = code.split(['"', '\'', '`']).next().unwrap_or(code);
    let head = code.split("=>").next().unwrap_or(code);
    marks.declares.iter().any(|word| code.starts_with(word))
        || marks.chains.iter().any(|word| holds(chain, word))
        || marks.options.iter().any(|word| is_option(head, word))
}

/// The texts of all files of a side, read for their bases when one is first asked for.
#[derive(Debug)]
pub(super) struct Heirs<'t> {
    texts: Vec<&'t str>,
    bases: OnceCell<HashSet<&'t str>>,
}

impl<'t> Heirs<'t> {
    pub(super) fn new(texts: Vec<&'t str>) -> Self {
        Self { texts, bases: OnceCell::new() }
    }

    /// True when `class` is in the place where a declaration names its base. Other text may look the same: then a class
    /// counts as run.
    pub(super) fn has(&self, class: &str) -> bool {
        self.bases.get_or_init(|| self.texts.iter().flat_map(|text| bases(text)).collect()).contains(class)
    }
}

/// The names behind `extends`, as an argument and behind a colon, as Python, Kotlin and C# write bases.
fn bases(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter_map(move |(at, c)| {
        let before = text.get(..at)?;
        if !is_name(c) || before.ends_with(is_name) {
            return None;
        }
        let base = name(&text[at..]);
        let last = || before.ends_with(", ") && text[at + base.len()..].starts_with(')');
        (["extends ", "(", ": "].iter().any(|it| before.ends_with(it)) || last()).then_some(base)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_known_in_any_text() {
        let heirs = Heirs::new(vec![
            "class A extends Base {}",
            "class B(Mixin, Other):",
            "class C : Third",
            "(a, Named, b)",
        ]);
        for class in ["Base", "Mixin", "Other", "Third"] {
            assert!(heirs.has(class), "{class}");
        }
        for class in ["A", "Bas", "class", "", "Named"] {
            assert!(!heirs.has(class), "{class}");
        }
    }
}
