//! Hashes of what agents say and do: the same thing said again must hash the same, whatever the order of keys, white
//! space, times and ids in it (docs/spec-map.md, settled choices 3 and 4).

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::answer::cut;
use andon_core::change::normalize::Normalizer;
use andon_core::domain::{Digest, SAMPLED, ShortHash};
use testreport::{Root, normalize_contents, normalize_error};

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

/// `text` without what is known to be a time, a duration, a temporary path or an id, and without what the project masks. Every
/// other number is kept.
pub(super) fn timeless(text: &str, patterns: &Normalizer) -> String {
    if text.len() > MASKED {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| patterns.line(line.as_bytes()));
    let lines: Vec<String> = lines.map(|line| String::from_utf8_lossy(&line).into_owned()).collect();
    normalize_contents(&lines.join("\n"))
}

/// A sample of the lines of a text: the smallest of their hashes.
pub(super) fn sample(text: &str) -> Vec<u64> {
    let hashed = |line: &str| u64::from_be_bytes(short(&[b"line", line.trim().as_bytes()]).0) >> 32;
    let lines = cut(text, MASKED).lines().filter(|line| !line.trim().is_empty());
    let all: BTreeSet<u64> = lines.map(hashed).collect();
    all.into_iter().take(SAMPLED).collect()
}

/// `text` with times, durations, ids, addresses, temporary paths and long numbers masked.
pub(super) fn masked(text: &str) -> String {
    if text.len() > MASKED { text.to_owned() } else { normalize_error(text, &Root::none()) }
}
