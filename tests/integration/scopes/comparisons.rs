//! What only earlier runs can tell, scope by scope: lost tests, fewer tests, flaky ones.

use super::{commit, packages};
use crate::support::Stage;

/// Two more tests of web, and what is known of them.
fn more_of_web(stage: &Stage) {
    for name in ["b", "c"] {
        stage.write(&format!("web/{name}.py"), "1\n");
    }
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test"]).ok();
    commit(stage, "More tests").ok();
}

#[test]
fn tests_that_a_scope_loses_are_recorded() {
    let stage = packages();
    more_of_web(&stage);
    stage.write("core/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Core").ok();
    assert!(stage.record("HEAD")["tests"]["lost"].is_null(), "other scopes lose nothing");
    stage.git(&["rm", "-q", "web/b.py", "web/c.py"]).ok();
    stage.write("web/a.py", "2\n");
    stage.andon(&["test"]).ok();
    commit(&stage, "Fewer").ok();
    assert_eq!(stage.record("HEAD")["tests"]["lost"]["gone"], serde_json::json!(["web/b.py", "web/c.py"]));
}

#[test]
fn a_test_that_moves_to_another_scope_is_not_lost() {
    let stage = packages();
    // The names of the tests are those of the files, without the directory.
    let run = stage.read("run.sh").replace("ok $n - $file", "ok $n - $(basename $file)");
    stage.write("run.sh", &run);
    stage.tested_commit("-qam", "Short names");
    more_of_web(&stage);
    stage.git(&["mv", "web/b.py", "core/b.py"]).ok();
    stage.andon(&["test"]).ok();
    commit(&stage, "Move").ok();
    assert_eq!(stage.record("HEAD")["tests"]["lost"], serde_json::Value::Null);
}

#[test]
fn fewer_tests_on_the_same_code_are_a_part_of_them() {
    let stage = packages();
    more_of_web(&stage);
    let config = stage.read("andon.toml").replacen("[test]\n", "[test]\nfull = true\n", 1);
    let part = config.replace("sh run.sh web web", "sh run.sh web $(cat ../dirs)");
    std::fs::write(stage.path("andon.toml"), part).unwrap();
    std::fs::write(stage.root().join("dirs"), "web").unwrap();
    stage.andon(&["test", "--all"]).ok();
    stage.andon(&["test", "web"]).ok();
    std::fs::write(stage.root().join("dirs"), "web/a.py").unwrap();
    stage.andon(&["test", "web"]).says("scope web: 1 of 3 tests ran that the last full run had");
}

#[test]
fn a_test_of_a_scope_that_gives_both_results_on_its_code_is_flaky() {
    let stage = packages();
    let config = stage.read("andon.toml").replace("sh run.sh web web", "cat ../result; exit $(cat ../code)");
    std::fs::write(stage.path("andon.toml"), config).unwrap();
    let result = |result: &str, code: &str| {
        std::fs::write(stage.root().join("result"), result).unwrap();
        std::fs::write(stage.root().join("code"), code).unwrap();
    };
    result("1..1\nnot ok 1 - shaky\n", "1");
    stage.andon(&["test", "web"]).exits(1);
    // Something else changes meanwhile: the code of the scope is the same.
    stage.write("cli/a.py", "2\n");
    result("1..1\nok 1 - shaky\n", "0");
    stage
        .andon(&["test", "web"])
        .ok()
        .says("scope web: flaky: the same code gave other results before for shaky");
}

#[test]
fn a_run_of_everything_has_no_counts_of_scopes_to_compare() {
    let stage = packages();
    more_of_web(&stage);
    stage.git(&["rm", "-q", "web/b.py", "web/c.py"]).ok();
    // As it was when everything was tested at once.
    stage.andon(&["test"]).ok().says("left out scope web");
    commit(&stage, "Back").ok();
    let findings = stage.record("HEAD")["findings"].to_string();
    assert!(!findings.contains("test-weakening"), "{findings}");
}
