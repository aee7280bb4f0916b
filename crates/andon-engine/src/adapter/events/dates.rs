//! The times of a batch, the same at every entry point: a line without a time has the latest time of the lines before
//! it.

use super::ParsedEvent;
use andon_core::domain::facts::Fact;
use andon_core::domain::time::Timestamp;

/// The latest time in the lines of a batch so far.
#[derive(Debug, Default)]
pub struct Dates {
    last: Option<Timestamp>,
}

impl Dates {
    /// Gives `parsed`, the next line, its time. Before any line has one, it keeps none: its meaning is up to the
    /// reader, which may have a clock of its own.
    #[must_use]
    pub fn date(&mut self, parsed: ParsedEvent) -> ParsedEvent {
        if let Some(told) = parsed.told {
            self.last = self.last.max(Some(told));
            return parsed;
        }
        let Some(at) = self.last else { return parsed };
        let mut fact = parsed.fact;
        match &mut fact {
            Fact::Event(event) => event.at = Some(at),
            Fact::TestRun(run) => run.at = Some(at),
            Fact::Commit(commit) => commit.record.recorded_at = at,
            Fact::Ack(ack) => ack.at = at,
        }
        ParsedEvent { fact, ..parsed }
    }
}
