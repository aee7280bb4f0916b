//! `--jobs`: scopes that do not need each other run at once.

use super::{CONFIG, commit, packages, ran};
use crate::support::{Stage, image::built};

/// Waits until the tests of another scope have begun, too: alone it would fail.
const MEET: &str = r#"touch "$SCOPE_LOG.$1"
for n in $(seq 200); do
  [ -e "$SCOPE_LOG.$2" ] && { echo "ok 1 - met"; echo "1..1"; echo "$1 says so" >&2; exit 0; }
  sleep 0.05
done
echo "not ok 1 - met"; echo "1..1"; exit 1
"#;

fn meeting() -> Stage {
    built!({
        let stage = packages();
        stage.write("meet.sh", MEET);
        let config = CONFIG
            .replace("sh run.sh core core", "sh meet.sh core web")
            .replace("sh run.sh web web", "sh meet.sh web core");
        stage.write("andon.toml", &config);
        stage
    })
}

#[test]
fn scopes_run_at_once_and_each_is_shown_by_itself() {
    let stage = meeting();
    let out = stage.andon(&["test", "--jobs", "2", "core", "web", "cli"]).ok();
    let shown = out.stderr;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text:?} is not in {shown}"));
    assert!(at("[2/3] scope web") < at("scope core printed:"), "{shown}");
    assert!(at("[3/3] scope cli") > at("scope core printed:"), "cli needs core: {shown}");
    for scope in ["core", "web"] {
        assert!(at(&format!("scope {scope} printed:")) < at(&format!("{scope} says so")), "{shown}");
    }
    assert!(shown.contains("passed: "), "{shown}");
    assert_eq!(out.stdout.matches("ok 1 - met").count(), 2);
    assert_eq!(ran(&stage), ["cli"]);
    // Everything is proven but the code in no scope, which changed.
    let dry = stage.andon(&["test", "--dry-run"]).ok();
    insta::assert_snapshot!(dry.stdout, @r"
    would run all tests: sh run.sh all core cli web
    left out scope core: its tests passed on this code
    left out scope web: its tests passed on this code
    left out scope cli: its tests passed on this code
    ");
}

#[test]
fn the_worst_code_and_each_result_are_kept() {
    let stage = packages();
    for scope in ["core", "cli", "web"] {
        stage.write(&format!("{scope}/a.py"), if scope == "web" { "bad\n" } else { "2\n" });
    }
    stage.andon(&["test", "--jobs", "8"]).exits(1).says("failed: web");
    let mut all = ran(&stage);
    all.sort();
    assert_eq!(all, ["cli", "core", "web"]);
    commit(&stage, "Red").ok();
    let tests = &stage.record("HEAD")["tests"];
    assert_eq!(tests["status"], "failed");
    assert_eq!(tests["failing"], serde_json::json!(["web/a.py"]));
    for (scope, status) in [("core", "passed"), ("cli", "passed"), ("web", "failed")] {
        assert_eq!(tests["scopes"][scope]["status"], status, "{scope}");
    }
}

#[test]
fn those_with_the_same_report_files_wait_for_each_other() {
    let stage = meeting();
    let config = stage.read("andon.toml").replacen("[test]\n", "[test]\nreports = [\"report.xml\"]\n", 1);
    std::fs::write(stage.path("andon.toml"), config).unwrap();
    std::fs::write(stage.path("meet.sh"), MEET.replace("seq 200", "seq 4")).unwrap();
    stage.andon(&["test", "--jobs", "2", "core", "web"]).exits(1).says("failed: core");
}

#[test]
fn a_signal_ends_all_that_run() {
    let stage = packages();
    let config = CONFIG
        .replace("sh run.sh core core", "sleep 60; touch ../went-on")
        .replace("sh run.sh web web", "sleep 0.5; kill -TERM $PPID; sleep 60; touch ../went-on");
    stage.write("andon.toml", &config);
    let before = std::time::Instant::now();
    stage.andon(&["test", "--jobs", "3", "core", "web", "cli"]).exits(143).says("the tests were stopped");
    assert!(before.elapsed().as_secs() < 30, "both were ended");
    assert!(!stage.root().join("went-on").exists());
    assert!(ran(&stage).is_empty(), "nothing begins after it");
}
