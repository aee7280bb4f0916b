//! Processes, as Windows has them: without groups, signals and scripts that the system starts.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitStatus, Stdio};
use std::{io, os::windows::process::CommandExt as _, path::Path};

use crate::platform::Life;

/// Ctrl-C in the console is not for a program that was started so.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
/// The system's error for a file that is no program.
const ERROR_BAD_EXE_FORMAT: i32 = 193;
/// Has a shell start a hook by its first line, as git does.
const START: &str = r#"exec "$0" "$@""#;

/// Not available without rights of its own.
pub fn life(_id: i32) -> Life {
    Life::Unknown
}

/// Not available.
pub fn parent_id() -> u32 {
    0
}

/// Has a program be apart from this one's console signals.
pub fn lead_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

/// Ends the process with this id and all that it started.
#[allow(clippy::disallowed_methods, reason = "the system has a program for it, and no function that is safe")]
pub fn end_group(id: u32) {
    let mut command = Command::new("taskkill");
    command.args(["/F", "/T", "/PID", &id.to_string()]).stdin(Stdio::null());
    let _gone = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// There are no signals.
pub fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

/// True for the system's error about a file in no format that it can start.
pub fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_BAD_EXE_FORMAT)
}

/// The system's error about a file in no format that it can start.
pub fn no_program() -> io::Error {
    io::Error::from_raw_os_error(ERROR_BAD_EXE_FORMAT)
}

/// The program and arguments to start for a hook. The system starts no scripts: the shell that git brings does. What has a
/// path of unix is looked for in `PATH`, where git has put its own programs for hooks.
pub fn startable(program: &OsStr, args: &[OsString]) -> (OsString, Vec<OsString>) {
    let path = Path::new(program);
    if program.to_string_lossy().starts_with('/') {
        return (path.file_name().unwrap_or(program).to_owned(), args.to_vec());
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exe")) {
        return (program.to_owned(), args.to_vec());
    }
    let shell = ["-c".into(), START.into(), program.to_owned()];
    ("sh".into(), shell.into_iter().chain(args.iter().cloned()).collect())
}

/// Ends this process at once.
pub fn die() {
    std::process::abort();
}

/// A process cannot stop itself.
pub fn stop() {}
