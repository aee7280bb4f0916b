//! The patterns of the project, which come after the built-in rules.

use regex::bytes::{NoExpand, Regex, RegexBuilder};

/// Most patterns that are applied; the configuration refuses more.
const MAX_PATTERNS: usize = 64;
/// Bound of a compiled pattern, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// One pattern with the text that replaces its matches.
#[derive(Debug)]
pub(super) struct ProjectPattern {
    name: String,
    regex: Regex,
    mask: String,
}

impl ProjectPattern {
    /// Compiles the patterns, as the configuration has checked them: one that does not compile, or matches
    /// the empty text, is left out.
    pub(super) fn all(pairs: &[(String, String)]) -> Vec<Self> {
        let compile = |(name, pattern): &(String, String)| {
            let mut builder = RegexBuilder::new(pattern);
            let regex = builder.unicode(false).size_limit(SIZE_LIMIT).nest_limit(50).build().ok()?;
            let usable = !regex.is_match(b"");
            usable.then(|| Self { name: name.clone(), regex, mask: format!("<{name}>") })
        };
        pairs.iter().take(MAX_PATTERNS).filter_map(compile).collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The text with `<name>` for each match; `None` when there is none. Patterns match bytes: a character that is
    /// matched in part is replaced.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        match self.regex.replace_all(text.as_bytes(), NoExpand(self.mask.as_bytes())) {
            std::borrow::Cow::Borrowed(_) => None,
            std::borrow::Cow::Owned(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mask_under_their_name_and_bad_ones_are_left_out() {
        let pair = |name: &str, pattern: &str| (name.to_owned(), pattern.to_owned());
        let all = ProjectPattern::all(&[pair("build", "build [0-9]+"), pair("bad", "("), pair("all", "x*")]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].apply("of build 12, build 13").as_deref(), Some("of <build>, <build>"));
        assert_eq!(all[0].apply("of it"), None);
        assert!(ProjectPattern::all(&[pair("one", ".")])[0].apply("é").is_some());
    }
}
