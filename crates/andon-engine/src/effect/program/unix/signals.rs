//! Signals that reach us while a command runs.
//!
//! They are blocked in every thread and taken by one thread that does nothing else, so that no code runs inside a
//! signal handler. SIGCHLD is among them: it wakes that thread when the command has ended, and so ends the thread.
//! SIGWINCH reports another size of the terminal.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::{collections::BTreeMap, fs, io, thread};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, killpg};
use nix::unistd::Pid;

use super::{Group, Notice, SentSignal, ending_signal_came};

/// The signals that end a command.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

fn held_set() -> SigSet {
    ENDING.into_iter().chain([Signal::SIGCHLD, Signal::SIGWINCH]).collect()
}

impl Group {
    /// Sends a signal to the command and to all that it started. That it may have ended already is no error.
    pub(super) fn send(self, command: Pid, sent: SentSignal) {
        let signal = match sent {
            SentSignal::Signal(number) => match Signal::try_from(number) {
                Ok(signal) => signal,
                Err(_) => return,
            },
            SentSignal::Terminate => Signal::SIGTERM,
            SentSignal::Kill => Signal::SIGKILL,
            SentSignal::Resized => Signal::SIGWINCH,
        };
        match self {
            Self::Own => {
                let _gone = killpg(command, signal);
            }
            Self::Ours => {
                for process in [command].into_iter().chain(descendants_of(command)) {
                    let _gone = kill(process, signal);
                }
            }
        }
    }

    /// True when a terminal that sends this signal has sent it to the command as well. A signal that another process
    /// sends to us alone looks the same and is not passed on: a test that gets Ctrl-C twice dies without cleaning up,
    /// and people can send `SIGTERM` by hand.
    pub(super) fn has_had(self, number: i32) -> bool {
        self == Self::Ours && matches!(Signal::try_from(number), Ok(Signal::SIGINT | Signal::SIGQUIT))
    }
}

/// Holds the signals back in this thread, and in threads that it starts, until it is dropped.
pub(super) struct HeldSignals {
    before: SigSet,
}

impl HeldSignals {
    pub(super) fn hold() -> io::Result<Self> {
        Ok(Self { before: held_set().thread_swap_mask(SigmaskHow::SIG_BLOCK)? })
    }

    /// The mask from before, with which a command is started.
    pub(super) fn before(&self) -> &SigSet {
        &self.before
    }
}

/// Starts the thread that takes the signals and reports each as an event; they must be blocked before it starts. After
/// each signal it waits for a message on the returned channel; dropping the channel ends the thread.
pub(super) fn listen<E: From<Notice> + Send + 'static>(
    _held: &HeldSignals,
    events: SyncSender<E>,
) -> Sender<()> {
    let (go_on, reported) = channel();
    thread::spawn(move || take_signals(&events, &reported));
    go_on
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        let _best_effort = self.before.thread_set_mask();
    }
}

fn take_signals<E: From<Notice>>(events: &SyncSender<E>, reported: &Receiver<()>) {
    let held = held_set();
    while let Ok(signal) = held.wait() {
        let notice = if ENDING.contains(&signal) {
            ending_signal_came(signal as i32);
            Notice::Ending
        } else if signal == Signal::SIGWINCH {
            Notice::Resized
        } else {
            Notice::ChildEnded
        };
        if events.send(E::from(notice)).is_err() || reported.recv().is_err() {
            return;
        }
    }
}

/// The processes below `ancestor` as `/proc` shows them at this moment; none on systems without it.
fn descendants_of(ancestor: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in entries.flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(pid) = pid else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![ancestor.as_raw()];
    while let Some(parent) = open.pop() {
        // Removed, so that no process is met twice, whatever was read.
        let below = children.remove(&parent).unwrap_or_default();
        found.extend(below.iter().copied().map(Pid::from_raw));
        open.extend(below);
    }
    found
}

/// The parent in `pid (name) state parent ...`; the name may hold anything, closing brackets too.
fn parent_in(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_stands_after_the_name() {
        assert_eq!(parent_in("12 (a) b) c) S 7 12 12 0"), Some(7));
        for odd in ["", "12", "12 (a", "12 (a)", "12 (a) S", "12 (a) S x"] {
            assert_eq!(parent_in(odd), None, "{odd}");
        }
    }
}
