//! How Cursor is answered: by its own JSON, and by exit code 2 where it refuses.

use serde_json::json;

use crate::{Asked, Reply, Say};
use andon_core::domain::agent_door::HookMoment;

pub(crate) fn reply(asked: Asked<'_>, say: &Say) -> Reply {
    match say {
        Say::Nothing => Reply::default(),
        Say::Refuse(why) | Say::Keep(why) => {
            let decision = json!({ "permission": "deny", "user_message": why, "agent_message": why });
            Reply { exit: 2, stderr: format!("{why}\n"), ..Reply::json(&decision) }
        }
        Say::Rewrite(args) => Reply::json(&json!({ "permission": "allow", "updated_input": args })),
        Say::Tell(text) if asked.moment == HookMoment::Prompt => Reply::aside(text),
        Say::Tell(text) => Reply::json(&json!({ "additional_context": text })),
        Say::Hold(what) => Reply::json(&json!({ "followup_message": what })),
        Say::LetGo(text) => Reply::aside(text),
    }
}
