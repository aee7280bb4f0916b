//! The known runners that a test command is sure to start, as far as its words and the scripts of package.json show them.
//!
//! Only plain words are followed. A line with a branch, a loop or a substitution shows nothing for sure, and neither does a
//! runner whose output goes elsewhere: nothing is expected then.

mod shell;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::whereabouts::NamedPath;
use andon_config::TestCommand;
use andon_engine::effect::report_files;
use testreport::command_words::{ShellLine, innermost, program_name};
use testreport::{KnownRunner, Promise, RUNNERS, RunnerCall, WordList};

/// Largest file of the project that is looked into, in bytes.
const MAX_FILE: usize = 1 << 20;
/// Scripts that call scripts.
const MAX_DEPTH: usize = 4;

/// Reads a variable of the environment.
type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The calls that a command is sure to make, the directories in which it is sure to start something of a test, and the paths
/// that it gives to its runners.
#[derive(Default)]
pub(super) struct SureCalls {
    pub(super) calls: Vec<RunnerCall>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) paths: Vec<NamedPath>,
    /// The directories of all programs, where none of them is a known runner.
    pub(super) others_in: Vec<PathBuf>,
}

/// The calls and directories of `command` in the project at `top`.
pub(super) fn of_command(top: &Path, command: &TestCommand, variables: Variables<'_>) -> SureCalls {
    let mut calls = Calls { variables, found: SureCalls::default(), others: None };
    match command {
        TestCommand::Shell(line) => calls.line(top, &line.replace("$PWD", &top.to_string_lossy()), 0),
        TestCommand::Argv(words) => calls.program(top, words, 0),
    }
    calls.found()
}

/// The program behind a pipe at the end of this command, as it is kept, that hides how the tests ended.
pub(in crate::verbs::test) fn cuts_the_end(command: &str) -> Option<String> {
    shell::cuts_the_end(command)
}

/// The program that gives `command` its exit code, where that is 0 whatever the tests said.
pub(super) fn masks_exit(top: &Path, command: &TestCommand) -> Option<String> {
    match command {
        TestCommand::Shell(line) => masked(top, line, 0),
        TestCommand::Argv(words) => masked(top, &line_started_by(top, words)?, 1),
    }
}

fn masked(directory: &Path, line: &str, depth: usize) -> Option<String> {
    shell::masks_exit(line).or_else(|| {
        let (directory, words) = programs_of(directory, line)?.pop()?;
        let script = line_started_by(&directory, &words).filter(|_| depth < MAX_DEPTH)?;
        masked(&directory, &script, depth + 1)
    })
}

/// The programs that a line is sure to start, each with its directory.
fn programs_of(directory: &Path, line: &str) -> Option<Vec<(PathBuf, Vec<String>)>> {
    if let Some(lines) = shell::unrolled(line) {
        let programs: Option<Vec<_>> = lines.iter().map(|line| programs_of(directory, line)).collect();
        return programs.map(|programs| programs.concat());
    }
    let mut directory = directory.to_owned();
    let mut found = Vec::new();
    for words in shell::sure_programs(line)? {
        match words.as_slice() {
            [cd, to] if cd == "cd" => directory.push(to),
            [set, ..] if set == "set" || set == "export" => {}
            _ => found.push((directory.clone(), words)),
        }
    }
    Some(found)
}

struct Calls<'a> {
    variables: Variables<'a>,
    found: SureCalls,
    /// The paths given to programs that are no known runner, and their directories, where there is one.
    others: Option<(Vec<NamedPath>, Vec<PathBuf>)>,
}

impl Calls<'_> {
    /// A call that runs no test says something of the whole only where there is nothing else. Paths of programs that are no
    /// known runner count where there is none.
    fn found(self) -> SureCalls {
        let Self { mut found, others, .. } = self;
        let alone = others.is_none() && found.calls.iter().all(|call| call.promise == Promise::NoTest);
        if found.calls.is_empty() {
            (found.paths, found.others_in) = others.unwrap_or_default();
        }
        found.calls.retain(|call| alone || call.promise != Promise::NoTest);
        found
    }

    fn line(&mut self, directory: &Path, line: &str, depth: usize) {
        match programs_of(directory, line) {
            Some(programs) => programs.iter().for_each(|(at, words)| self.program(at, words, depth)),
            // A line that cannot be read may run anything here.
            None => self.others.get_or_insert_default().1.push(directory.to_owned()),
        }
    }

    fn program(&mut self, directory: &Path, words: &[String], depth: usize) {
        let found = &mut self.found;
        found.directories.extend(named_directory(directory, words));
        if let Some(call) = call_of(directory, words, self.variables) {
            found.calls.push(call);
            found.directories.push(directory.to_owned());
            found.paths.extend(paths(directory, words));
        } else if let Some(line) = line_started_by(directory, words).filter(|_| depth < MAX_DEPTH) {
            self.line(directory, &line, depth + 1);
        } else {
            let (named, directories) = self.others.get_or_insert_default();
            named.extend(paths(directory, words));
            directories.push(directory.to_owned());
        }
    }
}

/// The words behind a program and its command that may be paths: `tests/test_a.py::test_b` names a test in one.
pub(super) fn paths(directory: &Path, words: &[String]) -> impl Iterator<Item = NamedPath> {
    let texts: Vec<&str> = words.iter().take(2).map(String::as_str).collect();
    let is_command = texts.get(1) == Some(&"test") && RunnerCall::of_words(&texts).is_none();
    let pairs = words.windows(2).skip(usize::from(is_command)).filter(|two| !two[1].starts_with('-'));
    pairs.map(|two| {
        let path = directory.join(two[1].split("::").next().unwrap_or_default());
        if two[0].starts_with('-') { NamedPath::BehindOption(path) } else { NamedPath::Given(path) }
    })
}

/// Options that have a program work in another directory: the program and the option, a row each.
const DIRECTORY_OPTIONS: WordList = WordList::section(RUNNERS, "options that name a directory");

/// The directory that a program is told to work in: `make -C DIR`, `cargo test --manifest-path DIR/Cargo.toml`.
fn named_directory(directory: &Path, words: &[String]) -> Option<PathBuf> {
    let options = |program: &str| {
        let rows = DIRECTORY_OPTIONS.iter().filter_map(|row| row.split_once(' '));
        let name = program_name(program).to_owned();
        rows.filter(move |(known, _)| *known == name).map(|(_, option)| option)
    };
    let at = words.iter().position(|word| options(word).next().is_some())?;
    let behind = words.iter().skip(at + 1).take_while(|word| **word != "--");
    let mut pairs = behind.clone().zip(behind.skip(1).map(Some).chain([None]));
    let value = pairs.find_map(|(word, next)| {
        let rest = options(&words[at]).find_map(|option| {
            let rest = word.strip_prefix(option)?;
            (rest.is_empty() || rest.starts_with('=') || option.len() == 2).then_some(rest)
        })?;
        if rest.is_empty() { next.map(String::as_str) } else { Some(rest.trim_start_matches('=')) }
    })?;
    let place = directory.join(value);
    let is_file = place.extension().is_some() && !place.is_dir();
    if is_file { place.parent().map(Path::to_owned) } else { Some(place) }
}

/// The line that words hand to a shell: behind `sh -c`, or in package.json behind `npm test`; wrappers may come before them.
fn line_started_by(directory: &Path, words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = innermost(&words);
    ShellLine::of_words(words).map(|shell| shell.with_options()).or_else(|| package_script(directory, words))
}

/// The line behind `npm test`, `yarn run unit -- --ci` and their like, with its arguments.
fn package_script(directory: &Path, words: &[&str]) -> Option<String> {
    let (manager, rest) = words.split_first()?;
    let rest: Vec<&str> = rest.iter().filter(|word| !matches!(**word, "-s" | "--silent")).copied().collect();
    let (name, arguments) = match (*manager, rest.as_slice()) {
        ("npm" | "pnpm" | "yarn", ["test" | "t" | "tst", arguments @ ..]) => ("test", arguments),
        ("npm" | "pnpm" | "yarn" | "bun", ["run" | "run-script", name, arguments @ ..])
        | ("yarn" | "pnpm", [name, arguments @ ..]) => (*name, arguments),
        _ => return None,
    };
    if name.starts_with('-')
        || arguments.iter().any(|one| one.starts_with("-w") || one.starts_with("--workspace"))
    {
        return None;
    }
    let text = project_file(directory, "package.json")?;
    let package: Value = serde_json::from_str(&text).ok()?;
    let script = package.get("scripts")?.get(name)?.as_str()?;
    let arguments: Vec<&str> = arguments.iter().filter(|word| **word != "--").copied().collect();
    Some(format!("{script} {}", arguments.join(" ")))
}

/// The call that these words make in that directory, by what variables and the configuration of the project and the user say
/// as well.
pub(super) fn call_of(directory: &Path, words: &[String], variables: Variables<'_>) -> Option<RunnerCall> {
    let own = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let variables = |name: &str| own(name).map(str::to_owned).or_else(|| variables(name));
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    let by_user =
        KnownRunner::of_words(&texts).map(|runner| user_files(runner, &variables)).unwrap_or_default();
    let added = added_words(KnownRunner::of_words(&texts), &by_user, &variables);
    let texts: Vec<&str> = texts.into_iter().chain(added.split_whitespace()).collect();
    let mut call = RunnerCall::of_words(&texts).or_else(|| of_test_script(directory, innermost(&texts)))?;
    let runner = call.runner;
    let named = texts.windows(2).filter(|two| matches!(two[0], "-c" | "--config")).map(|two| two[1]);
    let given = texts.iter().filter_map(|word| word.strip_prefix("--config="));
    let above =
        directory.ancestors().find(|place| runner.rows("file").any(|file| place.join(file).is_file()));
    let place = above.filter(|_| runner.rows("above").next().is_some()).unwrap_or(directory);
    let known = runner.rows("file").chain(runner.rows("own")).filter_map(|file| project_file(place, file));
    let others = named.chain(given).filter_map(|file| project_file(directory, file));
    let is_sign = |text: String| runner.rows("sign").any(|sign| text.contains(sign));
    if rehearses(place, runner, &by_user) {
        call.promise = Promise::NoTest;
    } else if call.promise == Promise::Summary && known.chain(others).chain(by_user).any(is_sign) {
        call.promise = Promise::Nothing;
    }
    Some(call)
}

/// The words that a variable adds to those of a runner: `GOFLAGS=-list=.`, before its name, in the environment or in a file of
/// the user.
fn added_words(runner: Option<KnownRunner>, by_user: &[String], variables: Variables<'_>) -> String {
    let name = runner.and_then(|runner| runner.rows("variable").next());
    let line = |name: &str| {
        let mut lines = by_user.iter().flat_map(|text| text.lines());
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    };
    name.and_then(|name| variables(name).or_else(|| line(name))).unwrap_or_default()
}

/// The files of the user that configure a runner.
fn user_files(runner: KnownRunner, variables: Variables<'_>) -> Vec<String> {
    let file = |row: &str| {
        let (variable, file) = row.split_once(' ').unwrap_or((row, ""));
        let place = PathBuf::from(variables(variable)?);
        project_file(&if file.is_empty() { place } else { place.join(file) }, "")
    };
    runner.rows("user").filter_map(file).collect()
}

const MOCHA: KnownRunner = KnownRunner("mocha");

/// True where not the words but the configuration of the runner asks for a list or a rehearsal.
fn rehearses(directory: &Path, runner: KnownRunner, by_user: &[String]) -> bool {
    let is_set = |row: &str| {
        let (file, end) = row.split_once(' ').unwrap_or_default();
        let asks = |line: &str| line.trim_end_matches([' ', '}', ';']).ends_with(end);
        project_file(directory, file).is_some_and(|text| text.lines().any(asks))
    };
    let package = || {
        let package: Value = serde_json::from_str(&project_file(directory, "package.json")?).ok()?;
        (runner == MOCHA).then(|| package.get("mocha").map(Value::to_string))?
    };
    let files = runner.rows("file").chain(runner.rows("own").filter(|_| runner != MOCHA));
    let texts = files.filter_map(|file| project_file(directory, file)).chain(by_user.iter().cloned());
    let texts = texts.map(|text| options(runner, &text));
    let asks = |text: String| {
        let plain = |one: char| one.is_ascii_alphanumeric() || one == '-';
        let mut words = text.split(|one| !plain(one)).filter(|word| !word.is_empty()).peekable();
        std::iter::from_fn(|| Some((words.next()?, words.peek().copied()))).any(|(word, next)| {
            let is_asked = runner.is_idle(word) || runner == MOCHA && runner.is_idle(&format!("--{word}"));
            is_asked && next != Some("false")
        })
    };
    texts.chain(package()).any(asks) || runner.rows("asks").any(is_set)
}

/// The part of a configuration that has options for the command line; without comments.
fn options(runner: KnownRunner, text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with(['#', ';', '/']));
    if runner != KnownRunner("pytest") {
        return lines.collect::<Vec<_>>().join("\n");
    }
    let mut inside = false;
    let of_options = lines.filter(|line| {
        let is_key = line.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[');
        inside = if is_key { line.starts_with("addopts") } else { inside };
        inside
    });
    of_options.collect::<Vec<_>>().join("\n")
}

/// `python test_a.py`, whose last words start unittest's own runner, or `node a.test.js`, which has node's in itself.
fn of_test_script(directory: &Path, words: &[&str]) -> Option<RunnerCall> {
    let (program, rest) = words.split_first()?;
    let name = program_name(program);
    let script = rest.iter().find(|word| !word.starts_with('-'))?;
    let is_node = matches!(name, "node" | "nodejs");
    let ends: &[&str] = if is_node { &["js", "mjs", "cjs"] } else { &["py"] };
    let is_script = Path::new(script).extension().is_some_and(|end| ends.iter().any(|known| end == *known));
    if !(is_node && rest.len() == 1 || name.starts_with("python")) || !is_script {
        return None;
    }
    let text = project_file(directory, script)?;
    if is_node {
        let asks = ["process.argv", "process.env", "run("].iter().any(|word| text.contains(word));
        let call = RunnerCall { runner: KnownRunner("node"), promise: Promise::Summary };
        return (text.contains("node:test") && !asks).then_some(call);
    }
    let plain = ["unittest.main()", "unittest.main(verbosity="].iter().any(|call| text.contains(call));
    let asks = ["sys.argv", "argparse", "os.environ"].iter().any(|word| text.contains(word));
    (plain && !asks).then_some(RunnerCall { runner: KnownRunner("unittest"), promise: Promise::Summary })
}

/// The text of a file of the project.
pub(super) fn project_file(directory: &Path, name: &str) -> Option<String> {
    let path = if name.is_empty() { directory.to_owned() } else { directory.join(name) };
    let path = Some(path).filter(|path| path.is_file())?;
    Some(String::from_utf8_lossy(&report_files::read(&path, MAX_FILE).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(files: &[(&str, &str)], line: &str) -> Vec<(&'static str, Promise)> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let home =
            |name: &str| (name == "HOME").then(|| dir.path().join("home").to_string_lossy().into_owned());
        let found = of_command(dir.path(), &TestCommand::Shell(line.to_owned()), &home);
        found.calls.into_iter().map(|call| (call.runner.0, call.promise)).collect()
    }

    #[test]
    fn what_is_started_for_sure() {
        use Promise::{NoTest, Nothing, Summary};
        let package =
            ("package.json", r#"{"scripts": {"test": "npm run unit && tsc", "unit": "jest --ci"}}"#);
        let reporters =
            ("web/package.json", r#"{"scripts": {"test": "jest"}, "jest": {"reporters": ["x"]}}"#);
        let node = ("a.test.js", "const test = require('node:test');\ntest('a', () => {});\n");
        let script = ("test_a.py", "import unittest\n\nif __name__ == '__main__':\n    unittest.main()\n");
        let table: &[(&str, &[(&str, Promise)])] = &[
            ("pytest -q && mypy .", &[("pytest", Summary)]),
            ("ruff check; pytest; mocha", &[("pytest", Summary), ("mocha", Summary)]),
            ("make && pytest; true", &[]),
            ("pytest || true", &[]),
            ("if true; then pytest; fi", &[]),
            ("pytest > log", &[]),
            ("pytest 2>&1 | tee log", &[("pytest", Summary)]),
            ("pytest | tail -1", &[("pytest", Summary)]),
            ("set -o pipefail; pytest | tail -1", &[]),
            ("pytest | grep passed", &[("pytest", Summary)]),
            ("pytest | tee log | head -3", &[("pytest", Summary)]),
            ("set -o pipefail; pytest | tee log | grep passed", &[]),
            ("npm test", &[("jest", Summary)]),
            ("npm run unit -- --listTests", &[("jest", NoTest)]),
            ("pytest --co", &[("pytest", NoTest)]),
            ("pytest --co && ./own.sh", &[]),
            ("cd web && npm test", &[("jest", Nothing)]),
            ("sh -c 'pytest -q'", &[("pytest", Summary)]),
            ("sudo ksh -c 'pytest -q'", &[("pytest", Summary)]),
            ("setsid -w python3 test_a.py", &[("unittest", Summary)]),
            ("python3 test_a.py", &[("unittest", Summary)]),
            ("python3 missing.py", &[]),
            ("node a.test.js", &[("node", Summary)]),
            ("node --test-reporter=spec a.test.js", &[]),
            ("npx vitest run", &[("vitest", Summary)]),
            ("echo 'pytest; jest'", &[]),
            ("# pytest\necho jest", &[]),
            ("(cd web && pytest)", &[("pytest", Summary)]),
            ("for d in a b; do (cd $d && pytest -q); done", &[("pytest", Summary), ("pytest", Summary)]),
            ("for d in a b\ndo\n  pytest \"$d\"\ndone", &[("pytest", Summary), ("pytest", Summary)]),
            ("for d in */; do pytest $d; done", &[]),
            ("for d in a b; do pytest $d || true; done", &[]),
        ];
        for (line, expected) in table {
            assert_eq!(calls(&[package, reporters, script, node], line), *expected, "{line}");
        }
    }

    #[test]
    fn the_directory_of_a_program_may_be_an_option() {
        for (line, directory) in [
            ("make -C ../other test", Some("/p/../other")),
            ("make test --directory=sub", Some("/p/sub")),
            ("nice npm test --prefix ../other", Some("/p/../other")),
            ("cargo test --manifest-path /other/Cargo.toml", Some("/other")),
            ("npx jest --rootDir ../other", Some("/p/../other")),
            ("cargo test -- --manifest-path x", None),
            ("pytest -C x", None),
            ("git -C ../other status", None),
            ("make test", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = named_directory(Path::new("/p"), &words);
            assert_eq!(found, directory.map(PathBuf::from), "{line}");
        }
    }

    #[test]
    fn a_rehearsal_is_known_by_the_files_that_ask_for_it() {
        let table: &[(&str, &str, &str, bool)] = &[
            (".mocharc.json", "{\"dry-run\": true}", "mocha", true),
            (".mocharc.yml", "dry-run: true\n", "npx mocha", true),
            (".mocharc.yml", "dry-run: false\n", "mocha", false),
            (".mocharc.yml", "# dry-run: true\nspec: a.js\n", "mocha", false),
            (
                "package.json",
                "{\"mocha\": {\"dry-run\": true}, \"scripts\": {\"test\": \"mocha\"}}",
                "npm test",
                true,
            ),
            (
                "package.json",
                "{\"scripts\": {\"test\": \"mocha\", \"list\": \"mocha --dry-run\"}}",
                "npm test",
                false,
            ),
            (".rspec", "--require spec_helper\n--dry-run\n", "bundle exec rspec", true),
            ("a", "", "SPEC_OPTS=--dry-run rspec", true),
            ("spec/spec_helper.rb", "RSpec.configure do |c|\n  c.dry_run = true\nend\n", "rspec", true),
            ("spec/spec_helper.rb", "RSpec.configure { |c| c.dry_run = true }\n", "rspec", true),
            (
                "spec/spec_helper.rb",
                "RSpec.configure { |c| c.dry_run = true if ENV['DRY'] }\n",
                "rspec",
                false,
            ),
            ("a", "", "GOFLAGS=-list=. go test ./...", true),
            ("a", "", "GOFLAGS=-exec=true nice go test ./...", true),
            ("a", "", "GOFLAGS=-mod=mod go test ./...", false),
            ("home/.rspec", "--dry-run\n", "rspec", true),
            ("home/.rspec", "--color\n", "rspec", false),
            ("home/.config/rspec/options", "--dry-run\n", "bundle exec rspec", true),
            ("home/.config/go/env", "GOFLAGS=-exec=true\n", "go test ./...", true),
            ("home/.config/go/env", "GOFLAGS=-exec=true\n", "GOFLAGS=-v go test ./...", false),
            ("home/.config/go/env", "GOFLAGS=-mod=mod\n", "go test ./...", false),
            ("GOENV", "GOFLAGS=-list=.\n", "GOENV=GOENV go test ./...", false),
            ("pytest.ini", "[pytest]\naddopts = --co\n", "cd sub && pytest", true),
            (".mocharc.yml", "dry-run: true\n", "cd sub && npx mocha", true),
            (".rspec", "--dry-run\n", "cd sub && rspec", false),
            ("pytest.ini", "[pytest]\naddopts = -q\n    --collect-only\n", "pytest", true),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = \"--co -q\"\n",
                "python -m pytest",
                true,
            ),
            ("pyproject.toml", "[tool.x.scripts]\nlist = \"pytest --collect-only\"\n", "pytest", false),
        ];
        for (file, text, line, rehearses) in table {
            let found = calls(&[(file, text)], line);
            let is_rehearsal =
                found.iter().all(|(_, promise)| *promise == Promise::NoTest) && !found.is_empty();
            assert_eq!(is_rehearsal, *rehearses, "{file} {text} {line}: {found:?}");
        }
    }

    #[test]
    fn whose_exit_code_a_command_has() {
        let package = r#"{"scripts": {"test": "./own.sh || true", "unit": "./own.sh"}}"#;
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("package.json"), package).unwrap();
        for (line, masks) in [
            ("./own.sh; true", Some("true")),
            ("./own.sh || echo failed", Some("echo")),
            ("./own.sh >log 2>&1\ncat log", Some("cat")),
            ("./own.sh 2>&1 | tee log", Some("tee")),
            ("./own.sh; exit 0", Some("exit")),
            ("./own.sh & wait", Some("wait")),
            ("./own.sh &", Some("&")),
            ("npm test", Some("true")),
            ("npm run build && npm test", Some("true")),
            ("ksh -c './own.sh; echo done'", Some("echo")),
            ("nice sh -c './own.sh; true'", Some("true")),
            ("bash -ec './own.sh; true'", None),
            ("bash -o pipefail -c './own.sh | tee log'", None),
            ("npm run unit", None),
            ("./own.sh", None),
            ("./own.sh && echo fine", None),
            ("./own.sh & wait $!", None),
            ("set -eu; ./own.sh; echo fine", None),
            ("set -eu; ./own.sh || true", Some("true")),
            ("set -o pipefail; ./own.sh | tee log", None),
            ("./own.sh || exit 1; echo fine", None),
            ("if ! ./own.sh; then exit 1; fi; echo fine", None),
            ("./own.sh | grep -q fine", None),
            ("echo one; echo two", None),
            ("true", None),
        ] {
            let command = TestCommand::Shell(line.to_owned());
            assert_eq!(masks_exit(dir.path(), &command).as_deref(), masks, "{line}");
        }
        let words = |line: &str| TestCommand::Argv(line.splitn(3, ' ').map(str::to_owned).collect());
        for shell in ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"] {
            let command = words(&format!("{shell} -c ./own.sh; true"));
            assert_eq!(masks_exit(dir.path(), &command).as_deref(), Some("true"), "{shell}");
        }
        assert_eq!(masks_exit(dir.path(), &words("sh -ec ./own.sh; true")), None);
        assert_eq!(masks_exit(dir.path(), &words("npm test")).as_deref(), Some("true"));
    }

    #[test]
    fn what_hides_how_the_tests_ended() {
        for (line, hides) in [
            ("jest 2>&1 | tail -3", Some("tail")),
            ("cd web && npm test | grep -v warn", Some("grep")),
            ("jest | tee log", None),
            ("jest | tail -3; echo done", None),
            ("set -o pipefail; jest | tail -3", None),
            ("grep '|' a && pytest", None),
            ("pytest", None),
        ] {
            assert_eq!(cuts_the_end(line).as_deref(), hides, "{line}");
        }
    }
}
