//! Replies to Cline. `cancel` ends the whole run without a visible reason, so a refused shell call is replaced by a
//! command that prints the reason and fails; any other tool can only be cancelled.

use serde_json::{Value, json};

use crate::{Asked, Reply, Say};
use andon_core::domain::agent_door::ToolKind;
use andon_core::escape::shell_quote;

pub(crate) fn reply(asked: Asked<'_>, say: &Say) -> Reply {
    match say {
        Say::Nothing | Say::Hold(_) => Reply::json(&json!({})),
        Say::Refuse(why) => match asked.calls.first().filter(|call| call.used.kind == ToolKind::Shell) {
            Some(call) => {
                // A line each: no shell has to know how to write a line break within quotes.
                let lines: Vec<String> = why.lines().map(shell_quote).collect();
                let script = format!("printf '%s\\n' {} >&2; exit 1", lines.join(" "));
                Reply::json(&json!({ "overrideInput": instead(call.args.as_ref(), &script) }))
            }
            None => Reply::json(&json!({ "cancel": true, "errorMessage": why })),
        },
        Say::Rewrite(args) => Reply::json(&json!({ "overrideInput": args })),
        Say::Tell(text) => Reply::json(&json!({ "contextModification": text })),
        Say::LetGo(text) | Say::Keep(text) => {
            Reply { stderr: format!("{text}\n"), ..Reply::json(&json!({})) }
        }
    }
}

/// The arguments with `script` as the only command.
fn instead(args: Option<&Value>, script: &str) -> Value {
    match args {
        Some(Value::Object(members)) if !members.contains_key("commands") => {
            let mut members = members.clone();
            members.insert("command".to_owned(), Value::from(script));
            Value::Object(members)
        }
        _ => json!({ "commands": [script] }),
    }
}
