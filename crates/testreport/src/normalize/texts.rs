//! The rules for error texts, in their fixed order: escapes before everything that looks at characters, frames
//! before the paths in them, paths before the digits in them, timestamps before durations, whole shapes (UUIDs,
//! addresses) before bare digits, and the order of items when all that varies in them is gone.

use super::rule::{self, Apply, Rule, rule};
use super::{escapes, frames, items, numbers, paths};
use crate::{Root, WordList, words::cut};

/// Longest text that is worked on, in bytes; readers keep no more of a failure.
pub(crate) const MAX_TEXT: usize = 16 * 1024;

/// The length of a text that was cut, in bytes: the place of the cut depends on paths and numbers in it.
const MAX_CUT: usize = 6 * 1024;

/// The reasons for the rules.
const WHYS: WordList = WordList::section(rule::WHYS, "errors");

/// The rules, in order.
pub(super) const RULES: [Rule; 22] = [
    rule("decode", escapes::decode),
    rule("printed-escapes", escapes::strip_printed),
    rule("ansi", escapes::strip_ansi),
    rule("controls", escapes::drop_controls),
    rule("error-text", frames::choose_error),
    rule("frames", frames::drop_frames),
    Rule { name: "root", apply: Apply::Root(paths::strip_root) },
    rule("tool-prefix", paths::strip_tools),
    rule("host-port", paths::mask_ports),
    rule("temp-path", paths::mask_temp_paths),
    rule("timestamp", numbers::mask_timestamps),
    rule("duration", numbers::mask_durations),
    rule("uuid", numbers::mask_uuids),
    rule("address", numbers::mask_addresses),
    rule("worker", numbers::mask_workers),
    rule("long-hex", numbers::mask_long_hex),
    rule("base64", numbers::mask_base64),
    rule("position", numbers::mask_positions),
    rule("long-number", numbers::mask_long_numbers),
    rule("items", items::sort_items),
    rule("set-lines", items::sort_set_lines),
    rule("tidy", escapes::tidy),
];

/// Normalizes the first error of a failure.
pub fn normalize_error(text: &str, root: &Root) -> String {
    traced(text, root, &mut |_, _, _| {})
}

/// The rules for texts of any kind, in which lines, positions and numbers are what the text says.
const OF_CONTENTS: WordList = WordList::section(rule::WHYS, "of contents");

/// Masks what is known to be a time, a duration, a temporary path or an id, and nothing else.
pub fn normalize_contents(text: &str) -> String {
    let of_contents = |rule: &&Rule| OF_CONTENTS.contains(rule.name);
    rule::run(RULES.iter().filter(of_contents), WHYS, &Root::none(), text, &mut |_, _, _| {})
}

/// As [`normalize_error`], telling `changed` of each rule that did something.
pub(super) fn traced(text: &str, root: &Root, changed: &mut dyn FnMut(&str, WordList, &str)) -> String {
    let mut normalized = rule::run(&RULES, WHYS, root, text, changed);
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
        let said: Vec<&str> = WHYS.iter().filter_map(|row| Some(row.split_once(": ")?.0)).collect();
        let all: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(said, all);
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
