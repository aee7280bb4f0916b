//! What all fuzzers here share: numbers by chance, and bytes that are changed by them.
#![allow(dead_code, clippy::unwrap_used)] // each fuzzer uses what it needs

/// A small generator of numbers (xorshift): the same seed gives the same run.
pub struct Dice(u64);

impl Dice {
    /// From any number.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below a bound.
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % below.max(1)
    }

    /// A range of `bytes`, mostly short.
    pub fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.roll(bytes.len() + 1);
        let most = if self.roll(4) == 0 { bytes.len() } else { 64 };
        start..(start + self.roll(most + 1)).min(bytes.len())
    }
}

/// Changes bytes once: flips, cuts, repeats, swaps lines, takes parts of `other`, puts one of `tokens` in.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], tokens: &[&str], dice: &mut Dice) {
    let range = dice.range(bytes);
    match dice.roll(8) {
        0 if !bytes.is_empty() => {
            let at = dice.roll(bytes.len());
            bytes[at] ^= 1 << dice.roll(8);
        }
        1 if !bytes.is_empty() => {
            let at = dice.roll(bytes.len());
            bytes[at] = u8::try_from(dice.roll(256)).unwrap();
        }
        2 => drop(bytes.drain(range)),
        3 => {
            let part = bytes[range.clone()].to_vec();
            bytes.splice(range.start..range.start, part);
        }
        4 => {
            let part = other[dice.range(other)].to_vec();
            bytes.splice(range, part);
        }
        5 => {
            let at = dice.roll(bytes.len() + 1);
            bytes.splice(at..at, tokens[dice.roll(tokens.len())].bytes());
        }
        6 => bytes.truncate(range.start),
        _ => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            if lines.is_empty() {
                return;
            }
            let (one, two) = (dice.roll(lines.len()), dice.roll(lines.len()));
            lines.swap(one, two);
            *bytes = lines.concat();
        }
    }
}
