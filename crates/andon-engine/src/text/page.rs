//! Text as it grows, line by line: the one way text output is put together here.

use super::style::Style;

/// Width of the labels of [`Page::field`].
const LABEL: usize = 11;

/// Stands for a blank at which no line breaks.
const UNBROKEN: char = '\u{a0}';

/// A command that stays on one line whatever the width: a command is copied.
pub fn unbroken(command: &str) -> String {
    command.replace(' ', "\u{a0}")
}

/// A hint whose command stays on one line: `see it: git show 1a2b`.
pub fn with_command(hint: &str) -> String {
    let begins = |at: usize| {
        let rest = &hint[at..];
        PROGRAMS.iter().any(|program| rest.strip_prefix(program).is_some_and(|rest| rest.starts_with(' ')))
    };
    let starts = hint.match_indices(' ').map(|(at, _)| at + 1);
    match std::iter::once(0).chain(starts).find(|at| begins(*at)) {
        Some(at) => format!("{}{}", &hint[..at], unbroken(&hint[at..])),
        None => hint.to_owned(),
    }
}

/// What a command in a hint begins with.
const PROGRAMS: [&str; 6] = ["andon", "git", "cd", "rm", "mkdir", "chmod"];

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

    /// Adds a line that breaks between words at the width of the terminal; what follows is indented. A command in it stays
    /// in one piece where it is [`unbroken`]: it is copied.
    pub fn wrapped(&mut self, line: &str) {
        self.wrap("", line, "  ");
    }

    /// `  label  value` of a halt, broken between words; an empty label continues the one above.
    pub fn fact(&mut self, label: &str, value: &str) {
        let label = self.style.dim(&format!("{label:<0$}", Self::FACT - 3));
        self.wrap(&format!("  {label} "), value, &" ".repeat(Self::FACT));
    }

    /// Columns before the value of a fact.
    pub const FACT: usize = 9;

    /// Adds a text after `first`, broken between words; what follows is indented by `next`.
    pub fn wrap(&mut self, first: &str, text: &str, next: &str) {
        match self.style.columns() {
            Some(columns) => {
                let options = textwrap::Options::new(columns)
                    .initial_indent(first)
                    .subsequent_indent(next)
                    .word_separator(textwrap::WordSeparator::AsciiSpace)
                    .word_splitter(textwrap::WordSplitter::NoHyphenation)
                    .break_words(false);
                for part in textwrap::wrap(text, options) {
                    self.line(&part.replace(UNBROKEN, " "));
                }
            }
            None => self.line(&format!("{first}{text}").replace(UNBROKEN, " ")),
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
        self.wrap(&format!("  {label}"), value, &" ".repeat(LABEL + 2));
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }
}
