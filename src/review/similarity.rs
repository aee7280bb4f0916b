//! How alike two texts are (R21): claim and critique of a round, rationales of a panel, words of precedents.

use std::collections::{BTreeMap, BTreeSet};

/// A critique with fewer tokens than this says too little to be one.
const SHORT: u64 = 12;
/// Where a text quotes code; the end of the text ends it too.
const FENCE: &str = "```";
/// Words that say nothing about what a text is about.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "do", "does", "for", "from", "has", "have", "i",
    "if", "in", "into", "is", "it", "its", "no", "not", "of", "on", "or", "so", "that", "the", "their",
    "then", "there", "these", "this", "to", "was", "we", "were", "which", "will", "with", "you",
];

/// The words of a text with their counts, without quotes, code and stop words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(BTreeMap<String, u64>);

/// How alike two texts are.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    pub fn of(text: &str) -> Self {
        let mut counts = BTreeMap::new();
        let text = without_fences(text);
        for line in text.split('\n').filter(|line| !is_quoted(line)) {
            let line = line.to_lowercase();
            let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            for token in line.split(|c| !is_part(c)) {
                if token.len() >= 2 && STOP_WORDS.binary_search(&token).is_err() {
                    *counts.entry(token.to_owned()).or_insert(0) += 1;
                }
            }
        }
        Self(counts)
    }

    /// Which words there are.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether every word of `self` is in `all`.
    pub fn are_among(&self, all: &BTreeSet<String>) -> bool {
        self.0.keys().all(|word| all.contains(word))
    }

    /// Whether this says too little to be a critique.
    pub fn is_short(&self) -> bool {
        self.0.values().sum::<u64>() < SHORT
    }

    /// Compares a claim with its critique.
    pub fn compare(&self, critique: &Self) -> Similarity {
        let dot = self.0.iter().map(|(word, count)| count * critique.0.get(word).unwrap_or(&0)).sum();
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

    /// Whether the cosine exceeds 0.85.
    pub fn is_like(&self, other: &Self) -> bool {
        self.compare(other).agreement
    }

    fn square(&self) -> u64 {
        self.0.values().map(|count| count * count).sum()
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
        Words::of(text).0.into_iter().collect()
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
            ("RETRY retry Retry", &[("retry", 3)]),
        ];
        for (text, want) in table {
            let want: Vec<(String, u64)> =
                want.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
            assert_eq!(words(text), want, "{text:?}");
        }
    }

    #[test]
    fn agreement_is_more_than_85_of_100() {
        // (17, 0) and (17, k): the cosine is 17/sqrt(289 + k^2); with counts 20 and (17, ..) it can be 0.85 exactly.
        let repeat = |word: &str, times: usize| vec![word; times].join(" ");
        // |A| = 20, A.B = 20 * 17, |B|^2 = 289 + 111: 111 = 10^2 + 3^2 + 1^2 + 1^2, so cos = 340/400 = 0.85.
        let one = Words::of(&repeat("alpha", 20));
        let other = |extra: &str| {
            Words::of(
                &[repeat("alpha", 17), repeat("beta", 10), repeat("gamma", 3), "delta".into(), extra.into()]
                    .join(" "),
            )
        };
        let exactly = one.compare(&other("epsilon"));
        assert_eq!((exactly.dot, exactly.na, exactly.nb, exactly.agreement), (340, 400, 400, false));
        assert!((exactly.cosine - 0.85).abs() < 1e-9);
        assert!(one.compare(&other("")).agreement);
        let nothing = one.compare(&Words::of("the"));
        assert_eq!((nothing.dot, nothing.nb, nothing.agreement, nothing.short), (0, 0, false, true));
        assert!(nothing.cosine.abs() < f64::EPSILON);
    }

    #[test]
    fn eleven_tokens_are_short() {
        assert!(Words::of("one two three four five six seven eight nine ten eleven").is_short());
        assert!(!Words::of("one two three four five six seven eight nine ten eleven eleven").is_short());
    }
}
