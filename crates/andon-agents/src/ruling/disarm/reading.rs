//! Commands that read and change nothing: allowed while the loop is halted.

use super::programs::{self, name_of};
use crate::ruling::shell::{self, Simple};
use andon_core::{WordList, words};

/// Verbs of git that read, unless an option makes them write or start something.
const OF_GIT: WordList = words![
    "status",
    "log",
    "show",
    "diff",
    "blame",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "cat-file",
    "shortlog",
    "describe",
    "grep",
    "merge-base",
    "for-each-ref",
];
/// What makes them write or start something.
const NOT_READING: [&str; 6] = ["--output", "--ext-diff", "-c", "-O", "--open-files", "--textconv"];

/// Whether all commands of `script` only read.
pub(in crate::ruling) fn only_reads(script: &str) -> bool {
    let Some(commands) = shell::commands(script) else { return false };
    commands.iter().all(reads) && !commands.iter().all(only_says)
}

/// Saying something goes along with reading, and is none by itself.
fn only_says(command: &Simple) -> bool {
    let program = command.words.first().map(|word| name_of(word));
    matches!(program.as_deref(), Some("echo" | "printf" | "true" | "false" | ":"))
}

fn reads(command: &Simple) -> bool {
    let started = programs::unwrapped(&command.words);
    let to_nowhere = command.writes.iter().all(|file| file == "/dev/null");
    let plainly = started.assigned.is_empty() && started.split.is_none() && to_nowhere;
    let Some((program, args)) = started.rest.split_first().filter(|_| plainly) else { return false };
    match name_of(program).as_str() {
        "git" => git(args),
        "andon" => andon(args),
        "cd" => true,
        name => programs::only_reads(name, args),
    }
}

fn git(args: &[String]) -> bool {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        rest = if first == "-C" { after.get(1..).unwrap_or_default() } else { after };
    }
    let reads = rest.first().is_some_and(|verb| OF_GIT.contains(verb));
    reads && !args.iter().any(|word| NOT_READING.iter().any(|start| word.starts_with(start)))
}

fn andon(args: &[String]) -> bool {
    let plain: Vec<&str> = args.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let lives = args.iter().any(|word| word == "--live" || word == "--fix");
    !lives
        && matches!(
            plain.as_slice(),
            ["status" | "log" | "show", ..] | ["review", "show" | "status" | "precedents", ..] | ["doctor"]
        )
}
