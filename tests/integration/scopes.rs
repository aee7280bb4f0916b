//! Scopes: only the tests of what a change touches run, and no commit passes without them.

use crate::support::{Out, Stage, image::built};

mod at_commit;
mod comparisons;
mod property;
mod side_by_side;

/// Prints a line for each file below the named directories, in TAP; one with `bad` in it fails. What it read goes into
/// a log outside of the repository.
const RUN: &str = r#"scope=$1; shift
echo "$scope $(cat $(find "$@" -type f | sort) | cksum)" >> "$SCOPE_LOG"
code=0; n=0
for file in $(find "$@" -type f | sort); do
  n=$((n + 1))
  if grep -q bad "$file"; then echo "not ok $n - $file"; code=1; else echo "ok $n - $file"; fi
done
echo "1..$n"
exit $code
"#;

const CONFIG: &str = r#"[test]
command = "sh run.sh all core cli web"
[test.scopes.core]
paths = ["core/**"]
command = "sh run.sh core core"
[test.scopes.cli]
paths = ["cli/**"]
needs = ["core"]
command = "sh run.sh cli cli core"
[test.scopes.web]
paths = ["web/**"]
command = "sh run.sh web web"
"#;

fn packages() -> Stage {
    built!({
        let stage = Stage::installed();
        let log = stage.root().join("scope.log");
        stage.set("SCOPE_LOG", log.to_str().unwrap());
        for scope in ["core", "cli", "web"] {
            stage.write(&format!("{scope}/a.py"), "1\n");
        }
        stage.write("run.sh", RUN);
        stage.write("andon.toml", CONFIG);
        stage.git(&["add", "-A"]).ok();
        stage.andon(&["test", "--all"]).ok();
        stage.git(&["commit", "-qm", "Packages"]).ok();
        forget(&stage);
        stage
    })
}

fn log(stage: &Stage) -> String {
    std::fs::read_to_string(stage.root().join("scope.log")).unwrap_or_default()
}

/// The scopes whose tests ran since this was asked last, in order.
fn ran(stage: &Stage) -> Vec<String> {
    let ran = log(stage).lines().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
    forget(stage);
    ran
}

fn forget(stage: &Stage) {
    let _ = std::fs::remove_file(stage.root().join("scope.log"));
}

fn commit(stage: &Stage, message: &str) -> Out {
    stage.git(&["commit", "-qam", message])
}

#[test]
fn only_what_a_change_touches_runs_and_is_asked_for() {
    let stage = packages();
    stage.write("web/a.py", "2\n");
    commit(&stage, "Web").refused().says("scope web: the code changed after the tests ran: web/a.py");
    let out = stage.andon(&["test"]).ok();
    insta::assert_snapshot!(out.shown(), @r"
    exit 0
    --- stdout
    ok 1 - web/a.py
    1..1
    --- stderr
    andon: left out code in no scope: its tests passed on this code at HASH
    andon: left out scope core: its tests passed on this code at HASH
    andon: left out scope cli: its tests passed on this code at HASH
    andon: [1/1] scope web: sh run.sh web web
    andon: passed: web; 3 scopes left out
    ");
    assert_eq!(ran(&stage), ["web"]);
    commit(&stage, "Web").ok();
    // What others need is tested before them.
    stage.write("core/a.py", "2\n");
    stage.andon(&["test"]).ok();
    assert_eq!(ran(&stage), ["core", "cli"]);
    commit(&stage, "Core").ok();
    let first = stage.git(&["rev-parse", "HEAD~"]).ok().stdout.trim().to_owned();
    let scopes = &stage.record("HEAD")["tests"]["scopes"];
    assert_eq!(scopes["web"]["from"], first);
    assert_eq!(scopes["cli"]["needs"], serde_json::json!(["core"]));
    assert!(scopes["core"].get("from").is_none(), "{scopes}");
    // Nothing to do is said, and nothing runs.
    stage.andon(&["test"]).ok().says("4 scopes left out");
    assert!(ran(&stage).is_empty());
    stage.andon(&["complete"]).ok();
    stage.andon(&["check", "HEAD~2..HEAD"]).ok();
}

#[test]
fn code_in_no_scope_binds_all() {
    let stage = packages();
    stage.add("setup.py", "2\n");
    commit(&stage, "Root")
        .refused()
        .says("code in no scope: the tests ran without setup.py")
        .says("and so for core, web, cli");
    stage.andon(&["test"]).ok();
    assert_eq!(ran(&stage), ["all"]);
    commit(&stage, "Root").ok();
    // Where all tests together fail, each scope says for itself.
    stage.write("setup.py", "3\n");
    stage.write("web/a.py", "bad\n");
    stage.andon(&["test"]).exits(1).says("failed: all tests, web; passed: core, cli");
    assert_eq!(ran(&stage), ["all", "core", "web", "cli"]);
    commit(&stage, "Root").ok();
    assert_eq!(stage.record("HEAD")["tests"]["failing"], serde_json::json!(["web/a.py"]));
}

#[test]
fn a_red_scope_is_an_attempt_runs_again_and_only_what_needs_it_waits() {
    let stage = packages();
    stage.write("core/a.py", "bad\n");
    stage.write("web/a.py", "2\n");
    stage
        .andon(&["test"])
        .exits(1)
        .says("failed: core; passed: web; not started, for what they need failed: cli");
    assert_eq!(ran(&stage), ["core", "web"]);
    commit(&stage, "Red").ok().says("scope core: 1 of 1 test fails: core/a.py");
    let tests = stage.record("HEAD")["tests"].clone();
    assert_eq!(tests["status"], "failed");
    assert_eq!(tests["scopes"]["web"]["status"], "passed");
    // Green scopes are inherited, red ones are not.
    stage.andon(&["test"]).exits(1);
    assert_eq!(ran(&stage), ["core"]);
    // At completion and push each is named.
    stage.andon(&["complete"]).exits(1).says("scope cli; and those of scope core fail");
    stage.git(&["init", "-q", "--bare", "../bare.git"]).ok();
    stage
        .git(&["push", "-q", "../bare.git", "HEAD:refs/heads/main"])
        .refused()
        .says("scope cli")
        .says("core fail");
    // A commit elsewhere needs neither.
    stage.write("web/a.py", "3\n");
    stage.andon(&["test", "web"]).ok();
    assert_eq!(ran(&stage), ["web"]);
    commit(&stage, "Web").ok();
    assert_eq!(stage.record("HEAD")["tests"]["scopes"]["core"]["status"], "failed");
    stage.andon(&["complete"]).exits(1).says("tests");
}

/// `at = "push"`: the commit and plain `andon test` leave a slow scope out; who asks for the whole asks for it.
#[test]
fn a_slow_scope_is_left_to_the_push() {
    let stage = packages();
    stage.write("andon.toml", CONFIG.replace("[test.scopes.web]", "[test.scopes.web]\nat = \"push\""));
    stage.write("web/a.py", "2\n");
    stage.write("core/a.py", "2\n");
    stage.andon(&["test", "--all"]).ok();
    let base = stage.head();
    commit(&stage, "Slow").ok();
    forget(&stage);
    for file in ["web/a.py", "cli/a.py"] {
        stage.write(file, "3\n");
    }
    stage.andon(&["test"]).ok();
    assert_eq!(ran(&stage), ["cli"]);
    commit(&stage, "Edit").ok();
    stage.andon(&["complete"]).exits(1).says("scope web");
    stage.andon(&["check", &format!("{base}..HEAD")]).exits(1).says("the tests of scope web did not run");
    stage.git(&["init", "-q", "--bare", "../bare.git"]).ok();
    let push = ["push", "-q", "../bare.git", "HEAD:refs/heads/main"];
    stage.git(&push).refused().says("scope web");
    stage.andon(&["test", "web"]).ok();
    assert_eq!(ran(&stage), ["web"]);
    stage.andon(&["complete"]).ok();
    stage.git(&push).ok();
    stage.andon(&["check", &format!("{base}..HEAD")]).ok().lacks("untested-code");
}

/// The push went round the hooks: CI runs the tests, or they run later and the record says so wherever it was sent before.
#[test]
fn a_slow_scope_that_no_push_asked_for_is_left_to_ci() {
    let stage = packages();
    stage.write("andon.toml", CONFIG.replace("[test.scopes.web]", "[test.scopes.web]\nat = \"push\""));
    stage.andon(&["test", "--all"]).ok();
    commit(&stage, "Slow").ok();
    let base = stage.head();
    for number in 3..7 {
        stage.write("web/a.py", format!("{number}\n"));
        stage.andon(&["test"]).ok();
        commit(&stage, "Edit").ok();
    }
    stage.steps(
        "git init -q --bare ../o.git; git remote add origin ../o.git; git push -q --no-verify origin main",
    );
    stage.andon(&["sync"]).ok();
    let range = format!("{base}..HEAD");
    stage.andon(&["check", &range]).exits(1).says("scope web did not run").says("help: andon check --test");
    stage.andon(&["check", "--test", &range]).ok();
    stage.andon(&["test", "web"]).ok();
    stage.git(&["push", "-q", "origin", "main:more"]).ok();
    stage.andon(&["check", &range]).ok();
    stage.steps("git clone -q -b main ../o.git ../fresh");
    let fresh = stage.root().join("fresh");
    stage.andon_in(&fresh, &["sync", "--fetch-only"]).ok();
    stage.andon_in(&fresh, &["check", &range]).ok();
}

#[test]
fn a_scope_that_gets_another_name_is_tested_under_both() {
    let stage = packages();
    let base = stage.head();
    stage.write("andon.toml", CONFIG.replace("scopes.web]", "scopes.page]"));
    commit(&stage, "Rename").ok();
    stage.write("web/a.py", "2\n");
    commit(&stage, "Edit").refused().says("scope page");
    stage.andon(&["test"]).ok();
    commit(&stage, "Edit").ok();
    let range = format!("{base}..HEAD");
    stage.andon(&["check", &range]).exits(1).says("scope web did not run").says("help: andon check --test");
    stage.andon(&["check", "--test", &range]).ok().says("config-changed");
    // What went round the gate is not tested by any name.
    stage.write("web/a.py", "3\n");
    stage.git(&["commit", "-qnam", "Round"]).ok();
    stage.andon(&["check", "--test", &range]).exits(1).says("error[untested-code]");
}

/// The last line of a run names what proved nothing.
#[test]
fn a_scope_that_changed_its_code_is_not_said_to_have_passed() {
    let stage = packages();
    stage.write(
        "andon.toml",
        CONFIG.replace("\"sh run.sh web web\"", "\"date +%N > web/stamp.py; sh run.sh web web\""),
    );
    stage.write("web/a.py", "2\n");
    stage.write("core/a.py", "2\n");
    stage.andon(&["test", "core", "web"]).ok().says("proved nothing: web; passed: core");
}

#[test]
fn all_at_once_is_evidence_for_each_where_it_passes() {
    let stage = packages();
    stage.write("core/a.py", "2\n");
    stage.write("web/a.py", "2\n");
    stage.andon(&["test", "--all"]).ok();
    assert_eq!(ran(&stage), ["all"]);
    stage.git(&["commit", "-qm", "Web alone", "web/a.py"]).ok();
    commit(&stage, "Core").ok();
    stage.write("web/a.py", "bad\n");
    stage.andon(&["test", "--all"]).exits(1);
    commit(&stage, "Red").refused().says("scope web");
    stage.andon(&["test"]).exits(1);
    commit(&stage, "Red").ok();
}

#[test]
fn evidence_is_found_wherever_the_tests_ran() {
    let stage = packages();
    stage.git(&["switch", "-qc", "other"]).ok();
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Web").ok();
    let made = stage.head();
    stage.git(&["switch", "-q", "main"]).ok();
    stage.write("core/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Core").ok();
    ran(&stage);
    // A record of another branch, and the run of another worktree.
    stage.write("web/a.py", "2\n");
    let journal = stage.path(".git/andon/journal.jsonl");
    std::fs::remove_file(journal).unwrap();
    stage
        .andon(&["test"])
        .ok()
        .says(&format!("left out scope web: its tests passed on this code at {}", &made[..7]));
    assert!(ran(&stage).is_empty());
    commit(&stage, "Web again").ok();
    stage.write("web/a.py", "3\n");
    stage.andon(&["test"]).ok();
    ran(&stage);
    stage.git(&["worktree", "add", "-q", "--detach", "../side"]).ok();
    let side = stage.root().join("side");
    std::fs::write(side.join("web/a.py"), "3\n").unwrap();
    stage.andon_in(&side, &["test"]).ok();
    assert!(ran(&stage).is_empty(), "the other worktree tested it");
    stage.git_in(&side, &["commit", "-qam", "Web"]).ok();
}

#[test]
fn a_part_of_what_is_edited_is_tested_apart() {
    let stage = packages();
    stage.add("web/a.py", "2\n");
    stage.write("web/a.py", "3\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "Staged"]).refused();
    stage.andon(&["test", "--staged"]).ok();
    stage.git(&["commit", "-qm", "Staged"]).ok();
    // An edit in another scope does not interfere.
    stage.write("core/a.py", "bad\n");
    stage.andon(&["test", "web"]).ok();
    stage.git(&["commit", "-qm", "Web", "web/a.py"]).ok();
}

#[test]
fn a_part_of_a_scope_proves_nothing() {
    let stage = packages();
    stage.write("web/a.py", "2\n");
    stage.andon(&["test", "web", "core"]).ok();
    assert_eq!(ran(&stage), ["core", "web"]);
    stage.write("web/a.py", "3\n");
    stage.andon(&["test", "web", "./cli"]).ok().says("scope web: this was a part of the tests");
    commit(&stage, "Web").refused();
}

#[test]
fn what_is_to_run_is_shown() {
    let stage = packages();
    stage.write("core/a.py", "2\n");
    insta::assert_snapshot!(stage.andon(&["test", "--dry-run"]).ok().shown(), @r"
    exit 0
    --- stdout
    would run scope core: sh run.sh core core
    would run scope cli: sh run.sh cli cli core
    left out code in no scope: its tests passed on this code at HASH
    left out scope web: its tests passed on this code at HASH
    ");
    insta::assert_snapshot!(stage.andon(&["test", "--scopes"]).ok().shown(), @r"
    exit 0
    --- stdout
    (rest): passed, tested at HASH
      paths    code that belongs to no scope; every scope needs it
      command  sh run.sh all core cli web
    core: not tested as it is
      paths    core/**
      command  sh run.sh core core
    web: passed, tested at HASH
      paths    web/**
      command  sh run.sh web web
    cli: not tested as it is
      paths    cli/**
      needs    core
      command  sh run.sh cli cli core
    ");
    assert!(ran(&stage).is_empty());
    let plan = stage.andon(&["test", "--dry-run", "--format", "json"]).ok();
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!(plan["scopes"][0]["name"], "core");
    let ran = stage.andon(&["test", "--format", "json"]).ok();
    let ran: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&ran["scopes"][0]["did"], &ran["exit_code"]), (&"ran".into(), &0.into()));
}

#[test]
fn mistakes_are_named() {
    let stage = packages();
    let out = stage.andon(&["test", "wbe"]).exits(2);
    insta::assert_snapshot!(out.shown(), @r"
    exit 2
    --- stderr
    error: no scope is called wbe: there are cli, core, web
      help: did you mean `web`? Or, for an argument of test.command: andon test --all wbe
    ");
    stage.write("andon.toml", CONFIG.replace("web/**", "core/a.py"));
    stage.write("core/a.py", "2\n");
    let out = stage.andon(&["test"]).exits(2);
    insta::assert_snapshot!(out.shown(), @r"
    exit 2
    --- stderr
    error: core/a.py belongs to two scopes, core and web: a file must be in one
      help: make the paths of one of them narrower in andon.toml: andon config show test.scopes.core
    ");
    commit(&stage, "Two").exits(1).says("core/a.py belongs to two scopes, core and web");
    stage.andon(&["config", "check"]).exits(2).says("core/a.py belongs to two scopes, core and web");
    stage.write("andon.toml", CONFIG.replace("sh run.sh web web", "./nosuch"));
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).exits(127).says("scope web").says("passed: core, cli");
    commit(&stage, "Two").refused().says("scope web: the tests of this code could not be started");
}

#[test]
fn a_run_cut_short_in_the_second_scope_keeps_the_first() {
    let stage = packages();
    let config = CONFIG.replace("sh run.sh web web", "kill -TERM $PPID; sleep 5");
    stage.write("andon.toml", config);
    stage.write("core/a.py", "2\n");
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]);
    assert_eq!(ran(&stage)[0], "core");
    stage.write("andon.toml", CONFIG);
    stage.andon(&["test"]).ok();
    assert!(!ran(&stage).contains(&"core".to_owned()));
}

#[test]
fn an_untracked_file_that_is_added_after_the_tests_needs_no_second_run() {
    let stage = packages();
    stage.write("web/data.notes", "1\n");
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    stage.commit_of("-A", "Web");
}

/// The tests of `web` fail while there is such a file, which is no part of the code.
const SHAKY: &str = "[ ! -e ../broken ] || { echo 1..1; echo not ok 1 - shaky; exit 1; }; sh run.sh web web";

#[test]
fn the_newest_run_on_the_same_code_counts_and_so_does_a_record() {
    let stage = packages();
    let broken = stage.root().join("broken");
    let all =
        "[ ! -e ../broken ] || { echo 1..1; echo not ok 1 - shaky; exit 1; }; sh run.sh all core cli web";
    let config = CONFIG.replace("sh run.sh web web", SHAKY).replace("sh run.sh all core cli web", all);
    stage.write("andon.toml", config);
    stage.git(&["commit", "-qam", "Shaky"]).ok();
    stage.write("web/a.py", "2\n");
    stage.andon(&["test", "--all"]).ok();
    stage.andon(&["complete"]);
    std::fs::write(&broken, "").unwrap();
    stage.andon(&["test", "web"]).exits(1);
    commit(&stage, "Red").ok().says("1 of 1 test fails: shaky");
    assert_eq!(stage.record("HEAD")["tests"]["status"], "failed");
    std::fs::remove_file(&broken).unwrap();
    stage.andon(&["test"]).ok();
    let amend = "git commit --amend --no-edit --allow-empty";
    stage.andon(&["complete"]).exits(1).says(amend).lacks("then run: andon test");
    stage.steps(amend);
    stage.andon(&["complete"]).ok();
    // All tests at once say which code fails, and not which scope.
    std::fs::write(&broken, "").unwrap();
    stage.andon(&["test", "--all"]).exits(1);
    stage.andon(&["complete"]).exits(1);
    std::fs::remove_file(&broken).unwrap();
    stage.andon(&["test"]).ok();
    stage.andon(&["complete"]).exits(1).says(amend);
    stage.steps(amend);
    stage.andon(&["complete"]).ok();
}

#[test]
fn a_run_of_everything_that_was_handed_in_and_counts_speaks_for_each_scope() {
    let stage = packages();
    stage.write("andon.toml", CONFIG.replacen("[test]\n", "[test]\nhanded_in = \"count\"\n", 1));
    stage.git(&["commit", "-qam", "Count"]).ok();
    stage.write("web/a.py", "2\n");
    stage.write("report.tap", "1..1\nok 1 - a\n");
    let command = "sh run.sh all core cli web";
    stage
        .andon(&["observe", "test_run", "--report", "report.tap", "--exit-code", "0", "--command", command])
        .ok();
    stage.git(&["commit", "-qm", "Web", "web/a.py"]).ok();
}

#[test]
fn evidence_comes_with_fetched_records() {
    let stage = packages();
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Web").ok();
    let made = stage.head();
    ran(&stage);
    stage.git(&["clone", "-q", ".", "../clone"]).ok();
    let clone = stage.root().join("clone");
    stage.git_in(&clone, &["reset", "-q", "--hard", "HEAD~"]).ok();
    stage.git_in(&clone, &["fetch", "-q", "origin", "refs/notes/andon:refs/notes/andon"]).ok();
    std::fs::write(clone.join("web/a.py"), "2\n").unwrap();
    let out = stage.andon_in(&clone, &["test"]).ok();
    out.says(&format!("left out scope web: its tests passed on this code at {}", &made[..7]));
    assert!(ran(&stage).is_empty());
}

#[test]
fn the_journal_repeats_no_results_that_records_have() {
    let stage = packages();
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    let newest = |stage: &Stage| {
        let journal = stage.read(".git/andon/journal.jsonl");
        let line = journal.lines().rfind(|line| line.contains("\"type\":\"test_run\"")).unwrap().to_owned();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        line["scopes"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(newest(&stage), ["web"]);
    stage.write("core/a.py", "2\n");
    stage.andon(&["test"]).ok();
    assert_eq!(newest(&stage), ["cli", "core"]);
    commit(&stage, "All").ok();
    assert_eq!(stage.record("HEAD")["tests"]["scopes"].as_object().unwrap().len(), 4);
}

#[test]
fn check_asks_for_each_scope_that_a_commit_touches() {
    let stage = packages();
    let base = stage.head();
    let range = format!("{base}..HEAD");
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Web").ok();
    stage.andon(&["check", &range]).ok();
    // A record that says nothing of a scope that was touched, however green it is.
    let note = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout;
    let mut record: serde_json::Value = serde_json::from_str(note.trim()).unwrap();
    record["tests"]["scopes"].as_object_mut().unwrap().remove("web");
    for key in ["total", "passed"] {
        record["tests"][key] = 0.into();
    }
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &record.to_string(), "HEAD"]).ok();
    stage.andon(&["check", &range]).exits(1).says("the tests of scope web did not run on its code");
    // One whose rows come to something else was edited.
    let mut red: serde_json::Value = serde_json::from_str(note.trim()).unwrap();
    red["tests"]["scopes"]["web"]["status"] = "failed".into();
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &red.to_string(), "HEAD"]).ok();
    stage.andon(&["check", &range]).exits(1).says("edited-record");
}

#[test]
fn a_tip_is_pushed_with_the_tests_of_all_its_scopes() {
    let stage = packages();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage.git(&["remote", "add", "origin", "../remote.git"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.write("core/a.py", "2\n");
    stage.andon(&["test", "core"]).ok();
    commit(&stage, "Core").refused().says("scope cli");
    stage.git(&["commit", "-qnam", "Core"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).exits(1).says("scope cli");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-q", "--amend", "--no-edit"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
}

#[test]
fn scopes_that_begin_in_a_range_are_tested_at_once_at_its_tip() {
    let stage = Stage::installed();
    let base = stage.head();
    for scope in ["core", "cli", "web"] {
        stage.write(&format!("{scope}/a.py"), "1\n");
    }
    stage.set("SCOPE_LOG", stage.root().join("scope.log").to_str().unwrap());
    stage.write("run.sh", RUN);
    stage.write("andon.toml", CONFIG);
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test", "core", "cli", "web"]).ok();
    stage.git(&["commit", "-qm", "Scopes"]).refused().says("code in no scope");
    stage.tested_commit("-qm", "Scopes");
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Web").ok();
    let range = format!("{base}..HEAD");
    stage.andon(&["check", &range]).exits(1).says("scopes begin in this range");
    stage.andon(&["test", "--all"]).ok();
    stage.git(&["commit", "-q", "--amend", "--no-edit"]).ok();
    stage.andon(&["check", &range]).lacks("scopes begin in this range");
}

#[test]
fn installing_writes_the_scopes_of_a_workspace() {
    let stage = Stage::new();
    stage.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
    stage.write("crates/core/Cargo.toml", "[package]\nname = \"core\"\n");
    stage.write("crates/core/src/lib.rs", "#[test]\nfn adds() {}\n");
    stage.write("crates/cli/src/main.rs", "");
    let cli = "[package]\nname = \"cli\"\n[dependencies]\ncore = { path = \"../core\" }\n";
    stage.write("crates/cli/Cargo.toml", cli);
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["install"]).ok().says("it has 2 scopes with tests of their own, from the manifests");
    let written = stage.read("andon.toml");
    let (_, scopes) = written.split_once("# What the manifests say").unwrap();
    insta::assert_snapshot!(scopes, @r#"
    : a commit needs the tests of what it touches (andon test --scopes).
    [test.scopes.cli]
    paths = ["crates/cli/**"]
    needs = ["core"]
    command = "cargo test -p cli"
    [test.scopes.core]
    paths = ["crates/core/**"]
    command = "cargo test -p core"
    "#);
    stage.andon(&["config", "check"]).ok();
    std::fs::write(stage.path("andon.toml"), written.replace("needs = [\"core\"]\n", "")).unwrap();
    stage.andon(&["config", "check"]).exits(2).says("scope cli does not need core, and its manifest does");
    std::fs::write(stage.path("andon.toml"), written.replace("crates/core/**", "crates/kore/**")).unwrap();
    stage.andon(&["config", "check"]).exits(2).says("andon.toml:").says("scope core has no files");
}
