//! Numbers of systems, schedulers and generators, and line numbers.

use std::borrow::Cow;

use super::rule::{
    has_behind_digit, has_digit, has_digits, has_row, pattern, replace, replace_by, replace_if,
};
use crate::{WordList, words::PHRASES};

pattern!(
    UUID,
    r"(?-u:\b)[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?-u:\b)"
);

/// UUIDs.
pub(super) fn mask_uuids(text: &str) -> Cow<'_, str> {
    if text.matches('-').nth(3).is_some() { replace(&UUID, text, "<uuid>") } else { Cow::Borrowed(text) }
}

pattern!(ADDRESS, r"(?-u:\b)0[xX][0-9a-fA-F]{7,16}(?-u:\b)");

/// Addresses: `0x` and seven to sixteen digits. Shorter ones are values that a test is about, and colours.
pub(super) fn mask_addresses(text: &str) -> Cow<'_, str> {
    let any = text.contains("0x") || text.contains("0X");
    if any { replace(&ADDRESS, text, "<address>") } else { Cow::Borrowed(text) }
}

// Any of the patterns below needs one of these; most texts have none of it.
const NUMBERED: WordList = WordList::section(PHRASES, "parts of ids of workers");
pattern!(THREAD, r"(?-u:\b)(thread '[^'\n]*') \([0-9]+\)");
pattern!(SANITIZER, r"==[0-9]+==");
pattern!(
    WORKER,
    r"(?x)
    (?-u:\b)(
        (?:[Pp]id|PID|ppid|tid|TID|[Ss]eed|SEED|goroutine|[Tt]hread[Ii]d)(?:\ ?(?:=|:|\#)\ ?|\ is\ |\(|\ )
        |(?:[Pp]rocess|[Tt]hread|[Ww]orker|WORKER)(?:[\ _-]?(?:[Ii]d|ID))?(?:\ ?=\ ?|:\ |\ ?\#|-)
        |(?:[Pp]rocess|[Tt]hread|[Ww]orker)(?:\ [Ii][Dd])\ 
        |(?:[Ww]orker|Thread)\ 
    )(?:0x[0-9a-fA-F]+|[0-9]+)(?-u:\b)
    |(\[gw)[0-9]+(\])"
);
pattern!(
    XDIST,
    r#"(?m)(::|popen-|[Ww]orker ['"]?|between |between gw<id> and |[Nn]ode |^(?:---|\+\+\+) )gw[0-9]+(?-u:\b)"#
);
pattern!(POOL, r"(?-u:\b)pool-[0-9]+-thread-(?:[0-9]+|<id>)");

/// Ids of threads, processes and workers, and the seeds of random orders: which one it was is chance.
pub(super) fn mask_workers(text: &str) -> Cow<'_, str> {
    if !has_digit(text) || !NUMBERED.any_in(text) {
        return Cow::Borrowed(text);
    }
    let named = replace(&THREAD, text, "$1");
    let marked = replace(&SANITIZER, &named, "==<id>==");
    let numbered = replace(&WORKER, &marked, "${1}${2}<id>${3}");
    let numbered = replace(&POOL, &numbered, "pool-<id>-thread-<id>");
    // Twice: the first worker makes the second one recognisable.
    let numbered = replace(&XDIST, &numbered, "${1}gw<id>");
    let numbered = replace(&XDIST, &numbered, "${1}gw<id>");
    if numbered == text { Cow::Borrowed(text) } else { Cow::Owned(numbered.into_owned()) }
}

pattern!(LONG_HEX, r"(?-u:\b)(?:[0-9a-f]{12,}|[0-9A-F]{12,})(?-u:\b)");

/// Hexadecimal of twelve digits or more with at least one decimal digit: hashes of builds, object ids.
pub(super) fn mask_long_hex(text: &str) -> Cow<'_, str> {
    if !has_row(text, 12, |byte| byte.is_ascii_hexdigit()) {
        return Cow::Borrowed(text);
    }
    replace_if(&LONG_HEX, text, "<hex>", has_digit)
}

pattern!(BASE64, r"[A-Za-z0-9+/_-]{20,}={0,2}");

/// Base64 of twenty characters or more: keys, tokens, digests. Words and paths are recognised because they seldom
/// change between small letters, capitals and digits.
pub(super) fn mask_base64(text: &str) -> Cow<'_, str> {
    if !has_row(text, 20, |byte| byte.is_ascii_alphanumeric() || b"+/_-".contains(&byte)) {
        return Cow::Borrowed(text);
    }
    replace_if(&BASE64, text, "<base64>", is_base64)
}

/// A capital before a small letter begins a word; any other change is rare in names and frequent in base64.
fn is_base64(run: &str) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let classes: Vec<u8> = run.bytes().map(class).collect();
    let all = [0, 1, 2].iter().all(|wanted| classes.contains(wanted));
    let changes = classes.windows(2).filter(|two| matches!(two, [0, 1 | 2] | [1, 2] | [2, 0 | 1])).count();
    // No name has these.
    let marked = run.contains('+') || run.ends_with('=');
    all && changes * if marked { 9 } else { 6 } >= run.len()
}

pattern!(
    POSITION,
    r"(?x)
    (\.(?:rs|pyx?|[cm]?[jt]s|[jt]sx|go|rb|php|phpt|java|kts?|scala|groovy|cs|fs|vb|cc?|cpp|cxx|hh?|hpp|hxx|ipp|mm?|swift|dart|exs?|erl|hrl|clj|cljs|lua|p[lm]|t|bats|sh|bash|zsh|hs|mli?|nim|zig|jl|sql|vue|svelte|feature|robot|ya?ml|toml|json|xml|html?|css|s[ac]ss|md|rst|txt|cmake|proto|gradle|cr|svh?|vhd|f90|ad[bs]|el|lisp|rkt|snap)
        |<[A-Za-z][A-Za-z0-9_\ -]*>|(?:^|[\s(])node:[a-z_/]+)
        (?::[0-9]+(?::[0-9]+|[-:][0-9]+)?(?-u:\b)|\([0-9]+(?:,\ ?[0-9]+)?\))
    |(?-u:\b)([Ll]ine)(?:\ ?[:=\#]\ ?|\ number\ |\ )[0-9]+(?:(?:,|\ and)?\ (?:col|column|character)[\ :]+[0-9]+)?(?-u:\b)
    |(?-u:\b)([Ll]ines)\ [0-9]+(?:-|\.\.|\ to\ )[0-9]+(?-u:\b)"
);

/// Lines and columns: `file.rs:3:5`, `file.ts(3,5)`, `<eval>:3:5`, `line 3`. Only behind what is a file or
/// says so: `16:9` and `port:80` are values.
pub(super) fn mask_positions(text: &str) -> Cow<'_, str> {
    let marked = |two: &[u8]| matches!(two, [b':' | b'(', digit] if digit.is_ascii_digit());
    if !text.contains("ine") && !text.as_bytes().windows(2).any(marked) {
        return Cow::Borrowed(text);
    }
    replace_by(&POSITION, text, |found| match (found.get(1), found.get(2).or(found.get(3))) {
        (Some(file), _) => format!("{}:<pos>", file.as_str()),
        (None, Some(word)) => format!("{} <pos>", word.as_str()),
        (None, None) => "<pos>".to_owned(),
    })
}

/// `normalized` with the positions that its files and lines have in `raw`, the first of each; `None` where none is masked.
pub(crate) fn with_positions(normalized: &str, raw: &str) -> Option<String> {
    let (first, rest) = normalized.split_once(MASKED)?;
    let mut out = first.to_owned();
    for part in rest.split(MASKED) {
        let place = out.trim_end_matches([':', ' ']);
        let word =
            place.rsplit(|c: char| c.is_whitespace() || "/\\(\"'".contains(c)).next().unwrap_or_default();
        out.push_str(&position_of(word, raw).unwrap_or_else(|| MASKED.to_owned()));
        out.push_str(part);
    }
    Some(out)
}

/// The first position behind `word`.
fn position_of(word: &str, raw: &str) -> Option<String> {
    let behind = |(at, _): (usize, &str)| {
        let rest = raw[at + word.len()..].trim_start_matches([':', '(', ' ', '#', '=']);
        let is_position = |c: char| c.is_ascii_digit() || c == ':' || c == ',';
        let found = &rest[..rest.find(|c| !is_position(c)).unwrap_or(rest.len())];
        let found = found.trim_end_matches([':', ',']);
        found.starts_with(|c: char| c.is_ascii_digit()).then(|| found.replace(',', ":"))
    };
    raw.match_indices(word).filter(|_| !word.is_empty()).find_map(behind)
}

/// The text in place of a position.
const MASKED: &str = "<pos>";

pattern!(LONG_NUMBER, r"(?-u:\b)[0-9]{6,}(?-u:\b)");

/// Numbers of six digits or more: process ids, moments, counters.
pub(super) fn mask_long_numbers(text: &str) -> Cow<'_, str> {
    if has_digits(text, 6) { replace(&LONG_NUMBER, text, "<number>") } else { Cow::Borrowed(text) }
}

/// Every run of decimal digits: the coarse level.
pub(crate) fn mask_digits(text: &str) -> Cow<'_, str> {
    if !has_digit(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(|each: char| !each.is_ascii_digit()) {
        let rest = part.trim_start_matches(|each: char| each.is_ascii_digit());
        if rest.len() < part.len() {
            out.push('#');
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

pattern!(
    TIMESTAMP,
    r"(?x)
    (?-u:\b)[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:[T\ ]|,\ )[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\ ?(?:Z|UTC|GMT)(?-u:\b)|\ ?[+-][0-9]{2}:?[0-9]{2}(?-u:\b))?
    |(?-u:\b)(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ +)?(?:[0-9]{1,2}\ +)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +(?:[0-9]{1,2},?\ +)?(?:[0-9]{4}\ +)?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:\ GMT[+-][0-9]{4}|\ [A-Z]{3,4})?(?:\ [+-][0-9]{4})?(?:\ [0-9]{4})?(?-u:\b)
    |(?-u:\b)[0-9]{8}T[0-9]{6}(?:\.[0-9]+)?Z?(?-u:\b)
    |(?-u:\b)[0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]+"
);

/// Dates with a time of day, and times of day with fractions. A date alone, or a plain time of day, may be
/// what a test is about.
pub(super) fn mask_timestamps(text: &str) -> Cow<'_, str> {
    let is_clock = |rest: &[u8]| matches!(rest, [b':', digit, ..] if digit.is_ascii_digit());
    if has_behind_digit(text, is_clock) || has_digits(text, 8) {
        replace(&TIMESTAMP, text, "<time>")
    } else {
        Cow::Borrowed(text)
    }
}

pattern!(
    DURATION,
    r"(^-?|[^0-9A-Za-z_.-]-?)[0-9]+(?:\.[0-9]+)?(?:e-[0-9]+)?(?: ?(?:ns|us|µs|μs|ms)|s|m[0-9]+(?:\.[0-9]+)?s| (?:s|secs?|seconds?|millis(?:econds)?|milliseconds?|microseconds?|nanoseconds?|mins?|minutes?))(?-u:\b)"
);

/// Durations with their unit; not the end of a UUID before a word that reads like one.
pub(super) fn mask_durations(text: &str) -> Cow<'_, str> {
    let is_unit = |byte: &u8| matches!(byte, b'n' | b'u' | b'm' | b's') || !byte.is_ascii();
    let has_unit = |rest: &[u8]| rest.strip_prefix(b" ").unwrap_or(rest).first().is_some_and(is_unit);
    if has_behind_digit(text, has_unit) {
        replace(&DURATION, text, "${1}<duration>")
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        let all = [
            &UUID,
            &ADDRESS,
            &THREAD,
            &SANITIZER,
            &WORKER,
            &POOL,
            &XDIST,
            &LONG_HEX,
            &BASE64,
            &POSITION,
            &LONG_NUMBER,
        ];
        assert!(all.into_iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn uuids_and_addresses() {
        check(mask_uuids, &[("id 123E4567-e89b-12d3-a456-426614174000.", "id <uuid>.")]);
        check(mask_addresses, &[("at 0x7ffd1234abcd, 0xff, 0xFFAA00", "at <address>, 0xff, 0xFFAA00")]);
    }

    #[test]
    fn workers() {
        check(
            mask_workers,
            &[
                ("thread 'main' (77) panicked", "thread 'main' panicked"),
                ("pid 4711, pid=4711 (PID: 4711), Pid #4", "pid <id>, pid=<id> (PID: <id>), Pid #<id>"),
                ("ThreadId(5) Thread-12 worker 3 [gw1]", "ThreadId(<id>) Thread-<id> worker <id> [gw<id>]"),
                ("--seed 4711 seed=0xbeef seed: 12", "--seed <id> seed=<id> seed: <id>"),
                ("goroutine 18, ForkPoolWorker-3", "goroutine <id>, ForkPoolWorker-3"),
                (
                    "pool-1-thread-3 process id 12 process-3",
                    "pool-<id>-thread-<id> process id <id> process-<id>",
                ),
                ("==4711==ERROR", "==<id>==ERROR"),
                ("worker 'gw3' crashed while running", "worker 'gw<id>' crashed while running"),
                (
                    "collected between gw0 and gw12. The difference is:\n--- gw0\n+++ gw12",
                    "collected between gw<id> and gw<id>. The difference is:\n--- gw<id>\n+++ gw<id>",
                ),
                ("a/popen-gw1/x pytest::gw0", "a/popen-gw<id>/x pytest::gw<id>"),
                ("gateway gw1 and gw2", "gateway gw1 and gw2"),
                ("process 5 items, 3 threads, seeds 4, x==1", "process 5 items, 3 threads, seeds 4, x==1"),
            ],
        );
    }

    #[test]
    fn people_see_the_positions_that_were_masked() {
        for (raw, shown) in [
            ("at /w/src/lib.rs:10:9: no", Some("at src/lib.rs:10:9: no")),
            ("x.ts(3,5) then x.ts(8,1)", Some("x.ts:3:5 then x.ts:3:5")),
            ("want 47 (tests/test_tax.py:5)", Some("want 47 (tests/test_tax.py:5)")),
            ("File \"a.py\", line 12, in f", Some("File \"a.py\", line 12, in f")),
            ("no position, 3 tries", None),
        ] {
            let normalized = mask_positions(raw).replace("/w/", "");
            assert_eq!(with_positions(&normalized, raw).as_deref(), shown, "{raw}");
        }
        assert_eq!(with_positions("a.rs:<pos>", "other").as_deref(), Some("a.rs:<pos>"));
    }

    #[test]
    fn long_hex_base64_and_numbers() {
        check(
            mask_long_hex,
            &[("deps/a-0123456789abcdef x", "deps/a-<hex> x"), ("feedfacedead", "feedfacedead")],
        );
        check(
            mask_base64,
            &[
                ("key dGhpcyBpcyBhIHRlc3Qga2V5IQ==!", "key <base64>!"),
                ("bGCASl+4gaMbibd72ZLBAaoadWQH/fkvtqNZfcvsyd8=", "<base64>"),
                ("tests/HandlesUtf8InputCorrectly2/run", "tests/HandlesUtf8InputCorrectly2/run"),
                ("test_parses_all_of_the_4_inputs_at_once", "test_parses_all_of_the_4_inputs_at_once"),
            ],
        );
        check(mask_long_numbers, &[("pid 1234567, 12345", "pid <number>, 12345")]);
        check(mask_digits, &[("a1b22 <time> 3", "a#b# <time> #"), ("", "")]);
    }

    #[test]
    fn positions() {
        check(
            mask_positions,
            &[
                ("at src/lib.rs:10:9:", "at src/lib.rs:<pos>:"),
                ("a.py:12: Error", "a.py:<pos>: Error"),
                ("x.ts(3,5) y.php(12)", "x.ts:<pos> y.php:<pos>"),
                ("<eval>:3:5 <anonymous>:3", "<eval>:<pos> <anonymous>:<pos>"),
                ("File \"a.py\", line 12, in f", "File \"a.py\", line <pos>, in f"),
                ("line: 3 column 4; lines 3-5", "line <pos>; lines <pos>"),
                ("left: 3, ratio 16:9, x.port:80, a.com:443", "left: 3, ratio 16:9, x.port:80, a.com:443"),
            ],
        );
    }
}

#[cfg(test)]
mod moments_tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!([&TIMESTAMP, &DURATION].into_iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn timestamps() {
        check(
            mask_timestamps,
            &[
                ("at 2026-11-20T15:30:00.123Z!", "at <time>!"),
                ("2026-11-20 15:30:00,5 +0100 x", "<time> x"),
                ("[12:00:01.250] x", "[<time>] x"),
                ("Fri Nov 20 21:59:45 2026, Fri, 20 Nov 2026 21:59:45 GMT", "<time>, <time>"),
                ("Fri Nov 20 2026 21:59:45 GMT+0000 (UTC)", "<time> (UTC)"),
                ("20261120T215945Z Nov 20 21:59:45 host", "<time> <time> host"),
                ("born 2000-02-29 at 12:30:15", "born 2000-02-29 at 12:30:15"),
            ],
        );
    }

    #[test]
    fn durations() {
        check(
            mask_durations,
            &[
                ("in 0.03s", "in <duration>"),
                ("12 ms, 1.5µs, 3 seconds, 1m12.5s", "<duration>, <duration>, <duration>, <duration>"),
                ("-5ms 12s 3s", "-<duration> <duration> <duration>"),
                ("a456-426614174000 s", "a456-426614174000 s"),
                ("3 sheep, 5 s5, 5sec", "3 sheep, 5 s5, 5sec"),
            ],
        );
    }
}
