//! The steps, each a small function that knows one kind of volatile text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::Root;

/// A pattern that is compiled when it is first needed. The patterns are constants, and a test compiles
/// each, so the `None` of a pattern that does not compile never comes up.
type Pattern = LazyLock<Option<Regex>>;

macro_rules! pattern {
    ($name:ident, $regex:literal) => {
        static $name: Pattern = LazyLock::new(|| Regex::new($regex).ok());
    };
}

/// Replaces every match of `pattern`.
pub(super) fn replace<'t>(pattern: &Pattern, text: &'t str, with: &str) -> Cow<'t, str> {
    pattern.as_ref().map_or(Cow::Borrowed(text), |pattern| pattern.replace_all(text, with))
}

/// True when the text has a digit: most steps have nothing to do without one.
fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn replace_digits<'t>(pattern: &Pattern, text: &'t str, with: &str) -> Cow<'t, str> {
    if has_digit(text) { replace(pattern, text, with) } else { Cow::Borrowed(text) }
}

pattern!(ANSI, r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])");

/// Terminal escapes: colours, cursor movements, titles and links.
pub(in crate::testreport) fn strip_ansi(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte == 0x1b) { replace(&ANSI, text, "") } else { Cow::Borrowed(text) }
}

/// Control characters other than line ends; tabs become spaces.
pub(super) fn drop_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|each| each.is_control() && each != '\n') {
        return Cow::Borrowed(text);
    }
    let spaced = text.chars().map(|each| if each == '\t' { ' ' } else { each });
    Cow::Owned(spaced.filter(|each| !each.is_control() || *each == '\n').collect())
}

/// The absolute path of the project root, with the slash after it; the root itself becomes `.`.
pub(super) fn strip_root<'t>(root: &Root, text: &'t str) -> Cow<'t, str> {
    let Some(root) = root.path().filter(|root| text.contains(root)) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(root) {
        let (head, tail) = rest.split_at(at);
        let after = tail.get(root.len()..).unwrap_or_default();
        let starts_here = !head.chars().next_back().is_some_and(is_path_char);
        out.push_str(head);
        match after.chars().next() {
            Some('/') if starts_here => rest = after.get(1..).unwrap_or_default(),
            next if starts_here && !next.is_some_and(is_path_char) => {
                out.push('.');
                rest = after;
            }
            Some(_) | None => {
                out.push_str(root);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_path_char(each: char) -> bool {
    each.is_alphanumeric() || matches!(each, '_' | '-' | '.')
}

pattern!(
    TEMP_DIR,
    r"(^|[^A-Za-z0-9_.-])(/private)?(/tmp|/var/tmp|/var/folders/[^/\s]+/[^/\s]+/T|/dev/shm)(/[A-Za-z0-9_.@+=,-]+)*/([A-Za-z0-9_.@+=,-]+)"
);

/// Paths below the usual temporary directories. A file in a directory there keeps its own name; a name
/// directly below is random more often than not and goes.
pub(super) fn mask_temp_paths(text: &str) -> Cow<'_, str> {
    let Some(pattern) = TEMP_DIR.as_ref().filter(|_| text.contains('/')) else { return Cow::Borrowed(text) };
    pattern.replace_all(text, |found: &regex::Captures<'_>| {
        let before = found.get(1).map_or("", |group| group.as_str());
        match (found.get(4), found.get(5)) {
            (Some(_), Some(leaf)) => format!("{before}<tmp>/{}", leaf.as_str()),
            (Some(_) | None, Some(_) | None) => format!("{before}<tmp>"),
        }
    })
}

pattern!(
    TIMESTAMP,
    r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?Z\b| ?[+-][0-9]{2}:?[0-9]{2}\b)?|\b[0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]+"
);

/// Dates with a time of day, and times of day with fractions. A date alone may be what a test is about.
pub(super) fn mask_timestamps(text: &str) -> Cow<'_, str> {
    replace_digits(&TIMESTAMP, text, "<time>")
}

pattern!(DURATION, r"\b[0-9]+(\.[0-9]+)?( ?(ns|us|µs|μs|ms)|s| (s|secs?|seconds?|milliseconds?|minutes?))\b");

/// Durations with their unit.
pub(super) fn mask_durations(text: &str) -> Cow<'_, str> {
    replace_digits(&DURATION, text, "<duration>")
}

pattern!(UUID, r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b");

/// UUIDs.
pub(super) fn mask_uuids(text: &str) -> Cow<'_, str> {
    replace(&UUID, text, "<uuid>")
}

pattern!(ADDRESS, r"\b0[xX][0-9a-fA-F]{6,}\b");

/// Addresses: `0x` and at least six digits. Shorter ones are values that a test is about.
pub(super) fn mask_addresses(text: &str) -> Cow<'_, str> {
    replace_digits(&ADDRESS, text, "<address>")
}

pattern!(THREAD, r"\b(thread '[^'\n]*') \([0-9]+\)");

/// The number that Rust prints after a thread's name.
pub(super) fn mask_threads(text: &str) -> Cow<'_, str> {
    replace_digits(&THREAD, text, "$1")
}

pattern!(LONG_HEX, r"\b[0-9a-f]{12,}\b|\b[0-9A-F]{12,}\b");

/// Hexadecimal of twelve digits or more with at least one decimal digit: hashes of builds, object ids.
pub(super) fn mask_long_hex(text: &str) -> Cow<'_, str> {
    let Some(pattern) = LONG_HEX.as_ref().filter(|_| has_digit(text)) else { return Cow::Borrowed(text) };
    pattern.replace_all(text, |found: &regex::Captures<'_>| {
        let digits = found.get(0).map_or("", |group| group.as_str());
        if has_digit(digits) { "<hex>".to_owned() } else { digits.to_owned() }
    })
}

pattern!(
    POSITION,
    r"(\.[A-Za-z][A-Za-z0-9]{0,5}):[0-9]+(:[0-9]+)?\b|(\.[A-Za-z][A-Za-z0-9]{0,5})\([0-9]+(,[0-9]+)?\)|([^0-9\s]):[0-9]+:[0-9]+\b|\b(lines?) [0-9]+\b"
);

/// Lines and columns: `file.rs:3:5`, `file.ts(3,5)`, `<eval>:3:5`, `line 3`.
pub(super) fn mask_positions(text: &str) -> Cow<'_, str> {
    let Some(pattern) = POSITION.as_ref().filter(|_| has_digit(text)) else { return Cow::Borrowed(text) };
    pattern.replace_all(text, |found: &regex::Captures<'_>| {
        let kept = [1, 3, 5].iter().find_map(|group| found.get(*group));
        match (kept, found.get(6)) {
            (Some(kept), Some(_) | None) => format!("{}:<pos>", kept.as_str()),
            (None, Some(word)) => format!("{} <pos>", word.as_str()),
            (None, None) => "<pos>".to_owned(),
        }
    })
}

pattern!(LONG_NUMBER, r"\b[0-9]{6,}\b");

/// Numbers of six digits or more: process ids, ports of another day, counters.
pub(super) fn mask_long_numbers(text: &str) -> Cow<'_, str> {
    replace_digits(&LONG_NUMBER, text, "<number>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(step: fn(&str) -> Cow<'_, str>, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(step(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn every_pattern_compiles() {
        let all = [
            &ANSI,
            &TEMP_DIR,
            &TIMESTAMP,
            &DURATION,
            &UUID,
            &ADDRESS,
            &THREAD,
            &LONG_HEX,
            &POSITION,
            &LONG_NUMBER,
        ];
        assert!(all.into_iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn ansi() {
        check(
            strip_ansi,
            &[
                ("plain", "plain"),
                ("\x1b[1;31mred\x1b[0m", "red"),
                ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
                ("\x1b[2K\x1b[?25lgone\x1b(B", "gone"),
                ("\x1b", "\x1b"),
            ],
        );
    }

    #[test]
    fn controls() {
        check(drop_controls, &[("a\tb\r\nc\u{0}\u{7f}", "a b\nc"), ("plain\n", "plain\n")]);
    }

    #[test]
    fn roots() {
        let cases = [
            ("/work/p", "at /work/p/src/a.rs and file:///work/p/b", "at src/a.rs and file://b"),
            ("/work/p", "/work/pq/a /x/work/p/a /work/p", "/work/pq/a /x/work/p/a ."),
            ("/work/p/", "(/work/p/a)", "(a)"),
            ("/", "/a/b", "/a/b"),
            ("", "/a/b", "/a/b"),
        ];
        for (root, text, expected) in cases {
            assert_eq!(strip_root(&Root::new(root), text), expected, "{text}");
        }
    }

    #[test]
    fn temp_paths() {
        check(
            mask_temp_paths,
            &[
                ("open /tmp/.tmpAbC12/out.txt: no", "open <tmp>/out.txt: no"),
                ("'/tmp/pytest-of-ann/pytest-3/x0'", "'<tmp>/x0'"),
                ("/private/var/folders/ab/cd_e/T/tmp9 is", "<tmp> is"),
                ("/srv/tmp/a/b", "/srv/tmp/a/b"),
            ],
        );
    }

    #[test]
    fn timestamps() {
        check(
            mask_timestamps,
            &[
                ("at 2026-11-20T15:30:00.123Z!", "at <time>!"),
                ("2026-11-20 15:30:00,5 +0100 x", "<time> x"),
                ("[12:00:01.250] x", "[<time>] x"),
                ("born 2000-02-29", "born 2000-02-29"),
            ],
        );
    }

    #[test]
    fn durations() {
        check(
            mask_durations,
            &[
                ("in 0.03s", "in <duration>"),
                ("12 ms, 1.5µs, 3 seconds", "<duration>, <duration>, <duration>"),
                ("3 sheep, 5 s5", "3 sheep, 5 s5"),
            ],
        );
    }

    #[test]
    fn uuids_addresses_threads() {
        check(mask_uuids, &[("id 123E4567-e89b-12d3-a456-426614174000.", "id <uuid>.")]);
        check(mask_addresses, &[("at 0x7ffd1234abcd, 0xff", "at <address>, 0xff")]);
        check(mask_threads, &[("thread 'main' (77) panicked", "thread 'main' panicked")]);
    }

    #[test]
    fn long_hex_and_numbers() {
        check(
            mask_long_hex,
            &[("deps/a-0123456789abcdef x", "deps/a-<hex> x"), ("feedfacedead", "feedfacedead")],
        );
        check(mask_long_numbers, &[("pid 1234567, 12345", "pid <number>, 12345")]);
    }

    #[test]
    fn positions() {
        check(
            mask_positions,
            &[
                ("at src/lib.rs:10:9:", "at src/lib.rs:<pos>:"),
                ("a.py:12: Error", "a.py:<pos>: Error"),
                ("x.ts(3,5)", "x.ts:<pos>"),
                ("<eval>:3:5", "<eval>:<pos>"),
                ("File \"a.py\", line 12, in f", "File \"a.py\", line <pos>, in f"),
                ("left: 3", "left: 3"),
            ],
        );
    }
}
