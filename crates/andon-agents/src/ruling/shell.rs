//! A command line as a shell would take it apart, as far as its words are plain: what a shell would have to compute first,
//! and what comes after it, is not read.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes.
    pub(super) value: String,
    /// As it is written.
    pub(super) raw: String,
    pub(super) span: Range<usize>,
    /// True when a shell would take the word as it is.
    pub(super) is_exact: bool,
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    And,
    Or,
    /// `;` or the end of a line.
    Next,
    Pipe,
    Background,
    /// The end of the script.
    Script,
    /// The text that follows is not read.
    Unread,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Word(Word),
    End(End),
}

impl Item {
    pub(super) fn word(&self) -> Option<&Word> {
        match self {
            Self::Word(word) => Some(word),
            Self::End(_) => None,
        }
    }

    pub(super) fn end(&self) -> Option<End> {
        match self {
            Self::Word(_) => None,
            Self::End(end) => Some(*end),
        }
    }

    pub(super) fn ends(&self) -> bool {
        self.end().is_some()
    }
}

/// A line as far as its words are plain.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Words, and the ends of commands; the last is an end.
    pub(super) items: Vec<Item>,
    /// True when all of the line was read.
    pub(super) is_whole: bool,
    redirections: usize,
    /// The files that redirections write.
    pub(super) writes: Vec<String>,
    /// True when commands in parentheses are read as if there were no parentheses.
    through: bool,
}

/// Longest line that is read.
pub(super) const MAX_SCRIPT: usize = 64 << 10;

impl Reading {
    pub(super) fn parse(script: &str) -> Self {
        Self::default().read(script)
    }

    /// Reads the commands in parentheses as well.
    pub(super) fn through(script: &str) -> Self {
        Self { through: true, ..Self::default() }.read(script)
    }

    fn read(mut self, script: &str) -> Self {
        let read = &mut self;
        let ended = if script.len() > MAX_SCRIPT { End::Unread } else { read.all(script.trim_end()) };
        read.is_whole = ended == End::Script;
        read.items.push(Item::End(ended));
        self
    }

    /// The words of each command.
    pub(super) fn commands(&self) -> Vec<Vec<&Word>> {
        let commands =
            self.items.split(Item::ends).map(|items| items.iter().filter_map(Item::word).collect());
        commands.filter(|words: &Vec<&Word>| !words.is_empty()).collect()
    }

    /// Returns true when no part of the line goes to the background.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.items.iter().filter_map(Item::end).any(|end| end == End::Background)
    }

    /// Returns true when the line consists of its words alone.
    pub(super) fn is_plain(&self) -> bool {
        self.is_whole && self.redirections == 0
    }

    fn all(&mut self, script: &str) -> End {
        let mut at = 0;
        while let Some(c) = script[at..].chars().next() {
            let rest = &script[at..];
            let starts = |sign: &str| rest.starts_with(sign);
            at += match c {
                ' ' | '\t' => 1,
                '\\' if starts("\\\n") => 2,
                '#' => rest.find('\n').unwrap_or(rest.len()),
                '&' if starts("&&") => self.end(End::And, 2),
                '|' if starts("||") => self.end(End::Or, 2),
                '|' => self.end(End::Pipe, 1 + usize::from(starts("|&"))),
                '&' if !starts("&>") => self.end(End::Background, 1),
                ';' if !starts(";;") => self.end(End::Next, 1),
                '\n' => self.end(End::Next, 1),
                '(' | ')' if self.through => self.end(End::Next, 1),
                '(' | ')' | ';' => return End::Unread,
                _ => match redirection(rest) {
                    Some((length, written)) => {
                        self.redirections += 1;
                        self.writes.extend(written);
                        length
                    }
                    None => match word(rest, at) {
                        Some(word) => {
                            let length = word.span.len();
                            self.items.push(Item::Word(word));
                            length
                        }
                        None => return End::Unread,
                    },
                },
            };
        }
        End::Script
    }

    fn end(&mut self, end: End, length: usize) -> usize {
        // An empty line, and a line break behind `&&`, end nothing.
        if end != End::Next || !self.items.last().is_none_or(Item::ends) {
            self.items.push(Item::End(end));
        }
        length
    }
}

/// The length of a redirection with its target, and the file that it writes; `None` where there is none, or one that is not read.
fn redirection(rest: &str) -> Option<(usize, Option<String>)> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let signs = ["&>>", "&>", ">>", ">|", ">&", "<&", ">", "<"];
    let tail = &rest[digits..];
    if tail.starts_with("<<") || tail.starts_with("<(") || tail.starts_with(">(") || tail.starts_with("<>") {
        return None;
    }
    let sign = signs.iter().find(|sign| tail.starts_with(**sign))?;
    let from = digits + sign.len();
    let blanks = rest[from..].bytes().take_while(|byte| *byte == b' ').count();
    let target = word(rest.get(from + blanks..)?, 0)?;
    let number = |text: &str| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit());
    let is_copy = sign.ends_with('&') && number(&target.value);
    let written = (sign.contains('>') && !is_copy).then_some(target.value);
    Some((from + blanks + target.span.len(), written))
}

/// The word at the beginning of `rest`; `None` where a part of it has to be computed by a program.
fn word(rest: &str, offset: usize) -> Option<Word> {
    let (mut value, mut is_exact, mut quote) = (String::new(), true, None);
    let mut chars = rest.char_indices().peekable();
    let mut length = rest.len();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), c) => value.push(c),
            (_, '`') => return None,
            (_, '$') if matches!(next, Some('(')) => return None,
            (None, '$') if matches!(next, Some('\'' | '"')) => return None,
            (_, '$') => {
                is_exact = false;
                value.push(c);
            }
            (Some(_), '\\') if !matches!(next, Some('$' | '`' | '"' | '\\' | '\n')) => value.push(c),
            (_, '\\') => match chars.next() {
                Some((_, '\n')) => {}
                Some((_, c)) => value.push(c),
                None => return None,
            },
            (Some(_), c) => value.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>' | '(' | ')') => {
                length = at;
                break;
            }
            (None, c) => {
                is_exact &= !matches!(c, '*' | '?' | '[' | '{') && (c != '~' || at != 0);
                value.push(c);
            }
        }
    }
    let raw = rest[..length].to_owned();
    (quote.is_none() && length > 0).then_some(Word { value, raw, span: offset..offset + length, is_exact })
}

/// Returns true when `script` names git as a word of its own.
pub fn runs_git(script: &str) -> bool {
    script.split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c)).any(|part| part == "git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_seen_wherever_it_stands() {
        for (script, runs) in [
            ("git status", true),
            ("cd x && /usr/bin/git commit -m y", true),
            ("bash -c 'git add .'", true),
            ("echo $(git log)", true),
            ("cargo test", false),
            ("cat .gitignore digit .git/config", false),
        ] {
            assert_eq!(runs_git(script), runs, "{script:?}");
        }
    }

    #[test]
    fn what_redirections_write_is_known() {
        let writes = |script| Reading::parse(script).writes;
        assert_eq!(writes("a >x 2>&1 2>/dev/null <y >&- &>z"), ["x", "/dev/null", "z"]);
        assert!(!Reading::parse("a <<E").is_whole && !Reading::parse("(a)").is_whole);
        assert_eq!(Reading::through("(a b); c").commands().len(), 2);
    }
}
