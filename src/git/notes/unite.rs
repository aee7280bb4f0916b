//! Notes: uniting ours with those of another clone.
//!
//! Not `git notes merge`: it leaves a half-done merge behind where it meets a conflict, works in a worktree of its
//! own, and takes every removal for meant. Here a three-way walk skips what is equal, the caller says note by note
//! what is to stand, and one compare-and-swap moves the ref: a fast-forward where it can be one, else a commit with
//! both parents, so that a plain push is enough afterwards.

use std::collections::BTreeSet;

use crate::domain::ids::{CommitId, TreeId};
use crate::domain::time::Timestamp;
use crate::git::error::GitError;
use crate::git::notes::write::Notes;
use crate::git::notes::{is_digits, is_fanout};
use crate::git::objects::commits::NewCommit;
use crate::git::objects::{MODE_TREE, TreeEntry};
use crate::git::open::repo::Repo;
use crate::git::refs::Update;

/// Digits of a SHA-1 id: longer paths are no notes.
const MAX_DIGITS: usize = 40;

/// What uniting changed here, and what the other side does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesUnion {
    /// Commits whose note is new or larger here.
    pub received: usize,
    /// Notes that the other side took away and that stand here all the same.
    pub kept: usize,
    /// Notes of the other side that are too large to be read; they are left there.
    pub skipped: Vec<CommitId>,
    /// The commit that was made to unite both sides.
    pub made: Option<CommitId>,
}

/// The two sides and where they parted.
struct Sides {
    base: Option<TreeId>,
    ours: TreeId,
    theirs: TreeId,
}

impl Repo {
    /// Unites the notes of ref `name` with those of the notes commit `theirs`.
    ///
    /// Where the ref still stands at `replaced`, a commit of an earlier union that nobody has taken, the new one takes
    /// its place: a push that loses race after race does not grow, and so does not get slower than the others'.
    ///
    /// `stands` is called under the ref's lock for each note that they changed since the histories parted, with
    /// ours and theirs, and says what is to stand: `None` for nothing.
    pub fn notes_unite(
        &self,
        name: &str,
        (theirs, replaced): (CommitId, Option<CommitId>),
        at: Timestamp,
        mut stands: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<NotesUnion, GitError> {
        let message = "Notes merged by 'andon'";
        self.update_ref(name, message, |tip| {
            let their_tree = self.tree_of(theirs)?;
            let Some(ours) = tip else {
                let mut all = BTreeSet::new();
                self.differing_notes(None, their_tree, "", &mut all)?;
                let union = NotesUnion { received: all.len(), ..NotesUnion::default() };
                return Ok(Update::Set(theirs, union));
            };
            let base = self.merge_base(ours, theirs)?;
            if base == Some(theirs) {
                return Ok(Update::Keep(NotesUnion::default()));
            }
            let base_tree = base.map(|base| self.tree_of(base)).transpose()?;
            let sides = Sides { base: base_tree, ours: self.tree_of(ours)?, theirs: their_tree };
            let touched = self.touched_notes(&sides)?;
            let (tree, union) = self.united_tree(name, &sides, touched, &mut stands)?;
            if base == Some(ours) && tree == their_tree {
                return Ok(Update::Set(theirs, union));
            }
            let first = match replaced {
                Some(before) if before == ours => self.commit(ours)?.parents.first().copied().unwrap_or(ours),
                Some(_) | None => ours,
            };
            let made = self.write_commit(&NewCommit { tree, parents: &[first, theirs], message, at })?;
            Ok(Update::Set(made, NotesUnion { made: Some(made), ..union }))
        })
    }

    /// How many notes of `theirs` are not, or not as they are, in `ours`.
    pub fn notes_ahead(&self, ours: Option<CommitId>, theirs: CommitId) -> Result<usize, GitError> {
        let ours = ours.map(|tip| self.tree_of(tip)).transpose()?;
        let mut found = BTreeSet::new();
        self.differing_notes(ours, self.tree_of(theirs)?, "", &mut found)?;
        Ok(found.len())
    }

    /// Puts back what somebody who is not of us took out of ref `name`, and says how many notes that were. `git notes
    /// append` beside a hook reads the notes, and later writes what it read with its own note added: what was written in
    /// between is in the history of the ref then and no more in its tree. So the tip of our own last write is kept, and
    /// compared where the ref stands elsewhere. `stands` is as in [`Self::notes_unite`], theirs being what we wrote.
    pub fn notes_restore(
        &self,
        name: &str,
        at: Timestamp,
        mut stands: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<usize, GitError> {
        let (Some(written), Some(tip)) = (self.written_tip(name), self.ref_commit(name)?) else {
            return Ok(0);
        };
        // Nothing led to it any more, and a gc has taken it.
        let (false, Ok(theirs)) = (written == tip, self.tree_of(written)) else { return Ok(0) };
        self.update_ref(name, "Notes restored by 'andon'", |tip| {
            let Some(ours) = tip else { return Ok(Update::Keep(0)) };
            let sides = Sides { base: None, ours: self.tree_of(ours)?, theirs };
            let mut lost = BTreeSet::new();
            self.differing_notes(Some(sides.ours), theirs, "", &mut lost)?;
            let (tree, union) = self.united_tree(name, &sides, lost, &mut stands)?;
            if tree == sides.ours {
                self.remember_written(name, ours);
                return Ok(Update::Keep(0));
            }
            let behind = self.is_ancestor(written, ours)?;
            let parents = if behind { vec![ours] } else { vec![ours, written] };
            let message = "Notes restored by 'andon'";
            let made = self.write_commit(&NewCommit { tree, parents: &parents, message, at })?;
            Ok(Update::Set(made, union.received))
        })
    }

    /// The digits of the notes that they changed since the histories parted.
    fn touched_notes(&self, sides: &Sides) -> Result<BTreeSet<String>, GitError> {
        let mut touched = BTreeSet::new();
        self.differing_notes(sides.base, sides.theirs, "", &mut touched)?;
        if let Some(base) = sides.base {
            self.differing_notes(Some(sides.theirs), base, "", &mut touched)?;
        }
        Ok(touched)
    }

    fn united_tree(
        &self,
        name: &str,
        sides: &Sides,
        touched: BTreeSet<String>,
        stands: &mut impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<(TreeId, NotesUnion), GitError> {
        let mut union = NotesUnion::default();
        let (mut changed, mut gone) = (Notes::new(), Vec::new());
        for digits in touched {
            let Ok(commit) = digits.parse::<CommitId>() else { continue };
            let (our_blobs, their_blobs) =
                (self.note_blobs(sides.ours, &digits)?, self.note_blobs(sides.theirs, &digits)?);
            if our_blobs == their_blobs {
                continue;
            }
            let theirs = match self.note_text(name, commit, &their_blobs) {
                Err(GitError::NoteTooLarge { .. }) => {
                    union.skipped.push(commit);
                    continue;
                }
                other => other?,
            };
            let ours = self.note_text(name, commit, &our_blobs)?;
            match stands(ours.as_deref(), theirs.as_deref()) {
                None if ours.is_some() => gone.push(digits),
                None => {}
                Some(text) if ours.as_ref() == Some(&text) => union.kept += usize::from(theirs.is_none()),
                Some(text) => {
                    union.received += 1;
                    changed.insert(digits, self.write_blob(&text)?);
                }
            }
        }
        let mut tree = sides.ours;
        for digits in &gone {
            tree = self.without_note(tree, digits)?;
        }
        if !changed.is_empty() {
            tree = self.notes_tree(Some(tree), &changed)?;
        }
        Ok((tree, union))
    }

    /// The digits of the notes of `wanted` that are not at the same path with the same blob in `known`.
    fn differing_notes(
        &self,
        known: Option<TreeId>,
        wanted: TreeId,
        prefix: &str,
        found: &mut BTreeSet<String>,
    ) -> Result<(), GitError> {
        if known == Some(wanted) {
            return Ok(());
        }
        let known = known.map(|tree| self.tree_entries(tree)).transpose()?.unwrap_or_default();
        let known: std::collections::BTreeMap<&[u8], &TreeEntry> =
            known.iter().map(|entry| (entry.name.as_slice(), entry)).collect();
        for entry in self.tree_entries(wanted)? {
            let same = known.get(entry.name.as_slice());
            if same.is_some_and(|other| **other == entry) {
                continue;
            }
            let Ok(part) = std::str::from_utf8(&entry.name) else { continue };
            let path = format!("{prefix}{part}");
            if path.len() > MAX_DIGITS || !is_digits(part) {
                continue;
            }
            if entry.mode != MODE_TREE {
                found.insert(path);
            } else if is_fanout(part) {
                let other = same.filter(|other| other.is_tree()).map(|other| TreeId(other.id));
                self.differing_notes(other, TreeId(entry.id), &path, found)?;
            }
        }
        Ok(())
    }

    /// `tree` without the note of `digits`, at whatever depth.
    fn without_note(&self, tree: TreeId, digits: &str) -> Result<TreeId, GitError> {
        let mut entries = self.tree_entries(tree)?;
        entries.retain(|entry| entry.is_tree() || entry.name != digits.as_bytes());
        if let Some((fanout, rest)) = digits.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())
            && let Some(below) =
                entries.iter_mut().find(|entry| entry.is_tree() && entry.name == fanout.as_bytes())
        {
            below.id = self.without_note(TreeId(below.id), rest)?.0;
        }
        self.write_tree_entries(&entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::scratch::{Scratch, commit_id as id};

    const NAME: &str = "refs/notes/andon";
    const OTHER: &str = "refs/notes/other";
    const AT: Timestamp = Timestamp(1_700_000_000);

    fn put(repo: &Repo, name: &str, number: u64, text: &str) {
        repo.notes_write(name, &[(id(number), text.as_bytes().to_vec())], AT, |_, new, _| new.to_vec())
            .unwrap();
    }

    fn get(repo: &Repo, number: u64) -> Option<String> {
        let text = repo.notes(NAME).unwrap().get(id(number)).unwrap();
        text.map(|text| String::from_utf8(text).unwrap())
    }

    /// Both texts joined; a note taken away stands unless it says `bad`.
    fn join(ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Option<Vec<u8>> {
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => Some([ours, theirs].concat()),
            (Some(ours), None) => (!ours.starts_with(b"bad")).then(|| ours.to_vec()),
            (None, theirs) => theirs.map(<[u8]>::to_vec),
        }
    }

    fn unite(repo: &Repo) -> NotesUnion {
        let theirs = repo.ref_commit(OTHER).unwrap().unwrap();
        repo.notes_unite(NAME, (theirs, None), AT, join).unwrap()
    }

    #[test]
    fn nothing_here_takes_theirs_as_it_is_and_a_forward_is_one() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        put(&repo, OTHER, 1, "a\n");
        assert_eq!(unite(&repo).received, 1);
        assert_eq!(scratch.rev(NAME), scratch.rev(OTHER));
        put(&repo, OTHER, 2, "b\n");
        assert_eq!(unite(&repo).received, 1);
        assert_eq!(scratch.rev(NAME), scratch.rev(OTHER));
        assert_eq!(unite(&repo), NotesUnion::default());
        // Behind us: nothing to do.
        put(&repo, NAME, 3, "c\n");
        let tip = scratch.rev(NAME);
        assert_eq!(unite(&repo), NotesUnion::default());
        assert_eq!(scratch.rev(NAME), tip);
        assert_eq!(repo.notes_ahead(Some(scratch.rev(OTHER)), tip).unwrap(), 1);
    }

    #[test]
    fn both_sides_are_kept_and_the_ref_can_be_pushed() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        put(&repo, OTHER, 1, "base\n");
        unite(&repo);
        put(&repo, NAME, 2, "ours\n");
        put(&repo, NAME, 1, "base\nours\n");
        put(&repo, OTHER, 3, "theirs\n");
        put(&repo, OTHER, 1, "base\ntheirs\n");
        let (ours, theirs) = (scratch.rev(NAME), scratch.rev(OTHER));
        assert_eq!(unite(&repo).received, 2);
        assert_eq!(get(&repo, 1).unwrap(), "base\nours\nbase\ntheirs\n");
        assert_eq!((get(&repo, 2).unwrap(), get(&repo, 3).unwrap()), ("ours\n".into(), "theirs\n".into()));
        let parents = scratch.git(&["log", "-1", "--format=%P", NAME]);
        assert_eq!(parents, format!("{ours} {theirs}"));
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn an_earlier_union_that_did_not_arrive_is_replaced_and_loses_nothing() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        put(&repo, OTHER, 1, "base\n");
        unite(&repo);
        put(&repo, NAME, 2, "ours\n");
        let ours = scratch.rev(NAME);
        let mut made = None;
        for number in 10..15 {
            put(&repo, OTHER, number, "theirs\n");
            let theirs = scratch.rev(OTHER);
            made = repo.notes_unite(NAME, (theirs, made), AT, join).unwrap().made;
            let parents = scratch.git(&["log", "-1", "--format=%P", NAME]);
            assert_eq!(parents, format!("{ours} {theirs}"));
            assert_eq!(repo.notes_list(NAME).unwrap().len(), usize::try_from(number).unwrap() - 7);
        }
        // What a hook put on top in between stays where it is.
        put(&repo, NAME, 3, "a hook's\n");
        let on_top = scratch.rev(NAME);
        put(&repo, OTHER, 20, "theirs\n");
        repo.notes_unite(NAME, (scratch.rev(OTHER), made), AT, join).unwrap();
        assert!(repo.is_ancestor(on_top, scratch.rev(NAME)).unwrap());
        assert_eq!(repo.notes_list(NAME).unwrap().len(), 9);
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn what_they_took_away_stands_unless_the_caller_lets_it_go() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        for number in 0..300 {
            put(&repo, OTHER, number, if number == 7 { "bad\n" } else { "good\n" });
        }
        unite(&repo);
        for number in [5, 7] {
            let path = {
                let listed = scratch.git(&["ls-tree", "-r", "--name-only", OTHER]);
                let digits = id(number).to_string();
                listed.lines().find(|line| line.replace('/', "") == digits).unwrap().to_owned()
            };
            let index = scratch.beside("index");
            let _ = std::fs::remove_file(&index);
            let run = |args: &[&str]| {
                let mut command = crate::git::scratch::command(&scratch.path(), args);
                let out = command.env("GIT_INDEX_FILE", &index).output().unwrap();
                assert!(out.status.success(), "{args:?} {}", String::from_utf8_lossy(&out.stderr));
                String::from_utf8(out.stdout).unwrap().trim().to_owned()
            };
            run(&["read-tree", OTHER]);
            run(&["update-index", "--force-remove", &path]);
            let tree = run(&["write-tree"]);
            let commit = run(&["commit-tree", &tree, "-p", OTHER, "-m", "drop"]);
            scratch.git(&["update-ref", OTHER, &commit]);
        }
        let union = unite(&repo);
        assert_eq!((union.received, union.kept), (0, 1));
        assert_eq!((get(&repo, 5), get(&repo, 7)), (Some("good\n".to_owned()), None));
        assert_eq!(repo.notes_list(NAME).unwrap().len(), 299);
        assert!(repo.is_ancestor(scratch.rev(OTHER), scratch.rev(NAME)).unwrap());
    }

    #[test]
    fn what_a_foreign_writer_dropped_comes_back() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        put(&repo, NAME, 1, "first\n");
        let before = scratch.rev(NAME);
        put(&repo, NAME, 2, "ours\n");
        put(&repo, NAME, 3, "bad\n");
        let ours = scratch.rev(NAME);
        // What `git notes append` does that read before we wrote and writes after us.
        let append = |parent: CommitId| {
            scratch.git(&["update-ref", NAME, &before.to_string()]);
            put(&repo, NAME, 9, "theirs\n");
            let tree = repo.tree_of(scratch.rev(NAME)).unwrap();
            let commit = NewCommit { tree, parents: &[parent], message: "append", at: AT };
            scratch.git(&["update-ref", NAME, &repo.write_commit(&commit).unwrap().to_string()]);
            repo.remember_written(NAME, ours);
        };
        let keep = |_: Option<&[u8]>, theirs: Option<&[u8]>| {
            theirs.filter(|text| *text != b"bad\n").map(<[u8]>::to_vec)
        };
        for parent in [ours, before] {
            append(parent);
            assert_eq!(get(&repo, 2), None);
            assert_eq!(repo.notes_restore(NAME, AT, keep).unwrap(), 1);
            let texts = [1, 2, 3, 9].map(|number| get(&repo, number).unwrap_or_default());
            assert_eq!(texts, ["first\n", "ours\n", "", "theirs\n"]);
            assert!(repo.is_ancestor(ours, scratch.rev(NAME)).unwrap());
            let tip = scratch.rev(NAME);
            assert_eq!(repo.notes_restore(NAME, AT, keep).unwrap(), 0);
            assert_eq!(scratch.rev(NAME), tip);
        }
        // A ref that was removed stays removed.
        scratch.git(&["update-ref", "-d", NAME]);
        assert_eq!(repo.notes_restore(NAME, AT, keep).unwrap(), 0);
        assert_eq!(scratch.git(&["for-each-ref", NAME]), "");
    }

    #[test]
    fn other_shapes_and_histories_without_a_common_root_are_united() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        put(&repo, NAME, 1, "ours\n");
        put(&repo, NAME, 2, "same\n");
        // git itself writes few notes flat.
        scratch.commit("f", "1", "one");
        let blob = repo.write_blob(b"same\n").unwrap();
        let flat = TreeEntry { name: id(2).to_string().into_bytes(), mode: crate::git::MODE_FILE, id: blob };
        let tree = repo.write_tree_entries(&[flat]).unwrap();
        let other = repo.write_commit(&NewCommit { tree, parents: &[], message: "x", at: AT }).unwrap();
        scratch.git(&["update-ref", OTHER, &other.to_string()]);
        assert_eq!(unite(&repo).received, 0);
        assert_eq!(repo.notes_list(NAME).unwrap().len(), 2);
    }
}
