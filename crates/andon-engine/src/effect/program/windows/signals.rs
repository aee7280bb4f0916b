//! Ctrl-C while a command runs, the only signal of Windows. The console sends it to every program that uses it.

use std::sync::mpsc::{Sender, SyncSender, TrySendError, channel};
use std::{io, sync::Mutex};

use super::{Group, Notice, ending_signal_came};

/// What Ctrl-C is called elsewhere.
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
