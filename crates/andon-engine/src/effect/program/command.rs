//! What starting a command and waiting for it have in common on every system.

use std::fs::File;
use std::path::Path;

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
    /// A signal that is meant to end the command, by its number.
    Ending(i32),
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
