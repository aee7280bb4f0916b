//! The classes that others inherit from. The tests of an abstract class run in its subclasses, which may be in another
//! file.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::source::{is_name, name};

/// The texts of all files of a side, read for their bases when one is first asked for.
#[derive(Debug)]
pub(super) struct Heirs<'t> {
    texts: Vec<&'t str>,
    bases: OnceCell<HashSet<&'t str>>,
}

impl<'t> Heirs<'t> {
    pub(super) fn new(texts: Vec<&'t str>) -> Self {
        Self { texts, bases: OnceCell::new() }
    }

    /// Whether `class` is in the place where a declaration names its base. Other text may look the same: then a class
    /// counts as run.
    pub(super) fn has(&self, class: &str) -> bool {
        self.bases.get_or_init(|| self.texts.iter().flat_map(|text| bases(text)).collect()).contains(class)
    }
}

/// The names behind `extends`, as an argument and behind a colon, as Python, Kotlin and C# write bases.
fn bases(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter_map(move |(at, c)| {
        let before = text.get(..at)?;
        if !is_name(c) || before.ends_with(is_name) {
            return None;
        }
        let base = name(&text[at..]);
        let last = || before.ends_with(", ") && text[at + base.len()..].starts_with(')');
        (["extends ", "(", ": "].iter().any(|it| before.ends_with(it)) || last()).then_some(base)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_known_in_any_text() {
        let heirs = Heirs::new(vec![
            "class A extends Base {}",
            "class B(Mixin, Other):",
            "class C : Third",
            "(a, Named, b)",
        ]);
        for class in ["Base", "Mixin", "Other", "Third"] {
            assert!(heirs.has(class), "{class}");
        }
        for class in ["A", "Bas", "class", "", "Named"] {
            assert!(!heirs.has(class), "{class}");
        }
    }
}
