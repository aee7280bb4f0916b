//! The actions that follow from a decision: a plan is a list of these, carried out in `andon_engine::effect`.

use super::briefing::Briefing;
use super::decision::{Halt, Story};
use super::facts::Ack;
use super::findings::ReportFile;
use super::response::{Handoff, Notice, Question, Start};

/// One side effect. The order of a list matters: a report file is written before its ledger entry, so that a
/// death between the two can never look like a person's deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Write `.andon/CHECKPOINT.md` or `BLOCKER_REPORT.md`.
    WriteReportFile {
        /// The halt it shows.
        halt: Box<Halt>,
        /// What the file says about the way there.
        story: Box<Story>,
    },
    /// Append `loop.halted` to the ledger.
    RecordHalt(Box<Halt>),
    /// Append `loop.acknowledged` to the ledger, then the `ack` fact to the journal.
    RecordAck(Box<Ack>),
    /// Remove the report file of an acknowledged halt, if it is there.
    RemoveReportFile(ReportFile),
    /// Remove `.andon/STOP` and `.andon/PAUSE`, if they are there.
    RemoveStops,
    /// Write `.andon/handoffs/<time>.json` and `.md`.
    Handoff(Box<Handoff>),
    /// Write the marker `.andon/signals/UNCERTAINTY_ESCALATION`.
    Marker(Box<Halt>),
    /// Write `.andon/PAUSE`.
    Pause(Box<Halt>),
    /// Run the program of `[notify]`.
    Notify(Box<Notice>),
    /// Write `.andon/ADVISOR_PROMPT.md` and ask the advisor, if there is one.
    Ask(Box<Question>),
    /// Start the program of `[on_stall]`.
    Start(Box<Start>),
    /// Write `.andon/MISSION_BRIEFING.md`.
    Brief(Box<Briefing>),
}

/// What follows when an effect fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// The effects after it are not carried out: the verdict rests on it.
    Must,
    /// The failure is reported, and the rest continues: no verdict depends on it.
    BestEffort,
}

impl Effect {
    /// What follows when it fails.
    pub fn duty(&self) -> Duty {
        match self {
            Self::WriteReportFile { .. }
            | Self::RecordHalt(_)
            | Self::RecordAck(_)
            | Self::RemoveReportFile(_)
            | Self::RemoveStops => Duty::Must,
            Self::Handoff(_)
            | Self::Marker(_)
            | Self::Pause(_)
            | Self::Notify(_)
            | Self::Ask(_)
            | Self::Start(_)
            | Self::Brief(_) => Duty::BestEffort,
        }
    }
}
