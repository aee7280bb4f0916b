//! No page names a command or an option of `andon` that does not exist.

use andon::program::manual::pages as manual_pages;
use clap::Command;

use super::{blocks, links, pages};

/// What may follow `andon` in a sentence, and is no command.
const NO_COMMANDS: [&str; 2] = ["COMMAND", "NAME"];

/// The words of a command line up to what a shell makes of the rest.
fn words(line: &str) -> Vec<&str> {
    let ends = [" #", " |", " &&", " >", " <", ";", "$(", ")"];
    let end = ends.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
    // What is quoted is an argument.
    let unquoted = line[..end].split(['\'', '"']).next().unwrap_or_default();
    unquoted.split_whitespace().collect()
}

/// What is wrong with `andon WORDS...`, if anything.
fn fault(andon: &Command, words: &[&str]) -> Option<String> {
    let mut command = andon;
    for (number, word) in words.iter().enumerate() {
        if *word == "--" {
            return None;
        }
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split(['=', '[', ']', ',', '.']).next().unwrap_or_default();
            let known = |one: &clap::Arg| one.get_long() == Some(name);
            if !["help", "version", "color"].contains(&name) && !command.get_arguments().any(known) {
                return Some(format!("no option --{name} of {}", command.get_name()));
            }
        } else if let Some(below) = command.find_subcommand(word.trim_end_matches(',')) {
            command = below;
        } else if number == 0
            && word.chars().all(|one| one.is_ascii_lowercase())
            && !NO_COMMANDS.contains(word)
        {
            return Some(format!("no command {word}"));
        }
    }
    None
}

#[test]
fn pages_name_commands_and_options_that_exist() {
    let andon = manual_pages().remove(0).command;
    let mut seen = 0;
    for path in pages() {
        let text = std::fs::read_to_string(&path).unwrap();
        let prose = links::prose(&text);
        let inline = prose.split('`').skip(1).step_by(2).map(str::to_owned);
        let of_blocks = blocks::read(&text)
            .into_iter()
            .filter(|block| ["sh", "bash", "console"].contains(&block.language.as_str()))
            .flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>());
        for line in inline.chain(of_blocks) {
            let line = line.strip_prefix("$ ").unwrap_or(&line).to_owned();
            // The name of a fact in a hint is no option.
            let Some(rest) = line.strip_prefix("andon ").filter(|rest| !rest.contains("--{")) else {
                continue;
            };
            seen += 1;
            if let Some(fault) = fault(&andon, &words(rest)) {
                panic!("{}: `{line}`: {fault}", path.display());
            }
        }
    }
    assert!(seen > 200, "pages speak of commands: {seen}");
    assert_eq!(fault(&andon, &["tset"]).as_deref(), Some("no command tset"));
    assert!(fault(&andon, &["test", "--stagd"]).is_some());
    assert_eq!(fault(&andon, &["agent", "install", "claude", "--memory"]), None);
}
