//! "Did you mean": the nearest known word.

/// The known word nearest to `word`, when it is near enough to be a slip: a third of its letters at most,
/// or one is the beginning of the other.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The longest known word has about 25 letters; anything long is no slip, and slow to compare.
    if word.chars().count() > 64 {
        return None;
    }
    let folded = word.to_ascii_lowercase();
    known
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, candidate);
            let letters = folded.len().max(candidate.len());
            let beginning =
                folded.len() >= 3 && (candidate.starts_with(&folded) || folded.starts_with(candidate));
            (beginning || distance * 3 <= letters).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether `word` is `known` but for one letter that is wrong, missing, too many, or swapped with its neighbour.
pub fn is_one_slip(word: &str, known: &str) -> bool {
    word.chars().count() <= 64 && strsim::damerau_levenshtein(word, known) <= 1
}
