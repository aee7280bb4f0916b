//! `andon calibrate` and `check --calibration`: what a promise rests on, what it covers, and when there is none.

use serde_json::Value;

use crate::bulk::{cache, import, interrupt, long_stage, start, step, text};
use crate::{events::observe, support::Stage};

const DAY: i64 = 24 * 3600;

fn calibrated(stage: &Stage, args: &[&str]) -> Value {
    let args: Vec<&str> = [&["calibrate", "--format", "json"], args].concat();
    serde_json::from_str(&stage.andon(&args).stdout).unwrap()
}

fn count(found: &Value, name: &str) -> u64 {
    found[name].as_u64().unwrap()
}

/// A call as a line of a stream.
fn call(command: &str, answer: &str) -> String {
    format!(
        "{{\"type\":\"tool_call\",\"tool\":\"Bash\",\"args\":{{\"command\":\"{command}\"}},\"result\":\"{answer}\",\"error\":false}}\n"
    )
}

/// A folder beside the repository with a file for each text.
fn folder(stage: &Stage, texts: impl Iterator<Item = String>) -> String {
    let dir = stage.root().join("good");
    std::fs::create_dir_all(&dir).unwrap();
    for (number, text) in texts.enumerate() {
        std::fs::write(dir.join(format!("{number:03}.jsonl")), text).unwrap();
    }
    dir.to_str().unwrap().to_owned()
}

/// Commits of `runs` runs, a day apart.
fn history(stage: &Stage, runs: usize) {
    let work = |number: usize| {
        let pause = if number.is_multiple_of(3) { DAY } else { 60 };
        step("Work", pause, "src/work.rs", text(number, 9))
    };
    import(stage, "main", None, &(0..runs * 3).map(work).collect::<Vec<_>>());
    stage.git(&["reset", "-q", "--hard", "main"]).ok();
}

#[test]
fn ctrl_c_promises_nothing() {
    let stage = long_stage(1_200);
    let found = || std::fs::metadata(cache(&stage)).is_ok_and(|file| file.len() > 0);
    for args in
        [&["check", "--calibration=0.5", "main", "-j1"][..], &["calibrate", "main", "--alpha", "0.5", "-j1"]]
    {
        let part = interrupt(start(&stage, args), found).exits(3);
        part.says("error[interrupted]: stopped after").lacks("halted with").lacks(": ok");
        std::fs::remove_file(cache(&stage)).unwrap();
    }
}

#[test]
fn a_shallow_clone_promises_nothing() {
    let stage = Stage::new();
    history(&stage, 20);
    let clone = stage.root().join("shallow");
    let from = format!("file://{}", stage.dir().display());
    stage.git(&["clone", "-q", "--depth", "30", &from, clone.to_str().unwrap()]).ok();
    let out = stage.andon(&["check", "--calibration=0.5", "HEAD"]).ok().says("0 of 20 good runs are halted");
    out.lacks("error");
    for args in [&["check", "--calibration=0.5", "HEAD"][..], &["calibrate", "HEAD", "--alpha", "0.5"]] {
        let said = stage.andon_in(&clone, args).exits(3);
        said.says("error[shallow-clone]").says("git fetch --unshallow").lacks("halted with");
    }
    stage.andon_in(&clone, &["check", "--calibration=0.5", "HEAD~9..HEAD"]).ok();
}

#[test]
fn the_printed_lines_halt_no_more_runs_than_was_printed() {
    let stage = Stage::new();
    // Five of ten calls are equal, and never five of nine or four of eight.
    let run = |run: usize| -> String {
        (1..=10)
            .map(|at| {
                if [1, 3, 6, 8, 10].contains(&at) {
                    call("make", "ok")
                } else {
                    call(&format!("cat {run}-{at}"), &format!("text {run} {at}"))
                }
            })
            .collect()
    };
    let good = folder(&stage, (0..40).map(run));
    let found = calibrated(&stage, &["--good", &good, "--alpha", "0.05"]);
    let halted: Vec<u64> =
        found["curve"].as_array().unwrap().iter().map(|step| count(step, "halted")).collect();
    assert!(halted.is_sorted_by(|one, next| one >= next), "{halted:?}");
    let lines: Vec<&str> =
        found["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    stage.write("andon.toml", format!("[rules]\n{}\n", lines.join("\n")));
    for file in std::fs::read_dir(&good).unwrap() {
        let file = file.unwrap().path();
        stage.andon(&["replay", "--events", file.to_str().unwrap()]).ok().lacks("HALT");
    }
}

#[test]
fn lines_keep_what_is_set_and_take_its_place() {
    let stage = Stage::new();
    let own = "[rules]\ntool-loop = { signature = \"coarse\", soft = 4, hard = 6, window = 30 }\nco-occurrence = \"off\"\n";
    stage.write("andon.toml", own);
    let good = folder(&stage, (0..20).map(|run| call(&format!("make {run}"), "ok")));
    let said = stage.andon(&["calibrate", "--good", &good, "--alpha", "0.05"]).ok();
    said.says("# under [rules], in the place of the lines of these rules")
        .says("signature = \"coarse\"")
        .lacks("co-occurrence = {");
    stage.write("andon.toml", "");
    stage.andon(&["calibrate", "--good", &good, "--alpha", "0.05"]).ok().says("For andon.toml\n[rules]\n");
}

#[test]
fn rules_that_a_range_has_nothing_for_stay_as_they_are() {
    let stage = Stage::new();
    history(&stage, 20);
    let found = calibrated(&stage, &["HEAD", "--alpha", "0.05"]);
    assert_eq!(found["factor"], "0.50");
    let named = |list: &str, key: &str| -> Vec<String> {
        let list = found[list].as_array().unwrap();
        list.iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    let unasked = named("unasked", "rule");
    for rule in ["tool-loop", "repeated-edit", "idle-turns", "repeated-output", "repeated-compaction"] {
        assert!(unasked.iter().any(|one| one == rule), "{found}");
        assert!(!named("rules", "rule").contains(&rule.to_owned()), "{found}");
        assert!(!found["lines"].to_string().contains(rule), "{found}");
    }
    assert!(found["lines"].to_string().contains("unchanged-diff"), "{found}");
    let said = stage.andon(&["calibrate", "HEAD", "--alpha", "0.05"]).ok();
    said.says("because the runs have").says("no tool calls (tool-loop");
}

#[test]
fn budgets_are_told_and_not_promised() {
    let stage = Stage::new();
    stage.write("andon.toml", "[rules]\niteration-cap = { max = 2 }\n");
    let mut number = 0;
    let mut commit = || {
        number += 1;
        format!(
            "{{\"type\":\"commit\",\"code\":\"{number:064x}\",\"diff\":\"{number:064x}\",\"subject\":\"Work\",\"kind\":\"normal\"}}\n"
        )
    };
    let runs: Vec<String> = (0..20).map(|run| (0..=run % 4).map(|_| commit()).collect()).collect();
    let good = folder(&stage, runs.into_iter());
    let said = stage.andon(&["calibrate", "--good", &good, "--alpha", "0.05"]).ok();
    said.says("budgets, which end good work too, are no part of it")
        .says("good runs that budgets halt as configured: 15 (iteration-cap 15)");
    let found = calibrated(&stage, &["--good", &good, "--alpha", "0.05"]);
    assert_eq!((count(&found, "halted_by_budgets"), found["covers"].as_str()), (15, Some("progress")));
}

#[test]
fn a_mistaken_halt_of_a_budget_is_told() {
    let stage = Stage::installed();
    let toml = stage.read("andon.toml");
    stage.write("andon.toml", format!("{toml}[rules]\niteration-cap = {{ max = 2 }}\n"));
    assert!(
        (0..4).any(|at| stage.iterate(&format!("{at}\n"), &["ok a"], "Work").all().contains("iteration-cap"))
    );
    stage.andon(&["resume", "--mistaken", "--reason", "too low"]).ok();
    let said = stage.andon(&["calibrate", "--alpha", "0.9"]);
    said.says(
        "halts marked --mistaken that do not count, they are of budgets, which the promise does not cover: 1",
    );
}

#[test]
fn the_same_content_is_one_run_and_folders_are_read_to_the_bottom() {
    let stage = Stage::new();
    let good = folder(&stage, (0..3).map(|run| call(&format!("make {run}"), "ok")));
    let first = format!("{good}/000.jsonl");
    let below = format!("{good}/a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(format!("{below}/deep.jsonl"), call("make deep", "ok")).unwrap();
    std::fs::copy(&first, format!("{good}/copy.jsonl")).unwrap();
    std::fs::hard_link(&first, format!("{good}/hard.jsonl")).unwrap();
    std::fs::write(format!("{good}/ack.jsonl"), "{\"type\":\"ack\",\"by\":\"a\",\"reason\":\"b\"}\n")
        .unwrap();
    if cfg!(unix) {
        stage.run_in(stage.dir(), "ln", &["-s", &first, &format!("{good}/link.jsonl")], None).ok();
        stage.run_in(stage.dir(), "ln", &["-s", &good, &format!("{good}/loop")], None).ok();
    }
    let found = calibrated(&stage, &["--good", &good, "--alpha", "0.5"]);
    let duplicates = if cfg!(unix) { 3 } else { 2 };
    assert_eq!(
        (count(&found, "runs"), count(&found, "duplicate_files"), count(&found, "skipped_files")),
        (4, duplicates, 1),
        "{found}"
    );
    let twice = stage.andon(&["calibrate", "--alpha", "0.5", "--events", &first, &first]);
    twice.says("files with the content of another one, not counted: 1");
    let out = stage.andon(&["calibrate", "--events", &good]).exits(2).says(&format!("{good} is a folder"));
    out.says("--good");
}

#[test]
fn small_shares_and_no_runs_read_as_what_they_are() {
    let stage = Stage::new();
    let good = folder(&stage, std::iter::once(String::new()));
    let none = stage.andon(&["calibrate", "--good", &good, "--alpha", "0.00001"]).exits(1);
    none.says("0.0010 % needs 99999 good runs, 0 given").says("  help: ").lacks("x 0.50").lacks("95.00 %");
}

/// Calls `make` until that is halted.
fn stuck(stage: &Stage, target: &str) {
    for _ in 0..5 {
        observe(stage, "event", &call(&format!("make {target}"), "built"));
    }
    assert!(stage.exists(".andon/CHECKPOINT.md"), "no halt");
}

fn mistaken(stage: &Stage) {
    stage.andon(&["resume", "--mistaken", "--reason", "polling"]).ok();
}

#[test]
fn an_answer_ends_no_run_and_a_halt_that_stands_is_no_good_work() {
    let stage = Stage::installed();
    for number in 0..3 {
        stage.iterate(&format!("{number}\n"), &["ok a"], "Work").ok();
        stuck(&stage, &number.to_string());
        mistaken(&stage);
        stage.pass(60);
    }
    stage.iterate("more\n", &["ok a"], "Work").ok();
    let said = || {
        let found = calibrated(&stage, &["HEAD", "--alpha", "0.9"]);
        (count(&found, "runs"), count(&found, "mistaken"), count(&found, "left_out"))
    };
    assert_eq!(said(), (1, 3, 0), "one run with three answers");
    stage.pass(2 * DAY);
    stage.iterate("next day\n", &["ok a"], "Work").ok();
    assert_eq!(said(), (2, 3, 0));
    stuck(&stage, "again");
    assert_eq!(said(), (1, 3, 1), "not answered yet");
}

#[test]
fn a_mistaken_halt_stays_evidence_until_a_count_that_halts_is_looser() {
    let stage = Stage::installed();
    stage.iterate("1\n", &["ok a"], "Work").ok();
    stuck(&stage, "all");
    mistaken(&stage);
    let toml = stage.read("andon.toml");
    let said = |line: &str| {
        stage.write("andon.toml", format!("{toml}[rules]\n{line}\n"));
        let found = calibrated(&stage, &["HEAD", "--alpha", "0.9"]);
        (count(&found, "mistaken"), count(&found["mistaken_not_counted"], "mended"))
    };
    assert_eq!(said(""), (1, 0));
    assert_eq!(said("tool-loop = { soft = 4 }"), (1, 0), "warnings only");
    assert_eq!(said("tool-loop = { hard = 4 }"), (1, 0), "stricter");
    assert_eq!(said("tool-loop = { hard = 8 }"), (0, 1));
    assert_eq!(said("tool-loop = \"warn\""), (0, 1));
    stage.andon(&["calibrate", "--alpha", "0.9"]).says("was made looser since, or halts no more: 1");
}

#[test]
fn a_halt_before_the_first_commit_counts() {
    let stage = Stage::new();
    stage.andon(&["install"]).ok();
    stuck(&stage, "all");
    mistaken(&stage);
    history(&stage, 1);
    assert_eq!(count(&calibrated(&stage, &["HEAD", "--alpha", "0.9"]), "mistaken"), 1);
}

#[test]
fn a_halt_that_needs_no_signature_is_not_resolved_by_one() {
    let stage = Stage::installed();
    crate::support::people::with_ann(&stage);
    stuck(&stage, "all");
    let resolve = [
        "review",
        "resolve",
        "halt",
        "--mistaken",
        "--decision",
        "accept_proposer",
        "--rationale",
        "polling",
    ];
    let said = crate::support::people::by(&stage, "ann", &resolve).exits(2);
    said.says("not answered by a signature")
        .says("andon resume --mistaken --reason TEXT")
        .lacks("is resolved");
    assert!(stage.exists(".andon/CHECKPOINT.md"), "the halt is unanswered");
}
