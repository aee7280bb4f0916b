//! Patterns by name whose matches are replaced by that name: those of a project, for ids and errors here and for other
//! bytes of a caller.

use std::borrow::Cow;

use regex::bytes::{NoExpand, Regex, RegexBuilder};

/// Bound of a compiled pattern, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// A pattern with the text that replaces its matches: `<name>`. It matches bytes, `\w` and `\d` are ASCII.
#[derive(Debug)]
pub struct Mask {
    name: String,
    regex: Regex,
    text: String,
}

impl Mask {
    /// Most patterns of a project.
    pub const MAX: usize = 64;

    /// Compiles a pattern.
    ///
    /// # Errors
    /// It is no regular expression, or too large a one: what is wrong with it.
    pub fn new(name: &str, pattern: &str) -> Result<Self, String> {
        let mut builder = RegexBuilder::new(pattern);
        let regex = builder.unicode(false).size_limit(SIZE_LIMIT).nest_limit(50).build();
        let regex = regex.map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), regex, text: format!("<{name}>") })
    }

    /// The patterns of a project, as the configuration has checked them: one that does not compile, or matches the empty
    /// text, is left out.
    pub(super) fn all(pairs: &[(String, String)]) -> Vec<Self> {
        let masks = pairs.iter().take(Self::MAX).filter_map(|(name, pattern)| Self::new(name, pattern).ok());
        masks.filter(|mask| !mask.matches_empty()).collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the empty text matches, so that it would match everywhere.
    pub fn matches_empty(&self) -> bool {
        self.regex.is_match(b"")
    }

    /// The bytes with `<name>` for each match. A character that is matched in part is replaced.
    pub fn apply<'a>(&self, bytes: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        let replaced = match &bytes {
            Cow::Borrowed(bytes) => return self.regex.replace_all(bytes, NoExpand(self.text.as_bytes())),
            Cow::Owned(bytes) => match self.regex.replace_all(bytes, NoExpand(self.text.as_bytes())) {
                Cow::Borrowed(_) => None,
                Cow::Owned(replaced) => Some(replaced),
            },
        };
        replaced.map_or(bytes, Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mask_under_their_name_and_bad_ones_are_left_out() {
        let pair = |name: &str, pattern: &str| (name.to_owned(), pattern.to_owned());
        let all = Mask::all(&[pair("build", "build [0-9]+"), pair("bad", "("), pair("all", "x*")]);
        assert_eq!(all.len(), 1);
        let masked = |text: &'static str| all[0].apply(Cow::Borrowed(text.as_bytes()));
        assert_eq!(&masked("of build 12, build 13")[..], b"of <build>, <build>");
        assert!(matches!(masked("of it"), Cow::Borrowed(b"of it")));
        assert_eq!(&all[0].apply(Cow::Owned(b"build 7".to_vec()))[..], b"<build>");
    }
}
