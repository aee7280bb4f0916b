//! `andon observe KIND`: facts from CI and orchestrators. One file a kind; each checks what it is told and appends
//! one line to the journal, as `andon test` and the hooks do for what they see themselves.

pub mod stream;
pub mod test_run;

use crate::domain::events::Trace;
use crate::ops::context::Context;

/// The trace of an event, in the session of the environment where it names none.
pub(in crate::ops) fn in_session(ctx: &Context, trace: Option<Box<Trace>>) -> Option<Box<Trace>> {
    let Some(session) = ctx.actor().session else { return trace };
    let mut trace = trace.unwrap_or_default();
    trace.session.get_or_insert(session);
    Some(trace)
}
