//! Commands on Windows: Ctrl-C is the only signal there, and pipes take the output. A terminal of its own cannot be had
//! without code that the compiler does not check.

use std::io::{self, IsTerminal};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, SyncSender, TrySendError, channel};
use std::{fs::File, os::windows::io::OwnedHandle, sync::Mutex, time::Duration};

use super::{Group, InputState, Notice, Outputs, SentSignal, Start, ending_signal_came};
use andon_git::platform::processes;
use testreport::Stream;

/// The terminals on which the streams of a command are shown; unused on Windows.
#[derive(Debug, Default)]
pub struct Screens;

impl Screens {
    /// No terminal at all.
    pub fn none() -> Self {
        Self
    }

    /// Those behind both streams.
    pub fn behind(_stdout: &impl IsTerminal, _stderr: &impl IsTerminal) -> Self {
        Self
    }
}

/// Input is waited for by its reader here.
pub fn wait_for_input(_input: &impl IsTerminal, _wait: Duration) -> InputState {
    InputState::Something
}

/// The size of a terminal that a command was given: there is none.
pub(super) enum Size {}

impl Size {
    /// Takes over the size of the real terminal.
    pub(super) fn follow(&self) {
        match *self {}
    }
}

/// The number of Ctrl-C's signal elsewhere.
const SIGINT: i32 = 2;
/// The exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

impl Group {
    /// True when the console has sent it to the command too.
    pub(super) fn has_had(self, _signal: i32) -> bool {
        self == Self::Ours
    }
}

/// The counterpart of the signals that are blocked on other systems.
pub(super) struct HeldSignals;

impl HeldSignals {
    pub(super) fn hold() -> io::Result<Self> {
        Ok(Self)
    }
}

/// Reports every Ctrl-C as an event; without a receiver of events it ends the process. The start waits for nothing.
pub(super) fn listen<E: From<Notice> + Send + 'static>(
    _held: &HeldSignals,
    events: SyncSender<E>,
) -> Sender<()> {
    let events = Mutex::new(events);
    let _as_always = ctrlc::set_handler(move || {
        ending_signal_came(SIGINT);
        let Ok(events) = events.lock() else { return };
        if let Err(TrySendError::Disconnected(_)) = events.try_send(E::from(Notice::Ending)) {
            std::process::exit(INTERRUPTED);
        }
    });
    channel().0
}

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
