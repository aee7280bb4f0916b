//! The members that each type of event has. Any other member is a slip, or means something that is not read here:
//! either way the fact would not be the one that its reporter intends.

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
    /// One of each row.
    members: &'static [&'static [&'static str]],
    line: &'static str,
}

/// Types with members that must be there.
const NEEDED: [RequiredMembers; 5] = [
    RequiredMembers {
        kind: "tool_call",
        members: &[&["tool"]],
        line: r#"{"tool":"Bash","args":{"command":"make"}}"#,
    },
    RequiredMembers {
        kind: "output",
        members: &[&["kind"], &["text", "sha256"]],
        line: r#"{"kind":"message.final","text":"All tests pass now."}"#,
    },
    RequiredMembers {
        kind: "test_run",
        members: &[&["code"], &["status"]],
        line: r#"{"code":"STATE","status":"failed","total":10,"failing":["a::b"]}"#,
    },
    RequiredMembers {
        kind: "commit",
        members: &[&["code"]],
        line: r#"{"type":"commit","code":"STATE","subject":"..."}"#,
    },
    RequiredMembers {
        kind: "commit_refused",
        members: &[&["code"]],
        line: r#"{"type":"commit_refused","code":"STATE"}"#,
    },
];

impl RequiredMembers {
    pub(super) fn help(self) -> Vec<String> {
        let Self { kind, members, line } = self;
        let members = members.iter().map(|row| row.join(" or ")).collect::<Vec<_>>().join(" and ");
        // Commits are replayed, and one that was refused has no command of its own.
        let example = match kind {
            "commit" => line.to_owned(),
            "commit_refused" => format!("echo '{line}' | andon observe event"),
            _ => format!("echo '{line}' | andon observe {kind}"),
        };
        let mut help = vec![format!("{kind} needs {members}, such as: {example}")];
        if line.contains("STATE") {
            help.push(
                "code is the state of the code, by any name; that of now: andon status --format json"
                    .to_owned(),
            );
        }
        if kind == "test_run" {
            help.push(
                "or hand in report files: andon observe test_run --report FILE --exit-code N".to_owned(),
            );
        }
        help
    }
}

/// The members that lines of `kind` need, where `object` lacks one.
pub(super) fn lacking(kind: &str, object: &Map<String, Value>) -> Option<RequiredMembers> {
    let lacks = |needed: &&RequiredMembers| {
        needed.members.iter().any(|row| row.iter().all(|member| !object.contains_key(*member)))
    };
    NEEDED.iter().filter(|needed| needed.kind == kind).find(lacks).copied()
}

/// The further members of each type, those of the journal's own lines included.
const TYPES: [(&str, WordList); 13] = [
    ("turn_start", words![]),
    ("tool_call", WordList::section(WORDS, "tool_call")),
    ("output", words!["kind", "text", "sha256", "lines"]),
    ("test_run", WordList::section(WORDS, "test_run")),
    ("usage", USAGE),
    ("verdict", words!["reviewer", "approve", "reject"]),
    ("commit", WordList::section(WORDS, "commit")),
    ("turn_end", words!["code", "docs"]),
    ("ack", WordList::section(WORDS, "ack")),
    ("compaction", words![]),
    ("session_start", words![]),
    ("prompt", words![]),
    ("commit_refused", words!["code", "tree", "rule"]),
];

/// All types.
pub(super) fn types() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|(kind, _)| *kind)
}

/// The members of `kind`.
pub(super) fn members(kind: &str) -> impl Iterator<Item = &'static str> {
    let own = TYPES.iter().find(|(known, _)| *known == kind).map_or(words![], |(_, own)| *own);
    own.iter().chain(EVERY.iter())
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
    let Some((kind, _)) = TYPES.iter().find(|(known, _)| *known == kind) else {
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
