//! `andon calibrate` over files: what it reads as a good run, what it writes, and how it ends.

use crate::support::Stage;

const TURN: &str = "{\"type\":\"turn_start\"}\n";

/// A folder of `count` runs beside the working tree.
fn good(stage: &Stage, count: usize) -> String {
    let dir = stage.root().join("good");
    std::fs::create_dir_all(&dir).unwrap();
    for run in 0..count {
        std::fs::write(dir.join(format!("{run}.jsonl")), TURN).unwrap();
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
    at("none/curve.svg")
        .exits(2)
        .says("is halted with a chance of 5.00 % at most (20 runs)")
        .says("cannot write")
        .says("mkdir -p")
        .lacks("mkdir -p ''");
    assert!(!stage.exists("none"));
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
    std::fs::write(format!("{good}/partly"), format!("{TURN}not json\n")).unwrap();
    let all =
        |format| stage.andon(&["calibrate", "--good", &good, "--alpha", "0.05", "--format", format]).ok();
    all("text")
        .says("(21 runs)")
        .says("files without an event, not counted: 30")
        .says("empty0 has no event and is not counted")
        .says("text9.txt has no event and is not counted")
        .says("line 1")
        .says("partly has a line that is no event");
    let found: serde_json::Value = serde_json::from_str(&all("json").stdout).unwrap();
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
