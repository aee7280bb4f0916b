//! Looks for the program of `test.command` as a test run would, without running anything.

use std::path::{Path, PathBuf};

use crate::Context;
use andon_config::TestCommand;
use andon_core::WordList;
use andon_core::command_words::{
    ShellLine, behind_wrapper, is_shell, is_wrapper, program_name, without_assignments,
};
use andon_core::shell_reading::{End, Reading};
use andon_git::platform::files;

/// The result of the look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestProgram {
    /// It is there, or only the shell knows: a builtin, a variable.
    There,
    /// Nothing of that name is there.
    Missing { program: String, instead: Option<String> },
    /// The script or the directory that the command asks for is not there.
    MissingPath { path: String },
    /// The file is there and may not be executed.
    NotExecutable { program: String },
}

const TEXT: &str = include_str!("test_program.txt");
/// Directories where projects keep programs that are on no search path, and the words that start them.
const PLACES: WordList = WordList::section(TEXT, "places");
/// Files that belong to a program which has an environment of its own, and what precedes a command there.
const ENVIRONMENTS: WordList = WordList::section(TEXT, "environments");
/// Words that a shell knows by itself.
const OF_SHELL: WordList = WordList::section(TEXT, "words of the shell");
/// Programs beside shells whose first argument is a file to run.
const INTERPRETERS: WordList = WordList::section(TEXT, "interpreters");

/// Looks for what `command` needs as it would be started in `top`.
pub fn look(ctx: &Context, top: &Path, command: &TestCommand) -> TestProgram {
    let missed = needs(command).into_iter().find_map(|need| missed(ctx, top, need));
    missed.unwrap_or(TestProgram::There)
}

fn missed(ctx: &Context, top: &Path, need: Need) -> Option<TestProgram> {
    let Need { what, name, from } = need;
    let from = top.join(from);
    let path = from.join(&name);
    let found = match what {
        NeedKind::Directory if !path.is_dir() => return Some(TestProgram::MissingPath { path: name }),
        NeedKind::File if !path.exists() => return Some(TestProgram::MissingPath { path: name }),
        NeedKind::Directory | NeedKind::File => true,
        NeedKind::Program if name.contains('/') || cfg!(windows) && name.contains('\\') => {
            return match path.metadata() {
                Ok(facts) if facts.is_file() && files::is_executable(&facts) => None,
                Ok(facts) if facts.is_file() => Some(TestProgram::NotExecutable { program: name }),
                Ok(_) | Err(_) => Some(TestProgram::Missing { program: name, instead: None }),
            };
        }
        NeedKind::Program => ctx.on_path(&name).is_some() || cfg!(windows),
    };
    let instead = || instead(&name, &|path| from.join(path).is_file());
    (!found).then(|| TestProgram::Missing { instead: instead(), program: name.clone() })
}

fn instead(program: &str, there: &dyn Fn(&str) -> bool) -> Option<String> {
    if program.contains('/') {
        return None;
    }
    let rows = |list: WordList| list.iter().filter_map(|row| row.split_once('|'));
    let environment = rows(ENVIRONMENTS).find(|(lock, _)| there(lock));
    let place = || rows(PLACES).find(|(place, _)| there(&format!("{place}{program}")));
    environment.or_else(place).map(|(_, before)| {
        let blank = if before.ends_with('/') { "" } else { " " };
        format!("{before}{blank}{program}")
    })
}

/// One thing that must be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) what: NeedKind,
    /// As the command names it.
    pub(super) name: String,
    /// The directory of relative names, from the top of the project.
    pub(super) from: PathBuf,
}

/// The kind of a thing that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeedKind {
    /// A program that is started.
    Program,
    /// A file that is read: a script, what `.` takes in.
    File,
    /// The directory of `cd`.
    Directory,
}

/// The interpreter of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Shell,
    System,
}

/// The needs of `command`, in the order in which they are missed.
fn needs(command: &TestCommand) -> Vec<Need> {
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

    /// Follows `cd X && program`; what a shell would have to compute ends the search.
    fn take_line(&mut self, line: &str) {
        let read = Reading::parse(line);
        for command in read.commands() {
            let from = match command.values().as_slice() {
                ["cd", dir] if command.end == End::And && is_plain(dir) && *dir != "-" => (*dir).to_owned(),
                words => return self.take(words, Reader::Shell),
            };
            self.add(NeedKind::Directory, &from);
            self.from.push(from);
        }
    }

    fn take<'a>(&mut self, mut words: &[&'a str], reader: Reader) {
        // A program that another one starts is no word of the shell: `nohup time x` needs a program called `time`.
        let mut builtins = reader == Reader::Shell;
        loop {
            words = if builtins { without_assignments(words) } else { words };
            let Some((&word, rest)) = words.split_first() else { return };
            if reader == Reader::Shell && !is_plain(word) {
                return;
            }
            let next: Option<&[&'a str]> = match (word, rest) {
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
            self.take_line(script.line);
        } else if let [file, ..] = script
            && (is_shell(word) || INTERPRETERS.contains(name))
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

/// True when an argument names a file: node finds `./test` in `test.js`.
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

    #[test]
    fn the_project_may_have_it_elsewhere() {
        let with = |files: &'static [&str]| move |path: &str| files.contains(&path);
        assert_eq!(instead("pytest", &with(&[".venv/bin/pytest"])).as_deref(), Some(".venv/bin/pytest"));
        assert_eq!(
            instead("pytest", &with(&["uv.lock", ".venv/bin/pytest"])).as_deref(),
            Some("uv run pytest")
        );
        assert_eq!(instead("jest", &with(&["node_modules/.bin/jest"])).as_deref(), Some("npx jest"));
        assert_eq!(instead("t.sh", &with(&["t.sh"])).as_deref(), Some("./t.sh"));
        assert_eq!(instead("pytest", &with(&[])), None);
    }
}

#[cfg(test)]
mod needs_tests {
    use super::*;

    fn shown(command: &TestCommand) -> Vec<String> {
        let kind = |what| match what {
            NeedKind::Program => "",
            NeedKind::File => "<",
            NeedKind::Directory => "/",
        };
        let one = |need: Need| format!("{}{}", kind(need.what), need.from.join(need.name).display());
        needs(command).into_iter().map(one).collect()
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
            ("FOO=\"a b\" ./t.sh", &["./t.sh"]),
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
