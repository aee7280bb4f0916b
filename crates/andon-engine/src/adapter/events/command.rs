//! Reads from a command line what rules need: it only waits, or it writes files.

use std::sync::LazyLock;

use regex::Regex;

use super::WORDS;
use andon_core::command_words::{innermost, program_name};
use andon_core::shell_reading::Reading;
use andon_core::{WordList, words};
use testreport::pattern;

/// Commands that end when something else does, or ask how far something elsewhere is.
const WAITING: WordList = WordList::section(WORDS, "waiting commands");
/// Commands that are part of waiting next to one of [`WAITING`]: they look at what is waited for, or print nothing.
const BESIDE: WordList = WordList::section(WORDS, "commands beside waiting");
/// Words of the shell before a command.
const BEFORE: WordList = words!["until", "while", "do", "done", "if", "then", "else", "fi", "!", "{", "}"];
/// Options before a subcommand, with a value of their own.
const WITH_VALUE: WordList = words!["-R", "--repo", "-n", "--namespace", "--context", "--kubeconfig"];

/// A pattern that is compiled when it is first needed; a test compiles it.
type Pattern = LazyLock<Option<Regex>>;
/// Writers of files: a redirection to one, editing in place, a patch, a program that opens one for writing.
static WRITES: Pattern = LazyLock::new(|| {
    let forms: Vec<&str> = WordList::section(WORDS, "forms of writing").iter().collect();
    pattern(&forms.join("|"))
});
/// A command line that writes a file has one of these. Compiling the pattern costs more than all the rest of a call.
const TELLING: WordList = WordList::section(WORDS, "parts of lines that write");
/// Longest command line that is looked at, in bytes.
const LOOKED_AT: usize = 16 << 10;

/// True where a command line only waits for something. To wait again is no loop, whatever the answer: budgets
/// limit how long.
pub(super) fn waits(command: &str) -> bool {
    if command.len() > LOOKED_AT {
        return false;
    }
    let read = Reading::through(command);
    let commands = read.commands();
    let parts = commands.iter().map(|command| words(&command.values()));
    let parts: Vec<Vec<&str>> = parts.filter(|words| !words.is_empty()).collect();
    let is = |words: &[&str], known: WordList| known.beginning(words).is_some();
    read.is_whole
        && parts.iter().any(|words| is(words, WAITING))
        && parts.iter().all(|words| is(words, WAITING) || is(words, BESIDE))
}

/// The words of a simple command from its program on; the directory of the program is left out.
fn words<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut rest = innermost(words);
    while let Some(after) = rest.split_first().filter(|(word, _)| BEFORE.contains(word)) {
        rest = innermost(after.1);
    }
    let mut words = rest.iter().copied();
    let Some(program) = words.next() else { return Vec::new() };
    let mut kept = vec![program_name(program)];
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(word) {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept
}

/// True where a command line writes files: the calls after it meet other code.
pub(super) fn writes(command: &str) -> bool {
    let looked_at = super::answer::cut(command, LOOKED_AT);
    let without_null = looked_at.replace("/dev/null", "").replace("2>&1", "");
    if !TELLING.iter().any(|part| without_null.contains(part)) {
        return false;
    }
    WRITES.as_ref().is_some_and(|writes| writes.is_match(&without_null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_compiles() {
        assert!(WRITES.is_some());
    }

    #[test]
    fn waiting_is_told_from_work() {
        for command in [
            "sleep 30",
            "/bin/sleep 5",
            "(sleep 30)",
            "sleep 60 && gh run view 1",
            "sleep 60 && gh run view 1 --json status | jq -r .status",
            "gh run watch 12",
            "gh run watch 123 2>&1",
            "gh run watch 123 > /dev/null 2>&1",
            "gh run watch 1 --exit-status | tail -5",
            "gh run watch 1 || true",
            "GH_PAGER= gh run watch 1",
            "timeout 60 gh run watch 1",
            "timeout -k 5 60 gh run watch 1",
            "gh -R a/b run watch 12",
            "gh run view 1",
            "gh pr checks 4 --watch",
            "cd /repo && sleep 30",
            "sleep 30 && tail -n 5 build.log",
            "until curl -sf localhost:8080; do sleep 1; done",
            "kubectl rollout status x",
            "kubectl -n app rollout status deploy/x",
            "docker wait x",
            "Start-Sleep 30",
            "npx wait-on http://localhost:3000",
            "sleep 30 && git fetch && git log origin/main -1",
        ] {
            assert!(waits(command), "{command}");
        }
        for command in [
            "make",
            "./sleepy",
            "echo sleep",
            "sleep 5 && make",
            "cat a",
            "kubectl get pods",
            "timeout 60",
            "",
        ] {
            assert!(!waits(command), "{command}");
        }
    }

    #[test]
    fn writing_is_told_from_reading() {
        for command in [
            "sed -i 's/a/b/' src/a.rs",
            "sed -n -i.bak s/a/b/ x",
            "echo x > a.txt",
            "printf x >> 'a b'",
            "cat <<'EOF' > a.py\nx\nEOF",
            "make | tee log",
            "git apply fix.patch",
            "git checkout -- src/a.rs",
            "patch -p1 < x",
            "mv a b",
            "python - <<'E'\nPath('a').write_text('x')\nE",
            "python -c \"open('a','w')\"",
            "cargo fmt",
        ] {
            assert!(writes(command), "{command}");
        }
        for command in [
            "pytest -q 2>&1",
            "pytest > /dev/null",
            "ls -la",
            "git diff",
            "git log --oneline",
            "grep -rn 'a->b' src",
            "sed -n 1,20p a.rs",
            "test 3 -gt 2",
            "cargo test",
            "python -c 'print(open(\"a\").read())'",
        ] {
            assert!(!writes(command), "{command}");
        }
    }
}
