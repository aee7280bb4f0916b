//! What starting a command and waiting for it have in common on every system.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use testreport::Stream;

use super::Environment;
use super::terminal::{Screens, Size};

/// What is to be started.
pub(super) struct Start<'a> {
    /// Program, looked for in `PATH`, and its arguments.
    pub(super) argv: &'a [String],
    /// Where it runs.
    pub(super) directory: &'a Path,
    pub(super) env: &'a Environment,
    pub(super) screens: &'a Screens,
    pub(super) group: Group,
}

/// The output of a command as we read it.
pub(super) struct Outputs {
    pub(super) streams: [(Stream, File); 2],
    /// The sizes of those that are terminals.
    pub(super) sizes: Vec<Size>,
}

/// Whose process group the command is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// The command's own: it leads it.
    Own,
    /// Ours, the foreground group of the terminal.
    Ours,
}

/// What the system reports while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    /// A signal that is meant to end what runs: [`ending_signals`] has it.
    Ending,
    /// A process that we started may have ended.
    ChildEnded,
    /// The terminal may have another size.
    #[cfg_attr(windows, allow(dead_code, reason = "nothing tells of it there"))]
    Resized,
}

/// What is sent to a command and to all that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentSignal {
    /// A signal that came for us, by its number.
    Signal(i32),
    /// To end, and to clean up before.
    Terminate,
    /// To end at once.
    Kill,
    /// Its terminal has another size.
    Resized,
}

/// How many ending signals came for this process, in the upper half, and the number of the last one. Each is for every
/// command that runs, not only for the one whose watch took it.
static CAME: AtomicU64 = AtomicU64::new(0);

/// Notes that an ending signal came.
pub(super) fn ending_signal_came(number: i32) {
    let next = |before: u64| ((before >> 32) + 1) << 32 | u64::from(number.unsigned_abs());
    let _always = CAME.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |before| Some(next(before)));
}

/// How many ending signals came, and the number of the last one.
pub(super) fn ending_signals() -> (u64, i32) {
    let came = CAME.load(Ordering::SeqCst);
    (came >> 32, i32::try_from(came & 0xffff_ffff).unwrap_or_default())
}
