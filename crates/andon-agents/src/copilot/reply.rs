//! Replies to Copilot CLI: exit code 2 alone blocks and loses the reason, so that the flat decision goes with it; a
//! decision continues a turn, and context is a flat member.

use serde_json::json;

use crate::{Asked, Reply, Say};

pub(crate) fn reply(_: Asked<'_>, say: &Say) -> Reply {
    match say {
        Say::Nothing => Reply::default(),
        Say::Refuse(why) | Say::Keep(why) => {
            let decision = json!({ "permissionDecision": "deny", "permissionDecisionReason": why });
            Reply { exit: 2, stderr: format!("{why}\n"), ..Reply::json(&decision) }
        }
        Say::Rewrite(args) => Reply::json(&json!({ "modifiedArgs": args })),
        Say::Tell(text) => Reply::json(&json!({ "additionalContext": text })),
        Say::Hold(what) => Reply::json(&json!({ "decision": "block", "reason": what })),
        Say::LetGo(text) => Reply::aside(text),
    }
}
