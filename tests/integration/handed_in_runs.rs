//! Runs of the tests that are handed in: what they prove, and how they are shown.

use crate::support::Stage;

const ONE_FAILS: &str = "<testsuite name='s' tests='2'><testcase classname='s' name='a'/><testcase classname='s' \
                         name='b'><failure message='no'/></testcase></testsuite>";
pub(crate) const ALL_PASS: &str = "<testsuite name='s' tests='2'><testcase classname='s' name='a'/><testcase classname='s' \
                        name='b'/></testsuite>";

fn hand_in(stage: &Stage, report: &str, exit: &str, more: &[&str]) -> crate::support::Out {
    std::fs::write(stage.root().join("r.xml"), report).unwrap();
    let args = [&["observe", "test_run", "--report", "../r.xml", "--exit-code", exit], more].concat();
    stage.andon(&args)
}

#[test]
fn a_handed_in_run_is_kept_and_shown_and_proves_nothing_by_itself() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    hand_in(&stage, ONE_FAILS, "1", &["--command", "sh check.sh"])
        .ok()
        .says("handed-in test run")
        .says("1 of 2 failing")
        .says("proves nothing");
    stage.andon(&["status"]).ok().says("handed in").says("proves nothing");
    stage
        .git(&["commit", "-qam", "Two"])
        .refused()
        .says("error[untested-edit]")
        .says("handed in")
        .says("handed_in = \"count\"");
    stage.andon(&["complete"]).exits(1);
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Two"]).ok();
    assert!(stage.record("HEAD")["tests"].get("handed_in").is_none());
}

#[test]
fn a_handed_in_run_counts_where_the_project_says_so_and_stays_marked() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Let runs be handed in"]).ok().lacks("handed in:");
    stage.write("code.txt", "two\n");
    hand_in(&stage, ONE_FAILS, "1", &[]).ok().says("counts as a run of test.command");
    stage.git(&["commit", "-qam", "Two"]).ok().says("warning[failing-tests]").says("note[handed-in]");
    let record = stage.record("HEAD");
    assert_eq!(record["tests"]["handed_in"], true);
    assert_eq!(record["tests"]["status"], "failed");
    assert_eq!(record["tests"]["failing"], serde_json::json!(["s::b"]));
    stage.andon(&["log"]).ok().says("tests handed in");
    stage.andon(&["show"]).ok().says("(handed in)");
    stage.andon(&["status"]).ok().says("(handed in)");
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("handed-in-tests");
    // The base decides: where it does not let them count, they do not.
    stage.andon(&["check", "HEAD~2..HEAD"]).exits(1).says("untested-code").says("handed in");

    // One that names another command never counts.
    stage.write("code.txt", "three\n");
    hand_in(&stage, ALL_PASS, "0", &["--command", "true"]).ok().says("not of test.command");
    stage.git(&["commit", "-qam", "Three"]).refused().says("another command");
    // Several reports of one run, and an exit code that no case explains.
    std::fs::write(stage.root().join("s.xml"), ALL_PASS).unwrap();
    hand_in(&stage, ALL_PASS, "1", &["--report", "../s.xml", "--format", "json"])
        .ok()
        .says("\"status\":\"runner_error\"")
        .says("\"total\":4");
}

#[test]
fn a_handed_in_run_is_bound_to_the_code_that_it_names() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.write("code.txt", "two\n");
    let status: serde_json::Value =
        serde_json::from_str(&stage.andon(&["status", "--format", "json"]).ok().stdout).unwrap();
    let code = status["code"]["work_tree"].as_str().unwrap().to_owned();
    assert_ne!(status["code"]["head"], status["code"]["work_tree"]);
    // An orchestrator tested a checkout of this code elsewhere, while here the work went on.
    stage.write("code.txt", "three\n");
    hand_in(&stage, ALL_PASS, "0", &["--code", &code]).ok();
    stage.git(&["commit", "-qam", "Three"]).refused().says("other code").lacks("check.sh");
    stage.write("code.txt", "two\n");
    stage.git(&["commit", "-qam", "Two"]).ok().says("note[handed-in]");
    assert_eq!(stage.record("HEAD")["tests"]["code"], code.as_str());
}

#[test]
fn what_is_handed_in_wrongly_is_a_mistake_of_use() {
    let stage = Stage::installed();
    hand_in(&stage, ALL_PASS, "0", &["--code", "abc"]).exits(2).says("not a code fingerprint: abc");
    stage
        .andon(&["observe", "test_run", "--report", "nowhere.xml", "--exit-code", "0"])
        .exits(2)
        .says("nowhere.xml cannot be read");
    stage.andon(&["observe", "test_run"]).exits(2).says("--exit-code");
    let cut = "<testsuite><testcase name='a'>";
    hand_in(&stage, cut, "0", &[]).ok().says("../r.xml").says("the report is incomplete");
    hand_in(&stage, ALL_PASS, "-1", &[]).ok().says("runner failed");
}
