//! The words of shells, runners and interpreters with which they say that something is not there.

use crate::words;
use crate::words::WordList;

/// Between the parts of a phrase.
pub(super) const PART: char = '\u{1e}';
/// Between the parts of a phrase and its exit codes.
pub(super) const CODES: char = '\u{1d}';

/// Phrases, each with the program that says it: parts in order, `^` and `$` for the beginning and the end of the line.
macro_rules! phrases {
    ($(($who:literal, &[$($part:literal),*])),* $(,)?) => {
        WordList(concat!($($($part, "\u{1e}",)* "\u{1f}"),*))
    };
}

/// Phrases with the exit codes that belong to them.
macro_rules! coded {
    ($(($who:literal, &[$($part:literal),*], &[$($code:literal),*])),* $(,)?) => {
        WordList(concat!($($($part, "\u{1e}",)* "\u{1d}", $($code, ",",)* "\u{1f}"),*))
    };
}

/// Words that only these programs print.
pub(super) const SURE: WordList = phrases![
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
    ("make", &["^make", ": *** ", ": No such file or directory.  Stop.$"]),
    ("npm", &["^npm ", " enoent ", "open '", "package.json'"]),
    ("npm", &["^npm ", "npx canceled due to missing packages"]),
    ("yarn", &["^error Couldn't find a package.json file in "]),
    ("pnpm", &["ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND"]),
    ("pnpm", &["canonicalizing the `--dir` argument: "]),
    ("bun", &["Could not change directory to \"", "\" (chdir)"]),
    ("bun", &["^The following filters did not match any test files"]),
    ("jest", &["^No tests found, exiting with code 1$"]),
    ("vitest", &["^No test files found, exiting with code 1$"]),
    ("mocha", &["^Error: No test files found"]),
    ("ava", &["^✘ Couldn", "t find any files to test"]),
    ("deno", &["^error: No test modules found"]),
    ("cargo", &["^error: manifest path `", "` does not exist"]),
    ("cargo", &["^error: no ", " target named `"]),
    ("cargo", &["^error: package ID specification `", "` did not match any packages"]),
    ("go", &["^go: go.mod file not found in "]),
    ("go", &["^go: cannot find main module"]),
    ("maven", &["POM file ", " specified with the -f/--file command line argument does not exist"]),
    ("gradle", &["Directory '", "' does not contain a Gradle build"]),
    ("ant", &["^Buildfile: ", " does not exist!$"]),
    ("scons", &["^scons: *** No SConstruct file found"]),
    ("dotnet", &["MSBUILD : error MSB1009: "]),
    ("swift", &["^error: Could not find Package.swift in "]),
    ("time", &["time: cannot run ", ": No such file or directory$"]),
    ("time", &["time: cannot run ", ": Permission denied$"]),
    ("timeout", &["^timeout: failed to run command "]),
    ("nohup", &["^nohup: failed to run command "]),
];

/// Words that are also found in what a test prints: they count where little else was printed.
pub(super) const ALONE: WordList = phrases![
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
    ("make", &["^make", ": ", ": Permission denied$"]),
    ("make", &["^make", ": ", ": No such file or directory$"]),
    ("sh", &["sh: ", ": file not found$"]),
    ("nice", &["^nice: ", ": No such file or directory$"]),
    ("zsh", &["^zsh:", ": no such file or directory: "]),
];

/// Words that count as the last ones of a run: what a command says that cannot even begin. A test may print them too, but
/// then its own verdict follows.
pub(super) const LAST: WordList = coded![
    ("dash", &["sh: 0: cannot open "], &[2]),
    ("dash", &["sh: 0: Can't open "], &[127]),
    ("busybox", &["^sh: can't open '"], &[2]),
    ("zsh", &["zsh: can't open input file: "], &[127]),
    ("dash", &[": .: cannot open "], &[2]),
    ("busybox", &[": .: ", "can't open '"], &[2]),
    ("dash", &[": cd: can't cd to "], &[2]),
    ("busybox", &[": cd: ", "can't cd to "], &[2]),
    ("bash", &[": cd: ", ": No such file or directory$"], &[1]),
    ("zsh", &[":cd:", ": no such file or directory: "], &[1]),
    ("node", &["^Could not find '", "'$"], &[1]),
    ("tests of npm init", &["^Error: no test specified$"], &[1]),
    ("tests of npm init", &["^\"Error: no test specified\""], &[1]),
    ("npx", &["^npm ", " 404 Not Found - GET "], &[1]),
    ("npx", &["^npx: command not found: "], &[1]),
    ("deno", &["error: Import 'file:", "' failed, not found."], &[1]),
    ("python", &["ython", ": can't open file '"], &[2]),
    ("python", &["ython", ": can't find '__main__' module in "], &[1]),
    ("python", &["ython", ": Error while finding module specification for '"], &[1]),
    ("python", &["ython", ": No module named "], &[1]),
    ("unittest", &["^ImportError: Start directory is not importable: "], &[1]),
    ("coverage", &["^No file to run: '"], &[1]),
    ("pytest", &["^ERROR: file or directory not found: "], &[4]),
    ("pytest", &["^ERROR: not found: "], &[4]),
    ("pytest", &["^ERROR: Error importing plugin "], &[4]),
    ("pytest", &["^ERROR: Config file '", "' not found"], &[4]),
    ("pytest", &["pytest: error: unrecognized arguments: "], &[4]),
    ("perl", &["^Can't open perl script "], &[2]),
    ("prove", &["^Cannot detect source of '"], &[2]),
    ("ruby", &["^ruby: No such file or directory -- "], &[1]),
    ("php", &["^Could not open input file: "], &[1]),
    ("phpunit", &["^Cannot open file \""], &[1]),
    ("phpunit", &["^Test file \"", "\" not found$"], &[1, 2]),
    ("lua", &["^lua", ": cannot open "], &[1]),
    ("R", &["^Fatal error: cannot open file '"], &[2]),
    ("java", &["^Error: Unable to access jarfile "], &[1]),
    ("java", &["^Error: Could not find or load main class "], &[1]),
    ("bats", &["bats: ", " does not exist$"], &[1]),
    ("bats", &["^ERROR: Test file \"", "\" does not exist"], &[1]),
    ("bazel", &["^ERROR: ", "no such "], &[1, 7]),
    ("git", &["^git: '", "' is not a git command. See "], &[1]),
    ("docker", &["^docker: '", "' is not a docker command."], &[1]),
    ("docker", &["^docker: unknown command: "], &[1]),
    ("docker", &["^docker: Error response from daemon: "], &[125, 126, 127]),
];

/// Lines below words that alone do not distinguish the requested module from a module that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum LineCondition {
    /// Some line holds this.
    Has(&'static str),
    /// No line holds this.
    Lacks(&'static str),
}

/// As [`LAST`], where the lines below decide: a module that no other one asks for is the one that the command names.
pub(super) const TRACED: [(WordList, LineCondition); 6] = [
    (coded![("node", &["^Error: Cannot find module '"], &[1])], LineCondition::Has("requireStack: []")),
    (
        coded![("node", &["^Error: Cannot find module '"], &[1])],
        LineCondition::Has("requireStack: [ 'internal/preload' ]"),
    ),
    (
        coded![("ts-node", &["^Error: Cannot find module '"], &[1])],
        LineCondition::Has("imaginaryUncacheableRequireResolveScript"),
    ),
    (
        coded![(
            "node",
            &["^Error [ERR_MODULE_NOT_FOUND]: Cannot find module '", "' imported from ", "/$"],
            &[1]
        )],
        LineCondition::Lacks("requireStack"),
    ),
    (coded![("bun, deno", &["^error: Module not found \""], &[1])], LineCondition::Lacks("at file:")),
    (coded![("docker", &["^unknown shorthand flag: "], &[1, 125])], LineCondition::Has("docker --help")),
];

/// How the lines begin that callers add when the program they call has failed.
pub(super) const CALLERS: WordList = words![
    "make: ",
    "make[",
    "gmake: ",
    "gmake[",
    "npm ERR! ",
    "npm error ",
    "npm notice",
    "error Command failed ",
    "info Visit ",
    "error: Recipe `",
    "error: script \"",
    "task: Failed to run task ",
    "ELIFECYCLE",
    "[ELIFECYCLE]",
    "ERR_PNPM_",
    "ninja: ",
    "Command exited with non-zero status ",
    "##[error]",
    "Error: Process completed with exit code ",
    "ERROR: InvocationError ",
    "lerna ERR! ",
    "✖  nx run ",
];

/// How the lines begin that explain what was said before them.
pub(super) const DETAILS: WordList = words![
    "at ",
    "}",
    "code: '",
    "requireStack: ",
    "url: '",
    "Node.js v",
    "Require stack:",
    "- ",
    "See '",
    "Run '",
    "Try '",
    "Usage: ",
    "usage: ",
    "inifile: ",
    "rootdir: ",
    "note: ",
    "help: ",
    "hint: ",
    "BEGIN failed--",
    "Caused by: ",
    "Stack backtrace:",
    "(no match in any of ",
    "The most similar command",
    "Did you mean ",
    "For more ",
    "no tests ran in ",
    "real\t",
    "user\t",
];

/// Programs that put their own name before a colon, and words that mean one.
pub(super) const PROGRAMS: WordList = words![
    "sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "env", "time", "nice", "timeout", "sudo", "make",
    "git", "docker", "podman", "python", "perl", "ruby", "php", "lua", "error", "Error", "ERROR",
];
