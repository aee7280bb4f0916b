//! Text as it grows, line by line: the one way text output is put together here.

use super::style::Style;

/// Width of the labels of [`Page::field`].
const LABEL: usize = 11;

/// A text under construction, with the style it is made in.
#[derive(Debug)]
pub struct Page {
    text: String,
    /// The style of everything on it.
    pub style: Style,
}

impl Page {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { text: String::new(), style }
    }

    /// Adds a line. The caller has escaped what is untrusted.
    pub fn line(&mut self, line: &str) {
        debug_assert!(!line.contains('\n'), "not escaped: {line:?}");
        self.text.push_str(line.trim_end_matches(' '));
        self.text.push('\n');
    }

    /// Adds a line that breaks between words at the width of the terminal; what follows is indented. Never for a command:
    /// it is copied.
    pub fn wrapped(&mut self, line: &str) {
        match self.style.columns() {
            Some(columns) => {
                let options = textwrap::Options::new(columns).subsequent_indent("  ").break_words(false);
                for part in textwrap::wrap(line, options) {
                    self.line(&part);
                }
            }
            None => self.line(line),
        }
    }

    /// Adds a blank line, unless the page is empty.
    pub fn blank(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// A heading, with a blank line before it.
    pub fn heading(&mut self, title: &str) {
        self.blank();
        let title = self.style.bold(title);
        self.line(&title);
    }

    /// `  label      value`; an empty label continues the one above.
    pub fn field(&mut self, label: &str, value: &str) {
        let label = self.style.dim(&format!("{label:<LABEL$}"));
        self.line(&format!("  {label}{value}"));
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }
}
