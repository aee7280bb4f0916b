//! Unites the records of two clones. Every line of both is kept, sorted and once: exactly what `git notes merge -s
//! cat_sort_uniq` leaves, so that clones which use that and clones which sync agree. The reader decides which line
//! counts for a commit ([`crate::wire::v1::choose_record`]), never the merge.

use super::RecordError;
use crate::wire::NOTES_REF as REF;
use crate::wire::v1::decode_commit;

use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;
use andon_git::{NotesUnion, Repo};

/// Largest note that is read back, in bytes.
const MAX_NOTE: usize = 1 << 20;

/// Unites the records of this clone with those of the notes commit `theirs`, in one notes commit dated `at`.
///
/// A record that the other side removed is kept here: facts are not undone. A note without a readable line is dropped,
/// so that removing a broken one repairs all clones.
///
/// # Errors
/// [`RecordError::Git`]; then nothing has changed.
pub fn unite(repo: &Repo, theirs: CommitId, at: Timestamp) -> Result<NotesUnion, RecordError> {
    Ok(repo.notes_unite(REF, theirs, at, note_to_keep)?)
}

/// Restores the records that a writer other than Andon removed from the notes, and returns how many: `git notes append`
/// during a hook drops what the hook wrote.
///
/// # Errors
/// [`RecordError::Git`]; then nothing has changed.
pub fn restore(repo: &Repo, at: Timestamp) -> Result<usize, RecordError> {
    Ok(repo.notes_restore(REF, at, |ours, written| match (ours, written) {
        (ours, Some(written)) if lines(written).any(|line| decode_commit(line).is_ok()) => {
            Some(ours.map_or_else(|| written.to_vec(), |ours| joined(ours, written)))
        }
        (ours, Some(_) | None) => ours.map(<[u8]>::to_vec),
    })?)
}

pub(super) fn note_to_keep(ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Option<Vec<u8>> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Some(joined(ours, theirs)),
        (Some(ours), None) => lines(ours).any(|line| decode_commit(line).is_ok()).then(|| ours.to_vec()),
        (None, theirs) => theirs.map(<[u8]>::to_vec),
    }
}

/// All lines of both notes, as [`unite`] leaves them; beyond what is read back, ours and what else can be read.
pub fn joined(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let mut all: Vec<&[u8]> = lines(ours).chain(lines(theirs)).collect();
    all.sort_unstable();
    all.dedup();
    let note = |all: &[&[u8]]| {
        let mut note = all.join(&b'\n');
        note.push(b'\n');
        note
    };
    let whole = note(&all);
    if whole.len() <= MAX_NOTE {
        return whole;
    }
    let mut kept: Vec<&[u8]> = lines(ours).collect();
    let mut size: usize = kept.iter().map(|line| line.len() + 1).sum();
    for line in lines(theirs).filter(|line| decode_commit(line).is_ok()) {
        if size + line.len() < MAX_NOTE && !kept.contains(&line) {
            size += line.len() + 1;
            kept.push(line);
        }
    }
    kept.sort_unstable();
    kept.dedup();
    note(&kept)
}

fn lines(note: &[u8]) -> impl Iterator<Item = &[u8]> {
    note.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOLDEN: &[u8] = include_bytes!("../../../tests/format/v1/commit-full.json");

    #[test]
    fn what_was_taken_away_stands_when_it_can_be_read() {
        assert_eq!(note_to_keep(Some(GOLDEN), None), Some(GOLDEN.to_vec()));
        assert_eq!(note_to_keep(Some(b"{broken\n"), None), None);
        assert_eq!(note_to_keep(None, Some(b"new\n")), Some(b"new\n".to_vec()));
        assert_eq!(note_to_keep(None, None), None);
    }

    #[test]
    fn a_note_never_outgrows_what_is_read_back() {
        let flood: Vec<u8> =
            (0..MAX_NOTE / 8).flat_map(|number| format!("{number:08}\n").into_bytes()).collect();
        assert_eq!(joined(GOLDEN, &flood), GOLDEN);
        assert!(joined(&flood[..9], &[&flood, GOLDEN].concat()).len() < 20_000);
    }

    proptest! {
        /// Order and repetition of merges do not matter: all clones get the same bytes.
        #[test]
        fn merging_is_a_union(a in note(), b in note(), c in note()) {
            let join = |left: &[u8], right: &[u8]| joined(left, right);
            prop_assert_eq!(join(&a, &b), join(&b, &a));
            prop_assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
            prop_assert_eq!(join(&join(&a, &b), &b), join(&a, &b));
        }
    }

    fn note() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec("[a-d]{1,3}", 1..6)
            .prop_map(|lines| lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect())
    }
}
