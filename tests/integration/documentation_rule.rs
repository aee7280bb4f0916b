//! `docs-not-updated`: documentation goes with the declared API.

use crate::support::Stage;

#[test]
fn documentation_goes_with_the_declared_api() {
    let stage = Stage::installed();
    let configure = |level: &str| {
        stage.write(
            "andon.toml",
            format!("[test]\ncommand = \"sh check.sh\"\n[paths]\napi = [\"src/api/**\"]\n[rules]\ndocs-not-updated = \"{level}\"\n"),
        );
    };
    configure("off");
    stage.git(&["commit", "-qam", "Declare the API"]).ok();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage.git(&["remote", "add", "origin", "../remote.git"]).ok();
    stage.write("src/api/a.rs", "pub fn a() {}\n");
    stage.andon(&["test"]).ok();
    stage.git(&["add", "."]).ok();
    // Uncommitted work counts, and the rule being off does not: the task is not done.
    stage.andon(&["complete"]).exits(1).says("docs updated   no").says("documentation");
    stage.git(&["commit", "-qm", "Add to the API"]).ok().lacks("docs-not-updated");
    let out = stage.andon(&["complete", "--format", "json"]).exits(1);
    let value: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(value["dirty_bits"]["docs_updated"], false);
    assert_eq!(value["dirty_bits"]["tests_passing"], true);
    assert!(value["prompt"].as_str().unwrap().contains("documentation"));
    configure("block");
    stage
        .git(&["push", "-q", "origin", "main"])
        .refused()
        .says("error[docs-not-updated]")
        .says("src/api/a.rs");
    stage.git(&["stash", "-q"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).lacks("docs-not-updated");
    stage.git(&["stash", "pop", "-q"]).ok();
    stage.write("src/api/a.rs", "pub fn a(x: u8) {}\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Change the API"]).refused().says("error[docs-not-updated]");
    stage.write("docs/api.md", "# a\n");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Change the API"]).ok();
    stage.andon(&["complete"]).ok().says("docs updated   yes");
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.write("src/api/b.rs", "pub fn b() {}\n");
    stage.andon(&["test"]).ok();
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qnm", "Go around"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("docs-not-updated").says("src/api/b.rs");
}
