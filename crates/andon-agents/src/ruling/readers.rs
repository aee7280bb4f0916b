//! The allow list of a halted loop: readers with plain arguments, without a substitution, a redirection into a file or an
//! option that writes or starts something. Everything else is refused. What leads out of a full context window is the
//! other list here.

use crate::tools::WORDS;
use andon_core::WordList;
use andon_core::domain::{BRIEFING, ToolKind, ToolUse};
use andon_core::shell_reading::{Reading, Word};

/// Programs that read whatever their arguments.
const READERS: WordList = WordList::section(WORDS, "programs that read");
/// They say something to the reader; alone they read nothing.
const SAYING: WordList = WordList::section(WORDS, "programs that say something");
/// Programs that read, each with the beginnings of the options that make it write or start something.
const UNLESS: WordList = WordList::section(WORDS, "programs that read unless");
/// Verbs of git that read, unless [`GIT_WRITES`].
const OF_GIT: WordList = WordList::section(WORDS, "verbs of git that read");
const GIT_WRITES: WordList = WordList::section(WORDS, "options of git that write");
/// Options of `git branch` that only list.
const GIT_LISTS: WordList = WordList::section(WORDS, "options of git branch that list");
/// Folders of programs that an agent does not write.
const OF_SYSTEM: [&str; 3] = ["/bin/", "/usr/bin/", "/usr/local/bin/"];

/// Returns true when a call only reads.
pub fn reads(used: &ToolUse) -> bool {
    match used.kind {
        ToolKind::Read => true,
        ToolKind::Shell => !used.commands.is_empty() && used.commands.iter().all(|script| only_reads(script)),
        ToolKind::Edit | ToolKind::Unknown => false,
    }
}

/// Returns true when all commands of `script` only read.
pub(super) fn only_reads(script: &str) -> bool {
    let read = Reading::parse(script);
    let commands: Vec<Vec<&Word>> = read.commands().into_iter().map(|command| command.words).collect();
    let says = |words: &Vec<&Word>| SAYING.contains(&words[0].value) && !evaluates(words);
    read.is_whole
        && read.is_waited_for()
        && read.writes().all(|file| file == "/dev/null" || is_briefing(file))
        && (!commands.iter().all(says) || read.writes().any(is_briefing))
        && commands.iter().all(|words| says(words) || is_reader(words))
}

/// Returns true where the shell's own programs are asked for a variable: its subscript is carried out.
fn evaluates(words: &[&Word]) -> bool {
    let asks = |word: &&Word| word.value.starts_with("-v") || word.value == "-R";
    matches!(words[0].value.as_str(), "test" | "[" | "printf") && words[1..].iter().any(asks)
}

fn is_reader(words: &[&Word]) -> bool {
    let words = if words[0].value == "time" { &words[1..] } else { words };
    let Some((program, args)) = words.split_first().filter(|_| !evaluates(words)) else { return false };
    // A program of that name elsewhere may be anything.
    let name = OF_SYSTEM.iter().find_map(|dir| program.value.strip_prefix(dir)).unwrap_or(&program.value);
    let values: Vec<&str> = args.iter().map(|word| word.value.as_str()).collect();
    // A variable or a pattern may expand to an option.
    let plain = args.iter().all(|word| word.is_exact);
    let harmless = |writing: &[&str]| plain && !values.iter().any(|word| is_option(word, writing));
    let unless =
        UNLESS.iter().map(|row| row.split(' ')).find_map(|mut row| (row.next() == Some(name)).then_some(row));
    match name {
        "git" => git(&values) && harmless(&GIT_WRITES.iter().collect::<Vec<_>>()),
        "andon" => andon(&values),
        "sed" => {
            matches!(values.as_slice(), ["-n", script, ..] if prints(script))
                && harmless(&["-i", "-f", "-e", "-s", "--in-place", "--file", "--expression", "--separate"])
        }
        "uniq" => harmless(&[]) && values.iter().filter(|word| !word.starts_with('-')).count() < 2,
        name => match unless {
            Some(writing) => harmless(&writing.collect::<Vec<_>>()),
            None => READERS.contains(name) && !args.iter().any(|word| word.raw.contains('$')),
        },
    }
}

/// Returns true when a word may be one of the options: abbreviated, with its value, or among other letters.
fn is_option(word: &str, options: &[&str]) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is = |option: &&str| {
        let letter = option.strip_prefix('-').filter(|rest| rest.chars().count() == 1);
        let among = letter
            .is_some_and(|letter| !word.starts_with("--") && word.starts_with('-') && word.contains(letter));
        among
            || word.starts_with(*option)
            || name.len() > 2 && name.starts_with("--") && option.starts_with(name)
    };
    options.iter().any(is)
}

/// `1,80p` and the like.
fn prints(script: &str) -> bool {
    script.ends_with('p') && script.bytes().all(|byte| byte.is_ascii_digit() || b",$p;".contains(&byte))
}

fn git(args: &[&str]) -> bool {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        rest = match *first {
            "-C" => after.get(1..).unwrap_or_default(),
            "--no-pager" | "-P" => after,
            _ => return false,
        };
    }
    // The pager of `git grep`.
    let starts = rest.first() == Some(&"grep") && rest.iter().any(|word| is_option(word, &["-O"]));
    let lists = match rest {
        ["branch", options @ ..] => options.iter().all(|word| GIT_LISTS.contains(word)),
        ["worktree", "list", ..] => rest[2..].iter().all(|word| word.starts_with('-')),
        ["stash", "list" | "show", ..] | ["reflog"] | ["reflog", "show", ..] => true,
        ["reflog", rest @ ..] => rest.iter().all(|word| word.starts_with('-') || word.starts_with("HEAD")),
        _ => false,
    };
    lists || !starts && rest.first().is_some_and(|verb| OF_GIT.contains(verb))
}

fn andon(args: &[&str]) -> bool {
    let plain: Vec<&str> = args.iter().copied().filter(|word| !word.starts_with('-')).collect();
    // These run tests, or write a file.
    let works = |word: &&str| {
        word.starts_with("--te") || word.starts_with("-o") || word.starts_with("--ou") || word.contains('=')
    };
    match plain.as_slice() {
        ["check", ..] => !args.iter().any(works),
        ["status" | "log" | "show" | "doctor" | "context" | "explain", ..]
        | ["review", "show" | "status" | "precedents", ..] => true,
        _ => false,
    }
}

/// Returns true when a tool writes what the next session must know, and nothing else.
pub(super) fn hands_off(used: &ToolUse) -> bool {
    used.commands.is_empty() && !used.paths.is_empty() && used.paths.iter().all(|path| is_briefing(path))
}

/// Returns true when a call leads out of a full window: it writes or reads the briefing, asks for it, tests, or commits.
pub(super) fn leads_out(used: &ToolUse) -> bool {
    if used.commands.is_empty() {
        return hands_off(used);
    }
    used.commands.iter().all(|script| {
        let read = Reading::parse(script);
        let commands = read.commands();
        // The body of a here-document is not read.
        !commands.is_empty()
            && commands.iter().all(|command| goes_out(&command.values()))
            && read.writes().all(|path| path == "/dev/null" || is_briefing(path))
    })
}

fn goes_out(words: &[&str]) -> bool {
    match words {
        ["cat" | "tee" | "head" | "tail", files @ ..] => {
            files.iter().filter(|word| !word.starts_with('-')).all(|file| is_briefing(file))
        }
        ["true" | "cd" | "echo" | "printf", ..]
        | ["git", "add" | "commit" | "status", ..]
        | ["andon", "context" | "test" | "t" | "status", ..] => true,
        _ => false,
    }
}

/// Returns true when `path` is the briefing, which an agent writes for its next session.
fn is_briefing(path: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']);
    parts.next() == Some(BRIEFING) && parts.next() == Some(".andon")
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::CallEnd;

    #[test]
    fn looking_around_goes_on_while_halted() {
        for script in [
            "andon status",
            "andon log | head -3",
            "andon doctor",
            "andon context --brief && andon explain a1b2c3d",
            "andon check --format json",
            "git branch -a && git branch --show-current",
            "git stash list; git reflog -5; git worktree list --porcelain",
            "andon review show 1 && andon review precedents",
            "andon status --format json | jq .state",
            "cat .andon/CHECKPOINT.md 2>/dev/null",
            "cd sub && git diff HEAD~1 2>&1",
            "ls -la && pwd && git diff --stat",
            "ls *.rs",
            "echo ---; cat a || true",
            "git -C sub log -3 --oneline",
            "/usr/bin/git log -3 && time ls",
            "git --no-pager blame src/a.rs | head",
            "sed -n '1,80p' src/a.rs",
            "find src -name '*.rs' | sort | uniq -c",
            "rg -n foo src 2>/dev/null",
            "diff a b || true",
        ] {
            assert!(only_reads(script), "{script}");
        }
    }

    const REFUSED: &[&str] = &[
        "",
        "echo hello",
        "true; printf x",
        "andon review vote",
        "andon resume",
        "andon status; make",
        "git commit",
        "git stash",
        "git stash drop",
        "git branch new",
        "git branch -D old",
        "git reflog expire --all",
        "git worktree add x",
        "andon check --test",
        "andon check --format sarif=x",
        "test -v 'x[`touch a`]' && cat b",
        "[ -v 'x[$(touch a)]' ]; ls",
        "printf -v 'x[`touch a`]' y; ls",
        "git log --output=x",
        "git log --outp=x",
        "git log --output x",
        "git grep -O./x foo",
        "git grep --open-f=./x foo",
        "git -c core.pager=./x log",
        "cat x > y",
        "cat x &> y",
        "cat $(rm x)",
        "cat `rm x`",
        "diff <(rm x) y",
        "cat <<E\n$(rm x)\nE",
        "ANDON=0 cat x",
        "env -S 'rm x'",
        "xargs rm",
        "xargs -E x rm",
        "ls | xargs cat",
        "cat x | sh",
        "cat x &",
        "./cat x",
        "/tmp/andon status",
        "sed -i s/a/b/ x",
        "sed 'w out' x",
        "sed -n 's/a/b/e' x",
        "sed -n 1p -i x",
        "find . -delete",
        "find . -exec rm {} +",
        "sort -o x x",
        "sort -uo x x",
        "sort --outp=x x",
        "sort *",
        "rg --pre ./x foo",
        "uniq a b",
        "env cat x",
        "git --exec-path=. log",
        "tree -ao x",
        "/tmp/git log",
        "less x",
        "more x",
        "vim x",
        "source /dev/stdin",
        "setsid -f rm x",
        "(cat x)",
        "if true; then cat x; fi",
        "ls(){ rm x; }; ls",
    ];

    #[test]
    fn everything_else_is_refused_while_halted() {
        for script in REFUSED {
            assert!(!only_reads(script), "{script}");
        }
    }

    #[test]
    fn the_briefing_and_the_commit_lead_out() {
        let briefing = ".andon/MISSION_BRIEFING.md";
        let by_shell = |script: &str| (ToolKind::Shell, vec![script.to_owned()], Vec::new());
        let by_tool = |kind, path: &str| (kind, Vec::new(), vec![path.to_owned()]);
        for ((kind, commands, paths), expected) in [
            (by_tool(ToolKind::Edit, briefing), true),
            (by_tool(ToolKind::Read, "/w/.andon/MISSION_BRIEFING.md"), true),
            (by_tool(ToolKind::Unknown, briefing), true),
            (by_tool(ToolKind::Edit, "src/a.rs"), false),
            (by_tool(ToolKind::Read, "src/a.rs"), false),
            ((ToolKind::Unknown, Vec::new(), Vec::new()), false),
            (by_shell("andon context --brief"), true),
            (by_shell("andon test && git add -A && git commit -m 'a b'"), true),
            (by_shell("git commit -m \"$(cat <<'EOF'\nText\nEOF\n)\""), true),
            (by_shell("cat > .andon/MISSION_BRIEFING.md <<'EOF'\nnotes\nEOF"), true),
            (by_shell("echo x >> .andon/MISSION_BRIEFING.md 2>/dev/null"), true),
            (by_shell("echo x > src/a.rs"), false),
            (by_shell("git commit -m x; make"), false),
            (by_shell("git push"), false),
            (by_shell("cat src/a.rs"), false),
            (by_shell(""), false),
        ] {
            let used = ToolUse { name: "x".into(), kind, id: None, commands, paths, end: CallEnd::Unknown };
            assert_eq!(leads_out(&used), expected, "{used:?}");
        }
    }
}
