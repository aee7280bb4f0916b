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
const NOT_READING: [&str; 8] =
    ["--out", "--ext", "-c", "-O", "--open", "--textc", "--exec-path", "--config-env"];
/// What a shell computes: words that are not as they are written.
const COMPUTED: [&str; 5] = ["$(", "`", "<(", ">(", "<<"];
/// Folders of programs that an agent does not write.
const OF_SYSTEM: [&str; 3] = ["/bin/", "/usr/bin/", "/usr/local/bin/"];

/// Whether all commands of `script` only read.
pub(in crate::ruling) fn only_reads(script: &str) -> bool {
    let Some(commands) = shell::commands(script) else { return false };
    !COMPUTED.iter().any(|sign| script.contains(sign))
        && commands.iter().all(reads)
        && !commands.iter().all(only_says)
}

/// Words before a reader that start nothing else.
const PASSED: [&str; 3] = ["time", "command", "!"];

/// Saying something goes along with reading, and is none by itself.
fn only_says(command: &Simple) -> bool {
    let program = command.words.first().map(|word| name_of(word));
    matches!(program.as_deref(), Some("echo" | "printf" | "true" | "false" | ":"))
}

fn reads(command: &Simple) -> bool {
    let words = command.words.iter().position(|word| !PASSED.contains(&word.as_str()));
    let words = words.map_or(&[][..], |at| &command.words[at..]);
    let to_nowhere = command.writes.iter().all(|file| file == "/dev/null");
    let Some((program, args)) = words.split_first().filter(|_| to_nowhere) else { return false };
    // A program of that name may lie anywhere.
    let name = OF_SYSTEM.iter().find_map(|dir| program.strip_prefix(dir)).unwrap_or(program);
    match name {
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
