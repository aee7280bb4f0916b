//! The screen of `andon watch`: a terminal in, keys out. It is put back as it was however the program ends.

mod draw;
mod read;
mod state;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};
use std::{sync::Arc, sync::atomic::Ordering, thread};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};

use self::draw::{Colour, Theme};
use self::state::{ReadRequest, Screen};
use super::watching::{PAUSE, now};
use super::{Exit, Shell, WatchMemory, output::wait_for_a_key};
use andon_engine::effect::{InputState, Interrupt};
use andon_engine::{OpsError, Result, context::local};

/// The wait for a key between two checks for the end of the program.
const WAIT: Duration = Duration::from_millis(250);
/// The exit code after a signal, as the shells say it.
const ENDED: u8 = 143;

/// While this lives the terminal shows the screen. A panic puts it back before it says anything.
struct ScreenGuard {
    terminal: DefaultTerminal,
}

impl Drop for ScreenGuard {
    fn drop(&mut self) {
        // A terminal that is gone cannot be put back, and nothing can be said on it.
        let _ = ratatui::try_restore();
    }
}

/// Shows the screen until a key or a signal ends it.
pub(crate) fn run(shell: &Shell) -> Result<Exit> {
    // Before any other thread begins: the signals must reach the one that waits for them.
    let ending = Interrupt::listen_for_the_end();
    end_for_certain(&ending);
    let mut watching = WatchMemory::begin(&shell.ctx)?;
    let mut screen = Screen::new(watching.look(&shell.ctx)?);
    let colour = if shell.out.out.is_colour() { Colour::Yes } else { Colour::No };
    let look = Theme { glyphs: shell.glyphs(), colour, local };
    let mut shown = ScreenGuard { terminal: ratatui::try_init().map_err(OpsError::Input)? };
    let mut looked = Instant::now();
    loop {
        shown.terminal.draw(|frame| draw::draw(frame, &mut screen, look)).map_err(OpsError::Input)?;
        let Some(asked) = next(&mut screen)? else { return Ok(Exit::Passed(ENDED)) };
        if ending.asked().load(Ordering::Relaxed) {
            return Ok(Exit::Passed(ENDED));
        }
        match asked {
            ReadRequest::Nothing => {}
            ReadRequest::Quit => return Ok(Exit::Allowed),
            ReadRequest::Evidence(key) => read::evidence(shell, &mut screen, &key),
            ReadRequest::Round(key) => read::round(shell, &mut screen, &key),
            ReadRequest::Diff(key) => read::diff(shell, &mut screen, &key),
            ReadRequest::File(key) => read::file(shell, &mut screen, &key),
            ReadRequest::Answer(key, reason) => read::answer(shell, &mut screen, &key, &reason),
        }
        if looked.elapsed() >= PAUSE {
            looked = Instant::now();
            match watching.look(&now(&shell.ctx)) {
                Ok(view) => screen.take(view),
                Err(err) => screen.stale = Some(err.to_string()),
            }
        }
    }
}

/// Waits for a key, for a while; `None` when the terminal is gone. Asked before the events are: reading them from a terminal
/// that is gone never comes back.
fn next(screen: &mut Screen) -> Result<Option<ReadRequest>> {
    let mut patience = WAIT;
    // All keys that wait, so that what is typed or pasted is drawn once. A new size is found when it is drawn.
    loop {
        let wait = match wait_for_a_key(patience) {
            InputState::Gone => return Ok(None),
            InputState::Nothing => Duration::ZERO,
            InputState::Something => patience,
        };
        if !event::poll(wait).map_err(OpsError::Input)? {
            return Ok(Some(ReadRequest::Nothing));
        }
        let read = event::read().map_err(OpsError::Input)?;
        let asked = if let Event::Key(key) = read { screen.key(key) } else { ReadRequest::Nothing };
        if asked != ReadRequest::Nothing {
            return Ok(Some(asked));
        }
        patience = Duration::ZERO;
    }
}

/// The time that the screen may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Ends the process where the screen does not: its terminal may have gone away while a key was read.
fn end_for_certain(ending: &Interrupt) {
    let asked = Arc::clone(ending.asked());
    thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            thread::sleep(WAIT);
        }
        thread::sleep(GRACE);
        std::process::exit(i32::from(ENDED));
    });
}
