//! The command line as a whole, and its help: the list of commands in groups, as `andon --help` shows it; and the definitions
//! from which completions and manual pages are made.

use std::{convert, ffi::OsString, fmt::Write as _};

use clap::{Command, CommandFactory as _, Parser, ValueEnum as _};

use crate::cli::{ColorChoice, args::noted};
use crate::verbs::{Command as Verb, GROUPS, arguments_of};

/// A circuit breaker for coding loops: records every commit in git notes, refuses code whose tests never ran on
/// exactly that code, and halts a loop that no longer makes progress until a person answers.
#[derive(Debug, Parser)]
#[command(name = "andon", version, max_term_width = 100)]
pub struct Cli {
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: ColorChoice,

    /// Command to run
    #[command(subcommand)]
    pub command: Verb,
}

/// The choice of `--color`, for messages about arguments that could not be parsed.
pub fn color(args: &[OsString]) -> ColorChoice {
    let mut args = args.iter().filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--");
    let mut choice = ColorChoice::Auto;
    while let Some(arg) = args.next() {
        let value = if arg == "--color" { args.next() } else { arg.strip_prefix("--color=") };
        choice = value.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or(choice);
    }
    choice
}

/// Widest text; wider lines are hard to read.
const MAX_COLUMNS: usize = 100;
/// Columns before what a command does.
const INDENT: usize = 15;

/// The command line for reading arguments. Only the verb that is asked for gets its own: to define those of all takes longer than
/// most verbs do.
pub fn reader() -> Command {
    Cli::command().mut_subcommands(|verb| match arguments_of(verb.get_name()) {
        Some(arguments) => verb.defer(arguments),
        None => verb,
    })
}

/// The command line for showing help: with its commands in groups, wrapped at `columns`.
pub fn command(columns: Option<usize>) -> Command {
    let columns = columns.unwrap_or(MAX_COLUMNS).min(MAX_COLUMNS);
    let cli = noted(reader(), "andon").term_width(columns);
    let header = cli.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{header}Options:{header:#}\n{{options}}{{after-help}}",
        grouped(&cli, columns)
    );
    cli.help_template(template)
}

fn grouped(cli: &Command, columns: usize) -> String {
    let mut text = String::new();
    // clap takes the codes out again where there is no colour.
    let (header, literal) = (cli.get_styles().get_header(), cli.get_styles().get_literal());
    for (title, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names.iter().map(|name| name.to_ascii_lowercase()) {
            let command = cli.find_subcommand(&name);
            let about = command.and_then(Command::get_about).map(ToString::to_string);
            let alias = command.and_then(|command| command.get_visible_aliases().next());
            let about = about.map(|about| match alias {
                Some(alias) => format!("{about} (short: andon {alias})"),
                None => about,
            });
            let indent = " ".repeat(INDENT);
            let options = textwrap::Options::new(columns).initial_indent(&indent).subsequent_indent(&indent);
            let about = textwrap::fill(&about.unwrap_or_default(), options);
            let padded = format!("{literal}{name}{literal:#}{:width$}", "", width = INDENT - 2 - name.len());
            let _ = writeln!(text, "  {padded}{}", about.trim_start());
        }
        text.push('\n');
    }
    text
}

/// All that is defined of the command line, for what is generated from it.
pub fn definition() -> Command {
    noted(Cli::command(), "andon").mut_subcommands(|verb| match arguments_of(verb.get_name()) {
        Some(arguments) => arguments(verb).defer(convert::identity),
        None => verb,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_stands_in_one_group() {
        let shown: Vec<String> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().map(|name| name.to_ascii_lowercase())).collect();
        let cli = Cli::command();
        let all: BTreeSet<String> = cli
            .get_subcommands()
            .filter(|one| !one.is_hide_set())
            .map(|one| one.get_name().to_owned())
            .collect();
        assert_eq!(shown.len(), all.len());
        assert_eq!(shown.into_iter().collect::<BTreeSet<_>>(), all);
    }

    #[test]
    fn help_keeps_to_the_width() {
        for columns in [60, 80, 100] {
            let help = command(Some(columns)).render_help().to_string();
            for line in help.lines() {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
            assert_eq!(help.matches("--color").count(), 1, "{help}");
        }
    }

    #[test]
    fn a_sentence_of_a_command_is_broken_by_the_terminal_alone() {
        let mut cli = definition();
        let help = cli.find_subcommand_mut("observe").unwrap().render_help().to_string();
        assert!(
            help.contains("A line with an unknown member is refused")
                || help.contains("A line\nwith an unknown member is refused"),
            "{help}"
        );
    }
}
