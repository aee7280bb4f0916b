//! Ids of failing tests: only what is never part of a test's name goes. Parameters stay.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use crate::domain::ids;

use super::{Root, Step, run, steps};

/// Longest id, in bytes. A longer one is cut and ends in a hash of the whole, so that ids stay distinct.
const MAX_ID: usize = 400;

const ID_STEPS: [Step; 6] = [
    |_, text| steps::strip_ansi(text),
    |_, text| single_line(text),
    steps::strip_root,
    |_, text| steps::mask_addresses(text),
    |_, text| strip_doctest_line(text),
    |_, text| strip_should_panic(text),
];

/// Normalizes the id of a test: one line, no terminal escapes, no project root, no addresses, no line of a
/// doctest, no ` - should panic`; at most 400 bytes.
pub fn normalize_id(id: &str, root: &Root) -> String {
    bounded(run(&ID_STEPS, root, id).trim())
}

/// Line ends and other control characters become spaces.
fn single_line(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().map(|each| if each.is_control() { ' ' } else { each }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// `src/lib.rs - add (line 5) - compile fail` is `src/lib.rs - add`: doctests have no other name.
fn strip_doctest_line(text: &str) -> Cow<'_, str> {
    static LINE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r" \(line [0-9]+\)( - compile( fail)?)?( - should panic)?$").ok());
    steps::replace(&LINE, text, "")
}

/// libtest prints `name - should panic` on the line of the test and `name` everywhere else.
fn strip_should_panic(text: &str) -> Cow<'_, str> {
    text.strip_suffix(" - should panic").map_or(Cow::Borrowed(text), |name| Cow::Owned(name.to_owned()))
}

fn bounded(id: &str) -> String {
    if id.len() <= MAX_ID {
        return id.to_owned();
    }
    let hash = ids::Digest(Sha256::digest(id.as_bytes()).into());
    let mut cut = MAX_ID - 20;
    while !id.is_char_boundary(cut) {
        cut -= 1;
    }
    let mut short = id.get(..cut).unwrap_or_default().to_owned();
    short.push_str("...");
    short.extend(hash.to_string().chars().take(16));
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_takes_out_its_own() {
        assert_eq!(single_line("a\nb\tc\u{1}"), "a b c ");
        assert_eq!(strip_doctest_line("src/lib.rs - add (line 12)"), "src/lib.rs - add");
        assert_eq!(strip_doctest_line("src/lib.rs - add (line 12) - compile fail"), "src/lib.rs - add");
        assert_eq!(strip_doctest_line("test_x (line 12) of y"), "test_x (line 12) of y");
        assert_eq!(strip_should_panic("tests::a - should panic"), "tests::a");
    }

    #[test]
    fn whole_ids() {
        let cases = [
            ("\x1b[31mtests::a\x1b[0m", "tests::a"),
            ("/work/p/tests/x.py::test_a", "tests/x.py::test_a"),
            ("test[<object at 0x7f01ab23>]", "test[<object at <address>>]"),
            ("src/lib.rs - f (line 3) - should panic", "src/lib.rs - f"),
        ];
        for (id, expected) in cases {
            assert_eq!(normalize_id(id, &Root::new("/work/p")), expected);
        }
    }

    #[test]
    fn parameters_stay() {
        for id in ["test_add[1-2-3]", "test_big[1234567]", "it takes 5ms", "parse(2024-01-01T00:00:00Z)"] {
            assert_eq!(normalize_id(id, &Root::none()), id);
        }
    }

    #[test]
    fn long_ids_are_cut_and_stay_distinct() {
        let (one, two) = ("é".repeat(1000) + "1", "é".repeat(1000) + "2");
        let (one, two) = (normalize_id(&one, &Root::none()), normalize_id(&two, &Root::none()));
        assert!(one.len() <= MAX_ID && two.len() <= MAX_ID);
        assert_ne!(one, two);
    }
}
