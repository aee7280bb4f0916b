//! Signals that reach us while a command runs.
//!
//! They are held back in every thread and taken by one thread that does nothing else, so that no code runs
//! inside a signal handler. SIGCHLD is among them: it wakes that thread when the command has ended, which
//! is how the thread itself comes to its end. SIGWINCH tells that the terminal has another size.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, killpg};
use nix::unistd::Pid;

use super::descendants;

/// Whether a signal is meant to end the command.
pub(super) fn is_ending(signal: Signal) -> bool {
    ENDING.contains(&signal)
}

/// The signals that end a command.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

fn held_set() -> SigSet {
    ENDING.into_iter().chain([Signal::SIGCHLD, Signal::SIGWINCH]).collect()
}

/// Whose process group the command is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// The command's own: it leads it.
    Own,
    /// Ours, the foreground group of the terminal.
    Ours,
}

impl Group {
    /// Sends a signal to the command and to all that it started. That it may have ended already is no error.
    pub(super) fn send(self, command: Pid, signal: Signal) {
        match self {
            Self::Own => {
                let _gone = killpg(command, signal);
            }
            Self::Ours => {
                for process in [command].into_iter().chain(descendants::of(command)) {
                    let _gone = kill(process, signal);
                }
            }
        }
    }

    /// True when a terminal that sends this signal has sent it to the command as well. One that somebody
    /// else sends to us alone looks the same and is not passed on: a test that gets Ctrl-C twice dies
    /// without cleaning up, and `SIGTERM` is there for those who send signals by hand.
    pub(super) fn has_had(self, signal: Signal) -> bool {
        self == Self::Ours && matches!(signal, Signal::SIGINT | Signal::SIGQUIT)
    }
}

/// Holds the signals back in this thread, and in threads that it starts, until it is dropped.
pub(super) struct HeldSignals {
    before: SigSet,
}

impl HeldSignals {
    pub(super) fn hold() -> Result<Self, Errno> {
        Ok(Self { before: held_set().thread_swap_mask(SigmaskHow::SIG_BLOCK)? })
    }

    /// What was held back before: what a command is to be started with.
    pub(super) fn before(&self) -> &SigSet {
        &self.before
    }
}

/// Starts the thread that takes the signals and reports each as an event; it needs them held back before it
/// starts. After each it waits for the word to go on, which is given on the returned channel; dropping the
/// channel ends the thread.
pub(super) fn listen<E: From<Signal> + Send + 'static>(
    _held: &HeldSignals,
    events: SyncSender<E>,
) -> Sender<()> {
    let (go_on, told) = channel();
    thread::spawn(move || take_signals(&events, &told));
    go_on
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        let _best_effort = self.before.thread_set_mask();
    }
}

fn take_signals<E: From<Signal>>(events: &SyncSender<E>, told: &Receiver<()>) {
    let held = held_set();
    while let Ok(signal) = held.wait() {
        if events.send(E::from(signal)).is_err() || told.recv().is_err() {
            return;
        }
    }
}
