//! Error texts under headings, kept until the list that names the failing tests claims them: headings often leave out
//! the file, so that one heading may belong to several failures, in the list's order.

use std::collections::{BTreeMap, VecDeque};

use super::super::tally::append_line;

/// Texts by heading, in bounded memory.
#[derive(Debug, Default)]
pub(super) struct Explanations {
    texts: BTreeMap<String, VecDeque<String>>,
    kept: usize,
    open: Option<(String, String)>,
}

impl Explanations {
    const MAX_KEPT: usize = 512;
    const MAX_HEADING: usize = 4 * 1024;

    /// The following lines are under this heading.
    pub(super) fn begin(&mut self, heading: &str) {
        self.end();
        let mut end = heading.len().min(Self::MAX_HEADING);
        while !heading.is_char_boundary(end) {
            end -= 1;
        }
        self.open = Some((heading.get(..end).unwrap_or_default().to_owned(), String::new()));
    }

    /// A line of the text; dropped when no heading is open.
    pub(super) fn line(&mut self, line: &str) {
        if let Some((_, text)) = &mut self.open {
            append_line(text, line);
        }
    }

    /// The text under the heading has ended.
    pub(super) fn end(&mut self) {
        if let Some((heading, text)) = self.open.take()
            && self.kept < Self::MAX_KEPT
        {
            self.kept += 1;
            self.texts.entry(heading).or_default().push_back(text);
        }
    }

    /// The first unclaimed text under this heading.
    pub(super) fn claim(&mut self, heading: &str) -> Option<String> {
        self.end();
        let text = self.texts.get_mut(heading)?.pop_front()?;
        self.kept = self.kept.saturating_sub(1);
        Some(text)
    }

    /// Heading and text of what is unclaimed.
    pub(super) fn unclaimed(&mut self) -> Vec<(String, String)> {
        self.end();
        self.kept = 0;
        let texts = std::mem::take(&mut self.texts).into_iter();
        texts
            .flat_map(|(heading, texts)| texts.into_iter().map(move |text| (heading.clone(), text)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_claimed_once_in_order() {
        let mut explained = Explanations::default();
        explained.line("nowhere");
        for text in ["one", "two"] {
            explained.begin("test_a");
            explained.line(text);
        }
        assert_eq!(explained.claim("test_a").as_deref(), Some("one"));
        assert_eq!(explained.claim("test_b"), None);
        assert_eq!(explained.unclaimed(), [("test_a".to_owned(), "two".to_owned())]);
        assert_eq!(explained.claim("test_a"), None);
    }
}
