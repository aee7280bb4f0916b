use super::*;

fn found(script: &str) -> String {
    let guarded = GuardFiles { cwd: "/w/repo".into(), dirs: vec!["/w/repo/.git/hooks".into()] };
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
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0= git commit", "HooksPath"),
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

/// As an evader would write it.
#[test]
fn ways_around_are_seen() {
    for (script, expected) in [
        ("env -S 'ANDON=0 git commit -m x'", "MasterSwitch"),
        ("env --split-string='git -c core.hooksPath= commit'", "HooksPath"),
        ("command git -c core.hooksPath=/dev/null commit", "HooksPath"),
        ("/usr/bin/git -c 'core.hookspath=' commit", "HooksPath"),
        ("GIT -c core.hooksPath= commit", "HooksPath"),
        ("git -c $'core.hooksP\\x61th=' commit", "HooksPath"),
        ("git --config-env=core.hooksPath=NONE commit", "HooksPath"),
        ("git -c include.path=/tmp/x commit", "HooksPath"),
        ("GIT_CONFIG_PARAMETERS=\"'core.hooksPath='\" git commit", "HooksPath"),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=include.path GIT_CONFIG_VALUE_0=x git commit", "HooksPath"),
        ("git config core.hooksPath get", "HooksPath"),
        ("git config alias.ci '!git -c core.hooksPath= commit'", "HooksPath"),
        ("git config alias.x '!rm -rf .git/hooks'", "Hooks"),
        ("git -c alias.x='!rm -rf .git/hooks' x", "Hooks"),
        ("git -c core.notesRef=refs/notes/andon notes remove HEAD", "Refs"),
        ("git config core.notesRef refs/notes/andon", "Refs"),
        ("export GIT_NOTES_REF=refs/notes/andon; git notes remove HEAD", "Refs"),
        ("git update-ref --stdin <<EOF\ndelete refs/notes/andon\nEOF", "Refs"),
        ("printf 'delete refs/andon/x\\n' | git update-ref --stdin", "Refs"),
        ("git fetch . +HEAD:refs/notes/andon", "Refs"),
        ("git fetch origin '+refs/*:refs/*'", "Refs"),
        ("git push -f . HEAD:refs/notes/andon", "Refs"),
        ("sh <<EOF && true\nrm -rf .git/hooks\nEOF", "Hooks"),
        ("echo 'rm -rf .git/hooks' | sh", "Hooks"),
        ("cat <<EOF | bash\nANDON=0 git commit\nEOF", "MasterSwitch"),
        ("bash -c \"sh -c 'rm -rf .git'\"", "Hooks"),
        ("cd .git && rm -rf *", "Hooks"),
        ("rm -rf .git/{hooks,info}", "Hooks"),
        ("r\\m -rf '.g'it", "Hooks"),
        ("$'rm' -rf $'\\056git'", "Hooks"),
        ("rm -rf ../repo", "Hooks"),
        ("mv .git /tmp/elsewhere", "Hooks"),
        ("rm $(git rev-parse --git-dir)/hooks/pre-commit", "Hooks"),
        ("D=$(git rev-parse --git-path hooks); rm -rf $D/hooks/pre-commit", "Hooks"),
        ("find .git/hooks -type f -exec rm {} +", "Hooks"),
        ("find .git -name 'pre-*' -delete", "Hooks"),
        ("find .git/hooks -type f | xargs rm -f", "Hooks"),
        ("echo .git | xargs rm -rf", "Hooks"),
        ("tee .git/hooks/pre-commit < /dev/null", "Hooks"),
        ("sed -i 's/andon/true/' .git/hooks/pre-commit", "Hooks"),
        ("python3 - <<EOF\nopen('.git/hooks/pre-commit','w')\nEOF", "Hooks"),
        ("perl -e 'unlink \".git/hooks/pre-commit\"'", "Hooks"),
        ("dd if=/dev/null of=.git/hooks/pre-commit", "Hooks"),
        ("ln -sf /bin/true .git/hooks/pre-commit", "Hooks"),
        ("cp pre-commit .git/hooks", "Hooks"),
        ("cp -l .git/hooks/pre-commit x", "Hooks"),
        ("uniq /dev/null .git/hooks/pre-commit", "Hooks"),
        ("chmod -R 000 .git", "Hooks"),
        ("exec 3>.git/hooks/pre-commit", "Hooks"),
        ("trap 'rm .andon/STOP' EXIT", "AndonDir"),
        ("find . -name CHECKPOINT.md -path '*/.andon/*' -delete", "AndonDir"),
        (
            "git apply <<EOF\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\nEOF",
            "Settings(\".claude/settings.json\")",
        ),
        ("apply_patch <<EOF\n*** Delete File: .codex/hooks.json\nEOF", "Settings(\".codex/hooks.json\")"),
        ("cp settings.json .claude/", "Settings(\".claude/settings.json\")"),
        ("rm .claude/*", "Settings(\".claude/settings.json\")"),
        ("rm \"$(which andon)\"", "Program"),
        ("mv ~/.local/bin/andon /tmp", "Program"),
        ("cargo uninstall andon", "Program"),
        ("npm uninstall -g andon@1", "Program"),
        ("python3 -c \"import os; os.environ['ANDON']='0'\"", "MasterSwitch"),
        ("node -e 'process.env.ANDON = 0'", "MasterSwitch"),
        ("$env:ANDON = \"0\"", "MasterSwitch"),
        ("andon --color never resume -r x", "Resume"),
        ("flock x andon resume -r x", "Resume"),
        ("watch 'andon resume -r x'", "Resume"),
        ("echo {} | andon agent hook claude UserPromptSubmit", "Command(\"andon agent hook\")"),
        ("env -u CLAUDECODE andon pin", "Command(\"andon pin\")"),
        ("andon review resolve 3", "Command(\"andon review resolve\")"),
        ("andon witness add key", "Command(\"andon witness add\")"),
    ] {
        assert_eq!(found(script), expected, "{script}");
    }
}

#[test]
fn ordinary_work_near_the_guard_is_not() {
    for script in [
        "sed -n '1,50p' .andon/CHECKPOINT.md",
        "bash -lc \"sed -n 1,5p .andon/CHECKPOINT.md\"",
        "find . -path ./.git -prune -o -name '*.pyc' -delete",
        "find . -name .git -prune -o -type f -exec sed -i s/a/b/ {} +",
        "find .git -name '*.lock' -delete",
        "find .andon -type f",
        "cp .claude/settings.json /tmp/backup.json",
        "echo .andon/ | tee -a .gitignore",
        "cat >> .gitignore <<EOF\n.andon/\nEOF",
        "git commit -F - <<EOF\nSay what .andon/ and core.hooksPath are\nEOF",
        "gh pr create --title x --body 'never touch .andon/ nor run andon resume'",
        "grep -rn hooksPath . | sort -u",
        "ls .git/hooks | wc -l",
        "mv src/a.rs .",
        "mv a b",
        "rm -rf $(cat list) target/*",
        "rm -f .git/index.lock",
        "git rm -r --cached .",
        "git rebase -i HEAD~3",
        "git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
        "git config --get-all core.hooksPath",
        "chmod -R u+w .",
        "rm -rf bin/*",
        "touch $SRC/hooks/useThing.ts",
        "andon pin --check",
        "andon agent list && andon review show 3",
        "cargo run -- andon",
        "npm remove lodash",
        "xargs -n1 echo < list",
        "apply_patch <<EOF\n*** Update File: docs/a.md\n+see .andon/CHECKPOINT.md\nEOF",
    ] {
        assert_eq!(found(script), "", "{script}");
    }
}

#[test]
fn looking_around_goes_on_while_halted() {
    for script in [
        "ls -la && pwd && git diff --stat",
        "echo ---; cat a || true",
        "git -C sub log -3",
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
    ] {
        assert!(!only_reads(script), "{script}");
    }
}

/// However deep scripts are nested, and however many words there are.
#[test]
fn what_is_long_or_deep_ends() {
    let guarded = GuardFiles { cwd: "/w/repo".into(), dirs: Vec::new() };
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
        of_script(&script, &guarded);
        only_reads(&script);
    }
    let deep = (0..9).fold("rm -rf .git/hooks".to_owned(), |inner, _| format!("sh -c {inner:?}"));
    assert_eq!(of_script(&deep, &guarded), Some(Disarm::Hooks));
}
