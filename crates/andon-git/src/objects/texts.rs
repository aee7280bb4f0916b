//! Texts of files, to be compared: read once, and kept while the next commits may want them again.
//!
//! In a walk from commit to commit, the new text of one is the old text of the next; inflating it again is
//! most of the cost of a diff.

use std::{ops::Deref, rc::Rc};

/// The content of a file; by default that of a file that is not there.
#[derive(Debug, Clone, Default)]
pub struct Text(pub(crate) Option<Rc<Vec<u8>>>);

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |bytes| bytes)
    }
}

/// The largest number of texts that are kept: each takes some hundred bytes in addition to its own, and small files are
/// many.
pub(crate) const MAX_TEXTS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use crate::{GitError, testkit::Scratch};
    use andon_core::domain::Oid;

    #[test]
    fn the_newest_stay_within_the_bound() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let ids: Vec<Oid> = (0..10).map(|byte| repo.write_blob(&[b'a' + byte; 20]).unwrap()).collect();
        repo.keep(0, 100);
        for id in ids.iter().chain(&ids[5..]) {
            assert_eq!(repo.text(*id, 20).unwrap().unwrap().len(), 20);
        }
        let (held, bytes) = repo.texts.borrow().held(ids.iter().copied());
        assert_eq!(held, [false, false, false, false, false, true, true, true, true, true]);
        assert_eq!(bytes, 100);
        assert!(repo.text(ids[9], 19).unwrap().is_none() && repo.text(ids[0], 19).unwrap().is_none());
        let large = repo.write_blob(&[0; 26]).unwrap();
        repo.text(large, 26).unwrap();
        assert_eq!(repo.texts.borrow().held([large]).0, [false]);
        let none = Oid::from_bytes(&[7; 20]).unwrap();
        assert!(matches!(repo.text(none, 9), Err(GitError::Missing { .. })));
    }

    #[test]
    fn what_is_no_blob_is_an_error() {
        let scratch = Scratch::new();
        let commit = scratch.commit("a", "1", "one");
        let repo = scratch.open();
        assert!(repo.text(commit.0, 1 << 20).is_err());
    }

    #[test]
    fn a_git_that_is_asked_reads_what_libgit2_reads() {
        let scratch = Scratch::new();
        let bodies = ["", "a\n", "a\nb\n"]
            .map(str::to_owned)
            .into_iter()
            .chain(["line\n".repeat(30_000), "x\0\n\n".to_owned()]);
        let commits: Vec<_> = bodies.map(|body| scratch.commit("dir/a", &body, "one")).collect();
        scratch.git(&["repack", "-adfq"]);
        let (plain, asked) = (scratch.open(), scratch.open());
        asked.ask_git();
        for commit in commits {
            let tree = plain.tree_of(commit).unwrap();
            assert_eq!(asked.tree(tree).unwrap(), plain.tree(tree).unwrap());
            let blob = plain.blob_at(tree, b"dir/a").unwrap().unwrap();
            let [one, other] = [&plain, &asked].map(|repo| repo.text(blob, 1 << 20).unwrap().unwrap());
            assert_eq!(*one, *other);
            assert!(asked.reader.borrow().is_some());
            assert!(asked.tree(andon_core::domain::TreeId(blob)).is_err());
        }
        let none = Oid::from_bytes(&[7; 20]).unwrap();
        assert!(matches!(asked.text(none, 9), Err(GitError::Missing { .. })));
    }

    #[test]
    fn what_changes_need_is_read_ahead_where_git_is_asked() {
        let scratch = Scratch::new();
        let bodies = ["one\n".to_owned(), "two\n".to_owned(), "three\n".repeat(90)];
        let commits = bodies.map(|body| scratch.commit("dir/a", &body, "one"));
        let repo = scratch.open();
        let trees = commits.map(|commit| repo.tree_of(commit).unwrap());
        let blobs = trees.map(|tree| repo.blob_at(tree, b"dir/a").unwrap().unwrap());
        let pairs = [[trees[0], trees[1]], [trees[1], trees[2]]];
        let held = |wanted: &dyn Fn(&[u8]) -> bool, asks: bool| {
            let repo = scratch.open();
            repo.keep(1 << 20, 1 << 20);
            if asks {
                repo.ask_git();
            }
            repo.read_changes_ahead(&pairs, wanted, 100);
            repo.texts.borrow().held(blobs).0
        };
        assert_eq!(held(&|_| true, true), [true, true, false], "the last one is too large");
        assert_eq!(held(&|path| path != b"dir/a", true), [false; 3]);
        assert_eq!(held(&|_| true, false), [false; 3], "libgit2 waits for nothing");
    }
}
