//! Signals, held back in every thread, so that no code runs inside a signal handler.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{sync::Arc, thread};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};

/// Signals that end the process, or stop it, while others wait for it.
const HELD: [Signal; 7] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
];

/// While it lives, signals do not reach the thread that made it, nor threads that were started meanwhile.
#[derive(Debug)]
pub struct SignalBlock {
    before: Option<SigSet>,
}

impl Drop for SignalBlock {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _kept_as_is = before.thread_set_mask();
        }
    }
}

/// Holds back whatever would end or stop the process.
pub fn withhold() -> SignalBlock {
    withheld(HELD.into_iter().collect())
}

fn withheld(signals: SigSet) -> SignalBlock {
    SignalBlock { before: signals.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok() }
}

/// Sets `asked` at the first signal that asks the process to end, whether from a keyboard or from another process.
pub fn on_end(asked: Arc<AtomicBool>) -> SignalBlock {
    on_any(asked, [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT].into_iter().collect())
}

/// Sets `asked` at the first Ctrl-C, until the value is dropped. A second one ends the process at once, as it would have
/// without us. Where the signal cannot be held back, the first one does.
pub fn on_interrupt(asked: Arc<AtomicBool>) -> SignalBlock {
    on_any(asked, [Signal::SIGINT].into_iter().collect())
}

fn on_any(asked: Arc<AtomicBool>, signals: SigSet) -> SignalBlock {
    let held = withheld(signals);
    if held.before.is_some() {
        thread::spawn(move || {
            if signals.wait().is_ok() {
                asked.store(true, Ordering::Relaxed);
                let _ends_at_once = signals.thread_unblock();
                loop {
                    thread::park();
                }
            }
        });
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_taken_again_afterwards() {
        let before = SigSet::thread_get_mask().unwrap();
        {
            let _held = withhold();
            assert!(SigSet::thread_get_mask().unwrap().contains(Signal::SIGTERM));
        }
        assert_eq!(SigSet::thread_get_mask().unwrap(), before);
    }
}
