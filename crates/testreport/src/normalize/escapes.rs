//! Escape sequences of terminals, and what is left of them where a report's writer removed a part.

use std::borrow::Cow;

use super::rule::{pattern, replace};

/// Line ends as `\n`, no byte order mark: what a file has of its system.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') && !text.contains('\u{feff}') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n").replace('\u{feff}', ""))
}

pattern!(
    PRINTED,
    r"(?:\[NON-XML-CHAR-0x1[Bb]\]|&?#x1[Bb];?|&#27;|\\u001[Bb]|\\x1[Bb]|\\033|\^\[|␛)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\n]*\x07)|\[NON-XML-CHAR-0x1[Bb]\]"
);

/// Terminal escapes that a writer has printed because its format cannot hold them: `#x1B[31m`,
/// `[NON-XML-CHAR-0x1B][31m`, `\u001b[31m`, `^[[31m`. Only whole ones: `^[` alone may be a text.
pub(super) fn strip_printed(text: &str) -> Cow<'_, str> {
    // The first byte of each of them.
    let begins = |byte: u8| matches!(byte, b'#' | b'\\' | b'^' | 0xe2);
    let any = text.contains('[') && (text.bytes().any(begins) || text.contains("[NON-XML"));
    if any { replace(&PRINTED, text, "") } else { Cow::Borrowed(text) }
}

pattern!(ANSI, r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])|[\x0e\x0f]");

/// Terminal escapes: colours, cursor movements, titles and links, and the changes of character set that end a colour in
/// `screen` and `tmux`.
pub(crate) fn strip_ansi(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| matches!(byte, 0x1b | 0x0e | 0x0f)) {
        replace(&ANSI, text, "")
    } else {
        Cow::Borrowed(text)
    }
}

/// Control characters other than line ends; tabs become spaces.
pub(super) fn drop_controls(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n');
    if text.bytes().all(is_plain) || !text.chars().any(|each| each.is_control() && each != '\n') {
        return Cow::Borrowed(text);
    }
    let spaced = text.chars().map(|each| if each == '\t' { ' ' } else { each });
    Cow::Owned(spaced.filter(|each| !each.is_control() || *each == '\n').collect())
}

/// Line ends and other control characters become spaces: an id is one line.
pub(super) fn single_line(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().map(|each| if each.is_control() { ' ' } else { each }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Spaces at the ends of lines, empty lines, and the indentation that all lines share.
pub(super) fn tidy(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') && !text.starts_with(' ') {
        let whole = text.trim_end();
        return if whole.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(whole.to_owned()) };
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let shared = lines.iter().map(indent).min().unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(shared..).unwrap_or(line)).collect();
    Cow::Owned(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!([&PRINTED, &ANSI].into_iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn line_ends() {
        check(decode, &[("\u{feff}a\r\nb\rc\n", "a\nb\nc\n"), ("plain\n", "plain\n")]);
    }

    #[test]
    fn printed_escapes() {
        check(
            strip_printed,
            &[
                ("#x1B[31mno#x1B[0m", "no"),
                ("[NON-XML-CHAR-0x1B][31mno[NON-XML-CHAR-0x1B][39m", "no"),
                ("\\u001b[1;31mno\\u001B[0m", "no"),
                ("^[[31mno^[[0m", "no"),
                ("&#x1b;[2mno&#27;[22m \\x1b[Kx \\033[0my ␛[0mz", "no x y z"),
                ("a [NON-XML-CHAR-0x1B] b", "a  b"),
                ("^[ and #x1B alone", "^[ and #x1B alone"),
            ],
        );
    }

    #[test]
    fn ansi() {
        check(
            strip_ansi,
            &[
                ("plain", "plain"),
                ("\x1b[1;31mred\x1b[0m", "red"),
                ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
                ("\x1b[2K\x1b[?25lgone\x1b(B", "gone"),
                ("\x1b[31mFAILED\x1b[m\x0f. 1", "FAILED. 1"),
                ("\x1b", "\x1b"),
            ],
        );
    }

    #[test]
    fn controls() {
        check(drop_controls, &[("a\tb\n\u{7}c\u{0}\u{7f}", "a b\nc"), ("plain\n", "plain\n")]);
        check(single_line, &[("a\nb\tc\u{1}", "a b c "), ("plain", "plain")]);
    }

    #[test]
    fn tidied() {
        check(tidy, &[("a  \n\n  b\n", "a\n  b"), ("  a\n\n   b", "a\n b"), ("", "")]);
    }
}
