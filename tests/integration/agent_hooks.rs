//! The hooks of agents' clients: every payload that a real client sent, and what comes of it.

mod breakdowns;
mod commands;
mod done_gate;
mod guarding;
mod habit;
mod healthy;
mod layers;
mod payloads;
mod pending;
mod state;
mod twice;
mod what_ran;

use crate::support::{Out, Stage, andon_path, image::built};

/// Calls the hook of a client.
fn hook(stage: &Stage, client: &str, event: &str, payload: &str) -> Out {
    stage.run_in(stage.dir(), andon_path(), &["agent", "hook", client, event], Some(payload.as_bytes()))
}

/// A tool call of Claude Code.
fn bash(command: &str) -> String {
    let input = serde_json::json!({ "command": command });
    serde_json::json!({ "session_id": "s", "tool_name": "Bash", "tool_input": input }).to_string()
}

/// Three iterations with the same failing test.
fn halted() -> Stage {
    built!({
        let stage = Stage::installed();
        for (code, name) in [("1\n", "Try 1"), ("2\n", "Try 2"), ("3\n", "Try 3")] {
            stage.iterate(code, &["ok a", "not ok b"], name).ok();
        }
        stage
    })
}

/// The lines of a file of ours in the git directory.
fn lines(stage: &Stage, name: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(stage.path(&format!(".git/andon/{name}.jsonl"))).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
