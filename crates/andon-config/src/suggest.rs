//! "Did you mean": the nearest known word.

use andon_core::domain::spelling::nearest;

/// The hint for an unknown word: the nearest known one, or all of them.
pub fn hint<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(nearest) = nearest(word, known.clone()) {
        return format!("did you mean `{nearest}`?");
    }
    let all: Vec<&str> = known.collect();
    if all.is_empty() { "remove it".to_owned() } else { format!("known here: {}", all.join(", ")) }
}
