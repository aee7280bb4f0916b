//! Work that looks like a loop and is none goes on; a loop is halted with the file named; a halt that was wrong is kept
//! as one; tests that vanish on a green suite are reported.

use crate::support::{Out, Stage};

/// Commits what is there after `count` green tests.
fn tested(stage: &Stage, count: usize, message: &str) -> Out {
    let lines: Vec<String> = (1..=count).map(|test| format!("ok t{test}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    stage.tests(&lines);
    stage.steps("git add -A; andon test");
    stage.git(&["commit", "-qm", message])
}

#[test]
fn a_status_that_is_toggled_beside_real_work_halts_nothing() {
    let stage = Stage::installed();
    for number in 1..=14_usize {
        stage.write("status.toml", format!("last = \"{}\"\n", if number % 2 == 0 { "a" } else { "b" }));
        stage.write("work.rs", format!("fn work() -> usize {{ {number} }}\n").repeat(number));
        let out = tested(&stage, 2 + number / 2, &format!("Add step {number}")).ok().lacks("halted");
        out.lacks("goes back and forth");
    }
}

#[test]
fn the_same_line_for_one_feature_after_the_other_halts_nothing() {
    let stage = Stage::installed();
    let features = |passing: usize| -> String {
        let one = |at: usize| format!("{{ \"name\": \"f{at}\",\n  \"passes\": {} }}\n", at < passing);
        (0..6).map(one).collect()
    };
    stage.write("features.json", features(0));
    tested(&stage, 2, "List the features").ok();
    for passing in 1..=6 {
        stage.write("features.json", features(passing));
        tested(&stage, 2, &format!("Feature {passing} works")).ok().lacks("halted");
    }
}

#[test]
fn a_file_that_goes_round_is_named_wherever_the_halt_is_shown() {
    let stage = Stage::installed();
    let halted = (1..=5_usize).map(|number| {
        stage.write("flip.rs", if number % 2 == 0 { "fn a() {}\n" } else { "fn b() {}\n" });
        tested(&stage, 2, "Work")
    });
    let said =
        halted.map(|out| out.all()).find(|said| said.contains("oscillation")).expect("it never halted");
    assert!(said.contains("in flip.rs"), "{said}");
    let checkpoint = stage.read(".andon/CHECKPOINT.md");
    assert!(checkpoint.contains("flip.rs"), "{checkpoint}");
}

#[test]
fn a_halt_that_was_mistaken_is_kept_and_counted_by_rule() {
    let stage = Stage::installed();
    let empty = || stage.git(&["commit", "-q", "--allow-empty", "-m", "Wait"]).all();
    assert!((0..4).any(|_| empty().contains("unchanged-diff")), "it never halted");
    stage.andon(&["resume", "--mistaken", "--reason", "markers"]).ok().says("as mistaken");
    let counts = stage.andon(&["status", "--rules", "--format", "json"]).ok();
    let counts = counts.json();
    let rule =
        counts["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == "unchanged-diff").unwrap();
    assert_eq!((rule["halts"].as_u64(), rule["mistaken"].as_u64()), (Some(1), Some(1)), "{counts}");
    stage.andon(&["status", "--rules"]).ok().says("unchanged-diff");
    stage.andon(&["resume", "--mistaken", "--reason", "again"]).exits(1).says("nothing to resume");
    let calibrated = stage.andon(&["calibrate", "--alpha", "0.9", "--format", "json"]);
    let calibrated = calibrated.json();
    assert_eq!((calibrated["mistaken"].as_u64(), calibrated["left_out"].as_u64()), (Some(1), Some(0)));
    stage.andon(&["check", "--calibration=0.9", "HEAD"]).exits(1).says("do not hold the promise of 90.00 %");
    stage.andon(&["check", "--calibration"]).exits(3).says("takes 99 good runs, and these are 1");
}

const SUITE: &str = "def test_NAME():\n    assert NAME(1) == 1\n    assert NAME(2) == 2\n\n";

fn suite(names: &[&str]) -> String {
    names.iter().map(|name| SUITE.replace("NAME", name)).collect()
}

#[test]
fn tests_that_vanish_on_a_green_suite_are_told_at_the_commit_and_against_the_base() {
    let stage = Stage::installed();
    stage.write("test_a.py", suite(&["add", "sub", "mul", "div"]));
    tested(&stage, 4, "Test all four").ok();
    let base = stage.head();
    stage.write("test_a.py", suite(&["add", "sub", "mul"]));
    let out = tested(&stage, 3, "Remove unreachable code").ok();
    out.says("1 test removed (test_div); the tests that ran went 4 -> 3");
    stage.write("test_a.py", suite(&["add", "sub"]));
    tested(&stage, 2, "Remove more").ok().says("1 test removed (test_mul)");
    let range = format!("{base}..HEAD");
    stage.andon(&["check", &range]).says("against the base: 2 tests removed (test_mul, test_div)");
    stage.write("test_b.py", suite(&["sub"]));
    stage.write("test_a.py", suite(&["add"]));
    tested(&stage, 2, "Split the tests").ok().lacks("test-weakening");
    stage.write("test_b.py", "");
    tested(&stage, 1, "Sub is gone\n\nTests-Removed: nobody subtracts").ok().lacks("warning[test-weakening]");
    assert_eq!(stage.record("HEAD")["weakening"]["waiver"], "nobody subtracts");
}

#[test]
fn calibration_promises_only_what_the_runs_bear_out() {
    let stage = Stage::installed();
    let dir = stage.root().join("good");
    std::fs::create_dir_all(&dir).unwrap();
    for run in 0..30 {
        let call = |at: usize| {
            let (args, times) =
                (format!("{{\"command\":\"make {run}-{at}\"}}"), if run == 0 && at == 0 { 4 } else { 1 });
            format!("{{\"type\":\"tool_call\",\"tool\":\"Bash\",\"args\":{args},\"result\":\"r{at}\"}}\n")
                .repeat(times)
        };
        std::fs::write(dir.join(format!("{run}.jsonl")), (0..6).map(call).collect::<String>()).unwrap();
    }
    let good = dir.to_str().unwrap();
    stage.andon(&["calibrate", "--good", good, "--alpha", "0.01"]).exits(1).says("needs 99 good runs");
    let svg = stage.root().join("curve.svg");
    let curve = svg.to_str().unwrap();
    let found = stage.andon(&["calibrate", "--good", good, "--alpha", "0.05", "--svg", curve]).ok();
    found.says("For andon.toml").says("tool-loop = {");
    assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg "));
    stage.andon(&["calibrate", "--alpha", "2"]).exits(2);
}
