use super::*;

fn found(script: &str) -> String {
    of_script(script).map_or_else(String::new, |found| format!("{found:?}"))
}

#[test]
fn the_plain_words_of_the_table_are_seen() {
    for (script, expected) in [
        ("ANDON=0 git commit -m x", "MasterSwitch"),
        ("export ANDON=\"0\"; git commit", "MasterSwitch"),
        ("env -u CLAUDECODE ANDON=0 make", "MasterSwitch"),
        ("env -S 'ANDON=0 git commit -m x'", ""),
        ("bash -lc 'ANDON=0 git commit'", "MasterSwitch"),
        ("(ANDON=0; git commit)", "MasterSwitch"),
        ("git -c core.hooksPath=/dev/null commit -m x", "HooksPath"),
        ("/usr/bin/git -c 'core.hookspath=' commit", "HooksPath"),
        ("git config --local core.HooksPath ''", "HooksPath"),
        ("git config --unset core.hookspath", "HooksPath"),
        ("git config unset core.hooksPath", "HooksPath"),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0= git commit", "HooksPath"),
        ("andon uninstall", "Command(\"andon uninstall\")"),
        ("andon stop", "Command(\"andon stop\")"),
        ("/usr/bin/andon resume --reason ok", "Resume"),
        ("env -u CLAUDECODE -u AI_AGENT andon resume -r x", "Resume"),
        ("andon --color never resume -r x", "Resume"),
        ("nohup sudo andon resume -r x", "Resume"),
        ("timeout 5 andon agent uninstall claude", "Command(\"andon agent uninstall\")"),
        ("echo {} | andon agent hook claude UserPromptSubmit", "Command(\"andon agent hook\")"),
        ("env -u CLAUDECODE andon pin", "Command(\"andon pin\")"),
        ("andon review resolve 3", "Command(\"andon review resolve\")"),
        ("andon witness add key", "Command(\"andon witness add\")"),
    ] {
        assert_eq!(found(script), expected, "{script}");
    }
}

/// What it does is judged afterwards; what it says in passing, or in another language, is nobody's.
#[test]
fn everything_else_runs() {
    for script in [
        "cargo test 2>&1 | tail -3",
        "git commit -m 'never set ANDON=0 or core.hooksPath, nor touch .andon/'",
        "git commit --no-verify -m x",
        "grep -rn 'ANDON=0' docs",
        "cat .andon/CHECKPOINT.md .claude/settings.json",
        "git config core.hooksPath",
        "git config --get core.hooksPath",
        "git config user.name x",
        "echo ANDON=0",
        "ANDON=1 ls",
        "sed -i 's/x = .*/y/' src/a.rs",
        "shellcheck .git/hooks/pre-commit",
        "python3 -c \"print('.git/hooks/pre-commit')\"",
        "node -e 'process.env.ANDON = 0'",
        "rm -rf .git/hooks",
        "find . -name '*.pyc' -delete",
        "cp .claude/settings.json /tmp/backup.json",
        "git push --mirror backup",
        "andon test && andon status",
        "andon pin --check",
        "andon doctor",
        "gh pr create --body 'never run andon resume'",
        "rg 'andon resume' docs",
        "",
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
        ("andon doctor", true),
        ("andon doctor --live", false),
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

#[test]
fn looking_around_goes_on_while_halted() {
    for script in [
        "ls -la && pwd && git diff --stat",
        "echo ---; cat a || true",
        "git -C sub log -3",
        "/usr/bin/git log -3 && time ls",
        "git blame src/a.rs | head",
        "sed -n '1,80p' src/a.rs",
        "find src -name '*.rs' | sort | uniq -c",
        "rg -n foo src 2>/dev/null",
        "andon review show 1 && andon review precedents",
        "diff a b || true",
        "find . -type f -exec grep -l foo {} +",
        "andon status --format json | jq .state",
    ] {
        assert!(only_reads(script), "{script}");
    }
    for script in [
        "echo hello",
        "true; printf x",
        "sed -i s/a/b/ x",
        "sed 'w out' x",
        "sed -n 's/a/b/e' x",
        "find . -delete",
        "find . -exec rm {} +",
        "sort -o x x",
        "rg --pre ./x foo",
        "git grep -O./x foo",
        "git -c core.pager=./x log",
        "git stash",
        "cat x | sh",
        "env -S 'rm x'",
        "xargs rm",
        "andon review resolve 1",
        "andon status; make",
        "$(cat x)",
        "uniq a b",
        "sort -uo x x",
        "./cat x",
        "/tmp/git log",
        "xargs -E cat rm x",
        "setsid -f rm x",
        "env cat x",
        "cat <(rm x)",
        "cat <<EOF\n$(rm x)\nEOF",
        "source /dev/stdin",
        "less +!touch x",
        "git log --outp=x",
        "git --exec-path=. log",
        "tree -ao x",
        "cat `rm x`",
        "vim -es +wq x",
    ] {
        assert!(!only_reads(script), "{script}");
    }
}

/// However deep scripts are nested, and however many words there are.
#[test]
fn what_is_long_or_deep_ends() {
    for script in [
        "x git ".repeat(3000),
        "sh sh ".repeat(3000),
        "env ".repeat(3000),
        "sh -c ".repeat(3000),
        "$(".repeat(9000),
        "a <<b ".repeat(3000) + "\n",
        "rm {*,".repeat(3000),
        format!("rm {}x", "*a".repeat(9000)),
        "cd ../..;".repeat(3000),
    ] {
        of_script(&script);
        only_reads(&script);
    }
    let deep = (0..2).fold("andon resume".to_owned(), |inner, _| format!("sh -c {inner:?}"));
    assert_eq!(of_script(&deep), Some(Disarm::Resume));
}
