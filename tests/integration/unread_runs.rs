//! Runs that are hard to read, or cannot be: prefixes before each line, nothing to run, only an exit code.

use serde_json::Value;

use crate::support::{Out, Stage};

/// A stage whose test command is `script`, as a line for `sh`.
fn staged(script: &str) -> Stage {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\n[paths]\ndocs = []\nignore = [\"run.sh\"]\n");
    stage.write("run.sh", script);
    stage.steps("git add andon.toml run.sh; git commit -qm 'How the tests run'");
    stage
}

/// Edits, tests and commits.
fn attempt(stage: &Stage, code: &str, script: &str) -> Out {
    stage.write("run.sh", script);
    stage.write("code.txt", code);
    stage.andon(&["test"]);
    stage.git(&["commit", "-qam", code])
}

/// TAP of `failing` tests of ten below the prefix of a package, beside another package whose tests pass.
fn packages(failing: usize) -> String {
    let line =
        |at: usize| format!("echo 'b:test: {}ok {at} - t{at}'", if at <= failing { "not " } else { "" });
    let lines: Vec<String> = (1..=10).map(line).collect();
    format!(
        "echo '• Packages in scope: a, b'\necho 'a:test: 1..1'\necho 'b:test: 1..10'\necho 'a:test: ok 1 - x'\n{}\n\
         echo ' Tasks:    1 successful, 2 total'\nexit 1\n",
        lines.join("\n")
    )
}

#[test]
fn fewer_failures_below_a_prefix_are_progress() {
    let stage = staged("exit 1\n");
    for (at, failing) in [7, 4, 2].into_iter().enumerate() {
        attempt(&stage, &format!("{at}\n"), &packages(failing)).ok().lacks("halted");
    }
    stage.andon(&["status"]).ok().says("7 -> 4 -> 2 failing").says("2 of 11 failing");
    assert_eq!(stage.record("HEAD")["tests"]["failing"], serde_json::json!(["t1", "t2"]));
}

#[test]
fn a_run_that_cannot_be_read_says_so_and_so_does_the_doctor() {
    let stage = staged("echo two wrong; exit 1\n");
    stage.write("code.txt", "two\n");
    stage
        .andon(&["test"])
        .exits(1)
        .says("warning[test-run]: no test report was recognised in the output")
        .says("reports = [")
        .says("format = \"exit\"");
    stage.andon(&["doctor"]).says("warn  test-run: no test is named in the last run of `sh run.sh`");
    // One that passes without naming a test proves nothing, and says what to add.
    stage.write("run.sh", "echo all good\n");
    for _ in 0..2 {
        stage
            .andon(&["test"])
            .ok()
            .says("no test is named in the output of `sh run.sh`; the run does not count as passed")
            .says("if its exit code is all there is to know, add to andon.toml:  [test]  format = \"exit\"");
    }
    stage
        .git(&["commit", "-qam", "two"])
        .exits(1)
        .says("the test command ran on this code and named no test");
    // Where the exit code is all that is asked for, there is nothing to say.
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh run.sh\"\nformat = \"exit\"\n[paths]\ndocs = []\nignore = [\"run.sh\"]\n",
    );
    stage.write("run.sh", "echo two wrong; exit 1\n");
    stage.andon(&["test"]).exits(1).lacks("no test report was recognised");
    stage.andon(&["doctor"]).lacks("test-run");
    stage.write("run.sh", "echo all good\n");
    stage.andon(&["test"]).ok().lacks("test-run");
    stage.git(&["commit", "-qam", "two"]).ok();
    // What the tool says of itself counts all the same.
    stage.write("run.sh", "echo \"make: 'test' is up to date.\"\n");
    stage.write("code.txt", "three\n");
    stage.andon(&["test"]).ok().says("not one test ran");
    // Without the line its last pass counts once more, so that nobody is locked out, and not from then on.
    let undeclared = "[test]\ncommand = \"sh run.sh\"\n[paths]\ndocs = []\nignore = [\"run.sh\"]\n";
    stage.write("andon.toml", undeclared);
    stage.write("run.sh", "echo all good\n");
    stage.andon(&["test"]).ok().says("its exit code counts once more, as before").says("format = \"exit\"");
    stage.andon(&["doctor"]).says("warn  test-run: no test is named in the last run of `sh run.sh`");
    stage.git(&["commit", "-qam", "three"]).ok();
    stage.write("code.txt", "four\n");
    stage.andon(&["test"]).ok().says("the run does not count as passed");
    stage.git(&["commit", "-qam", "four"]).exits(1);
}

#[test]
fn a_scope_declares_that_its_exit_code_is_all() {
    let stage = Stage::installed();
    let scope = |more: &str| {
        format!(
            "[test]\ncommand = \"sh check.sh\"\n[test.scopes.core]\npaths = [\"core/**\"]\ncommand = \"echo checked\"\n{more}"
        )
    };
    stage.write("core/a.c", "1\n");
    stage.write("andon.toml", scope(""));
    stage
        .andon(&["test", "core"])
        .ok()
        .says("scope core: no test is named in the output of `echo checked`")
        .says("add to andon.toml:  [test.scopes.core]  format = \"exit\"");
    stage.write("andon.toml", scope("format = \"exit\"\n"));
    stage.andon(&["test", "core"]).ok().lacks("no test is named");
}

#[test]
fn unread_failures_halt_only_where_the_same_was_printed() {
    let stage = staged("exit 1\n");
    for (at, wrong) in ["seven", "four", "two", "three", "one"].into_iter().enumerate() {
        let out =
            attempt(&stage, &format!("{at}\n"), &format!("echo {wrong} wrong in 0.{at}s; exit 1\n")).ok();
        out.lacks("refused: halted");
    }
    let stage = staged("exit 1\n");
    let mut last = None;
    for at in 0..4 {
        last = Some(attempt(&stage, &format!("{at}\n"), &format!("echo two wrong in 0.{at}s; exit 1\n")));
    }
    assert!(last.unwrap().all().contains("halt"), "{}", stage.andon(&["status"]).stdout);
}

#[test]
fn unread_failures_are_the_same_whatever_names_were_drawn_and_moments_printed() {
    let scripts = [
        "echo \"cannot open $(mktemp -u)\"; exit 1\n",
        "echo \"cannot open $(TMPDIR=/var/folders/ab/cd_e/T mktemp -u)\"; exit 1\n",
        "echo \"cannot open $(python3 -c 'import tempfile; print(tempfile.mktemp())')/x\"; exit 1\n",
        "echo \"see /root/.npm/_logs/$(date +%Y-%m-%dT%H_%M_%S)_${AT}Z-debug-0.log\"; exit 1\n",
    ];
    for script in scripts {
        let stage = staged("exit 1\n");
        let at = |at: u32| format!("AT={}\n{script}", 123 + at);
        let halts = (0..4).map(|number| attempt(&stage, &format!("{number}\n"), &at(number))).last();
        assert!(
            halts.unwrap().all().contains("refused: halted"),
            "{script}{}",
            stage.andon(&["status"]).stdout
        );
    }
}

#[test]
fn where_there_is_nothing_to_run_nothing_is_proved() {
    let table = [
        ("exec no-such-program\n", "no-such-program"),
        ("echo \"make: *** No rule to make target 'test'.  Stop.\" >&2; exit 2\n", "No rule to make target"),
        ("echo 'npm error Missing script: \"test\"' >&2; exit 1\n", "Missing script"),
        ("echo 'error: no such command: `nextest`' >&2; exit 101\n", "no such command"),
        ("exit 127\n", "exit code 127"),
    ];
    for (number, (script, said)) in table.into_iter().enumerate() {
        let stage = staged("exit 0\n");
        // One of them as often as failures would halt.
        for at in 0..if number == 0 { 4 } else { 1 } {
            let out = attempt(&stage, &format!("{at}\n"), script);
            out.exits(1).says("the tests of this code could not be started").says(said).lacks("halted");
        }
        stage.andon(&["test"]).says("the tests could not be started, so the run proves nothing").says(said);
        if number == 0 {
            stage.andon(&["doctor"]).says("the last run of the tests could not be started");
        }
    }
}

#[test]
fn a_command_that_cannot_begin_refuses_the_commit_and_counts_as_no_failure() {
    let table = [
        ("sh missing.sh", "missing.sh"),
        (". venv/bin/activate && pytest", "venv/bin/activate"),
        ("cd nosub && make", "nosub"),
        ("git nosuch", "is not a git command"),
        ("python3 missing.py", "missing.py"),
        ("python3 -m unittest nosuchmod", "No module named 'nosuchmod'"),
        ("python3 -m unittest discover -s nosuch", "Start directory is not importable"),
        ("echo 'ERROR: file or directory not found: nosuch' >&2; exit 4", "file or directory not found"),
        ("echo \"Could not find '/p/missing.js'\" >&2; exit 1", "missing.js"),
        ("echo 'Error: no test specified'; exit 1", "no test specified"),
        ("echo \"docker: 'compose' is not a docker command.\" >&2; exit 1", "compose"),
    ];
    for (command, said) in table {
        let stage = Stage::installed();
        let command = toml::Value::from(command);
        stage.write("andon.toml", format!("[test]\ncommand = {command}\n[paths]\ndocs = []\n"));
        stage.write("code.txt", "two\n");
        stage.andon(&["test"]).says("the tests could not be started, so the run proves nothing").says(said);
        let out = stage.git(&["commit", "-qam", "two"]).exits(1);
        out.says("the tests of this code could not be started").says(said);
        stage.andon(&["doctor"]).says("the last run of the tests could not be started").says(said);
    }
}

#[test]
fn a_failing_test_that_prints_the_same_stays_a_failure() {
    let scripts = [
        "echo 'sh: 0: cannot open x.sh' >&2; echo 'FAIL: adds'; exit 2\n",
        "echo 'FAIL: adds'; sh missing.sh; exit 1\n",
        "echo 'Error: no test specified'; echo 'adds: 3 is not 4'; exit 1\n",
        "echo 1..1; echo 'not ok 1 - adds'; sh missing.sh\n",
    ];
    for script in scripts {
        let stage = staged("exit 0\n");
        attempt(&stage, "two\n", script).ok().lacks("could not be started");
        assert_eq!(stage.record("HEAD")["tests"]["validity"], Value::Null, "{script}");
    }
    let stage = staged("exit 1\n");
    let halts = (0..4).map(|at| attempt(&stage, &format!("{at}\n"), scripts[0])).last();
    assert!(halts.unwrap().all().contains("halt"), "{}", stage.andon(&["status"]).stdout);
}

#[test]
fn the_doctor_looks_for_the_program_of_the_test_command() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"no-such-runner -q\"\n");
    let out = stage.andon(&["doctor"]).exits(1);
    out.says("`no-such-runner -q` cannot be started: no-such-runner is not found");
    stage.write(".venv/bin/no-such-runner", "");
    stage.andon(&["doctor"]).exits(1).says("command = \".venv/bin/no-such-runner -q\"");
    stage.write("andon.toml", "[test]\ncommand = \".venv/bin/no-such-runner -q\"\n");
    stage.andon(&["doctor"]).lacks("cannot be started");
    let table = [
        ("exec ./missing.sh", "./missing.sh is not found"),
        ("env FOO=1 no-such-program", "no-such-program is not found"),
        ("time no-such-program", "no-such-program is not found"),
        ("nice -n 5 no-such-program", "no-such-program is not found"),
        ("FOO=1 exec no-such-program", "no-such-program is not found"),
        ("sh missing.sh", "missing.sh is not found"),
        ("cd nosub && make", "nosub is not found"),
        (". nosub/activate && make", "nosub/activate is not found"),
    ];
    for (command, said) in table {
        stage.write("andon.toml", format!("[test]\ncommand = \"{command}\"\n"));
        stage.andon(&["doctor"]).exits(1).says(&format!("`{command}` cannot be started: {said}"));
    }
    stage.write("noexec.sh", "exit 0\n");
    stage.write("andon.toml", "[test]\ncommand = \"./noexec.sh\"\n");
    let doctor = stage.andon(&["doctor"]);
    if cfg!(unix) {
        doctor.exits(1).says("./noexec.sh is not executable").says("chmod +x ./noexec.sh");
    }
}

#[test]
fn a_pass_whose_text_names_failures_warns() {
    let stage = staged("echo '2 of them failed: a, b'; echo 'FAILED tests/a'; echo over\n");
    stage.write("code.txt", "two\n");
    stage
        .andon(&["test"])
        .ok()
        .says("no test is named in the output of `sh run.sh`, which names failures: FAILED tests/a");
}

#[test]
fn arguments_run_a_part_and_json_stands_alone() {
    let stage = staged("echo 1..1; echo \"ok 1 - $*\"\n");
    stage.write("code.txt", "two\n");
    let part = stage.andon(&["test", "-k", "some name"]).ok();
    part.lacks("--format json")
        .says("ok 1 - -k some name")
        .says("this was a part of the tests; the run is kept, and proves nothing");
    stage.git(&["commit", "-qam", "Two"]).refused().says("`sh run.sh -k 'some name'` instead of `sh run.sh`");
    let out = stage.andon(&["test", "-k", "x", "--format", "json"]).ok().says("ok 1 - -k x --format json");
    let out = out.says("note[test-run]: --format json went to the tests");
    out.says("andon test --format json ARG...");
    stage.andon(&["test", "--format", "json", "-k", "x"]).ok().json();
    let out = stage.andon(&["test", "--help"]).ok();
    out.says("Options of Andon come before the first ARG: andon test --format json -k NAME");
    let whole = stage.andon(&["test", "--format", "json"]).ok();
    assert!(whole.stderr.contains("ok 1 - "), "{whole}");
    let value = whole.json();
    assert_eq!((&value["schema"], &value["validity"]), (&"andon/test_run@1".into(), &"valid".into()));
    assert_eq!((value["exit_code"].as_u64(), value["tests"]["passed"].as_u64()), (Some(0), Some(1)));
    stage.git(&["commit", "-qam", "Two"]).ok();
    stage.andon(&["test", "sh", "run.sh"]).exits(2).says("andon test -- sh run.sh");
}
