//! Notes: writing thousands at once, as one pack.
//!
//! Blobs, trees and commit are made on the tip as it is, and are in the store before the ref is locked: hooks wait for
//! nobody. Where one of them has moved the ref meanwhile, under its lock the two trees are put together, directory by
//! directory, which writes as little as a hook does; where both touched the same note, all is made anew.

use std::cmp::Ordering;

use crate::domain::ids::{CommitId, TreeId};
use crate::domain::time::Timestamp;
use crate::git::error::GitError;
use crate::git::notes::is_fanout;
use crate::git::notes::write::{Batch, MESSAGE};
use crate::git::objects::TreeEntry;
use crate::git::objects::commits::NewCommit;
use crate::git::open::repo::Repo;
use crate::git::refs::Update;
use crate::platform::test_seam::stop_point;

/// How often all is made anew, before it is made under the lock.
const TRIES: usize = 3;

impl Repo {
    /// As [`Self::notes_write`], for many notes: the store gets one pack, and the lock of the ref is held for a moment.
    /// `merge` is called without that lock, and again where somebody else has written one of these notes meanwhile.
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
                    Some(now) => self.made_on(tip, made, now, at)?,
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

    /// The commit that does to `now` what `made` does to `tip`; `None` where both did something to the same note.
    fn made_on(
        &self,
        tip: Option<CommitId>,
        made: CommitId,
        now: CommitId,
        at: Timestamp,
    ) -> Result<Option<CommitId>, GitError> {
        let base = tip.map(|tip| self.tree_of(tip)).transpose()?;
        let Some(tree) = self.both(base, self.tree_of(made)?, self.tree_of(now)?)? else { return Ok(None) };
        self.write_commit(&NewCommit { tree, parents: &[now], message: MESSAGE, at }).map(Some)
    }

    /// The tree with what `ours` and what `theirs` did to `base`; `None` where that cannot be told by entries.
    fn both(&self, base: Option<TreeId>, ours: TreeId, theirs: TreeId) -> Result<Option<TreeId>, GitError> {
        if base == Some(theirs) || ours == theirs {
            return Ok(Some(ours));
        }
        if base == Some(ours) {
            return Ok(Some(theirs));
        }
        let before = base.map(|base| self.tree_entries(base)).transpose()?.unwrap_or_default();
        let theirs = self.tree_entries(theirs)?;
        let mut all = self.tree_entries(ours)?;
        // One note may be at another place in a tree of another shape.
        if fanned(&before) != fanned(&all) || fanned(&before) != fanned(&theirs) {
            return Ok(None);
        }
        let names = changed(&before, &theirs);
        for name in names {
            let at = |entries: &[TreeEntry]| entries.iter().position(|entry| entry.name == name);
            let (was, their) = (at(&before).map(|at| &before[at]), at(&theirs).map(|at| &theirs[at]));
            let place = at(&all);
            let our = place.map(|place| all[place].clone());
            let wanted = match (&our, their) {
                (our, their) if our.as_ref() == their => continue,
                (our, their) if our.as_ref() == was => their.cloned(),
                (Some(our), Some(their)) if our.is_tree() && their.is_tree() => {
                    let base = was.filter(|was| was.is_tree()).map(|was| TreeId(was.id));
                    let Some(tree) = self.both(base, TreeId(our.id), TreeId(their.id))? else {
                        return Ok(None);
                    };
                    Some(TreeEntry { id: tree.0, ..their.clone() })
                }
                _ => return Ok(None),
            };
            place.map(|place| all.swap_remove(place));
            all.extend(wanted);
        }
        self.write_tree_entries(&all).map(Some)
    }
}

/// The names of entries that are not in both trees, or not as they are.
fn changed(before: &[TreeEntry], theirs: &[TreeEntry]) -> Vec<Vec<u8>> {
    let (mut before, mut theirs) = (before.iter().peekable(), theirs.iter().peekable());
    let mut names = Vec::new();
    loop {
        let order = match (before.peek(), theirs.peek()) {
            (Some(was), Some(their)) => was.git_order(their),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return names,
        };
        let was = if order.is_le() { before.next() } else { None };
        let their = if order.is_ge() { theirs.next() } else { None };
        names.extend(was.or(their).filter(|_| was != their).map(|entry| entry.name.clone()));
    }
}

/// Whether notes are in directories there.
fn fanned(entries: &[TreeEntry]) -> bool {
    entries.iter().any(|entry| entry.is_tree() && std::str::from_utf8(&entry.name).is_ok_and(is_fanout))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;
    use crate::git::objects::{MODE_FILE, MODE_TREE};
    use crate::git::scratch::{Scratch, commit_id as id};

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
    fn a_ref_that_comes_goes_or_changes_its_shape_has_all_made_anew() {
        let scratch = Scratch::new();
        assert_eq!(many(&scratch, |other| put(other, 1, "first\n")), 2);
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
        assert_eq!((looks, get(&scratch.open(), 2).as_deref()), (2, Some("flat\n")));
    }

    fn name(number: u64) -> Vec<u8> {
        id(number).to_string().into_bytes()
    }

    #[test]
    fn two_trees_are_put_together_entry_by_entry() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let blob = |byte: char| Oid::from_bytes(&[u8::try_from(byte).unwrap(); 20]).unwrap();
        // `a=x` is a file; `ab/` a directory of the files that follow it.
        let tree = |entries: &[(&str, char)]| {
            let entry = |(name, id): &(&str, char)| TreeEntry {
                name: (*name).into(),
                mode: MODE_FILE,
                id: blob(*id),
            };
            repo.write_tree_entries(&entries.iter().map(entry).collect::<Vec<_>>()).unwrap()
        };
        let above = |below: TreeId, more: &[(&str, char)]| {
            let mut entries = repo.tree_entries(tree(more)).unwrap();
            entries.push(TreeEntry { name: b"ab".to_vec(), mode: MODE_TREE, id: below.0 });
            repo.write_tree_entries(&entries).unwrap()
        };
        let base = above(tree(&[("cd", '1')]), &[("README", '1')]);
        let ours = above(tree(&[("cd", '1'), ("ef", '2')]), &[("README", '1')]);
        let cases = [
            (above(tree(&[("cd", '3')]), &[]), Some(above(tree(&[("cd", '3'), ("ef", '2')]), &[]))),
            (
                above(tree(&[("ef", '2')]), &[("README", '4')]),
                Some(above(tree(&[("ef", '2')]), &[("README", '4')])),
            ),
            (above(tree(&[("ef", '5')]), &[("README", '1')]), None),
            (tree(&[("ab", '1'), ("README", '1')]), None),
            (base, Some(ours)),
        ];
        for (theirs, wanted) in cases {
            assert_eq!(repo.both(Some(base), ours, theirs).unwrap(), wanted);
            assert_eq!(repo.both(Some(base), theirs, ours).unwrap(), wanted);
        }
    }
}
