//! `halt` in the journal: that a halt went into the ledger, and enough of it to bind should its entry be taken away.

use serde_json::{Map, Value, json};

use super::super::members::{FormatError, Members, bounded};
use super::put::{decode_time, put, put_some};
use crate::domain::decision::{Halt, HaltEvidence, StandingHalt};
use crate::domain::detail::Figures;
use crate::domain::findings::{Face, HaltReason};

const MAX_NAME: usize = 1024;
const MAX_MESSAGE: usize = 4096;

pub(super) fn encode(standing: &StandingHalt, map: &mut Map<String, Value>) {
    let halt = &standing.halt;
    put(map, "type", "halt");
    put(map, "at", &halt.at);
    put(map, "entry", &standing.id);
    put(map, "rule", &bounded(&halt.rule, MAX_NAME));
    put(map, "halt_reason", halt.reason.as_str());
    put(map, "message", &bounded(&halt.message, MAX_MESSAGE));
    put(map, "face", halt.face.file_name());
    put(map, "cycle_id", &bounded(&halt.cycle_id, MAX_NAME));
    map.insert("iteration".into(), json!(halt.iteration));
    put_some(map, "head", halt.head.as_ref());
    put_some(map, "branch", halt.branch.as_deref().map(|branch| bounded(branch, MAX_NAME)).as_ref());
    put_some(map, "base", halt.base.as_ref());
    put(map, "worktree", &bounded(&halt.worktree, MAX_NAME));
}

pub(super) fn decode(members: &mut Members<'_>) -> Result<StandingHalt, FormatError> {
    let at = decode_time(members)?;
    let id = members.parsed("entry", "a sha256")?;
    let rule = members.text("rule")?;
    let reason = members.named("halt_reason", "a reason of a halt", HaltReason::from_name)?;
    let face = members.named("face", "a file of .andon", Face::from_name)?;
    let halt = Halt {
        cycle_id: members.text("cycle_id")?.unwrap_or_default(),
        reason: members.required("halt_reason", reason)?,
        rule: members.required("rule", rule)?,
        message: members.text("message")?.unwrap_or_default(),
        figures: Figures::Untold,
        face: face.unwrap_or(Face::Checkpoint),
        evidence: HaltEvidence::default(),
        suggested_actions: Vec::new(),
        iteration: members.count("iteration")?.unwrap_or(0),
        head: members.parsed("head", "an object id")?,
        branch: members.text("branch")?,
        worktree: members.text("worktree")?.unwrap_or_else(|| "main".to_owned()),
        base: members.parsed("base", "an object id")?,
        beside: Vec::new(),
        at: members.required("at", at)?,
    };
    Ok(StandingHalt { id: members.required("entry", id)?, halt })
}

#[cfg(test)]
mod tests {
    use crate::domain::decision::{Halt, HaltEvidence, StandingHalt};
    use crate::domain::detail::Figures;
    use crate::domain::findings::{Face, HaltReason};
    use crate::domain::ids::EntryId;
    use crate::domain::time::Timestamp;
    use crate::record::journal::JournalLine;

    use super::super::line::{decode_line, encode_line};

    #[test]
    fn a_halt_comes_back_without_its_evidence() {
        let halt = Halt {
            cycle_id: "agent".to_owned(),
            reason: HaltReason::UserStop,
            rule: "user-stop".to_owned(),
            message: "lunch\n\u{1b}[31m".to_owned(),
            figures: Figures::Untold,
            face: Face::Checkpoint,
            evidence: HaltEvidence::default(),
            suggested_actions: Vec::new(),
            iteration: 3,
            head: None,
            branch: Some("main".to_owned()),
            worktree: "main".to_owned(),
            base: None,
            beside: Vec::new(),
            at: Timestamp(1_795_188_600),
        };
        let line = JournalLine::Halt(Box::new(StandingHalt { id: EntryId([7; 32]), halt }));
        let text = encode_line(&line);
        assert_eq!(decode_line(text.as_bytes()).unwrap(), line);
        for gone in ["\"entry\"", "\"rule\"", "\"halt_reason\"", "\"at\""] {
            assert!(decode_line(text.replace(gone, "\"x\"").as_bytes()).is_err(), "{gone}");
        }
    }
}
