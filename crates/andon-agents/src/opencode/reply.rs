//! Replies to the plugin: exit code 2 and the reason on standard error, which it throws; a member of the JSON on
//! standard output otherwise: `args` to run with, `context` for the model, `message` for the person. It cannot keep a
//! turn from ending: what is missing becomes a `prompt` for the next one, which need not be sent.

use serde_json::json;

use crate::{Asked, Reply, Say};

pub(crate) fn reply(_: Asked<'_>, say: &Say) -> Reply {
    match say {
        Say::Nothing => Reply::default(),
        Say::Refuse(why) | Say::Keep(why) => Reply::blocks(why),
        Say::Rewrite(args) => Reply::json(&json!({ "args": args })),
        Say::Tell(text) => Reply::json(&json!({ "context": text })),
        Say::Hold(what) => Reply::json(&json!({ "prompt": what })),
        Say::LetGo(text) => Reply::json(&json!({ "message": text })),
    }
}
