//! The rules for error texts, in their fixed order: escapes before everything that looks at characters, frames
//! before the paths in them, paths before the digits in them, timestamps before durations, whole shapes (UUIDs,
//! addresses) before bare digits, and the order of items when all that varies in them is gone.

use super::rule::{self, Apply, Rule, rule};
use super::{escapes, frames, items, numbers, paths};
use crate::{Root, words::cut};

/// Longest text that is worked on, in bytes; readers keep no more of a failure.
pub(crate) const MAX_TEXT: usize = 16 * 1024;

/// The length of a text that was cut, in bytes: the place of the cut depends on paths and numbers in it.
const MAX_CUT: usize = 6 * 1024;

/// The rules, in order.
pub(super) const RULES: [Rule; 22] = [
    rule(
        "decode",
        "line ends and byte order marks belong to the system, not to the failure",
        escapes::decode,
    ),
    rule(
        "printed-escapes",
        "terminal escapes that a writer printed because its format cannot hold them",
        escapes::strip_printed,
    ),
    rule("ansi", "terminal escapes are colour, not words", escapes::strip_ansi),
    rule(
        "controls",
        "other control characters are not words either; tabs become spaces",
        escapes::drop_controls,
    ),
    rule(
        "error-text",
        "what a test printed before its error, and the runner's advice after it, are not the error",
        frames::choose_error,
    ),
    rule("frames", "stack frames and quoted code move with every edit of other lines", frames::drop_frames),
    Rule { name: "root", why: "the project may lie in any directory", apply: Apply::Root(paths::strip_root) },
    rule("tool-prefix", "toolchains and packages lie in other places elsewhere", paths::strip_tools),
    rule("host-port", "the system gives out ports of five digits as it likes", paths::mask_ports),
    rule(
        "temp-path",
        "temporary directories are made up anew; the last name of a path stays if it is not",
        paths::mask_temp_paths,
    ),
    rule("timestamp", "every run is at another time", numbers::mask_timestamps),
    rule("duration", "every run takes another time", numbers::mask_durations),
    rule("uuid", "UUIDs are made up anew", numbers::mask_uuids),
    rule("address", "addresses differ in every process", numbers::mask_addresses),
    rule(
        "worker",
        "threads, processes and workers are numbered by chance, and seeds are drawn",
        numbers::mask_workers,
    ),
    rule(
        "long-hex",
        "hashes of builds and object ids differ where the failure is the same",
        numbers::mask_long_hex,
    ),
    rule("base64", "keys and tokens are made up anew", numbers::mask_base64),
    rule("position", "lines move with every edit above them", numbers::mask_positions),
    rule(
        "long-number",
        "numbers of six digits or more count moments, processes or bytes",
        numbers::mask_long_numbers,
    ),
    rule("items", "the items of sets and maps have no order", items::sort_items),
    rule("set-lines", "neither have the lines of Python's differences between sets", items::sort_set_lines),
    rule(
        "tidy",
        "empty lines, spaces at the ends of lines and indentation of the whole are layout",
        escapes::tidy,
    ),
];

/// Normalizes the first error of a failure.
pub fn normalize_error(text: &str, root: &Root) -> String {
    traced(text, root, &mut |_, _, _| {})
}

/// As [`normalize_error`], telling `changed` of each rule that did something.
pub(super) fn traced(text: &str, root: &Root, changed: &mut dyn FnMut(&str, &str, &str)) -> String {
    let mut normalized = rule::run(&RULES, root, text, changed);
    // A character may be missing at the cut.
    if text.len() + 4 > MAX_TEXT && normalized.len() > MAX_CUT {
        normalized.truncate(cut(&normalized, MAX_CUT).trim_end().len());
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_elsewhere_and_later_reads_the_same() {
        let one = "thread 'tests::b' (12345) panicked at /home/ann/p/src/lib.rs:10:9:\n\
                   assertion `left == right` failed: took 12.5ms at 0x7ffd1234abcd\n  left: 1\n right: 2\n";
        let two = "thread 'tests::b' (999) panicked at /ci/p/src/lib.rs:44:13:\n\n\
                   assertion `left == right` failed: took 7ms at 0x55d012349999   \n  left: 1\n right: 2";
        let one = normalize_error(one, &Root::new("/home/ann/p"));
        assert_eq!(one, normalize_error(two, &Root::new("/ci/p/")));
        assert_eq!(
            one,
            "thread 'tests::b' panicked at src/lib.rs:<pos>:\nassertion `left == right` failed: took <duration> \
             at <address>\n  left: 1\n right: 2"
        );
    }

    #[test]
    fn another_value_in_the_message_stays_another_failure() {
        let pairs = [
            ("left: 1\nright: 2", "left: 1\nright: 3"),
            ("assert 41 == 42", "assert 40 == 42"),
            ("TypeError: x", "ValueError: x"),
            ("expected 0xff", "expected 0xfe"),
            ("got 12345", "got 12346"),
            ("{1, 2}", "{1, 3}"),
            ("/tmp/a.txt", "/tmp/b.txt"),
            ("localhost:5432", "localhost:6379"),
            ("16:9", "4:3"),
            ("2026-11-20", "2026-11-21"),
            ("'a'\n'b'", "'b'\n'a'"),
        ];
        for (one, two) in pairs {
            assert_ne!(normalize_error(one, &Root::none()), normalize_error(two, &Root::none()));
        }
    }

    #[test]
    fn rules_have_names_of_their_own_and_say_why() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        assert!(RULES.iter().all(|rule| !rule.why.is_empty()));
    }

    #[test]
    fn a_long_text_is_cut_where_directories_do_not_show() {
        let long = |root: &str| {
            let mut text = format!("at {root}/a.rs: wrong\n").repeat(1000);
            text.truncate(MAX_TEXT);
            normalize_error(&text, &Root::new(root))
        };
        assert_eq!(long("/w/p"), long("/home/ann/projects/p"));
        let mut one = "x ".repeat(2000);
        one.push('1');
        let two = one.replace('1', "2");
        assert_ne!(normalize_error(&one, &Root::none()), normalize_error(&two, &Root::none()));
    }
}
