//! What would take the guard away: refused at any time, with the reason. A refusal here is a hint to an honest agent; what
//! gets past it is found by the hooks of git and by `andon check`.

mod git;
mod programs;
mod reading;
mod search;
#[cfg(test)]
mod tests;

use self::programs::{Started, is_short, name_of};
use super::paths::{self, GuardFiles, Use};
use super::shell::{self, MAX_DEPTH, Simple};
use andon_core::domain::agent_ruling::Disarm;

pub(super) use reading::only_reads;

/// Commands of Andon's that are a person's, by their first words.
const OF_PEOPLE: [&[&str]; 13] = [
    &["uninstall"],
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

/// What the command lines would disarm, the first of it.
pub(super) fn of_script(script: &str, guarded: &GuardFiles) -> Option<Disarm> {
    below(script, &mut guarded.clone(), MAX_DEPTH)
}

fn below(script: &str, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let Some(commands) = shell::commands(script) else {
        // A megabyte is not written by hand: it is searched unparsed.
        return search::text(script, Use::Written, guarded);
    };
    let mut told = String::new();
    for mut command in commands {
        if command.piped {
            command.input.push_str(&told);
        }
        told = programs::says(&command);
        if let Some(found) = of_command(&command, guarded, depth) {
            return Some(found);
        }
    }
    None
}

fn of_command(command: &Simple, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let written = command.writes.iter().find_map(|file| paths::disarms(file, Use::Written, guarded));
    if written.is_some() {
        return written;
    }
    let started = programs::unwrapped(&command.words);
    let assigned = started.assigned.iter().find_map(|word| search::assignment(word));
    if assigned.is_some() {
        return assigned;
    }
    if let (Some(script), Some(depth)) = (&started.split, depth.checked_sub(1)) {
        return below(
            &format!("{} {script} {}", started.assigned.join(" "), started.rest.join(" ")),
            guarded,
            depth,
        );
    }
    // What is piped into xargs are words of the command behind it.
    let given =
        if started.fed { command.input.split_whitespace().map(str::to_owned).collect() } else { Vec::new() };
    let words: Vec<String> = started.rest.iter().cloned().chain(given).collect();
    let call = Call { words: &words, input: &command.input, started: &started };
    of_program(call, guarded, depth)
}

/// A program with its words, its input and what stood before it.
#[derive(Debug, Clone, Copy)]
struct Call<'a> {
    words: &'a [String],
    input: &'a str,
    started: &'a Started<'a>,
}

fn of_program(call: Call<'_>, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let Some((program, args)) = call.words.split_first() else {
        return call.started.assigned.iter().find_map(|word| search::lasting(word));
    };
    let name = name_of(program);
    if let Some(depth) = depth.checked_sub(1) {
        let inner = programs::scripts(&name, args, call.input);
        if let Some(found) = inner.iter().find_map(|script| below(script, guarded, depth)) {
            return Some(found);
        }
    }
    match name.as_str() {
        "cd" | "pushd" => {
            if let Some(dir) = args.iter().find(|word| !word.starts_with('-')) {
                guarded.cwd = format!("/{}", paths::resolved(dir, &guarded.cwd).join("/"));
            }
            None
        }
        "git" => git::git(args, call, guarded, depth),
        "andon" => andon(args),
        "find" => find(args, guarded),
        "cp" => copied(args, guarded),
        "mv" => moved(args, guarded),
        "patch" | "apply_patch" => patches(args, call.input, guarded),
        name if depth > 0 && programs::is_shell(name) => {
            let plain: Vec<String> =
                args.iter().filter(|word| !word.contains(char::is_whitespace)).cloned().collect();
            search::words(&plain, Use::Written, guarded)
        }
        name if name.starts_with("$env:andon") && search::names_switch(&call.words.join(" ")) => {
            Some(Disarm::MasterSwitch)
        }
        name if programs::DECLARING.contains(name) => args.iter().find_map(|word| search::lasting(word)),
        name if programs::only_reads(name, args) => None,
        name if programs::REMOVERS.contains(name) => removed(args, guarded),
        name if programs::MODES.contains(&name) && args.iter().any(|word| is_recursive(word)) => {
            search::words(args, Use::Removed, guarded)
        }
        name => other(name, call, guarded, depth),
    }
}

fn is_recursive(word: &str) -> bool {
    word == "--recursive" || is_short(word) && word.contains('R')
}

fn patches(args: &[String], input: &str, guarded: &GuardFiles) -> Option<Disarm> {
    let of_word = |word: &String| {
        if word.contains('\n') {
            search::patched(word, guarded)
        } else {
            search::text(word, Use::Written, guarded)
        }
    };
    args.iter().find_map(of_word).or_else(|| search::patched(input, guarded))
}

fn removed(args: &[String], guarded: &GuardFiles) -> Option<Disarm> {
    // What a substitution gives is not known.
    let named = |word: &String| !word.is_empty() && !word.starts_with('-');
    let holds = |word: &String| named(word) && paths::holds_guard(word, guarded);
    let held = || args.iter().any(holds).then_some(Disarm::Hooks);
    search::words(args, Use::Removed, guarded).or_else(held)
}

/// The last word of `mv` and `cp` is the target, unless an option names it before.
fn ends(args: &[String]) -> (Vec<String>, Vec<String>) {
    let plain: Vec<String> = args.iter().filter(|word| !word.starts_with('-')).cloned().collect();
    let told = args.iter().position(|word| word == "-t" || word == "--target-directory");
    let told = told.and_then(|at| args.get(at + 1)).cloned();
    let attached = args.iter().find_map(|word| word.strip_prefix("--target-directory=")).map(str::to_owned);
    match (told.or(attached), plain.split_last()) {
        (Some(target), _) => (plain.into_iter().filter(|word| *word != target).collect(), vec![target]),
        (None, Some((target, sources))) => (sources.to_vec(), vec![target.clone()]),
        (None, None) => (Vec::new(), Vec::new()),
    }
}

fn moved(args: &[String], guarded: &GuardFiles) -> Option<Disarm> {
    let (sources, target) = ends(args);
    removed(&sources, guarded).or_else(|| landed((&sources, &target), guarded))
}

/// `cp bad/pre-commit .git/hooks`, and `cp -r bad/.git .`.
fn landed((sources, target): (&[String], &[String]), guarded: &GuardFiles) -> Option<Disarm> {
    let landing = |source: &String| {
        let name = source.trim_end_matches('/').rsplit('/').next()?;
        paths::disarms(&format!("{}/{name}", target.first()?), Use::Removed, guarded)
    };
    search::words(target, Use::Written, guarded).or_else(|| sources.iter().find_map(landing))
}

fn copied(args: &[String], guarded: &GuardFiles) -> Option<Disarm> {
    // A second name of a file is a way to write it.
    let links = |word: &String| {
        word == "--link" || word == "--symbolic-link" || (is_short(word) && word.contains(['l', 's']))
    };
    if args.iter().any(links) {
        return search::words(args, Use::Written, guarded);
    }
    let (sources, target) = ends(args);
    landed((&sources, &target), guarded)
}

/// `find` reads, unless it deletes or starts a program that does more than read.
fn find(args: &[String], guarded: &GuardFiles) -> Option<Disarm> {
    if programs::only_reads("find", args) {
        return None;
    }
    let start = args.iter().position(|word| word.starts_with(['-', '(', '!'])).unwrap_or(args.len());
    let (from, tests) = args.split_at(start);
    let acts = tests.iter().position(|word| word.starts_with("-exec") || word.starts_with("-ok"));
    let program = acts.and_then(|at| search::words(&tests[at + 1..], Use::Removed, guarded));
    let spares = tests.iter().any(|word| matches!(word.as_str(), "-prune" | "-not" | "!"));
    let is_test = |word: &str| word.ends_with("name") || word.ends_with("path");
    let chosen: Vec<String> =
        tests.windows(2).filter(|pair| is_test(&pair[0])).map(|pair| pair[1].clone()).collect();
    let others = !chosen.is_empty() && !chosen.iter().any(|pattern| paths::may_name_guard(pattern));
    if program.is_some() || others {
        return program;
    }
    let named = if spares { None } else { search::words(&chosen, Use::Removed, guarded) };
    let whole = !spares && chosen.is_empty() && tests.iter().any(|word| word == "-delete");
    named.or_else(|| if whole { removed(from, guarded) } else { search::words(from, Use::Removed, guarded) })
}

/// A program about which only its words are known.
fn other(name: &str, call: Call<'_>, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let args = call.words.get(1..).unwrap_or_default();
    if args.iter().any(|word| programs::TAKES_AWAY.contains(&word.as_str()))
        && args.iter().any(|word| word == "andon" || word.starts_with("andon@"))
    {
        return Some(Disarm::Program);
    }
    // To some people write: what has spaces in it is a text there.
    let is_text = |word: &String| programs::is_told(name) && word.contains(char::is_whitespace);
    let mut looked: Vec<&String> = args.iter().filter(|word| !is_text(word)).collect();
    looked.extend(call.words.first().filter(|word| word.contains(char::is_whitespace)));
    let input = call.input.to_owned();
    if programs::interprets(name) {
        looked.push(&input);
        if looked.iter().any(|text| search::names_switch(text)) {
            return Some(Disarm::MasterSwitch);
        }
    }
    let found = looked.iter().find_map(|word| search::assignment(word));
    let found = found.or_else(|| looked.iter().find_map(|word| search::text(word, Use::Written, guarded)));
    if found.is_some() {
        return found;
    }
    // `flock x andon resume`: a program that starts another one.
    let at = args.iter().position(|word| programs::is_judged(&name_of(word)))?;
    let depth = depth.checked_sub(1)?;
    of_program(Call { words: &args[at..], ..call }, guarded, depth)
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
