//! tape's way of naming tests: a comment above their points, which by themselves only say what was compared
//! (`should be strictly equal`), or how an exception reads.

use super::line::{Line, Point, parse_line};

/// Comments that name tests.
#[derive(Debug, Default)]
pub(super) enum Headings {
    /// No version line has come, or points came without a heading: comments are only comments.
    #[default]
    None,
    /// After the version line: the next line decides.
    Version,
    /// The name of the test that is running; no point has come that would speak against it.
    Maybe(String),
    /// The name of the test that is running.
    Test(String),
}

impl Headings {
    const MAX_NAME: usize = 1024;

    /// Takes a line at the top before anything else looks at it; true when it is a heading.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let parsed = parse_line(line);
        let Some(text) = parsed.comment().filter(|text| !text.starts_with("Subtest")) else {
            self.other(line, &parsed);
            return false;
        };
        let name = text.chars().take(Self::MAX_NAME).collect();
        match self {
            Self::None => return false,
            Self::Version | Self::Maybe(_) => *self = Self::Maybe(name),
            Self::Test(_) => *self = Self::Test(name),
        }
        true
    }

    /// Takes a line that names no test.
    fn other(&mut self, line: &str, parsed: &Line<'_>) {
        let is_point = matches!(parsed, Line::Point(_));
        let ends = match self {
            // tape writes no dash between number and description.
            Self::Maybe(_) => is_point && has_dash(line),
            Self::Version => is_point || matches!(parsed, Line::Plan(_) | Line::Comment(_)),
            Self::None | Self::Test(_) => false,
        };
        if *parsed == Line::Version {
            *self = Self::Version;
        } else if ends {
            *self = Self::None;
        } else if let (Self::Maybe(name), true) = (&mut *self, is_point) {
            *self = Self::Test(std::mem::take(name));
        }
    }

    /// Puts the test's name before the description. Of an exception only the type names the point; how it reads
    /// is handed back, as the beginning of the error text.
    pub(super) fn name(&self, mut point: Point) -> (Point, String) {
        let Self::Test(test) = self else { return (point, String::new()) };
        let lead = std::mem::take(&mut point.description);
        let own = exception(&lead).unwrap_or(&lead);
        point.description = if own.is_empty() { test.clone() } else { format!("{test} > {own}") };
        (point, lead)
    }
}

/// The type of `TypeError: no` and of `AssertionError [ERR_ASSERTION]: no`.
fn exception(description: &str) -> Option<&str> {
    let (kind, _) = description.split_once(": ")?;
    let name = kind.split(' ').next()?;
    let rest = kind.get(name.len()..).unwrap_or_default().trim();
    let named = name.ends_with("Error") || name.ends_with("Exception");
    (named && (rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']')))).then_some(name)
}

/// `ok 1 - a`
fn has_dash(line: &str) -> bool {
    let after = line.trim_start_matches("not ").trim_start_matches("ok").trim_start();
    after.trim_start_matches(|each: char| each.is_ascii_digit()).trim_start().starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lines: &[&str]) -> Vec<(String, String)> {
        let mut headings = Headings::default();
        let mut named = Vec::new();
        for line in lines {
            if headings.line(line) {
                continue;
            }
            if let Line::Point(point) = parse_line(line) {
                let (point, lead) = headings.name(point);
                named.push((point.description, lead));
            }
        }
        named
    }

    fn pair(name: &str, lead: &str) -> (String, String) {
        (name.to_owned(), lead.to_owned())
    }

    #[test]
    fn comments_of_tape_name_tests() {
        let tape = ["TAP version 13", "# one", "ok 1 a", "# two", "not ok 2 TypeError: no", "# tests 2"];
        assert_eq!(names(&tape), [pair("one > a", "a"), pair("two > TypeError", "TypeError: no")]);
    }

    #[test]
    fn other_comments_do_not() {
        for lines in [
            &["# one", "ok 1 a"][..],
            &["TAP version 14", "1..1", "# one", "ok 1 a"],
            &["TAP version 13", "# Subtest: one", "ok 1 a"],
            &["TAP version 13", "# one", "ok 1 - a", "# two", "ok 2 - a"],
        ] {
            assert!(names(lines).iter().all(|named| *named == pair("a", "")), "{lines:?}");
        }
    }
}
