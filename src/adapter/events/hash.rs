//! Hashes of what agents say and do: the same thing said again must hash the same, whatever the order of keys, white
//! space, times and ids in it (docs/spec-map.md, settled choices 3 and 4).

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::domain::ids::{Digest, ShortHash};
use testreport::{Root, normalize_error};

/// Longest text whose volatile parts are masked, in bytes; a longer one counts as it is.
const MASKED: usize = 256 << 10;

/// The first 8 bytes of the sha256 of `parts`, each with its length, so that no part can imitate a border.
pub(super) fn short(parts: &[&[u8]]) -> ShortHash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let whole: [u8; 32] = hasher.finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&whole[..8]);
    ShortHash(first)
}

/// The hash of an output: its text without volatile parts, any run of white space as one blank.
pub(super) fn output(value: &Value) -> Digest {
    let text = masked(&text_of(value));
    let mut hasher = Sha256::new();
    for word in text.split_whitespace() {
        hasher.update(word);
        hasher.update(b" ");
    }
    Digest(hasher.finalize().into())
}

/// A state by any name: a sha256 is itself, any other text the sha256 of it.
pub(super) fn state(text: &str) -> [u8; 32] {
    text.parse::<Digest>().map_or_else(|_| Sha256::digest(text).into(), |digest| digest.0)
}

/// A text as it is; any other value in canonical form: `serde_json` keeps the keys of its maps sorted.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `text` with times, durations, ids, addresses, temporary paths and long numbers masked.
pub(super) fn masked(text: &str) -> String {
    if text.len() > MASKED { text.to_owned() } else { normalize_error(text, &Root::none()) }
}

/// The quantities of a text (durations, counters, line numbers) as one number, in thousandths; `None` where there are none. Times
/// and ids are no quantities.
pub(super) fn quantity(text: &str) -> Option<u64> {
    if text.len() > MASKED {
        return None;
    }
    let words = text.split_whitespace().filter(|word| has_digit(word)).filter(|word| !is_mark(word));
    words.flat_map(numbers).reduce(u64::saturating_add)
}

/// Whether a word is a time, a date, an address or an id.
fn is_mark(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if hex && has_digit(word) && word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return true;
    }
    // The seconds since the epoch, and whatever else is as long.
    let long = word.len() >= 9 && word.bytes().all(|byte| byte.is_ascii_digit());
    if long || word.starts_with("0x") {
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

/// The numbers of a word in thousandths: `0.31s`, `:11:`, `3/9`.
fn numbers(word: &str) -> impl Iterator<Item = u64> {
    let parts = word.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter(|part| !part.is_empty());
    parts.filter_map(|part| {
        let (whole, rest) = part.split_once('.').unwrap_or((part, ""));
        let thousandths: String = rest
            .bytes()
            .take_while(u8::is_ascii_digit)
            .map(char::from)
            .chain("000".chars())
            .take(3)
            .collect();
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
        has_digit.then(|| whole.saturating_mul(1000).saturating_add(thousandths.parse().unwrap_or(0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_told_from_times_and_ids() {
        for (text, expected) in [
            ("elapsed 30s", Some(30_000)),
            ("rows: 1001234", Some(1_001_234_000)),
            ("src/a.rs:11: warning", Some(11_000)),
            ("finished in 0.31s", Some(310)),
            ("3/9 done.", Some(12_000)),
            ("at 2026-11-20T15:30:00Z", None),
            ("id 123e4567-e89b-12d3-a456-426614174000 of 9b2e456", None),
            ("15:30:01 1795188600 0x7f3a", None),
            ("nothing. at all", None),
        ] {
            assert_eq!(quantity(text), expected, "{text}");
        }
    }
}
