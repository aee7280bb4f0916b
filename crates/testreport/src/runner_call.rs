//! A runner that a command starts, as far as its words show it, and what it then has to say.
//!
//! A test that ends the process with 0 leaves an exit code of 0 and, with many runners, no word. Only who knows that the
//! runner was started misses its summary: the caller reads that off the command, or off the processes below it.

use super::command_words::{innermost, program_name};
use super::lines::Stream;
use super::words;
use super::words::WordList;

/// A runner that ends with a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownRunner {
    /// pytest.
    Pytest,
    /// `python -m unittest`.
    Unittest,
    /// jest.
    Jest,
    /// mocha.
    Mocha,
    /// RSpec.
    Rspec,
    /// vitest.
    Vitest,
    /// Another one by its name in evidence, that was asked for a list or a rehearsal, or that a script starts in itself;
    /// nothing is known of its other calls.
    Other(&'static str),
}

impl KnownRunner {
    /// Its name in evidence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::Rspec => "rspec",
            Self::Vitest => "vitest",
            Self::Other(name) => name,
        }
    }

    /// Where its summary is printed.
    pub fn stream(self) -> Stream {
        match self {
            Self::Pytest | Self::Mocha | Self::Rspec | Self::Vitest | Self::Other(_) => Stream::Stdout,
            Self::Unittest | Self::Jest => Stream::Stderr,
        }
    }
}

/// What a runner promises by the words that it was called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// It ends with its summary.
    Summary,
    /// It ends with progress up to 100 %, and with no summary (`pytest -qq`).
    Progress,
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
    /// What it promises.
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

/// Wrappers within each other that are followed.
const MAX_DEPTH: usize = 6;

/// Programs that start another one by a command of theirs, or whatever follows.
const LAUNCHERS: [(&str, WordList); 16] = [
    ("uv", words!["run"]),
    ("poetry", words!["run"]),
    ("pipenv", words!["run"]),
    ("hatch", words!["run"]),
    ("pdm", words!["run"]),
    ("rye", words!["run"]),
    ("bundle", words!["exec"]),
    ("npm", words!["exec", "x"]),
    ("pnpm", words!["exec", "dlx"]),
    ("yarn", words!["exec", "run", "dlx"]),
    ("bun", words!["x", "run"]),
    ("nyc", words![]),
    ("c8", words![]),
    ("npx", words![]),
    ("bunx", words![]),
    ("cross-env", words![]),
];

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
        return Some((KnownRunner::Other(runner), rest));
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
    let (_, commands) = LAUNCHERS.iter().find(|(known, _)| *known == name)?;
    match rest.split_first() {
        Some((command, rest)) if commands.contains(command) => find(behind_options(rest), depth + 1),
        // `yarn jest` and `pnpm jest` need no command.
        _ if commands.iter().next().is_none() || matches!(name, "yarn" | "pnpm") => {
            find(behind_options(rest), depth + 1)
        }
        _ => None,
    }
}

fn by_name(name: &str) -> Option<KnownRunner> {
    Some(match name {
        "pytest" | "py.test" | "pytest-3" => KnownRunner::Pytest,
        "jest" | "jest.js" => KnownRunner::Jest,
        "mocha" | "_mocha" | "mocha.js" | "mocha.mjs" => KnownRunner::Mocha,
        "rspec" => KnownRunner::Rspec,
        "vitest" | "vitest.mjs" => KnownRunner::Vitest,
        _ => return None,
    })
}

/// Calls that run no test: the program, its name in evidence, its command (if one is needed), and what asks for that.
const IDLE: [(&str, &str, &str, WordList); 11] = [
    ("cargo", "cargo", "test", words!["--list"]),
    ("cargo", "cargo", "t", words!["--list"]),
    ("go", "go", "test", words!["-list", "--list", "-n"]),
    ("ctest", "ctest", "", words!["-N", "--show-only"]),
    ("phpunit", "phpunit", "", words!["--list-tests", "--list-suites", "--list-groups", "--list-test-files"]),
    ("dotnet", "dotnet", "test", words!["--list-tests", "-t"]),
    ("gradle", "gradle", "", words!["-m", "--dry-run"]),
    ("gradlew", "gradle", "", words!["-m", "--dry-run"]),
    ("make", "make", "", words!["-n", "--dry-run", "--just-print", "--recon"]),
    ("bats", "bats", "", words!["-c", "--count"]),
    ("playwright", "playwright", "test", words!["--list"]),
];

/// The runner, where its arguments ask for no test.
fn idle(program: &str, arguments: &[&str]) -> Option<&'static str> {
    if program == "cargo" && arguments.starts_with(&["nextest", "list"]) {
        return Some("nextest");
    }
    let asks = |flags: &WordList| {
        arguments.iter().any(|argument| flags.contains(argument.split('=').next().unwrap_or(argument)))
    };
    let row = IDLE.iter().find(|(known, _, command, flags)| {
        *known == program && (command.is_empty() || arguments.first() == Some(command)) && asks(flags)
    });
    row.map(|(_, name, ..)| *name)
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
                    "pytest" | "py.test" => Some((KnownRunner::Pytest, rest)),
                    "unittest" => Some((KnownRunner::Unittest, rest)),
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

/// Arguments of pytest with which it runs no test.
const PYTEST_IDLE: WordList = words![
    "--collect-only",
    "--collectonly",
    "--co",
    "--setup-plan",
    "--fixtures",
    "--fixtures-per-test",
    "--markers",
    "--cache-show",
    "--version",
    "-V",
    "--help",
    "-h",
];

/// The same of jest.
const JEST_IDLE: WordList =
    words!["--listTests", "--showConfig", "--version", "-v", "--help", "-h", "--init", "--clearCache"];

/// Arguments with which jest may end without its summary.
const JEST_OTHER: [&str; 9] = [
    "--reporters",
    "--testResultsProcessor",
    "--onlyChanged",
    "-o",
    "--onlyFailures",
    "--changedSince",
    "--lastCommit",
    "--findRelatedTests",
    "--watch",
];

/// The same of mocha.
const MOCHA_IDLE: WordList = words![
    "--dry-run",
    "--list-files",
    "--list-reporters",
    "--list-interfaces",
    "--version",
    "-V",
    "--help",
    "-h",
];

/// Reporters of mocha that end in its usual counts, or (`markdown`) print nothing before the end.
const MOCHA_REPORTERS: [&str; 8] = ["spec", "dot", "list", "min", "nyan", "landing", "progress", "markdown"];

/// The same of vitest, and commands of it that end otherwise.
const VITEST_IDLE: WordList = words!["list", "init", "--version", "-v", "--help", "-h"];
const VITEST_OTHER: WordList =
    words!["watch", "dev", "bench", "related", "--changed", "--ui", "--standalone"];

/// Reporters of vitest that end in its counts.
const VITEST_REPORTERS: [&str; 6] = ["default", "verbose", "dot", "basic", "tree", "hanging-process"];

fn promise(runner: KnownRunner, arguments: &[&str]) -> Promise {
    let idle = |idle: WordList| arguments.iter().any(|argument| idle.contains(argument));
    match runner {
        KnownRunner::Other(_) => Promise::NoTest,
        KnownRunner::Pytest if idle(PYTEST_IDLE) => Promise::NoTest,
        KnownRunner::Pytest => of_pytest(arguments),
        KnownRunner::Unittest if idle(words!["-h", "--help"]) => Promise::NoTest,
        KnownRunner::Unittest => Promise::Summary,
        KnownRunner::Jest if idle(JEST_IDLE) => Promise::NoTest,
        KnownRunner::Jest => {
            let other = |argument: &&str| {
                let name = argument.split('=').next().unwrap_or(argument);
                JEST_OTHER.contains(&name) || name == "--watchAll"
            };
            if arguments.iter().any(other) { Promise::Nothing } else { Promise::Summary }
        }
        KnownRunner::Mocha if idle(MOCHA_IDLE) => Promise::NoTest,
        KnownRunner::Mocha => of_reporter(arguments, &["-R", "--reporter"], &MOCHA_REPORTERS),
        KnownRunner::Vitest if idle(VITEST_IDLE) => Promise::NoTest,
        KnownRunner::Vitest if idle(VITEST_OTHER) => Promise::Nothing,
        KnownRunner::Vitest => of_reporter(arguments, &["--reporter", "--reporters"], &VITEST_REPORTERS),
        KnownRunner::Rspec if idle(words!["--dry-run", "--version", "-v", "--help", "-h"]) => Promise::NoTest,
        KnownRunner::Rspec => {
            of_reporter(arguments, &["-f", "--format"], &["p", "progress", "d", "doc", "documentation"])
        }
    }
}

/// Depends on how quiet its options make it.
fn of_pytest(arguments: &[&str]) -> Promise {
    let is_no_terminal = |two: &[&str]| two == ["-p", "no:terminal"];
    if arguments.windows(2).any(is_no_terminal) || arguments.contains(&"-pno:terminal") {
        return Promise::Nothing;
    }
    let level = |argument: &&str| -> i64 {
        let letters = match *argument {
            "--quiet" => "q",
            "--verbose" => "v",
            one => one.strip_prefix('-').unwrap_or_default(),
        };
        let is_cluster = letters.chars().all(|letter| "qvxsl".contains(letter));
        let count = |letter: char| i64::try_from(letters.matches(letter).count()).unwrap_or(0);
        if is_cluster { count('q') - count('v') } else { 0 }
    };
    if arguments.iter().map(level).sum::<i64>() > 1 { Promise::Progress } else { Promise::Summary }
}

fn of_reporter(arguments: &[&str], names: &[&str], known: &[&str]) -> Promise {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some((name, value)) if names.contains(&name) => Some(value),
            _ if names.contains(argument) => Some(arguments.next().copied().unwrap_or_default()),
            _ => None,
        };
        if value.is_some_and(|value| !known.contains(&value))
            || matches!(*argument, "-w" | "--watch" | "--out")
        {
            return Promise::Nothing;
        }
    }
    Promise::Summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use KnownRunner::{Jest, Mocha, Pytest, Rspec, Unittest, Vitest};

    #[test]
    fn a_call_is_known_by_its_program_and_not_by_its_words() {
        let table: &[(&str, Option<KnownRunner>)] = &[
            ("pytest -q", Some(Pytest)),
            ("/venv/bin/python3 /venv/bin/pytest -q", Some(Pytest)),
            ("python -X dev -m pytest tests", Some(Pytest)),
            ("python3.11 -m coverage run -m pytest", Some(Pytest)),
            ("coverage run --branch -m unittest discover", Some(Unittest)),
            ("CI=1 env A=b timeout 60 uv run pytest", Some(Pytest)),
            ("sudo -u ann ionice -c 3 setsid chronic pytest", Some(Pytest)),
            ("poetry run python -m unittest", Some(Unittest)),
            ("npx jest --ci", Some(Jest)),
            ("yarn jest", Some(Jest)),
            ("node --experimental-vm-modules node_modules/jest/bin/jest.js", Some(Jest)),
            ("node -r ts-node/register node_modules/.bin/mocha t", Some(Mocha)),
            ("nyc --all mocha", Some(Mocha)),
            ("bundle exec rspec", Some(Rspec)),
            ("cargo test -- --list", Some(KnownRunner::Other("cargo"))),
            ("go test -list=. ./...", Some(KnownRunner::Other("go"))),
            ("npx vitest list", Some(Vitest)),
            ("node node_modules/vitest/vitest.mjs run", Some(Vitest)),
            ("cargo nextest list", Some(KnownRunner::Other("nextest"))),
            ("cargo nextest run list", None),
            ("cargo test list", None),
            ("cargo test --no-run", None),
            ("go test ./...", None),
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
            assert_eq!(RunnerCall::of_words(&words).map(|call| call.runner), *runner, "{line}");
        }
    }

    #[test]
    fn options_tell_what_it_will_say() {
        use Promise::{NoTest, Nothing, Progress, Summary};
        for (line, promise) in [
            ("pytest -q", Summary),
            ("pytest -q -v -q", Summary),
            ("pytest -qq", Progress),
            ("pytest -q -xq a.py", Progress),
            ("pytest -p no:terminal", Nothing),
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
