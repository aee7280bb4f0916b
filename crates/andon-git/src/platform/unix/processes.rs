//! Processes, as unix has them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};

use nix::sys::signal::{Signal, kill, killpg};
use nix::{errno::Errno, unistd::Pid};

use crate::platform::Life;

/// The state of the process with this id.
pub fn life(id: i32) -> Life {
    if id <= 0 || kill(Pid::from_raw(id), None) == Err(Errno::ESRCH) { Life::Gone } else { Life::Running }
}

/// The id of the process that started this one.
pub fn parent_id() -> u32 {
    std::os::unix::process::parent_id()
}

/// Has a program lead a group of its own, so that it can be ended with all that it starts.
pub fn lead_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Ends the group that the process with this id leads. That it may have ended already is no error.
pub fn end_group(id: u32) {
    if let Ok(id) = i32::try_from(id) {
        let _gone = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// The signal that ended a process.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// True for the system's error about a file in no format that it can start.
pub fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ENOEXEC as i32)
}

/// The system's error about a file in no format that it can start.
pub fn no_program() -> io::Error {
    io::Error::from_raw_os_error(Errno::ENOEXEC as i32)
}

/// The program and arguments to start for a hook: themselves, since the system reads the first line of a script.
pub fn startable(program: &OsStr, args: &[OsString]) -> (OsString, Vec<OsString>) {
    (program.to_owned(), args.to_vec())
}

/// Ends this process at once, as `kill -9` does.
pub fn die() {
    let _ = kill(Pid::this(), Signal::SIGKILL);
}

/// Stops this process, as `kill -STOP` does.
pub fn stop() {
    let _ = kill(Pid::this(), Signal::SIGSTOP);
}
