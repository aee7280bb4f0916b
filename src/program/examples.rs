//! How each command is used, and how it ends: what a manual and the reference say beyond its options.

/// Commands as they are typed, each with what for. The words before the options are the command.
const EXAMPLES: &[(&str, &str)] = &[
    ("andon install", "Guard this repository."),
    ("andon install --dry-run", "Show what would be written."),
    ("andon uninstall", "Take the hooks out again."),
    ("andon doctor", "Find what is missing or open."),
    ("andon doctor --live", "Start the hook of each client of agents, as it would."),
    ("andon agent install claude", "Have the hooks of Claude Code report to Andon."),
    ("andon agent list", "See which of the clients' hooks are live."),
    (
        "andon agent run claude -- -p 'go on'",
        "Start a client unless the loop is halted; for a `while` in the shell.",
    ),
    ("andon config show test", "The values of one section, and where each comes from."),
    ("andon config check", "Find mistakes in andon.toml."),
    ("andon pin", "Pin the agent's own configuration."),
    ("andon demo", "See a loop, its halt and its answer."),
    ("andon test", "Run the configured tests and keep the evidence."),
    ("andon test core", "Run the tests of the scope core."),
    ("andon test -- pytest -k name", "Run another command; it proves nothing."),
    ("andon complete", "Ask whether the task is done."),
    ("andon status", "See what is stuck, why and since when."),
    ("andon status --exit-code", "The same for a script: 1 while a person is needed."),
    ("andon watch --once", "All worktrees in one table."),
    ("andon log --events", "What was refused, skipped, halted and answered."),
    ("andon show HEAD~1", "The record of the commit before."),
    ("andon report main..HEAD -o report.html", "A page of what a branch went through."),
    ("andon explain report.xml", "See what a test report is read as."),
    ("andon resume --reason 'keep the cache, drop the retry'", "Answer a halt with what was decided."),
    ("andon resume --mistaken --reason 'the data is refreshed each hour'", "Say that the halt was wrong."),
    ("andon stop --reason 'look at the migration first'", "Halt the loop by hand."),
    ("andon advise", "Show who can help."),
    ("andon check --test origin/main..HEAD", "Judge a pull request, and run its tests."),
    ("andon check origin/main..HEAD --format sarif=andon.sarif", "Write a file for code scanning as well."),
    ("andon export --csv main..HEAD -o loop.csv", "The records as a table."),
    ("andon sync", "Exchange records and halts with the remote."),
    ("andon sync --fetch-only --bundle records.bundle", "Take records in from a file."),
    ("andon replay main~200..main", "See where these commits would have halted."),
    ("andon calibrate main~2000..main --alpha 0.05", "Choose thresholds from your own history."),
    ("andon backfill main~100..main", "Give older commits a record."),
    ("andon tick", "End a turn, in the script of a loop."),
    ("andon context --gate", "Refuse a tool call while the context window is full."),
    ("andon completions zsh", "Print the completions of zsh."),
    ("andon man check", "Print the page of andon check."),
    ("andon man --all man1", "Write all pages into the folder man1."),
];

/// How commands end that do not end as all others do.
const EXIT_STATUS: &[(&str, &str)] = &[
    ("andon test", "That of the test command; 2 when none is configured."),
    (
        "andon check",
        "1 for a violation; 3 for missing evidence: a shallow or partial clone, notes that were not fetched, a commit \
         without a record; 2 for an empty or reversed range. With --test also 1 when the tests of the tip fail, 3 when \
         not one ran, and 2 when the checkout is not the code of the tip.",
    ),
    (
        "andon complete",
        "1 when something is open or the loop is halted; 3 when not one test ran, or when no test command is configured and \
         tests are asked for.",
    ),
    (
        "andon status",
        "2 when the configuration cannot be read. With --exit-code 1 while the loop is halted, stopped or paused, and 5 while \
         only a round waits for a person.",
    ),
    (
        "andon tick",
        "1 when the loop must stop; 4 when the context window must be compacted before the next turn.",
    ),
    (
        "andon observe",
        "1 when the loop must stop; 4 when the context window must be compacted first; 2 when a line is no fact.",
    ),
    ("andon context", "1 when a new turn must not begin; with --gate, at the hard block only."),
    (
        "andon sync",
        "0 when both sides agree; 1 when the remote refuses a ref or a ledger was rewritten; 3 when it was not \
         reached.",
    ),
    ("andon pin", "With --check 1 when something differs or nothing is pinned."),
    (
        "andon install",
        "2 when a file could not be edited safely, and the lines to add are printed; 2 when the hook manager does not start Andon yet.",
    ),
    ("andon review simulate", "0 also with invalid entries; 2 for a line that is no entry."),
    ("andon replay", "After Ctrl-C 3 where it would have been 0."),
    ("andon backfill", "After Ctrl-C 3 where it would have been 0."),
];

/// The examples of the command with these words.
pub fn for_command(title: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let title = title.to_owned();
    EXAMPLES.iter().copied().filter(move |(command, _)| {
        let rest = command.strip_prefix(&title);
        let is_own = title != "andon" && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        is_own || title == "andon" && FIRST.contains(command)
    })
}

/// What the page of the program shows.
const FIRST: &[&str] = &[
    "andon install",
    "andon test",
    "andon status",
    "andon resume --reason 'keep the cache, drop the retry'",
    "andon check --test origin/main..HEAD",
];

/// How the command with these words ends, where that is special.
pub fn exit_status(title: &str) -> Option<&'static str> {
    EXIT_STATUS.iter().find(|(command, _)| *command == title).map(|(_, what)| *what)
}

/// Commands whose exit codes are special, with what they mean.
pub fn exit_statuses() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXIT_STATUS.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{help, manual};

    #[test]
    fn each_example_is_a_command_line() {
        for (command, _) in EXAMPLES {
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
        for (title, _) in EXIT_STATUS {
            assert!(titles.iter().any(|known| known == title), "{title}");
        }
        assert!(FIRST.iter().all(|one| EXAMPLES.iter().any(|(command, _)| command == one)));
        assert_eq!(for_command("andon").count(), FIRST.len());
        assert!(for_command("andon test").count() >= 3);
    }
}
