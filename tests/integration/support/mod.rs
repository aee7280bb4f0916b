//! A hermetic stage: scratch repositories, the real `git`, no user or system configuration, fixed dates.

#![allow(clippy::disallowed_methods, reason = "tests start programs")]
#![allow(clippy::unwrap_used, reason = "a stage that cannot be set up fails its test")]

pub(crate) mod ground;
pub(crate) mod image;
pub(crate) mod people;
mod scratch;

use std::fmt::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{cell::RefCell, collections::BTreeMap, ffi::OsStr, io::Write as _, sync::LazyLock};

use self::image::built;

/// What a command left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out {
    /// Exit code; 128 + signal when killed.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Out {
    /// Both streams.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Panics with everything unless the command succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// Panics with everything unless the command failed.
    #[track_caller]
    pub fn refused(self) -> Self {
        assert_ne!(self.code, 0, "{self}");
        self
    }

    /// Panics unless one of the streams says `words`.
    #[track_caller]
    pub fn says(self, words: &str) -> Self {
        assert!(self.all().contains(words), "missing {words:?} in\n{self}");
        self
    }

    /// Panics when one of the streams says `words`.
    #[track_caller]
    pub fn lacks(self, words: &str) -> Self {
        assert!(!self.all().contains(words), "unexpected {words:?} in\n{self}");
        self
    }

    /// Panics unless the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|err| panic!("{err}: {self}"))
    }

    /// Exit code and the streams that are not empty, for a snapshot: what differs from run to run is made alike.
    pub fn shown(&self) -> String {
        let mut text = format!("exit {}\n", self.code);
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !stream.is_empty() {
                write!(text, "--- {name}\n{stream}").unwrap();
            }
        }
        let text = text.replace(andon_path().to_str().unwrap(), "ANDON");
        REDACTED.iter().fold(text, |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
    }

    /// As [`Self::shown`] without the indented lines below each message: another test shows its help. Its place stays.
    pub fn brief(&self) -> String {
        let (mut text, mut before) = (String::new(), String::new());
        for line in self.shown().lines() {
            if let Some(stream) = line.strip_prefix("--- ") {
                before = format!(
                    "{}{stream}: ",
                    if text.contains('\n') || text.contains(':') { "\n" } else { ", " }
                );
            } else if line.starts_with("  --> ") {
                text.push_str(&line[1..]);
            } else if !line.starts_with(' ') {
                text = text + &std::mem::replace(&mut before, "\n".to_owned()) + line;
            }
        }
        text
    }
}

/// Paths of a stage, times and ids, each with the word that replaces it in a snapshot.
static REDACTED: LazyLock<[(regex::Regex, &str); 6]> = LazyLock::new(|| {
    [
        (r"(?:/[A-Za-z0-9_.+-]+)*/\.tmp[A-Za-z0-9]{6}(?-u:\b)", "ROOT"),
        (r"(?-u:\b2026-\d\d-\d\dT[\d:]+Z)", "TIME"),
        (r"(?-u:\b(?:just now|\d+ (?:minute|hour|day)s? ago) \((?:2026-\d\d-\d\d )?\d\d:\d\d \w+\))", "TIME"),
        (r"(?-u:\b2026-\d\d-\d\d \d\d:\d\d(?: UTC)?)", "TIME"),
        (r"(?-u:\b(?:just now|\d+ (?:minute|hour|day)s? ago)\b)", "AGE"),
        (r"(?-u:\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{12})\b)", "HASH"),
    ]
    .map(|(pattern, name)| (regex::Regex::new(pattern).unwrap(), name))
});

impl fmt::Display for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// A scratch directory with a repository in `repo/`.
pub struct Stage {
    root: tempfile::TempDir,
    dir: PathBuf,
    env: RefCell<BTreeMap<String, Option<String>>>,
    clock: RefCell<i64>,
    /// How far the clock was set, beside the time that has passed.
    set_by: RefCell<i64>,
}

/// Git's configuration, beside the repository. It keeps each commit, merge and rebase from starting a process that looks
/// whether the repository is large enough to be packed.
const GIT_CONFIG: &str = "git-config";

/// 2026-11-20T15:30:00Z
pub const START: i64 = 1_795_188_600;

/// See [`Stage::forget`].
pub fn forget(clone: &Path) {
    for name in ["cache", "written"] {
        let _none = std::fs::remove_dir_all(clone.join(".git/andon").join(name));
    }
}

impl Stage {
    /// A directory without a repository.
    pub fn bare_ground() -> Self {
        let stage = Self::empty();
        std::fs::create_dir(&stage.dir).unwrap();
        std::fs::write(stage.root().join(GIT_CONFIG), "[maintenance]\n\tauto = false\n").unwrap();
        stage
    }

    /// A directory with nothing in it.
    fn empty() -> Self {
        let root = scratch::new();
        let dir = root.path().canonicalize().unwrap().join("repo");
        Self { root, dir, env: RefCell::default(), clock: RefCell::new(START), set_by: RefCell::default() }
    }

    /// An empty repository on branch `main`.
    pub fn new() -> Self {
        let stage = Self::bare_ground();
        stage.git(&["init", "-q", "-b", "main", "."]).ok();
        stage
    }

    /// A repository with `check.sh` as its test command (TAP: one test per line of `tests.txt`, see [`Stage::tests`]),
    /// the hooks installed and one tested commit.
    pub fn installed() -> Self {
        built!(Stage::install())
    }

    fn install() -> Self {
        let stage = Self::new();
        stage.write("check.sh", CHECK);
        stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
        stage.tests(&["ok a", "ok b"]);
        stage.write("code.txt", "start\n");
        stage.andon(&["install"]).ok();
        stage.tested_commit_of(".", "Start");
        stage
    }

    /// The repository's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory around the repository.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// A path in the repository.
    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.join(path)
    }

    /// Forgets what this clone remembers of its records and ledgers, as where nothing was ever read: else each door puts back
    /// what a test takes away.
    pub fn forget(&self) {
        forget(&self.dir);
    }

    /// Writes a file in the repository.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        // The toy code of these tests is called `*.txt`, which is documentation by default.
        let text = std::str::from_utf8(content).unwrap_or_default();
        let toy = path == "andon.toml" && text.contains("[test]") && !text.contains("docs =");
        let content = match text.split_once("[paths]\n") {
            Some((before, after)) if toy => format!("{before}{TOY_CODE}{after}").into_bytes(),
            None if toy => format!("{text}{TOY_CODE}").into_bytes(),
            Some(_) | None => content.to_vec(),
        };
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file of the repository.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
    }

    /// Whether a file of the repository exists.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// Sets the results that `check.sh` will report: lines such as `ok a` and `not ok b`.
    pub fn tests(&self, lines: &[&str]) {
        self.write("tests.txt", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    /// Sets a variable for the commands that follow.
    pub fn set(&self, name: &str, value: &str) {
        self.env.borrow_mut().insert(name.to_owned(), Some(value.to_owned()));
    }

    /// Removes a variable for the commands that follow.
    pub fn unset(&self, name: &str) {
        self.env.borrow_mut().insert(name.to_owned(), None);
    }

    /// Sets the clock ahead: no time passes.
    pub fn set_clock_ahead(&self, seconds: i64) {
        self.pass(seconds);
        *self.set_by.borrow_mut() += seconds;
    }

    /// Lets time pass.
    pub fn pass(&self, seconds: i64) {
        *self.clock.borrow_mut() += seconds;
    }

    /// Sets the clock of the next command to so many seconds after the start.
    pub fn set_clock(&self, seconds: i64) {
        *self.clock.borrow_mut() = START + seconds - 60;
    }

    /// Runs git in the repository; each call is a minute later.
    pub fn git(&self, args: &[&str]) -> Out {
        self.run_in(&self.dir, "git", args, None)
    }

    /// Runs git elsewhere.
    pub fn git_in(&self, dir: &Path, args: &[&str]) -> Out {
        self.run_in(dir, "git", args, None)
    }

    /// Runs andon in the repository.
    pub fn andon(&self, args: &[&str]) -> Out {
        self.run_in(&self.dir, andon_path(), args, None)
    }

    /// Runs andon elsewhere.
    pub fn andon_in(&self, dir: &Path, args: &[&str]) -> Out {
        self.run_in(dir, andon_path(), args, None)
    }

    /// Runs andon in the repository with standard input.
    pub fn feed(&self, args: &[&str], input: &[u8]) -> Out {
        self.run_in(&self.dir, andon_path(), args, Some(input))
    }

    /// Takes steps one after the other, parted by `; `: commands of git and andon, which must succeed, and `echo WORDS >
    /// FILE`. A word in single quotes may hold blanks.
    #[track_caller]
    pub fn steps(&self, script: &str) {
        self.steps_in(&self.dir, script);
    }

    /// The same elsewhere.
    #[track_caller]
    pub fn steps_in(&self, dir: &Path, script: &str) {
        for step in script.split("; ") {
            let parts = step.split('\'').enumerate();
            let words: Vec<&str> = parts
                .flat_map(|(n, part)| if n % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
                .collect();
            let out = match &words[..] {
                ["git", args @ ..] => self.git_in(dir, args),
                ["andon", args @ ..] => self.andon_in(dir, args),
                ["echo", text @ .., ">", file] => {
                    std::fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
                    std::fs::write(dir.join(file), text.join(" ") + "\n").unwrap();
                    continue;
                }
                _ => panic!("no step: {step}"),
            };
            assert_eq!(out.code, 0, "{step}: {out}");
        }
    }

    /// Runs any program with standard input.
    pub fn run_in(&self, dir: &Path, program: impl AsRef<OsStr>, args: &[&str], stdin: Option<&[u8]>) -> Out {
        self.pass(60);
        let program: &OsStr = program.as_ref();
        let mut command = self.command(dir, program);
        // A test has no terminal.
        let resumes = program == andon_path().as_os_str() && args.first() == Some(&"resume");
        if resumes && !args.iter().any(|arg| arg.starts_with("--yes") || *arg == "--help") {
            command.arg("resume").arg("--yes").args(&args[1..]);
        } else {
            command.args(args);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().unwrap();
        if let Some(bytes) = stdin {
            let _ = child.stdin.take().unwrap().write_all(bytes);
        }
        let output = child.wait_with_output().unwrap();
        Out {
            code: output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0)),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// A command in the stage's environment.
    pub fn command(&self, dir: &Path, program: impl AsRef<OsStr>) -> Command {
        let date = format!("@{} +0000", self.clock.borrow());
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, value) in [
            ("HOME", self.root.path().to_str().unwrap()),
            ("GIT_CONFIG_GLOBAL", self.root.path().join(GIT_CONFIG).to_str().unwrap()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "A. Author"),
            ("GIT_AUTHOR_EMAIL", "author@example.org"),
            ("GIT_COMMITTER_NAME", "A. Author"),
            ("GIT_COMMITTER_EMAIL", "author@example.org"),
            ("GIT_AUTHOR_DATE", &date),
            ("GIT_COMMITTER_DATE", &date),
            ("GIT_EDITOR", "true"),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
        ] {
            command.env(name, value);
        }
        command.env("ANDON_TEST_NOW", self.now());
        // The tests may be run by an agent.
        command.env("ANDON_TEST_ABOVE", "none");
        let since_boot = *self.clock.borrow() - *self.set_by.borrow() - START + 3600;
        command.env("ANDON_TEST_UPTIME", format!("0123456789abcdef+{since_boot}"));
        for (name, value) in self.env.borrow().iter() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The stage's clock as RFC 3339.
    fn now(&self) -> String {
        andon_core::domain::Timestamp(*self.clock.borrow()).to_string()
    }

    /// Edits the code, sets test results, runs the tests and commits. The commit's outcome comes back.
    pub fn iterate(&self, code: &str, tests: &[&str], message: &str) -> Out {
        self.write("code.txt", code);
        self.tests(tests);
        self.andon(&["test"]);
        self.git(&["commit", "-qam", message])
    }

    /// Writes a file and stages it.
    pub fn add(&self, path: &str, content: impl AsRef<[u8]>) {
        self.write(path, content);
        self.git(&["add", path]).ok();
    }

    /// Runs the tests and commits; `flags` are those of git: `-qam` or `-qm`.
    pub fn tested_commit(&self, flags: &str, message: &str) {
        self.andon(&["test"]).ok();
        self.git(&["commit", flags, message]).ok();
    }

    /// Stages `path`, runs the tests and commits.
    pub fn tested_commit_of(&self, path: &str, message: &str) {
        self.git(&["add", path]).ok();
        self.tested_commit("-qm", message);
    }

    /// Commits `path`; the tests are not run.
    pub fn commit_of(&self, path: &str, message: &str) {
        self.git(&["add", path]).ok();
        self.git(&["commit", "-qm", message]).ok();
    }

    /// HEAD's commit id.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).ok().stdout.trim().to_owned()
    }

    /// The record of a revision, parsed from what plain git shows.
    pub fn record(&self, revision: &str) -> serde_json::Value {
        let out = self.git(&["notes", "--ref=andon", "show", revision]).ok();
        serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {}", out.stdout))
    }
}

/// The program under test.
pub fn andon_path() -> PathBuf {
    // Another build of it, such as an optimised one for many stories.
    std::env::var_os("ANDON_TEST_PROGRAM")
        .map_or_else(|| assert_cmd::cargo::cargo_bin!("andon").to_path_buf(), PathBuf::from)
}

/// Writes a program, and the directory around it.
pub(crate) fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// Says that texts are code.
const TOY_CODE: &str = "[paths]\ndocs = [\"**/*.md\", \"docs/**\", \"**/.gitignore\"]\n";

/// TAP from `tests.txt`; fails when a line says so.
pub const CHECK: &str = r#"#!/bin/sh
n=0
echo "1..$(grep -c . tests.txt)"
code=0
while read -r line; do
  n=$((n + 1))
  case "$line" in
    "not ok "*) echo "not ok $n - ${line#not ok }"; code=1 ;;
    "ok "*) echo "ok $n - ${line#ok }" ;;
  esac
done < tests.txt
exit $code
"#;
