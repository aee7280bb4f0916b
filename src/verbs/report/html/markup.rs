//! HTML as it grows. Markup is what stands in this program; everything else is a text, and escaped. The types keep the two
//! apart: what was read at run time cannot be markup.

use std::fmt::{Display, Write as _};

use andon_core::domain::time::Timestamp;
use andon_core::escape;

/// A page under construction.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// Adds markup, a literal of this program.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// Adds a text, for an element or a quoted attribute.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.out.push_str(&escape::xml(text));
        self
    }

    /// Adds a text cut to so many columns.
    pub(super) fn clipped(&mut self, text: &str, columns: usize) -> &mut Self {
        self.text(&escape::terminal_clip(text, columns))
    }

    /// Adds a number.
    pub(super) fn number(&mut self, number: impl Display + Copy + Into<u64>) -> &mut Self {
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{number}");
        self
    }

    /// Adds a count.
    pub(super) fn count(&mut self, number: usize) -> &mut Self {
        self.number(number as u64)
    }

    /// Adds a command to be copied.
    pub(super) fn command(&mut self, command: &str) -> &mut Self {
        self.raw("<code class=cmd>").text(command).raw("</code>")
    }

    /// Adds a time, to the minute.
    pub(super) fn time(&mut self, at: Timestamp) -> &mut Self {
        let text = at.to_string();
        let shown = text.get(..16).map_or_else(|| text.clone(), |minute| minute.replace('T', " "));
        self.raw("<time datetime=\"").text(&text).raw("\">").text(&shown).raw("</time>")
    }

    /// What was made.
    pub(super) fn finish(self) -> String {
        self.out
    }
}
