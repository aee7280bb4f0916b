//! Whose deletion of a halt's file is an answer: that of a person. One that is first seen in the shell of an agent, or while the
//! hooks of a client are live, answers nothing, and the file comes back.

use crate::context::Context;
use crate::workspace::Workspace;
use andon_core::domain::decision::Halt;
use andon_core::domain::findings::HaltReason;
use andon_store::guard_state::GuardSnapshot;

/// Why a deletion that this process sees is no answer to `halt`; `None` where a person may have meant it.
pub(crate) fn unheard(ctx: &Context, ws: &Workspace, halt: &Halt) -> Option<String> {
    if GuardSnapshot::read(ws.repo.git_dir()).is_some_and(|kept| kept.is_live()) {
        return Some("while a client's turn goes on".to_owned());
    }
    if is_hook_of_a_client(ctx) {
        // A file by which a person stopped the loop is theirs to take away; in a call of a tool it would be back by now.
        let by_hand = halt.reason == HaltReason::UserStop;
        return (!by_hand).then(|| "before a client's hook".to_owned());
    }
    ctx.agent_above(&ws.repo).map(|mark| format!("in the shell of an agent ({mark})"))
}

fn is_hook_of_a_client(ctx: &Context) -> bool {
    let mut words = ctx.args.iter().skip(1);
    words.next().is_some_and(|verb| verb == "agent") && words.next().is_some_and(|verb| verb == "hook")
}
