//! Which call goes round is read where the halt is read, at every door, and no secret of it is.

use crate::support::{Out, Stage, andon_path, image::built};

const SECRETS: [&str; 4] = ["hunter2", "ghp_", "sk-ant", "acme"];

/// A command that holds secrets of known forms, and a name that the project masks.
fn command() -> String {
    let token = ["ghp", "_0123456789abcdefghijABCDEFGHIJ456789"].concat();
    let key = ["sk-ant", "-api03-AbCdEfGhIjKlMnOpQrStUv0123456789"].concat();
    format!("curl -H \"Authorization: Bearer {key}\" https://me:hunter2@x.org/ {token} -o \u{1b}[2Jacme-17")
}

const SHOWN: &str = "Bash: curl -H \"Authorization: Bearer <secret>\" https://me:<secret>@x.org/ <secret> -o \\u{1b}[2J<customer>";

fn stage() -> Stage {
    built!({
        let stage = Stage::installed();
        let config = stage.read("andon.toml");
        stage.add("andon.toml", format!("{config}\n[normalize]\ncustomer = 'acme-[0-9]+'\n"));
        stage.git(&["commit", "-qm", "Mask customers"]).ok();
        stage
    })
}

fn observed(stage: &Stage) -> Out {
    let call = serde_json::json!({ "tool": "Bash", "args": { "command": command() }, "result": "1 failed" });
    let line = format!("{call}\n");
    stage.run_in(stage.dir(), andon_path(), &["observe", "tool_call"], Some(line.as_bytes()))
}

fn hooked(stage: &Stage, id: u8) -> Out {
    let payload = serde_json::json!({
        "session_id": "s", "tool_name": "Bash", "tool_use_id": id.to_string(),
        "tool_input": { "command": command() }, "tool_response": { "stdout": "1 failed", "stderr": "" },
    });
    let andon = andon_path();
    stage.run_in(
        stage.dir(),
        andon,
        &["agent", "hook", "claude", "PostToolUse"],
        Some(payload.to_string().as_bytes()),
    )
}

/// Whatever andon keeps and shows of a halted loop.
fn everything(stage: &Stage) -> Vec<(&'static str, String)> {
    let ledger = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    let entry = format!("{}:entry.json", ledger.lines().next().unwrap());
    vec![
        ("checkpoint", stage.read(".andon/CHECKPOINT.md")),
        ("status", stage.andon(&["status"]).stdout),
        ("status as JSON", stage.andon(&["status", "--format", "json"]).stdout),
        ("journal", stage.read(".git/andon/journal.jsonl")),
        ("ledger", stage.git(&["show", &entry]).ok().stdout),
        ("refused", stage.git(&["commit", "--allow-empty", "-qm", "x"]).stderr),
    ]
}

fn check(stage: &Stage) {
    for (place, text) in everything(stage) {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{place}: {secret}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{place}");
        let read =
            match serde_json::from_str::<serde_json::Value>(text.lines().next_back().unwrap_or_default()) {
                Ok(_) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
                Err(_) => text.clone(),
            };
        assert!(read.contains(SHOWN), "{place}:\n{text}");
    }
}

#[test]
fn a_halt_shows_the_call_and_no_secret_of_it() {
    let stage = stage();
    for _ in 0..4 {
        observed(&stage).ok();
    }
    observed(&stage).exits(1).says(SHOWN);
    check(&stage);
}

#[test]
fn so_does_one_that_came_of_an_agents_hook() {
    let stage = stage();
    for id in 0..5 {
        hooked(&stage, id).ok();
    }
    check(&stage);
    // What was kept is what a replay of the journal reads.
    let out = stage.andon(&["replay", "--events", ".git/andon/journal.jsonl"]);
    assert!(out.all().contains(SHOWN), "{out}");
}
