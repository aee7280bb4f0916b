//! Masks the parts of an unknown output that change from run to run: names that were drawn, moments in names,
//! what `time` measured.
//!
//! These rules go further than those for error texts, because all that such outputs are good for is to be held against
//! each other. They are applied to printed output alone: signatures of ids and of errors that a reader found stay as they
//! are, so they need no new version. An output that such a name made different from every other one now equals its like.

use std::borrow::Cow;

use super::numbers::mask_addresses;
use super::paths::{is_made_up, mask_drawn_names, strip_root};
use super::rule::{has_digit, has_digits, pattern, replace, replace_by, replace_digits};
use crate::Root;

pattern!(
    MOMENT,
    r"(?x)
    (^|[^0-9])
    (?:19|20)[0-9]{2}[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12][0-9]|3[01])
    [T_.\ -]?(?:[01][0-9]|2[0-3])[-_.:h]?[0-5][0-9](?:[-_.:m]?[0-5][0-9](?:[-_.,]?[0-9]{1,9})?)?Z?(?-u:\b|_)"
);
pattern!(
    UUID,
    r"(?x)
    (^|[^0-9A-Za-z])(?:[0-9a-fA-F]{8}(?:[-_][0-9a-fA-F]{4}){3}[-_][0-9a-fA-F]{12}
    |[0-9a-f]{12}[147][0-9a-f]{3}[89ab][0-9a-f]{15}(?-u:\b|_))"
);
pattern!(
    CLOCK,
    r"(^|[\s\[(=@,])(?:[01]?[0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.,][0-9]{1,9})?([\])]?)(?-u:\b|\s|$)"
);
pattern!(
    USAGE,
    r"[0-9.]+user [0-9.]+system [0-9:.]+elapsed .*|[0-9]+inputs\+[0-9]+outputs \([0-9]+major\+[0-9]+minor\)pagefaults [0-9]+swaps"
);
pattern!(
    TEMP,
    r"((?:/tmp|/var/folders/[^/\s]+/[^/\s]+/[A-Z0-9]|/dev/shm|/run/user/[0-9]+)/+|[\\/]Te?mp[\\/]+)([A-Za-z0-9_.@+=,#%~/\\-]+)"
);
pattern!(DEFAULT, r"(?-u:\b)tmp\.([A-Za-z0-9]{6,12})(?-u:\b)");

/// A line without any of that.
pub(crate) fn mask_volatile(line: &str, root: &Root) -> String {
    let steps = [mask_moments, mask_usage, mask_temporary, mask_defaults];
    steps.iter().fold(strip_root(root, line).into_owned(), |line, step| step(&line).into_owned())
}

/// A normalized id as runs are compared by it: without what is made up anew in every run, which are moments, UUIDs, addresses
/// and temporary names.
pub fn stable_id(id: &str) -> Cow<'_, str> {
    if !has_digit(id) && !id.contains("mp") {
        return Cow::Borrowed(id);
    }
    let steps = [mask_temporary, mask_drawn_names, mask_addresses, mask_dates, mask_uuids, mask_defaults];
    Cow::Owned(steps.iter().fold(id.to_owned(), |id, step| step(&id).into_owned()))
}

/// UUIDs as names of functions have them, too: with `_`, behind `_`, or without any hyphen where version and variant show.
fn mask_uuids(id: &str) -> Cow<'_, str> {
    replace_digits(&UUID, id, "$1<uuid>")
}

/// `2026-11-26T08_17_41_699Z`, `20261126-081741`, and the clock.
fn mask_moments(text: &str) -> Cow<'_, str> {
    if !has_digits(text, 2) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replace_digits(&CLOCK, &mask_dates(text), "$1<time>$2 ").into_owned())
}

fn mask_dates(text: &str) -> Cow<'_, str> {
    replace_digits(&MOMENT, text, "$1<time>")
}

/// Masks the words of `time` below the output.
fn mask_usage(text: &str) -> Cow<'_, str> {
    if has_digit(text) { replace(&USAGE, text, "<usage>") } else { Cow::Borrowed(text) }
}

/// Drawn names below the directories for temporary files.
fn mask_temporary(text: &str) -> Cow<'_, str> {
    replace_by(&TEMP, text, |found| {
        let group = |at: usize| found.get(at).map_or("", |group| group.as_str());
        // A sentence may end behind a path.
        let path = group(2).trim_end_matches(['.', ',', '=']);
        let stop = group(2).get(path.len()..).unwrap_or_default();
        let names: Vec<Cow<'_, str>> = path.split(['/', '\\']).map(masked).collect();
        format!("{}{}{stop}", group(1), names.join("/"))
    })
}

fn masked(name: &str) -> Cow<'_, str> {
    if !is_drawn(name) {
        return Cow::Borrowed(name);
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension).filter(|extension| {
        (1..=5).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_lowercase())
            && name.strip_prefix("tmp.") != Some(extension)
    });
    Cow::Owned(extension.map_or_else(|| "<drawn>".to_owned(), |extension| format!("<drawn>.{extension}")))
}

fn is_drawn(name: &str) -> bool {
    let default = name.strip_prefix("tmp.").and_then(|rest| rest.split('.').next());
    // The folder of pytest has the number of its run.
    let run = name.strip_prefix("pytest-").is_some_and(|rest| rest.parse::<u64>().is_ok());
    run || default
        .is_some_and(|rest| rest.len() >= 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        || is_made_up(name)
        || name.split(['-', '_', '.', '@', '+', '=', ',', '#', '%', '~']).any(is_drawn_part)
}

/// The number of a process, or letters and digits that no person would have put together.
fn is_drawn_part(part: &str) -> bool {
    let number = part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let small = part.bytes().any(|byte| byte.is_ascii_lowercase());
    let capital = part.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    number || part.len() >= 6 && small && capital
}

/// `tmp.aB3xYz0123`, wherever `TMPDIR` is.
fn mask_defaults(text: &str) -> Cow<'_, str> {
    if !text.contains("tmp.") {
        return Cow::Borrowed(text);
    }
    replace_by(&DEFAULT, text, |found| {
        let drawn = found.get(1).map_or("", |group| group.as_str());
        let mixed = drawn.bytes().skip(1).any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if mixed { "<drawn>".to_owned() } else { found.get(0).map_or("", |group| group.as_str()).to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::normalize_error, *};

    /// As printed output is compared.
    fn compared(line: &str) -> String {
        normalize_error(&mask_volatile(line, &Root::new("/tmp/p")), &Root::new("/tmp/p"))
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(
            [&MOMENT, &UUID, &CLOCK, &USAGE, &TEMP, &DEFAULT].into_iter().all(|pattern| pattern.is_some())
        );
    }

    #[test]
    fn lines_that_differ_in_what_was_drawn_or_measured_are_equal() {
        let table = [
            ("open /tmp/tmp.aB3xYzQwEr: no", "open /tmp/tmp.Zz9qWeRtYu: no"),
            ("open /tmp/tmp.abcdefghij", "open /tmp/tmp.aBCdefGhi1"),
            ("open /tmp/tmpab12cd_x/out", "open /tmp/tmpqqqqqqqq/out"),
            ("/var/folders/ab/cd_e/T/tmp.aB3xYzQwEr", "/var/folders/ab/cd_e/T/tmp.B4yZaxCvbn"),
            ("/var/folders/ab/cd_e/T//tmp.aB3xYzQwEr", "/var/folders/ab/cd_e/T//tmp.B4yZaxCvbn"),
            ("/tmp/build-aBcDeF/x", "/tmp/build-QwErTy/x"),
            ("/tmp/out.812.log", "/tmp/out.9133.log"),
            ("/tmp/pytest-of-root/pytest-9/a0", "/tmp/pytest-of-root/pytest-10/a0"),
            ("/run/user/1000/tmp.aB3xYzQwEr", "/run/user/1000/tmp.B4yZaxCvbn"),
            ("/build/t/tmp.aB3xYzQwEr: no", "/build/t/tmp.B4yZaxCvbn: no"),
            (r"C:\Users\a\AppData\Local\Temp\tmpab12cd_x", r"C:\Users\a\AppData\Local\Temp\tmpzz98qw_k"),
            (
                "npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-26T08_17_41_699Z-debug-0.log",
                "npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-27T19_02_05_003Z-debug-0.log",
            ),
            ("see log_20261126-081741.txt", "see log_20261127-190205.txt"),
            ("see 2026-11-26_08-17-41.log", "see 2026-11-27_19-02-05.log"),
            ("[08:17:41] wrong", "[19:02:05] wrong"),
            ("08:17:41 wrong", "19:02:05 wrong"),
            (
                "0.00user 0.00system 0:00.00elapsed 54%CPU (0avgtext+0avgdata 1172maxresident)k",
                "0.10user 0.02system 0:00.31elapsed 9%CPU (0avgtext+0avgdata 3456maxresident)k",
            ),
            (
                "0inputs+0outputs (0major+35minor)pagefaults 0swaps",
                "8inputs+16outputs (1major+240minor)pagefaults 0swaps",
            ),
        ];
        for (one, two) in table {
            assert_eq!(compared(one), compared(two));
        }
    }

    #[test]
    fn lines_that_differ_otherwise_stay_different() {
        let table = [
            ("7 wrong", "4 wrong"),
            ("/tmp/one.txt: no", "/tmp/two.txt: no"),
            ("/tmp/tmp.aB3xYzQwEr/one.txt: no", "/tmp/tmp.aB3xYzQwEr/two.txt: no"),
            ("/tmp/p/one.txt", "/tmp/p/two.txt"),
            ("/tmp/p/aBcDeF.txt", "/tmp/p/QwErTy.txt"),
            ("tmp.properties", "tmp.preference"),
            ("born 2000-02-29", "born 2000-03-01"),
            ("version 2.20.11", "version 2.20.12"),
            ("file 404", "file 500"),
        ];
        for (one, two) in table {
            assert_ne!(compared(one), compared(two));
        }
    }

    proptest! {
        #[test]
        fn names_of_mktemp_and_python_are_always_seen(
            one in "[A-Za-z0-9]{10}", two in "[A-Za-z0-9]{10}", python in "[a-z0-9_]{8}", other in "[a-z0-9_]{8}"
        ) {
            let of = |name: &str, python: &str| compared(&format!("a /tmp/tmp.{name} b '/tmp/tmp{python}/x': c"));
            prop_assert_eq!(of(&one, &python), of(&two, &other));
        }

        #[test]
        fn any_line_is_taken_and_a_second_time_changes_nothing(line: String) {
            let once = mask_volatile(&line, &Root::none());
            prop_assert_eq!(mask_volatile(&once, &Root::none()), once);
        }
    }
}
