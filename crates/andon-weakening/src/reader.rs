//! Reads files by the patterns of tests, and keeps what it has read, for all threads: in a walk from commit to commit, the new text of
//! one is the old text of the next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::{source::Source, words::Rows, words::Words};
use andon_core::detect::Patterns;
use andon_core::domain::{Oid, RuleSetting};

/// Bytes of texts that are kept: beyond, all of them are let go.
const MAX_KEPT: usize = 8 << 20;

/// A text of a file: what the patterns of tests find in it, and its code, once that is asked for.
#[derive(Debug)]
pub struct FileText<'p> {
    raw: Arc<str>,
    pub(crate) words: Words<'p>,
    rows: Arc<Rows<'p>>,
    source: OnceLock<Source>,
}

impl FileText<'_> {
    /// The text itself.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    pub(crate) fn source(&self) -> &Source {
        self.source.get_or_init(|| Source::new(Arc::clone(&self.raw), self.rows.family))
    }
}

/// A reader of files by the patterns of the rule `test-weakening`.
#[derive(Debug)]
pub struct TestReader<'p> {
    patterns: Patterns<'p>,
    /// By the ending of a file, in lower case, such as `rs`.
    rows: BTreeMap<&'p str, OnceLock<Arc<Rows<'p>>>>,
    kept: Mutex<Kept<'p>>,
}

#[derive(Debug, Default)]
struct Kept<'p> {
    texts: BTreeMap<(Oid, String), Arc<FileText<'p>>>,
    bytes: usize,
}

impl<'p> TestReader<'p> {
    /// As the rule is set.
    pub fn new(setting: &'p RuleSetting) -> Self {
        let patterns = Patterns::new(setting);
        let endings = patterns.tests.iter().filter_map(|row| row.split_once(": "));
        let endings = endings.flat_map(|(endings, _)| endings.split(','));
        let rows = endings.map(|ending| (ending.trim(), OnceLock::new())).collect();
        Self { patterns, rows, kept: Mutex::default() }
    }

    /// True for an ending of files that can hold tests; others need not be read.
    pub fn knows(&self, extension: &str) -> bool {
        self.rows.contains_key(extension)
    }

    /// Reads a text of a file with that ending.
    pub fn text(&self, extension: &str, raw: &str) -> FileText<'p> {
        let made = || Arc::new(Rows::new(&self.patterns, extension));
        let rows = self.rows.get(extension).map_or_else(made, |rows| Arc::clone(rows.get_or_init(made)));
        FileText { raw: raw.into(), words: Words::new(&rows, raw), rows, source: OnceLock::new() }
    }

    /// The text of the blob `id`, which has at most `max` bytes: as it was read before, or else what `read` makes of it.
    ///
    /// # Errors
    /// That of `read`.
    pub fn kept<E>(
        &self,
        id: Oid,
        extension: &str,
        max: usize,
        read: impl FnOnce() -> Result<Option<String>, E>,
    ) -> Result<Option<Arc<FileText<'p>>>, E> {
        let key = (id, extension.to_owned());
        let known = self.lock().texts.get(&key).cloned();
        if let Some(known) = known.filter(|known| known.raw.len() <= max) {
            return Ok(Some(known));
        }
        let Some(raw) = read()? else { return Ok(None) };
        let text = Arc::new(self.text(extension, &raw));
        let mut kept = self.lock();
        if kept.bytes + raw.len() > MAX_KEPT {
            *kept = Kept::default();
        }
        kept.bytes += raw.len();
        kept.texts.insert(key, Arc::clone(&text));
        Ok(Some(text))
    }

    fn lock(&self) -> MutexGuard<'_, Kept<'p>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::detect::rule;

    #[test]
    fn a_blob_is_read_once_for_each_ending() {
        let setting = rule("test-weakening").unwrap().defaults();
        let reader = TestReader::new(&setting);
        assert!(reader.knows("rs") && !reader.knows("txt"));
        let (id, mut reads) = (Oid::ZERO, 0);
        let mut read = |ending: &str, max: usize| {
            let text = reader.kept(id, ending, max, || {
                reads += 1;
                Ok::<_, ()>(Some("#[test]\nfn adds() {}\n".to_owned()))
            });
            let text = text.unwrap().unwrap();
            (crate::declared_tests(&text), reads)
        };
        assert_eq!(read("rs", 100), (vec!["adds".to_owned()], 1));
        assert_eq!(read("rs", 100).1, 1, "kept");
        assert_eq!(read("py", 100), (vec![], 2), "another ending is another reading");
        assert_eq!(read("rs", 3).1, 3, "whether it is too large is asked of the blob");
    }

    #[test]
    fn beyond_the_bound_all_are_let_go() {
        let setting = rule("test-weakening").unwrap().defaults();
        let reader = TestReader::new(&setting);
        for byte in 0..40 {
            let id = Oid::from_bytes(&[byte; 20]).unwrap();
            let text = reader.kept(id, "rs", usize::MAX, || Ok::<_, ()>(Some("x".repeat(1 << 20))));
            assert!(text.unwrap().is_some());
            assert!(reader.lock().bytes <= MAX_KEPT && reader.lock().texts.len() <= 8);
        }
    }
}
