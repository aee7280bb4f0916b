//! The short table of plain words: the commands that an agent is refused while the loop runs. It is a hint to an honest
//! agent and no more. What a command did is judged by the state of the guard, before and after the call.

use crate::tools::WORDS;
use andon_core::command_words::{ShellLine, is_assignment, is_shell, is_wrapper, program_name};
use andon_core::shell_reading::{Reading, SimpleCommand};
use andon_core::{WordList, domain::Disarm, words};

/// Commands of Andon's that are a person's, by their first words. A caller of `agent hook` says what a client never said.
const OF_PEOPLE: WordList = WordList::section(WORDS, "commands of people");
/// Words before a command beside wrappers: what declares a variable, and words of the shell.
const BEFORE: WordList =
    words!["xargs", "export", "declare", "{", "!", "if", "then", "else", "do", "while", "until"];
/// The depth to which `sh -c` within `sh -c` is followed.
const MAX_DEPTH: usize = 3;

/// A match in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordMatch {
    /// Words of the table.
    Disarms(Disarm),
    /// `git commit --no-verify`: it may run, and is worth a word.
    SkipsHooks,
}

/// The first that the table has of `script`.
pub(super) fn said(script: &str) -> Option<WordMatch> {
    below(script, MAX_DEPTH)
}

fn below(script: &str, depth: usize) -> Option<WordMatch> {
    let read = Reading::through(script);
    let found: Vec<WordMatch> =
        read.commands().iter().filter_map(|command| of_command(command, depth)).collect();
    let disarms = found.iter().find(|said| **said != WordMatch::SkipsHooks);
    disarms.or(found.first()).cloned()
}

fn of_command(command: &SimpleCommand<'_>, depth: usize) -> Option<WordMatch> {
    let words = command.values();
    let mut at = 0;
    let mut starts = false;
    while let Some(word) = words.get(at) {
        let before = BEFORE.contains(word) || is_wrapper(word);
        if let Some(found) = is_assignment(word).then(|| assigned(word)).flatten() {
            return Some(WordMatch::Disarms(found));
        }
        // `env -u NAME andon`: where a program starts another one, the next that is known is it.
        let known = matches!(program_name(word), "andon" | "git") || is_shell(word);
        if known || !(before || starts || is_assignment(word)) {
            break;
        }
        starts |= before;
        at += 1;
    }
    let words = words.get(at..)?;
    let (program, args) = words.split_first()?;
    match program_name(program) {
        "andon" => andon(args).map(WordMatch::Disarms),
        "git" => git(args),
        _ => below(ShellLine::of_words(words)?.line, depth.checked_sub(1)?),
    }
}

fn assigned(word: &str) -> Option<Disarm> {
    let (name, value) = word.split_once('=')?;
    match name {
        "ANDON" if value == "0" => Some(Disarm::MasterSwitch),
        name if name.starts_with("GIT_CONFIG_") && names_hooks(value) => Some(Disarm::HooksPath),
        _ => None,
    }
}

/// Returns true when a word is the key by which git looks for hooks, or sets it.
fn names_hooks(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let word = word.trim_start_matches('\'');
    word.strip_prefix("core.hookspath").is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '\'']))
}

fn andon(args: &[&str]) -> Option<Disarm> {
    if args.iter().any(|word| matches!(*word, "--help" | "-h")) {
        return None;
    }
    let mut plain: Vec<&str> = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match *word {
            "--color" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => plain.push(word),
        }
    }
    if plain.first() == Some(&"pin") && !args.contains(&"--check") {
        return Some(Disarm::Command("andon pin".to_owned()));
    }
    let verb = OF_PEOPLE.beginning(&plain)?;
    Some(match verb {
        "resume" => Disarm::Resume,
        verb => Disarm::Command(format!("andon {verb}")),
    })
}

fn git(args: &[&str]) -> Option<WordMatch> {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        let takes_one = matches!(*first, "-c" | "-C" | "--git-dir" | "--work-tree" | "--config-env");
        let value = after.first().filter(|_| takes_one);
        let told = value.copied().or_else(|| first.strip_prefix("--config-env="));
        if told.is_some_and(names_hooks) {
            return Some(WordMatch::Disarms(Disarm::HooksPath));
        }
        rest = if takes_one { after.get(1..).unwrap_or_default() } else { after };
    }
    let (verb, args) = rest.split_first()?;
    match *verb {
        "config" => sets_hooks(args).then_some(WordMatch::Disarms(Disarm::HooksPath)),
        "commit" | "merge" | "push" if args.contains(&"--no-verify") => Some(WordMatch::SkipsHooks),
        "commit" if args.contains(&"-n") => Some(WordMatch::SkipsHooks),
        _ => None,
    }
}

/// Reading a value is no harm; without a value behind the key it is read.
fn sets_hooks(args: &[&str]) -> bool {
    let Some(at) = args.iter().position(|word| names_hooks(word)) else { return false };
    let reads = |word: &&str| matches!(*word, "get" | "list" | "-l") || word.starts_with("--get");
    let unsets = |word: &&str| matches!(*word, "unset" | "--unset" | "--unset-all");
    !args[..at].iter().any(reads) && (args[..at].iter().any(unsets) || at + 1 < args.len())
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

    fn shown(script: &str) -> String {
        match said(script) {
            None => String::new(),
            Some(WordMatch::SkipsHooks) => "note".to_owned(),
            Some(WordMatch::Disarms(found)) => format!("{found:?}"),
        }
    }

    #[test]
    fn the_table_is_known_as_a_shell_would_see_it() {
        for (script, expected) in [
            ("ANDON=0 git commit -m x", "MasterSwitch"),
            ("export ANDON=\"0\"; git commit", "MasterSwitch"),
            ("env -u CLAUDECODE ANDON=0 make", "MasterSwitch"),
            ("bash -lc 'ANDON=0 git commit'", "MasterSwitch"),
            ("(ANDON=0; git commit)", "MasterSwitch"),
            ("git -c core.hooksPath=/dev/null commit -m x", "HooksPath"),
            ("git -c 'core.hookspath=' commit", "HooksPath"),
            ("/usr/bin/git --config-env=core.hooksPath=NONE commit", "HooksPath"),
            ("git config --local core.HooksPath ''", "HooksPath"),
            ("git config --unset core.hookspath", "HooksPath"),
            ("git config core.hooksPath get", "HooksPath"),
            ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath git commit", "HooksPath"),
            ("GIT_CONFIG_PARAMETERS=\"'core.hooksPath='\" git commit", "HooksPath"),
            ("andon uninstall", "Command(\"andon uninstall\")"),
            ("andon stop", "Command(\"andon stop\")"),
            ("an\\don 're'sume -r x", "Resume"),
            ("cd a && /usr/bin/andon --color never resume --reason ok", "Resume"),
            ("env -u CLAUDECODE -u AI_AGENT andon resume -r x", "Resume"),
            ("if true; then timeout 5 andon resume -r x; fi", "Resume"),
            ("env -u CLAUDECODE andon pin", "Command(\"andon pin\")"),
            ("timeout 5 andon agent uninstall claude", "Command(\"andon agent uninstall\")"),
            ("echo {} | andon agent hook claude UserPromptSubmit", "Command(\"andon agent hook\")"),
            ("echo $(ANDON=0 git commit)", "MasterSwitch"),
            ("git commit --no-verify -m x", "note"),
            ("git commit -n -m x; ANDON=0 make", "MasterSwitch"),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }

    /// Everyday commands, near to what guards the loop too: the state of the guard shows their effect.
    #[test]
    fn everyday_commands_pass() {
        for script in [
            "sed -i 's/x = .*/y/' src/a.py",
            "shellcheck .git/hooks/pre-commit",
            "cat .claude/settings.json .andon/CHECKPOINT.md",
            "jq .hooks .claude/settings.json > /tmp/hooks.json",
            "python3 -c \"print(open('.andon/CHECKPOINT.md').read())\"",
            "node -e 'console.log(process.env.ANDON === \"0\")'",
            "cp .claude/settings.json /tmp/backup.json",
            "git commit -m 'never set ANDON=0 or core.hooksPath, nor run andon resume'",
            "git commit -F - <<EOF\nandon resume\nEOF",
            "git log -S core.hooksPath",
            "git grep -n core.hooksPath",
            "git config core.hooksPath",
            "git config --get core.hooksPath",
            "git config user.name x",
            "grep -rn 'ANDON=0' docs; echo ANDON=0; echo andon resume",
            "gh pr create --title x --body 'never run andon resume'",
            "andon test && andon status && andon pin --check",
            "andon agent list && andon review show 3",
            "andon resume --help",
            "ANDON=1 ls; ANDON=01 ls",
            "rm -rf target build .git/index.lock",
            "find . -name '*.pyc' -delete",
            "git push -f origin topic; git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
            "npm remove lodash && cargo run -- andon resume",
            "cargo install --path . && ls ~/.cargo/bin/andon",
        ] {
            assert_eq!(shown(script), "", "{script}");
        }
    }

    #[test]
    fn what_is_long_or_deep_ends() {
        for script in ["env ".repeat(9000), "sh -c ".repeat(9000), "(".repeat(9000), "a && ".repeat(9000)] {
            said(&script);
        }
        let deep = (0..9).fold("andon resume".to_owned(), |inner, _| format!("sh -c {inner:?}"));
        assert_eq!(said(&deep), None);
    }
}
