//! Arguments for the configured test command: `andon test -k name`.

use andon_config::TestCommand;
use andon_core::escape::shell_quote;
use andon_engine::error::OpsError;

/// Programs that take arguments for what they start behind `--`.
const BEHIND_DASHES: [&str; 3] = ["npm", "tox", "nox"];

/// The command with these arguments at its end.
///
/// # Errors
/// Where it is a line of several commands, it is unknown which of them is meant. Where the arguments begin with the
/// command's own program.
pub fn added(command: &TestCommand, arguments: Vec<String>) -> Result<TestCommand, OpsError> {
    let words: Vec<String> = match command {
        TestCommand::Shell(line) if is_compound(line) => {
            return Err(OpsError::Usage {
                what: format!(
                    "arguments cannot be added to test.command, which is more than one command: {line}"
                ),
                help: "name the command to run: andon test -- COMMAND".to_owned(),
            });
        }
        TestCommand::Shell(line) => line.split_whitespace().map(str::to_owned).collect(),
        TestCommand::Argv(words) => words.clone(),
    };
    if arguments.first().is_some_and(|first| words.first() == Some(first)) {
        return Err(OpsError::Usage {
            what: "these words are added to test.command as arguments".to_owned(),
            help: format!("to run another command: andon test -- {}", quoted(&arguments)),
        });
    }
    let dashes = needs_dashes(&words) && arguments.first().is_none_or(|first| first != "--");
    Ok(match command {
        TestCommand::Shell(line) => {
            let dashes = if dashes { " --" } else { "" };
            TestCommand::Shell(format!("{}{dashes} {}", line.trim_end(), quoted(&arguments)))
        }
        TestCommand::Argv(words) => {
            let dashes = dashes.then(|| "--".to_owned());
            TestCommand::Argv(words.iter().cloned().chain(dashes).chain(arguments).collect())
        }
    })
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")
}

fn needs_dashes(words: &[String]) -> bool {
    let program = words.first().and_then(|first| first.rsplit(['/', '\\']).next()).unwrap_or_default();
    let program = program.strip_suffix(".cmd").unwrap_or(program);
    BEHIND_DASHES.contains(&program) && !words.iter().any(|word| word == "--")
}

/// Whether a line for `sh` is more than one command with its arguments.
fn is_compound(line: &str) -> bool {
    let (mut quote, mut chars) = (None, line.trim().chars());
    while let Some(one) = chars.next() {
        match (quote, one) {
            (None, '|' | '&' | ';' | '<' | '>' | '\n' | '#' | '`') => return true,
            (None, '\'' | '"') => quote = Some(one),
            (Some(open), _) if open == one => quote = None,
            (None | Some('"'), '\\') => {
                chars.next();
            }
            _ => {}
        }
    }
    quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn arguments_stand_where_the_runner_reads_them() {
        let shell = |line: &str| TestCommand::Shell(line.to_owned());
        let table = [
            (shell("pytest -q"), "-k name", Some("pytest -q -k name")),
            (shell("pytest -q"), "tests/a.py", Some("pytest -q tests/a.py")),
            (shell("npm test"), "-t adds", Some("npm test -- -t adds")),
            (shell("npm test -- --ci"), "-t adds", Some("npm test -- --ci -t adds")),
            (shell("npm test"), "-- -t adds", Some("npm test -- -t adds")),
            (shell("FOO='a;b' pytest"), "-x", Some("FOO='a;b' pytest -x")),
            (shell("pytest -k 'a b'"), "it's", Some("pytest -k 'a b' 'it'\\''s'")),
            (TestCommand::Argv(words("cargo test")), "parse", Some("cargo test parse")),
            (TestCommand::Argv(words("npm test")), "-t adds", Some("npm test -- -t adds")),
            (shell("ruff check && pytest"), "-x", None),
            (shell("pytest | tail"), "-x", None),
            (shell("pytest"), "pytest -x", None),
        ];
        for (command, arguments, expected) in table {
            let added = added(&command, words(arguments)).ok();
            assert_eq!(added.map(|one| one.display()).as_deref(), expected, "{arguments}");
        }
    }
}
