//! docs/cli/ has a page for each command, from the definitions of `--help`.

use std::{collections::BTreeMap, fmt::Write as _};

use andon::program::examples;
use andon::program::manual::{ManualPage, pages};
use clap::{Arg, Command};

use super::{BEGIN, cell, compare, compare_folder, filled};
use andon_core::detect::REGISTRY;

#[test]
fn the_reference_of_commands_is_current() {
    let mut index = String::from("\n| command | what it does |\n|---|---|\n");
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for page in pages() {
        let words: Vec<&str> = page.title.split(' ').skip(1).collect();
        let Some(verb) = words.first() else { continue };
        let text = files.entry(format!("{verb}.md")).or_default();
        if words.len() == 1 {
            writeln!(index, "| [`{}`](cli/{verb}.md) | {} |", page.title, cell(&about(&page.command)))
                .unwrap();
            write!(text, "# `{}`\n\n{BEGIN}\n", page.title).unwrap();
        } else {
            write!(text, "\n{} `{}`\n\n", "#".repeat(words.len()), page.title).unwrap();
        }
        text.push_str(&described(&page));
    }
    compare("docs/cli.md", &index);
    summarize(files.keys());
    compare_folder("docs/cli", &files);
}

/// The part of the table of contents with a line for each page that is generated.
fn summarize<'a>(verbs: impl Iterator<Item = &'a String>) {
    let mut text = String::from("\n- [Commands](cli.md)\n");
    for verb in verbs {
        let name = verb.trim_end_matches(".md");
        writeln!(text, "  - [andon {name}](cli/{verb})").unwrap();
    }
    text.push_str("- [Rules](rules.md)\n");
    for rule in REGISTRY {
        writeln!(text, "  - [{0}](rules/{0}.md)", rule.id).unwrap();
    }
    compare("docs/SUMMARY.md", &text);
}

fn described(page: &ManualPage) -> String {
    let (command, title) = (&page.command, &page.title);
    let usage = command.clone().bin_name(title.as_str()).render_usage().to_string();
    let mut text = format!(
        "{}.\n\n```text\n{}\n```\n",
        filled(&prose(&about(command))),
        usage.trim_start_matches("Usage: ")
    );
    let shown =
        |one: &&Arg| !one.is_hide_set() && !["help", "version", "color"].contains(&one.get_id().as_str());
    let (words, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(shown).partition(|one| one.is_positional());
    for (name, rows) in [("argument", words), ("option", options)] {
        if !rows.is_empty() {
            write!(text, "\n| {name} | meaning |\n|---|---|\n").unwrap();
        }
        for row in rows {
            writeln!(text, "| {} | {} |", cell(&written(row)), cell(&prose(&meaning(row)))).unwrap();
        }
    }
    if let Some(notes) = command.get_after_help() {
        text.push_str(&notes_of(&notes.to_string()));
    }
    if let Some(codes) = examples::exit_status(title) {
        writeln!(text, "\n[Exit code](../exit-codes.md): {}", prose(codes)).unwrap();
    }
    let shown: Vec<_> =
        examples::for_command(title).filter(|(line, _)| !of_a_command_below(command, title, line)).collect();
    if !shown.is_empty() {
        text.push_str("\n```sh\n");
        for (line, what) in shown {
            writeln!(text, "{line}   # {what}").unwrap();
        }
        text.push_str("```\n");
    }
    text
}

/// Whether an example is one of a command below this one, which shows it.
fn of_a_command_below(command: &Command, title: &str, line: &str) -> bool {
    let next = line.strip_prefix(title).and_then(|rest| rest.split_whitespace().next());
    next.is_some_and(|next| command.find_subcommand(next).is_some())
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// An argument or option as it is typed.
fn written(arg: &Arg) -> String {
    let value = arg.to_string();
    match (arg.get_short(), arg.is_positional()) {
        (Some(short), false) => format!("`-{short}`, `{value}`"),
        _ => format!("`{value}`"),
    }
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() && arg.get_num_args().is_some_and(|count| count.takes_values()) {
        write!(text, ". One of {}", values.join(", ")).unwrap();
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        write!(text, " (default {})", defaults.join(", ")).unwrap();
    }
    text
}

/// The text behind the options: paragraphs, and what is indented as it is.
fn notes_of(notes: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in notes.lines() {
        let indented = line.starts_with(' ');
        if indented != is_code {
            text.push_str(if indented { "\n```text\n" } else { "```\n" });
            is_code = indented;
        }
        if indented {
            writeln!(text, "{}", line.trim_start()).unwrap();
        } else if !line.is_empty() {
            write!(text, "\n{}\n", filled(&prose(line))).unwrap();
        }
    }
    if is_code {
        text.push_str("```\n");
    }
    text
}

/// A text of `--help` as Markdown: `<NAME>` outside of code is no tag, and a fence within a sentence is none.
fn prose(text: &str) -> String {
    let text = text.replace("```json", "`json`");
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(n, part)| if n % 2 == 0 { part.replace('<', "\\<") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}
