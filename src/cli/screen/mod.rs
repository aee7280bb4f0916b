//! The screen of `andon watch`: a terminal in, keys out. It is put back as it was however the program ends.

mod draw;
mod read;
mod state;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};

use self::draw::{Colour, Look};
use self::state::{ReadRequest, Screen};
use super::Shell;
use super::error::Exit;
use super::watching::{PAUSE, WatchMemory, now};
use andon_engine::effect::interrupt::Interrupt;
use andon_engine::error::OpsError;

/// How long to wait for a key before checking whether the program has to end.
const WAIT: Duration = Duration::from_millis(250);
/// The exit code after a signal, as the shells say it.
const ENDED: u8 = 143;

/// While this lives the terminal shows the screen. A panic puts it back before it says anything.
struct ScreenGuard {
    terminal: DefaultTerminal,
}

impl Drop for ScreenGuard {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Shows the screen until a key or a signal ends it.
pub(crate) fn run(shell: &Shell) -> Result<Exit, OpsError> {
    // Before any other thread begins: the signals must reach the one that waits for them.
    let ending = Interrupt::listen_for_the_end();
    let mut watching = WatchMemory::begin(&shell.ctx)?;
    let mut screen = Screen::new(watching.look(&shell.ctx)?);
    let colour = if shell.out.out.is_colour() { Colour::Yes } else { Colour::No };
    let look = Look { glyphs: shell.glyphs(), colour };
    let mut shown = ScreenGuard { terminal: ratatui::try_init().map_err(OpsError::Input)? };
    let mut looked = Instant::now();
    loop {
        shown.terminal.draw(|frame| draw::draw(frame, &mut screen, look)).map_err(OpsError::Input)?;
        let asked = next(&mut screen)?;
        if ending.asked().load(Ordering::Relaxed) {
            return Ok(Exit::Passed(ENDED));
        }
        match asked {
            ReadRequest::Nothing => {}
            ReadRequest::Quit => return Ok(Exit::Allowed),
            ReadRequest::Evidence(key) => read::evidence(shell, &mut screen, &key),
            ReadRequest::Round(key) => read::round(shell, &mut screen, &key),
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

/// Waits for a key, for a while.
fn next(screen: &mut Screen) -> Result<ReadRequest, OpsError> {
    if !event::poll(WAIT).map_err(OpsError::Input)? {
        return Ok(ReadRequest::Nothing);
    }
    // A new size is found when it is drawn.
    Ok(if let Event::Key(key) = event::read().map_err(OpsError::Input)? {
        screen.key(key)
    } else {
        ReadRequest::Nothing
    })
}
