//! What would take the guard away: refused at any time, with the reason. A refusal here is a hint to an honest agent; what
//! gets past it is found by the hooks of git and by `andon check`.

use super::paths::{self, GuardFiles, Use, pieces};
use super::shell::{self, MAX_DEPTH, Simple};
use crate::domain::agent_ruling::Disarm;

/// Programs that only read: their words are no targets.
const READERS: [&str; 38] = [
    "cat",
    "ls",
    "head",
    "tail",
    "wc",
    "less",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "stat",
    "file",
    "diff",
    "cmp",
    "sha256sum",
    "md5sum",
    "jq",
    "test",
    "[",
    "echo",
    "printf",
    "tree",
    "pwd",
    "true",
    "which",
    "type",
    "bat",
    "nl",
    "od",
    "xxd",
    "cut",
    "uniq",
    "tr",
    "readlink",
    "realpath",
    "du",
    "basename",
];
/// Programs that take away what they name.
const REMOVERS: [&str; 6] = ["rm", "mv", "rmdir", "unlink", "shred", "trash"];
/// Programs that only start another one.
const WRAPPERS: [&str; 12] = [
    "command", "exec", "nohup", "time", "sudo", "setsid", "nice", "xargs", "timeout", "stdbuf", "builtin",
    "doas",
];
const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
/// Words that stand before a command without being one.
const KEYWORDS: [&str; 9] = ["{", "}", "!", "if", "then", "else", "elif", "do", "while"];
const DECLARING: [&str; 6] = ["export", "declare", "typeset", "readonly", "local", "set"];

/// What the command lines would disarm, the first of it.
pub(super) fn of_script(script: &str, guarded: &GuardFiles) -> Option<Disarm> {
    below(script, &mut guarded.clone(), MAX_DEPTH)
}

fn below(script: &str, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let Some(commands) = shell::commands(script) else {
        // Nobody writes a megabyte by hand: it is looked through as it is.
        return words(std::iter::once(script), Use::Written, guarded);
    };
    commands.iter().find_map(|command| of_command(command, guarded, depth))
}

fn of_command(command: &Simple, guarded: &mut GuardFiles, depth: usize) -> Option<Disarm> {
    let written = command.writes.iter().find_map(|file| paths::disarms(file, Use::Written, guarded));
    if written.is_some() {
        return written;
    }
    let (assigned, rest) = unwrapped(&command.words);
    if let Some(found) = assigned.iter().find_map(|word| assignment(word)) {
        return Some(found);
    }
    let (program, args) = rest.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let inner = scripts(name, args, command);
    if let Some(depth) = depth.checked_sub(1)
        && let Some(found) = inner.iter().find_map(|script| below(script, guarded, depth))
    {
        return Some(found);
    }
    match name {
        "cd" | "pushd" => {
            if let Some(dir) = args.iter().find(|word| !word.starts_with('-')) {
                guarded.cwd = format!("/{}", paths::resolved(dir, &guarded.cwd).join("/"));
            }
            None
        }
        "git" => git(args, &assigned, guarded),
        "andon" => andon(args),
        name if DECLARING.contains(&name) => args.iter().find_map(|word| assignment(word)),
        name if READERS.contains(&name) => None,
        name if REMOVERS.contains(&name) => words(args.iter().map(String::as_str), Use::Removed, guarded),
        _ => {
            let all = args.iter().map(String::as_str).chain(std::iter::once(command.input.as_str()));
            args.iter().find_map(|word| assignment(word)).or_else(|| words(all, Use::Written, guarded))
        }
    }
}

fn words<'a>(mut words: impl Iterator<Item = &'a str>, used: Use, guarded: &GuardFiles) -> Option<Disarm> {
    words.find_map(|word| {
        if names_hooks(word) {
            return Some(Disarm::HooksPath);
        }
        if names_refs(word) {
            return Some(Disarm::Refs);
        }
        pieces(word).find_map(|piece| paths::disarms(piece, used, guarded))
    })
}

/// Assignments before the command, and the command behind programs that only start another one.
pub(super) fn unwrapped(words: &[String]) -> (Vec<&str>, Vec<String>) {
    let (mut assigned, mut rest) = (Vec::new(), words);
    while let Some((first, after)) = rest.split_first() {
        let name = first.rsplit('/').next().unwrap_or(first);
        if is_assignment(first) {
            assigned.push(first.as_str());
            rest = after;
        } else if KEYWORDS.contains(&name) {
            rest = after;
        } else if name == "env" || WRAPPERS.contains(&name) {
            rest = behind(after);
        } else {
            break;
        }
    }
    (assigned, rest.to_vec())
}

/// What follows the options of a wrapper; `env -u NAME` and `timeout 5` take a word of their own.
fn behind(mut words: &[String]) -> &[String] {
    while let Some((first, after)) = words.split_first() {
        let takes_one = matches!(first.as_str(), "-u" | "-n" | "-k" | "-s" | "-C" | "-I" | "--unset");
        let number = first.starts_with(|c: char| c.is_ascii_digit());
        words = match (takes_one, first.starts_with('-') || number) {
            (true, _) => after.get(1..).unwrap_or_default(),
            (false, true) => after,
            (false, false) => return words,
        };
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn assignment(word: &str) -> Option<Disarm> {
    let (name, value) = word.split_once('=')?;
    match name {
        "ANDON" if value.trim() == "0" => Some(Disarm::MasterSwitch),
        name if name.starts_with("GIT_CONFIG") && names_hooks(value) => Some(Disarm::HooksPath),
        _ => None,
    }
}

/// Scripts that a command hands to a shell.
fn scripts(name: &str, args: &[String], command: &Simple) -> Vec<String> {
    if name == "eval" {
        return vec![args.join(" ")];
    }
    if !SHELLS.contains(&name) {
        return Vec::new();
    }
    let is_command = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let told = args
        .iter()
        .position(is_command)
        .and_then(|at| args[at + 1..].iter().find(|word| !word.starts_with('-')));
    told.cloned().into_iter().chain((!command.input.is_empty()).then(|| command.input.clone())).collect()
}

fn names_hooks(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("core.hookspath") || word.contains("hook.andon")
}

fn names_refs(word: &str) -> bool {
    word.contains("refs/andon") || word.contains("notes/andon")
}

fn andon(args: &[String]) -> Option<Disarm> {
    let plain: Vec<&str> = args.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match plain.as_slice() {
        ["resume", ..] => Some(Disarm::Resume),
        ["uninstall", ..] => Some(Disarm::Command("andon uninstall".to_owned())),
        ["agent", "uninstall", ..] => Some(Disarm::Command("andon agent uninstall".to_owned())),
        _ => None,
    }
}

fn git(args: &[String], assigned: &[&str], guarded: &GuardFiles) -> Option<Disarm> {
    let mut rest = args;
    let mut notes_ref = assigned.iter().any(|word| word.starts_with("GIT_NOTES_REF=") && names_refs(word));
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        let takes_one = matches!(first.as_str(), "-c" | "-C" | "--git-dir" | "--work-tree" | "--config-env");
        let value = if takes_one { after.first() } else { None };
        let told = [Some(first), value].into_iter().flatten().any(|word| names_hooks(word));
        if told {
            return Some(Disarm::HooksPath);
        }
        rest = if takes_one { after.get(1..).unwrap_or_default() } else { after };
    }
    let (verb, args) = rest.split_first()?;
    let named = args.iter().any(|word| names_refs(word));
    match verb.as_str() {
        "config" => config(args),
        "update-ref" | "symbolic-ref" => named.then_some(Disarm::Refs),
        "notes" => {
            notes_ref |= named || args.iter().any(|word| word == "--ref=andon" || word == "andon");
            let reads = args.iter().any(|word| matches!(word.as_str(), "show" | "list" | "get-ref"));
            (notes_ref && !reads).then_some(Disarm::Refs)
        }
        "push" => {
            let taken = |word: &String| matches!(word.as_str(), "--delete" | "-d" | "--mirror" | "--prune");
            let gone =
                |word: &String| names_refs(word) && (word.starts_with([':', '+']) || args.iter().any(taken));
            args.iter().any(gone).then_some(Disarm::Refs)
        }
        "fetch" | "pull" => {
            let into = |word: &String| word.split_once(':').is_some_and(|(_, into)| names_refs(into));
            args.iter().any(into).then_some(Disarm::Refs)
        }
        "rm" | "mv" => words(args.iter().map(String::as_str), Use::Removed, guarded),
        "checkout" | "restore" | "apply" => {
            args.iter().find_map(|word| paths::disarms(word, Use::Written, guarded))
        }
        _ => None,
    }
}

/// Reading a value is no harm; without a value behind the key it is read.
fn config(args: &[String]) -> Option<Disarm> {
    let reads = ["--get", "--get-all", "--get-regexp", "get", "--list", "-l", "list", "--get-urlmatch"];
    if args.iter().any(|word| reads.contains(&word.as_str())) {
        return None;
    }
    let edits = args.iter().any(|word| matches!(word.as_str(), "-e" | "--edit" | "edit"));
    let section = args.iter().any(|word| word.contains("-section"))
        && args.iter().any(|word| word == "core" || word.starts_with("hook.andon"));
    let key =
        args.iter().position(|word| names_hooks(word) || word.to_ascii_lowercase().starts_with("include"));
    let unset = args.iter().any(|word| word.contains("unset"));
    let written = key.is_some_and(|at| unset || args.len() > at + 1);
    (edits || section || written).then_some(Disarm::HooksPath)
}

/// Commands that read and change nothing: allowed while the loop is halted.
pub(super) fn only_reads(script: &str) -> bool {
    let Some(commands) = shell::commands(script) else { return false };
    !commands.is_empty() && commands.iter().all(reads)
}

fn reads(command: &Simple) -> bool {
    let (assigned, rest) = unwrapped(&command.words);
    let to_nowhere = command.writes.iter().all(|file| file == "/dev/null");
    let Some((program, args)) = rest.split_first().filter(|_| assigned.is_empty() && to_nowhere) else {
        return false;
    };
    let plain: Vec<&str> = args.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match (program.rsplit('/').next().unwrap_or(program), plain.as_slice()) {
        ("git", ["status" | "log" | "show" | "diff", ..]) => {
            let runs = |word: &String| {
                word.starts_with("--output") || word.starts_with("--ext-diff") || word == "-c"
            };
            !args.iter().any(runs)
        }
        ("andon", ["status" | "log" | "show", ..] | ["review", "show", ..])
        | ("cat" | "ls" | "head" | "tail" | "wc" | "pwd" | "grep" | "cd", _) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str) -> String {
        let guarded = GuardFiles { cwd: "/w/repo".into(), dirs: Vec::new() };
        of_script(script, &guarded).map_or_else(String::new, |found| format!("{found:?}"))
    }

    #[test]
    fn what_disarms_is_seen() {
        for (script, expected) in [
            ("ANDON=0 git commit -m x", "MasterSwitch"),
            ("export ANDON=\"0\"; git commit", "MasterSwitch"),
            ("env -u CLAUDECODE ANDON=0 make", "MasterSwitch"),
            ("bash -lc 'ANDON=0 git commit'", "MasterSwitch"),
            ("(ANDON=0; git commit)", "MasterSwitch"),
            ("git -c core.hooksPath=/dev/null commit -m x", "HooksPath"),
            ("git config --local core.HooksPath ''", "HooksPath"),
            ("git config --unset core.hookspath", "HooksPath"),
            ("git config unset core.hooksPath", "HooksPath"),
            ("git config --remove-section core", "HooksPath"),
            (
                "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0= git commit",
                "HooksPath",
            ),
            ("git config include.path ../x", "HooksPath"),
            ("python3 -c \"import os; os.system('git -c core.hooksPath= commit')\"", "HooksPath"),
            ("rm -rf .git/hooks", "Hooks"),
            ("cd .git && rm hooks/pre-commit", "Hooks"),
            ("chmod -x .git/hooks/*", "Hooks"),
            ("echo x > .git/hooks/pre-commit", "Hooks"),
            ("rm .andon/CHECKPOINT.md", "AndonDir"),
            ("cd .andon; rm CHECKPOINT.md", "AndonDir"),
            ("rm -rf .and*", "AndonDir"),
            ("python3 -c \"open('.andon/STOP').close()\"", "AndonDir"),
            ("find .andon -delete", "AndonDir"),
            ("git update-ref -d refs/notes/andon", "Refs"),
            ("git notes --ref=andon remove HEAD", "Refs"),
            ("GIT_NOTES_REF=refs/notes/andon git notes add -m x", "Refs"),
            ("git push origin :refs/andon/ledger/x", "Refs"),
            ("git fetch . HEAD:refs/notes/andon", "Refs"),
            ("echo '{}' > .claude/settings.json", "Settings(\".claude/settings.json\")"),
            ("sed -i s/andon// .codex/hooks.json", "Settings(\".codex/hooks.json\")"),
            ("git checkout HEAD -- .gemini/settings.json", "Settings(\".gemini/settings.json\")"),
            ("andon uninstall", "Command(\"andon uninstall\")"),
            ("/usr/bin/andon resume --reason ok", "Resume"),
            ("env -u CLAUDECODE -u AI_AGENT andon resume -r x", "Resume"),
            ("timeout 5 andon agent uninstall claude", "Command(\"andon agent uninstall\")"),
        ] {
            assert_eq!(found(script), expected, "{script}");
        }
    }

    #[test]
    fn ordinary_work_is_not() {
        for script in [
            "cargo test 2>&1 | tail -3",
            "git commit -m 'never set ANDON=0 or core.hooksPath, nor touch .andon/'",
            "grep -rn 'ANDON=0' docs",
            "cat .andon/CHECKPOINT.md .claude/settings.json",
            "git config core.hooksPath",
            "git config --get core.hooksPath",
            "git config user.name x",
            "git log --format=%H refs/notes/andon",
            "git notes --ref=andon show HEAD",
            "git push origin main",
            "andon test && andon status",
            "ls -la .git/hooks",
            "rm -rf target *.log",
            "echo ANDON=0",
            "ANDON=1 ls",
            "mv a.claude b",
        ] {
            assert_eq!(found(script), "", "{script}");
        }
    }

    #[test]
    fn reading_commands_are_known() {
        for (script, expected) in [
            ("andon status", true),
            ("andon log | head -3", true),
            ("cat .andon/CHECKPOINT.md 2>/dev/null", true),
            ("cd sub && git diff HEAD~1", true),
            ("andon review show 3", true),
            ("andon review vote", false),
            ("andon resume", false),
            ("git log --output=x", false),
            ("cat x > y", false),
            ("cat $(rm x)", false),
            ("ANDON=0 cat x", false),
            ("git commit", false),
            ("", false),
        ] {
            assert_eq!(only_reads(script), expected, "{script}");
        }
    }
}
