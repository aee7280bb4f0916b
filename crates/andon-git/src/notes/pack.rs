//! Notes: writing thousands at once, as one pack, which `git fast-import` makes.
//!
//! Everything is in the store before the ref is locked, so that no hook waits, and a ref of its own keeps it from every gc until
//! the notes lead to it. Where a hook has moved them meanwhile, everything is made again, and at last under the lock.

use std::io::Write as _;

use crate::{Repo, Result, Update, notes::write::MESSAGE, platform::test_seam::stop_point};
use andon_core::domain::{CommitId, Timestamp};

/// The number of tries before everything is made under the lock.
const TRIES: usize = 3;
/// Leads to what is made, until the notes do. The next one moves it on where a process was killed.
const MADE: &str = "refs/andon/packing";

impl Repo {
    /// As [`Self::notes_write`], for many notes: the store gets one pack, and the lock of the ref is held for a moment.
    /// `merge` is called without that lock, and again where another process has moved the ref meanwhile.
    pub fn notes_write_packed(
        &self,
        name: &str,
        notes: &[(CommitId, Vec<u8>)],
        at: Timestamp,
        mut merge: impl FnMut(CommitId, &[u8], Option<&[u8]>) -> Vec<u8>,
    ) -> Result<Option<CommitId>> {
        for _ in 0..TRIES {
            let tip = self.ref_commit(name)?;
            let old = self.notes_at(name, tip);
            let mut stream = Vec::new();
            for (commit, note) in notes {
                let there = old.get(*commit)?;
                let wanted = merge(*commit, note, there.as_deref());
                if there.as_ref() != Some(&wanted) {
                    push_data(&mut stream, &format!("N inline {commit}"), &wanted);
                }
            }
            if stream.is_empty() {
                return Ok(tip);
            }
            // A gc beside it may have taken what it was about to read.
            let Ok(made) = self.imported(&self.import_of(tip, at, stream)?) else { continue };
            stop_point("pack:placed");
            let moved = self.update_ref(name, MESSAGE, |now| {
                Ok(if now == tip { Update::Set(made, Some(made)) } else { Update::Keep(None) })
            });
            // If the refs are locked, the next writer does it.
            let _ = self.git(&["update-ref", "-d", MADE], b"");
            if let Some(made) = moved? {
                return Ok(Some(made));
            }
        }
        self.notes_write(name, notes, at, merge)
    }

    /// The commands that make a commit with `notes` on top of `tip`, and ask for its id.
    fn import_of(&self, tip: Option<CommitId>, at: Timestamp, notes: Vec<u8>) -> Result<Vec<u8>> {
        let who = self.signature(at)?;
        let mut stream = format!("commit {MADE}\nmark :1\ncommitter ").into_bytes();
        for part in [who.name_bytes(), b" <", who.email_bytes()] {
            stream.extend_from_slice(part);
        }
        push_data(&mut stream, &format!("> {} +0000", at.0), MESSAGE.as_bytes());
        if let Some(tip) = tip {
            stream.extend_from_slice(format!("from {tip}\n").as_bytes());
        }
        stream.extend(notes);
        stream.extend_from_slice(b"get-mark :1\n");
        Ok(stream)
    }

    fn imported(&self, stream: &[u8]) -> Result<CommitId> {
        let made = self.git(&["fast-import", "--quiet", "--force"], stream)?;
        let id = std::str::from_utf8(&made.stdout).ok().and_then(|id| id.trim().parse().ok());
        id.ok_or_else(|| self.ref_message(MADE, "git fast-import named no commit"))
    }
}

/// A command of `git fast-import` with its data.
fn push_data(stream: &mut Vec<u8>, command: &str, data: &[u8]) {
    // Writing to memory does not fail.
    let _ = write!(stream, "{command}\ndata {}\n", data.len());
    stream.extend_from_slice(data);
    stream.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewCommit;
    use crate::testkit::Scratch;

    const NAME: &str = "refs/notes/andon";
    const AT: Timestamp = Timestamp(1_700_000_000);

    /// A commit of its own for each number.
    fn id(repo: &Repo, number: u64) -> CommitId {
        let tree = repo.write_tree_entries(&[]).unwrap();
        let new = NewCommit { tree, parents: &[], message: &number.to_string(), at: AT };
        repo.write_commit(&new).unwrap()
    }

    fn put(repo: &Repo, number: u64, text: &str) {
        let notes = [(id(repo, number), text.as_bytes().to_vec())];
        repo.notes_write(NAME, &notes, AT, |_, new, _| new.to_vec()).unwrap();
    }

    fn get(repo: &Repo, number: u64) -> Option<String> {
        let text = repo.notes(NAME).unwrap().get(id(repo, number)).unwrap();
        text.map(|text| String::from_utf8(text).unwrap())
    }

    /// Writes 100 to 399 at once, while `meanwhile` happens after the first look; a note that is there stays.
    fn many(scratch: &Scratch, mut meanwhile: impl FnMut(&Repo)) -> usize {
        let (repo, other) = (scratch.open(), scratch.open());
        let notes: Vec<(CommitId, Vec<u8>)> =
            (100..400).map(|number| (id(&repo, number), b"many\n".to_vec())).collect();
        let mut looks = 0;
        let tip = repo
            .notes_write_packed(NAME, &notes, AT, |_, new, there| {
                looks += 1;
                if looks == 1 {
                    meanwhile(&other);
                }
                there.unwrap_or(new).to_vec()
            })
            .unwrap();
        assert_eq!(tip, Some(scratch.rev(NAME)));
        let listed = scratch.git(&["notes", "--ref=andon", "list"]);
        let mut annotated: Vec<&str> = listed.lines().map(|line| &line[41..]).collect();
        annotated.sort_unstable();
        annotated.dedup();
        assert_eq!(annotated.len(), listed.lines().count(), "an object at two paths");
        assert!((100..400).all(|number| get(&scratch.open(), number).is_some()));
        assert_eq!(scratch.git(&["rev-list", "--count", "--merges", NAME]), "0");
        assert_eq!(scratch.git(&["for-each-ref", "refs/andon"]), "");
        scratch.git(&["fsck", "--strict"]);
        looks / 300
    }

    fn packs(scratch: &Scratch) -> usize {
        let files = std::fs::read_dir(scratch.path().join(".git/objects/pack")).unwrap();
        files
            .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "pack"))
            .count()
    }

    #[test]
    fn nobody_beside_us() {
        let scratch = Scratch::new();
        assert_eq!((many(&scratch, |_| ()), packs(&scratch)), (1, 1));
        let tip = scratch.rev(NAME);
        // All is there: nothing is written, and no pack either.
        assert_eq!((many(&scratch, |_| ()), packs(&scratch)), (1, 1));
        assert_eq!(scratch.rev(NAME), tip);
    }

    #[test]
    fn what_others_wrote_meanwhile_is_followed_and_whoever_wrote_one_of_ours_was_first() {
        let scratch = Scratch::new();
        put(&scratch.open(), 1, "one\n");
        put(&scratch.open(), 2, "two\n");
        let looks = many(&scratch, |other| {
            put(other, 3, "three\n");
            put(other, 1, "one, again\n");
            put(other, 200, "theirs\n");
            scratch.git(&["notes", "--ref=andon", "remove", &id(other, 2).to_string()]);
        });
        assert_eq!(looks, 2);
        let repo = scratch.open();
        let texts = [1, 2, 3, 200, 201].map(|number| get(&repo, number).unwrap_or_default());
        assert_eq!(texts, ["one, again\n", "", "three\n", "theirs\n", "many\n"]);
    }

    #[test]
    fn a_ref_that_comes_or_goes_meanwhile_is_followed() {
        let scratch = Scratch::new();
        assert_eq!(many(&scratch, |other| put(other, 1, "first\n")), 2);
        assert_eq!(get(&scratch.open(), 1).as_deref(), Some("first\n"));
        scratch.git(&["update-ref", "-d", NAME]);
        put(&scratch.open(), 1, "one\n");
        assert_eq!(many(&scratch, |_| drop(scratch.git(&["update-ref", "-d", NAME]))), 2);
        assert_eq!(get(&scratch.open(), 1), None);
    }
}
