use proptest::prelude::*;

use super::*;
use crate::testkit::{Scratch, command, commit_id as id, until_free};
use crate::{MODE_FILE, MODE_TREE, Repo, RepoEnv, TreeEntry};

const NAME: &str = "refs/notes/andon";
const AT: Timestamp = Timestamp(1_700_000_000);

fn put(repo: &Repo, notes: &[(CommitId, &str)]) {
    let notes: Vec<(CommitId, Vec<u8>)> =
        notes.iter().map(|(commit, text)| (*commit, text.as_bytes().to_vec())).collect();
    until_free(|| repo.notes_write(NAME, &notes, AT, |_, new, _| new.to_vec())).unwrap();
}

fn get(repo: &Repo, commit: CommitId) -> Option<String> {
    repo.notes(NAME).unwrap().get(commit).unwrap().map(|text| String::from_utf8(text).unwrap())
}

/// The paths of the notes tree; no object may have two.
fn paths(scratch: &Scratch) -> Vec<String> {
    let listed = scratch.git(&["ls-tree", "-r", "--name-only", NAME]);
    let paths: Vec<String> = listed.lines().map(str::to_owned).collect();
    let mut ids: Vec<String> = paths.iter().map(|path| path.replace('/', "")).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "an object at two paths");
    paths
}

/// Writes a notes ref of exactly this tree.
fn plant(repo: &Repo, tree: TreeId) {
    let new = NewCommit { tree, parents: &[], message: "planted", at: AT };
    let commit = repo.write_commit(&new).unwrap();
    repo.update_ref(NAME, "plant", |_| Ok(Update::Set(commit, ()))).unwrap();
}

fn file(repo: &Repo, name: &str, text: &str) -> TreeEntry {
    TreeEntry { name: name.into(), mode: MODE_FILE, id: repo.write_blob(text.as_bytes()).unwrap() }
}

fn dir(repo: &Repo, name: &str, entries: &[TreeEntry]) -> TreeEntry {
    TreeEntry { name: name.into(), mode: MODE_TREE, id: repo.write_tree_entries(entries).unwrap().0 }
}

#[test]
fn a_new_ref_is_fanned_out_and_plain_git_reads_it() {
    let scratch = Scratch::new();
    let commit = scratch.commit("a", "1", "one");
    let repo = scratch.open();
    assert_eq!(get(&repo, commit), None);
    put(&repo, &[(commit, "{\"a\":1}\n"), (id(1), "other\n")]);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "show"]), "{\"a\":1}");
    assert_eq!(get(&repo, commit).as_deref(), Some("{\"a\":1}\n"));
    assert_eq!(get(&repo, id(2)), None);
    assert!(paths(&scratch).iter().all(|path| path.find('/') == Some(2) && path.len() == 41));
    assert_eq!(scratch.git(&["rev-list", "--count", NAME]), "1");
    let listed: Vec<CommitId> =
        repo.notes_list(NAME).unwrap().into_iter().map(|(commit, _)| commit).collect();
    let mut want = vec![commit, id(1)];
    want.sort_unstable();
    assert_eq!(listed, want);
    scratch.git(&["fsck", "--strict"]);
}

#[test]
fn writing_the_same_again_makes_no_commit_and_merge_sees_what_is_there() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    put(&repo, &[(id(1), "one\n")]);
    put(&repo, &[(id(1), "one\n")]);
    assert_eq!(scratch.git(&["rev-list", "--count", NAME]), "1");
    repo.notes_write(NAME, &[(id(1), b"two\n".to_vec()), (id(2), b"new\n".to_vec())], AT, |_, new, there| {
        [there.unwrap_or_default(), new].concat()
    })
    .unwrap();
    assert_eq!(get(&repo, id(1)).as_deref(), Some("one\ntwo\n"));
    assert_eq!(get(&repo, id(2)).as_deref(), Some("new\n"));
    assert_eq!(scratch.git(&["rev-list", "--count", NAME]), "2");
    repo.notes_write(NAME, &[], AT, |_, new, _| new.to_vec()).unwrap();
    assert_eq!(scratch.git(&["rev-list", "--count", NAME]), "2");
}

#[test]
fn a_small_flat_ref_stays_flat_until_it_is_large() {
    let scratch = Scratch::new();
    let commit = scratch.commit("a", "1", "one");
    scratch.git(&["notes", "--ref=andon", "add", "-m", "by git"]);
    assert_eq!(paths(&scratch), [commit.to_string()]);
    let repo = scratch.open();
    for number in 1..MAX_FLAT as u64 {
        put(&repo, &[(id(number), "x\n")]);
    }
    assert!(paths(&scratch).iter().all(|path| path.len() == 40));
    put(&repo, &[(id(1000), "x\n")]);
    assert_eq!(paths(&scratch).len(), MAX_FLAT + 1);
    put(&repo, &[(id(1001), "last\n")]);
    let all = paths(&scratch);
    assert_eq!(all.len(), MAX_FLAT + 2);
    assert!(all.iter().all(|path| path.len() == 41));
    assert_eq!(get(&repo, commit).as_deref(), Some("by git\n"));
    assert_eq!(scratch.git(&["notes", "--ref=andon", "show"]), "by git");
}

#[test]
fn a_directory_that_grows_large_is_fanned_out_once() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    // All below `ab`.
    let below = |number: u64| -> CommitId { format!("ab{}", &id(number).to_string()[2..]).parse().unwrap() };
    let many: Vec<(CommitId, &str)> = (0..=MAX_FLAT as u64).map(|number| (below(number), "x\n")).collect();
    put(&repo, &many);
    assert!(paths(&scratch).iter().all(|path| path.starts_with("ab/") && path.len() == 41));
    put(&repo, &[(below(1_000), "y\n")]);
    let all = paths(&scratch);
    assert_eq!(all.len(), MAX_FLAT + 2);
    assert!(all.iter().all(|path| path.len() == 42 && path.matches('/').count() == 2), "{all:?}");
    put(&repo, &[(below(2_000), "z\n"), (id(1), "elsewhere\n")]);
    let shapes: Vec<usize> = paths(&scratch).iter().map(|path| path.matches('/').count()).collect();
    assert_eq!(
        shapes.iter().filter(|slashes| **slashes == 1).count(),
        1,
        "other directories stay as they are"
    );
    for (commit, want) in [(below(7), "x\n"), (below(1_000), "y\n"), (below(2_000), "z\n")] {
        assert_eq!(get(&repo, commit).as_deref(), Some(want));
        let shown = scratch.git(&["notes", "--ref=andon", "list", &commit.to_string()]);
        assert_eq!(shown.len(), 40, "git finds it too");
    }
    scratch.git(&["fsck", "--strict"]);
}

#[test]
fn deeper_fanouts_are_read_and_followed() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let digits = id(7).to_string();
    let deep = dir(&repo, &digits[2..4], &[file(&repo, &digits[4..], "seven\n")]);
    let tree = repo.write_tree_entries(&[dir(&repo, &digits[..2], &[deep])]).unwrap();
    plant(&repo, tree);
    assert_eq!(get(&repo, id(7)).as_deref(), Some("seven\n"));
    // Same first two digits: 2/2/36 is followed; other first digits: 2/38 is made.
    let sibling: CommitId = format!("{}ff{}", &digits[..2], &"0".repeat(36)).parse().unwrap();
    put(&repo, &[(sibling, "sibling\n"), (id(8), "eight\n"), (id(7), "seven again\n")]);
    for (commit, want) in [(sibling, "sibling\n"), (id(8), "eight\n"), (id(7), "seven again\n")] {
        assert_eq!(get(&repo, commit).as_deref(), Some(want));
    }
    let shapes: Vec<usize> = paths(&scratch).iter().map(|path| path.matches('/').count()).collect();
    assert_eq!(shapes.iter().filter(|slashes| **slashes == 2).count(), 2);
    assert_eq!(shapes.iter().filter(|slashes| **slashes == 1).count(), 1);
}

#[test]
fn flat_siblings_move_into_a_directory_and_nothing_else_is_lost() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let (one, two) = (id(1).to_string(), id(2).to_string());
    let cousin = format!("{}{}", &one[..2], "a".repeat(38));
    let tree = repo
        .write_tree_entries(&[
            file(&repo, &one, "flat one\n"),
            file(&repo, &cousin, "flat cousin\n"),
            file(&repo, "README", "not a note"),
            dir(&repo, &two[..2], &[file(&repo, &two[2..], "two\n")]),
            dir(&repo, "other", &[file(&repo, "x", "not a note either")]),
        ])
        .unwrap();
    plant(&repo, tree);
    assert_eq!(get(&repo, id(1)).as_deref(), Some("flat one\n"));
    put(&repo, &[(id(1), "new one\n")]);
    assert_eq!(get(&repo, id(1)).as_deref(), Some("new one\n"));
    assert_eq!(get(&repo, cousin.parse().unwrap()).as_deref(), Some("flat cousin\n"));
    assert_eq!(get(&repo, id(2)).as_deref(), Some("two\n"));
    let all = paths(&scratch);
    assert!(all.contains(&"README".to_owned()) && all.contains(&"other/x".to_owned()));
    assert_eq!(all.iter().filter(|path| path.len() == 41).count(), 3);
}

#[test]
fn a_note_at_two_paths_is_read_joined_and_written_once() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let digits = id(5).to_string();
    let tree = repo
        .write_tree_entries(&[
            file(&repo, &digits, "flat"),
            dir(&repo, &digits[..2], &[file(&repo, &digits[2..], "fanned\n")]),
        ])
        .unwrap();
    plant(&repo, tree);
    assert_eq!(get(&repo, id(5)).as_deref(), Some("flat\nfanned\n"));
    assert_eq!(repo.notes_list(NAME).unwrap().len(), 2);
    put(&repo, &[(id(5), "one\n")]);
    assert_eq!(get(&repo, id(5)).as_deref(), Some("one\n"));
    paths(&scratch);
}

#[test]
fn a_note_beyond_the_bound_is_an_error_with_its_hint() {
    let scratch = Scratch::new();
    let commit = scratch.commit("a", "1", "one");
    let repo = scratch.open();
    let large = "x".repeat(1 << 20);
    put(&repo, &[(commit, &large)]);
    assert_eq!(get(&repo, commit).map(|text| text.len()), Some(1 << 20));
    put(&repo, &[(commit, &format!("{large}y"))]);
    let error = repo.notes(NAME).unwrap().get(commit).unwrap_err();
    assert!(
        error.to_string().contains(&commit.to_string()) && error.to_string().contains("1048577"),
        "{error}"
    );
    let help = error.help().unwrap();
    for command in help.split(" && ") {
        scratch.git(&command.split(' ').skip(1).collect::<Vec<_>>());
    }
    assert_eq!(get(&repo, commit), None);
    // The ref that was there is kept under another name.
    assert!(scratch.try_git(&["rev-parse", "-q", "--verify", "refs/andon-saved/notes/andon"]));
}

#[test]
fn eight_writers_lose_no_note() {
    let scratch = Scratch::new();
    let path = scratch.path();
    std::thread::scope(|scope| {
        for writer in 0..8_u64 {
            let path = path.clone();
            scope.spawn(move || {
                let repo = Repo::open(&path, &RepoEnv::default()).unwrap();
                for number in 0..50 {
                    put(&repo, &[(id(writer * 1000 + number), "note\n")]);
                }
            });
        }
    });
    assert_eq!(paths(&scratch).len(), 400);
    assert_eq!(scratch.git(&["rev-list", "--count", NAME]), "400");
}

#[test]
fn gits_own_writer_in_between_is_followed() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    for number in 0..30 {
        let commit = scratch.commit("a", &number.to_string(), "x");
        if number % 2 == 0 {
            put(&repo, &[(commit, "ours\n")]);
        } else {
            scratch.git(&["notes", "--ref=andon", "add", "-m", "theirs"]);
        }
    }
    assert_eq!(paths(&scratch).len(), 30);
    assert_eq!(scratch.git(&["notes", "--ref=andon", "list"]).lines().count(), 30);
    assert_eq!(repo.notes_list(NAME).unwrap().len(), 30);
    let shown = command(&scratch.path(), &["notes", "--ref=andon", "show", "HEAD"]).output().unwrap();
    assert_eq!(shown.stdout, b"theirs\n");
}

/// Few first digits, so that directories fill.
fn digits() -> impl Strategy<Value = String> {
    (0_u8..3, 0_u8..40, any::<u64>())
        .prop_map(|(first, second, rest)| format!("{first:02x}{second:02x}{rest:016x}{:020x}", 7))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was written in whatever order, each note is found once, and the newest of them.
    #[test]
    fn notes_that_come_one_by_one_are_found_once(
        many in prop::collection::btree_set(digits(), 1..900),
        more in prop::collection::vec(digits(), 1..12),
    ) {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let (blob, other) = (repo.write_blob(b"note").unwrap(), repo.write_blob(b"other").unwrap());
        let mut notes: Notes = many.iter().map(|digits| (digits.clone(), blob)).collect();
        let mut tree = repo.notes_tree(None, &notes).unwrap();
        for digits in more.iter().chain(many.iter().step_by(97)) {
            tree = repo.notes_tree(Some(tree), &Notes::from([(digits.clone(), other)])).unwrap();
            notes.insert(digits.clone(), other);
        }
        for (digits, wanted) in &notes {
            prop_assert_eq!(repo.note_blobs(tree, digits).unwrap(), [*wanted]);
        }
        prop_assert!(repo.note_blobs(tree, &"f".repeat(40)).unwrap().is_empty());
    }
}
