//! Text as it grows, line by line: the one way text output is put together here.

use super::Style;

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
    let (words, command, rest) = command_of(hint);
    format!("{words}{}{rest}", unbroken(command))
}

/// The words of a hint, the command behind them, and what a comma adds to it: `andon sync`, `, where the commit was made`.
/// Each may be empty.
pub fn command_of(hint: &str) -> (&str, &str, &str) {
    let begins = |at: &usize| {
        let rest = &hint[*at..];
        PROGRAMS.iter().any(|program| rest.strip_prefix(program).is_some_and(|rest| rest.starts_with(' ')))
    };
    let behind = hint.match_indices(": ").map(|(at, colon)| at + colon.len());
    let at = std::iter::once(0).chain(behind).find(begins).unwrap_or(hint.len());
    let (words, command) = hint.split_at(at);
    let (command, rest) = command.split_at(end_of(command));
    (words, command, rest)
}

/// The end of a command: the first comma before a blank outside of quotes.
fn end_of(command: &str) -> usize {
    let mut quote = None;
    for (at, c) in command.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if command[at..].starts_with(", ") => return at,
            Some(_) | None => {}
        }
    }
    command.len()
}

/// Programs that a command in a hint begins with.
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

    /// Adds each of the lines; none where there is none.
    pub fn all(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        lines.into_iter().for_each(|line| self.line(line.as_ref()));
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

    /// A field for each value, with the label before the first alone; nothing where there is no value.
    pub fn fields(&mut self, label: &str, values: impl IntoIterator<Item = impl AsRef<str>>) {
        for (number, value) in values.into_iter().enumerate() {
            self.field(if number == 0 { label } else { "" }, value.as_ref());
        }
    }

    /// Lines so far.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_at_the_end_of_a_hint() {
        for (hint, words, command, rest) in [
            ("andon test", "", "andon test", ""),
            ("choose: git diff a b", "choose: ", "git diff a b", ""),
            (
                "of two: say why: andon resume --reason 'x'",
                "of two: say why: ",
                "andon resume --reason 'x'",
                "",
            ),
            ("andon sync, where it was made, if at all", "", "andon sync", ", where it was made, if at all"),
            ("say: git commit -m 'a, b', and go on", "say: ", "git commit -m 'a, b'", ", and go on"),
            ("read .andon/CHECKPOINT.md", "read .andon/CHECKPOINT.md", "", ""),
            ("in andon.toml: max = 3", "in andon.toml: max = 3", "", ""),
            ("see how git does it", "see how git does it", "", ""),
            ("", "", "", ""),
        ] {
            assert_eq!(command_of(hint), (words, command, rest));
        }
    }

    #[test]
    fn lines_break_at_words_and_never_in_a_command() {
        let mut page = Page::new(Style::Plain.within(Some(40)));
        page.field("label", &format!("{}{}", "some words ".repeat(5), unbroken("git log --oneline a..b")));
        assert_eq!(
            page.finish(),
            "  label      some words some words some\n             words some words some words\n             \
             git log --oneline a..b\n"
        );
    }
}
