//! The table of guesses: which files must be there, what they must hold, and the command.
//!
//! It is one text, as an array of rows would be relocated at every start of the program. Rows of one kind exclude each
//! other: the first row whose signs are all there is the guess. What takes more than signs is in [`super::project_kinds`],
//! `cargo`, `node` and `python`.

use super::{Guess, WORDS, guessed, listing::Listing, unsure};
use andon_core::WordList;

/// `kind | signs | command | reason`.
///
/// Signs are joined by `&`. Each begins with files, separated by commas, of which one must be there; `~` requires one of
/// the texts after it in one of them, `=` a line, `#` a member of JSON, `!` that they are no JSON. The reason is the file
/// of the first sign unless it is given. One that begins with `?` says why the command is not sure, with `{}` for that
/// file.
const TABLE: WordList = WordList::section(WORDS, "commands");

/// Names of the table for long lists.
const LISTS: [(&str, &str); 3] = [
    ("GRADLE", "build.gradle.kts,build.gradle,settings.gradle.kts,settings.gradle"),
    ("ANDROID", "build.gradle.kts,build.gradle,app/build.gradle.kts,app/build.gradle"),
    (
        "CTEST",
        "CMakeLists.txt,tests/CMakeLists.txt,test/CMakeLists.txt~enable_testing,include(CTest),add_test,_discover_tests",
    ),
];

/// The kinds that [`super::python`] looks up by name: its environments may own them.
const OF_PYTHON: [&str; 2] = ["tox", "nox"];

/// The guess of each kind in the table, except those that belong to Python.
pub(super) fn guesses(listing: &Listing) -> Vec<Guess> {
    let mut kinds: Vec<&str> = rows().map(|row| row.kind).filter(|kind| !OF_PYTHON.contains(kind)).collect();
    kinds.dedup();
    kinds.into_iter().filter_map(|kind| guess(listing, kind)).collect()
}

/// The guess of one kind.
pub(super) fn guess(listing: &Listing, kind: &str) -> Option<Guess> {
    rows().filter(|row| row.kind == kind).find_map(|row| {
        let files: Option<Vec<&str>> = row.signs.split('&').map(|sign| shows(listing, sign)).collect();
        let file = *files?.first()?;
        let command = |because: &str| guessed(row.command, because);
        Some(match row.reason.strip_prefix('?') {
            Some(doubt) => unsure(
                doubt.replace("{}", file),
                (!row.command.is_empty()).then(|| command(file)).into_iter().collect(),
            ),
            None => Guess::Sure(command(if row.reason.is_empty() { file } else { row.reason })),
        })
    })
}

struct Row {
    kind: &'static str,
    signs: String,
    command: &'static str,
    reason: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.iter().map(|line| {
        let mut cells = line.split('|').map(str::trim);
        let mut cell = || cells.next().unwrap_or_default();
        let (kind, signs) = (cell(), cell());
        let signs = LISTS.iter().fold(signs.to_owned(), |signs, (name, list)| signs.replace(name, list));
        Row { kind, signs, command: cell(), reason: cell() }
    })
}

/// A sign: its files, and what one of them must hold.
fn parts(sign: &str) -> (impl Iterator<Item = &str>, &str) {
    let (files, wanted) = sign.split_at(sign.find(['~', '=', '#', '!']).unwrap_or(sign.len()));
    (files.split(','), wanted)
}

/// The file that shows a sign.
fn shows<'s>(listing: &Listing, sign: &'s str) -> Option<&'s str> {
    let (mut files, wanted) = parts(sign.trim());
    files.find(|file| listing.has(file) && holds(listing.text(file).unwrap_or_default(), wanted))
}

/// True when a file of this text has what is `wanted`.
fn holds(text: &str, wanted: &str) -> bool {
    let json = || serde_json::from_str::<serde_json::Value>(text).ok();
    let mut kind = wanted.chars();
    let (kind, mut any) = (kind.next(), kind.as_str().split(','));
    match kind {
        None => true,
        Some('~') => any.any(|part| text.contains(part)),
        Some('=') => any.any(|line| text.lines().any(|one| one.trim() == line)),
        Some('#') => json().is_some_and(|all| {
            any.any(|path| all.pointer(path).is_some_and(|found| !found.is_null() && found != ""))
        }),
        Some(_) => json().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::READ;
    use super::*;

    #[test]
    fn every_row_is_whole_and_what_it_looks_into_is_read() {
        for row in rows() {
            assert!(!row.kind.is_empty() && !row.command.is_empty() || row.reason.starts_with('?'));
            for (mut files, wanted) in row.signs.split('&').map(|sign| parts(sign.trim())) {
                assert!(wanted.is_empty() || files.all(|file| READ.contains(file)), "{}", row.signs);
            }
        }
    }
}
