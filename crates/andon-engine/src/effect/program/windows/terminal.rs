//! Where the output of a command goes: pipes. A terminal of its own cannot be had here without code that the compiler does
//! not check.

use std::{io::IsTerminal, time::Duration};

use super::InputState;

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
