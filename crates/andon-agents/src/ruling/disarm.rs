//! The short table of plain words that an agent's command lines may not hold: a person's commands, the switch, and where git looks for
//! hooks. It is a hint to an honest agent, given before anything is run, and no gate: words are taken as a shell takes them, nothing is
//! computed, no other language is read. What a call did, however it was written, is found by comparing the guard's own state before and
//! after it, and by the hooks of git.

mod programs;
mod reading;
#[cfg(test)]
mod tests;

use self::programs::{Started, name_of};
use super::shell::{self, MAX_DEPTH};
use andon_core::domain::agent_ruling::Disarm;

pub(super) use reading::only_reads;

/// Commands of Andon's that are a person's, by their first words.
const OF_PEOPLE: [&[&str]; 14] = [
    &["uninstall"],
    &["stop"],
    &["agent", "uninstall"],
    // The caller says what a client never said.
    &["agent", "hook"],
    &["review", "accept"],
    &["review", "resolve"],
    &["review", "panel"],
    &["review", "ballot"],
    &["review", "reveal"],
    &["witness", "init"],
    &["witness", "add"],
    &["witness", "revoke"],
    &["witness", "policy"],
    &["witness", "sign"],
];

/// Words before an assignment that lasts.
const DECLARING: [&str; 5] = ["export", "declare", "typeset", "readonly", "set"];

/// The key of git that says where hooks are.
const HOOKS_PATH: &str = "core.hookspath";

/// What the plain words of the command lines would disarm, the first of it.
pub(super) fn of_script(script: &str) -> Option<Disarm> {
    below(script, MAX_DEPTH)
}

fn below(script: &str, depth: usize) -> Option<Disarm> {
    shell::commands(script)?.iter().find_map(|command| {
        let started = programs::unwrapped(&command.words);
        of_command(&started, depth)
    })
}

fn of_command(started: &Started<'_>, depth: usize) -> Option<Disarm> {
    if let Some(found) = started.assigned.iter().find_map(|word| assignment(word)) {
        return Some(found);
    }
    let (program, args) = started.rest.split_first()?;
    let name = name_of(program);
    if let Some(depth) = depth.checked_sub(1)
        && let Some(found) = programs::scripts(&name, args).iter().find_map(|script| below(script, depth))
    {
        return Some(found);
    }
    match name.as_str() {
        "andon" => andon(args),
        "git" => git(args),
        name if DECLARING.contains(&name) => args.iter().find_map(|word| assignment(word)),
        _ => None,
    }
}

/// `ANDON=0`, and settings for git in the environment.
fn assignment(word: &str) -> Option<Disarm> {
    let (name, value) = word.split_once('=')?;
    match name {
        "ANDON" if value.trim() == "0" => Some(Disarm::MasterSwitch),
        name if name.starts_with("GIT_CONFIG") && names_hooks(value) => Some(Disarm::HooksPath),
        _ => None,
    }
}

fn names_hooks(word: &str) -> bool {
    word.to_ascii_lowercase().contains(HOOKS_PATH)
}

fn andon(args: &[String]) -> Option<Disarm> {
    let mut plain: Vec<&str> = Vec::new();
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--color" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => plain.push(word),
        }
    }
    if plain.first() == Some(&"resume") {
        return Some(Disarm::Resume);
    }
    if plain.first() == Some(&"pin") && !args.iter().any(|word| word == "--check") {
        return Some(Disarm::Command("andon pin".to_owned()));
    }
    let of_people = OF_PEOPLE.iter().find(|verb| plain.starts_with(verb));
    of_people.map(|verb| Disarm::Command(format!("andon {}", verb.join(" "))))
}

/// `git -c core.hooksPath=...` and `git config core.hooksPath ...`; reading the value is no harm.
fn git(args: &[String]) -> Option<Disarm> {
    let verb = args.iter().position(|word| !word.starts_with('-') && !word.contains('='))?;
    if args[..verb].iter().any(|word| names_hooks(word)) {
        return Some(Disarm::HooksPath);
    }
    // A key before the verb: `git -c core.hooksPath= commit` has it in one word, `git --config-env core.hooksPath=X` too.
    let rest = args.get(verb + 1..).unwrap_or_default();
    let named = rest.iter().position(|word| names_hooks(word)).filter(|_| args[verb] == "config")?;
    let reads = |word: &String| {
        word.starts_with("--get") || matches!(word.as_str(), "get" | "list" | "-l" | "--list")
    };
    let changes = rest.iter().any(|word| word.contains("unset"))
        || rest[named + 1..].iter().any(|word| !word.starts_with('-'));
    (changes && !rest.iter().any(reads)).then_some(Disarm::HooksPath)
}
