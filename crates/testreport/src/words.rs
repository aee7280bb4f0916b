//! Lists of words as one text. An array of texts needs a relocation for each of them, which every start of a program
//! pays for; a text needs none, and is split when it is used.

/// Between two words.
const END: char = '\u{1f}';

/// A list of words that is one text. Made by `words!`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordList(pub &'static str);

impl WordList {
    /// Each word, in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'static str> + Clone {
        self.0.split_terminator(END)
    }

    /// Whether `word` is one of them.
    pub fn contains(self, word: &str) -> bool {
        self.iter().any(|known| known == word)
    }

    /// The first that `words` begin with: several words have spaces between them.
    pub fn beginning(self, words: &[&str]) -> Option<&'static str> {
        self.iter().find(|known| {
            let mut words = words.iter();
            known.split(' ').all(|known| words.next() == Some(&known))
        })
    }
}

/// A list of words that needs no relocation.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($($word:literal),* $(,)?) => { $crate::WordList(concat!($($word, "\u{1f}"),*)) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_list_is_what_was_written() {
        let list = words!["one", "", "three words here"];
        assert_eq!(list.iter().collect::<Vec<_>>(), ["one", "", "three words here"]);
        assert!(list.contains("one") && !list.contains("three") && !words![].contains(""));
        assert!(words![].iter().next().is_none());
        let list = words!["go vet", "go test", "go"];
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
