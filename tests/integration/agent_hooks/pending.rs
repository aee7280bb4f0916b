//! A shell that may write the working tree alone, as that of Codex with `-s workspace-write`: the run waits until a hook, which
//! runs outside of it, takes it in.

use super::{bash, hook, lines};
use crate::{full_and_read_only_disks::apart, support::Stage};

const READ_ONLY: &str = "mount --bind .git .git && mount -o remount,ro,bind .git .git || exit 1;";
const WAITS: &str = ".andon/pending-run.jsonl";

fn counting(handed_in: &str) -> Stage {
    let stage = Stage::installed();
    let config = format!("[test]\ncommand = \"sh check.sh\"\nhanded_in = \"{handed_in}\"\n");
    stage.write("andon.toml", config);
    stage.git(&["commit", "-qam", "Say what counts"]).ok();
    stage.write("code.txt", "two\n");
    stage
}

#[test]
fn a_run_in_a_sandbox_waits_and_the_next_hook_takes_it_in() {
    for (handed_in, validity) in [("record", "handed_in"), ("count", "valid")] {
        let stage = counting(handed_in);
        // A person gets the reason, and nothing is left behind.
        let Some(out) = apart(&stage, READ_ONLY, "andon test") else { return };
        out.exits(70).says("Read-only file system");
        assert!(!stage.exists(WAITS));
        let out = apart(&stage, READ_ONLY, "CODEX_THREAD_ID=t andon test").unwrap().ok();
        insta::assert_snapshot!("a_run_that_waits", out.all());
        assert!(stage.exists(WAITS));
        hook(&stage, "codex", "PostToolUse", &bash("andon test")).ok();
        assert!(!stage.exists(WAITS));
        let taken = lines(&stage, "journal").into_iter().find(|line| line["handed_in"] == true).unwrap();
        assert_eq!(
            (&taken["type"], &taken["validity"]),
            (&"test_run".into(), &validity.into()),
            "{handed_in}"
        );
        let out = stage.git(&["commit", "-qam", "Two"]);
        if handed_in == "count" {
            out.ok()
        } else {
            out.refused().says("handed in")
        };
    }
}

#[test]
fn red_tests_pass_their_exit_code_on_and_wait_for_the_end_of_the_turn_too() {
    let stage = counting("count");
    stage.tests(&["ok a", "not ok b"]);
    let Some(out) = apart(&stage, READ_ONLY, "CODEX_THREAD_ID=t andon test") else { return };
    out.exits(1).says("the run waits");
    hook(&stage, "codex", "Stop", r#"{"session_id":"s","stop_hook_active":false}"#);
    assert!(!stage.exists(WAITS));
    stage.andon(&["status"]).ok().says("1 of 2 failing");
}

/// Anybody could have written the file.
#[test]
fn what_is_no_run_of_the_command_proves_nothing() {
    let stage = counting("count");
    stage.andon(&["test", "--", "sh", "-c", "echo 1..1; echo ok 1"]).ok();
    let journal = std::fs::read_to_string(stage.path(".git/andon/journal.jsonl")).unwrap();
    let forged = journal.lines().last().unwrap().replace("other_command", "valid");
    for text in [
        forged.as_str(),
        "no run",
        "",
        "{\"type\":\"ack\",\"at\":\"2026-11-20T15:30:00Z\",\"by\":\"me\"}",
        "\0",
    ] {
        stage.write(WAITS, format!("{text}\n"));
        hook(&stage, "codex", "PostToolUse", &bash("andon test")).ok();
        assert!(!stage.exists(WAITS), "{text}");
    }
    let lines = lines(&stage, "journal");
    assert_eq!(lines.iter().filter(|line| line["type"] == "ack").count(), 0);
    assert_eq!(lines.iter().filter(|line| line["handed_in"] == true).count(), 1);
    stage.git(&["commit", "-qam", "Two"]).refused().says("untested-edit");
    // A link leads nowhere.
    std::fs::remove_file(stage.path(WAITS)).ok();
    std::os::unix::fs::symlink(stage.path("code.txt"), stage.path(WAITS)).unwrap();
    hook(&stage, "codex", "PostToolUse", &bash("andon test")).ok();
    assert!(stage.exists("code.txt"));
}
