//! How Claude Code is answered: as its shape says.

use crate::adapter::agent::shaped;
use crate::adapter::agent::{Asked, Reply, Say};

pub(in crate::adapter::agent) fn reply(asked: Asked<'_>, say: &Say) -> Reply {
    shaped::reply(asked, say)
}
