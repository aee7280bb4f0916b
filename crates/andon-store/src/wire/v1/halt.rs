//! `halt` in the journal: that a halt went into the ledger, and enough of it to bind should its entry be removed.

use serde::{Deserialize, Serialize};

use andon_core::domain::decision::{Halt, HaltEvidence, HaltReach, StandingHalt};
use andon_core::domain::detail::Figures;
use andon_core::domain::findings::{HaltReason, ReportFile};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_core::domain::time::Timestamp;
use andon_core::format::{Count, bounded};

const MAX_NAME: usize = 1024;
const MAX_MESSAGE: usize = 4096;

#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct HaltLine {
    at: Timestamp,
    entry: EntryId,
    rule: String,
    halt_reason: HaltReason,
    message: Option<String>,
    face: Option<ReportFile>,
    cycle_id: Option<String>,
    iteration: Option<Count>,
    head: Option<CommitId>,
    branch: Option<String>,
    base: Option<CommitId>,
    worktree: Option<String>,
    binds: Option<HaltReach>,
}

impl From<&StandingHalt> for HaltLine {
    fn from(standing: &StandingHalt) -> Self {
        let halt = &standing.halt;
        Self {
            at: halt.at,
            entry: standing.id,
            rule: bounded(&halt.rule, MAX_NAME),
            halt_reason: halt.reason,
            message: Some(bounded(&halt.message, MAX_MESSAGE)),
            face: Some(halt.report_file),
            cycle_id: Some(bounded(&halt.cycle_id, MAX_NAME)),
            iteration: Some(Count(halt.iteration)),
            head: halt.head,
            branch: halt.branch.as_deref().map(|branch| bounded(branch, MAX_NAME)),
            base: halt.base,
            worktree: Some(bounded(&halt.worktree, MAX_NAME)),
            binds: halt.binds.key(),
        }
    }
}

impl From<HaltLine> for StandingHalt {
    fn from(line: HaltLine) -> Self {
        let halt = Halt {
            cycle_id: line.cycle_id.unwrap_or_default(),
            reason: line.halt_reason,
            rule: line.rule,
            message: line.message.unwrap_or_default(),
            figures: Figures::Unreported,
            summary: Box::default(),
            report_file: line.face.unwrap_or(ReportFile::Checkpoint),
            evidence: HaltEvidence::default(),
            suggested_actions: Vec::new(),
            iteration: line.iteration.unwrap_or_default().0,
            head: line.head,
            branch: line.branch,
            worktree: line.worktree.unwrap_or_else(|| "main".to_owned()),
            base: line.base,
            beside: Vec::new(),
            binds: line.binds.unwrap_or_default(),
            at: line.at,
        };
        Self { id: line.entry, halt }
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::v1::{JournalLine, decode_line, encode_line};
    use andon_core::domain::decision::{Halt, HaltEvidence, HaltReach, StandingHalt};
    use andon_core::domain::detail::Figures;
    use andon_core::domain::findings::{HaltReason, ReportFile};
    use andon_core::domain::ids::EntryId;
    use andon_core::domain::time::Timestamp;

    #[test]
    fn a_halt_comes_back_without_its_evidence() {
        let halt = Halt {
            cycle_id: "agent".to_owned(),
            reason: HaltReason::UserStop,
            rule: "user-stop".to_owned(),
            message: "lunch\n\u{1b}[31m".to_owned(),
            figures: Figures::Unreported,
            summary: Box::default(),
            report_file: ReportFile::Checkpoint,
            evidence: HaltEvidence::default(),
            suggested_actions: Vec::new(),
            iteration: 3,
            head: None,
            branch: Some("main".to_owned()),
            worktree: "main".to_owned(),
            base: None,
            beside: Vec::new(),
            binds: HaltReach::Worktree,
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
