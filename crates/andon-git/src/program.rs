//! The git program, for what libgit2 cannot do: the only place that starts it.
//!
//! Arguments are an array, never a shell line. The repository is named explicitly and inherited variables
//! that would name another are removed; nothing is fetched lazily, no prompt appears, no optional lock is
//! taken; output is bounded.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::{ffi::OsStr, time::Duration};

use crate::platform::{paths::path_from_bytes, processes};
use crate::{GitError, Repo, RepoEnv, Result, error::cut};
use andon_core::WordList;

/// Most bytes of standard output that are kept; more is an error.
const MAX_STDOUT: u64 = 256 << 20;
/// Most bytes of standard error that are kept; the rest is dropped.
const MAX_STDERR: u64 = 64 << 10;

/// Variables by which a caller's git tells its children which repository it works on
/// (`git rev-parse --local-env-vars`), and two of the same kind.
const PLACE: WordList = WordList::section(WORDS, "place");
const FURTHER: WordList = WordList::section(WORDS, "further variables");
const WORDS: &str = include_str!("git_words.txt");

/// Settings by which a repository makes git start programs or work in the background. No command here needs them, so
/// they are overruled for a whole working tree, objects or a remote. Filters stay: they define a file's content. So do
/// credentials, proxies and ssh: a remote cannot be reached without them.
const INERT: WordList = WordList::section(WORDS, "inert settings");

/// The rule on password prompts for a program that reaches a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// There is a terminal.
    Allowed,
    /// There is none: asking would hang. ssh is left as the user has set it up.
    Never,
    /// There is none, and the user has set up no ssh of their own: ssh is started so that it does not prompt either.
    NeverNorSsh,
    /// A person waits for something else: no prompt in a terminal or a window.
    Suppressed(Quiet),
}

/// The ways to avoid prompts for a person who waits for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// True when the user has set up an ssh of their own, which stays.
    pub own_ssh: bool,
    /// True when a program that answers for git may be started: it opens no window here.
    pub askpass: bool,
}

/// The way in which a program reaches a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Online {
    pub prompt: Prompt,
    /// The longest time that the program may take; then it is ended, with all that it started.
    pub patience: Option<Duration>,
}

/// Runs `git ARGS` on whatever repository `dir` belongs to, with `input` on standard input.
/// Every variable that names another repository is removed.
pub fn git(dir: &Path, args: &[&OsStr], input: &[u8]) -> Result<Output> {
    run(command(dir, args, &[PLACE, FURTHER]), input)
}

/// Runs `git ARGS` in the working tree that was checked out in `dir`, with the settings of its repository but for those
/// that start programs, and whole: no sparse checkout. Objects are looked for in the same places as in this process.
pub(crate) fn git_there(dir: &Path, args: &[&OsStr]) -> Result<Output> {
    let settings = INERT.iter().chain(["core.sparseCheckout=false"]);
    let settings = settings.flat_map(|setting| [OsStr::new("-c"), OsStr::new(setting)]);
    let args: Vec<&OsStr> = settings.chain(args.iter().copied()).collect();
    run(command(dir, &args, &[PLACE]), b"")
}

/// The repository that git itself finds in `dir`: git directory and, unless it is bare, the top of the working tree. `None`
/// where git refuses it, by owner (`safe.directory`) or because it is bare (`safe.bareRepository`).
pub(crate) fn trusted_by_git(dir: &Path, env: &RepoEnv) -> Option<(PathBuf, Option<PathBuf>)> {
    let ask = |what: &str| {
        let mut command = command(dir, &["rev-parse", what].map(OsStr::new), &[PLACE]);
        for (name, value) in [("GIT_DIR", &env.git_dir), ("GIT_WORK_TREE", &env.work_tree)] {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let mut path = run(command, b"").ok()?.stdout;
        path.truncate(path.strip_suffix(b"\n").map_or(path.len(), <[u8]>::len));
        Some(path_from_bytes(&path)).filter(|path| path.is_absolute())
    };
    ask("--absolute-git-dir").map(|git_dir| (git_dir, ask("--show-toplevel")))
}

impl Repo {
    /// Runs `git ARGS` on this repository: its git directory, working tree and `GIT_INDEX_FILE`.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Output> {
        run(self.own_command(args), input)
    }

    /// Runs `git ARGS` with the repository's settings as they are: for questions about those settings.
    pub(crate) fn git_as_configured(&self, args: &[&str]) -> Result<Output> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        run(self.placed(&args), b"")
    }

    /// [`Self::git`] with more variables.
    pub(crate) fn git_with<S: AsRef<OsStr>>(
        &self,
        variables: &[(&str, &OsStr)],
        args: &[S],
        input: &[u8],
    ) -> Result<Output> {
        let mut command = self.own_command(args);
        command.envs(variables.iter().copied());
        run(command, input)
    }

    /// Runs `git ARGS` where it may reach a remote; how it ended is for the caller to judge.
    pub(crate) fn git_online(&self, args: &[&str], online: Online) -> Result<Output> {
        let mut command = self.own_command(args);
        match online.prompt {
            Prompt::Allowed => command.env_remove("GIT_TERMINAL_PROMPT"),
            Prompt::Never => command.env("GIT_TERMINAL_PROMPT", "0"),
            Prompt::NeverNorSsh => command.env("GIT_SSH_COMMAND", BATCH_SSH),
            Prompt::Suppressed(quiet) => suppress_prompts(&mut command, quiet),
        };
        end(command, b"", online.patience)
    }

    /// Major, minor and patch version of the git program; `None` where it does not say one. Starts a process.
    pub fn git_version(&self) -> Option<(u32, u32, u32)> {
        let output = self.git(&["--version"], b"").ok()?;
        parse_version(&String::from_utf8_lossy(&output.stdout))
    }

    /// True when git ignores the untracked `path`, from the top. Starts a process.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.git(&["check-ignore", "-q", "--", path], b"").is_ok()
    }

    pub(crate) fn own_command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let settings = INERT.iter().flat_map(|setting| [OsStr::new("-c"), OsStr::new(setting)]);
        let args: Vec<&OsStr> = settings.chain(args.iter().map(AsRef::as_ref)).collect();
        self.placed(&args)
    }

    fn placed(&self, args: &[&OsStr]) -> Command {
        let dir = self.workdir().unwrap_or(self.git_dir());
        let mut command = command(dir, args, &[PLACE]);
        command.env("GIT_DIR", self.git_dir());
        if let Some(top) = self.workdir() {
            command.env("GIT_WORK_TREE", top);
        }
        if let Some(index) = &self.index_file {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    }
}

/// ssh that fails where it would ask.
const BATCH_SSH: &str = "ssh -oBatchMode=yes";

/// Makes everything fail that would prompt. An ssh of the user's own opens the terminal by itself; given a program to
/// ask that has no answer, it does not.
fn suppress_prompts(command: &mut Command, quiet: Quiet) -> &mut Command {
    if !quiet.own_ssh {
        command.env("GIT_SSH_COMMAND", BATCH_SSH);
    }
    if !quiet.askpass {
        command.env("GIT_ASKPASS", "");
    }
    command.env("SSH_ASKPASS", "false").env("SSH_ASKPASS_REQUIRE", "force").env("GIT_TERMINAL_PROMPT", "0")
}

#[allow(clippy::disallowed_methods, reason = "the one place where the git program is started")]
fn command(dir: &Path, args: &[&OsStr], without: &[WordList]) -> Command {
    let mut command = Command::new("git");
    for name in without.iter().flat_map(|names| names.iter()) {
        command.env_remove(name);
    }
    command
        .args(args)
        .current_dir(dir)
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        // libgit2 knows no refs/replace, so both must see the real objects.
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_PAGER", "cat")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(command: Command, input: &[u8]) -> Result<Output> {
    let line = line_of(&command);
    let dir = command.get_current_dir().unwrap_or(Path::new(".")).to_path_buf();
    let ended = end(command, input, None)?;
    if !ended.status.success() {
        let stderr = cut(String::from_utf8_lossy(&ended.stderr).trim(), 2000);
        return Err(GitError::Program { command: line, dir, status: ended.status.to_string(), stderr });
    }
    Ok(ended)
}

/// Runs the command to its end. What takes longer than `patience` is killed as a group: a transport that git started holds
/// the pipes open otherwise.
fn end(mut command: Command, input: &[u8], patience: Option<Duration>) -> Result<Output> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    if patience.is_some() {
        processes::lead_group(&mut command);
    }
    let line = line_of(&command);
    let start_error = |source| GitError::ProgramStart { command: line.clone(), source };
    let mut child = command.spawn().map_err(start_error)?;
    let group = child.id();
    let (done, waiting) = mpsc::channel::<()>();
    let ((stdout, stderr), late) = std::thread::scope(|scope| {
        let watch = patience.map(|patience| {
            scope.spawn(move || {
                let is_late = waiting.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
                if is_late {
                    processes::end_group(group);
                }
                is_late.then_some(patience)
            })
        });
        let output = talk(&mut child, input);
        drop(done);
        (output, watch.and_then(|watch| watch.join().ok().flatten()))
    });
    let status = child.wait().map_err(start_error)?;
    if let Some(patience) = late {
        let stderr = format!("no end within {} s", patience.as_secs()).into_bytes();
        return Ok(Output { status, stdout: Vec::new(), stderr });
    }
    let stdout = stdout.map_err(|detail| GitError::Answer { command: line.clone(), detail })?;
    Ok(Output { status, stdout, stderr })
}

/// Feeds and drains the child at once, so that no pipe fills up.
fn talk(child: &mut Child, input: &[u8]) -> (Result<Vec<u8>, String>, Vec<u8>) {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            // A child that ends without reading everything says why on its own; the broken pipe does not.
            scope.spawn(move || drop(stdin.write_all(input)));
        }
        let errors =
            scope.spawn(move || stderr.map(|stderr| read_some(stderr, MAX_STDERR)).unwrap_or_default());
        let output = stdout.map_or_else(|| Ok(Vec::new()), |stdout| read_all(stdout, MAX_STDOUT));
        if output.is_err() {
            let _already_gone = child.kill();
        }
        (output, errors.join().unwrap_or_default())
    })
}

fn read_all(from: impl Read, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > max { Err(format!("more than {max} bytes")) } else { Ok(bytes) }
}

fn read_some(mut from: impl Read, max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _partial = from.by_ref().take(max).read_to_end(&mut bytes);
    let _drained = std::io::copy(&mut from, &mut std::io::sink());
    bytes
}

/// The command as a person would type it: without the settings that are always there.
fn line_of(command: &Command) -> String {
    let mut args: Vec<&OsStr> = command.get_args().collect();
    if args.get(1).copied() == INERT.iter().next().map(OsStr::new) {
        args.drain(..2 * INERT.iter().count());
    }
    let words = std::iter::once(command.get_program()).chain(args);
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    cut(&words.join(" "), 400)
}

fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let number = text.split_ascii_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.');
    let major = parts.next()?.parse().ok()?;
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let minor = digits(parts.next()?).parse().ok()?;
    let patch = parts.next().and_then(|part| digits(part).parse().ok()).unwrap_or(0);
    Some((major, minor, patch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    #[test]
    fn arguments_are_no_shell_line_and_failures_say_what_ran_where() {
        let scratch = Scratch::new();
        let dir = scratch.path();
        let output = git(&dir, &[OsStr::new("rev-parse"), OsStr::new("--git-dir")], b"").unwrap();
        assert_eq!(output.stdout, b".git\n");
        let error =
            git(&dir, &[OsStr::new("rev-parse"), OsStr::new("--verify"), OsStr::new("$(touch x); y")], b"")
                .unwrap_err();
        assert!(matches!(error, GitError::Program { .. }));
        assert!(error.to_string().contains(&dir.display().to_string()), "{error}");
        assert!(!dir.join("x").exists());
    }

    #[test]
    fn large_input_and_output_pass_through_together() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let id = repo.write_blob(&vec![b'x'; 1 << 16]).unwrap();
        let input = format!("{id}\n").repeat(200);
        let output = repo.git(&["cat-file", "--batch"], input.as_bytes()).unwrap();
        assert!(output.stdout.len() > 200 << 16);
        // A child that reads nothing is no error of ours.
        repo.git(&["rev-parse", "--git-dir"], &vec![b'x'; 1 << 20]).unwrap();
    }

    #[test]
    fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        repo.config_add("alias.slow", "!sleep 60 & sleep 60").unwrap();
        let patience = Duration::from_millis(200);
        let ended =
            repo.git_online(&["slow"], Online { prompt: Prompt::Never, patience: Some(patience) }).unwrap();
        assert!(!ended.status.success());
        assert!(ended.stderr.starts_with(b"no end within"));
        let quick =
            repo.git_online(&["--version"], Online { prompt: Prompt::Never, patience: Some(patience * 100) });
        assert!(quick.unwrap().status.success());
    }

    #[test]
    fn output_is_bounded() {
        assert_eq!(read_all(&b"12345"[..], 5).unwrap(), b"12345");
        assert!(read_all(&b"123456"[..], 5).is_err());
        assert_eq!(read_some(&b"123456"[..], 5), b"12345");
    }

    #[test]
    fn versions_of_every_build_are_read() {
        for (text, wanted) in [
            ("git version 2.47.3\n", Some((2, 47, 3))),
            ("git version 2.54.0.rc1", Some((2, 54, 0))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39, 5))),
            ("git version 2.54-dirty.windows.1", Some((2, 54, 0))),
            ("git version", None),
            ("", None),
        ] {
            assert_eq!(parse_version(text), wanted, "{text}");
        }
    }
}
