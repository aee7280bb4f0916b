//! Replies to Gemini CLI: before a tool it reads `hookSpecificOutput` only for arguments; it takes the given ones and
//! keeps the rest.

use crate::shaped::{self, specific};
use crate::{Asked, Reply, Say};

pub(crate) fn reply(asked: Asked<'_>, say: &Say) -> Reply {
    match say {
        Say::Rewrite(args) => specific(asked.event, "tool_input", args),
        Say::Nothing | Say::Refuse(_) | Say::Tell(_) | Say::Hold(_) | Say::LetGo(_) | Say::Keep(_) => {
            shaped::reply(asked, say)
        }
    }
}
