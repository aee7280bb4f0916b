//! Properties of the lists of rules as a whole.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Texts of failures, put together from what they are made of.
fn failure() -> impl Strategy<Value = String> {
    let words = [
        "assert 1 == 2",
        "Error",
        "TypeError: no",
        "\n",
        "\n",
        "  ",
        "    at f (/p/a.js:3:5)",
        "at noon",
        ": ",
        ", ",
        "/work/p/src/a.rs:3:5",
        "/tmp/tmpab12cd34/x.json",
        "/tmp/.tmpAb12Cd",
        "<tmp>",
        "file://",
        "{",
        "}",
        "'b'",
        "\"",
        "localhost:43210",
        "2026-11-20T15:30:00Z",
        "12.5ms",
        "3 seconds",
        "0x7ffd1234abcd",
        "pid 4711",
        "thread 'a' (7) panicked at ",
        "note: run with ",
        "123e4567-e89b-12d3-a456-426614174000",
        "0123456789abcdef",
        "dGhpcyBpcyBhIHRlc3Qga2V5IQ==",
        "line 12",
        "1234567",
        "\u{1b}[31m",
        "#x1B[0m",
        "\\u001b[1m",
        "E   x",
        "> y",
        "Traceback (most recent call last):",
        "  File \"a.py\", line 3, in f",
        "goroutine 1 [running]:",
        "é",
        "\t",
        "Items in the first set but not the second:",
        "  > 3 | code",
        "      | ^",
        "seed=5",
        "a.b:80",
        "\r\n",
        ";",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..24)
        .prop_map(|words| words.concat())
}

/// Texts that each property is tried on.
fn cases() -> u32 {
    option_env!("TESTREPORT_FUZZ_CASES").and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_text_is_taken(text: String, root: String) {
        let root = Root::new(&root).with_patterns(&[("x".to_owned(), root)]);
        normalize_error(&text, &root);
        normalize_id(&text, &root);
    }

    #[test]
    fn ids_are_normalized_once(text in failure()) {
        let root = Root::new("/work/p");
        let once = normalize_id(&text, &root);
        prop_assert_eq!(normalize_id(&once, &root), once);
    }

    #[test]
    fn nothing_volatile_is_left(text in failure()) {
        let once = normalize_error(&text, &Root::new("/work/p"));
        prop_assert!(!once.contains(['\u{1b}', '\r', '\t']), "{once:?}");
        prop_assert!(!once.lines().any(|line| line.is_empty() || line.ends_with(' ')), "{once:?}");
    }

    #[test]
    fn a_trace_ends_in_what_the_text_becomes(text in failure()) {
        let root = Root::new("/work/p");
        let last = explain_error(&text, &root).pop().map_or_else(|| text.clone(), |change| change.text);
        prop_assert_eq!(last, normalize_error(&text, &root));
    }

    #[test]
    fn coarse_is_coarser(one in failure(), two in failure()) {
        let root = Root::none();
        let (one, two) = (normalize_error(&one, &root), normalize_error(&two, &root));
        prop_assert!(one != two || mask_digits(&one) == mask_digits(&two));
        let coarse = mask_digits(&one).into_owned();
        prop_assert_eq!(mask_digits(&coarse), coarse.as_str());
    }
}

#[test]
fn a_line_of_a_mebibyte_takes_bounded_time() {
    const SIZE: usize = 1 << 20;
    let root = Root::new("/work/p");
    for unit in
        ["a", "1:", "{,", "'\"\\", "\\\"{", "\u{1b}[", "at ", "\n", "\nat f(1)", "/tmp/a1", "/work/p", "é"]
    {
        let text = unit.repeat(SIZE / unit.len());
        let start = Instant::now();
        normalize_error(&text, &root);
        normalize_id(&text, &root);
        // Without optimization, on a busy machine.
        assert!(start.elapsed() < Duration::from_secs(20), "{unit:?} took {:?}", start.elapsed());
    }
}
