//! `andon replay`: what would have happened, over histories with and without records.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;

use crate::bulk::{import, step};
use crate::support::Stage;

/// Commits `code` as plain git would, without Andon.
fn plain(stage: &Stage, code: &str, subject: &str) -> String {
    stage.write("code.rs", code);
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", subject]).ok();
    stage.head()
}

fn lines(stage: &Stage, range: &str) -> Vec<serde_json::Value> {
    let out = stage.andon(&["replay", range, "--format", "json"]).ok();
    assert!(out.stderr.is_empty() || out.stderr.starts_with("warning: "), "{out}");
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn without_notes_an_alternating_history_would_have_halted() {
    let stage = Stage::new();
    for (code, subject) in [("A\nA\n", "One"), ("B\nB\n", "Two"), ("A\nA\n", "Three")] {
        plain(&stage, code, subject);
        // Two minutes apart they would be the tries of a person.
        stage.pass(-120);
    }
    let halted = plain(&stage, "B\nB\n", "Four");
    plain(&stage, "C\n", "Five");
    let out = stage.andon(&["replay"]).ok();
    let id = &halted[..12];
    assert!(out.stdout.contains(&format!("HALT  {id} Four\n")), "{out}");
    assert!(
        out.stdout.contains(
            "error[oscillation] (oscillating): the code has switched between the same two versions"
        )
    );
    assert!(out.stdout.ends_with("replayed 5 steps of HEAD: would have halted once\n"), "{out}");
    // Nothing is written by looking.
    assert!(!stage.exists(".andon") && !stage.exists(".git/refs/notes"));

    let lines = lines(&stage, "HEAD");
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[3]["commit"], halted);
    assert_eq!(lines[3]["decision"], "halt");
    assert_eq!(lines[3]["reason"], "oscillating");
    assert_eq!(lines[3]["findings"][0]["rule"], "oscillation");
    assert_eq!(lines[3]["findings"][0]["level"], "halt");
    assert!(lines[3]["findings"][0]["evidence"].as_array().unwrap().len() >= 2);
    assert_eq!(lines[4]["decision"], "allow");
    assert_eq!(lines[4]["findings"], serde_json::json!([]));
}

#[test]
fn where_nobody_watched_an_edit_that_is_tried_out_minutes_apart_is_a_warning() {
    let stage = Stage::new();
    for (code, subject) in [("A\nA\n", "One"), ("B\nB\n", "Two"), ("A\nA\n", "Three"), ("B\nB\n", "Four")] {
        stage.pass(120);
        plain(&stage, code, subject);
    }
    let found = lines(&stage, "HEAD");
    assert_eq!(found[3]["decision"], "warn");
    assert_eq!(found[3]["findings"][0]["rule"], "oscillation");
}

#[test]
fn empty_commits_would_have_halted() {
    let stage = Stage::new();
    for _ in 0..4 {
        plain(&stage, "same\n", "Nothing");
    }
    assert_snapshot!(stage.andon(&["replay"]).shown(), @r"
    exit 0
    --- stdout
    warn  HASH Nothing
      warning[unchanged-diff]: 2 iterations in a row changed nothing
    HALT  HASH Nothing
      error[unchanged-diff] (stalled): 3 iterations in a row changed nothing
        evidence: diff HASH, commit HASH, commit HASH, commit HASH
      error[consecutive-failures] (repeated error): nothing was modified 3 times in a row
        evidence: commit HASH, commit HASH, commit HASH
        halted: the loop is making no progress
        diffs: HASH HASH HASH HASH
    replayed 4 steps of HEAD: would have halted once
    ");
}

#[test]
fn reverts_and_relands_are_no_more_than_noted() {
    let stage = Stage::new();
    plain(&stage, "A\n", "Start");
    plain(&stage, "B\n", "Work");
    stage.git(&["revert", "--no-edit", "HEAD"]).ok();
    plain(&stage, "B\n", "Reland \"Work\"");
    assert_snapshot!(stage.andon(&["replay"]).lacks("warning[oscillation]").lacks("HALT").brief(),
        @"exit 0, stdout: replayed 4 steps of HEAD: would not have halted");
}

#[test]
fn a_long_pause_begins_a_new_run() {
    let stage = Stage::new();
    for (code, subject) in [("A\n", "One"), ("B\n", "Two"), ("A\n", "Three"), ("B\n", "Four")] {
        stage.pass(24 * 3600);
        plain(&stage, code, subject);
    }
    assert_snapshot!(stage.andon(&["replay"]).brief(), @"exit 0, stdout: replayed 4 steps of HEAD: would not have halted");
}

#[test]
fn merged_branches_are_lines_of_their_own() {
    let stage = Stage::new();
    plain(&stage, "A\n", "Start");
    // Each merge has the tree of the work it merges; the next work starts below it and touches documentation.
    for n in 0..3 {
        stage.git(&["switch", "-qc", &format!("topic{n}")]).ok();
        plain(&stage, &format!("{n}\n"), &format!("Work {n}"));
        stage.git(&["switch", "-qc", &format!("docs{n}"), "main"]).ok();
        stage.write("README.md", format!("{n}\n"));
        stage.commit_of(".", &format!("Document {n}"));
        stage.git(&["switch", "-q", "main"]).ok();
        stage.git(&["merge", "-q", "--no-ff", "--no-edit", &format!("topic{n}")]).ok();
        stage.git(&["merge", "-q", "--no-ff", "--no-edit", &format!("docs{n}")]).ok();
    }
    let out = stage.andon(&["replay"]).ok();
    assert_eq!(out.stdout, "replayed 13 steps of HEAD: would not have halted\n");
}

#[test]
fn with_notes_the_tests_count_too() {
    let stage = Stage::installed();
    for n in 1..4 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    stage.andon(&["resume", "--reason", "looked"]).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Four").ok();
    let out = stage.andon(&["replay", "HEAD~4..HEAD"]).ok();
    assert!(
        out.stdout.contains("Try 3\n  error[repeated-failures] (stalled): the same test failed"),
        "{out}"
    );
    assert!(out.stdout.ends_with("replayed 4 steps of HEAD~4..HEAD: would have halted once\n"), "{out}");
    let decisions: Vec<_> = lines(&stage, "HEAD~4..HEAD")
        .iter()
        .map(|line| line["decision"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(decisions, ["allow", "allow", "halt", "allow"]);
}

#[test]
fn an_unreadable_record_is_named_and_its_commit_derived() {
    let stage = Stage::installed();
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", "not json", "HEAD"]).ok();
    assert_snapshot!(stage.andon(&["replay"]).shown(), @"
    exit 0
    --- stdout
    warning: the andon record of commit HASH is unreadable: not readable as JSON: expected ident at line 1 column 2
      help: git notes --ref=andon edit HASH
    replayed 1 step of HEAD: would not have halted
    ");
    assert_eq!(lines(&stage, "HEAD").len(), 1);
}

#[test]
fn ranges_that_are_not_there_are_wrong_usage() {
    let stage = Stage::new();
    assert_snapshot!(stage.andon(&["replay"]).shown(), @r#"
    exit 2
    --- stderr
    error: revision "HEAD": branch main has no commit yet
      help: make a first commit
    "#);
    plain(&stage, "A\n", "One");
    assert_snapshot!(stage.andon(&["replay", "nowhere..HEAD"]).brief(), @r#"exit 2, stderr: error: unknown revision "nowhere""#);
    let out = stage.andon(&["replay", "HEAD..HEAD"]).ok();
    assert_eq!(out.stdout, "replayed 0 steps of HEAD..HEAD: would not have halted\n");
    stage.andon(&["replay", "HEAD..HEAD", "--format", "json"]).ok();
}

/// docs/rules.md, `unchanged-diff`: unrecorded commits take one more.
#[test]
fn empty_commits_that_nobody_watched_take_one_more() {
    let stage = Stage::new();
    stage.write("a.rs", "fn a() {}\n");
    stage.commit_of(".", "Start");
    for number in 1..=3 {
        stage.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]).ok();
        let replayed = stage.andon(&["replay"]).ok();
        assert_eq!(replayed.stdout.contains("would have halted once"), number == 3, "{number}: {replayed}");
        assert_eq!(replayed.stdout.contains("warning[unchanged-diff]"), number > 1, "{number}: {replayed}");
    }
    let watched = Stage::installed();
    for number in 1..=2 {
        let out = watched.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]).ok();
        assert_eq!(out.all().contains("error[unchanged-diff]"), number == 2, "{out}");
    }
}

#[test]
fn a_test_command_shows_what_the_hooks_would_have_seen() {
    let stage = Stage::new();
    stage.write("check.sh", "grep -q good code.py || { echo 'code.py is not good'; exit 1; }\n");
    stage.steps("echo good > code.py; git add .; git commit -qm Begin");
    for number in 1..=4 {
        stage.write("code.py", format!("try {number}\n"));
        stage.git(&["commit", "-qam", &format!("Try {number}")]).ok();
    }
    stage.steps("echo words > README.md; git add .; git commit -qm 'Say something'");
    stage.steps("echo not committed > code.py");
    let range = "HEAD";
    stage.andon(&["replay", range]).ok().lacks("HALT");
    let out = stage.andon(&["replay", "--test", "sh check.sh", range]).ok();
    out.says("1 of 6  ")
        .says("6 of 6  ")
        .says("failed, by its exit code alone")
        .says("HALT")
        .says("consecutive-failures");
    // Where it passes, nothing halts; what cannot be started proves nothing; and nothing is kept.
    stage
        .andon(&["replay", "--test", "echo 1..1; echo ok 1 - a", range])
        .ok()
        .says("6 of 6  ")
        .lacks("incomplete")
        .lacks("HALT");
    // An exit code alone proves nothing.
    stage.andon(&["replay", "--test", "true", range]).ok().says("incomplete").lacks("HALT");
    let said = stage.andon(&["replay", "--test", "no-such-program", range]).ok().says("could not be started");
    said.lacks("HALT");
    assert_eq!(stage.read("code.py"), "not committed\n");
    assert!(!stage.exists(".git/andon/journal.jsonl"));
    stage.andon(&["replay", "--test", "true", "--events", "x"]).exits(2);
}

#[test]
fn what_a_commit_rewrites_is_recorded_as_it_is_derived() {
    let stage = Stage::installed();
    stage.write("sort.rs", "fn main() {}\n");
    stage.tested_commit_of("sort.rs", "Begin");
    for n in 1..=6 {
        stage.pass(60);
        let code = format!("fn main() {{}}\nlet sorted = by_time({n});\nlet shown = sorted.rev({n});\n");
        stage.write("sort.rs", code);
        stage.tested_commit_of("sort.rs", &format!("fix: sort them {n}"));
    }
    let findings = stage.record("HEAD~1")["findings"].to_string();
    assert!(
        findings.contains(r#""level":"warn","message":"4 of 6 commits to one file rewrite"#),
        "{findings}"
    );
    let recorded = stage.record("HEAD")["change"].clone();
    assert_eq!(recorded["rewrites"][0][1], 100, "{recorded}");
    stage.git(&["update-ref", "-d", "refs/notes/andon"]).ok();
    stage.andon(&["backfill", "HEAD"]).ok();
    assert_eq!(stage.record("HEAD")["change"], recorded);
}

#[test]
fn commits_that_an_import_brought_on_two_branches_go_round_nothing() {
    let decision = |back: i64| {
        let stage = Stage::new();
        let text = |state: usize| format!("one {state}\ntwo {state}\n");
        let made = [("First", 0, 1), ("Second", 30, 2), ("First", back, 1), ("Second", 30, 2)];
        let steps = made.map(|(subject, pause, state)| step(subject, pause, "a.rs", text(state)));
        import(&stage, "main", None, &steps);
        lines(&stage, "main").last().unwrap()["decision"].clone()
    };
    assert_eq!((decision(30), decision(-30)), ("halt".into(), "allow".into()), "of the same second");
}

#[test]
fn what_cannot_be_seen_of_a_history_is_said() {
    let stage = Stage::new();
    for number in 1..4 {
        plain(&stage, &format!("{number}\n"), &format!("Step {number}"));
        stage.pass(-300);
    }
    assert!(!stage.andon(&["replay"]).ok().stdout.contains("warning: "), "all is seen");
    for date in ["@0 +0000", "@4000000000 +0000"] {
        stage.set("GIT_COMMITTER_DATE", date);
        stage.git(&["commit", "-q", "--allow-empty", "-m", "Dated"]).ok();
    }
    stage.unset("GIT_COMMITTER_DATE");
    let out = stage.andon(&["replay"]).ok().stdout;
    assert!(out.contains("do not see when it was made, in 2 commits\n"), "{out}");

    let (root, from) = (stage.root().canonicalize().unwrap(), format!("file://{}", stage.dir().display()));
    stage.git(&["config", "uploadpack.allowFilter", "true"]).ok();
    for (kind, said) in [
        ("--depth=3", "what was before is not seen, at 1 commit\n"),
        ("--filter=blob:none", "rules that read lines see none, in 3 commits\n"),
    ] {
        let clone = format!("clone{}", kind.len());
        stage.git_in(&root, &["clone", "-q", "--no-checkout", kind, &from, &clone]).ok();
        let out = stage.andon_in(&root.join(clone), &["replay"]).ok().stdout;
        assert!(out.contains(said), "{kind}: {out}");
    }
}
