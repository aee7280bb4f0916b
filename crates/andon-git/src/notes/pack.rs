//! Notes: writing thousands at once, as one pack.
//!
//! Blobs, trees and commit are made on the present tip, and are in the store before the ref is locked, so that no hook
//! waits. Where a hook has moved the ref meanwhile, the notes that it changed are put on top of ours under the lock,
//! which writes as little as a hook does; where both touched the same note, everything is made again.

use std::collections::HashSet;

use crate::notes::write::{Batch, MESSAGE, Notes};
use crate::objects::commits::NewCommit;
use crate::open::repo::Repo;
use crate::platform::test_seam::stop_point;
use crate::{error::GitError, notes::digits_of, refs::Update};
use andon_core::domain::{ids::CommitId, time::Timestamp};

/// The number of tries before everything is made under the lock.
const TRIES: usize = 3;

impl Repo {
    /// As [`Self::notes_write`], for many notes: the store gets one pack, and the lock of the ref is held for a moment.
    /// `merge` is called without that lock, and again where another process has written one of these notes meanwhile.
    pub fn notes_write_packed(
        &self,
        name: &str,
        notes: &[(CommitId, Vec<u8>)],
        at: Timestamp,
        mut merge: impl FnMut(CommitId, &[u8], Option<&[u8]>) -> Vec<u8>,
    ) -> Result<Option<CommitId>, GitError> {
        let batch = Batch { name, notes, at };
        for _ in 0..TRIES {
            let Some(lease) = self.lease() else { break };
            let tip = self.ref_commit(name)?;
            let (made, builder) = self.build_pack(|| self.notes_commit(&batch, tip, &mut merge))?;
            let Some(made) = made else { return Ok(tip) };
            let Some(placed) = self.place(builder, lease)? else { break };
            stop_point("pack:placed");
            let moved = self.update_ref(name, MESSAGE, |now| {
                let both = match now {
                    _ if now == tip => Some(made),
                    Some(now) => self.made_on(&batch, made, tip, now)?,
                    None => None,
                };
                Ok(both.map_or(Update::Keep(None), |both| Update::Set(both, Some(both))))
            })?;
            drop(placed);
            if moved.is_some() {
                return Ok(moved);
            }
        }
        self.notes_write(name, notes, at, merge)
    }

    /// The commit that does to `now` what `made` does to `tip`; `None` where a note of the batch, or a path that is no
    /// note, has changed.
    fn made_on(
        &self,
        batch: &Batch<'_>,
        made: CommitId,
        tip: Option<CommitId>,
        now: CommitId,
    ) -> Result<Option<CommitId>, GitError> {
        let ours: HashSet<String> = batch.notes.iter().map(|(commit, _)| commit.to_string()).collect();
        let base = tip.map(|tip| self.tree_of(tip)).transpose()?;
        let (mut changed, mut gone) = (Notes::new(), Vec::new());
        for change in self.changed_paths(base, self.tree_of(now)?)? {
            let Some(digits) = digits_of(&change.path).filter(|digits| !ours.contains(digits)) else {
                return Ok(None);
            };
            match change.new {
                Some((_, blob)) => drop(changed.insert(digits, blob)),
                None => gone.push(digits),
            }
        }
        // A note that is at another place now is gone from the one it was at.
        gone.retain(|digits| !changed.contains_key(digits));
        let made_tree = self.tree_of(made)?;
        let tree = self.notes_replaced(Some(made_tree), &changed, &gone)?.unwrap_or(made_tree);
        let new = NewCommit { tree, parents: &[now], message: MESSAGE, at: batch.at };
        self.write_commit(&new).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{MODE_FILE, TreeEntry};
    use crate::testkit::{Scratch, commit_id as id};

    const NAME: &str = "refs/notes/andon";
    const AT: Timestamp = Timestamp(1_700_000_000);

    fn put(repo: &Repo, number: u64, text: &str) {
        let notes = [(id(number), text.as_bytes().to_vec())];
        repo.notes_write(NAME, &notes, AT, |_, new, _| new.to_vec()).unwrap();
    }

    fn get(repo: &Repo, number: u64) -> Option<String> {
        let text = repo.notes(NAME).unwrap().get(id(number)).unwrap();
        text.map(|text| String::from_utf8(text).unwrap())
    }

    /// Writes 100 to 399 at once, while `meanwhile` happens after the first look; a note that is there stays.
    fn many(scratch: &Scratch, mut meanwhile: impl FnMut(&Repo)) -> usize {
        let (repo, other) = (scratch.open(), scratch.open());
        let notes: Vec<(CommitId, Vec<u8>)> =
            (100..400).map(|number| (id(number), b"many\n".to_vec())).collect();
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
        let merges = scratch.git(&["rev-list", "--count", "--merges", NAME]);
        assert_eq!(merges, "0");
        scratch.git(&["fsck", "--strict"]);
        looks / 300
    }

    fn packs(scratch: &Scratch) -> usize {
        let files = std::fs::read_dir(scratch.path().join(".git/objects/pack")).unwrap();
        let ends =
            |file: std::io::Result<std::fs::DirEntry>| file.unwrap().path().extension().unwrap().to_owned();
        files.map(ends).filter(|end| end == "pack").count()
    }

    #[test]
    fn nobody_beside_us() {
        let scratch = Scratch::new();
        assert_eq!((many(&scratch, |_| ()), packs(&scratch)), (1, 1));
        assert_eq!(scratch.git(&["count-objects"]), "0 objects, 0 kilobytes");
        let tip = scratch.rev(NAME);
        // All is there: nothing is written, and no pack either.
        assert_eq!((many(&scratch, |_| ()), packs(&scratch)), (1, 1));
        assert_eq!(scratch.rev(NAME), tip);
    }

    #[test]
    fn others_who_write_other_notes_are_followed_without_another_look() {
        let scratch = Scratch::new();
        put(&scratch.open(), 1, "one\n");
        put(&scratch.open(), 2, "two\n");
        let looks = many(&scratch, |other| {
            put(other, 3, "three\n");
            put(other, 1, "one, again\n");
            scratch.git(&["notes", "--ref=andon", "remove", &id(2).to_string()]);
            // In a directory that we write, too.
            (4_000..4_300).for_each(|number| put(other, number, "beside\n"));
        });
        assert_eq!((looks, packs(&scratch)), (1, 1));
        let repo = scratch.open();
        let texts = [1, 2, 3, 4_299].map(|number| get(&repo, number).unwrap_or_default());
        assert_eq!(texts, ["one, again\n", "", "three\n", "beside\n"]);
    }

    #[test]
    fn whoever_wrote_one_of_ours_meanwhile_was_first() {
        let scratch = Scratch::new();
        put(&scratch.open(), 1, "one\n");
        assert_eq!(many(&scratch, |other| put(other, 200, "theirs\n")), 2);
        let repo = scratch.open();
        assert_eq!(get(&repo, 200).as_deref(), Some("theirs\n"));
        assert_eq!(get(&repo, 201).as_deref(), Some("many\n"));
    }

    #[test]
    fn a_ref_that_comes_or_changes_its_shape_is_followed_and_one_that_goes_is_made_anew() {
        let scratch = Scratch::new();
        assert_eq!(many(&scratch, |other| put(other, 1, "first\n")), 1);
        scratch.git(&["update-ref", "-d", NAME]);
        put(&scratch.open(), 1, "one\n");
        assert_eq!(many(&scratch, |_| drop(scratch.git(&["update-ref", "-d", NAME]))), 2);
        assert_eq!(get(&scratch.open(), 1), None);
        scratch.git(&["update-ref", "-d", NAME]);
        put(&scratch.open(), 1, "one\n");
        let looks = many(&scratch, |other| {
            // git writes few notes flat.
            let id = other.write_blob(b"flat\n").unwrap();
            let entries = [1, 2].map(|at| TreeEntry { name: name(at), mode: MODE_FILE, id });
            let tree = other.write_tree_entries(&entries).unwrap();
            let flat = NewCommit { tree, parents: &[], message: "flat", at: AT };
            let flat = other.write_commit(&flat).unwrap();
            other.update_ref(NAME, "", |_| Ok(Update::Set(flat, ()))).unwrap();
        });
        assert_eq!((looks, get(&scratch.open(), 2).as_deref()), (1, Some("flat\n")));
    }

    fn name(number: u64) -> Vec<u8> {
        id(number).to_string().into_bytes()
    }
}
