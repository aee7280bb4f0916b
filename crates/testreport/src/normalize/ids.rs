//! Ids of failing tests: only what is never part of a test's name goes. Parameters stay.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::rule::{self, Apply, Rule, pattern, replace_digits, rule};
use super::{escapes, paths};
use crate::{Root, WordList, words::cut};

/// Longest id, in bytes. A longer one is cut and ends in a hash of the whole, so that ids stay distinct.
const MAX_ID: usize = 400;

/// Rounds after which the rules must have come to an end.
const MAX_PASSES: usize = 8;

/// The reasons for the rules.
const WHYS: WordList = WordList::section(rule::WHYS, "ids");

/// The rules for ids, in order.
pub(super) const RULES: [Rule; 7] = [
    rule("printed-escapes", escapes::strip_printed),
    rule("ansi", escapes::strip_ansi),
    rule("single-line", escapes::single_line),
    Rule { name: "root", apply: Apply::Root(paths::strip_root) },
    rule("doctest-line", strip_doctest_line),
    rule("should-panic", strip_should_panic),
    rule("xdist-worker", strip_worker),
];

/// Normalizes the id of a test: one line, no terminal escapes, no project root, no line of a doctest,
/// no ` - should panic`, no worker; at most 400 bytes.
pub fn normalize_id(id: &str, root: &Root) -> String {
    traced(id, root, &mut |_, _, _| {})
}

/// As [`normalize_id`], telling `changed` of each rule that did something.
pub(super) fn traced(id: &str, root: &Root, changed: &mut dyn FnMut(&str, WordList, &str)) -> String {
    let whole = id;
    let mut id = rule::run(&RULES, WHYS, root, whole, changed);
    // The result of one rule may bring together what another one knows.
    let rounds = if id == whole && id.trim() == whole { 0 } else { MAX_PASSES };
    for _ in 0..rounds {
        let again = rule::run(&RULES, WHYS, root, id.trim(), changed);
        if again == id {
            break;
        }
        id = again;
    }
    bounded(id.trim())
}

pattern!(DOCTEST, r" \(line [0-9]+\)( - compile( fail)?)?( - should panic)?$");

/// `src/lib.rs - add (line 5) - compile fail` is `src/lib.rs - add`.
fn strip_doctest_line(text: &str) -> Cow<'_, str> {
    if text.contains(" (line ") { replace_digits(&DOCTEST, text, "") } else { Cow::Borrowed(text) }
}

fn strip_should_panic(text: &str) -> Cow<'_, str> {
    text.strip_suffix(" - should panic").map_or(Cow::Borrowed(text), |name| Cow::Owned(name.to_owned()))
}

pattern!(XDIST, r"^\s*\[gw[0-9]+\] +(\[ *[0-9]+%\] +)?");

pattern!(XDIST_END, r"(::gw|^gw)[0-9]+$");

/// `[gw1] tests/a.py::test_b`, and the worker as the last part of an id: `pytest::gw1`, of what only a worker can tell
/// (`Different tests were collected between gw0 and gw1`). Behind the name, `[gw1]` is a parameter.
fn strip_worker(text: &str) -> Cow<'_, str> {
    if !text.contains("gw") {
        return Cow::Borrowed(text);
    }
    let named = replace_digits(&XDIST, text, "");
    match replace_digits(&XDIST_END, &named, "${1}<id>") {
        Cow::Owned(found) if found != *named => Cow::Owned(found),
        Cow::Owned(_) | Cow::Borrowed(_) => named,
    }
}

fn bounded(id: &str) -> String {
    if id.len() <= MAX_ID {
        return id.to_owned();
    }
    let mut short = cut(id, MAX_ID - 20).to_owned();
    short.push_str("...");
    short.extend(Sha256::digest(id.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")));
    short
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn each_step_takes_out_its_own() {
        assert!([&DOCTEST, &XDIST, &XDIST_END].into_iter().all(|pattern| pattern.is_some()));
        check(
            strip_doctest_line,
            &[
                ("src/lib.rs - add (line 12)", "src/lib.rs - add"),
                ("src/lib.rs - add (line 12) - compile fail", "src/lib.rs - add"),
                ("test_x (line 12) of y", "test_x (line 12) of y"),
            ],
        );
        check(strip_should_panic, &[("tests::a - should panic", "tests::a")]);
        check(
            strip_worker,
            &[
                ("[gw0] [ 50%] a.py::t", "a.py::t"),
                ("[gw12] a.py::t", "a.py::t"),
                ("a.py::t[gw0]", "a.py::t[gw0]"),
                ("pytest::gw0", "pytest::gw<id>"),
                ("gw12", "gw<id>"),
                ("a.py::gw0::t", "a.py::gw0::t"),
                ("a.py::gateway_gw0", "a.py::gateway_gw0"),
            ],
        );
    }

    #[test]
    fn each_rule_says_why() {
        let said: Vec<&str> = WHYS.iter().filter_map(|row| Some(row.split_once(": ")?.0)).collect();
        assert_eq!(said, RULES.map(|rule| rule.name));
    }

    #[test]
    fn whole_ids() {
        let cases = [
            ("\x1b[31mtests::a\x1b[0m", "tests::a"),
            ("#x1B[31mtests::a#x1B[0m", "tests::a"),
            ("tests::a\nb\tc", "tests::a b c"),
            ("/work/p/tests/x.py::test_a", "tests/x.py::test_a"),
            ("src/lib.rs - f (line 3) - should panic", "src/lib.rs - f"),
        ];
        for (id, expected) in cases {
            assert_eq!(normalize_id(id, &Root::new("/work/p")), expected);
            assert_eq!(normalize_id(expected, &Root::new("/work/p")), expected);
        }
    }

    #[test]
    fn parameters_stay() {
        for id in [
            "test_add[1-2-3]",
            "test_big[1234567]",
            "it takes 5ms",
            "parse(2024-01-01T00:00:00Z)",
            "test[123e4567-e89b-12d3-a456-426614174000]",
            "test_port[127.0.0.1:43210]",
            "test[/tmp/a/b-seed 5-{2, 1}]",
            "test[<object at 0x7f01ab23>]",
            "test[/tmp/tmpk3_9xw0a/out.txt]",
        ] {
            assert_eq!(normalize_id(id, &Root::none()), id);
        }
    }

    #[test]
    fn project_patterns_come_last() {
        let root = Root::none().with_patterns(&[("build".to_owned(), "build-[0-9]+".to_owned())]);
        assert_eq!(normalize_id("\x1b[1mtest[build-77]", &root), "test[<build>]");
    }

    #[test]
    fn long_ids_are_cut_and_stay_distinct() {
        let (one, two) = ("é".repeat(1000) + "1", "é".repeat(1000) + "2");
        let (one, two) = (normalize_id(&one, &Root::none()), normalize_id(&two, &Root::none()));
        assert!(one.len() <= MAX_ID && two.len() <= MAX_ID);
        assert_ne!(one, two);
    }
}
