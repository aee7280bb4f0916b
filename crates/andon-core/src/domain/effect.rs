//! The actions that follow from a decision: a plan is a list of these, carried out in `andon_engine::effect`.
//!
//! The response to a stuck loop in addition to the halt: whom to ask and which provider goes on (docs/spec-map.md, loop
//! safety: auto escalation policy; loop rules: advisor and fallback chain).

use super::{Ack, Briefing, Episode, Halt, ReportFile, Story, Timestamp};

/// One side effect. The order of a list matters: a report file is written before its ledger entry, so that a
/// death between the two can never look like a person's deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Write `.andon/CHECKPOINT.md` or `BLOCKER_REPORT.md`: the halt, and the story of the way there.
    WriteReportFile { halt: Box<Halt>, story: Box<Story> },
    /// Append `loop.halted` to the ledger.
    RecordHalt(Box<Halt>),
    /// Append `loop.acknowledged` to the ledger, then the `ack` fact to the journal.
    RecordAck(Box<Ack>),
    /// Remove the report file of an acknowledged halt, if it is there.
    RemoveReportFile(ReportFile),
    /// Remove `.andon/STOP` or `.andon/PAUSE`, if it is there.
    RemoveStop(&'static str),
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

impl Effect {
    /// True if the verdict rests on it: when it fails, the effects after it are not carried out. The failure of another
    /// one is reported, and the rest continues.
    pub fn is_needed(&self) -> bool {
        matches!(
            self,
            Self::WriteReportFile { .. }
                | Self::RecordHalt(_)
                | Self::RecordAck(_)
                | Self::RemoveReportFile(_)
                | Self::RemoveStop(_)
        )
    }
}

crate::named_enum! {
    /// The reaction to a stalled loop (docs/concepts.md).
    pub enum OnStall, "a policy" {
        /// A person continues together with the agent.
        Interactive = "interactive" | "switch_to_interactive",
        /// The loop is paused: `.andon/PAUSE` is written as well.
        Pause = "pause",
        /// A reviewer is started.
        SpawnReviewer = "spawn_reviewer",
        /// The next provider of the fallback chain is started.
        RetryWithNewProvider = "retry_with_new_provider",
    }
}

crate::named_enum! {
    /// `guard.ack`: what acknowledges a halt (docs/concepts.md).
    pub enum AckMode, "what answers a halt" {
        /// Deleting the file, or `andon resume`.
        Delete = "delete",
        /// Only `andon resume`; a deleted file comes back.
        Resume = "resume",
        /// Only a witness's signature.
        Signed = "signed",
    }
}

crate::named_enum! {
    /// `notify.bell`: whether a terminal's bell rings at a halt.
    #[derive(Default)]
    pub enum Bell, "true or false" {
        /// No BEL is written.
        #[default]
        Silent = "false",
        /// A BEL goes to the terminal with each notice, where there is one.
        Rings = "true",
    }
}

crate::named_enum! {
    /// A condition that makes the fallback chain move on to a provider.
    pub enum Condition, "a condition" {
        /// The gate failed more than three times in a row.
        FailedGate = "failed_gate",
        /// The context window is used up.
        ContextExhausted = "context_exhausted",
        /// The loop was stopped or has halted.
        StopEvent = "stop_event",
    }
}

/// A provider of the fallback chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The name of the provider.
    pub name: String,
    /// The conditions that lead to the provider; if empty, any condition does. Of a provider that is started, those that did.
    pub on: Vec<Condition>,
}

impl Provider {
    /// Reads `NAME` or `NAME on CONDITION, CONDITION`; `None` when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, conditions) = match text.split_once(" on ") {
            Some((name, conditions)) => (name, conditions),
            None => (text, ""),
        };
        let name = name.trim();
        let words = conditions.split(',').filter(|_| !conditions.is_empty());
        let on = words.map(|word| Condition::from_name(word.trim())).collect::<Option<Vec<_>>>()?;
        let plain = !name.is_empty() && name.len() <= 128 && !name.contains(char::is_control);
        plain.then(|| Self { name: name.to_owned(), on })
    }
}

/// A program of the user's own configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Program and arguments; never a shell line.
    pub argv: Vec<String>,
    /// Longest time it may take, in seconds.
    pub timeout: super::Span,
}

crate::named_enum! {
    /// The description of the deadlock (docs/spec-map.md, loop rules: out-of-band advisor).
    pub enum Deadlock {
        /// The same tool call again, HARD.
        Hard = "HARD",
        /// The same tool call without end.
        Infinite = "INFINITE",
        /// Nothing moves, or the same states come back.
        Stalled = "STALLED",
        /// It fails again and again.
        RepeatedError = "REPEATED_ERROR",
    }
}

/// A notice for the program of `[notify]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The kind of event, by which the user chooses the notices to receive.
    pub kind: NoticeKind,
    /// The rule behind it; empty where there is none.
    pub rule: String,
    /// In one sentence; of a halt only what is said before its own words. May hold untrusted text.
    pub message: String,
    /// The halt that it is about.
    pub halt: Option<Box<Halt>>,
    /// The same for all notices of one episode, which is reported once.
    pub episode: String,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// Name of the worktree.
    pub worktree: String,
    /// When it happened, which is the time of the process that saw it.
    pub at: Timestamp,
}

impl Notice {
    /// About no rule, halt or branch, and without words.
    pub fn new(kind: NoticeKind, episode: String, worktree: String, at: Timestamp) -> Self {
        let (rule, message) = (String::new(), String::new());
        Self { kind, rule, message, halt: None, episode, branch: None, worktree, at }
    }
}

crate::named_enum! {
    /// The subject of a notice.
    pub enum NoticeKind {
        /// The loop was halted.
        Halted = "halted",
        /// Several signs of being stuck were seen together.
        Escalated = "escalated",
        /// In perpetual mode a PAUSE was cleared.
        PauseCleared = "pause_cleared",
        /// The context window has to be compacted.
        CompactionDue = "compaction_due",
        /// A halt had no answer for `notify.again`.
        Unanswered = "unanswered",
        /// A round waits for a person.
        RoundWaits = "round_waits",
        /// A person tries whether notices arrive.
        Test = "test",
    }
}

/// The information that the next one needs (docs/spec-map.md, signals and escalation: `write_structured_handoff`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// The names of the signals that are hot.
    pub signals: Vec<&'static str>,
    /// The halt, or what would have been one in perpetual mode.
    pub halt: Halt,
    /// The signals behind it.
    pub episode: Episode,
    /// The attempts, by iteration.
    pub story: Story,
}

/// The question to an advisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The type of the deadlock.
    pub deadlock: Deadlock,
    /// The unanswered halt while the question is asked.
    pub halt: Halt,
    /// The attempts before the halt.
    pub story: Story,
}

/// A program of `[on_stall]` that is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The policy that asks for the program.
    pub policy: OnStall,
    /// The halt that the program is to deal with.
    pub halt: Halt,
    /// The next provider.
    pub provider: Option<Provider>,
}

#[cfg(test)]
mod response_tests {
    use super::*;

    #[test]
    fn providers_are_names_with_conditions() {
        let read = |text: &str| Provider::parse(text).map(|one| (one.name, one.on));
        assert_eq!(read("claude"), Some(("claude".into(), vec![])));
        let both = vec![Condition::FailedGate, Condition::StopEvent];
        assert_eq!(read(" my model on failed_gate, stop_event"), Some(("my model".into(), both)));
        for bad in ["", " on failed_gate", "x on nothing", "x on failed_gate,", "a\nb"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
