//! Whether the program of `test.command` is there: the same look-up as when the tests run, without running anything.

use std::path::Path;

use crate::config::TestCommand;
use crate::engine::context::Context;

/// What the look-up found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestProgram {
    /// It is there, or only the shell knows: a builtin, a variable.
    There,
    /// Nothing of that name is there.
    Missing {
        /// The first word of the command.
        program: String,
        /// What to run instead, where the project has such a program.
        instead: Option<String>,
    },
}

/// Where projects keep programs that are on no search path, and what starts them.
const PLACES: [(&str, &str); 9] = [
    (".venv/bin/", ".venv/bin/"),
    (".venv/Scripts/", ".venv/Scripts/"),
    ("venv/bin/", "venv/bin/"),
    ("env/bin/", "env/bin/"),
    ("node_modules/.bin/", "npx "),
    ("vendor/bin/", "vendor/bin/"),
    ("bin/", "bin/"),
    ("scripts/", "scripts/"),
    ("", "./"),
];

/// Files that belong to a program which has an environment of its own, and what precedes a command there.
const ENVIRONMENTS: [(&str, &str); 5] = [
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("Pipfile", "pipenv run "),
    ("Gemfile.lock", "bundle exec "),
];

/// Words that a shell knows by itself.
const OF_SHELL: [&str; 40] = [
    "!", ".", ":", "[", "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for",
    "if", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "time", "times",
    "trap", "true", "type", "ulimit", "umask", "unset", "until", "wait", "while", "{", "alias", "local",
    "hash", "kill",
];

/// Looks for the program of `command` as it would be started in `top`.
pub fn look(ctx: &Context, top: &Path, command: &TestCommand) -> TestProgram {
    let Some(program) = first_word(command) else { return TestProgram::There };
    let there = |path: &str| top.join(path).is_file();
    let found = if program.contains('/') || cfg!(windows) && program.contains('\\') {
        there(program)
    } else {
        ctx.on_path(program).is_some() || cfg!(windows)
    };
    if found {
        return TestProgram::There;
    }
    let instead = instead(program, &there);
    TestProgram::Missing { program: program.to_owned(), instead }
}

/// The program, where the command says plainly which one it is.
fn first_word(command: &TestCommand) -> Option<&str> {
    match command {
        TestCommand::Argv(words) => words.first().map(String::as_str),
        TestCommand::Shell(line) => {
            let is_setting = |word: &&str| {
                word.split_once('=').is_some_and(|(name, _)| {
                    !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
                })
            };
            let word = line.split_whitespace().find(|word| !is_setting(word))?;
            let plain = word.chars().all(|one| one.is_alphanumeric() || "_-./+@".contains(one));
            (plain && !OF_SHELL.contains(&word)).then_some(word)
        }
    }
}

fn instead(program: &str, there: &dyn Fn(&str) -> bool) -> Option<String> {
    if program.contains('/') {
        return None;
    }
    let environment = ENVIRONMENTS.iter().find(|(lock, _)| there(lock));
    let place = || PLACES.iter().find(|(place, _)| there(&format!("{place}{program}")));
    environment.or_else(place).map(|(_, before)| format!("{before}{program}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_the_program_where_it_is_plain() {
        let table = [
            ("pytest -q", Some("pytest")),
            ("CI=1 FOO=b ./t.sh", Some("./t.sh")),
            ("cd web && npm test", None),
            ("$RUNNER x", None),
            ("(cd a; make)", None),
            ("\"my tests\"", None),
            ("", None),
        ];
        for (line, word) in table {
            assert_eq!(first_word(&TestCommand::Shell(line.to_owned())), word, "{line}");
        }
    }

    #[test]
    fn the_project_may_have_it_elsewhere() {
        let with = |files: &'static [&str]| move |path: &str| files.contains(&path);
        assert_eq!(instead("pytest", &with(&[".venv/bin/pytest"])).as_deref(), Some(".venv/bin/pytest"));
        assert_eq!(
            instead("pytest", &with(&["uv.lock", ".venv/bin/pytest"])).as_deref(),
            Some("uv run pytest")
        );
        assert_eq!(instead("jest", &with(&["node_modules/.bin/jest"])).as_deref(), Some("npx jest"));
        assert_eq!(instead("t.sh", &with(&["t.sh"])).as_deref(), Some("./t.sh"));
        assert_eq!(instead("pytest", &with(&[])), None);
    }
}
