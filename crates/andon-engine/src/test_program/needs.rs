//! What a test command needs before it can run, as far as its words show it plainly.

use andon_core::command_words::{
    ShellLine, behind_wrapper, is_shell, is_wrapper, program_name, without_assignments,
};
use andon_core::{WordList, words};
use std::path::PathBuf;

use andon_config::TestCommand;

/// One thing that must be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) what: NeedKind,
    /// As the command names it.
    pub(super) name: String,
    /// Where relative names begin, from the top of the project.
    pub(super) from: PathBuf,
}

/// What kind of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeedKind {
    /// A program that is started.
    Program,
    /// A file that is read: a script, what `.` takes in.
    File,
    /// The directory of `cd`.
    Directory,
}

/// Who reads the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Shell,
    System,
}

/// Words that a shell knows by itself.
const OF_SHELL: WordList = words![
    ":", "[", "case", "cd", ".", "echo", "eval", "exit", "export", "false", "for", "if", "printf", "pwd",
    "read", "readonly", "return", "set", "shift", "source", "test", "times", "trap", "true", "type",
    "ulimit", "umask", "unset", "until", "wait", "while", "{", "alias", "local", "hash", "kill",
];

/// Programs beside shells whose first argument is a file to run.
const INTERPRETERS: [&str; 6] = ["python", "python3", "node", "perl", "ruby", "php"];

/// What `command` needs, in the order in which it is missed.
pub(super) fn list(command: &TestCommand) -> Vec<Need> {
    let mut needs = Needs { found: Vec::new(), from: PathBuf::new() };
    match command {
        TestCommand::Argv(words) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            needs.take(&words, Reader::System);
        }
        TestCommand::Shell(line) => needs.take_line(line),
    }
    needs.found
}

struct Needs {
    found: Vec<Need>,
    from: PathBuf,
}

impl Needs {
    fn add(&mut self, what: NeedKind, name: &str) {
        self.found.push(Need { what, name: name.to_owned(), from: self.from.clone() });
    }

    fn take_line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.take(&words, Reader::Shell);
    }

    fn take<'a>(&mut self, mut words: &[&'a str], reader: Reader) {
        // What a program starts in its turn is no word of the shell: `nohup time x` needs a program called `time`.
        let mut builtins = reader == Reader::Shell;
        loop {
            words = if builtins { without_assignments(words) } else { words };
            let Some((&word, rest)) = words.split_first() else { return };
            if reader == Reader::Shell && !is_plain(word) {
                return;
            }
            let next: Option<&[&'a str]> = match (word, rest) {
                ("cd", [dir, "&&", rest @ ..]) if builtins && is_plain(dir) && *dir != "-" => {
                    self.add(NeedKind::Directory, dir);
                    self.from.push(dir);
                    Some(rest)
                }
                ("." | "source", [file, ..]) if builtins && is_plain(file) && file.contains('/') => {
                    return self.add(NeedKind::File, file);
                }
                ("!", rest) if builtins => Some(rest),
                ("exec" | "command" | "time", _) if builtins => behind_wrapper(words),
                (word, _) if builtins && OF_SHELL.contains(word) => None,
                _ => {
                    builtins = false;
                    self.program(words)
                }
            };
            match next {
                Some(rest) => words = rest,
                None => return,
            }
        }
    }

    /// Notes a program, and gives the words that it starts in its turn.
    fn program<'a, 'w>(&mut self, words: &'w [&'a str]) -> Option<&'w [&'a str]> {
        let (word, rest) = words.split_first()?;
        self.add(NeedKind::Program, word);
        if is_wrapper(word) {
            return behind_wrapper(words);
        }
        let name = program_name(word);
        let script = if is_shell(word) { behind_flags(rest) } else { rest };
        if let Some(script) = ShellLine::of_words(words) {
            // Words in quotes were torn by `split_whitespace`; they are not plain, and end the search.
            self.take_line(script.line);
        } else if let [file, ..] = script
            && (is_shell(word) || INTERPRETERS.contains(&name))
            && is_script(name, file)
        {
            self.add(NeedKind::File, file);
        }
        None
    }
}

/// Flags of a shell that take no value: `-e`, `-eu`, `-x`.
fn behind_flags<'a, 'w>(words: &'w [&'a str]) -> &'w [&'a str] {
    let is_flag = |word: &&&str| {
        word.strip_prefix('-').is_some_and(|flags| flags.chars().all(|one| "eux".contains(one)))
    };
    let flags = words.iter().take_while(is_flag).count();
    words.get(flags..).unwrap_or_default()
}

/// Whether an argument names a file: node finds `./test` in `test.js`.
fn is_script(program: &str, word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let extension = name.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    is_plain(word) && !word.starts_with('-') && (extension || program != "node" && word.contains('/'))
}

fn is_plain(word: &str) -> bool {
    word == "!" || word == "[" || word.chars().all(|one| one.is_alphanumeric() || "_-./+@:".contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(command: &TestCommand) -> Vec<String> {
        let kind = |what| match what {
            NeedKind::Program => "",
            NeedKind::File => "<",
            NeedKind::Directory => "/",
        };
        let one = |need: Need| format!("{}{}", kind(need.what), need.from.join(need.name).display());
        list(command).into_iter().map(one).collect()
    }

    #[test]
    fn the_first_real_words_of_a_line() {
        let table: &[(&str, &[&str])] = &[
            ("pytest -q", &["pytest"]),
            ("CI=1 FOO=b ./t.sh", &["./t.sh"]),
            ("exec ./missing.sh", &["./missing.sh"]),
            ("exec env FOO=1 nosuch x", &["env", "nosuch"]),
            ("env FOO=1 nosuch", &["env", "nosuch"]),
            ("env -i -u HOME A=b nosuch", &["env", "nosuch"]),
            ("env -S 'a b'", &["env"]),
            ("time nosuch", &["nosuch"]),
            ("time -p nosuch", &["nosuch"]),
            ("/usr/bin/time -v nosuch", &["/usr/bin/time", "nosuch"]),
            ("nice nosuch", &["nice", "nosuch"]),
            ("nice -n 5 nosuch", &["nice", "nosuch"]),
            ("nice -5 nosuch", &["nice", "nosuch"]),
            ("timeout -k 5 10m nosuch", &["timeout", "nosuch"]),
            ("timeout --signal=KILL 10 nosuch", &["timeout", "nosuch"]),
            ("sudo -u ann A=b nosuch", &["sudo", "nosuch"]),
            ("sudo -i nosuch", &["sudo"]),
            ("stdbuf -oL nosuch", &["stdbuf", "nosuch"]),
            ("A=b nohup nice time nosuch", &["nohup", "nice", "time", "nosuch"]),
            ("! nosuch", &["nosuch"]),
            ("command -v pytest", &[]),
            ("sh missing.sh", &["sh", "<missing.sh"]),
            ("bash -eux scripts/test", &["bash", "<scripts/test"]),
            ("python3 run.py", &["python3", "<run.py"]),
            ("python3 -m pytest a.py", &["python3"]),
            ("node ./test", &["node"]),
            ("node --test a.js", &["node"]),
            ("cd web && npm test", &["/web", "web/npm"]),
            ("cd web && ./t.sh", &["/web", "web/./t.sh"]),
            ("cd - && make", &[]),
            (". .venv/bin/activate && pytest", &["<.venv/bin/activate"]),
            ("$RUNNER x", &[]),
            ("(cd a; make)", &[]),
            ("FOO=\"a b\" ./t.sh", &[]),
            ("\"my tests\"", &[]),
            ("if true; then nosuch; fi", &[]),
            ("", &[]),
        ];
        for (line, needed) in table {
            assert_eq!(shown(&TestCommand::Shell((*line).to_owned())), *needed, "{line}");
        }
    }

    #[test]
    fn the_first_real_words_of_a_list() {
        let table: &[(&[&str], &[&str])] = &[
            (&["my tests", "-q"], &["my tests"]),
            (&["env", "FOO=1", "nosuch"], &["env", "nosuch"]),
            (&["exec", "nosuch"], &["exec", "nosuch"]),
            (&["sh", "-c", "nosuch x"], &["sh", "nosuch"]),
            (&["bash", "-ec", "exec ./t.sh"], &["bash", "./t.sh"]),
            (&["sh", "missing.sh"], &["sh", "<missing.sh"]),
            (&[], &[]),
        ];
        for (words, needed) in table {
            let words = words.iter().map(ToString::to_string).collect();
            assert_eq!(shown(&TestCommand::Argv(words)), *needed);
        }
    }
}
