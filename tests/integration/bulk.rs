//! Long histories: the same answers whatever the number of threads and whatever is cached, Ctrl-C, and `andon backfill`.

use std::fmt::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::support::{Out, Stage, andon_path, image::built};

/// One commit of a history.
pub(super) struct Step<'a> {
    subject: &'a str,
    /// Seconds since the commit before.
    pause: i64,
    /// Files with their content; `None` deletes.
    files: Vec<(String, Option<String>)>,
    /// Merges the branch `side` as it is then.
    merges: bool,
}

pub(super) fn step<'a>(subject: &'a str, pause: i64, path: &str, content: String) -> Step<'a> {
    Step { subject, pause, files: vec![(path.to_owned(), Some(content))], merges: false }
}

/// Writes `steps` to the branch `branch`, on top of `from`.
pub(super) fn import(stage: &Stage, branch: &str, from: Option<&str>, steps: &[Step<'_>]) {
    let mut stream = String::new();
    let mut at: i64 = 1_700_000_000;
    for (number, step) in steps.iter().enumerate() {
        at += step.pause;
        write!(stream, "commit refs/heads/{branch}\ncommitter A <a@b> {at} +0000\n").unwrap();
        write!(stream, "data {}\n{}\n", step.subject.len(), step.subject).unwrap();
        if let Some(from) = from.filter(|_| number == 0) {
            writeln!(stream, "from {from}").unwrap();
        }
        if step.merges {
            stream.push_str("merge refs/heads/side\n");
        }
        for (path, content) in &step.files {
            match content {
                Some(text) => {
                    write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
                }
                None => writeln!(stream, "D {path}").unwrap(),
            }
        }
        stream.push('\n');
    }
    let args = ["fast-import", "--quiet", "--force"];
    stage.run_in(stage.dir(), "git", &args, Some(stream.as_bytes())).ok();
}

/// Lines of a file that grows and shrinks in a way of its own.
pub(super) fn text(seed: usize, lines: usize) -> String {
    (0..lines).map(|line| format!("let v{line} = {};\n", (seed * 31 + line * 7) % 9_973)).collect()
}

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 3600;

/// A history with whatever the rules look at: changes that repeat, undo, alternate, say nothing; windows of one commit
/// and of many; documents, moves, modes, merges and reverts.
fn motley() -> Vec<Step<'static>> {
    let mut steps = Vec::new();
    for round in 0..24_usize {
        let pause = if round % 3 == 0 { DAY } else { MINUTE };
        let file = format!("src/f{}.rs", round % 5);
        steps.push(step("Work", pause, &file, text(round, 8 + round)));
        if round < 3 {
            let test = |number| format!("def test_{number}():\n    assert f({number})\n\n");
            steps.push(step("Fewer tests", MINUTE, "tests/test_f.py", (round..9).map(test).collect()));
        }
        steps.extend(trouble(round, file));
    }
    steps
}

/// What makes a round of that history interesting.
fn trouble(round: usize, file: String) -> Vec<Step<'static>> {
    let mut steps = Vec::new();
    match round % 8 {
        0 => {
            steps.push(step("Reword", MINUTE, &file, format!("// said {round}\n{}", text(round, 8 + round))));
        }
        1 => {
            for state in ["a\n", "b\n", "a\n", "b\n", "a\n"] {
                steps.push(step("Flip", MINUTE, "src/flip.rs", state.to_owned()));
            }
        }
        2 => {
            for _ in 0..3 {
                let files = Vec::new();
                steps.push(Step { subject: "Nothing", pause: MINUTE, files, merges: false });
            }
        }
        3 => {
            for blanks in 1..5 {
                let spaced = text(1, 5).replace(";\n", &format!(";{}\n", " ".repeat(blanks)));
                steps.push(step("Space", MINUTE, "src/space.rs", spaced));
            }
        }
        4 => {
            for said in 0..4 {
                steps.push(step("Comment", MINUTE, "src/said.rs", format!("// {said}\nfn f() {{}}\n")));
            }
        }
        5 => {
            for back in 0..6 {
                let lines = if back % 2 == 0 { "one\ntwo\nthree\n" } else { "one\n2\nthree\n" };
                let mut churn = step("Churn", MINUTE, "src/churn.rs", lines.to_owned());
                churn.files.push((format!("src/new{round}{back}.rs"), Some(text(back, 4))));
                steps.push(churn);
            }
        }
        6 => {
            let mut moved = step("Move", MINUTE, &format!("src/moved{round}.rs"), text(round, 8 + round));
            moved.files.push((file, None));
            steps.push(moved);
            for done in 0..4 {
                let list: String = (0..4)
                    .map(|item| format!("- [{}] {item}\n", if item < done { 'x' } else { ' ' }))
                    .collect();
                steps.push(step("Plan", MINUTE, "PLAN.md", list));
            }
        }
        _ => {
            let mut merge = step("Merge side", MINUTE, "docs/notes.md", format!("note {round}\n"));
            merge.merges = true;
            steps.push(merge);
            steps.push(step("Revert \"Work\"", MINUTE, &file, text(round + 1, 9)));
        }
    }
    steps
}

fn motley_stage() -> Stage {
    built!(motley_history())
}

fn motley_history() -> Stage {
    let stage = Stage::new();
    let side =
        [step("Side", 0, "side.rs", "side\n".to_owned()), step("Side too", 9, "side.rs", "2\n".to_owned())];
    import(&stage, "side", None, &side);
    import(&stage, "main", None, &motley());
    stage.git(&["reset", "-q", "--hard", "main"]).ok();
    stage
}

pub(super) fn cache(stage: &Stage) -> std::path::PathBuf {
    stage.path(".git/andon/cache/derived")
}

#[test]
fn threads_and_caches_change_no_byte_of_a_replay() {
    let stage = motley_stage();
    // Both forms show the same values: the text needs no number of threads of its own.
    for (format, numbers) in [("text", &["-j2"][..]), ("json", &["-j1", "-j2", "-j16"])] {
        let _ = std::fs::remove_file(cache(&stage));
        let one = stage.andon(&["replay", "--format", format, "-j1"]).ok();
        assert!(one.stdout.lines().count() > 20 && one.stdout.contains("test-weakening"), "{one}");
        assert!(cache(&stage).exists());
        for threads in numbers {
            assert_eq!(stage.andon(&["replay", "--format", format, threads]).ok(), one, "cached, {threads}");
            std::fs::remove_file(cache(&stage)).unwrap();
            assert_eq!(stage.andon(&["replay", "--format", format, threads]).ok(), one, "{threads}");
        }
        let mut torn = std::fs::read(cache(&stage)).unwrap();
        let middle = torn.len() / 2;
        torn[middle] ^= 1;
        torn.truncate(middle + middle / 2);
        std::fs::write(cache(&stage), torn).unwrap();
        assert_eq!(stage.andon(&["replay", "--format", format]).ok(), one, "a torn cache");
    }
}

#[test]
fn a_replay_says_the_same_with_and_without_backfilled_records() {
    let stage = motley_stage();
    let derived = stage.andon(&["replay", "--format", "json"]).ok();
    let said: Vec<serde_json::Value> =
        derived.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tripped = |rule: &str| {
        said.iter().any(|line| line["findings"].as_array().unwrap().iter().any(|found| found["rule"] == rule))
    };
    for rule in ["unchanged-diff", "weak-change", "undo-churn", "oscillation", "recurrence"] {
        assert!(tripped(rule), "{rule} must have something to say:\n{derived}");
    }
    // No hook was there when those were written: the commits are derived again all the same.
    stage.andon(&["backfill", "main"]).ok();
    std::fs::remove_file(cache(&stage)).unwrap();
    assert_eq!(stage.andon(&["replay", "--format", "json"]).ok(), derived);
}

#[test]
fn threads_and_caches_change_no_byte_of_a_check() {
    let stage = motley_stage();
    stage.andon(&["backfill", "main~60"]).ok();
    let note = "{\"schema\":\"andon/commit@1\"}";
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", note, "main~70"]).ok();
    for format in ["text", "json"] {
        let one = stage.andon(&["check", "main", "--format", format, "-j1"]).exits(1);
        for word in ["backfilled-record", "missing-record", "unreadable-record"] {
            assert!(one.stdout.contains(word), "{one}");
        }
        for more in [&["-j2"][..], &["-j7"], &["-j1", "--cached"], &["-j2", "--cached"]] {
            let args: Vec<&str> = ["check", "main", "--format", format].iter().chain(more).copied().collect();
            assert_eq!(stage.andon(&args), one, "{more:?}");
        }
    }
}

#[test]
fn check_believes_no_cache_unless_told_to() {
    let stage = motley_stage();
    stage.andon(&["backfill", "main"]).ok();
    let honest = stage.andon(&["check", "main"]).exits(1).stdout;
    // A cache of another repository with other facts under the same ids cannot be had; one that is gone can.
    std::fs::write(cache(&stage), "no entry").unwrap();
    assert_eq!(stage.andon(&["check", "main"]).exits(1).stdout, honest);
    std::fs::remove_dir_all(stage.path(".git/andon/cache")).unwrap();
    assert_eq!(stage.andon(&["check", "main", "--cached"]).exits(1).stdout, honest);
}

/// A history that takes long enough to be stopped in.
pub(super) fn long_stage(commits: usize) -> Stage {
    let stage = Stage::new();
    let work = |number: usize| step("Work", 60, "src/long.rs", text(number, 120));
    import(&stage, "main", None, &(0..commits).map(work).collect::<Vec<_>>());
    stage.git(&["reset", "-q", "--hard", "main"]).ok();
    stage
}

pub(super) fn start(stage: &Stage, args: &[&str]) -> Child {
    let mut command = stage.command(stage.dir(), andon_path());
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends SIGINT to what was started as soon as `begun` says so.
pub(super) fn interrupt(mut child: Child, begun: impl Fn() -> bool) -> Out {
    let started = Instant::now();
    while !begun() && started.elapsed() < Duration::from_secs(60) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Out { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn ctrl_c_ends_with_what_was_found_and_the_next_run_goes_on() {
    let stage = long_stage(600);
    let found = || std::fs::metadata(cache(&stage)).is_ok_and(|file| file.len() > 0);
    let args = ["replay", "--format", "json", "-j1"];
    let part = interrupt(start(&stage, &args), found).exits(3).says("stopped after").says("of 600 commits");
    let remembered = std::fs::metadata(cache(&stage)).unwrap().len();
    let whole = stage.andon(&args).ok();
    assert_eq!((whole.stdout.lines().count(), whole.stderr.as_str()), (600, ""), "no bar off a terminal");
    assert!(part.stdout.lines().count() < 600 && whole.stdout.starts_with(&part.stdout), "{}", part.stderr);
    let after = std::fs::metadata(cache(&stage)).unwrap().len();
    assert!(remembered < after, "the rest was added");
    assert_eq!(stage.andon(&args).ok(), whole);
    assert_eq!(std::fs::metadata(cache(&stage)).unwrap().len(), after, "nothing is remembered twice");

    std::fs::remove_file(cache(&stage)).unwrap();
    stage.git(&["notes", "--ref=andon", "add", "-m", "{}", "main~599"]).ok();
    let part = interrupt(start(&stage, &["check", "main", "--format", "json", "-j1"]), found);
    let report = part.json();
    assert_eq!(
        (part.code, &report["undecided"][0]["code"]),
        (1, &"interrupted".into()),
        "missing records are known"
    );
    assert!(report["commits"].as_u64().unwrap() < 600);
}

#[test]
fn backfill_can_be_stopped_and_goes_on() {
    let stage = long_stage(640);
    stage.set("ANDON_TEST_BATCH", "100");
    let notes = || stage.path(".git/refs/notes/andon").exists();
    let part = interrupt(start(&stage, &["backfill", "main", "-j2"]), notes).exits(3);
    assert!(part.stdout.contains(" left\n") && part.stderr.contains("stopped after"), "{part}");
    let listed = |stage: &Stage| stage.git(&["notes", "--ref=andon", "list"]).ok().stdout.lines().count();
    let first = listed(&stage);
    assert!((100..640).contains(&first), "{first}");
    let tip = stage.git(&["rev-parse", "refs/notes/andon"]).ok().stdout;
    let rest = format!("backfilled {} records of main; {first} commits already had a record\n", 640 - first);
    assert_eq!(stage.andon(&["backfill", "main"]).ok().stdout, rest);
    assert_eq!(listed(&stage), 640);
    // Batches, not one notes commit a record.
    assert!(
        stage.git(&["rev-list", "--count", "refs/notes/andon"]).ok().stdout.trim().parse::<u32>().unwrap()
            <= 6
    );
    // What was there is there, byte for byte.
    let diff = stage.git(&["diff", "--name-status", "-z", tip.trim(), "refs/notes/andon"]).ok().stdout;
    assert!(diff.split('\0').filter(|field| field.len() == 1).all(|status| status == "A"), "{diff}");
    // The chain holds from end to end.
    assert_snapshot!(stage.andon(&["check", "main~600..main"]).lacks("broken-chain").shown());
}

#[test]
fn backfilled_records_are_named_and_count_for_nothing() {
    let stage = motley_stage();
    let old = stage.head();
    stage.write("andon.toml", "[rules]\nuntested-edit = \"off\"\niteration-cap = { max = 3 }\n");
    stage.steps("andon install; git add .; git commit -qm 'Install Andon'");
    let first = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout;
    let status = stage.andon(&["status"]).stdout;

    let all = stage.git(&["rev-list", "--count", &old]).ok().stdout.trim().to_owned();
    let wanted = format!("backfilled {all} records of HEAD; 1 commit already had a record\n");
    assert_eq!(stage.andon(&["backfill", "HEAD"]).ok().stdout, wanted);
    assert_eq!(stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout, first, "never overwritten");
    assert_eq!(stage.andon(&["status"]).stdout, status, "nothing was counted");
    let record = stage.record(&old);
    assert_eq!((&record["backfilled"], &record["gate"]), (&true.into(), &"not-run".into()));
    assert!(record.get("tests").is_none() && record["iteration"] == 0, "{record}");
    stage.andon(&["log"]).ok().says("backfilled");
    stage.andon(&["show", &old]).ok().says("backfilled");

    // The record of the first commit of Andon's names no one before it, and that is as it should be.
    stage.andon(&["check", &format!("{old}..HEAD")]).ok();
    let judged = stage.andon(&["check", &format!("{old}~3..HEAD")]).exits(3);
    assert_snapshot!(judged.lacks("broken-chain").lacks("missing-record").shown(), @r#"
    exit 3
    --- stdout
    warning[config-added]: andon.toml is new in this range; its base HASH has none, so the defaults were used
      help: git diff HASH HASH -- andon.toml
    error[backfilled-record]: its record was backfilled: no hook saw the commit being made, and no tests are known
      --> HASH Work
      --> HASH Merge side
      --> HASH Revert "Work"
      help: check a range that begins where Andon was installed
      help: to let the tests of the tip count instead: andon check --test 'HASH~3..HEAD'
    checked 4 commits in HASH~3..HEAD: cannot decide: evidence is missing, 1 warning
    "#);
    // Three iterations are the cap: the first was one of them, what was backfilled is none.
    stage.steps("echo 2 > code.txt; git add .; git commit -qm Second");
    assert_eq!(stage.record("HEAD")["iteration"], 2);
}

#[test]
fn a_commit_on_top_of_backfilled_ones_is_the_first_iteration() {
    let stage = motley_stage();
    stage.andon(&["backfill", "HEAD"]).ok();
    stage.write("andon.toml", "[rules]\nuntested-edit = \"off\"\n");
    stage.steps("andon install; git add .; git commit -qm 'Install Andon'");
    assert_eq!(stage.record("HEAD")["iteration"], 1);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

#[test]
fn backfill_beside_hooks_loses_nothing() {
    let stage = Stage::installed();
    let steps: Vec<Step<'_>> = (0..400).map(|number| step("Old", 60, "old.rs", text(number, 9))).collect();
    import(&stage, "old", None, &steps);
    stage.set("ANDON_TEST_BATCH", "100");
    let child = start(&stage, &["backfill", "old"]);
    for n in 1..=6 {
        stage.iterate(&format!("{n}\n"), &["ok a", "ok b"], &format!("Beside {n}")).ok();
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let notes = stage.git(&["notes", "--ref=andon", "list"]).ok().stdout;
    assert_eq!(notes.lines().count(), 400 + 7);
    stage.steps("andon check HEAD~6..HEAD; git fsck --strict");
}
