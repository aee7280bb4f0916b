//! `andon explain`: what it shows of real reports, and that it agrees with what is recorded.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Out, Stage};

fn junit(directory: &str, line: u32, got: u32) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"pytest\" tests=\"2\" failures=\"1\">\
         <testcase classname=\"tests.test_a\" name=\"test_sum\" time=\"0.0{line}\"><failure message=\"AssertionError: \
         {directory}/a.py:{line}: got {got} in 0.{line}s\">x</failure></testcase>\
         <testcase classname=\"tests.test_a\" name=\"test_ok\"/></testsuite></testsuites>\n"
    )
}

fn json(out: &Out) -> Vec<Value> {
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_report_is_explained_step_by_step() {
    let stage = Stage::bare_ground();
    stage.write("a.xml", junit("/ci/build/7", 3, 41));
    let out = stage.andon(&["explain", "--root", "/ci/build/7", "a.xml"]).exits(0);
    for words in [
        "read as    junit",
        "status     failed: 1 of 2 failing",
        "counts     2 total, 1 passed, 1 failed, 0 errored, 0 skipped",
        "tests.test_a::test_sum",
        "root: the project may lie in any directory",
        "+ AssertionError: a.py:3: got 41 in 0.3s",
        "= AssertionError: a.py:<pos>: got 41 in <duration>",
    ] {
        assert!(out.stdout.contains(words), "{words}\n{out}");
    }
}

#[test]
fn a_rule_is_explained_with_the_excuses_that_it_honours() {
    let stage = Stage::bare_ground();
    let out = stage.andon(&["explain", "undo-churn", "user-stop"]).exits(0);
    let (churn, stop) = out.stdout.split_once("\nuser-stop\n").unwrap();
    for words in
        ["Half of the changed hunks", "- a step of a release: ", "- a program that commits by the clock: "]
    {
        assert!(churn.to_lowercase().contains(&words.to_lowercase()), "{words}\n{out}");
    }
    assert!(!churn.contains("a build to start") && stop.trim_end().ends_with("excuses\n  none"), "{out}");
    let read = json(&stage.andon(&["explain", "unchanged-diff", "--format", "json"]).exits(0));
    assert_eq!((&read[0]["schema"], &read[0]["rule"]), (&"andon/rule@1".into(), &"unchanged-diff".into()));
    let names: Vec<_> = read[0]["excuses"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert!(
        names.contains(&&"a build to start".into()) && names.contains(&&"a chore of a program".into()),
        "{names:?}"
    );
    // A file of that name is a report.
    stage.write("undo-churn", junit("/ci/build/7", 3, 41));
    assert!(stage.andon(&["explain", "undo-churn"]).exits(0).stdout.contains("read as"));
}

#[test]
fn the_same_failure_elsewhere_is_the_same_and_another_value_is_not() {
    let stage = Stage::new();
    stage.write("one.xml", junit("/ci/build/7", 3, 41));
    stage.write("two.xml", junit("/home/ann/p", 9, 41));
    stage.write("three.xml", junit("/home/ann/p", 9, 43));
    let same = ["explain", "one.xml", "two.xml", "--root", "/ci/build/7", "--root", "/home/ann/p"];
    assert_snapshot!(stage.andon(&same).shown());
    let other = ["explain", "two.xml", "three.xml", "--root", "/home/ann/p"];
    assert_snapshot!(stage.andon(&other).shown());
    let read = json(&stage.andon(&[&other[..], &["--format", "json"]].concat()));
    assert_eq!(read[0]["signature"], read[1]["signature"]);
    assert_ne!(read[0]["errors"], read[1]["errors"]);
    assert_eq!(read[0]["coarse"], read[1]["coarse"]);
}

#[test]
fn json_has_the_same_keys_for_every_file_and_ends_with_2_for_what_cannot_be_read() {
    let stage = Stage::bare_ground();
    stage.write("a.xml", junit("/p", 3, 41));
    stage.write("b.txt", "hello\n");
    let out = stage.andon(&["explain", "--format", "json", "a.xml", "b.txt", "gone"]).exits(2);
    assert!(out.stderr.contains("error[unknown-format]: b.txt: not a test report"), "{out}");
    assert!(out.stderr.contains("error[unreadable]: gone: cannot be read: No such file"), "{out}");
    let read = json(&out);
    let names = ["unknown-format", "unreadable"];
    assert_eq!(read.len(), 3);
    for key in "format status total passed failed errored skipped failing signature errors".split(' ') {
        assert!(!read[0][key].is_null() && read[1][key].is_null() && read[2][key].is_null(), "{key}: {out}");
    }
    assert_eq!([&read[1]["error"]["name"], &read[2]["error"]["name"]], names);
    assert_eq!(read[0]["error"], Value::Null);
}

#[test]
fn signatures_are_those_of_the_records() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"cat out.tap; exit 1\"\n[normalize]\nbuild = 'build [0-9]+'\n",
    );
    let tap = "1..2\nok 1 - a\nnot ok 2 - b\n# build 77 took 5ms\n";
    stage.write("out.tap", tap);
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test"]).exits(1);
    stage.git(&["commit", "-qm", "Try"]).ok();
    let recorded = &stage.record("HEAD")["tests"];
    stage.write("out.tap", tap.replace("build 77 took 5ms", "build 78 took 9ms"));
    let read = json(&stage.andon(&["explain", "--format", "json", "--exit-code", "1", "out.tap"]));
    assert_eq!(read[0]["signature"], recorded["signature"], "{read:?} {recorded}");
    assert_eq!(read[0]["errors"], recorded["errors"], "{read:?} {recorded}");
}

#[test]
fn hostile_reports_show_nothing_a_terminal_obeys() {
    let stage = Stage::bare_ground();
    let text = "1..1\nnot ok 1 - \u{9b}2J\u{202e}a\n# \u{9b}31m\u{1b}]0;x\u{7}".to_owned()
        + &"no\n# ".repeat(90_000);
    stage.write("evil.tap", text);
    for format in ["text", "json"] {
        let out = stage.andon(&["explain", "--format", format, "evil.tap"]).exits(0);
        assert!(!out.all().contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}']), "{format}");
        assert!(out.all().len() < 100_000, "{format}: {}", out.all().len());
    }
}
