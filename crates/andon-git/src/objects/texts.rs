//! Texts of files, to be compared: read once, and kept while the next commits may want them again.
//!
//! Where commits are read one after another, the new text of one is the old text of the next; inflating it again is
//! most of the cost of a diff.

use std::{ops::Deref, rc::Rc};

use crate::error::GitError;
use crate::objects::cache::Cache;
use crate::open::repo::Repo;
use andon_core::domain::ids::Oid;

/// The content of a file; by default that of a file that is not there.
#[derive(Clone, Default)]
pub struct Text<'r>(Option<Rc<git2::Blob<'r>>>);

impl<'r> Text<'r> {
    /// True if there is a file, be it empty.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn blob(&self) -> Option<&git2::Blob<'r>> {
        self.0.as_deref()
    }
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.blob().map_or(&[], git2::Blob::content)
    }
}

/// The largest number of texts that are kept: each takes some hundred bytes in addition to its own, and small files are
/// many.
const MAX_TEXTS: usize = 1 << 14;

/// Reads texts of one repository, and keeps the newest.
pub struct Texts<'r> {
    repo: &'r Repo,
    cache: Cache<Text<'r>>,
}

impl<'r> Texts<'r> {
    /// Keeps up to `max` bytes; with 0 nothing is kept.
    pub fn new(repo: &'r Repo, max: usize) -> Self {
        Self { repo, cache: Cache::up_to(max, MAX_TEXTS) }
    }

    /// The content of blob `id`; `None` when it has more than `max` bytes, and then it is not inflated.
    pub fn read(&mut self, id: Oid, max: usize) -> Result<Option<Text<'r>>, GitError> {
        if let Some(known) = self.cache.get(id) {
            return Ok(Some(known).filter(|known| known.len() <= max));
        }
        let Some(blob) = self.repo.blob_up_to(id, max)? else { return Ok(None) };
        let text = Text(Some(Rc::new(blob)));
        self.cache.keep(id, text.clone(), text.len());
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    #[test]
    fn the_newest_stay_within_the_bound() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let ids: Vec<Oid> = (0..10).map(|byte| repo.write_blob(&[b'a' + byte; 20]).unwrap()).collect();
        let mut texts = Texts::new(&repo, 100);
        for id in ids.iter().chain(&ids[5..]) {
            assert_eq!(texts.read(*id, 20).unwrap().unwrap().len(), 20);
        }
        let (held, bytes) = texts.cache.held(ids.iter().copied());
        assert_eq!(held, [false, false, false, false, false, true, true, true, true, true]);
        assert_eq!(bytes, 100);
        assert!(texts.read(ids[9], 19).unwrap().is_none() && texts.read(ids[0], 19).unwrap().is_none());
        let large = repo.write_blob(&[0; 26]).unwrap();
        texts.read(large, 26).unwrap();
        assert_eq!(texts.cache.held([large]).0, [false]);
        let none = Oid::from_bytes(&[7; 20]).unwrap();
        assert!(matches!(texts.read(none, 9), Err(GitError::Missing { .. })));
    }

    #[test]
    fn what_is_no_blob_is_an_error() {
        let scratch = Scratch::new();
        let commit = scratch.commit("a", "1", "one");
        let repo = scratch.open();
        assert!(Texts::new(&repo, 0).read(commit.0, 1 << 20).is_err());
    }
}
