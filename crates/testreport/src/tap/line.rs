//! The grammar of one TAP line (versions 12, 13 and 14), without its indentation.

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'t> {
    /// `TAP version 14`
    Version,
    /// `1..3`, `1..0 # SKIP no network`
    Plan(u64),
    /// `100..1`: the shape of a plan, and none.
    WrongPlan(&'t str),
    /// `pragma +strict`: from here on a line that is no TAP is a fault, or no longer one.
    Strict(Strictness),
    /// `pragma` of something else.
    Pragma,
    /// `ok 1 - description`
    Point(Point),
    /// `Bail out! reason`
    BailOut(&'t str),
    /// `# text`
    Comment(&'t str),
    /// Anything else: TAP lets programs print what they like in between.
    Other,
}

impl<'t> Line<'t> {
    /// The text of a comment.
    pub(super) fn comment(&self) -> Option<&'t str> {
        if let Self::Comment(text) = self { Some(text) } else { None }
    }
}

/// A test point.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// `ok`, not `not ok`.
    pub(super) ok: bool,
    /// Its number, when it has one.
    pub(super) number: Option<u64>,
    /// Its description, unescaped, without directive.
    pub(super) description: String,
    pub(super) directive: Directive,
    /// A brace at the end of its line, behind which some writers have its subtests.
    pub(super) opens: bool,
}

/// The strictness that `pragma` asks for towards lines that are no TAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// `+strict`: there must be none.
    Strict,
    /// `-strict`: they are other output.
    Lenient,
}

/// The directive behind `#`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    /// Nothing that matters.
    None,
    /// `# SKIP`: did not run.
    Skip,
    /// `# TODO`: expected to fail.
    Todo,
}

pub(super) fn parse_line(line: &str) -> Line<'_> {
    if let Some(reason) = line.strip_prefix("Bail out!") {
        return Line::BailOut(reason.trim());
    }
    if let Some(text) = line.strip_prefix('#') {
        return Line::Comment(text.strip_prefix(' ').unwrap_or(text));
    }
    if let Some(version) = line.strip_prefix("TAP version ") {
        return if version.trim().parse::<u32>().is_ok() { Line::Version } else { Line::Other };
    }
    if let Some(list) = line.strip_prefix("pragma ") {
        return parse_pragma(list);
    }
    parse_plan(line).or_else(|| parse_point(line).map(Line::Point)).unwrap_or(Line::Other)
}

/// `1..N`, alone or followed by a comment: `1..3 more words` is other output. Two numbers that do not begin with 1 are
/// a plan that went wrong.
fn parse_plan(line: &str) -> Option<Line<'_>> {
    let (first, rest) = line.split_once("..")?;
    let end = rest.split(|each: char| !each.is_ascii_digit()).next()?;
    let after = rest.get(end.len()..)?.trim_start();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(end) || !(after.is_empty() || after.starts_with('#')) {
        return None;
    }
    match (first.parse::<u64>(), end.parse::<u64>()) {
        (Ok(1), Ok(planned)) => Some(Line::Plan(planned)),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => Some(Line::WrongPlan(line)),
    }
}

/// `+strict`, alone or in a list: `+strict,-other`.
fn parse_pragma(list: &str) -> Line<'_> {
    let mut pragma = Line::Pragma;
    for one in list.split(',').map(str::trim) {
        match one {
            "+strict" => pragma = Line::Strict(Strictness::Strict),
            "-strict" => pragma = Line::Strict(Strictness::Lenient),
            other if other.starts_with(['+', '-']) => {}
            _ => return Line::Other,
        }
    }
    pragma
}

fn parse_point(line: &str) -> Option<Point> {
    let (ok, rest) = match (line.strip_prefix("ok"), line.strip_prefix("not ok")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return None,
    };
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let rest = rest.trim();
    let digits = rest.split(|each: char| !each.is_ascii_digit()).next().unwrap_or_default();
    let after = rest.get(digits.len()..).unwrap_or_default();
    let numbered = after.is_empty() || after.starts_with(char::is_whitespace);
    let number = if numbered { digits.parse().ok() } else { None };
    let text = if number.is_some() { after.trim_start() } else { rest };
    let (text, opens) = match text.strip_suffix(" {") {
        Some(text) => (text.trim_end(), true),
        None => (text, false),
    };
    let (text, directive) = split_directive(text);
    let description = text.strip_prefix('-').map_or(text, str::trim_start);
    Some(Point { ok, number, description: unescape(description.trim()), directive, opens })
}

/// Cuts the directive off: the last `#` that begins a word and is not escaped. A `#` that begins no known
/// directive is part of the description (`issue #12`), but for the time that some runners write there.
fn split_directive(text: &str) -> (&str, Directive) {
    let start = text.char_indices().rev().find(|(at, each)| {
        *each == '#'
            && (*at == 0 || text.get(..*at).is_some_and(|before| before.ends_with(char::is_whitespace)))
    });
    let Some((at, _)) = start else { return (text, Directive::None) };
    let word = text.get(at + 1..).unwrap_or_default().trim_start().to_ascii_lowercase();
    let description = text.get(..at).unwrap_or_default().trim_end();
    if word.starts_with("skip") {
        (description, Directive::Skip)
    } else if word.starts_with("todo") {
        (description, Directive::Todo)
    } else if word.starts_with("time=") {
        split_directive(description)
    } else {
        (text, Directive::None)
    }
}

/// `\#` is `#`, `\\` is `\`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(each) = chars.next() {
        match (each, chars.peek()) {
            ('\\', Some(next @ ('#' | '\\'))) => {
                out.push(*next);
                chars.next();
            }
            _ => out.push(each),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(ok: bool, number: Option<u64>, description: &str, directive: Directive) -> Line<'static> {
        Line::Point(Point { ok, number, description: description.to_owned(), directive, opens: false })
    }

    #[test]
    fn points() {
        use Directive::{None as Plain, Skip, Todo};
        let cases = [
            ("ok", point(true, None, "", Plain)),
            ("ok 1", point(true, Some(1), "", Plain)),
            ("not ok 2 - adds", point(false, Some(2), "adds", Plain)),
            ("ok adds", point(true, None, "adds", Plain)),
            ("ok - adds", point(true, None, "adds", Plain)),
            ("ok 3 # SKIP no network", point(true, Some(3), "", Skip)),
            ("not ok 4 - later # TODO not done", point(false, Some(4), "later", Todo)),
            ("not ok 4 later # todo", point(false, Some(4), "later", Todo)),
            ("ok 5 skipped # skipped: slow", point(true, Some(5), "skipped", Skip)),
            ("ok 6 - issue #12 # time=5.2ms", point(true, Some(6), "issue #12", Plain)),
            ("ok 7 - not a \\# TODO here", point(true, Some(7), "not a # TODO here", Plain)),
            ("ok 8 - a # b", point(true, Some(8), "a # b", Plain)),
            ("ok 9 - slow # SKIP # time=1ms", point(true, Some(9), "slow", Skip)),
            ("ok 1st thing", point(true, None, "1st thing", Plain)),
            ("not ok 99999999999999999999 x", point(false, None, "99999999999999999999 x", Plain)),
        ];
        for (line, expected) in cases {
            assert_eq!(parse_line(line), expected, "{line}");
        }
    }

    #[test]
    fn other_lines() {
        let cases = [
            ("TAP version 13", Line::Version),
            ("TAP version of things", Line::Other),
            ("1..3", Line::Plan(3)),
            ("1..0 # SKIP no network", Line::Plan(0)),
            ("1..0 # Skipped: no network", Line::Plan(0)),
            ("1..3 monkeys", Line::Other),
            ("1..", Line::Other),
            ("100..1", Line::WrongPlan("100..1")),
            ("0..3 # no", Line::WrongPlan("0..3 # no")),
            ("2..5 monkeys", Line::Other),
            ("1..99999999999999999999", Line::WrongPlan("1..99999999999999999999")),
            ("..3", Line::Other),
            ("pragma +strict", Line::Strict(Strictness::Strict)),
            ("pragma +bail, -strict", Line::Strict(Strictness::Lenient)),
            ("pragma +bail", Line::Pragma),
            ("pragma once", Line::Other),
            ("Bail out!  no disk", Line::BailOut("no disk")),
            ("# Subtest: a", Line::Comment("Subtest: a")),
            ("okay", Line::Other),
            ("not okay", Line::Other),
            ("not", Line::Other),
        ];
        for (line, expected) in cases {
            assert_eq!(parse_line(line), expected, "{line}");
        }
    }
}
