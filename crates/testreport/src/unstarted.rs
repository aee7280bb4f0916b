//! Words with which shells and task runners say that there is nothing to run: a program, a target, a script or a
//! service is not there. Such a run says nothing about the code.

/// Lines that are not blank of an output that is short: a shell that only says what it did not find.
pub(super) const SHORT: usize = 12;

/// Whether an output holds little but what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// At most [`SHORT`] lines.
    Short,
    /// More: words that a test may print as well prove nothing.
    Long,
}

/// Who says it, and in what words: parts in order, `^` and `$` for the beginning and the end of the line.
type Words = (&'static str, &'static [&'static str]);

/// Words that only these programs print.
const SURE: [Words; 63] = [
    ("make", &["^make", ": *** No rule to make target ", "'.  Stop.$"]),
    ("make", &["^make", ": *** No rule to make target ", "'. Stop.$"]),
    ("make", &["^make", ": *** No targets specified and no makefile found"]),
    ("make", &["^make", ": *** [", "] Error 127$"]),
    ("make", &["^make", ": *** [", "] Error 126$"]),
    ("make of BSD", &["^make: don't know how to make "]),
    ("ninja", &["^ninja: error: unknown target "]),
    ("ninja", &["^ninja: error: loading 'build.ninja': No such file"]),
    ("npm", &["^npm ERR! Missing script: "]),
    ("npm", &["^npm error Missing script: "]),
    ("npm", &["^npm ERR! missing script: "]),
    ("npm", &["^npm ", "could not determine executable to run"]),
    ("yarn", &["^error Command \"", "\" not found.$"]),
    ("yarn", &["^error Command failed with exit code 127."]),
    ("yarn", &["Usage Error: Couldn't find a script named "]),
    ("yarn", &["command not found: ", "(in ", "package.json)"]),
    ("pnpm", &["ERR_PNPM_NO_SCRIPT"]),
    ("pnpm", &["ERR_PNPM_RECURSIVE_RUN_NO_SCRIPT"]),
    ("pnpm", &["ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL", "Command \"", "\" not found"]),
    ("pnpm", &["ELIFECYCLE", "Command failed with exit code 127."]),
    ("pnpm", &["None of the selected packages has a \"", "\" script"]),
    ("bun", &["^error: Script not found "]),
    ("bun", &["^error: script \"", "\" exited with code 127"]),
    ("deno", &["^Task not found: "]),
    ("deno", &["^error: Task not found: "]),
    ("turbo", &["Could not find task `", "` in project"]),
    ("turbo", &["exited (127)"]),
    ("nx", &["Cannot find configuration for task "]),
    ("cargo", &["^error: no such command: "]),
    ("cargo", &["^error: no such subcommand: "]),
    ("cargo", &["^error: could not find `Cargo.toml` in "]),
    ("rustup", &["^error: toolchain '", "' is not installed"]),
    ("rustup", &["^error: '", "' is not installed for the "]),
    ("just", &["^error: Justfile does not contain recipe"]),
    ("just", &["^error: justfile does not contain recipe"]),
    ("just", &["^error: No justfile found"]),
    ("just", &["^error: Recipe `", "with exit code 127$"]),
    ("task", &["^task: Task \"", "\" does not exist"]),
    ("task", &["^task: No Taskfile found"]),
    ("task", &["^task: Failed to run task ", "exit status 127$"]),
    ("rake", &["Don't know how to build task '"]),
    ("rake", &["No Rakefile found (looking for: "]),
    ("bundler", &["^bundler: command not found: "]),
    ("bundler", &["^Could not locate Gemfile"]),
    ("gradle", &["Task '", "' not found in "]),
    ("maven", &["Unknown lifecycle phase \""]),
    ("maven", &["there is no POM in this directory"]),
    ("tox", &["^ERROR: unknown environment '"]),
    ("tox", &["HandledError| provided environments not found in configuration file"]),
    ("tox", &["HandledError| could not find ", "tox.ini"]),
    ("nox", &["Sessions not found: "]),
    ("poetry", &["^Command not found: "]),
    ("poetry", &["could not find a pyproject.toml file in "]),
    ("pdm", &["PdmUsageError", "Command ", " is not found in your PATH"]),
    ("pipenv", &["^Error: the command ", " could not be found within PATH or Pipfile"]),
    ("uv", &["error: Failed to spawn: `"]),
    ("composer", &["Command \"", "\" is not defined.$"]),
    ("mix", &["** (Mix) The task \"", "\" could not be found"]),
    ("dotnet", &["Could not execute because the specified command or file was not found."]),
    ("dotnet", &["MSBUILD : error MSB1003: "]),
    ("docker", &["annot connect to the Docker daemon"]),
    ("docker", &["rror during connect: ", "docker"]),
    ("podman", &["annot connect to Podman"]),
];

/// Words that are also found in what a test prints: they count where little else was printed.
const ALONE: [Words; 18] = [
    ("sh", &["^sh: ", ": not found$"]),
    ("dash", &["sh: ", ": ", ": not found$"]),
    ("bash", &[": command not found$"]),
    ("zsh", &["command not found: "]),
    ("fish", &["^fish: Unknown command: "]),
    ("env", &["^env: ", ": No such file or directory$"]),
    ("sh", &["sh: ", "No such file or directory$"]),
    ("sh", &["sh: ", "Permission denied$"]),
    ("cmd", &["' is not recognized as an internal or external command"]),
    ("PowerShell", &[" is not recognized as the name of a cmdlet"]),
    ("python", &["ython", ": No module named pytest"]),
    ("python", &["ython", ": No module named "]),
    ("python", &["ython", ": can't open file '", "[Errno 2] No such file or directory$"]),
    ("php", &["^Could not open input file: "]),
    ("docker compose", &["^no such service: "]),
    ("docker compose", &["service \"", "\" is not running"]),
    ("docker compose", &["no configuration file provided: not found"]),
    ("docker", &["Error response from daemon: No such container: "]),
];

/// The first of these lines that says that there was nothing to run.
pub(super) fn reason<'a>(lines: &(impl Iterator<Item = &'a str> + Clone), length: Length) -> Option<String> {
    let says = |table: &'static [Words]| {
        lines.clone().find(|line| table.iter().any(|(_, words)| matches(line, words))).map(str::trim)
    };
    let told = says(&SURE);
    // `make: *** [test] Error 127` is known for what it is; the line above it tells what was not found.
    let shell = if length == Length::Short || told.is_some() { says(&ALONE) } else { None };
    let best = match (told, shell) {
        (Some(told), Some(shell)) if told.contains("12") => Some(shell),
        (told, shell) => told.or(shell),
    };
    best.map(str::to_owned)
}

/// `No rule to make target 'a.c', needed by 'a.o'`: a file of the code is gone.
const OF_CODE: &str = ", needed by ";

fn matches(line: &str, parts: &[&str]) -> bool {
    let mut rest = line.trim();
    if rest.contains(OF_CODE) {
        return false;
    }
    for part in parts {
        if let Some(start) = part.strip_prefix('^') {
            let Some(tail) = rest.strip_prefix(start) else { return false };
            rest = tail;
        } else if let Some(end) = part.strip_suffix('$') {
            return rest.ends_with(end);
        } else {
            let Some((_, tail)) = rest.split_once(part) else { return false };
            rest = tail;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, length: Length) -> Option<String> {
        reason(&text.lines(), length)
    }

    #[test]
    fn tools_say_that_there_is_nothing_to_run() {
        let table = [
            "make: *** No rule to make target 'test'.  Stop.",
            "make[1]: *** No rule to make target `check'.  Stop.",
            "make: *** No targets specified and no makefile found.  Stop.",
            "npm ERR! Missing script: \"test\"",
            "npm error Missing script: \"test\"",
            "error Command \"test\" not found.",
            "Usage Error: Couldn't find a script named \"test\".",
            " ERR_PNPM_NO_SCRIPT  Missing script: test",
            "None of the selected packages has a \"test\" script",
            "error: Script not found \"test\"",
            "error: no such command: `nextest`",
            "error: Justfile does not contain recipe `test`",
            "task: Task \"test\" does not exist",
            "Don't know how to build task 'test' (See the list of available tasks with `rake --tasks`)",
            "Task 'tset' not found in root project 'demo'.",
            "[ERROR] Unknown lifecycle phase \"tset\". You must specify a valid lifecycle phase",
            "ERROR: unknown environment 'py39'",
            "nox > Error while collecting sessions.\nnox > Sessions not found: tests",
            "Command not found: pytest",
            "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)",
            "[PdmUsageError]: Command 'pytest' is not found in your PATH.",
            "Error: the command pytest could not be found within PATH or Pipfile's [scripts].",
            "** (Mix) The task \"tset\" could not be found",
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        ];
        for text in table {
            assert!(found(text, Length::Long).is_some(), "{text}");
        }
    }

    #[test]
    fn shells_are_believed_where_they_say_nothing_else() {
        let table = [
            "sh: 1: pytest: not found",
            "/bin/sh: 1: pytest: not found",
            "bash: line 1: pytest: command not found",
            "zsh:1: command not found: pytest",
            "env: 'pytest': No such file or directory",
            "sh: 1: ./t.sh: Permission denied",
            "/usr/bin/python3: No module named pytest",
            "'pytest' is not recognized as an internal or external command,",
            "no such service: web",
        ];
        for text in table {
            assert_eq!(found(text, Length::Short).as_deref(), Some(text));
            assert_eq!(found(text, Length::Long), None, "{text}");
        }
        let under_make = "sh: 1: pytest: not found\nmake: *** [Makefile:2: test] Error 127";
        assert_eq!(found(under_make, Length::Long).as_deref(), Some("sh: 1: pytest: not found"));
    }

    #[test]
    fn what_code_does_wrong_is_no_such_word() {
        let table = [
            "make: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.",
            "make: *** [Makefile:2: test] Error 1",
            "ModuleNotFoundError: No module named 'app'",
            "E   ModuleNotFoundError: No module named 'app'",
            "Error: Cannot find module './a'",
            "error[E0432]: unresolved import `a`",
            "404 page not found",
            "error: user not found",
            "key not found: a",
            "FileNotFoundError: [Errno 2] No such file or directory: 'a'",
        ];
        for text in table {
            assert_eq!(found(text, Length::Short), None, "{text}");
        }
    }
}
