//! The quantities of an answer: durations, counters, line numbers. A quantity that rises or falls from call to call
//! shows movement, though the masks of `hash` hide it (docs/rules.md: `tool-loop`). Times and ids are no quantities.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

use testreport::pattern;

/// Longest text that is looked at, in bytes.
const LOOKED_AT: usize = 16 << 10;
/// Separators of words apart from blanks: the structure of JSON. A comma may also be part of a number.
const STRUCTURE: [char; 5] = ['"', '{', '}', '[', ']'];
/// Quantities that are kept, the first of a text.
const MOST: usize = 6;

/// Numbers that differ by chance: the lines, jobs and processes of a shell, ids of processes, and the parts of a second that
/// something took. Whole seconds show that time has passed.
static BY_CHANCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?mx) sh:\ ?(?:line\ )?[0-9]+: | ^\[[0-9]+\][-+\ ]\ ?[0-9]+
        | (?-u:\b)(?i-u:p?pid|pgid)[^0-9\n]{1,4}[0-9]+ | ==[0-9]+== | \(node:[0-9]+\)
        | [0-9.]+\ ?(?:[mnuµ]s(?-u:\b)|m(?:illi)?sec) | _ms[^0-9\n]{1,4}[0-9.]+
        | (?i-u:time|duration|took)[^0-9\n]{1,4}[0-9]*\.[0-9]+ | \.[0-9]+(?P<unit>\ ?s(?:ec[a-z]*)?(?-u:\b))",
    )
});

/// The first quantities of an answer, in thousandths.
pub(super) fn read(text: &str) -> Vec<u64> {
    let text = super::answer::cut(text, LOOKED_AT);
    let by_chance = has_digit(text).then(|| BY_CHANCE.as_ref()).flatten();
    let text = by_chance.map_or(Cow::Borrowed(text), |pattern| pattern.replace_all(text, "$unit"));
    let words = text.split(|c: char| c.is_whitespace() || STRUCTURE.contains(&c));
    let telling = words.filter(|word| has_digit(word)).filter(|word| !is_mark(word));
    telling.flat_map(in_word).take(MOST).collect()
}

/// True for a time, a date, an address or an id.
fn is_mark(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if hex && has_digit(word) && word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return true;
    }
    // Seconds or milliseconds since the epoch.
    let epoch = matches!(word.len(), 10 | 13) && word.bytes().all(|byte| byte.is_ascii_digit());
    if (epoch && word.starts_with('1')) || word.starts_with("0x") {
        return true;
    }
    let digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let clock =
        word.contains(':') && word.split([':', 'T', 'Z', '.']).filter(|part| digits(part)).count() >= 2;
    clock || word.split('-').filter(|part| has_digit(part)).count() >= 2
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The numbers of a word in thousandths: `0.31s`, `:11:`, `3/9`; `1m30s` is one, and `1,234` is.
fn in_word(word: &str) -> Vec<u64> {
    if let Some(duration) = duration(word) {
        return vec![duration];
    }
    let parts = joined(word);
    let parts = parts.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter(|part| has_digit(part));
    parts.filter_map(thousandths).collect()
}

/// A word without the commas between thousands; other commas part numbers.
fn joined(word: &str) -> String {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let thousands =
        |at: usize| digits(&word[at + 1..]) == 3 && word[..at].ends_with(|c: char| c.is_ascii_digit());
    word.char_indices().filter(|&(at, c)| c != ',' || !thousands(at)).map(|(_, c)| c).collect()
}

/// A duration of several units.
fn duration(word: &str) -> Option<u64> {
    let mut rest = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let (mut sum, mut units) = (0_u64, 0);
    for (unit, seconds) in [('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)] {
        let Some((number, behind)) = rest.split_once(unit) else { continue };
        sum = sum.saturating_add(thousandths(number)?.saturating_mul(seconds));
        (rest, units) = (behind, units + 1);
    }
    (units > 1 && rest.is_empty()).then_some(sum)
}

/// A decimal number times a thousand; further decimals are left out.
fn thousandths(number: &str) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let decimals: String =
        decimals.chars().take_while(char::is_ascii_digit).chain("000".chars()).take(3).collect();
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    Some(whole.saturating_mul(1000).saturating_add(decimals.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_told_from_times_and_ids() {
        for (text, expected) in [
            ("elapsed 30s", &[30_000][..]),
            ("rows: 1001234", &[1_001_234_000]),
            ("rows: 101234567, 1,234 left", &[101_234_567_000, 1_234_000]),
            ("src/a.rs:11: warning", &[11_000]),
            ("finished in 0.31s, then 61.9 s", &[0, 61_000]),
            ("Duration  412ms (setup 3.2 ms), 7µs", &[]),
            (r#"{"duration_ms": 7.25, "pid":4711} (node:812) ==9==  time="0.31""#, &[]),
            ("rms 0.31, took 30s", &[310, 30_000]),
            ("checked 3 files\nDone in 14ms\n", &[3000]),
            ("3/9 done.", &[3000, 9000]),
            ("elapsed 1m30s, ETA 2h0m5s", &[90_000, 7_205_000]),
            ("5m of 10m", &[5000, 10_000]),
            ("at 2026-11-20T15:30:00Z", &[]),
            ("id 123e4567-e89b-12d3-a456-426614174000 of 9b2e456", &[]),
            ("15:30:01 1795188600 1795188600123 0x7f3a", &[]),
            ("nothing. at all", &[]),
            ("/bin/bash: line 11301: cd: x/: No such file", &[]),
            ("sh: 12: pytest: not found\nzsh:3: no", &[]),
            ("[1] 4242\n[2]+ 17 Done", &[]),
            (r#"{"done":3,"of":[9,27]}"#, &[3000, 9000, 27_000]),
            ("1 2 3 4 5 6 7 8", &[1000, 2000, 3000, 4000, 5000, 6000]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in ".{0,200}") {
            proptest::prop_assert!(read(&text).len() <= MOST);
        }
    }
}
