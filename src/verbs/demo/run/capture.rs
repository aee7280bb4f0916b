//! Runs a program to its end and keeps what it said: for the demo, which shows real commands and their answers.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use andon_git::platform::paths::LIST_SEPARATOR;
use andon_git::platform::processes;

/// Most bytes of output that are kept.
const MAX_OUTPUT: u64 = 1 << 20;

/// A change of the environment of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvChange {
    /// Sets a variable.
    Set(OsString, OsString),
    /// Removes a variable.
    Remove(OsString),
    /// Puts a directory before the others of `PATH`.
    PrependPath(OsString),
}

/// What a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedOutput {
    /// Exit code; 128 + signal when it was killed.
    pub code: i32,
    /// Both streams in the order of writing, made UTF-8 lossily.
    pub output: String,
}

/// Runs `argv` in `dir` with both streams in one pipe and no standard input.
pub fn capture(
    argv: &[OsString],
    dir: &Path,
    env: &[EnvChange],
    path: Option<&OsStr>,
) -> io::Result<CapturedOutput> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "an empty command");
    let (program, arguments) = argv.split_first().ok_or_else(missing)?;
    let (reader, writer) = io::pipe()?;
    let mut child = {
        #[allow(clippy::disallowed_methods, reason = "the door of the demo's programs")]
        let mut command = Command::new(program);
        command.args(arguments).current_dir(dir).stdin(Stdio::null());
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
