//! Suggestions for an unknown command: by its meaning first, and only then by its spelling. A command that takes
//! something away is never guessed from letters that happen to be alike.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::examples::TABLES;
use andon_core::domain::{
    Diagnostic,
    diagnostic::{is_one_slip, nearest},
};
use testreport::WordList;

/// `command | words | hints`: words that people type below which command, and what does it; no command is `andon` itself.
const MEANT: WordList = WordList::section(TABLES, "typed words");

/// A row of [`MEANT`].
struct TypedWords {
    below: &'static str,
    words: &'static str,
    help: &'static str,
}

impl TypedWords {
    fn all() -> impl Iterator<Item = Self> {
        MEANT.iter().map(|line| {
            let mut cells = line.splitn(3, '|').map(str::trim);
            let mut cell = || cells.next().unwrap_or_default();
            Self { below: cell(), words: cell(), help: cell() }
        })
    }

    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.words.split(' ')
    }

    fn help(&self) -> impl Iterator<Item = &'static str> {
        self.help.split(" | ")
    }
}

/// Commands that take something away: only a single slip of the finger leads to them.
const TAKE_AWAY: &[&str] = &["uninstall", "revoke"];

/// The message in place of clap's own; `None` where that is right.
pub fn diagnostic(err: &clap::Error, cli: &Command, args: &[String]) -> Option<Diagnostic> {
    match (err.kind(), text(err, ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(word)) => {
            Some(unknown_command(&word, &path_to(cli, args, &word)))
        }
        _ => None,
    }
}

/// The addition to clap's own words about an unknown option.
pub fn hint(err: &clap::Error, cli: &Command, args: &[String]) -> Option<String> {
    if err.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let word = text(err, ContextKind::InvalidArg)?;
    let path = path_to(cli, args, &word);
    let command = path.last()?;
    let verb = spoken(&path);
    let has = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    if has("format") && matches!(word.as_str(), "--json" | "-j" | "--output") {
        return Some(format!("{verb} --format json"));
    }
    let reasoned = ["resume", "stop", "pause"].contains(&command.get_name());
    let given = word.starts_with("-m") || word == "--message" || !word.starts_with('-');
    (reasoned && given).then(|| format!("say why like this: {verb} --reason '<decision>'"))
}

/// The commands that `args` name before `word`, `andon` first.
fn path_to<'a>(cli: &'a Command, args: &[String], word: &str) -> Vec<&'a Command> {
    let mut path = vec![cli];
    for arg in args.iter().skip(1).take_while(|arg| *arg != word) {
        if let Some(found) = path.last().and_then(|last| last.find_subcommand(arg)) {
            path.push(found);
        }
    }
    path
}

/// `andon config show`.
fn spoken(path: &[&Command]) -> String {
    path.iter().map(|command| command.get_name()).collect::<Vec<_>>().join(" ")
}

fn unknown_command(word: &str, path: &[&Command]) -> Diagnostic {
    let verb = spoken(path);
    let parent = path.get(1).map_or("", |command| command.get_name());
    let said = Diagnostic::error(format!("no such command: {verb} {word}"));
    let folded = word.to_ascii_lowercase();
    let same =
        TypedWords::all().find(|meant| meant.below == parent && meant.words().any(|word| word == folded));
    let said = match (same, path.last().and_then(|command| by_spelling(&folded, command))) {
        (Some(meant), _) => meant.help().fold(said, Diagnostic::help),
        (None, Some(near)) => said.help(format!("did you mean: {verb} {near}")),
        (None, None) => said,
    };
    said.help(format!("all commands: {verb} --help"))
}

fn by_spelling<'a>(word: &str, command: &'a Command) -> Option<&'a str> {
    let shown = || command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
    let takes_away = |name: &&str| TAKE_AWAY.contains(name);
    shown()
        .filter(takes_away)
        .find(|name| is_one_slip(word, name))
        .or_else(|| nearest(word, shown().filter(|name| !takes_away(name))))
}

fn text(err: &clap::Error, kind: ContextKind) -> Option<String> {
    match err.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::help::definition;

    fn said(words: &[&str]) -> Vec<String> {
        let args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let err = definition().try_get_matches_from(&args).unwrap_err();
        diagnostic(&err, &definition(), &args).unwrap().help
    }

    #[test]
    fn a_word_leads_to_the_command_that_does_it() {
        for (word, command) in [
            ("unhalt", "andon resume --reason"),
            ("ack", "andon resume --reason"),
            ("answer", "andon resume --reason"),
            ("Continue", "andon resume --reason"),
            ("run", "andon test"),
            ("tests", "andon test"),
            ("verify", "andon check"),
            ("init", "andon install"),
            ("setup", "andon install"),
            ("halt", "andon stop"),
            ("disable", "ANDON=0"),
            ("chekc", "andon check"),
            ("resum", "andon resume"),
            ("stat", "andon status"),
            ("uninstal", "andon uninstall"),
        ] {
            let help = said(&["andon", word]);
            assert!(help[0].contains(command), "{word}: {help:?}");
            assert_eq!(help.last().unwrap(), "all commands: andon --help");
        }
        assert!(said(&["andon", "agent", "instal"])[0].ends_with("andon agent install"));
        assert!(said(&["andon", "agent", "remove"])[0].ends_with("andon agent uninstall CLIENT"));
        assert!(said(&["andon", "--color", "never", "config", "get"])[0].contains("andon config show"));
    }

    #[test]
    fn spelling_alone_leads_to_nothing_unrelated_or_dangerous() {
        for word in ["unhealth", "unstall", "unins", "install-all", "prevent", "xyzzy", "re"] {
            let help = said(&["andon", word]).concat();
            assert!(!help.contains("uninstall"), "{word}: {help}");
        }
        assert_eq!(said(&["andon", "xyzzy"]), ["all commands: andon --help"]);
        assert!(!said(&["andon", "witness", "evoke-all"]).concat().contains("revoke"));
    }

    #[test]
    fn no_word_of_the_table_is_a_command_or_stands_there_twice() {
        let cli = definition();
        let mut seen = std::collections::BTreeSet::new();
        for meant in TypedWords::all() {
            let parent = if meant.below.is_empty() { Some(&cli) } else { cli.find_subcommand(meant.below) };
            let parent = parent.unwrap_or_else(|| panic!("no command {}", meant.below));
            for word in meant.words() {
                assert!(parent.find_subcommand(word).is_none(), "{word}");
                assert!(seen.insert((meant.below, word)), "{word}");
            }
        }
    }

    /// Each command that a hint names can be parsed, up to its placeholders.
    #[test]
    fn the_hints_name_commands_that_are_there() {
        let cli = definition();
        for help in TypedWords::all().flat_map(|meant| meant.help().collect::<Vec<_>>()) {
            let Some((_, words)) = help.split_once("andon ") else { continue };
            let first = words.split_whitespace().next().unwrap();
            assert!(first == "--version" || cli.find_subcommand(first).is_some(), "{help}");
        }
    }

    #[test]
    fn an_option_of_other_programs_leads_to_ours() {
        let cli = definition();
        for (words, expected) in [
            (&["andon", "status", "--json"][..], Some("andon status --format json")),
            (&["andon", "config", "show", "--json"], Some("andon config show --format json")),
            (
                &["andon", "resume", "it is fine"],
                Some("say why like this: andon resume --reason '<decision>'"),
            ),
            (&["andon", "stop", "-m", "x"], Some("say why like this: andon stop --reason '<decision>'")),
            (&["andon", "status", "--nonsense"], None),
        ] {
            let args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let err = definition().try_get_matches_from(&args).unwrap_err();
            assert_eq!(hint(&err, &cli, &args).as_deref(), expected, "{words:?}");
        }
    }
}
