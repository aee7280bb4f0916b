//! `andon calibrate` over files: what it reads as a good run, what it writes, and how it ends.

use crate::{events::observe, support::Stage};

/// One turn, of a node of its own: the same content twice would be one run.
fn turn(number: usize) -> String {
    format!("{{\"type\":\"turn_start\",\"node\":\"n{number}\"}}\n")
}

/// A folder of `count` runs beside the working tree.
fn good(stage: &Stage, count: usize) -> String {
    let dir = stage.root().join("good");
    std::fs::create_dir_all(&dir).unwrap();
    for run in 0..count {
        std::fs::write(dir.join(format!("{run}.jsonl")), turn(run)).unwrap();
    }
    dir.to_str().unwrap().to_owned()
}

#[test]
fn the_curve_goes_into_a_file_of_a_bare_name_and_a_folder_that_is_missing_is_a_mistake_of_use() {
    let stage = Stage::installed();
    let good = good(&stage, 20);
    let at = |svg| stage.andon(&["calibrate", "--good", &good, "--alpha", "0.05", "--svg", svg]);
    at("curve.svg").ok().says("is halted with a chance of 5.00 % at most (20 runs)");
    assert!(stage.read("curve.svg").starts_with("<svg "));
    let out = at("none/curve.svg").exits(2).says("is halted with a chance of 5.00 % at most (20 runs)");
    out.says("cannot write").says("mkdir -p").lacks("mkdir -p ''");
    assert!(!stage.exists("none"));
    if cfg!(target_os = "linux") {
        at("/proc/curve.svg").exits(2).says("cannot write").lacks("mkdir");
    }
}

#[test]
fn files_without_an_event_are_no_good_runs() {
    let stage = Stage::installed();
    let good = good(&stage, 20);
    for number in 0..10 {
        std::fs::write(format!("{good}/empty{number}"), "").unwrap();
        std::fs::write(format!("{good}/text{number}.txt"), "not json\n").unwrap();
        std::fs::write(format!("{good}/bin{number}"), [0_u8, 159, 10, 146, 150, 10, 255].repeat(70)).unwrap();
    }
    std::fs::write(format!("{good}/partly"), format!("{}not json\n", turn(99))).unwrap();
    let all =
        |format| stage.andon(&["calibrate", "--good", &good, "--alpha", "0.05", "--format", format]).ok();
    let out = all("text").says("(21 runs)").says("files without an event, not counted: 30");
    let out = out.says("empty0 has no event and is not counted");
    let out = out.says("text9.txt has no event and is not counted").says("line 1");
    out.says("partly has a line that is no event");
    let found = all("json").json();
    assert_eq!((found["runs"].as_u64(), found["skipped_files"].as_u64()), (Some(21), Some(30)));
    for name in ["empty1", "text1.txt", "bin1"] {
        let file = format!("{good}/{name}");
        let said = stage.andon(&["calibrate", "--events", &file, "--alpha", "0.5"]).exits(2);
        said.says(&format!("{file} has no event")).lacks("is halted with a chance");
    }
    let said = stage.andon(&["calibrate", "--events", &format!("{good}/text1.txt"), "--alpha", "0.5"]);
    said.exits(2).says("line 1: no fact");
    stage.andon(&["calibrate", "--events", &format!("{good}/none")]).exits(2).says("good/none");
}

/// `mistaken`, `left_out`, and the halted runs at the counts as configured.
fn said(stage: &Stage) -> (u64, u64, u64) {
    let found = stage.andon(&["calibrate", "HEAD", "--alpha", "0.9", "--format", "json"]);
    let found = found.json();
    let as_configured =
        found["curve"].as_array().unwrap().iter().find(|step| step["factor"] == "1.00").unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    (number(&found["mistaken"]), number(&found["left_out"]), number(&as_configured["halted"]))
}

/// Calls `make` until that is halted.
fn stuck(stage: &Stage) {
    const CALL: &str = "{\"type\":\"tool_call\",\"tool\":\"Bash\",\"args\":{\"command\":\"make\"},\"result\":\"error: x\",\"error\":true}";
    for _ in 0..5 {
        observe(stage, "event", CALL);
    }
    assert!(stage.exists(".andon/CHECKPOINT.md") || stage.exists(".andon/BLOCKER_REPORT.md"), "no halt");
}

#[test]
fn what_was_said_of_a_halt_survives_an_amend_and_a_rebase() {
    let stage = Stage::installed();
    stage.iterate("fn a() {}\n", &["ok one"], "First").ok();
    stage.iterate("fn b() {}\n", &["ok one"], "Second").ok();
    stuck(&stage);
    stage.andon(&["resume", "--mistaken", "--reason", "make was rightly repeated"]).ok();
    assert_eq!(said(&stage), (1, 0, 1));
    stage.pass(60);
    stage.git(&["commit", "-q", "--amend", "-m", "Second, reworded"]).ok();
    assert_eq!(said(&stage), (1, 0, 1), "after a new message");
    stage.add("b.rs", "fn c() {}\n");
    stage.steps("andon test; git commit -q --amend --no-edit");
    assert_eq!(said(&stage), (1, 0, 1), "after other content");
    stage.steps("git commit -q --allow-empty -m Third; git rebase -q --force-rebase --root");
    assert_eq!(said(&stage), (1, 0, 1), "after a rebase");
}

#[test]
fn a_run_whose_halt_nobody_called_mistaken_stays_left_out_when_it_is_amended() {
    let stage = Stage::installed();
    stage.iterate("fn a() {}\n", &["ok one"], "First").ok();
    stuck(&stage);
    stage.andon(&["resume", "--reason", "really stuck"]).ok();
    assert_eq!(said(&stage), (0, 1, 0));
    let told = stage.andon(&["calibrate", "--alpha", "0.9"]).exits(1);
    told.says("runs left out, halted and not marked: 1");
    stage.pass(60);
    stage.git(&["commit", "-q", "--amend", "-m", "First, reworded"]).ok();
    assert_eq!(said(&stage), (0, 1, 0));
}
