//! Agents are judged by what happened, not by what they typed.

use serde_json::{Value, json};

use super::{hook, lines};
use crate::support::Stage;

/// A shell call of Claude Code with its answer, and how often it came before.
fn ran(stage: &Stage, command: &str, stdout: &str, number: usize) -> String {
    let payload = json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": format!("t{number}"),
        "tool_input": { "command": command }, "tool_response": { "stdout": stdout, "stderr": "" } });
    hook(stage, "claude", "PostToolUse", &payload.to_string()).all()
}

fn is_halted(stage: &Stage) -> bool {
    stage.andon(&["status", "--exit-code"]).code == 1
}

#[test]
fn the_same_call_on_code_that_another_program_changed_is_no_loop() {
    for command in ["make generate", "git bisect good", "./fix.sh", "npm run codegen"] {
        let stage = Stage::installed();
        for number in 0..12 {
            // The program is one that nobody knows.
            stage.write("code.txt", format!("made {number}\n"));
            ran(&stage, command, "generated all that there is to generate", number);
        }
        assert!(!is_halted(&stage), "{command}");
        for number in 12..18 {
            ran(&stage, command, "generated all that there is to generate", number);
        }
        assert!(is_halted(&stage), "{command}: nothing changed any more");
    }
}

#[test]
fn answers_that_differ_by_a_clock_are_the_same() {
    let stage = Stage::installed();
    for number in 0..30 {
        let seconds = number * 7 % 60;
        let said = format!(
            " Test Files  1 failed\n   Start at  10:00:{seconds:02}\n   Duration  {}ms",
            300 + number * 37 % 101
        );
        ran(&stage, "npm run check", &said, number);
    }
    assert!(is_halted(&stage));
}

#[test]
fn red_runs_are_seen_whatever_was_typed() {
    let pytest = |number: usize| {
        format!(
            "F.\n=== short test summary info ===\nFAILED tests/test_tax.py::test_rate - assert {number} == 2\n1 failed, 1 passed in 0.0{number}s\n"
        )
    };
    let go = |_: usize| {
        "--- FAIL: TestTax (0.00s)\n    tax_test.go:9: wrong\nFAIL\nFAIL\texample.org/api\t0.003s\nFAIL\n"
            .to_owned()
    };
    // A runner that no reader knows: by its counts.
    let dotnet = |number: usize| {
        format!(
            "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: {number} ms\n"
        )
    };
    // Only the beginning was shown, so that the report has no end.
    let tap = |number: usize| format!("not ok 1 - rounding\n# took {number} ms\n");
    let cases: [(&str, &dyn Fn(usize) -> String); 6] = [
        ("prove -v | head -2", &tap),
        ("pytest -x 2>&1 | tail -20", &pytest),
        ("make test", &pytest),
        ("dotnet test 2>&1 | tail -1", &dotnet),
        ("cd api && go test ./... -run TestTax", &go),
        ("./scripts/check.sh || true", &go),
    ];
    for (command, said) in cases {
        let stage = Stage::installed();
        for number in 1..=6 {
            stage.write("code.txt", format!("tried {number}\n"));
            assert!(!is_halted(&stage), "{command} {number}");
            ran(&stage, command, &said(number), number);
        }
        assert!(is_halted(&stage), "{command}");
        let head = stage.git(&["rev-parse", "--short=12", "HEAD"]).ok().stdout;
        stage.andon(&["status"]).ok().says(&format!("look   git diff {}", head.trim()));
        let report = stage.read(".andon/CHECKPOINT.md");
        assert!(
            report.contains("read the full error") || report.contains("read the full output"),
            "{report}"
        );
        assert!(!report.contains("the last iterations"), "{report}");
        let runs: Vec<Value> =
            lines(&stage, "journal").into_iter().filter(|line| line["type"] == "test_run").collect();
        assert!(
            runs.iter().filter(|run| run["handed_in"] == true).all(|run| run["validity"] == "seen"),
            "{command}"
        );
    }
}

#[test]
fn an_old_log_is_no_run_and_a_passing_one_is_no_evidence() {
    let stage = Stage::installed();
    let log = "1 failed, 1 passed in 0.01s\n";
    for number in 0..8 {
        stage.write("code.txt", format!("tried {number}\n"));
        ran(&stage, "cat old.log", &format!("{log}{number}"), number);
    }
    assert!(!is_halted(&stage));
    ran(&stage, "pytest -q 2>&1 | tail -3", "2 passed in 0.02s\n", 9);
    stage.git(&["add", "-A"]).ok();
    stage.git(&["commit", "-qm", "Untested"]).refused();
}

#[test]
fn payloads_of_another_form_tell_the_same() {
    let stage = Stage::installed();
    for number in 1..=6 {
        stage.write("code.txt", format!("tried {number}\n"));
        let said = "1 failed, 1 passed in 0.01s\n";
        let payload = json!({ "session_id": "s", "tool_name": "Bash", "tool_call_id": format!("t{number}"),
            "tool_input": { "command": "pytest | tail -5" }, "error": { "message": said, "code": 1 } });
        hook(&stage, "kimi", "PostToolUseFailure", &payload.to_string()).ok();
    }
    assert!(is_halted(&stage), "an error that is an object");
    // A label stands before the first line that was printed.
    let stage = Stage::installed();
    for number in 1..=6 {
        stage.write("code.txt", format!("tried {number}\n"));
        let said = format!(
            "Command: echo {number}; prove\nDirectory: (root)\nOutput: 1..1\nnot ok 1 - a\nError: (none)\nExit Code: 0\nProcess Group PGID: {number}"
        );
        let payload = json!({ "session_id": "s", "tool_name": "run_shell_command", "tool_use_id": format!("t{number}"),
            "tool_input": { "command": format!("echo {number}; prove | tail") }, "tool_response": { "llmContent": said } });
        hook(&stage, "qwen", "PostToolUse", &payload.to_string()).ok();
    }
    assert!(is_halted(&stage), "a label");
}

#[test]
fn what_the_answer_of_a_call_shows_is_not_said_again() {
    for (is_shown, reasons) in [(true, 0), (false, 1)] {
        let stage = Stage::installed();
        stage.tests(&["ok b", "not ok a"]);
        let mut said = String::new();
        for number in 1..=6 {
            stage.write("code.txt", format!("tried {number}\n"));
            let printed = stage.andon(&["test"]).all();
            let answer = if is_shown { printed.as_str() } else { "not ok a" };
            said = ran(&stage, "andon test | tail -20", answer, number);
        }
        assert!(said.contains("the loop is halted now") && said.contains("this session is over"), "{said}");
        assert_eq!(said.matches("reason: red-runs").count(), reasons, "{said}");
    }
}

#[test]
fn a_row_of_calls_is_told_beside_tokens_too() {
    let stage = Stage::installed();
    let transcript = stage.root().join("t.jsonl");
    let said: Vec<bool> = (1..=3)
        .map(|number| {
            let line = json!({ "type": "assistant", "message": { "id": format!("m{number}"), "usage": { "input_tokens": 100 * number } } });
            std::fs::write(&transcript, format!("{line}\n")).unwrap();
            let payload = json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": format!("t{number}"),
                "transcript_path": transcript, "tool_input": { "command": "make" },
                "tool_response": { "stdout": "there is nothing to be done", "stderr": "" } });
            hook(&stage, "claude", "PostToolUse", &payload.to_string()).all().contains("Going on like this")
        })
        .collect();
    let tokens = lines(&stage, "journal").iter().filter(|line| line["type"] == "usage").count();
    assert_eq!((said, tokens), (vec![false, false, true], 3));
}
