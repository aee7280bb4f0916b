//! How `OpenHands` is answered: exit code 2 blocks, and context is a flat member.

use serde_json::json;

use crate::{Asked, Reply, Say};

pub(crate) fn reply(_: Asked<'_>, say: &Say) -> Reply {
    match say {
        // Its arguments cannot be changed.
        Say::Nothing | Say::Rewrite(_) => Reply::default(),
        Say::Refuse(why) | Say::Hold(why) | Say::Keep(why) => Reply::blocks(why),
        Say::Tell(text) => Reply::json(&json!({ "additionalContext": text })),
        Say::LetGo(text) => Reply::aside(text),
    }
}
