//! A command line as a shell would take it apart, as far as its words are plain: what a shell would have to compute first,
//! and what comes after it, is not read. This is the one reader of lines; every part of the workspace that looks into one asks here.

use std::ops::Range;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Without its quotes.
    pub value: String,
    /// As it is written.
    pub raw: String,
    /// Its place in the line.
    pub span: Range<usize>,
    /// True when a shell would take the word as it is.
    pub is_exact: bool,
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;` or the end of a line.
    Next,
    /// `|`
    Pipe,
    /// `&`
    Background,
    /// The end of the script.
    Script,
    /// The text that follows is not read.
    Unread,
}

/// The effect of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redirection {
    /// One stream goes where another goes: `2>&1`.
    Copies,
    /// It reads a file.
    Reads,
    /// It writes this file.
    Writes(String),
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A word.
    Word(Word),
    /// A redirection with its target.
    Redirection(Redirection),
    /// The end of a command.
    End(End),
}

impl Item {
    /// The word, if it is one.
    pub fn word(&self) -> Option<&Word> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }

    /// The end, if it is one.
    pub fn end(&self) -> Option<End> {
        if let Self::End(end) = self { Some(*end) } else { None }
    }

    /// True for an end.
    pub fn ends(&self) -> bool {
        self.end().is_some()
    }

    fn redirection(&self) -> Option<&Redirection> {
        if let Self::Redirection(found) = self { Some(found) } else { None }
    }
}

/// A simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand<'a> {
    /// Its words; never none.
    pub words: Vec<&'a Word>,
    /// Its redirections.
    pub redirections: Vec<&'a Redirection>,
    /// The end that follows its words.
    pub end: End,
}

impl<'a> SimpleCommand<'a> {
    fn of_items(items: &'a [Item]) -> Option<Self> {
        let (end, items) = items.split_last()?;
        let words: Vec<&Word> = items.iter().filter_map(Item::word).collect();
        let redirections = items.iter().filter_map(Item::redirection).collect();
        (!words.is_empty()).then_some(Self { words, redirections, end: end.end()? })
    }

    /// Its words without their quotes.
    pub fn values(&self) -> Vec<&'a str> {
        self.words.iter().map(|word| word.value.as_str()).collect()
    }
}

/// A line as far as its words are plain.
#[derive(Debug, Default)]
pub struct Reading {
    /// Words, redirections and the ends of commands; the last is an end.
    pub items: Vec<Item>,
    /// True when all of the line was read.
    pub is_whole: bool,
    /// The depth to which commands in parentheses and substitutions are read as if they stood for themselves.
    through: usize,
    /// The items of substitutions.
    inner: Vec<Item>,
}

/// Substitutions within each other that are read.
const MAX_DEPTH: usize = 8;
/// Longest line that is read.
pub const MAX_SCRIPT: usize = 64 << 10;

impl Reading {
    /// Reads what is sure: a parenthesis or a substitution ends it.
    pub fn parse(script: &str) -> Self {
        Self::default().read(script)
    }

    /// Reads the commands in parentheses and in substitutions as well.
    pub fn through(script: &str) -> Self {
        Self { through: MAX_DEPTH, ..Self::default() }.read(script)
    }

    fn read(mut self, script: &str) -> Self {
        let ended = if script.len() > MAX_SCRIPT { End::Unread } else { self.all(script.trim_end()) };
        self.is_whole = ended == End::Script;
        self.items.push(Item::End(ended));
        self.items.splice(0..0, std::mem::take(&mut self.inner));
        self
    }

    /// The simple commands, in order; those of substitutions come first.
    pub fn commands(&self) -> Vec<SimpleCommand<'_>> {
        self.items.split_inclusive(Item::ends).filter_map(SimpleCommand::of_items).collect()
    }

    /// The files that redirections write.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| match item.redirection()? {
            Redirection::Writes(file) => Some(file.as_str()),
            Redirection::Copies | Redirection::Reads => None,
        })
    }

    /// True when no part of the line goes to the background.
    pub fn is_waited_for(&self) -> bool {
        !self.items.iter().filter_map(Item::end).any(|end| end == End::Background)
    }

    /// True when the line consists of its words alone.
    pub fn is_plain(&self) -> bool {
        self.is_whole && !self.items.iter().any(|item| item.redirection().is_some())
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
                '(' | ')' if self.through > 0 => self.end(End::Next, 1),
                '(' | ')' | ';' => return End::Unread,
                _ => {
                    let Some((item, length)) = self.redirection(rest).or_else(|| self.word(rest, at)) else {
                        return End::Unread;
                    };
                    self.items.push(item);
                    length
                }
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

    /// A redirection with its target, and its length; `None` where there is none, or one that is not read.
    fn redirection(&mut self, rest: &str) -> Option<(Item, usize)> {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let signs = ["&>>", "&>", ">>", ">|", ">&", "<&", ">", "<"];
        let tail = &rest[digits..];
        if ["<<", "<(", ">(", "<>"].iter().any(|other| tail.starts_with(other)) {
            return None;
        }
        let sign = signs.iter().find(|sign| tail.starts_with(**sign))?;
        let from = digits + sign.len();
        let blanks = rest[from..].bytes().take_while(|byte| *byte == b' ').count();
        let (target, length) = self.word(rest.get(from + blanks..)?, 0)?;
        let target = target.word()?.value.clone();
        let is_number = target == "-" || target.bytes().all(|byte| byte.is_ascii_digit());
        let found = match sign.contains('>') {
            _ if sign.ends_with('&') && is_number => Redirection::Copies,
            true => Redirection::Writes(target),
            false => Redirection::Reads,
        };
        Some((Item::Redirection(found), from + blanks + length))
    }

    /// The word at the beginning of `rest`, and its length; `None` where a part of it has to be computed by a program, unless such
    /// parts are read as well.
    fn word(&mut self, rest: &str, offset: usize) -> Option<(Item, usize)> {
        let (mut value, mut is_exact, mut quote) = (String::new(), true, None);
        let mut chars = rest.char_indices().peekable();
        let mut length = rest.len();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            match (quote, c) {
                (Some('\'' | '$'), '\'') | (Some('"'), '"') => quote = None,
                (Some('$'), '\\') => value.extend(chars.next().map(|(_, c)| c)),
                (Some('\'' | '$'), c) => value.push(c),
                (_, '`' | '$') if c == '`' || next == Some('(') => {
                    let end = at + self.substitution(rest.get(at..)?)?;
                    is_exact = false;
                    while chars.next_if(|(at, _)| *at < end).is_some() {}
                    value.push_str(rest.get(at..end)?);
                }
                (None, '$') if matches!(next, Some('\'' | '"')) => {
                    // `$'...'` has escapes of its own.
                    is_exact = false;
                    quote = chars.next().map(|(_, sign)| if sign == '"' { sign } else { '$' });
                }
                (_, '$') => {
                    is_exact = false;
                    value.push(c);
                }
                (Some(_), '\\') if !matches!(next, Some('$' | '`' | '"' | '\\' | '\n')) => value.push(c),
                (_, '\\') => match chars.next()? {
                    (_, '\n') => {}
                    (_, c) => value.push(c),
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
        let word = Word { value, raw: rest[..length].to_owned(), span: offset..offset + length, is_exact };
        (quote.is_none() && length > 0).then_some((Item::Word(word), length))
    }

    /// The length of the substitution at the beginning of `rest`, of which the commands are kept; `None` where none is to be read.
    fn substitution(&mut self, rest: &str) -> Option<usize> {
        let depth = self.through.checked_sub(1)?;
        let (from, end) = match rest.strip_prefix('`') {
            Some(inner) => (1, 1 + inner.find('`')?),
            None => (2, 2 + closing(rest.get(2..)?)?),
        };
        let inner = Self { through: depth, ..Self::default() }.read(rest.get(from..end)?);
        self.inner.extend(inner.items);
        (inner.is_whole).then_some(end + 1)
    }
}

/// The place of the parenthesis that closes one that was opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(sign), c) if c == sign => quote = None,
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => return Some(at),
            (None, ')') => depth -= 1,
            (Some(_) | None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_redirections_write_is_known() {
        let read = Reading::parse("a >x 2>&1 2>/dev/null <y >&- &>z");
        assert_eq!(read.writes().collect::<Vec<_>>(), ["x", "/dev/null", "z"]);
        assert!(!Reading::parse("a <<E").is_whole && !Reading::parse("(a)").is_whole);
        assert_eq!(Reading::through("(a b); c").commands().len(), 2);
    }

    #[test]
    fn what_a_substitution_runs_is_read_where_it_is_asked_for() {
        let commands = |line| {
            let read = Reading::through(line);
            let all: Vec<String> = read.commands().iter().map(|command| command.values().join(" ")).collect();
            (all, read.is_whole)
        };
        for (line, expected) in [
            ("a $(b \"$(c ')')\" | d) e", vec!["c )", "b $(c ')')", "d", "a $(b \"$(c ')')\" | d) e"]),
            ("a `b c`", vec!["b c", "a `b c`"]),
            ("a $'it\\'s' $\"b\"", vec!["a it's b"]),
        ] {
            let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(commands(line), (expected, true), "{line}");
            assert_eq!(Reading::parse(line).is_whole, line.contains("$'"), "{line}");
        }
        for open in ["a $(b", "a `b", "a 'b"] {
            assert!(!Reading::through(open).is_whole, "{open}");
        }
        Reading::through(&"$(a ".repeat(9000));
        let words = Reading::parse("a 'b' c*").items;
        assert!(words.iter().filter_map(Item::word).map(|word| word.is_exact).eq([true, true, false]));
    }
}
