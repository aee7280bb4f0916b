//! The files of a change on one of its sides, read only as far as is asked for.

use std::{borrow::Cow, cell::OnceCell, collections::BTreeSet, ops::Range};

use crate::asserts::{Assertion, Content, Vocabulary, content, is_assertion, words};
use crate::read::{MAX_TESTS, Test, tests};
use crate::{ChangedText, declaration::function, reader::FileText, skips::Heirs, words::Words};

/// The files of a change on one of its sides.
#[derive(Debug)]
pub(super) struct Side<'t> {
    files: Vec<File<'t>>,
    pub(super) tests: Vec<Test>,
    /// True when it may have more tests than are looked at.
    pub(super) cut: bool,
    contents: Vec<OnceCell<Content>>,
    /// Functions outside the tests that assert.
    asserting: OnceCell<BTreeSet<String>>,
}

#[derive(Debug)]
struct File<'t> {
    text: &'t FileText<'t>,
    words: Cow<'t, Words<'t>>,
    /// The content outside the tests.
    outside: OnceCell<Content>,
}

impl<'t> File<'t> {
    /// A file of tests is one where it says so on either side.
    fn new([text, other]: [&'t FileText<'t>; 2]) -> Self {
        let mut words = Cow::Borrowed(&text.words);
        if other.words.is_of_tests && !words.is_of_tests {
            words.to_mut().is_of_tests = true;
        }
        Self { text, words, outside: OnceCell::new() }
    }
}

impl<'t> Side<'t> {
    /// Reads the tests of one side of each file.
    pub(super) fn read(
        files: &'t [ChangedText<'t>],
        sides: impl Fn(&'t ChangedText<'t>) -> [&'t FileText<'t>; 2],
    ) -> Self {
        let files: Vec<File<'t>> = files.iter().map(|file| File::new(sides(file))).collect();
        let heirs = Heirs::new(files.iter().map(|file| file.text.raw()).collect());
        let read = |(at, file): (usize, &File<'t>)| {
            let holds_tests = !file.words.tests.is_empty();
            if holds_tests { tests(file.text.source(), &file.words, at, &heirs) } else { Vec::new() }
        };
        let tests: Vec<Test> = files.iter().enumerate().flat_map(read).take(MAX_TESTS).collect();
        let contents = tests.iter().map(|_| OnceCell::new()).collect();
        Self { files, cut: tests.len() == MAX_TESTS, tests, contents, asserting: OnceCell::new() }
    }

    /// The text of a test.
    pub(super) fn text(&self, test: usize) -> &'t str {
        let test = &self.tests[test];
        self.files[test.file].text.raw().get(test.layout.block.clone()).unwrap_or_default()
    }

    /// The content of a test.
    pub(super) fn content(&self, test: usize) -> &Content {
        self.contents[test].get_or_init(|| {
            let Test { file, layout, .. } = &self.tests[test];
            let (file, attributes) = (&self.files[*file], layout.attributes.max(layout.place));
            content(file.text.source(), &file.words, layout.block.clone(), attributes, layout.body)
        })
    }

    /// The words outside the tests of a file.
    pub(super) fn beside(&self, file: usize) -> &Vocabulary {
        words(self.outside(file))
    }

    /// The assertions outside the tests, of files that have some.
    pub(super) fn assertions_beside(&self) -> impl Iterator<Item = &Assertion> {
        (0..self.files.len()).flat_map(|file| &self.outside(file).assertions)
    }

    /// The content outside the tests of a file: nothing where it can have none.
    fn outside(&self, at: usize) -> &Content {
        let file = &self.files[at];
        file.outside.get_or_init(|| {
            if file.words.tests.is_empty() {
                return Content::default();
            }
            let blocks =
                self.tests.iter().filter(|test| test.file == at).map(|test| test.layout.block.clone());
            let (mut from, mut all, end) = (0, Content::default(), file.text.raw().len());
            for block in blocks.chain(std::iter::once(end..end)) {
                let gap: Range<usize> = from..block.start.max(from);
                let found = content(file.text.source(), &file.words, gap.clone(), gap.start, gap.start);
                all.around.extend(&found.around);
                all.assertions.extend(found.assertions);
                from = block.end.max(from);
            }
            all
        })
    }

    /// True when a function of this name is outside the tests and asserts.
    pub(super) fn asserts(&self, name: &str) -> bool {
        self.asserting.get_or_init(|| self.functions()).contains(name)
    }

    fn functions(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (at, file) in self.files.iter().enumerate().filter(|(_, file)| !file.words.assertions.is_empty())
        {
            let source = file.text.source();
            let mut blocks =
                self.tests.iter().filter(|test| test.file == at).map(|test| &test.layout.block).peekable();
            for line in 0..source.len() {
                while blocks.next_if(|block| block.end <= source.start(line)).is_some() {}
                let is_test = blocks.peek().is_some_and(|block| block.contains(&source.start(line)));
                let code = source.code(line).trim_start();
                let declares = (!is_test && code.contains('(')).then(|| function(code)).flatten();
                let asserts = |at| is_assertion(source.code(at).trim_start(), source.family, &file.words);
                found.extend(declares.filter(|_| (line..source.end_of(line)).any(asserts)));
            }
        }
        found
    }
}
