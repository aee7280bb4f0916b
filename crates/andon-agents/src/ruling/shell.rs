//! A command line as a shell would take it apart, as far as needed to see which programs it starts with which words.
//! It never expands anything: what a variable or a program computes is not seen here, and the hooks of git stay the gate.

/// Longest command line that is taken apart, in bytes.
const MAX_SCRIPT: usize = 1 << 20;
/// How deeply scripts within scripts are followed.
pub(super) const MAX_DEPTH: usize = 4;

/// One command with its words, assignments before it included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Words without their quotes.
    pub(super) words: Vec<String>,
    /// Files that redirections write.
    pub(super) writes: Vec<String>,
    /// What a here-document or a here-string gives it.
    pub(super) input: String,
    /// Whether it reads what the command before it writes.
    pub(super) piped: bool,
    /// How many here-documents of it are still to come.
    awaits: usize,
}

impl Simple {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.writes.is_empty() && self.input.is_empty()
    }

    /// What the command writes, where that is plain from its words: it takes the place of the command.
    fn answer(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["git", "rev-parse", .., "--git-path", path] => format!(".git/{path}"),
            ["git", "rev-parse", .., "--git-dir" | "--git-common-dir" | "--absolute-git-dir"] => {
                ".git".to_owned()
            }
            ["which", .., name] | ["command" | "type", "-v" | "-p" | "-P", name] => format!("/bin/{name}"),
            _ => String::new(),
        }
    }
}

/// The commands of `script` in order, those in substitutions and subshells among them. `None` where it is too long.
pub(super) fn commands(script: &str) -> Option<Vec<Simple>> {
    if script.len() > MAX_SCRIPT {
        return None;
    }
    let mut lexer = Lexer { rest: script.chars().collect(), ..Lexer::default() };
    lexer.rest.reverse();
    lexer.run();
    Some(lexer.done)
}

/// Whether `script` starts git.
pub fn runs_git(script: &str) -> bool {
    let Some(commands) = commands(script) else { return script.contains("git") };
    commands.iter().flat_map(|command| &command.words).any(|word| {
        word.rsplit('/').next().is_some_and(|name| name == "git")
            || word.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(|part| part == "git")
    })
}

/// What closes a part of the script that began in the middle of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closer {
    Parenthesis,
    Backtick,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    Written,
    Ignored,
    Delimiter,
    Given,
}

/// A command that was left for a substitution within it.
#[derive(Debug)]
struct Frame {
    simple: Simple,
    word: Option<String>,
    quoted: bool,
    closer: Closer,
    /// How many commands were done before it began.
    done: usize,
}

#[derive(Debug, Default)]
struct Lexer {
    /// What is to be read, the next character last.
    rest: Vec<char>,
    done: Vec<Simple>,
    simple: Simple,
    word: Option<String>,
    next: Option<Next>,
    quoted: bool,
    frames: Vec<Frame>,
    /// Delimiters of here-documents whose bodies come after the line.
    bodies: Vec<String>,
    /// The first command of the line.
    line: usize,
}

impl Lexer {
    fn run(&mut self) {
        while let Some(c) = self.rest.pop() {
            if self.quoted { self.in_quotes(c) } else { self.plain(c) }
        }
        while let Some(frame) = self.frames.pop() {
            self.close(frame);
        }
        self.end_command();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn in_quotes(&mut self, c: char) {
        match c {
            '"' => self.quoted = false,
            '\\' => match self.rest.pop() {
                Some('\n') | None => {}
                Some(next) => self.push(next),
            },
            '$' if self.rest.last() == Some(&'(') => self.open(Closer::Parenthesis),
            '`' => self.backtick(),
            other => self.push(other),
        }
    }

    fn plain(&mut self, c: char) {
        match c {
            '\'' => self.single_quoted(),
            '"' => {
                self.word.get_or_insert_default();
                self.quoted = true;
            }
            '\\' => match self.rest.pop() {
                Some('\n') | None => {}
                Some(next) => self.push(next),
            },
            '$' | '<' | '>' if self.rest.last() == Some(&'(') => self.open(Closer::Parenthesis),
            '$' if self.rest.last() == Some(&'\'') => self.ansi_quoted(),
            '$' if self.rest.last() == Some(&'"') => {}
            '`' => self.backtick(),
            '#' if self.word.is_none() => {
                while self.rest.last().is_some_and(|c| *c != '\n') {
                    self.rest.pop();
                }
            }
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                self.read_bodies();
            }
            '&' if self.rest.last() == Some(&'>') => self.end_word(),
            '|' => {
                self.end_command();
                let or = self.rest.pop_if(|c| *c == '|').is_some();
                self.rest.pop_if(|c| *c == '&');
                self.simple.piped = !or;
            }
            ';' | '&' => {
                self.end_command();
                self.simple.piped = false;
            }
            '(' => self.end_command(),
            ')' => match self.frames.pop_if(|frame| frame.closer == Closer::Parenthesis) {
                Some(frame) => self.close(frame),
                None => self.end_command(),
            },
            '>' => self.redirected_out(),
            '<' => self.redirected_in(),
            other => self.push(other),
        }
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.pop().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    /// `$'a\x62c'`, in which a character may be written by its number.
    fn ansi_quoted(&mut self) {
        self.rest.pop();
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.pop().filter(|c| *c != '\'') {
            let said = if c == '\\' { self.escaped() } else { Some(c) };
            self.word.get_or_insert_default().extend(said);
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let (radix, most, mut digits) = match self.rest.pop()? {
            'x' => (16, 2, String::new()),
            'u' => (16, 4, String::new()),
            'U' => (16, 8, String::new()),
            first @ '0'..='7' => (8, 3, first.to_string()),
            'n' => return Some('\n'),
            't' => return Some('\t'),
            other => return Some(other),
        };
        while digits.len() < most
            && let Some(digit) = self.rest.pop_if(|c| c.is_digit(radix))
        {
            digits.push(digit);
        }
        u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
    }

    fn redirected_out(&mut self) {
        // Digits right before it name a descriptor.
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut next = Next::Written;
        while let Some(c) = self.rest.pop_if(|c| matches!(c, '>' | '|' | '&')) {
            if c == '&' && self.rest.last().is_some_and(|c| c.is_ascii_digit() || *c == '-') {
                next = Next::Ignored;
            }
        }
        self.next = Some(next);
    }

    fn redirected_in(&mut self) {
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut times = 1;
        while self.rest.pop_if(|c| *c == '<').is_some() {
            times += 1;
        }
        if times == 2 {
            self.rest.pop_if(|c| *c == '-');
        }
        if times == 1 {
            self.rest.pop_if(|c| *c == '&');
        }
        self.next = Some(match times {
            1 => Next::Ignored,
            2 => Next::Delimiter,
            _ => Next::Given,
        });
    }

    fn backtick(&mut self) {
        match self.frames.pop_if(|frame| frame.closer == Closer::Backtick) {
            Some(frame) => self.close(frame),
            None => self.open(Closer::Backtick),
        }
    }

    fn open(&mut self, closer: Closer) {
        if closer == Closer::Parenthesis {
            self.rest.pop();
        }
        let (simple, word) = (std::mem::take(&mut self.simple), self.word.take());
        let quoted = std::mem::take(&mut self.quoted);
        self.frames.push(Frame { simple, word, quoted, closer, done: self.done.len() });
    }

    fn close(&mut self, frame: Frame) {
        self.end_command();
        self.simple = frame.simple;
        self.quoted = frame.quoted;
        let answer = self.done.get(frame.done..).and_then(<[Simple]>::last).map(Simple::answer);
        self.word = Some(frame.word.unwrap_or_default() + &answer.unwrap_or_default());
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.next.take().unwrap_or(Next::Word) {
            Next::Word => self.simple.words.push(word),
            Next::Written => self.simple.writes.push(word),
            Next::Ignored => {}
            Next::Delimiter => {
                self.simple.awaits += 1;
                self.bodies.push(word);
            }
            Next::Given => self.simple.input.push_str(&word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.next = None;
        if !self.simple.is_empty() {
            self.done.push(std::mem::take(&mut self.simple));
        }
    }

    /// The bodies of here-documents belong to the commands of the line before, in their order.
    fn read_bodies(&mut self) {
        let mut at = self.line;
        for delimiter in std::mem::take(&mut self.bodies) {
            let mut body = String::new();
            loop {
                let mut line = String::new();
                while let Some(c) = self.rest.pop().filter(|c| *c != '\n') {
                    line.push(c);
                }
                if line.trim_start_matches('\t') == delimiter || (line.is_empty() && self.rest.is_empty()) {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            while self.done.get(at).is_some_and(|command| command.awaits == 0) {
                at += 1;
            }
            if let Some(command) = self.done.get_mut(at) {
                command.awaits -= 1;
                command.input.push_str(&body);
            }
        }
        self.line = self.done.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(script: &str) -> String {
        let of = |command: &Simple| {
            let writes: String = command.writes.iter().map(|file| format!(" >{file}")).collect();
            let input =
                if command.input.is_empty() { String::new() } else { format!(" <<{:?}", command.input) };
            format!("{}{writes}{input}", command.words.join("|"))
        };
        commands(script).unwrap().iter().map(of).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn a_script_comes_apart_into_commands() {
        for (script, expected) in [
            ("git commit -m 'a b'", "git|commit|-m|a b"),
            ("a && b || c; d & e | f", "a ; b ; c ; d ; e ; f"),
            ("a \"b $(c 'd e') f\" g", "c|d e ; a|b  f|g"),
            ("a `b c` d", "b|c ; a||d"),
            ("(cd x && y) # z", "cd|x ; y"),
            ("a > b 2>&1 >> c &> d", "a >b >c >d"),
            ("a 2>b <c", "a >b"),
            ("a b\\ c \\\n d", "a|b c|d"),
            ("A=1 B='2 3' c", "A=1|B=2 3|c"),
            ("cat > x <<'EOF'\nrm -rf y\nEOF\nz", "cat >x <<\"rm -rf y\\n\" ; z"),
            ("sh <<< 'a b'", "sh <<\"a b\""),
            ("a <<X | b <<Y && c\n1\nX\n2\nY\nd", "a <<\"1\\n\" ; b <<\"2\\n\" ; c ; d"),
            ("a <(b c) d", "b|c ; a||d"),
            ("a 'b", "a|b"),
            ("a $(b", "b ; a|"),
            ("", ""),
            ("$'r\\x6d' $'\\056git' $\"a b\"", "rm|.git|a b"),
            ("rm $(git rev-parse --git-dir)/hooks", "git|rev-parse|--git-dir ; rm|.git/hooks"),
            ("rm $(which andon) $()x", "which|andon ; rm|/bin/andon|x"),
        ] {
            assert_eq!(shown(script), expected, "{script:?}");
        }
        let piped = |script| commands(script).unwrap().iter().map(|one| one.piped).collect::<Vec<_>>();
        assert_eq!(piped("a | b || c |& d; e & f | (g)"), [false, true, false, true, false, false, true]);
        assert_eq!(commands(&"a ".repeat(MAX_SCRIPT)), None);
    }

    #[test]
    fn git_is_seen_wherever_it_stands() {
        for (script, runs) in [
            ("git status", true),
            ("cd x && /usr/bin/git commit -m y", true),
            ("bash -c 'git add .'", true),
            ("echo $(git log)", true),
            ("cargo test", false),
            ("cat .gitignore digit", false),
        ] {
            assert_eq!(runs_git(script), runs, "{script:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_apart(script in "[ a-c'\"$()`\\\\;|&<>#\n-]{0,60}") {
            prop_assert!(commands(&script).is_some());
        }
    }
}
