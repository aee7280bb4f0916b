//! `andon agent install --command`: what a client has to start at which event, for settings that Andon does not write.

use serde_json::{Value, json};

use super::run::install::EventCommand;
use andon_core::domain::agent::Client;
use andon_core::domain::client_spec::HookMoment;

/// The schema of the generic payload.
pub(super) const PAYLOAD: &str = include_str!("../../../hooks/agents/generic/payload.schema.json");

/// The commands for a person.
pub(super) fn text(client: Client, hooks: &[EventCommand]) -> String {
    let title = client.title();
    let mut text = format!("{title}: let it start these, with the event as JSON on standard input\n");
    for hook in hooks {
        text.push_str(&format!("  {:<24} {}\n", at(hook.moment), hook.line));
    }
    text.push_str("exit code 2 refuses; the reason is on standard error\n");
    if client == Client::Generic {
        text.push_str("help: andon agent schema  (the members of the JSON)\n");
    }
    text
}

/// The commands for a program.
pub(super) fn json(client: Client, hooks: &[EventCommand]) -> Value {
    let hook = |hook: &EventCommand| json!({"event": hook.event, "moment": at(hook.moment), "argv": hook.argv, "command": hook.line});
    json!({
        "schema": "andon/agent-command@1",
        "client": client.as_str(),
        "hooks": hooks.iter().map(hook).collect::<Value>(),
    })
}

/// A moment as people know it.
fn at(moment: HookMoment) -> &'static str {
    match moment {
        HookMoment::BeforeTool => "before a tool",
        HookMoment::AfterTool => "after a tool",
        HookMoment::TurnEnd => "end of a turn",
        HookMoment::SessionStart => "a session begins",
        HookMoment::Prompt => "a prompt",
        HookMoment::Compacting => "before a compaction",
        HookMoment::Compacted => "after a compaction",
        HookMoment::SettingsChanged => "settings change",
        HookMoment::Answered => "the model has answered",
        HookMoment::Aside => "anything else",
    }
}
