//! Starts a command with pipes for its output.

use std::os::windows::io::OwnedHandle;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::{fs::File, io};

use super::{Group, Outputs, SentSignal, Start, signals::HeldSignals, terminal::Screens};
use andon_git::platform::processes;
use testreport::Stream;

/// A started command.
pub(super) struct RunningCommand {
    child: Child,
}

impl Start<'_> {
    /// Starts it with our standard input.
    #[allow(clippy::disallowed_methods, reason = "the one place that starts the test command")]
    pub(super) fn run(&self, _held: &HeldSignals) -> io::Result<(RunningCommand, Outputs)> {
        // Nothing to be made of them.
        let Screens = self.screens;
        let (program, arguments) = self.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory).env_clear().envs(self.env.iter().cloned());
        command.stdin(Stdio::inherit()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.group == Group::Own {
            processes::lead_group(&mut command);
        }
        let mut child = command.spawn()?;
        let piped = |handle: Option<OwnedHandle>| handle.map(File::from).ok_or(io::ErrorKind::BrokenPipe);
        let stdout = piped(child.stdout.take().map(OwnedHandle::from))?;
        let stderr = piped(child.stderr.take().map(OwnedHandle::from))?;
        let streams = [(Stream::Stdout, stdout), (Stream::Stderr, stderr)];
        Ok((RunningCommand { child }, Outputs { streams, sizes: Vec::new() }))
    }
}

impl RunningCommand {
    /// Ends it and all that it started: nothing gentler can be sent here.
    pub(super) fn send(&self, _group: Group, sent: SentSignal) {
        match sent {
            SentSignal::Signal(_) | SentSignal::Terminate | SentSignal::Kill => {
                processes::end_group(self.child.id())
            }
            SentSignal::Resized => {}
        }
    }

    /// Its status once it has ended.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }
}
