//! How Qwen Code is answered: as its shape says.

use crate::shaped;
use crate::{Asked, Reply, Say};

pub(crate) fn reply(asked: Asked<'_>, say: &Say) -> Reply {
    shaped::reply(asked, say)
}
