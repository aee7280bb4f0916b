//! `andon watch`.

pub mod args;
pub mod run;
pub mod text;

use std::thread;

use self::args::WatchArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::{self, Format};
use crate::cli::watching::{PAUSE, WatchMemory, now};
use crate::report::json;
use crate::verbs::watch::{text as report, text::PrintedLines};
use andon_engine::error::OpsError;

/// Shows the loops of all worktrees.
pub fn run(shell: &Shell, args: &WatchArgs) -> Result<Exit, OpsError> {
    let is_once = args.once || args.format == Format::Json;
    if !is_once && !args.plain {
        return screen(shell);
    }
    let mut watching = WatchMemory::begin(&shell.ctx)?;
    if args.plain {
        return lines(shell, &mut watching);
    }
    let view = watching.look(&shell.ctx)?;
    shell.out.result(&match args.format {
        Format::Text => report::text(&view, shell.out.out, shell.glyphs()),
        Format::Json => json::line(&report::json(&view)),
    });
    Ok(Exit::Allowed)
}

/// A line for each change, until the reader is gone.
fn lines(shell: &Shell, watching: &mut WatchMemory) -> Result<Exit, OpsError> {
    let mut told = PrintedLines::default();
    loop {
        let view = watching.look(&now(&shell.ctx))?;
        let (changed, known) = report::lines(&told, &view);
        told = known;
        let text: String = changed.into_iter().map(|line| line + "\n").collect();
        if !text.is_empty() && !shell.out.result_is_read(&text) {
            return Ok(Exit::Allowed);
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(feature = "watch")]
fn screen(shell: &Shell) -> Result<Exit, OpsError> {
    if output::has_screen() {
        crate::cli::screen::run(shell)
    } else {
        Err(no_screen("andon watch needs a terminal"))
    }
}

#[cfg(not(feature = "watch"))]
fn screen(_shell: &Shell) -> Result<Exit, OpsError> {
    let why = if output::has_screen() {
        "this andon was built without its screen (the feature `watch`)"
    } else {
        "andon watch needs a terminal"
    };
    Err(no_screen(why))
}

fn no_screen(why: &str) -> OpsError {
    OpsError::Usage {
        what: why.to_owned(),
        help: "all of it once: andon watch --once; a line for each change: andon watch --plain".to_owned(),
    }
}
