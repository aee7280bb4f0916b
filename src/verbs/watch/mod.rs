//! `andon watch`: the loops of all worktrees, for a terminal, for a pipe and for programs.

pub mod run;
pub mod text;

use std::thread;

use clap::Args;

use self::text::PrintedLines;
use crate::cli::watching::{PAUSE, now};
use crate::cli::{Exit, Format, Shell, WatchMemory, output};
use andon_core::domain::Hint;
use andon_engine::{OpsError, Result};

/// `andon watch`
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Show all of it once, as a table, and end: needs no terminal
    #[arg(long)]
    pub once: bool,
    /// Print a line for each change, for a pipe or a screen reader
    #[arg(long, conflicts_with = "once")]
    pub plain: bool,
    /// Output format; json is one document, as with --once
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT", conflicts_with = "plain")]
    pub format: Format,
}

/// Shows the loops of all worktrees.
pub fn run(shell: &Shell, args: &WatchArgs) -> Result<Exit> {
    let is_once = args.once || args.format == Format::Json;
    if !is_once && !args.plain {
        return screen(shell);
    }
    let mut watching = WatchMemory::begin(&shell.ctx)?;
    if args.plain {
        return lines(shell, &mut watching);
    }
    let view = watching.look(&shell.ctx)?.with_ordered_worktrees();
    shell.show(args.format, "watch", &view, |style| text::text(&view, style, shell.glyphs()));
    Ok(Exit::Allowed)
}

/// A line for each change, until the reader is gone.
fn lines(shell: &Shell, watching: &mut WatchMemory) -> Result<Exit> {
    let mut told = PrintedLines::default();
    loop {
        let view = watching.look(&now(&shell.ctx))?;
        let (changed, known) = text::lines(&told, &view);
        told = known;
        let text: String = changed.into_iter().map(|line| line + "\n").collect();
        if !text.is_empty() && !shell.out.result_is_read(&text) {
            return Ok(Exit::Allowed);
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(feature = "watch")]
fn screen(shell: &Shell) -> Result<Exit> {
    if output::has_screen() {
        crate::cli::screen::run(shell)
    } else {
        Err(no_screen("andon watch needs a terminal"))
    }
}

#[cfg(not(feature = "watch"))]
fn screen(_shell: &Shell) -> Result<Exit> {
    let why = if output::has_screen() {
        "this andon was built without its screen (the feature `watch`)"
    } else {
        "andon watch needs a terminal"
    };
    Err(no_screen(why))
}

fn no_screen(why: &str) -> OpsError {
    OpsError::usage(why.to_owned(), Hint::WatchPlainly)
}
