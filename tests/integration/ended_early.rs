//! Runs that were ended before their runner said how they went or that went elsewhere, and reports that are not of the run.

use crate::support::{Out, Stage};

/// A stage with this test command, and these files.
fn stage(command: &str, files: &[(&str, &str)]) -> Stage {
    let stage = Stage::installed();
    let command = toml::Value::from(command);
    stage.write("andon.toml", format!("[test]\ncommand = {command}\n"));
    for (path, text) in files {
        stage.write(path, *text);
    }
    stage.git(&["add", "."]).ok();
    stage
}

fn tested(stage: &Stage) -> Out {
    stage.andon(&["test"])
}

/// How the record tells the last run of the tests.
fn status(stage: &Stage) -> String {
    stage.git(&["commit", "-qm", "Try it", "--no-verify"]);
    let record = stage.record("HEAD");
    record["tests"]["status"].as_str().unwrap_or("none").to_owned()
}

const UNITTEST: &str = "import os, unittest\n\n\nclass T(unittest.TestCase):\n    def test_1(self):\n        pass\n\n    def test_2(self):\n        END\n\n    def test_3(self):\n        pass\n\n\nif __name__ == '__main__':\n    unittest.main()\n";

/// A stand-in that prints what mocha does.
const MOCHA: &str = "#!/bin/sh\necho\necho '  x'\necho '    ✔ a'\nsleep 0.3\n";

#[test]
fn a_test_that_ends_the_process_with_0_is_no_pass() {
    let ended = UNITTEST.replace("END", "os._exit(0)");
    let files = [("test_it.py", ended.as_str()), ("run.sh", "python3 test_it.py\n"), ("stand-in", MOCHA)];
    // Below a script the runner may be gone before it was seen, and its dots come before or after what the script prints.
    let summary = &["never printed its summary"][..];
    let either = &["never printed its summary", "the output ends within the tests"][..];
    let commands = [
        ("python3 -m unittest", summary),
        ("python3 test_it.py", summary),
        ("sh run.sh && echo done", either),
        ("python3 -B -m unittest -v 2>&1 | tee out.log", summary),
        ("sh run.sh 2>&1 | cat", either),
        ("mkdir -p bin; cp stand-in bin/mocha; chmod +x bin/mocha; bin/mocha x", summary),
        ("mkdir -p bin; cp stand-in bin/mocha; chmod +x bin/mocha; bin/mocha x 2>&1 | tail -3", summary),
    ];
    for (command, told) in commands {
        let stage = stage(command, &files);
        stage.write(".gitignore", "__pycache__/\n*.log\nbin/\n");
        let said = tested(&stage).ok().all();
        assert!(told.iter().any(|one| said.contains(one)), "{command}: {said}");
        assert_eq!(status(&stage), "incomplete", "{command}");
    }
}

#[test]
fn whoever_ends_honestly_passes_in_whatever_words() {
    let whole = UNITTEST.replace("END", "pass");
    let quiet = "python3 -m unittest -q > log 2>&1 && echo 3 tests passed\n";
    let own = "echo pytest; echo 'jest is not started here'; echo 2 tests passed\n";
    let files = [
        ("test_it.py", whole.as_str()),
        ("run.sh", "python3 test_it.py && echo linted\n"),
        ("quiet.sh", quiet),
        ("own.sh", own),
    ];
    let commands = [
        "python3 -m unittest",
        "python3 test_it.py",
        "sh run.sh",
        "sh quiet.sh",
        "sh own.sh",
        "python3 -m unittest && sh own.sh",
    ];
    for command in commands {
        let stage = stage(command, &files);
        stage.write(".gitignore", "__pycache__/\nlog\n");
        tested(&stage).ok().lacks("never printed").lacks("no test ran");
        assert_eq!(status(&stage), "passed", "{command}");
    }
}

const GREEN: &str = "<testsuite name='g'><testcase name='a'/></testsuite>\n";
const RED: &str = "<testsuite name='r'><testcase name='b'><failure message='no'/></testcase></testsuite>\n";

fn reporting(script: &str) -> Stage {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\nreports = [\"out/*.xml\"]\n");
    stage.write(".gitignore", "out/\nkept/\n");
    stage.write("run.sh", script);
    stage.write("kept/green.xml", GREEN);
    stage.write("kept/red.xml", RED);
    stage.write("out/red.xml", GREEN.replace("'g'", "'o'"));
    stage.git(&["add", "."]).ok();
    stage
}

#[test]
fn a_red_report_with_an_old_time_stamp_is_of_this_run() {
    for script in [
        "touch -d '2001-01-01' kept/red.xml; cp kept/green.xml out/; cp -p kept/red.xml out/red.xml\n",
        "touch -r out/red.xml kept/red.xml; cp kept/green.xml out/; cp -p kept/red.xml out/red.xml\n",
        "touch -r out/red.xml kept/red.xml; cp kept/green.xml out/; tar cf kept/t.tar -C kept red.xml; tar xf kept/t.tar -C out\n",
        "touch -r out/red.xml kept/red.xml; cp kept/green.xml out/; mv kept/red.xml out/red.xml\n",
    ] {
        let stage = reporting(script);
        tested(&stage).ok().lacks("not written by this run");
        assert_eq!(status(&stage), "failed", "{script}");
    }
    let stage = reporting("cp kept/green.xml out/\n");
    tested(&stage).ok().says("out/red.xml was not written by this run: not read");
}

#[test]
fn a_report_that_comes_after_the_end_is_of_no_run() {
    let late = "(sleep 0.7; cp kept/green.xml out/late.xml; echo written) &\n";
    let stage = reporting(late);
    tested(&stage).ok().says("out/late.xml was written after the test command had ended: not read");
    assert_eq!(status(&stage), "no_tests");
    let waits = "(sleep 0.2; cp kept/green.xml out/late.xml) & wait\n";
    let stage = reporting(waits);
    tested(&stage).ok().lacks("after the test command had ended");
    assert_eq!(status(&stage), "passed");
}

#[test]
fn a_pipe_that_hides_the_end_is_named_with_the_way_out() {
    let whole = UNITTEST.replace("END", "pass");
    let files = [("test_it.py", whole.as_str()), (".gitignore", "__pycache__/\n")];
    for (name, filter) in [("head", "head -1"), ("grep", "grep -v OK"), ("sed", "sed -n 1p")] {
        let stage = stage(&format!("python3 -m unittest 2>&1 | {filter}"), &files);
        let out = tested(&stage).ok().says(&format!("`{name}` hides how the tests ended"));
        out.says("without the pipe").says(&format!("andon test 2>&1 | {name}"));
        assert_eq!(status(&stage), "incomplete", "{filter}");
    }
    let seen = stage("python3 -m unittest 2>&1 | tail -3", &files);
    tested(&seen).ok().lacks("hides how");
    assert_eq!(status(&seen), "passed");
}

#[test]
fn a_program_that_always_ends_with_0_tells_nothing_of_the_tests() {
    let files = [("red.sh", "echo one\nexit 1\n"), ("green.sh", "echo one\n"), (".gitignore", "log\n")];
    for command in
        ["sh red.sh; true", "sh red.sh || echo over", "sh red.sh > log 2>&1; cat log", "sh red.sh | tee log"]
    {
        let stage = stage(command, &files);
        tested(&stage).ok().says("nothing tells how the tests ended").says("the exit code is that of");
        assert_eq!(status(&stage), "incomplete", "{command}");
    }
    for command in [
        "sh green.sh && echo 1 test passed",
        "set -e; sh green.sh; echo 1 test passed",
        "sh green.sh || exit 1; echo 1 test passed",
    ] {
        let stage = stage(command, &files);
        tested(&stage).ok().lacks("nothing tells");
        assert_eq!(status(&stage), "passed", "{command}");
    }
}

#[test]
fn a_red_make_behind_a_pipe_is_red() {
    let makefile = "test:\n\t@echo one; echo two; exit 1\n";
    for command in ["make test 2>&1 | tail -1", "make test | head -5"] {
        let stage = stage(command, &[("Makefile", makefile)]);
        tested(&stage).ok().says("the output ends as that of a run that failed");
        assert_eq!(status(&stage), "runner_error", "{command}");
    }
}

/// Only the processes below the command show where they are.
#[cfg(target_os = "linux")]
#[test]
fn a_script_that_goes_to_another_project_tells_nothing_of_this_one() {
    let suite = "import time\nprint('1..1', flush=True)\ntime.sleep(0.6)\nprint('ok 1 - a')\n";
    for (line, elsewhere) in [
        ("cd ../other && python3 suite.py", true),
        ("cd ../other/deep && python3 ../suite.py", true),
        ("python3 -c 'import time; time.sleep(0.5)' & cd ../other && python3 suite.py; wait", false),
        ("cd ../other && echo 1..1 && read a </dev/null; sh -c 'sleep 0.5; echo ok 1 - a'", true),
        (
            "cd ../other && sleep 1; cd - && sleep 0.5 && python3 -c 'import time; time.sleep(0.05)'; python3 suite.py",
            false,
        ),
        ("cd ../scratch && python3 suite.py", false),
        ("cd deep && python3 ../suite.py", false),
    ] {
        let stage = stage("sh run.sh", &[("suite.py", suite), ("run.sh", line), ("deep/a", "")]);
        let make = "mkdir -p ../other/deep ../scratch; touch ../other/Makefile; cp suite.py ../other; cp suite.py ../scratch";
        stage.run_in(stage.dir(), "sh", &["-c", make], None).ok();
        let out = tested(&stage).ok();
        if elsewhere {
            out.says("tests ran in")
        } else {
            out.lacks("warning")
        };
    }
}
