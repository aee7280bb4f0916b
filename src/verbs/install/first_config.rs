//! The first `andon.toml`, with what is guessed of the tests.

use std::path::Path;

use andon_config as config;
use andon_core::domain::Scope;
use andon_engine::{evidence::test_guess, guess::Guess, guess::members::ProposedScope};

/// The `andon.toml` that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstConfig {
    /// The test command where it is sure; else the things that were seen.
    pub guess: Guess,
    /// The number of parts of the code that got tests of their own.
    pub scopes: usize,
}

/// The guess, the number of scopes, and the text of the file.
pub(super) fn first_config(top: &Path) -> (FirstConfig, String) {
    let guess = test_guess::in_directory(top);
    let mut text = with_format(with_doubt(config::template(guess.command()), &guess), &guess);
    // Without tests there is nothing that a scope could run.
    let has_tests = !matches!(guess, Guess::Compiles(_));
    let scopes = if has_tests { test_guess::scopes(top) } else { Vec::new() };
    if !scopes.is_empty() {
        text.push_str("\n# What the manifests say: a commit needs the tests of what it touches (andon test --scopes).\n");
    }
    text.extend(scopes.iter().map(of_scope));
    (FirstConfig { guess, scopes: scopes.len() }, text)
}

fn of_scope(proposed: &ProposedScope) -> String {
    let list = |texts: &[String]| toml::Value::from(texts.to_vec());
    let Scope { name, paths, needs } = &proposed.scope;
    let needs = if needs.is_empty() { String::new() } else { format!("needs = {}\n", list(needs)) };
    let (paths, command) = (list(paths), toml::Value::from(proposed.command.as_str()));
    format!("[test.scopes.{name}]\npaths = {paths}\n{needs}command = {command}\n")
}

/// The file with the line that asks for the exit code alone, where the command names no test.
fn with_format(text: String, guess: &Guess) -> String {
    let (candidate, open) = match guess {
        Guess::Sure(candidate) => (candidate, ""),
        Guess::Compiles(check) => (check, "# "),
        Guess::Unsure { .. } | Guess::None => return text,
    };
    if !candidate.names_no_test() {
        return text;
    }
    let exit = format!(
        "{open}format = \"exit\"  # {} names no test: its exit code is all there is to know",
        candidate.command
    );
    let is_command = |line: &&str| line.trim_start_matches("# ").starts_with("command = ");
    text.lines()
        .flat_map(|line| {
            [line, "\n"]
                .into_iter()
                .chain(is_command(&line).then_some([exit.as_str(), "\n"]).into_iter().flatten())
        })
        .collect()
}

/// The file with the doubt about the test command behind the line that leaves it open.
fn with_doubt(text: String, guess: &Guess) -> String {
    let command = match guess {
        Guess::Unsure { candidates, .. } => {
            candidates.first().map_or("make test", |candidate| candidate.command.as_str())
        }
        Guess::Compiles(check) => check.command.as_str(),
        Guess::Sure(_) | Guess::None => return text,
    };
    let doubt = guess.doubt().unwrap_or_default();
    let open = format!("# command = {}  # {doubt}", toml::Value::from(command));
    let lines = text.lines().map(|line| if line.starts_with("# command = ") { open.as_str() } else { line });
    lines.flat_map(|line| [line, "\n"]).collect()
}
