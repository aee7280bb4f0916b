//! A payload that every hook before a tool refuses, for `andon doctor --live`. It is handed to the hook alone, so that nothing
//! runs whatever comes of it.

use super::{own, shared_dialect};
use andon_core::domain::agent::Client;
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::client_spec::Dialect;

/// The client's event before a tool, and a payload of it in `session`.
pub fn canary(client: Client, session: &str) -> (&'static str, String) {
    let spec = client.spec();
    let before = spec.events().find(|(_, moment)| *moment == HookMoment::BeforeTool);
    let event = before.map_or("", |(event, _)| event);
    let payload = match &spec.dialect {
        Dialect::Shaped(shape) => shared_dialect::canary(shape, event, session),
        Dialect::Own => own(client).map(|own| (own.canary)(session)).unwrap_or_default(),
    };
    (event, payload.to_string())
}

/// Whether a hook that ended with `code` and wrote `stdout` has refused, as that client takes it.
pub fn has_refused(client: Client, code: Option<i32>, stdout: &str) -> bool {
    own(client).map_or(exits_refusing(code, stdout), |own| (own.has_refused)(code, stdout))
}

/// How most clients are refused.
pub(super) fn exits_refusing(code: Option<i32>, _: &str) -> bool {
    code == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DISARMS, Instruction, moment, read, reply};
    use andon_core::domain::agent_door::HookMoment;

    #[test]
    fn each_client_is_read_and_its_refusal_known() {
        for (client, name) in Client::ALL {
            let (event, text) = canary(client, "s1");
            assert_eq!(moment(client, event), Some(HookMoment::BeforeTool), "{name}");
            let payload = read(client, event, text.as_bytes()).unwrap();
            assert_eq!(payload.session.as_deref(), Some("s1"), "{name}");
            assert_eq!(payload.calls[0].used.commands, [DISARMS], "{name}");
            let asked = (event, HookMoment::BeforeTool);
            let refusal = reply(client, asked, &payload.calls, &Instruction::Refuse("no".into()));
            assert!(has_refused(client, Some(refusal.exit.into()), &refusal.stdout), "{name}");
            let nothing = reply(client, asked, &payload.calls, &Instruction::Nothing);
            assert!(!has_refused(client, Some(nothing.exit.into()), &nothing.stdout), "{name}");
        }
    }
}
