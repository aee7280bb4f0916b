//! `andon demo`: shows each step and what came back.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::cli::{Exit, Shell};
use andon_core::escape;
use andon_engine::{Context, OpsError, Result, VerbError};
use andon_git::{platform::paths::LIST_SEPARATOR, platform::processes};

/// Plays the demo.
pub fn run(shell: &Shell, args: &DemoArgs) -> Result<Exit> {
    let out = shell.out;
    let mut show = |line: DemoLine<'_>| match line {
        DemoLine::Say(text) => out.result(&format!("\n{}\n", out.out.bold(text))),
        DemoLine::Command(text) => out.result(&format!("$ {text}\n")),
        DemoLine::Output(text) => out.result(&indented(text)),
        DemoLine::Exit(code) => out.result(&format!("    {}\n", out.out.dim(&format!("(exit code {code})")))),
    };
    let dir = play(&shell.ctx, args.keep.as_deref(), &mut show)?;
    let dir = escape::terminal(&dir.to_string_lossy()).into_owned();
    out.result(&format!(
        "\n{}\n    cd {dir}\n    cat .andon/CHECKPOINT.md        why the line was stopped\n    andon status                    the state of the loop\n    \
         git log --notes=andon           the records, with plain git\n    andon resume --reason '<decision>'     answer it\n",
        out.out.bold("The repository is still there. Look at:")
    ));
    Ok(Exit::Allowed)
}

/// Each line four columns in, controls made visible.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {}\n", escape::terminal(line))).collect()
}

/// `andon demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the scratch repository in DIR, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Shows one line or block of the demo as it happens.
pub type Show<'a> = &'a mut dyn FnMut(DemoLine<'_>);

/// A step of the demo as it is shown.
#[derive(Debug, Clone, Copy)]
pub enum DemoLine<'a> {
    /// An announcement.
    Say(&'a str),
    /// A command as a person would type it.
    Command(&'a str),
    /// Output of a command or text of a file, escaped by the caller.
    Output(&'a str),
    /// The exit code of a command that did not exit with 0.
    Exit(i32),
}

/// Runs the demo in `keep`, or in a new temporary directory. Fails when a step came out other than it should.
fn play(ctx: &Context, keep: Option<&Path>, show: Show<'_>) -> Result<PathBuf> {
    let dir = scratch(keep)?;
    let andon = ctx.program.clone().ok_or_else(|| failed("the path of the running program is not known"))?;
    let stage = Stage { env: environment(&andon, &dir), dir, path: ctx.path.clone() };
    for step in steps() {
        stage.play(step, show)?;
    }
    Ok(stage.dir)
}

/// The steps of the script: each begins with `@`, the word that says what it is, and what it is about. Lines below are the text of
/// a file. In front of a command and ` | ` stand words that its output must hold.
fn steps() -> impl Iterator<Item = &'static str> {
    include_str!("script.txt").trim_end().trim_start_matches('@').split("\n@")
}

fn failed(what: impl Into<String>) -> OpsError {
    let what = format!("the demo failed: {}", what.into());
    OpsError::verb(VerbError::Failed, what, "please report this with the output above")
}

/// The directory to play in: `keep` must be new or empty, so that nothing of the user's is touched.
fn scratch(keep: Option<&Path>) -> Result<PathBuf> {
    let io = |err: std::io::Error| failed(format!("cannot make the scratch repository: {err}"));
    let Some(dir) = keep else {
        return Ok(tempfile::Builder::new().prefix("andon-demo-").tempdir().map_err(io)?.keep());
    };
    std::fs::create_dir_all(dir).map_err(io)?;
    if std::fs::read_dir(dir).map_err(io)?.next().is_some() {
        return Err(OpsError::usage(
            format!("{} is not empty", dir.display()),
            "name a directory that does not exist yet: andon demo --keep DIR",
        ));
    }
    dir.canonicalize().map_err(io)
}

/// The demo's own git: no configuration of the user or the system, fixed names.
fn environment(andon: &Path, dir: &Path) -> Vec<EnvChange> {
    let config = dir.join(".git").into_os_string();
    let mut changes = vec![EnvChange::Set("XDG_CONFIG_HOME".into(), config)];
    let own = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("NO_COLOR", "1"),
        ("LC_ALL", "C"),
    ];
    changes.extend(own.map(|(name, value)| EnvChange::Set(name.into(), value.into())));
    changes.extend(person("Demo Agent", "agent@example.org"));
    changes.extend(UNSET.split(' ').map(|name| EnvChange::Remove(name.into())));
    // `andon resume` below is the person's part: it must not look like an agent's shell.
    changes.extend(andon_core::domain::agent::markers().map(|marker| EnvChange::Remove(marker.name.into())));
    if let Some(bin) = andon.parent() {
        changes.push(EnvChange::PrependPath(bin.as_os_str().to_owned()));
    }
    changes
}

/// Variables that would reach into the demo.
const UNSET: &str = "GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_AUTHOR_DATE GIT_COMMITTER_DATE ANDON ANDON_NODE ANDON_SESSION \
                     PRE_COMMIT";

/// Somebody who makes commits.
fn person(name: &str, email: &str) -> Vec<EnvChange> {
    let of_role = |role: &str| {
        let set = |what: &str, value: &str| EnvChange::Set(format!("GIT_{role}_{what}").into(), value.into());
        [set("NAME", name), set("EMAIL", email)]
    };
    ["AUTHOR", "COMMITTER"].into_iter().flat_map(of_role).collect()
}

struct Stage {
    dir: PathBuf,
    env: Vec<EnvChange>,
    path: Option<OsString>,
}

impl Stage {
    fn play(&self, step: &str, show: Show<'_>) -> Result<()> {
        let (head, text) = step.split_once('\n').unwrap_or((step, ""));
        let (kind, about) = head.split_once(' ').unwrap_or((head, ""));
        let (words, command) = about.split_once(" | ").unwrap_or(("", about));
        match kind {
            "say" => show(DemoLine::Say(about)),
            "write" => self.write(about, &format!("{text}\n"))?,
            // Two tests at first, a third with the new task.
            "before" => self.write(about, include_str!("tests_before.sh"))?,
            "after" => self.write(about, include_str!("tests.sh"))?,
            "show" => {
                show(DemoLine::Command(&format!("cat {about}")));
                let text = std::fs::read_to_string(self.dir.join(about))
                    .map_err(|err| failed(format!("{about} was to be there: {err}")))?;
                show(DemoLine::Output(&text));
            }
            // Others are commands that are shown with what came back.
            _ => {
                let is_shown = kind != "quiet";
                if is_shown {
                    show(DemoLine::Command(command));
                }
                let end = self.command(command)?;
                if is_shown {
                    show(DemoLine::Output(&end.output));
                }
                if is_shown && end.code != 0 {
                    show(DemoLine::Exit(end.code));
                }
                if (end.code != 0) != (kind == "fails") || !end.output.contains(words) {
                    return Err(failed(format!("`{command}` came out wrong:\n{}", end.output)));
                }
            }
        }
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        std::fs::write(self.dir.join(path), text).map_err(|err| failed(format!("cannot write {path}: {err}")))
    }

    fn command(&self, command: &str) -> Result<CapturedOutput> {
        let mut env = self.env.clone();
        if command.starts_with("andon resume") {
            // The one who answers is not the one who made the commits.
            env.extend(person("Dana", "dana@example.org"));
        }
        capture(command, &self.dir, &env, self.path.as_deref())
            .map_err(|err| failed(format!("{command}: {err}")))
    }
}

/// Most bytes of output that are kept.
const MAX_OUTPUT: u64 = 1 << 20;

/// A change of the environment of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EnvChange {
    /// Sets a variable.
    Set(OsString, OsString),
    /// Removes a variable.
    Remove(OsString),
    /// Puts a directory before the others of `PATH`.
    PrependPath(OsString),
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CapturedOutput {
    /// Exit code; 128 + signal when it was killed.
    pub code: i32,
    /// Both streams in the order of writing, made UTF-8 lossily.
    pub output: String,
}

/// Runs a line of a shell in `dir` with both streams in one pipe and no standard input.
fn capture(line: &str, dir: &Path, env: &[EnvChange], path: Option<&OsStr>) -> io::Result<CapturedOutput> {
    let (reader, writer) = io::pipe()?;
    let mut child = {
        #[allow(clippy::disallowed_methods, reason = "the door of the demo's programs")]
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(dir).stdin(Stdio::null());
        command.stdout(writer.try_clone()?).stderr(writer);
        for change in env {
            match change {
                EnvChange::Set(name, value) => command.env(name, value),
                EnvChange::Remove(name) => command.env_remove(name),
                EnvChange::PrependPath(first) => {
                    let mut value = first.clone();
                    if let Some(rest) = path {
                        value.push(LIST_SEPARATOR.to_string());
                        value.push(rest);
                    }
                    command.env("PATH", value)
                }
            };
        }
        // The command, and with it our ends of the pipe, is dropped here: otherwise reading would never end.
        command.spawn()?
    };
    let mut output = Vec::new();
    reader.take(MAX_OUTPUT).read_to_end(&mut output)?;
    let status = child.wait()?;
    let code = status.code().unwrap_or_else(|| 128 + processes::signal_of(status).unwrap_or(0));
    Ok(CapturedOutput { code, output: String::from_utf8_lossy(&output).into_owned() })
}
