//! What people read: messages, advice that exists, and counts that add up.

use std::process::Command;

use insta::assert_snapshot;

use super::support::Stage;

#[test]
fn commits_of_ignored_paths_alone_are_no_iterations() {
    let stage = Stage::installed();
    let number = stage.record("HEAD")["iteration"].clone();
    for round in 0..4 {
        stage.write("andon.toml", format!("# {round}\n[test]\ncommand = \"sh check.sh\"\n"));
        stage.git(&["commit", "-qam", "Tune"]).ok().lacks("unchanged-diff").lacks("changed nothing");
    }
    assert_eq!(stage.record("HEAD")["change"]["nature"], "ignored");
    stage.andon(&["status"]).ok().says("running").lacks("halted");
    assert_snapshot!(stage.andon(&["log"]).lacks("empty").shown(), @"
    exit 0
    --- stdout
       -  HASH  2 pass        ignored      Tune
       -  HASH  2 pass        ignored      Tune
       -  HASH  2 pass        ignored      Tune
       2  HASH  2 pass        ignored      Tune
       1  HASH  2 pass        +15 -0       Start
    ");
    stage.andon(&["replay"]).ok().lacks("unchanged-diff");
    // Two commits of nothing at all still halt, and what stood between them does not hide it.
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]).ok();
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]).shown(), @r"
    exit 0
    --- stderr
    error[unchanged-diff]: HALTED: the loop is making no progress
      what   2 iterations in a row changed nothing
      since  TIME, 6 commits; tests: 2 passed
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
    ");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]).refused();
    assert_eq!(number, 1);
}

/// A remote that has what `stage` has.
fn with_remote(stage: &Stage) {
    let remote = stage.root().join("remote.git");
    stage.git(&["init", "-q", "-b", "main", "--bare", remote.to_str().unwrap()]).ok();
    stage.git(&["remote", "add", "origin", remote.to_str().unwrap()]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
}

#[test]
fn a_push_is_compared_with_what_the_remote_has() {
    let stage = Stage::installed();
    with_remote(&stage);
    // The present code of the remote is not tested.
    stage.steps("echo untested > code.txt; git commit -q --no-verify -am Untested");
    let said = stage.git(&["push", "-q", "origin", "main"]).shown();
    assert_snapshot!(said, @"
    exit 1
    --- stderr
    error[untested-edit]: push refused: refs/heads/main (HASH): the code changed after the tests ran: code.txt
      help: andon test
    error: failed to push some refs to 'ROOT/remote.git'
    ");
    stage.git(&["push", "-q", "--no-verify", "origin", "main"]).ok();
    for (path, text) in [("README.md", "words\n"), ("andon.toml", "[test]\ncommand = \"sh check.sh\"\n# x\n")]
    {
        stage.write(path, text);
        stage.git(&["add", path]).ok();
        stage.git(&["commit", "-qm", path]).ok();
        stage.git(&["push", "-q", "origin", "main"]).ok();
        stage.git(&["switch", "-q", "-c", path.trim_end_matches(".md")]).ok();
        stage.steps("git push -q origin HEAD; git switch -q main");
    }
    stage.steps("echo more > code.txt; git commit -q --no-verify -am More");
    assert_eq!(stage.git(&["push", "-q", "origin", "main"]).shown(), said);
    stage.steps("andon test; git push -q origin main");
}

#[test]
fn what_the_tests_ran_without_is_said() {
    let stage = Stage::installed();
    with_remote(&stage);
    let other = stage.root().join("other");
    stage.git_in(stage.root(), &["clone", "-q", "remote.git", "other"]).ok();
    stage.steps_in(&other, "echo theirs > z.c; git add z.c; git commit -qm Theirs; git push -q origin main");
    stage.iterate("mine\n", &["ok a"], "Mine").ok();
    stage.steps("echo mine again > code.txt; andon test; git stash -q; git pull -q --rebase origin main");
    stage.steps("git stash pop -q");
    assert_snapshot!(stage.git(&["commit", "-qam", "Mine again"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran without z.c, which is in the commit
      help: andon test
    ");
    for number in 0..40 {
        stage.write(&format!("many/{number:02}.c"), "x\n");
    }
    stage.git(&["add", "."]).ok();
    assert_snapshot!(stage.git(&["commit", "-qm", "Many"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the code changed after the tests ran: many/00.c, many/01.c, many/02.c, many/03.c, many/04.c and 36 more
      help: andon test --staged
    warning[refused-commits]: 2 commits in a row were refused for untested code, each with new code, with no whole run of the tests in between
      help: andon test
    ");
}

#[test]
fn a_clean_tree_is_not_called_modified() {
    let stage = Stage::installed();
    assert_snapshot!(stage.andon(&["complete"]).shown(), @"
    exit 0
    --- stdout
      code modified  no
      tests run      yes
      tests passing  yes
      docs updated   not known
    the task can be completed
    ");
    stage.steps("echo other > code.txt; git commit -q --no-verify -am Untested");
    let out = stage.andon(&["complete"]);
    assert_snapshot!(out.shown(), @"
    exit 1
    --- stdout
      code modified  no
      tests run      no: the tests have not run on this code
      tests passing  not known
      docs updated   not known
    error[untested-edit]: the code changed after the tests ran: code.txt
      help: andon test
    the tests have not run on this code; run: andon test
    the task cannot be completed
    ");
    out.lacks("was modified").lacks("no longer known");
    stage.write("code.txt", "third\n");
    assert_snapshot!(stage.andon(&["complete"]).shown());
    // Not one test is no answer, and no test command no question.
    stage.write("check.sh", "echo 1..0\n");
    stage.andon(&["test"]);
    assert_snapshot!(stage.andon(&["complete"]).shown());
    let stage = Stage::new();
    stage.write("code.rs", "code\n");
    assert_snapshot!(stage.andon(&["complete"]).shown(), @r#"
    exit 3
    --- stdout
      code modified  yes
      tests run      not known
      tests passing  not known
      docs updated   not known
    warning[untested-edit]: code changed and no test command is configured, so nothing can show that it was tested
      help: name the test command in andon.toml, such as:  [test]  command = "make test"
      help: andon config show test
    note: code in the working tree is not committed yet
      help: git status
    whether the task can be completed is not known
    "#);
}

#[test]
fn one_cause_gives_one_error() {
    let stage = Stage::installed();
    stage.andon(&["stop", "--reason", "enough"]).ok();
    let out = stage.iterate("2\n", &["ok a"], "Two").refused();
    assert_eq!(out.stderr.matches("error[").count(), 1, "{out}");
    let resumed = stage.andon(&["resume", "--reason", "seen"]).ok();
    assert_snapshot!(resumed.says("2026-11-20 1").lacks("T1").shown(), @r"
    exit 0
    --- stdout
    resumed: A. Author <author@example.org> answered the halt of TIME (user-stop); counting starts over
      lifted: STOP, put up by A. Author <author@example.org> at TIME
    ");
    stage.andon(&["status"]).ok().says("answered by");
    for number in 3..6 {
        let out = stage.iterate(&format!("{number}\n"), &["ok a", "not ok b"], "Try");
        if number == 5 {
            let out = out.says("error[repeated-failures]");
            out.lacks("error[consecutive-failures]");
        }
    }
    stage.andon(&["status"]).ok().says("HALTED");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap_or_default();
    std::fs::remove_file(stage.path(".andon/BLOCKER_REPORT.md")).unwrap_or_default();
    stage.andon(&["status"]).ok().lacks("HALTED").says("was deleted; the next hook");
}

#[test]
fn a_section_of_the_configuration_can_be_shown() {
    let stage = Stage::installed();
    let out = stage.andon(&["config", "show", "test"]);
    assert_snapshot!(out.brief(), @r#"
    exit 0, stdout: test.at_commit = "refuse"     # default
    test.command = "sh check.sh"  # repository, andon.toml:2
    test.format = "auto"          # default
    test.full = false             # default
    test.handed_in = "record"     # default
    test.known_red = []           # default
    test.max_reports = 50000      # default
    test.reports = []             # default
    test.runner = (not set)       # default
    test.timeout = "30m"          # default
    "#);
    assert!(out.stdout.lines().all(|line| line.starts_with("test.")), "{out}");
    assert_snapshot!(stage.andon(&["config", "show", "rules.iteration-cap.max"]).brief(),
        @"exit 0, stdout: rules.iteration-cap.max = 100  # default");
    assert_snapshot!(stage.andon(&["config", "show", "tset"]).shown(), @r#"
    exit 2
    --- stderr
    error: no key or section of that name is configured or has a default: "tset"
      help: all of them: andon config show
    "#);
}

/// Every `andon ...` in the texts of the program names a command that there is, with options and keys that it takes.
#[test]
fn every_command_that_is_named_exists() {
    let stage = Stage::installed();
    let with_option = regex::Regex::new(r"andon ([a-z-]+) (--[a-z-]+)").unwrap();
    let verb = regex::Regex::new(r#"(?:["`]|: |&& |\| )andon ([a-z-]+)"#).unwrap();
    let shown = regex::Regex::new(r"andon config show ([a-z_.-]+)").unwrap();
    let mut named = std::collections::BTreeSet::new();
    let mut keys = std::collections::BTreeSet::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let hints = root.join("crates/andon-core/src/domain/hints.txt");
    for file in ["src", "crates"].iter().flat_map(|dir| walk(&root.join(dir))).chain([hints]) {
        if file.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        // What is said, not what is noted beside the code.
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            named.extend(verb.captures_iter(line).map(|found| (found[1].to_owned(), String::new())));
            named.extend(
                with_option.captures_iter(line).map(|found| (found[1].to_owned(), found[2].to_owned())),
            );
            keys.extend(shown.captures_iter(line).map(|found| found[1].to_owned()));
        }
    }
    assert!(named.len() > 15 && keys.len() > 2, "{named:?} {keys:?}");
    // What the shims call has no help of its own.
    for (verb, option) in named.into_iter().filter(|(verb, _)| verb != "hook") {
        let help = stage.andon(&[&verb, "--help"]);
        assert_eq!(help.code, 0, "andon {verb} {option}\n{help}");
        assert!(help.stdout.contains(&option), "andon {verb} {option}\n{help}");
    }
    for key in keys {
        stage.andon(&["config", "show", key.trim_end_matches('.')]).ok();
    }
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn help_is_grouped_and_completions_and_manual_pages_are_there() {
    let stage = Stage::new();
    let help = stage.andon(&["--help"]).ok().says("Set up:").says("Answer a halt:");
    assert_eq!(help.stdout.matches("--color").count(), 1, "{help}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        stage.andon(&["completions", shell]).ok().says("andon");
    }
    stage.andon(&["man"]).ok().says(".TH andon 1");
    stage.andon(&["man", "check"]).ok().says("andon-check");
    stage.andon(&["man", "chekc"]).exits(2).says("andon --help");
}

#[test]
fn lines_break_at_the_width_of_the_terminal() {
    let stage = Stage::installed();
    stage.write("code.txt", "untested\n");
    for number in 0..6 {
        stage.write(&format!("a-file-with-a-rather-long-name-{number}.txt"), "x\n");
    }
    stage.git(&["add", "."]).ok();
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let andon = super::support::andon_path();
    let line =
        format!("stty cols 60 rows 24; {} hook pre-commit; {} --help", andon.display(), andon.display());
    let out = stage.run_in(stage.dir(), "script", &["-qec", &line, "/dev/null"], None);
    let plain = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(&out.stdout, "").into_owned();
    let long: Vec<&str> = plain
        .lines()
        .map(str::trim_end)
        .filter(|line| line.chars().count() > 60 && !line.trim_start().starts_with("help:"))
        .collect();
    assert!(plain.contains("untested-edit") && long.is_empty(), "{long:?}\n{plain}");
}
