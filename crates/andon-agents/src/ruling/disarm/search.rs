//! What words and texts name, whatever is done with it.

use crate::ruling::paths::{self, GuardFiles, Use, pieces};
use andon_core::domain::agent_ruling::Disarm;

/// Lines of a patch that name a file.
const PATCHED: [&str; 9] = [
    "+++ ",
    "--- ",
    "rename from ",
    "rename to ",
    "copy to ",
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The first of the words that names what guards the loop.
pub(super) fn words(words: &[String], used: Use, guarded: &GuardFiles) -> Option<Disarm> {
    words.iter().find_map(|word| text(word, used, guarded))
}

/// What a word or a script names.
pub(super) fn text(word: &str, used: Use, guarded: &GuardFiles) -> Option<Disarm> {
    if names_hooks(word) {
        return Some(Disarm::HooksPath);
    }
    if names_refs(word) {
        return Some(Disarm::Refs);
    }
    if word.contains(char::is_whitespace) && answers(word) {
        return Some(Disarm::Resume);
    }
    pieces(word).find_map(|piece| paths::disarms(piece, used, guarded))
}

/// Whether a script of any language starts `andon resume`.
fn answers(script: &str) -> bool {
    let mut words = script.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    let mut words = words.by_ref().filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        if word == "andon" && words.peek() == Some(&"resume") {
            return true;
        }
    }
    false
}

/// The files that a patch names.
pub(super) fn patched(diff: &str, guarded: &GuardFiles) -> Option<Disarm> {
    let named = |line: &str| {
        PATCHED.iter().find_map(|start| line.trim_start().strip_prefix(start).map(str::to_owned))
    };
    diff.lines().filter_map(named).find_map(|line| {
        let path = line.split('\t').next().unwrap_or_default().trim();
        paths::disarms(path, Use::Written, guarded)
    })
}

/// Whether a script of any language sets `ANDON` to 0.
pub(super) fn names_switch(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices("ANDON").any(|(at, name)| {
        let before = text[..at].chars().next_back().is_some_and(is_name);
        let rest = text[at + name.len()..].trim_start_matches(|c: char| !is_name(c) && c != '\n');
        let set = rest.len() < text.len() - at - name.len();
        let mut rest = rest.chars();
        !before && set && rest.next() == Some('0') && !rest.next().is_some_and(|c| is_name(c) || c == '.')
    })
}

/// An assignment for one command.
pub(super) fn assignment(word: &str) -> Option<Disarm> {
    let (name, value) = word.split_once('=')?;
    match name {
        "ANDON" | "$env:ANDON" if value.trim() == "0" => Some(Disarm::MasterSwitch),
        name if name.starts_with("GIT_CONFIG") && (names_hooks(value) || includes(value)) => {
            Some(Disarm::HooksPath)
        }
        _ => None,
    }
}

/// An assignment for all commands that follow.
pub(super) fn lasting(word: &str) -> Option<Disarm> {
    let notes = word.starts_with("GIT_NOTES_REF=") && names_refs(word);
    assignment(word).or(notes.then_some(Disarm::Refs))
}

/// Whether git is given hooks.
pub(super) fn names_hooks(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("core.hookspath") || word.contains("hook.andon")
}

/// Whether git has to read settings from elsewhere.
pub(super) fn includes(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("include.path") || word.contains("includeif.")
}

/// Whether the refs of records and halts are named.
pub(super) fn names_refs(word: &str) -> bool {
    word.contains("refs/andon") || word.contains("notes/andon")
}
