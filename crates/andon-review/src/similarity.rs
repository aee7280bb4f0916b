//! The similarity of two texts (R21): claim and critique of a round, rationales of a panel, words of precedents.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A critique with fewer tokens than this says too little to be one.
const SHORT: u64 = 12;
/// The mark around quoted code; the end of the text ends it too.
const FENCE: &str = "```";
/// Words that say nothing about what a text is about.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "do", "does", "for", "from", "has", "have", "i",
    "if", "in", "into", "is", "it", "its", "no", "not", "of", "on", "or", "so", "that", "the", "their",
    "then", "there", "these", "this", "to", "was", "we", "were", "which", "will", "with", "you",
];

/// The words of a text with their counts, without quotes, code and stop words: each once, sorted, behind one another in
/// one buffer. A ledger has thousands of texts, and a map of texts each would cost more than all else in the fold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    names: String,
    /// The end of each, and how often it comes.
    counts: Vec<(usize, u64)>,
}

/// The similarity of two texts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Similarity {
    pub dot: u64,
    /// The square of the first text's length as a vector.
    pub na: u64,
    /// The same of the second.
    pub nb: u64,
    /// 0 when one of them is empty.
    pub cosine: f64,
    /// The cosine exceeds 0.85, compared exactly.
    pub agreement: bool,
    /// The second text has fewer than 12 tokens.
    pub short: bool,
}

impl Words {
    /// Counts the words of `text`.
    pub fn new(text: &str) -> Self {
        let mut lower = String::with_capacity(text.len());
        for line in without_fences(text).split('\n').filter(|line| !is_quoted(line)) {
            if line.is_ascii() {
                lower.extend(line.chars().map(|c| c.to_ascii_lowercase()));
            } else {
                // Letters beyond ASCII may have a lower case within it.
                lower.push_str(&line.to_lowercase());
            }
            lower.push('\n');
        }
        let is_part = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
        let tokens = lower.as_bytes().split(|c| !is_part(*c)).filter(|token| token.len() >= 2);
        let tokens = tokens.filter_map(|token| std::str::from_utf8(token).ok());
        let mut tokens: Vec<&str> = tokens.filter(|token| STOP_WORDS.binary_search(token).is_err()).collect();
        tokens.sort_unstable();
        let mut found = Self::default();
        for same in tokens.chunk_by(|one, other| one == other) {
            found.names.push_str(same[0]);
            found.counts.push((found.names.len(), same.len() as u64));
        }
        found
    }

    /// The words in their order, with their counts.
    fn each(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut begin = 0;
        self.counts.iter().map(move |(end, count)| {
            let name = &self.names[begin..*end];
            begin = *end;
            (name, *count)
        })
    }

    /// The words without their counts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.each().map(|(name, _)| name)
    }

    /// The words of both texts, counted together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut all: Vec<(&str, u64)> = self.each().chain(other.each()).collect();
        all.sort_unstable();
        let mut found = Self::default();
        for same in all.chunk_by(|one, other| one.0 == other.0) {
            found.names.push_str(same[0].0);
            found.counts.push((found.names.len(), same.iter().map(|(_, count)| count).sum()));
        }
        found
    }

    /// True where every word of `self` is in `all`.
    pub fn are_among(&self, all: &BTreeSet<String>) -> bool {
        self.names().all(|word| all.contains(word))
    }

    /// True for a text that says too little to be a critique.
    pub fn is_short(&self) -> bool {
        self.counts.iter().map(|(_, count)| count).sum::<u64>() < SHORT
    }

    /// Compares a claim with its critique.
    pub fn compare(&self, critique: &Self) -> Similarity {
        let dot = self.dot(critique);
        let (na, nb) = (self.square(), critique.square());
        Similarity {
            dot,
            na,
            nb,
            cosine: cosine(dot, na, nb),
            agreement: is_over(dot, na, nb),
            short: critique.is_short(),
        }
    }

    /// True where the cosine exceeds 0.85.
    pub fn is_like(&self, other: &Self) -> bool {
        self.compare(other).agreement
    }

    /// Both are sorted: they are walked side by side.
    fn dot(&self, other: &Self) -> u64 {
        let mut theirs = other.each().peekable();
        let mut dot = 0;
        for (word, count) in self.each() {
            while theirs.next_if(|(their, _)| *their < word).is_some() {}
            if let Some((_, their)) = theirs.next_if(|(their, _)| *their == word) {
                dot += count * their;
            }
        }
        dot
    }

    fn square(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count * count).sum()
    }
}

/// 0.85 squared is 7225/10000; whole numbers alone decide.
fn is_over(dot: u64, na: u64, nb: u64) -> bool {
    let (dot, na, nb) = (u128::from(dot), u128::from(na), u128::from(nb));
    dot > 0 && 10_000 * dot * dot > 7_225 * na * nb
}

#[allow(clippy::cast_precision_loss, reason = "shown to people; what is decided is decided by whole numbers")]
fn cosine(dot: u64, na: u64, nb: u64) -> f64 {
    if na == 0 || nb == 0 { 0.0 } else { dot as f64 / (na as f64 * nb as f64).sqrt() }
}

/// `text` with a space for each fenced block.
fn without_fences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, fenced)) = rest.split_once(FENCE) {
        kept.push_str(before);
        kept.push(' ');
        rest = fenced.split_once(FENCE).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Lines of a quotation or of a diff. A dash before a blank begins an item of a list.
fn is_quoted(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['>', '+'])
        || line.starts_with("@@")
        || line.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, u64)> {
        Words::new(text).each().map(|(word, count)| (word.to_owned(), count)).collect()
    }

    #[test]
    fn stop_words_can_be_searched() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(STOP_WORDS.len(), 43);
    }

    #[test]
    fn only_what_an_author_says_counts() {
        let table: &[(&str, &[(&str, u64)])] = &[
            ("Use the Cache, use_it!", &[("cache", 1), ("use", 1), ("use_it", 1)]),
            ("a b c 7 42", &[("42", 1)]),
            ("one ```two\nthree``` four", &[("four", 1), ("one", 1)]),
            ("one ```two\nthree", &[("one", 1)]),
            ("> one\n  + two\n@@ three\n-four\n- five\n-\n --- six\nseven", &[("five", 1), ("seven", 1)]),
            ("x```y\n```> kept", &[("kept", 1)]),
            ("naïve", &[("na", 1), ("ve", 1)]),
            // The sign for kelvin has a small letter of ASCII.
            ("\u{212a}ilo", &[("kilo", 1)]),
            ("RETRY retry Retry", &[("retry", 3)]),
        ];
        for (text, want) in table {
            let want: Vec<(String, u64)> =
                want.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
            assert_eq!(words(text), want, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_two_texts_have_in_common_is_what_maps_of_them_have(one in "[a-c _\n]{0,60}", other in "[a-c _\n]{0,60}") {
            use std::collections::BTreeMap;
            let (one, other) = (Words::new(&one), Words::new(&other));
            let (left, right): (BTreeMap<_, _>, BTreeMap<_, _>) = (one.each().collect(), other.each().collect());
            let dot: u64 = left.iter().map(|(word, count)| count * right.get(word).unwrap_or(&0)).sum();
            proptest::prop_assert_eq!(one.compare(&other).dot, dot);
            proptest::prop_assert_eq!(one.names().count(), left.len());
        }
    }

    #[test]
    fn agreement_is_more_than_85_of_100() {
        // (17, 0) and (17, k): the cosine is 17/sqrt(289 + k^2); with counts 20 and (17, ..) it can be 0.85 exactly.
        let repeat = |word: &str, times: usize| vec![word; times].join(" ");
        // |A| = 20, A.B = 20 * 17, |B|^2 = 289 + 111: 111 = 10^2 + 3^2 + 1^2 + 1^2, so cos = 340/400 = 0.85.
        let one = Words::new(&repeat("alpha", 20));
        let other = |extra: &str| {
            Words::new(
                &[repeat("alpha", 17), repeat("beta", 10), repeat("gamma", 3), "delta".into(), extra.into()]
                    .join(" "),
            )
        };
        let exactly = one.compare(&other("epsilon"));
        assert_eq!((exactly.dot, exactly.na, exactly.nb, exactly.agreement), (340, 400, 400, false));
        assert!((exactly.cosine - 0.85).abs() < 1e-9);
        assert!(one.compare(&other("")).agreement);
        let nothing = one.compare(&Words::new("the"));
        assert_eq!((nothing.dot, nothing.nb, nothing.agreement, nothing.short), (0, 0, false, true));
        assert!(nothing.cosine.abs() < f64::EPSILON);
    }

    #[test]
    fn eleven_tokens_are_short() {
        assert_eq!(Words::new("one two").and(&Words::new("two three")), Words::new("two one three two"));
        assert!(Words::new("one two three four five six seven eight nine ten eleven").is_short());
        assert!(!Words::new("one two three four five six seven eight nine ten eleven eleven").is_short());
    }
}
