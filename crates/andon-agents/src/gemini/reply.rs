//! How Gemini CLI is answered: it does not know `hookSpecificOutput` before a tool but for arguments, of which it takes
//! what is told and keeps the rest.

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
