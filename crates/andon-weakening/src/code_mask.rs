//! Masks the text of a file down to its code: comments become blanks, and quoted text becomes [`QUOTED`], so that words
//! and brackets in either mean nothing. Lengths stay, so that a place in the code is the same place in the text.

/// The byte in place of each byte of a quoted text; the quotes stay.
pub(super) const QUOTED: u8 = 1;

/// The marks of a quoted text.
struct Quote<'e> {
    /// Length of the opening, in bytes.
    open: usize,
    end: &'e [u8],
    /// A backslash takes the meaning of the next byte.
    escapes: bool,
    /// It may go over several lines.
    lines: bool,
}

/// Languages that are lexed alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Rust,
    Python,
    Script,
    Go,
    Jvm,
    Sharp,
    Ruby,
    Php,
    C,
    Swift,
    Elixir,
    Dart,
    Shell,
    Other,
}

impl Family {
    pub(super) fn from_extension(extension: &str) -> Self {
        match extension {
            "rs" => Self::Rust,
            "py" => Self::Python,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => Self::Script,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "groovy" | "scala" => Self::Jvm,
            "cs" => Self::Sharp,
            "rb" => Self::Ruby,
            "php" => Self::Php,
            "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx" => Self::C,
            "swift" => Self::Swift,
            "ex" | "exs" => Self::Elixir,
            "dart" => Self::Dart,
            "bats" => Self::Shell,
            _ => Self::Other,
        }
    }

    /// True where indentation or words mark blocks, not braces.
    pub(super) fn is_braceless(self) -> bool {
        matches!(self, Self::Python | Self::Ruby | Self::Elixir)
    }

    fn hashes(self) -> bool {
        matches!(self, Self::Python | Self::Ruby | Self::Elixir | Self::Shell | Self::Php)
    }

    fn slashes(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Elixir | Self::Shell)
    }

    fn has_triple(self, quote: u8) -> bool {
        matches!(self, Self::Python | Self::Dart)
            || quote == b'"' && matches!(self, Self::Jvm | Self::Sharp | Self::Swift | Self::Elixir)
    }

    /// True where a text in ordinary quotes may span lines.
    fn spans_lines(self) -> bool {
        matches!(self, Self::Rust | Self::Ruby | Self::Php | Self::Shell | Self::Elixir)
    }

    /// True where a single quote begins a text, not a character or a lifetime.
    fn single_quotes(self) -> bool {
        matches!(
            self,
            Self::Python | Self::Script | Self::Ruby | Self::Php | Self::Dart | Self::Shell | Self::Elixir
        )
    }
}

/// Words behind `#if` and `#ifdef` by which the lines up to `#endif` are left out.
const NEVER: &[&str] = &["0", "false", "FALSE"];

/// Names that say that something is switched off, as used in `#ifdef`, build tags and features.
const OFF: &[&str] = &["NEVER", "DISABLE", "BROKEN", "FLAKY", "TODO", "FIXME", "SKIP", "IGNORE", "LATER"];

/// True for the name of something that is switched off.
pub(super) fn is_off(name: &str) -> bool {
    let name = name.trim().to_ascii_uppercase();
    OFF.iter().any(|off| name.starts_with(off))
}

/// The code of a text.
pub(super) fn masked(text: &str, family: Family) -> String {
    let bytes = text.as_bytes();
    let mut masker = Masker { text: bytes, out: bytes.to_vec(), at: 0, family, heredoc: None };
    while masker.at < bytes.len() {
        if !masker.step() {
            masker.at += 1;
        }
    }
    String::from_utf8(masker.out).unwrap_or_default()
}

struct Masker<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    at: usize,
    family: Family,
    /// The end of the text that begins on the next line.
    heredoc: Option<&'t [u8]>,
}

impl<'t> Masker<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn here(&self, word: &str) -> bool {
        self.rest().starts_with(word.as_bytes())
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.text.get(at)).copied()
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |at| from + at)
    }

    /// Blanks up to a place and goes there.
    fn fill(&mut self, to: usize, with: u8) -> bool {
        let to = to.min(self.text.len());
        if let Some(out) = self.out.get_mut(self.at..to) {
            for byte in out.iter_mut().filter(|byte| **byte != b'\n') {
                *byte = with;
            }
        }
        self.at = to;
        true
    }

    /// Reads what begins here; whether something did.
    fn step(&mut self) -> bool {
        match self.text[self.at] {
            b'\n' => self.line_begins(),
            b'/' => self.slash(),
            b'#' if self.family.hashes() => self.hash(),
            b'#' if matches!(self.family, Family::C | Family::Sharp | Family::Swift) => self.directive(),
            b'"' | b'`' => self.text(),
            b'\'' => self.text() || self.character(),
            b'r' | b'R' if matches!(self.family, Family::Rust | Family::C) => self.raw(),
            b'<' if matches!(self.family, Family::Ruby | Family::Php) => self.here_document(),
            b'_' | b'=' if self.family == Family::Ruby && self.at == 0 => self.ruby_line(),
            _ => false,
        }
    }

    /// Masks texts that only begin at a line: those that the line before announced, and Ruby's block comments.
    fn line_begins(&mut self) -> bool {
        self.at += 1;
        if let Some(end) = self.heredoc.take() {
            let mut line = self.at;
            while line < self.text.len() {
                let stop = self.line_end(line);
                let text = self.text[line..stop].trim_ascii();
                if text == end || (self.family == Family::Php && text.starts_with(end)) {
                    break;
                }
                line = stop + 1;
            }
            return self.fill(line, QUOTED);
        }
        if self.family == Family::Ruby {
            self.ruby_line();
        }
        true
    }

    fn ruby_line(&mut self) -> bool {
        if self.here("=begin") {
            let end = find(self.text, self.at, b"\n=end").map_or(self.text.len(), |at| self.line_end(at + 1));
            return self.fill(end, b' ');
        }
        self.here("__END__\n") && self.fill(self.text.len(), b' ')
    }

    fn slash(&mut self) -> bool {
        if self.family.slashes() && self.here("//") {
            return self.fill(self.line_end(self.at), b' ');
        }
        if self.family.slashes() && self.here("/*") {
            let mut end = find(self.text, self.at + 2, b"*/").map_or(self.text.len(), |at| at + 2);
            while self.family == Family::Rust
                && end < self.text.len()
                && count(&self.text[self.at..end], b"/*") > count(&self.text[self.at..end], b"*/")
            {
                end = find(self.text, end, b"*/").map_or(self.text.len(), |at| at + 2);
            }
            return self.fill(end, b' ');
        }
        matches!(self.family, Family::Script | Family::Ruby) && self.regex()
    }

    /// A pattern between slashes, where a value is to be.
    fn regex(&mut self) -> bool {
        let before = self.out.get(..self.at).unwrap_or_default().trim_ascii_end();
        let opens =
            before.last().is_none_or(|byte| b"(,=:[!&|?{};~".contains(byte)) || before.ends_with(b"return");
        let line = self.text.get(self.at + 1..self.line_end(self.at)).unwrap_or_default();
        let (mut at, mut class) = (0, false);
        while opens && at < line.len() {
            match line[at] {
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class && at > 0 => {
                    self.at += 1;
                    self.fill(self.at + at, QUOTED);
                    self.at += 1;
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    fn hash(&mut self) -> bool {
        let is_code = self.family == Family::Php && self.here("#[");
        let apart = self.before().is_none_or(|byte| byte.is_ascii_whitespace() || b";{}()".contains(&byte));
        !is_code && apart && self.fill(self.line_end(self.at), b' ')
    }

    /// `#if 0` and what it leaves out.
    fn directive(&mut self) -> bool {
        let line = self.text.get(self.at..self.line_end(self.at)).unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        let (word, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let never = word == "#if" && NEVER.contains(&name) || word == "#ifdef" && is_off(name);
        if !never {
            return false;
        }
        let (mut at, mut depth) = (self.line_end(self.at) + 1, 0_usize);
        while at < self.text.len() {
            let end = self.line_end(at);
            let line = self.text[at..end].trim_ascii_start();
            if line.starts_with(b"#if") {
                depth += 1;
            } else if depth == 0 && line.starts_with(b"#e") {
                break;
            } else if line.starts_with(b"#endif") {
                depth -= 1;
            }
            at = end + 1;
        }
        self.fill(at, b' ')
    }

    /// A text in quotes of the language: where it has them, and whether escapes count and lines end in it.
    fn text(&mut self) -> bool {
        let (family, lines) = (self.family, self.family.spans_lines());
        let is_verbatim = family == Family::Sharp && self.before() == Some(b'@');
        let quotes = [
            (family == Family::Script, "`", true, true),
            (family == Family::Go, "`", false, true),
            (is_verbatim, "\"", false, true),
            (family.has_triple(b'"'), "\"\"\"", true, true),
            (true, "\"", true, lines),
            (family.single_quotes() && family.has_triple(b'\''), "'''", true, true),
            (family.single_quotes(), "'", true, lines),
        ];
        let found = quotes.into_iter().find(|(is_there, quote, ..)| *is_there && self.here(quote));
        found.is_some_and(|(_, quote, escapes, lines)| {
            self.quoted(&Quote { open: quote.len(), end: quote.as_bytes(), escapes, lines })
        })
    }

    fn character(&mut self) -> bool {
        // A character; else a lifetime, a label or a digit separator.
        let rest = self.rest();
        let end = if rest.get(1) == Some(&b'\\') {
            rest.iter().take(14).skip(3).position(|byte| *byte == b'\'').map(|at| at + 3)
        } else {
            (2..6).find(|at| rest.get(*at) == Some(&b'\'')).filter(|at| *at == 2 || rest[1] >= 0x80)
        };
        let Some(end) = end else { return false };
        self.at += 1;
        self.fill(self.at + end - 1, QUOTED);
        self.at += 1;
        true
    }

    /// Raw texts: `r#"…"#` of Rust, `R"(…)"` of C++.
    fn raw(&mut self) -> bool {
        if self.before().is_some_and(|byte| byte.is_ascii_alphanumeric() && byte != b'b' || byte == b'_') {
            return false;
        }
        let rest = self.rest();
        if self.family == Family::Rust && rest.starts_with(b"r") {
            let hashes = rest.iter().skip(1).take_while(|byte| **byte == b'#').count();
            if rest.get(hashes + 1) != Some(&b'"') {
                return false;
            }
            let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
            return self.quoted(&Quote { open: hashes + 2, end: &end, escapes: false, lines: true });
        }
        if self.family == Family::C && rest.starts_with(b"R\"") {
            let Some(open) = rest.iter().take(20).position(|byte| *byte == b'(') else { return false };
            let end = [b")", &rest[2..open], b"\""].concat();
            return self.quoted(&Quote { open: open + 1, end: &end, escapes: false, lines: true });
        }
        false
    }

    /// `<<~WORD` of Ruby, `<<<WORD` of PHP: a text from the next line on.
    fn here_document(&mut self) -> bool {
        let rest = self.rest();
        let words: &[&str] = if self.family == Family::Ruby { &["<<~", "<<-"] } else { &["<<<"] };
        if !words.iter().any(|word| self.here(word)) {
            return false;
        }
        let open = 3;
        let quote = usize::from(rest.get(open).is_some_and(|byte| b"'\"".contains(byte)));
        let word = rest.get(open + quote..).unwrap_or_default();
        let end = word.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(0);
        if end > 0 {
            self.heredoc = word.get(..end);
            self.at += open + quote + end + quote;
        }
        end > 0
    }

    /// Blanks a quoted text.
    fn quoted(&mut self, quote: &Quote<'_>) -> bool {
        let Quote { open, end, escapes, lines } = *quote;
        self.at += open;
        let mut at = self.at;
        let interpolates = matches!(
            self.family,
            Family::Script | Family::Jvm | Family::Ruby | Family::Elixir | Family::Dart
        );
        while at < self.text.len() && !self.text[at..].starts_with(end) {
            match self.text[at] {
                b'\n' if !lines => break,
                b'\\' if escapes => at += 1,
                b'$' | b'#' if interpolates && self.text.get(at + 1) == Some(&b'{') => {
                    at = self.interpolated(at + 2);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        let lines = self.text.get(self.at..at).is_some_and(|text| text.contains(&b'\n'));
        self.fill(at, QUOTED);
        if self.rest().starts_with(end) {
            // The end of a text of several lines is part of it, so that its line is no code.
            if lines {
                self.fill(self.at + end.len(), QUOTED);
            } else {
                self.at += end.len();
            }
        }
        true
    }

    /// The end of a value within a text: its brace, or else the end of its line.
    fn interpolated(&self, from: usize) -> usize {
        let mut depth = 1_usize;
        for (at, byte) in self.text.iter().enumerate().skip(from) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'\n' => return from,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        from
    }
}

fn find(text: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.windows(word.len()).position(|found| found == word).map(|at| from + at)
}

fn count(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len()).filter(|found| *found == word).count()
}
