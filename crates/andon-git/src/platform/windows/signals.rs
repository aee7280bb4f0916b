//! Ctrl-C, which is all that Windows has of signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Nothing is held back: what a writer that was ended leaves behind, the next one clears away.
#[derive(Debug)]
pub struct SignalBlock;

/// Holds nothing back.
pub fn withhold() -> SignalBlock {
    SignalBlock
}

/// Sets `asked` at the first Ctrl-C; a second one ends the process. Where nothing can be set up, the first one does.
pub fn on_interrupt(asked: Arc<AtomicBool>) -> SignalBlock {
    let _as_always = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    });
    SignalBlock
}

/// The same: Windows has no other signal.
pub fn on_end(asked: Arc<AtomicBool>) -> SignalBlock {
    on_interrupt(asked)
}
