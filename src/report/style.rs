//! The few colours there are. Whether to use them is decided once, in `cli`, and passed in.

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No escape codes at all.
    Plain,
    /// Escape codes of the basic palette (ECMA-48), which every theme defines.
    Colour,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    /// Headings, labels that matter.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Refused, halted, failing.
    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Worth a look.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// In order.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Secondary.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_codes() {
        assert_eq!(Style::Plain.red("x"), "x");
        assert_eq!(Style::Colour.green("x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
