//! The only place that prints. A closed or full stream never changes a verdict and never panics.

#![allow(clippy::disallowed_methods, reason = "the one place that prints")]

use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use anstream::AutoStream;
use anstream::stream::{AsLockedWrite, RawStream};

use andon_core::domain::Timestamp;
use andon_engine::effect::program::{Screens, wait_for_input};
use andon_engine::text::{Clock, Style};
use andon_engine::{context::local, effect::InputState};

/// The choice of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` or `CLICOLOR=0` says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The form of what is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// For programs; carries the same values.
    Json,
}

/// The styles of both output streams, and the only way to them.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// Style of standard output.
    pub out: Style,
    /// Style of standard error.
    pub err: Style,
}

/// The variables that are about colour.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColorEnvironment<'a> {
    pub no_color: Option<&'a str>,
    pub clicolor: Option<&'a str>,
    pub clicolor_force: Option<&'a str>,
    /// `FORCE_COLOR`, as programs from npm read it
    pub force_color: Option<&'a str>,
    pub term: Option<&'a str>,
}

/// Decides on colour for one stream.
pub fn style(choice: ColorChoice, environment: ColorEnvironment<'_>, stream: Stream) -> Style {
    let colour = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let set = |value: Option<&str>| value.is_some_and(|text| !text.is_empty());
            let forces = |value: Option<&str>| {
                value.is_some_and(|text| !text.is_empty() && text != "0" && text != "false")
            };
            if set(environment.no_color) {
                false
            } else if forces(environment.clicolor_force) || forces(environment.force_color) {
                true
            } else {
                stream == Stream::Terminal
                    && environment.clicolor != Some("0")
                    && environment.term != Some("dumb")
            }
        }
    };
    if colour { Style::Colour } else { Style::Plain }
}

/// The other end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A terminal, where a person looks at it.
    Terminal,
    /// Anything else.
    Other,
}

impl Printer {
    /// Looks at both streams.
    pub fn new(choice: ColorChoice, environment: ColorEnvironment<'_>) -> Self {
        let of = |terminal: bool| {
            style(choice, environment, if terminal { Stream::Terminal } else { Stream::Other })
        };
        Self { out: of(io::stdout().is_terminal()), err: of(io::stderr().is_terminal()) }
    }

    /// The same for people who read at `now`: times are local and relative, lines break at the width of a terminal, or
    /// at `asked` columns (`COLUMNS`).
    #[must_use]
    pub fn told_at(self, now: Timestamp, asked: Option<&str>) -> Self {
        let clock = Clock { now, local };
        let asked = asked.and_then(|text| text.trim().parse::<usize>().ok()).filter(|columns| *columns > 0);
        let asked = asked.map(|columns| columns.clamp(MIN_COLUMNS, MAX_COLUMNS));
        let columns = |terminal: bool| asked.or_else(|| if terminal { columns() } else { None });
        Self {
            out: self.out.at(clock).within(columns(io::stdout().is_terminal())),
            err: self.err.at(clock).within(columns(io::stderr().is_terminal())),
        }
    }

    /// Writes a result to standard output.
    pub fn result(self, text: &str) {
        write_styled(io::stdout().lock(), text, self.out);
    }

    /// The same for a reader that may go away before the end: whether it still reads.
    pub fn result_is_read(self, text: &str) -> bool {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
    }

    /// Writes a message to standard error.
    pub fn message(self, text: &str) {
        write_styled(io::stderr().lock(), text, self.err);
    }

    /// Passes bytes of a child through to standard output.
    pub fn pass_out(self, bytes: &[u8]) {
        write_all(&mut io::stdout().lock(), bytes);
    }

    /// Passes bytes of a child through to standard error.
    pub fn pass_err(self, bytes: &[u8]) {
        write_all(&mut io::stderr().lock(), bytes);
    }
}

/// Columns of the terminal that this runs in; `None` where there is none.
pub fn columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size()?;
    Some(usize::from(columns).max(MIN_COLUMNS))
}

/// Narrower terminals are treated as this wide.
const MIN_COLUMNS: usize = 40;
/// As much of what is asked for is used.
const MAX_COLUMNS: usize = 1000;

/// True where a person sees standard error: only there anything moves.
pub fn progress_is_seen() -> bool {
    io::stderr().is_terminal()
}

/// True where a person is at both ends: only then may a program of ours prompt.
pub fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// True where a person sees standard output and has a keyboard: only then a screen is drawn.
pub fn has_screen() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Waits for a key, for at most `wait`.
pub fn wait_for_a_key(wait: Duration) -> InputState {
    wait_for_input(&io::stdin(), wait)
}

/// The terminals behind both streams, for a program whose output is passed through.
pub fn screens() -> Screens {
    Screens::behind(&io::stdout(), &io::stderr())
}

/// Colours reach consoles of Windows too, which take no escape sequences unless they are told to, or never.
fn write_styled(stream: impl RawStream + AsLockedWrite, text: &str, style: Style) {
    if style.is_colour() {
        write_all(&mut AutoStream::always(stream), text.as_bytes());
    } else {
        write_all(&mut { stream }, text.as_bytes());
    }
}

fn write_all(stream: &mut impl Write, bytes: &[u8]) {
    // A reader that went away (`andon log | head`) or a closed descriptor is not an error of ours.
    let _ = stream.write_all(bytes).and_then(|()| stream.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_the_usual_variables() {
        let plain = ColorEnvironment::default();
        let auto = |environment, stream| style(ColorChoice::Auto, environment, stream);
        assert_eq!(auto(plain, Stream::Terminal), Style::Colour);
        assert_eq!(auto(plain, Stream::Other), Style::Plain);
        let no_color = ColorEnvironment { no_color: Some("1"), clicolor_force: Some("1"), ..plain };
        assert_eq!(auto(no_color, Stream::Terminal), Style::Plain);
        let forced = ColorEnvironment { clicolor_force: Some("1"), ..plain };
        assert_eq!(auto(forced, Stream::Other), Style::Colour);
        for (value, expected) in
            [("1", Style::Colour), ("3", Style::Colour), ("0", Style::Plain), ("", Style::Plain)]
        {
            let forced = ColorEnvironment { force_color: Some(value), ..plain };
            assert_eq!(auto(forced, Stream::Other), expected, "FORCE_COLOR={value}");
        }
        let off = ColorEnvironment { clicolor: Some("0"), ..plain };
        assert_eq!(auto(off, Stream::Terminal), Style::Plain);
        assert_eq!(style(ColorChoice::Always, no_color, Stream::Other), Style::Colour);
        assert_eq!(style(ColorChoice::Never, forced, Stream::Terminal), Style::Plain);
    }
}
