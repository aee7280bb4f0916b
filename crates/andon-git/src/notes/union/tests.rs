use super::*;
use crate::TreeEntry;
use crate::testkit::{Scratch, commit_id as id};

const NAME: &str = "refs/notes/andon";
const OTHER: &str = "refs/notes/other";
const AT: Timestamp = Timestamp(1_700_000_000);

fn put(repo: &Repo, name: &str, number: u64, text: &str) {
    repo.notes_write(name, &[(id(number), text.as_bytes().to_vec())], AT, |_, new, _| new.to_vec()).unwrap();
}

fn put_tip(repo: &Repo, name: &str, number: u64, text: &str) -> CommitId {
    put(repo, name, number, text);
    repo.ref_commit(name).unwrap().unwrap()
}

fn get(repo: &Repo, number: u64) -> Option<String> {
    let text = repo.notes(NAME).unwrap().get(id(number)).unwrap();
    text.map(|text| String::from_utf8(text).unwrap())
}

/// Both texts joined; a removed note is kept unless it says `bad`.
fn join(ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Option<Vec<u8>> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Some([ours, theirs].concat()),
        (Some(ours), None) => (!ours.starts_with(b"bad")).then(|| ours.to_vec()),
        (None, theirs) => theirs.map(<[u8]>::to_vec),
    }
}

fn unite(repo: &Repo) -> NotesUnion {
    let theirs = repo.ref_commit(OTHER).unwrap().unwrap();
    repo.notes_unite(NAME, theirs, AT, join).unwrap()
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
    assert_eq!(repo.notes_lacking(tip, &[scratch.rev(OTHER)]).unwrap().len(), 1);
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
fn what_they_removed_is_kept_unless_the_caller_lets_it_go() {
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
            let mut command = crate::testkit::command(&scratch.path(), args);
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
    // A `git notes append` that read before we wrote and writes after us.
    let append = |parent: CommitId| {
        scratch.git(&["update-ref", NAME, &before.to_string()]);
        put(&repo, NAME, 9, "theirs\n");
        let tree = repo.tree_of(scratch.rev(NAME)).unwrap();
        let commit = NewCommit { tree, parents: &[parent], message: "append", at: AT };
        scratch.git(&["update-ref", NAME, &repo.write_commit(&commit).unwrap().to_string()]);
        repo.remember_whole(NAME, ours);
    };
    let keep =
        |_: Option<&[u8]>, theirs: Option<&[u8]>| theirs.filter(|text| *text != b"bad\n").map(<[u8]>::to_vec);
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
    // A ref that was removed comes back, and one that went back goes forward, to the commit that it was at.
    let whole = scratch.rev(NAME);
    repo.remember_whole(NAME, whole);
    assert!(!repo.notes_went_back(NAME).unwrap());
    for lost in [&["update-ref", "-d", NAME][..], &["update-ref", NAME, &before.to_string()]] {
        scratch.git(lost);
        assert!(repo.notes_went_back(NAME).unwrap());
        assert!(repo.notes_restore(NAME, AT, keep).unwrap() > 0);
        assert_eq!(scratch.rev(NAME), whole);
    }
    // A note that is not remembered stays removed.
    scratch.git(&["update-ref", "-d", NAME]);
    std::fs::remove_dir_all(repo.common_dir().join("andon/written")).unwrap();
    assert!(!repo.notes_went_back(NAME).unwrap());
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
    let flat = TreeEntry { name: id(2).to_string().into_bytes(), mode: crate::MODE_FILE, id: blob };
    let tree = repo.write_tree_entries(&[flat]).unwrap();
    let other = repo.write_commit(&NewCommit { tree, parents: &[], message: "x", at: AT }).unwrap();
    scratch.git(&["update-ref", OTHER, &other.to_string()]);
    assert_eq!(unite(&repo).received, 0);
    assert_eq!(repo.notes_list(NAME).unwrap().len(), 2);
}

fn note(number: u64, text: Option<&str>) -> (CommitId, Option<Vec<u8>>) {
    (id(number), text.map(|text| text.as_bytes().to_vec()))
}

fn joined(repo: &Repo, notes: &[(CommitId, Option<Vec<u8>>)], from: &[CommitId]) -> CommitId {
    let notes: CommitNotes = notes.iter().cloned().collect();
    let joined = NotesToJoin { name: NAME, notes: &notes, from, at: AT };
    repo.notes_join(joined, |_, theirs| theirs.map(<[u8]>::to_vec)).unwrap();
    repo.ref_commit(NAME).unwrap().unwrap()
}

#[test]
fn what_is_new_changed_or_gone_is_told() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let first = put_tip(&repo, "refs/notes/a", 1, "one\n");
    put_tip(&repo, "refs/notes/a", 2, "two\n");
    let tip = put_tip(&repo, "refs/notes/a", 1, "one more\n");
    let since = repo.notes_since(NAME, Some(first), tip).unwrap();
    assert_eq!(since.notes.len(), 2);
    assert_eq!(since.notes[&id(1)].as_deref(), Some(&b"one more\n"[..]));
    assert_eq!(
        repo.notes_since(NAME, None, first).unwrap().notes,
        CommitNotes::from([note(1, Some("one\n"))])
    );
    assert_eq!(repo.notes_since(NAME, Some(tip), tip).unwrap(), NotesSince::default());
    assert_eq!(repo.notes_since(NAME, Some(tip), first).unwrap().notes[&id(2)], None);
    let older = scratch.rev("refs/notes/a~1");
    assert_eq!(repo.notes_lacking(tip, &[]).unwrap(), [id(2), id(1)]);
    assert_eq!(repo.notes_lacking(tip, &[first, older]).unwrap(), [id(1)]);
    assert_eq!(repo.notes_lacking(tip, &[id(77), first, tip]).unwrap(), []);
}

#[test]
fn what_is_joined_has_the_tips_among_its_parents_and_nothing_new_makes_no_commit() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let (a, b) = (put_tip(&repo, "refs/notes/a", 1, "a\n"), put_tip(&repo, "refs/notes/b", 2, "b\n"));
    let ours = put_tip(&repo, NAME, 3, "c\n");
    let notes = [note(1, Some("a\n")), note(2, Some("b\n"))];
    let made = joined(&repo, &notes, &[a, b, a]);
    assert_eq!(repo.commit(made).unwrap().parents, [ours, a, b]);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 3);
    assert_eq!(joined(&repo, &notes, &[a, b]), made);
    let without = joined(&repo, &[note(1, None), note(9, None)], &[]);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 2);
    assert_eq!(repo.commit(without).unwrap().parents, [made]);
    assert_eq!(joined(&repo, &[], &[]), without);
    repo.notes_move_on(NAME, &[a], AT).unwrap();
    assert_eq!(repo.commit(scratch.rev(NAME)).unwrap().parents, [without, a]);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 2);
    scratch.git(&["fsck", "--strict"]);
}
