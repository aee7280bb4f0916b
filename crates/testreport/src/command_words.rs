//! Programs that start other programs: shells, and wrappers such as `env` and `nice`. This is the one table of them and the
//! one reader of their arguments; every part of the workspace that reads a command asks here.

use crate::WordList;

const TEXT: &str = include_str!("command_words.txt");
/// Programs that run the line behind `-c`.
const SHELLS: WordList = WordList::section(TEXT, "shells");
/// Long options of shells whose value is the next word.
const SHELL_VALUED: WordList = WordList::section(TEXT, "options of shells with a value");
/// Programs that start others as a file of the project says, and those that do nothing of their own.
const LAUNCHERS: WordList = WordList::section(TEXT, "launchers");
/// Rows of [`Wrapper`].
const WRAPPERS: WordList = WordList::section(TEXT, "wrappers");

/// A program, or a word of the shell, that starts the program behind it.
struct Wrapper {
    name: &'static str,
    /// Operands of its own before the program.
    operands: usize,
    /// Options whose value is the next word.
    valued: &'static str,
    /// Options after which the words say something else.
    unclear: &'static str,
}

impl Wrapper {
    fn of_row(row: &'static str) -> Option<Self> {
        let mut parts = row.split('|');
        let (name, operands) = parts.next()?.split_once(' ')?;
        Some(Self { name, operands: operands.parse().ok()?, valued: parts.next()?, unclear: parts.next()? })
    }
}

/// The name of the program that a word starts, without its directory and the ending that Windows gives it.
pub fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

/// A shell, by the name of the program.
pub fn is_shell(program: &str) -> bool {
    SHELLS.contains(program_name(program))
}

/// A program or a word of the shell that starts the program behind it.
pub fn is_wrapper(program: &str) -> bool {
    find(program).is_some()
}

/// A running program that does no work of its own: a shell, a wrapper, `make`, or an interpreter of a script such as npm.
pub fn is_launcher(words: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    // Some write over their words: `npm run test`.
    let name = program_name(program.split(' ').next().unwrap_or(program));
    let script = || rest.iter().find(|word| !word.starts_with('-')).map(|word| program_name(word));
    let starts = |script: &str| LAUNCHERS.contains(script.split('.').next().unwrap_or(script));
    let is_interpreter = matches!(name, "node" | "ruby") || name.starts_with("python");
    is_shell(name)
        || is_wrapper(name)
        || LAUNCHERS.contains(name)
        || is_interpreter && script().is_some_and(starts)
}

fn find(program: &str) -> Option<Wrapper> {
    let name = program_name(program);
    WRAPPERS.iter().filter_map(Wrapper::of_row).find(|wrapper| wrapper.name == name)
}

/// `NAME=value`, which sets a variable before a program.
pub fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Words from the program on, without the variables that are set before it.
pub fn without_assignments<'a, 'w>(words: &'w [&'a str]) -> &'w [&'a str] {
    let assignments = words.iter().take_while(|word| is_assignment(word)).count();
    words.get(assignments..).unwrap_or_default()
}

/// The words that the wrapper at the beginning of `words` starts; `None` where none is there, or where its options say
/// something else.
pub fn behind_wrapper<'a, 'w>(words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let (program, mut rest) = words.split_first()?;
    let wrapper = find(program)?;
    while let Some((&option, after)) = rest.split_first()
        && option.starts_with('-')
    {
        let (name, has_value) = option.split_once('=').map_or((option, false), |(name, _)| (name, true));
        if wrapper.unclear.split(' ').any(|option| option == name) {
            return None;
        }
        rest =
            after.get(usize::from(!has_value && wrapper.valued.split(' ').any(|option| option == name))..)?;
        if option == "--" {
            break;
        }
    }
    rest = if matches!(wrapper.name, "env" | "sudo") { without_assignments(rest) } else { rest };
    rest.get(wrapper.operands..)
}

/// The words of the program that is started in the end, without wrappers and variables before it.
pub fn innermost<'a, 'w>(mut words: &'w [&'a str]) -> &'w [&'a str] {
    loop {
        words = without_assignments(words);
        match behind_wrapper(words) {
            Some(rest) => words = rest,
            None => return words,
        }
    }
}

/// The line that a shell is given behind `-c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLine<'a> {
    /// The line.
    pub line: &'a str,
    /// The words behind it: `$0`, `$1` and so on.
    pub arguments: Vec<&'a str>,
    /// The options before it, as `set` takes them: `-e`, `-o pipefail`.
    options: Vec<&'a str>,
}

impl<'a> ShellLine<'a> {
    /// The line in `bash -c LINE` and its like; `None` where the program is no shell, or runs a file.
    pub fn of_words(words: &[&'a str]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        if !is_shell(program) {
            return None;
        }
        let (mut options, mut is_command, mut rest) = (Vec::new(), false, rest.iter());
        while let Some(&word) = rest.next() {
            match word {
                long if long.starts_with("--") => {
                    if SHELL_VALUED.contains(long) {
                        rest.next();
                    }
                }
                short if short.starts_with(['-', '+']) => {
                    is_command |= short.starts_with('-') && short.contains('c');
                    options.push(short);
                    if short.ends_with(['o', 'O']) {
                        options.extend(rest.next());
                    }
                }
                line => {
                    return is_command.then(|| Self { line, arguments: rest.copied().collect(), options });
                }
            }
        }
        None
    }

    /// The line with the options that tell when it ends: `set -e; LINE`.
    pub fn with_options(&self) -> String {
        let mut line = String::new();
        for option in &self.options {
            let letters: String = option.chars().filter(|letter| !"clis".contains(*letter)).collect();
            match *option {
                "pipefail" | "errexit" => line.push_str(&format!("set -o {option}; ")),
                _ if option.starts_with('-') && letters.contains('e') => line.push_str("set -e; "),
                _ => {}
            }
        }
        line + self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<&str> {
        line.split_whitespace().collect()
    }

    #[test]
    fn each_row_is_a_wrapper() {
        assert!(WRAPPERS.iter().all(|row| Wrapper::of_row(row).is_some()));
    }

    #[test]
    fn wrappers_are_followed_to_the_program_that_they_start() {
        for (line, program) in [
            ("pytest -q", "pytest"),
            ("A=b env -i -u HOME C=d pytest", "pytest"),
            ("/usr/bin/nice -n 5 pytest", "pytest"),
            ("nice -5 ionice -c 3 pytest", "pytest"),
            ("sudo -u ann A=b setsid -w pytest", "pytest"),
            ("timeout --signal=KILL -k 5 10m chronic -- pytest", "pytest"),
            ("flock -w 5 lock exec pytest", "pytest"),
            ("env -S x pytest", "env"),
            ("sudo -i pytest", "sudo"),
            ("command -v pytest", "command"),
        ] {
            assert_eq!(innermost(&split(line)).first(), Some(&program), "{line}");
        }
        assert!(innermost(&["nohup"]).is_empty() && innermost(&["timeout"]) == ["timeout"]);
    }

    #[test]
    fn the_line_of_a_shell_is_found_behind_its_options() {
        for (words, line) in [
            (&["sh", "-c", "a; b"][..], Some("a; b")),
            (&["/bin/ksh", "-ec", "a", "name"], Some("set -e; a")),
            (&["bash", "--norc", "-o", "pipefail", "-lc", "a | b"], Some("set -o pipefail; a | b")),
            (&["bash", "-eo", "pipefail", "-c", "a"], Some("set -e; set -o pipefail; a")),
            (&["zsh", "-c", "-x", "a"], Some("a")),
            (&["bash", "--rcfile", "x", "-c", "a"], Some("a")),
            (&["bash", "-x", "a.sh", "-c"], None),
            (&["bash", "-c"], None),
            (&["python", "-c", "a"], None),
            (&[], None),
        ] {
            let found = ShellLine::of_words(words).map(|found| found.with_options());
            assert_eq!(found.as_deref(), line, "{words:?}");
        }
    }
}
