//! Starts a command with a signal mask of its own.
//!
//! `std` starts a program with the signal mask of the calling thread, so that one of two would suffer: the command,
//! which with SIGCHLD blocked waits for ever (`ctest`), or this process, which a signal at that moment would end, with
//! the command left running and its result lost. `posix_spawn` takes the mask of the new process.

use std::ffi::{CString, NulError};
use std::os::unix::{ffi::OsStrExt, process::ExitStatusExt};
use std::sync::{Mutex, PoisonError};
use std::{io, os::fd::AsRawFd, path::Path, process::ExitStatus};

use nix::errno::Errno;
use nix::libc::{STDERR_FILENO, STDOUT_FILENO};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, chdir, getcwd};
use rustix::process::{WaitOptions, waitpid};

use super::{Environment, Group, Outputs, SentSignal, Start, signals::HeldSignals, terminal::Wire};
use testreport::Stream;

/// The working directory belongs to the whole process: one start at a time changes it.
static WORKING_DIRECTORY: Mutex<()> = Mutex::new(());

/// A started command.
pub(super) struct RunningCommand {
    pid: Pid,
}

impl Start<'_> {
    /// Starts it with our standard input and with the signals that were held back before `held` was.
    #[allow(clippy::disallowed_methods, reason = "the one place that starts the test command")]
    pub(super) fn run(&self, held: &HeldSignals) -> io::Result<(RunningCommand, Outputs)> {
        let argv: Vec<CString> =
            self.argv.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<_, _>>()?;
        let program = argv.first().ok_or(io::ErrorKind::InvalidInput)?;
        let env = entries(self.env)?;
        let stdout = Wire::to(self.screens.stdout.as_ref())?;
        let stderr = Wire::to(self.screens.stderr.as_ref())?;
        let mut files = PosixSpawnFileActions::init()?;
        files.add_dup2(stdout.its.as_raw_fd(), STDOUT_FILENO)?;
        files.add_dup2(stderr.its.as_raw_fd(), STDERR_FILENO)?;
        let attributes = self.attributes(held)?;
        let pid = inside(self.directory, || posix_spawnp(program, &files, &attributes, &argv, &env))??;
        let streams = [(Stream::Stdout, stdout.ours), (Stream::Stderr, stderr.ours)];
        Ok((
            RunningCommand { pid },
            Outputs { streams, sizes: stdout.size.into_iter().chain(stderr.size).collect() },
        ))
    }

    fn attributes(&self, held: &HeldSignals) -> Result<PosixSpawnAttr, Errno> {
        let mut attributes = PosixSpawnAttr::init()?;
        let mut flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
        attributes.set_sigmask(held.before())?;
        // Rust programs ignore it from their start; what is ignored is inherited.
        attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
        if self.group == Group::Own {
            flags |= PosixSpawnFlags::POSIX_SPAWN_SETPGROUP;
            attributes.set_pgroup(Pid::from_raw(0))?;
        }
        attributes.set_flags(flags)?;
        Ok(attributes)
    }
}

impl RunningCommand {
    /// Its process id.
    pub(super) fn id(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Sends a signal to it and to all that it started; it is in this `group`.
    pub(super) fn send(&self, group: Group, sent: SentSignal) {
        group.send(self.pid, sent);
    }

    /// Its status once it has ended, as the system says it: nix knows no real-time signals, and forgets what it does not
    /// know.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match waitpid(rustix::process::Pid::from_raw(self.pid.as_raw()), WaitOptions::NOHANG) {
            Ok(ended) => Ok(ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw()))),
            Err(rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// As `NAME=value`.
fn entries(env: &Environment) -> Result<Vec<CString>, NulError> {
    env.iter().map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())).collect()
}

/// Does something in another working directory. That ours may be gone is no reason not to.
fn inside<T>(directory: &Path, action: impl FnOnce() -> T) -> Result<T, Errno> {
    let _alone = WORKING_DIRECTORY.lock().unwrap_or_else(PoisonError::into_inner);
    let before = getcwd();
    chdir(directory)?;
    let done = action();
    if let Ok(before) = before {
        let _gone = chdir(&before);
    }
    Ok(done)
}
