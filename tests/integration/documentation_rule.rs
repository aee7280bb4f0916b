//! `docs-not-updated`: documentation goes with the declared API.

use insta::assert_snapshot;

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
    stage.steps("git commit -qam 'Declare the API'; git init -q --bare ../remote.git");
    stage.steps("git remote add origin ../remote.git");
    stage.write("src/api/a.rs", "pub fn a() {}\n");
    stage.steps("andon test; git add .");
    // Uncommitted work counts, and the rule being off does not: the task is not done.
    assert_snapshot!(stage.andon(&["complete"]).shown());
    stage.git(&["commit", "-qm", "Add to the API"]).ok().lacks("docs-not-updated");
    let out = stage.andon(&["complete", "--format", "json"]).exits(1);
    let value = out.json();
    assert_eq!(value["dirty_bits"]["docs_updated"], false);
    assert_eq!(value["dirty_bits"]["tests_passing"], true);
    assert!(value["prompt"].as_str().unwrap().contains("documentation"));
    // The safety log says what was missing, and only that.
    let log = stage.andon(&["log", "--events", "--format", "json"]).ok().json();
    let told = &log["events"][0];
    assert_eq!(told["type"], "DIRTY_BIT_VIOLATION", "{log}");
    assert_eq!(told["details"]["rule"], "docs-not-updated");
    assert_eq!(told["details"]["docs_updated"], false);
    assert_eq!(
        (&told["details"]["tests_run"], &told["details"]["tests_passing"]),
        (&true.into(), &true.into())
    );
    configure("block");
    assert_snapshot!(stage.git(&["push", "-q", "origin", "main"]).shown(), @"
    exit 1
    --- stderr
    error[docs-not-updated]: push refused: refs/heads/main (HASH): the API changed and no documentation with it: src/api/a.rs
      help: update the documentation that names it, or see which paths count: andon config show paths
    error: failed to push some refs to '../remote.git'
    ");
    stage.git(&["stash", "-q"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).lacks("docs-not-updated");
    stage.git(&["stash", "pop", "-q"]).ok();
    stage.write("src/api/a.rs", "pub fn a(x: u8) {}\n");
    stage.andon(&["test"]).ok();
    assert_snapshot!(stage.git(&["commit", "-qam", "Change the API"]).shown(), @"
    exit 1
    --- stderr
    error[docs-not-updated]: commit refused: the API changed and no documentation with it: src/api/a.rs
      help: update the documentation that names it, or see which paths count: andon config show paths
    ");
    stage.steps("echo # a > docs/api.md; git add .; git commit -qm 'Change the API'");
    assert_snapshot!(stage.andon(&["complete"]).shown());
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.write("src/api/b.rs", "pub fn b() {}\n");
    stage.steps("andon test; git add .; git commit -qnm 'Go around'");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown());
}
