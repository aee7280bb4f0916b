//! Ctrl-C in a command that works through a long history: it ends with what was found so far.
//!
//! As for a running test command (`effect::program`), the signal is held back in every thread and taken by one that does
//! nothing else, so that no code runs inside a signal handler. After the first one that thread lets go of it: a second
//! Ctrl-C ends the process at once, as it would have without us.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};

/// Listens for Ctrl-C until it is dropped.
#[derive(Debug)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    before: Option<SigSet>,
}

impl Interrupt {
    /// Holds the signal back in this thread and those that it starts. Where that cannot be done, Ctrl-C ends the
    /// process as it always does.
    pub fn listen() -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        let held: SigSet = [Signal::SIGINT].into_iter().collect();
        let before = held.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
        if before.is_some() {
            let told = Arc::clone(&asked);
            thread::spawn(move || {
                if held.wait().is_ok() {
                    told.store(true, Ordering::Relaxed);
                    let _ends_at_once = held.thread_unblock();
                    loop {
                        thread::park();
                    }
                }
            });
        }
        Self { asked, before }
    }

    /// True from the first Ctrl-C on.
    pub fn asked(&self) -> &AtomicBool {
        &self.asked
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _best_effort = before.thread_set_mask();
        }
    }
}
