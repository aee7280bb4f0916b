//! The members that each type of event has. Any other member is a slip, or means something that is not read here:
//! either way the fact would not be the one that its reporter intends.

use andon_core::domain::Hint;
use serde_json::{Map, Value};

use super::{EventError, WORDS, cut};
use andon_core::{WordList, domain::diagnostic, words};

/// Members of every type.
const EVERY: WordList = WordList::section(WORDS, "every event");

/// A usage has at least one of these.
pub(super) const USAGE: WordList = WordList::section(WORDS, "usage");
/// A verdict has at least one of these.
pub(super) const VOTES: WordList = words!["approve", "reject"];

/// The members that a line of a type must have, and what such a line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequiredMembers {
    kind: &'static str,
    /// One of each word, with commas between what is as good.
    members: &'static str,
    line: &'static str,
}

/// Types with members that must be there: rows of [`RequiredMembers`].
const NEEDED: WordList = WordList::section(WORDS, "needed members");

impl RequiredMembers {
    pub(super) fn help(self) -> Vec<String> {
        let Self { kind, members, line } = self;
        let members = members.replace(' ', " and ").replace(',', " or ");
        // Commits are replayed, and one that was refused has no command of its own.
        let example = match kind {
            "commit" => line.to_owned(),
            "commit_refused" => Hint::Observe.with([line, "event"]),
            _ => Hint::Observe.with([line, kind]),
        };
        let mut help = vec![format!("{kind} needs {members}, such as: {example}")];
        if line.contains("STATE") {
            help.push(Hint::StatusJson.led("code is the state of the code, by any name; that of now"));
        }
        if kind == "test_run" {
            help.push(Hint::NameReport.led("or hand in report files"));
        }
        help
    }
}

/// The members that lines of `kind` need, where `object` lacks one.
pub(super) fn lacking(kind: &str, object: &Map<String, Value>) -> Option<RequiredMembers> {
    let lacks = |needed: &RequiredMembers| {
        let mut words = needed.members.split(' ');
        words.any(|word| word.split(',').all(|member| !object.contains_key(member)))
    };
    let required = |row: &'static str| {
        let (kind, rest) = row.split_once('|')?;
        let (members, line) = rest.split_once('|')?;
        Some(RequiredMembers { kind, members, line })
    };
    NEEDED.iter().filter_map(required).filter(|needed| needed.kind == kind).find(lacks)
}

/// The further members of each type, those of the journal's own lines included.
const TYPES: WordList = WordList::section(WORDS, "members of each type");

pub(super) fn types() -> impl Iterator<Item = &'static str> {
    TYPES.iter().filter_map(|row| row.split(' ').next())
}

pub(super) fn members(kind: &str) -> impl Iterator<Item = &'static str> {
    let own =
        TYPES.iter().map(|row| row.split(' ')).find_map(|mut row| (row.next() == Some(kind)).then_some(row));
    own.into_iter().flatten().chain(EVERY.iter())
}

/// Names, as a message lists them.
pub(super) fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// The known name that was probably meant, as a message says it.
pub(super) fn meant(found: &str, known: impl Iterator<Item = &'static str>) -> String {
    let nearest = diagnostic::nearest(found, known);
    nearest.map_or_else(String::new, |nearest| format!(": did you mean {nearest:?}?"))
}

/// Refuses members that facts of `kind` do not have. A type that is unknown is named later.
pub(super) fn check<'a>(kind: &str, found: impl Iterator<Item = &'a String>) -> Result<(), EventError> {
    let Some(kind) = types().find(|known| *known == kind) else {
        return Err(EventError::UnknownType { found: cut(kind) });
    };
    let mut unknown = found.filter(|name| !members(kind).any(|known| known == *name));
    match unknown.next() {
        Some(member) => Err(EventError::UnknownMember { kind, member: cut(member) }),
        None => Ok(()),
    }
}

/// Refuses a fact that has none of the members that it is for.
pub(super) fn needs(
    kind: &'static str,
    needed: WordList,
    found: &Map<String, Value>,
) -> Result<(), EventError> {
    let given = |name: &str| found.get(name).is_some_and(|value| !value.is_null());
    if needed.iter().any(given) { Ok(()) } else { Err(EventError::Empty { kind, needed }) }
}
