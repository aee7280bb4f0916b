//! The prefixes of lines when a tool runs several programs at once, or stamps the time: one row a shape.
//!
//! A shape is recognized by how the line begins, so that a line has one shape at the most. That a line has one proves
//! nothing: `error: no` has the shape of a package's label. A column of them does ([`super::Columns`]).

use crate::normalize::pattern;

/// Longest name of a source, in bytes.
const MAX_SOURCE: usize = 120;

/// A line without its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PrefixedLine<'a> {
    /// The row of [`SHAPES`].
    pub(super) shape: usize,
    /// The program that printed it; empty where the prefix does not tell.
    pub(super) source: &'a str,
    /// The line as that program printed it.
    pub(super) rest: &'a str,
}

/// Source and rest of a line of one shape.
type ShapeParts = fn(&str) -> Option<(&str, &str)>;

/// Every shape, with the tools that print it. The first one that fits is the line's.
pub(super) const SHAPES: [(&str, ShapeParts); 11] = [
    ("gh run view --log: `job<TAB>step<TAB>2026-11-25T12:01:01.1234567Z `", github),
    ("foreman, honcho: `12:01:01 web.1   | `", foreman),
    ("ts, GitHub, GitLab, Azure, docker --timestamps: `2026-11-25T12:01:01Z `, `[12:01:01] `", stamped),
    ("docker compose, overmind, hivemind, lage, moon, tilt: `web-1  | `", piped),
    ("yarn workspaces foreach: `➤ YN0000: [b]: `", yarn),
    ("concurrently, npm-run-all, wireit, kubectl --prefix: `[b] `", bracketed),
    ("docker build: `#12 3.456 `", build_step),
    (TREE.0, TREE.1),
    (LABEL.0, LABEL.1),
    ("ansible, GNU parallel --tagstring: `b > `", arrowed),
    ("GNU parallel --tag: `b<TAB>`", tagged),
];

/// pnpm and bun on a terminal: the source is named in the line above, `packages/b test$ jest`.
const TREE: (&str, ShapeParts) = ("pnpm -r and bun --filter on a terminal, wsrun: `│ `", tree);

/// pnpm -r, bun --filter, turbo, nx, lerna.
const LABEL: (&str, ShapeParts) =
    ("pnpm -r: `packages/b test: `; turbo: `b:test: `; nx, lerna: `b: `", labelled);

/// The line without its prefix, where it has one.
pub(super) fn cut(line: &str) -> Option<PrefixedLine<'_>> {
    SHAPES.iter().enumerate().find_map(|(shape, (_, read))| {
        let (source, rest) = read(line)?;
        (source.len() <= MAX_SOURCE).then_some(PrefixedLine { shape, source, rest })
    })
}

/// True for a shape whose source is named in a line above it.
pub(super) fn is_below_heading(shape: usize) -> bool {
    SHAPES.get(shape).is_some_and(|(name, _)| *name == TREE.0)
}

/// The source that a line like `packages/b test$ jest` announces.
pub(super) fn heading(line: &str) -> Option<&str> {
    let (source, _) = labelled(line)?;
    line.get(source.len()..)?.trim_start().starts_with("$ ").then_some(source)
}

/// The rest after the one space that ends a prefix, or nothing where the line ends there.
fn after_space(rest: &str) -> Option<&str> {
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

fn github(line: &str) -> Option<(&str, &str)> {
    let (job, rest) = line.split_once('\t')?;
    let (step, rest) = rest.split_once('\t')?;
    let rest = rest.strip_prefix('\u{feff}').unwrap_or(rest);
    let end = moment(rest)?;
    let rest = after_space(rest.get(end..)?)?;
    (!job.is_empty() && !step.is_empty()).then(|| (line.get(..=job.len() + step.len()).unwrap_or(job), rest))
}

fn foreman(line: &str) -> Option<(&str, &str)> {
    let end = clock(line)?;
    let (name, rest) = name_and_bar(line.get(end..)?.strip_prefix(' ')?)?;
    Some((name, rest))
}

fn stamped(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let inside = line.strip_prefix('[');
    let text = inside.unwrap_or(line);
    let end = moment(text)?;
    let mut rest = text.get(end..)?;
    if inside.is_some() {
        rest = rest.strip_prefix(']')?;
    }
    rest = rest.strip_prefix(':').unwrap_or(rest);
    Some(("", gitlab_stream(after_space(rest)?)))
}

/// GitLab says after the time which stream a line is of: `00O `, `01E+`.
fn gitlab_stream(rest: &str) -> &str {
    match rest.as_bytes() {
        [one, two, b'O' | b'E', b' ' | b'+', ..] if one.is_ascii_digit() && two.is_ascii_digit() => {
            rest.get(4..).unwrap_or_default()
        }
        _ => rest,
    }
}

fn piped(line: &str) -> Option<(&str, &str)> {
    name_and_bar(line)
}

/// `web.1   | `: up to three words, and a bar.
fn name_and_bar(line: &str) -> Option<(&str, &str)> {
    let (at, bar) =
        line.char_indices().take(MAX_SOURCE + 1).find(|(_, one)| matches!(one, '|' | '│' | '┃'))?;
    let (name, rest) = (line.get(..at)?, line.get(at + bar.len_utf8()..)?);
    let name = name.strip_suffix(' ')?.trim_end();
    let words = name.split(' ').filter(|word| !word.is_empty());
    let are_words = words.clone().all(|word| word.chars().all(in_label) && !word.ends_with(':'));
    (begins_label(name) && are_words && words.count() <= 3).then_some(())?;
    Some((name, after_space(rest)?))
}

fn yarn(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('➤')?.trim_start().strip_prefix("YN0000:")?;
    let rest = after_space(rest)?;
    let rest = rest.strip_prefix("│ ").unwrap_or(rest);
    Some(bracketed(rest).unwrap_or(("", rest)))
}

/// `[b] `, `[b]: `, `[test     ] `.
fn bracketed(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
    let plain = !name.contains(['"', '\'', '[', '{', ',', '%', '=']);
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let name = name.trim_end();
    (plain && !name.is_empty() && !name.starts_with(' ')).then_some((name, after_space(rest)?))
}

/// `#12 3.456 `
fn build_step(line: &str) -> Option<(&str, &str)> {
    let (step, rest) = line.strip_prefix('#')?.split_once(' ')?;
    if step.is_empty() || !step.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = rest.split(' ').next().filter(|word| {
        word.split_once('.').is_some_and(|(whole, part)| are_digits(whole, 1..=6) && are_digits(part, 1..=3))
    })?;
    Some((step, after_space(rest.get(seconds.len()..)?)?))
}

fn tree(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('│').or_else(|| line.strip_prefix(" |"))?;
    Some(("", after_space(rest)?))
}

/// `packages/b test: `, `@acme/b:test: `, `b: `, and the line that tells the command: `b test $ jest`.
fn labelled(line: &str) -> Option<(&str, &str)> {
    if !begins_label(line) {
        return None;
    }
    let mut chars = line.char_indices().take(MAX_SOURCE + 2).peekable();
    let mut words = 1;
    while let Some((at, one)) = chars.next() {
        let ends = chars.peek().is_none_or(|(_, next)| *next == ' ');
        match one {
            ':' | '$' if ends => {
                let source = line.get(..at)?.trim_end();
                return Some((source, after_space(line.get(at + 1..)?)?));
            }
            ' ' if words < 2 && chars.peek().is_some_and(|(_, next)| *next == '$' || in_label(*next)) => {
                words += usize::from(chars.peek().is_some_and(|(_, next)| *next != '$'));
            }
            ' ' if chars.peek().is_some_and(|(_, next)| *next == '$') => {}
            one if in_label(one) => {}
            _ => return None,
        }
    }
    None
}

fn arrowed(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(" > ").or_else(|| Some((line.strip_suffix(" >")?, "")))?;
    (begins_label(name) && name.chars().all(in_label)).then_some((name, rest))
}

fn tagged(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = line.split_once('\t')?;
    (!tag.trim().is_empty() && !tag.starts_with(' ')).then_some((tag.trim_end(), rest))
}

fn begins_label(text: &str) -> bool {
    text.starts_with(|one: char| one.is_ascii_alphanumeric() || matches!(one, '@' | '+' | '_' | '/' | '.'))
}

fn in_label(one: char) -> bool {
    one.is_alphanumeric() || matches!(one, '@' | '.' | '_' | '/' | ':' | '+' | '~' | '-' | '#' | '\\')
}

fn are_digits(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

pattern!(CLOCK, r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?");
pattern!(
    MOMENT,
    r"(?x)^
    (?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[Tt\ ]
        |(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [\ 0-9][0-9]\ )?
    [0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?
    (?:[Zz]|[+-]([0-9:]*))?"
);

/// Length of the moment that the text begins with, in one of the usual forms: `2026-11-25T12:01:01.123Z`,
/// `2026/11/25 12:01:01,123+01:00`, `Nov 25 12:01:01`, `12:01:01`, or seconds.
fn moment(text: &str) -> Option<usize> {
    let found = MOMENT.as_ref().and_then(|pattern| pattern.captures(text));
    let Some(found) = found else { return seconds(text) };
    let is_zone = found.get(1).is_none_or(|zone| matches!(zone.len(), 4 | 5));
    found.get(0).filter(|_| is_zone).map(|whole| whole.end())
}

/// `12:01:01`, `12:01:01.123`.
fn clock(text: &str) -> Option<usize> {
    CLOCK.as_ref()?.find(text).map(|found| found.end())
}

/// Seconds since 1970, as `ts %.s` has them.
fn seconds(text: &str) -> Option<usize> {
    let word = text.split(' ').next()?;
    let (whole, part) = word.split_once('.')?;
    (are_digits(whole, 10..=10) && are_digits(part, 3..=9)).then_some(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_put_before_a_line_is_cut_off() {
        let table: [(&str, &str, &str); 45] = [
            ("packages/b test: FAIL x", "packages/b test", "FAIL x"),
            ("packages/b test:   ● a: b", "packages/b test", "  ● a: b"),
            ("packages/b test: ", "packages/b test", ""),
            ("packages/b test:", "packages/b test", ""),
            ("packages/b test$ jest --ci", "packages/b test", "jest --ci"),
            (". test: ok", ". test", "ok"),
            ("b test $ vitest run", "b test", "vitest run"),
            ("b test: Error: boom", "b test", "Error: boom"),
            ("@acme/b:test: PASS", "@acme/b:test", "PASS"),
            ("b:test:unit: PASS", "b:test:unit", "PASS"),
            ("@acme/b: PASS: x", "@acme/b", "PASS: x"),
            ("b:     12 | expect(a)", "b", "    12 | expect(a)"),
            ("web-1  | ok 1 - a", "web-1", "ok 1 - a"),
            ("web_1  |   a | b", "web_1", "  a | b"),
            ("web-1  |", "web-1", ""),
            ("b:test | ok", "b:test", "ok"),
            ("VERB  b test |  ok", "VERB  b test", " ok"),
            ("web │ ok", "web", "ok"),
            ("+test | ok", "+test", "ok"),
            ("12:01:01 web.1   | ok 1", "web.1", "ok 1"),
            ("12:01:01 web.1   |   x", "web.1", "  x"),
            ("[12:01:01] ok", "", "ok"),
            ("12:01:01 ok", "", "ok"),
            ("12:01:01.123   ok", "", "  ok"),
            ("2026-11-25T12:01:01.1234567Z ok", "", "ok"),
            ("2026-11-25T12:01:01+01:00 ok", "", "ok"),
            ("2026-11-25 12:01:01,123 ok", "", "ok"),
            ("[2026-11-25 12:01:01] ok", "", "ok"),
            ("[2026-11-25T12:01:01.123Z]: ok", "", "ok"),
            ("2026-11-25T12:01:01.123456Z 00O ok", "", "ok"),
            ("2026-11-25T12:01:01.123456Z 01E+ok", "", "ok"),
            ("Nov 25 12:01:01 ok", "", "ok"),
            ("Nov  5 12:01:01 ok", "", "ok"),
            ("1732492861.123456 ok", "", "ok"),
            ("2026-11-25T12:01:01Z", "", ""),
            ("test\tRun tests\t2026-11-25T12:01:01.1Z ok 1\tx", "test\tRun tests", "ok 1\tx"),
            ("packages/b\tok 1 - a", "packages/b", "ok 1 - a"),
            ("[0] ok", "0", "ok"),
            ("[test     ] ok", "test", "ok"),
            ("[@acme/b]: ok", "@acme/b", "ok"),
            ("[b:test] ok", "b:test", "ok"),
            ("➤ YN0000: [b]: ok", "b", "ok"),
            ("➤ YN0000: Done", "", "Done"),
            ("#12 3.456 ok", "12", "ok"),
            ("│   ok", "", "  ok"),
        ];
        for (line, source, rest) in table {
            let cut = cut(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((cut.source, cut.rest), (source, rest), "{line}");
        }
    }

    #[test]
    fn what_runners_print_mostly_has_no_shape() {
        let lines = [
            "test foo::bar ... ok",
            "test result: ok",
            "ok 1 - adds",
            "not ok 2 - b",
            "    ok 1 - a",
            "# tests 5",
            "  3 passing (5ms)",
            "  > 3 | code",
            "    12 | code",
            "tests/test_a.py::test_b PASSED [ 50%]",
            "tests/test_a.py F.F    [100%]",
            "==== 2 failed in 0.1s ====",
            "--- FAIL: TestA (0.00s)",
            "=== RUN   TestA",
            "[ RUN      ] A.b",
            "[       OK ] A.b (0 ms)",
            "[ 50%] Building",
            "[\"pass\",{}]",
            "{\"Action\":\"run\"}",
            "<testsuite>",
            "File    | % Stmts | x",
            "",
            "some words: more",
            "two words and more: x",
            "::group::x",
            "12:01",
            "2026-11-25",
        ];
        // A label of one or two words alone is what log lines have as well: the column decides.
        let alike = ["test result: ok", "File    | % Stmts | x", "some words: more", "[ 50%] Building"];
        for line in lines {
            assert!(cut(line).is_none() || alike.contains(&line), "{line}: {:?}", cut(line));
        }
        assert_eq!(heading("packages/b test$ jest"), Some("packages/b test"));
        assert_eq!(heading("b test $ vitest run"), Some("b test"));
        assert_eq!(heading("packages/b test: jest"), None);
    }
}
