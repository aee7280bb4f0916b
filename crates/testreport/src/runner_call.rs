//! A runner that a command starts, as far as its words show it, and what it then has to say.
//!
//! A test that ends the process with 0 leaves an exit code of 0 and, with many runners, no word. Only who knows that the
//! runner was started misses its summary: the caller reads that off the command, or off the processes below it.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::command_words::{innermost, program_name};
use crate::{Stream, WordList, words::RUNNERS};

/// A runner by its name in evidence: one that ends with a summary, or another one that was asked for a list or a rehearsal, or
/// that a script starts in itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownRunner(pub &'static str);

impl KnownRunner {
    /// The values that its words have in rows of that kind, in `runners.txt`.
    pub fn rows(self, kind: &'static str) -> impl Iterator<Item = &'static str> + Clone {
        static SECTIONS: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
            RUNNERS.split("\n=== ").filter_map(|section| section.split_once('\n')).collect()
        });
        let rows = WordList(SECTIONS.get(self.0).copied().unwrap_or_default()).iter();
        rows.filter_map(|row| row.split_once(' '))
            .filter(move |(known, _)| *known == kind)
            .map(|(_, value)| value)
    }

    /// The runner that words start, also where that is no call that says something: `go test`.
    pub fn of_words(words: &[&str]) -> Option<Self> {
        let called = RunnerCall::of_words(words).map(|call| call.runner);
        let is_go = || innermost(words).first().is_some_and(|program| program_name(program) == "go");
        called.or_else(|| is_go().then_some(Self("go")))
    }

    /// The variables that add words to its own, or lead to files that do.
    pub fn variables(self) -> impl Iterator<Item = &'static str> + Clone {
        let of_files = self.rows("user").map(|row| row.split(' ').next().unwrap_or(row));
        self.rows("variable").chain(of_files)
    }

    /// True for a word that has it run no test: `--dry-run`.
    pub fn is_idle(self, word: &str) -> bool {
        self.has("idle", word)
    }

    /// True for one that ends with a summary, if nothing asks for another end.
    pub fn is_known(self) -> bool {
        KNOWN.contains(self.0)
    }

    fn has(self, kind: &'static str, word: &str) -> bool {
        self.is_known() && self.rows(kind).any(|known| known == word)
    }

    /// The stream of its summary.
    pub fn stream(self) -> Stream {
        if self.has("stream", "stderr") { Stream::Stderr } else { Stream::Stdout }
    }
}

/// The promise of a runner by the words that it was called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// It ends with its summary.
    Summary,
    /// It may end without a word that is known: it has another reporter.
    Nothing,
    /// It runs no test (`--collect-only`, `--dry-run`).
    NoTest,
}

/// A call of a known runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunnerCall {
    /// The runner.
    pub runner: KnownRunner,
    /// Its promise.
    pub promise: Promise,
}

impl RunnerCall {
    /// The call that the words of one program make, wrappers such as `env`, `npx` and `uv run` before it; `None` where the
    /// program is no known runner.
    pub fn of_words(words: &[&str]) -> Option<Self> {
        let (runner, arguments) = find(words, 0)?;
        Some(Self { runner, promise: promise(runner, arguments) })
    }
}

/// Runners that end with a summary.
pub(crate) const KNOWN: WordList = WordList::section(RUNNERS, "runners that end with a summary");

/// Wrappers within each other that are followed.
const MAX_DEPTH: usize = 6;

/// Programs that start another one by one of these commands of theirs, or whatever follows.
const LAUNCHERS: WordList = WordList::section(RUNNERS, "launchers");

fn find<'a, 'w>(words: &'w [&'a str], depth: usize) -> Option<(KnownRunner, &'w [&'a str])> {
    let (word, rest) = innermost(words).split_first()?;
    if depth > MAX_DEPTH {
        return None;
    }
    let name = program_name(word);
    if let Some(runner) = by_name(name) {
        return Some((runner, rest));
    }
    if let Some(runner) = idle(name, rest) {
        return Some((KnownRunner(runner), rest));
    }
    if name.starts_with("python") || name.starts_with("pypy") {
        return of_python(rest, depth);
    }
    if matches!(name, "node" | "nodejs" | "ruby") {
        return of_script(rest);
    }
    if name == "coverage" {
        return of_python(rest.strip_prefix(&["run"])?, depth);
    }
    let commands = LAUNCHERS.iter().find_map(|row| {
        let mut words = row.split(' ');
        (words.next() == Some(name)).then_some(words)
    });
    let mut commands = commands?.peekable();
    // `yarn jest` and `pnpm jest` need no command.
    let any = commands.peek().is_none() || matches!(name, "yarn" | "pnpm");
    match rest.split_first() {
        Some((command, rest)) if commands.any(|known| known == *command) => {
            find(behind_options(rest), depth + 1)
        }
        _ if any => find(behind_options(rest), depth + 1),
        _ => None,
    }
}

fn by_name(name: &str) -> Option<KnownRunner> {
    KNOWN.iter().map(KnownRunner).find(|runner| runner.has("name", name))
}

/// Calls that run no test: the program, its name in evidence, its command (`-` for none), and what asks for that.
const IDLE: WordList = WordList::section(RUNNERS, "idle calls");

/// The runner, where its arguments ask for no test.
fn idle(program: &str, arguments: &[&str]) -> Option<&'static str> {
    if program == "cargo" && arguments.starts_with(&["nextest", "list"]) {
        return Some("nextest");
    }
    let has = |option: &str, values: &[&str]| {
        let given = |value: &str| values.contains(&value);
        arguments.windows(2).any(|two| two[0] == option && given(two[1]))
            || arguments.iter().any(|one| {
                one.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')).is_some_and(given)
            })
    };
    if program == "go"
        && (has("-exec", &["true", "/bin/true", ":", "echo"]) || has("-run", &["^$", "NONE", "XXX"]))
    {
        return Some("go");
    }
    IDLE.iter().find_map(|row| {
        let mut words = row.split(' ');
        let (known, name, command) = (words.next()?, words.next()?, words.next()?);
        let called = known == program && (command == "-" || arguments.first() == Some(&command));
        let given = |flag| arguments.iter().any(|argument| argument.split('=').next() == Some(flag));
        (called && words.any(given)).then_some(name)
    })
}

fn behind_options<'a, 'w>(words: &'w [&'a str]) -> &'w [&'a str] {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    words.get(options..).unwrap_or_default()
}

/// The runner that `python` starts: a module or a script.
fn of_python<'a, 'w>(mut words: &'w [&'a str], depth: usize) -> Option<(KnownRunner, &'w [&'a str])> {
    loop {
        let (word, rest) = words.split_first()?;
        words = match *word {
            "-m" => {
                let (module, rest) = rest.split_first()?;
                return match *module {
                    "pytest" | "py.test" => Some((KnownRunner("pytest"), rest)),
                    "unittest" => Some((KnownRunner("unittest"), rest)),
                    "coverage" if depth <= MAX_DEPTH => of_python(rest.strip_prefix(&["run"])?, depth + 1),
                    _ => None,
                };
            }
            "-X" | "-W" => rest.get(1..)?,
            "-c" | "-" => return None,
            option if option.starts_with('-') => rest,
            _ => return of_script(words),
        };
    }
}

/// The runner that an interpreter starts: the script that is the runner itself.
fn of_script<'a, 'w>(mut words: &'w [&'a str]) -> Option<(KnownRunner, &'w [&'a str])> {
    loop {
        let (word, rest) = words.split_first()?;
        words = match *word {
            "-r" | "--require" | "--import" | "--loader" | "--experimental-loader" | "-C" => rest.get(1..)?,
            "-e" | "-p" | "--eval" | "--print" | "--test" => return None,
            option if option.starts_with('-') => rest,
            script => {
                return by_name(program_name(script)).map(|runner| (runner, rest));
            }
        };
    }
}

fn promise(runner: KnownRunner, arguments: &[&str]) -> Promise {
    let any = |kind: &'static str| arguments.iter().any(|argument| runner.has(kind, argument));
    let name = |argument: &&str| runner.has("valued", argument.split('=').next().unwrap_or(argument));
    if !runner.is_known() || arguments.iter().any(|argument| runner.is_idle(argument)) {
        Promise::NoTest
    } else if any("other") || arguments.iter().any(name) || has_other_reporter(runner, arguments) {
        Promise::Nothing
    } else {
        Promise::Summary
    }
}

/// True where a reporter is named that ends otherwise than in the runner's usual summary.
fn has_other_reporter(runner: KnownRunner, arguments: &[&str]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some((name, value)) if runner.has("option", name) => value,
            _ if runner.has("option", argument) => arguments.next().copied().unwrap_or_default(),
            _ => continue,
        };
        if !runner.has("reporter", value) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_by_its_program_and_not_by_its_words() {
        let table: &[(&str, Option<&str>)] = &[
            ("pytest -q", Some("pytest")),
            ("/venv/bin/python3 /venv/bin/pytest -q", Some("pytest")),
            ("python -X dev -m pytest tests", Some("pytest")),
            ("python3.11 -m coverage run -m pytest", Some("pytest")),
            ("coverage run --branch -m unittest discover", Some("unittest")),
            ("CI=1 env A=b timeout 60 uv run pytest", Some("pytest")),
            ("sudo -u ann ionice -c 3 setsid chronic pytest", Some("pytest")),
            ("poetry run python -m unittest", Some("unittest")),
            ("npx jest --ci", Some("jest")),
            ("yarn jest", Some("jest")),
            ("node --experimental-vm-modules node_modules/jest/bin/jest.js", Some("jest")),
            ("node -r ts-node/register node_modules/.bin/mocha t", Some("mocha")),
            ("nyc --all mocha", Some("mocha")),
            ("bundle exec rspec", Some("rspec")),
            ("cargo test -- --list", Some("cargo")),
            ("go test -list=. ./...", Some("go")),
            ("npx vitest list", Some("vitest")),
            ("node node_modules/vitest/vitest.mjs run", Some("vitest")),
            ("cargo nextest list", Some("nextest")),
            ("cargo nextest run list", None),
            ("cargo test list", None),
            ("cargo test --no-run", None),
            ("go test ./...", None),
            ("go test -exec true ./...", Some("go")),
            ("go test -run=^$ -bench . ./...", Some("go")),
            ("go test -run TestA -exec sudo ./...", None),
            ("make test", None),
            ("echo pytest", None),
            ("python run_pytest.py", None),
            ("python -c 'import pytest'", None),
            ("python -m pytest_watch", None),
            ("node --test jest.js", None),
            ("docker run x pytest", None),
            ("git log mocha", None),
            ("sh pytest.sh", None),
            ("yarn test", None),
            ("", None),
        ];
        for (line, runner) in table {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(RunnerCall::of_words(&words).map(|call| call.runner.0), *runner, "{line}");
        }
    }

    #[test]
    fn options_tell_what_it_will_say() {
        use Promise::{NoTest, Nothing, Summary};
        for (line, promise) in [
            ("pytest -q", Summary),
            ("pytest -q -v -q", Summary),
            ("pytest -qq", Summary),
            ("pytest -p no:terminal", Summary),
            ("pytest --co -q", NoTest),
            ("jest --silent", Summary),
            ("jest --reporters=dot", Nothing),
            ("jest -o", Nothing),
            ("jest --listTests", NoTest),
            ("mocha -R dot", Summary),
            ("mocha --reporter=json", Nothing),
            ("mocha --reporter mochawesome", Nothing),
            ("mocha --dry-run", NoTest),
            ("vitest run", Summary),
            ("vitest run --reporter=verbose", Summary),
            ("vitest run --reporter=default --reporter=junit", Nothing),
            ("vitest bench", Nothing),
            ("vitest list", NoTest),
            ("rspec -f json", Nothing),
            ("rspec --format documentation", Summary),
            ("rspec --dry-run", NoTest),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(RunnerCall::of_words(&words).map(|call| call.promise), Some(promise), "{line}");
        }
    }
}
