//! Reads from a command line what rules need: it only waits, or it writes files.

use super::WORDS;
use andon_core::command_words::{innermost, program_name};
use andon_core::{WordList, shell_reading::Reading, words};

/// Commands that end when something else does, or ask how far something elsewhere is.
const WAITING: WordList = WordList::section(WORDS, "waiting commands");
/// Commands that are part of waiting next to one of [`WAITING`]: they look at what is waited for, or print nothing.
const BESIDE: WordList = WordList::section(WORDS, "commands beside waiting");
/// Words of the shell before a command.
const BEFORE: WordList = words!["until", "while", "do", "done", "if", "then", "else", "fi", "!", "{", "}"];
/// Options before a subcommand, with a value of their own.
const WITH_VALUE: WordList = words!["-R", "--repo", "-n", "--namespace", "--context", "--kubeconfig"];
/// Programs that write files, each with the beginnings of words that make it one.
const WRITING: WordList = WordList::section(WORDS, "commands that write");

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

/// True where a command line writes files, or may do so in a part that is not read: the calls after it meet other code. Where the
/// working tree can be compared, that comparison says more.
pub(super) fn writes(command: &str) -> bool {
    let read = Reading::through(command);
    !read.is_whole
        || read.writes().any(|file| !file.starts_with("/dev/"))
        || read.commands().iter().any(|command| is_writing(innermost(&command.values())))
}

fn is_writing(words: &[&str]) -> bool {
    let Some((program, args)) = words.split_first() else { return false };
    WRITING.iter().any(|row| {
        let mut row = row.split(' ');
        row.next() == Some(program_name(program))
            && row.all(|word| args.iter().any(|arg| arg.starts_with(word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "cd sub && (make >> log)",
            "echo $(cp a b)",
            "FOO=1 sudo rm -rf a",
            "python - <<'E'\nPath('a').write_text('x')\nE",
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
            "make >/dev/stderr",
            "git log -- touch",
        ] {
            assert!(!writes(command), "{command}");
        }
    }
}
