//! Cuts XML that comes in chunks into pieces that are whole, and leaves out what is too long to be kept.
//!
//! A parser that borrows from its input needs whole tags; a report of a gigabyte must not be held to give it
//! some. So this knows as much of the syntax as it takes to see where a piece ends, and nothing else:
//! whether the pieces are well-formed is the parser's to say.

use quick_xml::{events::Event, reader::Reader};

use crate::{ReportProblem, words::cut};

/// Longest run of text, character data, comment or attribute value that is kept; the rest of it is left out.
pub(super) const MAX_RUN: usize = 16 * 1024;

/// Longest tag, declaration or document type, after that.
const MAX_PIECE: usize = 256 * 1024;

/// The end of what was read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// After `<`.
    Markup,
    /// After `<!`, until it is clear what begins.
    Bang,
    /// In a start tag.
    Tag,
    /// In an attribute value, up to this quote.
    Value(u8),
    /// Up to the next `>`.
    ToBracket,
    /// Up to the next of these ends.
    Within(&'static str),
    DocType,
}

/// The pieces of a document, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    kept: String,
    state: State,
    /// The beginning in `kept` of the piece that is not whole yet.
    start: usize,
    /// Bytes of the run that is open, before anything is left out.
    run: usize,
    /// The last two bytes that came, for ends that are torn apart by a chunk.
    last: [u8; 2],
}

impl Pieces {
    pub(super) fn new() -> Self {
        Self { ..Self::default() }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), ReportProblem> {
        let mut rest = text;
        while !rest.is_empty() {
            let taken = self.step(rest)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        if self.kept.len() - self.start > MAX_PIECE {
            return Err(ReportProblem::PieceTooLong(MAX_PIECE));
        }
        Ok(())
    }

    /// The pieces that are whole.
    pub(super) fn whole(&self) -> &str {
        self.kept.get(..self.start).unwrap_or_default()
    }

    /// Everything that is there, whole or not.
    pub(super) fn all(&self) -> &str {
        &self.kept
    }

    pub(super) fn forget(&mut self) {
        self.kept.drain(..self.start);
        self.start = 0;
    }

    /// Takes the beginning of `rest`; returns how much.
    fn step(&mut self, rest: &str) -> Result<usize, ReportProblem> {
        let bytes = rest.as_bytes();
        Ok(match self.state {
            State::Text => self.until(rest, memchr::memchr(b'<', bytes), State::Markup),
            State::Markup => self.kind(bytes),
            State::Bang => self.bang(rest),
            State::Tag => match memchr::memchr3(b'>', b'"', b'\'', bytes) {
                Some(at) if bytes.get(at) == Some(&b'>') => self.end_at(rest, at),
                Some(at) => {
                    self.kept.push_str(rest.get(..=at).unwrap_or_default());
                    self.enter(State::Value(bytes.get(at).copied().unwrap_or(b'"')));
                    at + 1
                }
                None => self.keep_all(rest),
            },
            State::Value(quote) => self.until(rest, memchr::memchr(quote, bytes), State::Tag),
            State::ToBracket => match memchr::memchr(b'>', bytes) {
                Some(at) => self.end_at(rest, at),
                None => self.keep_all(rest),
            },
            State::Within(end) => self.within(rest, end),
            State::DocType => return self.doctype(rest),
        })
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.run = 0;
        self.last = [0; 2];
    }

    /// A piece is whole with the byte at `at`.
    fn end_at(&mut self, rest: &str, at: usize) -> usize {
        self.kept.push_str(rest.get(..=at).unwrap_or_default());
        self.start = self.kept.len();
        self.enter(State::Text);
        at + 1
    }

    fn keep_all(&mut self, rest: &str) -> usize {
        self.kept.push_str(rest);
        rest.len()
    }

    /// A run whose beginning is kept, up to the byte at `end`.
    fn until(&mut self, rest: &str, end: Option<usize>, next: State) -> usize {
        let at = end.unwrap_or(rest.len());
        self.keep_run(rest.get(..at).unwrap_or_default());
        if end.is_none() {
            return at;
        }
        if next == State::Markup {
            self.start = self.kept.len();
        }
        self.kept.push_str(rest.get(at..=at).unwrap_or_default());
        self.enter(next);
        at + 1
    }

    /// Keeps what the bound leaves room for. A reference is not torn apart: half of one is no text.
    fn keep_run(&mut self, more: &str) {
        if self.run > MAX_RUN {
            return;
        }
        let room = MAX_RUN - self.run;
        self.run = self.run.saturating_add(more.len());
        if more.len() <= room {
            self.kept.push_str(more);
            return;
        }
        self.kept.push_str(cut(more, room));
        let open = self.kept.rfind(['&', ';', '<', '"', '\'']).filter(|at| *at >= self.start);
        if let Some(at) = open.filter(|at| self.kept.as_bytes().get(*at) == Some(&b'&')) {
            self.kept.truncate(at);
        }
    }

    fn kind(&mut self, bytes: &[u8]) -> usize {
        let (state, taken) = match bytes.first() {
            Some(b'/') => (State::ToBracket, 0),
            Some(b'?') => (State::Within("?>"), 1),
            Some(b'!') => (State::Bang, 1),
            Some(_) | None => (State::Tag, 0),
        };
        self.kept.push_str(match bytes.first() {
            Some(b'?') => "?",
            Some(b'!') => "!",
            Some(_) | None => "",
        });
        self.enter(state);
        taken
    }

    /// A comment, character data, a document type, or nothing that there is.
    fn bang(&mut self, rest: &str) -> usize {
        let Some(next) = rest.chars().next() else { return 0 };
        let mut seen = self.kept.get(self.start..).unwrap_or_default().to_owned();
        seen.push(next);
        let state = match seen.as_str() {
            "<!--" => State::Within("-->"),
            "<![CDATA[" => State::Within("]]>"),
            "<!D" | "<!d" => State::DocType,
            begun if "<!--".starts_with(begun) || "<![CDATA[".starts_with(begun) => State::Bang,
            _ => {
                self.enter(State::ToBracket);
                return 0;
            }
        };
        self.kept.push(next);
        if state != State::Bang {
            self.enter(state);
        }
        next.len_utf8()
    }

    /// The end may have been left out with the rest of a long run, and is put back.
    fn within(&mut self, rest: &str, end: &'static str) -> usize {
        let bytes = rest.as_bytes();
        let (before, _) = end.as_bytes().split_at(end.len() - 1);
        for at in memchr::memchr_iter(b'>', bytes) {
            let byte = |back: usize| {
                at.checked_sub(back).map_or_else(
                    || self.last.get((2 + at).saturating_sub(back)).copied(),
                    |index| bytes.get(index).copied(),
                )
            };
            let closes = before.iter().rev().enumerate().all(|(back, want)| byte(back + 1) == Some(*want));
            if closes {
                self.keep_run(rest.get(..=at).unwrap_or_default());
                if self.run > MAX_RUN {
                    self.kept.push_str(end);
                }
                self.start = self.kept.len();
                self.enter(State::Text);
                return at + 1;
            }
        }
        self.keep_run(rest);
        for byte in bytes.iter().skip(bytes.len().saturating_sub(2)) {
            self.last = [self.last[1], *byte];
        }
        rest.len()
    }

    /// Finds the end of a document type: the parser is asked at every bracket.
    fn doctype(&mut self, rest: &str) -> Result<usize, ReportProblem> {
        let at = memchr::memchr(b'>', rest.as_bytes());
        let taken = at.map_or(rest.len(), |at| at + 1);
        self.kept.push_str(rest.get(..taken).unwrap_or_default());
        let piece = self.kept.get(self.start..).unwrap_or_default();
        if piece.len() > MAX_RUN {
            return Err(ReportProblem::PieceTooLong(MAX_RUN));
        }
        if at.is_some() && matches!(Reader::from_str(piece).read_event(), Ok(Event::DocType(_))) {
            self.start = self.kept.len();
            self.enter(State::Text);
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pieces that come out when `text` comes in chunks of `size`.
    fn pieces(text: &str, size: usize) -> Result<(String, String), ReportProblem> {
        let (mut pieces, mut whole) = (Pieces::new(), String::new());
        let letters: Vec<char> = text.chars().collect();
        for chunk in letters.chunks(size) {
            pieces.push(&chunk.iter().collect::<String>())?;
            whole += pieces.whole();
            pieces.forget();
        }
        Ok((whole, pieces.all().to_owned()))
    }

    const PARTS: [&str; 24] = [
        "<",
        ">",
        "<a>",
        "</a>",
        "<a b='>'/>",
        "\"",
        "'",
        "<!--",
        "-->",
        "--->",
        "<![CDATA[",
        "]]>",
        "]",
        "<?x ",
        "?>",
        "?",
        "<!DOCTYPE a [",
        "<!ENTITY e '>'>",
        "]>",
        "<!D",
        "&amp;",
        "é",
        "text ",
        "<!x>",
    ];

    #[test]
    fn a_piece_ends_where_it_ends() {
        let cases = [
            ("<a b='>'>x</a>", "<a b='>'>x</a>", ""),
            ("<a><b c=\"", "<a>", "<b c=\""),
            ("x<![CDATA[]]]]><a", "x<![CDATA[]]]]>", "<a"),
            ("<!-- > --><!-- > -", "<!-- > -->", "<!-- > -"),
            ("<!DOCTYPE a [<!ENTITY b '>'>]><a", "<!DOCTYPE a [<!ENTITY b '>'>]>", "<a"),
            ("<?x ?y?><!>a", "<?x ?y?><!>", "a"),
            ("</a '>'", "</a '>", "'"),
        ];
        for (text, whole, rest) in cases {
            for size in 1..=text.len() {
                assert_eq!(pieces(text, size), Ok((whole.to_owned(), rest.to_owned())), "{text} {size}");
            }
        }
    }

    #[test]
    fn what_is_too_long_is_left_out() {
        let long = "é".repeat(MAX_RUN);
        for (before, after) in [("<a>", "</a>"), ("<a b='", "'/>"), ("<![CDATA[", "]]>"), ("<!--", "-->")] {
            for size in [1000, 100_000] {
                let (whole, rest) = pieces(&format!("{before}{long}{after}"), size).unwrap();
                assert!(whole.starts_with(before) && whole.ends_with(after), "{before}");
                assert!(whole.len() <= MAX_RUN + 20 && rest.is_empty(), "{before} {}", whole.len());
            }
        }
        let torn = format!("<a>{}&amp;{long}</a>", "x".repeat(MAX_RUN - 2));
        assert_eq!(pieces(&torn, 7000).unwrap().0, format!("<a>{}</a>", "x".repeat(MAX_RUN - 2)));
        for tag in
            [format!("<{long}"), format!("<!DOCTYPE {long}"), format!("<a {}", "b='' ".repeat(MAX_PIECE))]
        {
            assert!(matches!(pieces(&tag.repeat(20), 70_000), Err(ReportProblem::PieceTooLong(_))));
        }
    }

    proptest! {
        #[test]
        fn where_chunks_end_does_not_matter(
            parts in proptest::collection::vec(proptest::sample::select(PARTS.to_vec()), 0..30),
            size in 1_usize..9,
        ) {
            let text = parts.concat();
            let whole = pieces(&text, usize::MAX).unwrap();
            prop_assert_eq!(&pieces(&text, size).unwrap(), &whole);
            prop_assert_eq!(whole.0 + &whole.1, text, "what is short is kept");
        }
    }
}
