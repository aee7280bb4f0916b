//! Starts a hook that was there before Andon.
//!
//! One of the doors to other programs (ARCHITECTURE.md): a chained hook inherits the whole environment, the working
//! directory and the streams of git, because it must not notice that Andon starts it. What is started is decided in
//! `adapter::chain`.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::files::beginning;
use andon_git::if_there;
use andon_git::platform::{files, processes};

/// A chained hook that could not be read, started (often a wrong interpreter line) or waited for.
#[derive(Debug, thiserror::Error)]
#[error("{what} the chained hook {}: {source}", path.display())]
pub struct HookProgramError {
    /// "cannot read", "cannot start" or "lost".
    pub what: &'static str,
    /// The chained file, or the program that was to be started.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

/// The file at the place of a chained hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// There is no such file, so nothing was chained.
    Absent,
    /// A file that git would ignore, because it is not executable.
    NotExecutable,
    /// A file that git would start.
    Program { head: Vec<u8> },
}

/// Looks at the chained file `path` and reads its first `limit` bytes.
pub fn probe(path: &Path, limit: u64) -> Result<Probe, HookProgramError> {
    let failed = |source| HookProgramError { what: "cannot read", path: path.to_owned(), source };
    let Some(facts) = if_there(std::fs::metadata(path)).map_err(failed)? else { return Ok(Probe::Absent) };
    if !facts.is_file() || !files::is_executable(&facts) {
        return Ok(Probe::NotExecutable);
    }
    match beginning(path, limit) {
        Ok(head) => Ok(Probe::Program { head }),
        // Executable but not readable: a binary may be. It is started as it is.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok(Probe::Program { head: Vec::new() })
        }
        Err(error) => Err(failed(error)),
    }
}

/// The end of a started hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainedEnd {
    /// The exit code, or 128 and the number of the signal that ended it.
    Code(u8),
    /// The system says that the file is in no format it can start (`ENOEXEC`).
    NoProgram,
}

/// Starts `program` with `args` and waits. Standard output and error are ours; standard input too, unless
/// `stdin` holds what was already read from it.
pub fn run(
    program: &OsStr,
    args: &[OsString],
    stdin: Option<&[u8]>,
    env: &[(OsString, OsString)],
) -> Result<ChainedEnd, HookProgramError> {
    let failed = |what, source| HookProgramError { what, path: PathBuf::from(program), source };
    let (started, arguments) = processes::startable(program, args);
    #[allow(clippy::disallowed_methods, reason = "the door for chained hooks: see the head of this module")]
    let mut command = Command::new(&started);
    command.args(arguments).envs(env.iter().map(|(key, value)| (key, value)));
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::inherit() });
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if processes::is_no_program(&error) => return Ok(ChainedEnd::NoProgram),
        Err(source) => return Err(failed("cannot start", source)),
    };
    if let (Some(bytes), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // A hook may end without reading; git does not mind, and neither do we.
        match pipe.write_all(bytes) {
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                let _ = child.wait();
                return Err(failed("lost", source));
            }
            Ok(()) | Err(_) => {}
        }
    }
    let status = child.wait().map_err(|source| failed("lost", source))?;
    Ok(ChainedEnd::Code(code(status)))
}

fn code(status: ExitStatus) -> u8 {
    let number =
        status.code().or_else(|| processes::signal_of(status).map(|signal| signal.saturating_add(128)));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, stdin: Option<&[u8]>) -> ChainedEnd {
        let args = ["-c".into(), script.into(), "name".into(), "one two".into()];
        run(OsStr::new("/bin/sh"), &args, stdin, &[("ANDON_CHAIN".into(), "x".into())]).unwrap()
    }

    #[test]
    fn exit_codes_signals_arguments_and_environment_pass_through() {
        let cases: [(&str, u8); 6] = [
            ("exit 0", 0),
            ("exit 7", 7),
            ("kill -TERM $$", 143),
            ("kill -KILL $$", 137),
            ("test \"$1\" = 'one two'", 0),
            ("test \"$ANDON_CHAIN\" = x", 0),
        ];
        for (script, wanted) in cases {
            assert_eq!(sh(script, None), ChainedEnd::Code(wanted), "{script}");
        }
    }

    #[test]
    fn standard_input_is_handed_over_or_left_unread() {
        assert_eq!(sh("test \"$(cat)\" = 'a b'", Some(b"a b\n")), ChainedEnd::Code(0));
        assert_eq!(sh("exit 3", Some(&vec![b'x'; 1 << 20])), ChainedEnd::Code(3));
        assert_eq!(sh("test -z \"$(cat)\"", Some(b"")), ChainedEnd::Code(0));
    }

    #[test]
    fn what_cannot_be_started_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("hook");
        assert_eq!(probe(&file, 10).unwrap(), Probe::Absent);
        andon_testkit::write_program(&file, "exit 5\n", 0o644);
        assert_eq!(probe(&file, 10).unwrap(), Probe::NotExecutable);
        andon_testkit::write_program(&file, "exit 5\n", 0o755);
        assert_eq!(probe(&file, 4).unwrap(), Probe::Program { head: b"exit".to_vec() });
        assert_eq!(run(file.as_os_str(), &[], None, &[]).unwrap(), ChainedEnd::NoProgram);
        let error = run(OsStr::new("/nonexistent/x"), &[], None, &[]).unwrap_err();
        assert!(error.to_string().starts_with("cannot start the chained hook /nonexistent/x: "), "{error}");
    }
}
