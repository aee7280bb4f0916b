//! Examples and exit codes of each command: a manual and the reference show them beside its options.

use testreport::WordList;

/// The tables of `commands.txt`.
pub(super) const TABLES: &str = include_str!("commands.txt");

/// Commands as they are typed, each with what for. The words before the options are the command.
const EXAMPLES: WordList = WordList::section(TABLES, "examples");

/// Exit codes of commands that do not end as all others do.
const EXIT_STATUS: WordList = WordList::section(TABLES, "exit status");

/// The rows of a table with two columns.
pub(super) fn rows(table: WordList) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.iter().filter_map(|row| row.split_once(" | "))
}

/// The examples of the command with these words.
pub fn for_command(title: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let title = title.to_owned();
    rows(EXAMPLES).filter(move |(command, _)| {
        let rest = command.strip_prefix(&title);
        let is_own = title != "andon" && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        is_own || title == "andon" && FIRST.contains(command)
    })
}

/// The examples on the page of the program itself.
const FIRST: &[&str] = &[
    "andon install",
    "andon test",
    "andon status",
    "andon resume --reason 'keep the cache, drop the retry'",
    "andon check --test origin/main..HEAD",
];

/// The exit codes of the command with these words, where they are special.
pub fn exit_status(title: &str) -> Option<&'static str> {
    rows(EXIT_STATUS).find(|(command, _)| *command == title).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{help, manual};

    #[test]
    fn each_example_is_a_command_line() {
        for (command, _) in rows(EXAMPLES) {
            let mut words = Vec::new();
            // Quoted words are single ones here.
            for (number, part) in command.split('\'').enumerate() {
                if number % 2 == 1 {
                    words.push(part.to_owned());
                } else {
                    words.extend(part.split_whitespace().map(str::to_owned));
                }
            }
            if let Err(err) = help::command(None).try_get_matches_from(words) {
                panic!("{command}: {err}");
            }
        }
    }

    #[test]
    fn what_has_an_example_or_a_code_is_a_command() {
        let titles: Vec<String> = manual::pages().into_iter().map(|page| page.title).collect();
        for (title, _) in rows(EXIT_STATUS) {
            assert!(titles.iter().any(|known| known == title), "{title}");
        }
        assert!(FIRST.iter().all(|one| rows(EXAMPLES).any(|(command, _)| command == *one)));
        assert_eq!(for_command("andon").count(), FIRST.len());
        assert!(for_command("andon test").count() >= 3);
    }
}
