//! Ctrl-C in a command that works through a long history: it ends with what was found so far. A second one ends the process
//! at once, as it would have without us.

use std::sync::{Arc, atomic::AtomicBool};

use andon_git::platform::signals::{SignalBlock, on_end, on_interrupt};

/// Listens for Ctrl-C until it is dropped.
#[derive(Debug)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    _listening: SignalBlock,
}

impl Interrupt {
    /// Begins to listen. Where that cannot be done, Ctrl-C ends the process as it always does.
    pub fn listen() -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        Self { _listening: on_interrupt(Arc::clone(&asked)), asked }
    }

    /// Listens for whatever asks the process to end, so that it can put its terminal in order before.
    pub fn listen_for_the_end() -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        Self { _listening: on_end(Arc::clone(&asked)), asked }
    }

    /// True from the first Ctrl-C on.
    pub fn asked(&self) -> &Arc<AtomicBool> {
        &self.asked
    }
}
