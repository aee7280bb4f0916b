//! What is known of programs by their names: which only read, and which start another one.

use andon_core::{WordList, words};

/// Programs that only read, whatever their arguments.
const READERS: WordList = words![
    "cat",
    "ls",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "stat",
    "diff",
    "cmp",
    "sha256sum",
    "md5sum",
    "jq",
    "test",
    "[",
    "[[",
    "echo",
    "printf",
    "pwd",
    "true",
    "false",
    ":",
    "which",
    "type",
    "nl",
    "od",
    "cut",
    "tr",
    "readlink",
    "realpath",
    "du",
    "basename",
    "dirname",
];
/// Programs that only start another one.
const WRAPPERS: WordList = words![
    "command", "exec", "nohup", "time", "sudo", "setsid", "nice", "ionice", "xargs", "timeout", "stdbuf",
    "builtin", "doas", "busybox", "env",
];
const SHELLS: WordList = words!["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
/// Words before a command that are not part of it.
const KEYWORDS: WordList =
    words!["{", "}", "!", "if", "then", "else", "elif", "do", "while", "until", "coproc", "fi", "done"];
/// The program that a word names.
pub(super) fn name_of(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}

/// Whether the program, told that, reads and changes nothing.
pub(super) fn only_reads(name: &str, args: &[String]) -> bool {
    let none = |starts: &[&str]| !args.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    match name {
        "rg" => none(&["--pre", "--hostname-bin"]),
        "bat" => none(&["--pager"]),
        "file" => none(&["-C", "--compile"]),
        "tree" => !args.iter().any(|word| is_short(word) && word.contains('o')),
        "sort" => {
            none(&["--o", "--compress"]) && !args.iter().any(|word| is_short(word) && word.contains('o'))
        }
        "uniq" => args.iter().filter(|word| !word.starts_with('-')).count() < 2,
        "sed" => sed(args),
        "find" => {
            none(&["-delete", "-ok", "-fprint", "-fls"])
                && args.iter().enumerate().all(|(at, word)| {
                    !word.starts_with("-exec") || args.get(at + 1).is_some_and(|word| READERS.contains(word))
                })
        }
        name => READERS.contains(name),
    }
}

/// Whether sed only prints: its scripts have no letter of a command that writes or starts something.
fn sed(args: &[String]) -> bool {
    let (mut scripts, mut words, mut plain) = (Vec::new(), args.iter(), None);
    while let Some(word) = words.next() {
        if let Some(script) = word.strip_prefix("--expression=") {
            scripts.push(script);
        } else if word == "--expression" || is_short(word) && word.ends_with('e') {
            scripts.extend(words.next().map(String::as_str));
        } else if is_short(word) && word.contains(['i', 'f'])
            || word.starts_with("--in")
            || word.starts_with("--fi")
        {
            return false;
        } else if !word.starts_with('-') {
            plain = plain.or(Some(word.as_str()));
        }
    }
    let scripts = if scripts.is_empty() { plain.into_iter().collect() } else { scripts };
    scripts.iter().all(|script| !script.contains(['w', 'W', 'e']))
}

/// Whether a word is letters behind one hyphen.
pub(super) fn is_short(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--")
}

/// What a command starts, behind programs that only start another one.
#[derive(Debug)]
pub(super) struct Started<'a> {
    /// Assignments before it.
    pub(super) assigned: Vec<&'a str>,
    /// It with its words.
    pub(super) rest: &'a [String],
    /// What `env -S` takes apart.
    pub(super) split: Option<&'a str>,
}

/// Removes the words before a program.
pub(super) fn unwrapped(words: &[String]) -> Started<'_> {
    let mut found = Started { assigned: Vec::new(), rest: words, split: None };
    while let Some((first, after)) = found.rest.split_first() {
        let name = name_of(first);
        if is_assignment(first) {
            found.assigned.push(first.as_str());
            found.rest = after;
        } else if KEYWORDS.contains(&name) {
            found.rest = after;
        } else if WRAPPERS.contains(&name) {
            (found.rest, found.split) = behind(after, &name);
            if found.split.is_some() {
                break;
            }
        } else {
            break;
        }
    }
    found
}

/// What follows the options of a wrapper (some options take a word of their own), and the text that `env -S` splits.
fn behind<'a>(mut words: &'a [String], wrapper: &str) -> (&'a [String], Option<&'a str>) {
    while let Some((first, after)) = words.split_first() {
        if wrapper == "env" {
            let attached = first.strip_prefix("--split-string=").or_else(|| first.strip_prefix("-S"));
            match attached {
                Some("") => return (after.get(1..).unwrap_or_default(), after.first().map(String::as_str)),
                Some(text) => return (after, Some(text)),
                None if first == "--split-string" => {
                    return (after.get(1..).unwrap_or_default(), after.first().map(String::as_str));
                }
                None => {}
            }
        }
        let takes_one = matches!(
            first.as_str(),
            "-u" | "-n"
                | "-k"
                | "-s"
                | "-C"
                | "-I"
                | "-P"
                | "-L"
                | "-a"
                | "-f"
                | "-o"
                | "-g"
                | "--unset"
                | "--user"
        );
        let number = first.starts_with(|c: char| c.is_ascii_digit());
        words = match (takes_one, first.starts_with('-') || number) {
            (true, _) => after.get(1..).unwrap_or_default(),
            (false, true) => after,
            (false, false) => return (words, None),
        };
    }
    (words, None)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Scripts that a command hands to a shell as a word.
pub(super) fn scripts(name: &str, args: &[String]) -> Vec<String> {
    if name == "eval" {
        return vec![args.join(" ")];
    }
    if !SHELLS.contains(name) {
        return Vec::new();
    }
    let is_command = |word: &String| is_short(word) && word.contains('c');
    let told = args.iter().position(is_command);
    told.and_then(|at| args[at + 1..].iter().find(|word| !word.starts_with('-')))
        .cloned()
        .into_iter()
        .collect()
}
