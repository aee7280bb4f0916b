//! Lists of words as one text. An array of texts needs a relocation for each of them, which every start of a program
//! pays for; a text needs none, and is split when it is used.

/// Between two words.
const END: char = '\n';

/// A list of words that is one text: made by `words!`, or a file with a word a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordList(pub &'static str);

impl WordList {
    /// The lines of `text` from `=== NAME` to the next empty line. As a constant, a section that is missing fails the build.
    ///
    /// # Panics
    /// The section is missing.
    pub const fn section(text: &'static str, name: &str) -> Self {
        let bytes = text.as_bytes();
        let head = [b"\n=== ", name.as_bytes(), b"\n"];
        let mut at = 0;
        loop {
            assert!(at < bytes.len(), "no such section");
            if let Some(from) = behind(bytes, at, &head) {
                let mut end = from;
                while end < bytes.len() && !(bytes[end] == b'\n' && bytes[end - 1] == b'\n') {
                    end += 1;
                }
                return Self(text.split_at(end).0.split_at(from).1);
            }
            at += 1;
        }
    }

    /// Each word, in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'static str> + Clone {
        self.0.split_terminator([END, '\n'])
    }

    /// True when `word` is one of them.
    pub fn contains(self, word: &str) -> bool {
        self.iter().any(|known| known == word)
    }

    /// True for a text that begins with one of them.
    pub(crate) fn begins(self, text: &str) -> bool {
        self.iter().any(|known| text.starts_with(known))
    }

    /// True for a text that has one of them in it.
    pub(crate) fn any_in(self, text: &str) -> bool {
        self.iter().any(|known| text.contains(known))
    }

    /// The first that `words` begin with: several words have spaces between them.
    pub fn beginning(self, words: &[&str]) -> Option<&'static str> {
        self.iter().find(|known| {
            let mut words = words.iter();
            known.split(' ').all(|known| words.next() == Some(&known))
        })
    }
}

/// The place behind `parts`, where they follow each other from `at` on.
const fn behind(bytes: &[u8], mut at: usize, parts: &[&[u8]]) -> Option<usize> {
    let (mut part, mut place) = (0, 0);
    while part < parts.len() {
        if place == parts[part].len() {
            (part, place) = (part + 1, 0);
        } else if at < bytes.len() && bytes[at] == parts[part][place] {
            (at, place) = (at + 1, place + 1);
        } else {
            return None;
        }
    }
    Some(at)
}

/// The beginning of a text, at most `most` bytes of whole characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Phrases of programs, in sections.
pub(crate) const PHRASES: &str = include_str!("phrases.txt");
/// Words of runners, in sections.
pub const RUNNERS: &str = include_str!("runners.txt");

/// True for a line that has the parts of a phrase in their order.
pub(crate) fn matches(line: &str, phrase: &str) -> bool {
    let mut rest = line.trim();
    for part in phrase.split('…') {
        if let Some(whole) = part.strip_prefix('^').and_then(|part| part.strip_suffix('$')) {
            return rest == whole;
        } else if let Some(start) = part.strip_prefix('^') {
            let Some(tail) = rest.strip_prefix(start) else { return false };
            rest = tail;
        } else if let Some(end) = part.strip_suffix('$') {
            return rest.ends_with(end);
        } else {
            let Some((_, tail)) = rest.split_once(part) else { return false };
            rest = tail;
        }
    }
    true
}

/// A list of words that needs no relocation.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($($word:literal),* $(,)?) => { $crate::WordList(concat!($($word, "\n"),*)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Head\n\n=== one\na b\n\n=== two\nc\nd\n";
    const TWO: WordList = WordList::section(TEXT, "two");

    #[test]
    fn a_list_is_what_was_written() {
        let list = words!["one", "", "three words here"];
        assert_eq!(list.iter().collect::<Vec<_>>(), ["one", "", "three words here"]);
        assert!(list.contains("one") && !list.contains("three") && !words![].contains(""));
        assert!(words![].iter().next().is_none());
        let list = words!["go vet", "go test", "go"];
        assert_eq!(
            TWO.iter().chain(WordList::section(TEXT, "one").iter()).collect::<Vec<_>>(),
            ["c", "d", "a b"]
        );
        for (words, known) in [
            (&["go", "test", "x"][..], Some("go test")),
            (&["go"], Some("go")),
            (&["gone"], None),
            (&[], None),
        ] {
            assert_eq!(list.beginning(words), known, "{words:?}");
        }
    }
}
