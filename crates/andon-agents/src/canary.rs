//! A payload that every hook before a tool refuses, for `andon doctor --live`. It is handed to the hook alone, so that nothing
//! runs whatever comes of it.

use serde_json::json;

use andon_core::domain::agent::Client;

/// A command line that is refused whether or not the loop is halted.
const DISARMS: &str = "ANDON=0 git commit";

/// The client's event before a tool, and a payload of it in `session`.
pub fn canary(client: Client, session: &str) -> (&'static str, String) {
    let args = json!({ "command": DISARMS });
    let shaped = |event, tool: &str| json!({ "session_id": session, "hook_event_name": event, "tool_name": tool, "tool_use_id": session, "tool_input": args });
    let (event, payload) = match client {
        Client::Claude | Client::Codex | Client::Goose => ("PreToolUse", shaped("PreToolUse", "Bash")),
        Client::Qwen => ("PreToolUse", shaped("PreToolUse", "run_shell_command")),
        Client::Openhands => ("PreToolUse", shaped("PreToolUse", "terminal")),
        Client::Gemini => ("BeforeTool", shaped("BeforeTool", "run_shell_command")),
        Client::Copilot => {
            ("preToolUse", json!({ "sessionId": session, "toolName": "bash", "toolArgs": args.to_string() }))
        }
        Client::Cursor => {
            ("preToolUse", json!({ "conversation_id": session, "tool_name": "Shell", "tool_input": args }))
        }
        Client::Opencode => (
            "tool.execute.before",
            json!({ "input": { "tool": "bash", "sessionID": session, "callID": session }, "output": { "args": args } }),
        ),
        Client::Cline => {
            let call = json!({ "id": session, "name": "run_commands", "input": { "commands": [DISARMS] } });
            ("PreToolUse", json!({ "taskId": session, "tool_call": call }))
        }
    };
    (event, payload.to_string())
}

/// Whether a hook that ended with `code` and wrote `stdout` has refused, as that client takes it.
pub fn has_refused(client: Client, code: Option<i32>, stdout: &str) -> bool {
    match client {
        Client::Cline => stdout.starts_with("{\"overrideInput\":"),
        Client::Claude
        | Client::Codex
        | Client::Gemini
        | Client::Qwen
        | Client::Copilot
        | Client::Cursor
        | Client::Opencode
        | Client::Openhands
        | Client::Goose => code == Some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Say, moment, read, reply};
    use andon_core::domain::agent_door::HookMoment;

    #[test]
    fn each_client_is_read_and_its_refusal_known() {
        for (client, name) in Client::ALL {
            let (event, text) = canary(client, "s1");
            assert_eq!(moment(client, event), Some(HookMoment::BeforeTool), "{name}");
            let payload = read(client, event, text.as_bytes()).unwrap();
            assert_eq!(payload.session.as_deref(), Some("s1"), "{name}");
            assert_eq!(payload.calls[0].used.commands, [DISARMS], "{name}");
            let asked = (event, HookMoment::BeforeTool);
            let refusal = reply(client, asked, &payload.calls, &Say::Refuse("no".into()));
            assert!(has_refused(client, Some(refusal.exit.into()), &refusal.stdout), "{name}");
            let nothing = reply(client, asked, &payload.calls, &Say::Nothing);
            assert!(!has_refused(client, Some(nothing.exit.into()), &nothing.stdout), "{name}");
        }
    }
}
