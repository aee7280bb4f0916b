//! What is to be done about a decision: a list of these, executed in `action`.

use super::decision::{Halt, Story};
use super::facts::Ack;
use super::findings::Face;

/// One side effect. The order of a plan matters: a face is written before its ledger entry, so that a
/// death between the two can never look like a person's deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Write `.andon/CHECKPOINT.md` or `BLOCKER_REPORT.md`.
    WriteFace {
        /// The halt it shows.
        halt: Box<Halt>,
        /// What was tried.
        story: Box<Story>,
    },
    /// Append `loop.halted` to the ledger.
    RecordHalt(Box<Halt>),
    /// Append `loop.acknowledged` to the ledger, then the `ack` fact to the journal.
    RecordAck(Box<Ack>),
    /// Remove the face of an acknowledged halt, if it is there.
    RemoveFace(Face),
    /// Remove `.andon/STOP` and `.andon/PAUSE`, if they are there.
    RemoveStops,
}
