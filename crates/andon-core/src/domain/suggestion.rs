//! What to do next, as a value: a code for programs, and a sentence for people.

use serde::Serialize;

use super::codec::named;

/// What kind of step is suggested. The codes are stable: programs rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdvisedStep {
    /// Ask the person who stopped the loop.
    AskPerson,
    /// Continue together with a person.
    SwitchToInteractive,
    /// Tell the agent what its repeated call answers, and ask for another approach.
    ChangeApproach,
    /// Give the node what it does not know.
    TightenContext,
    /// Say what has to change, or what is missing.
    ClarifyTask,
    /// Read the whole error of the first failing test.
    ReadFirstError,
    /// One test before the others.
    NarrowTask,
    /// Give the task to another session or model.
    HandOver,
    /// Choose between the two states that alternate.
    ChooseState,
    /// Write down what each of the two states is for.
    ExplainStates,
    /// Put a node between two that undo each other's work.
    Reconcile,
    /// Compact the context window.
    CompactContext,
    /// Raise the limit that was reached.
    RaiseBudget,
    /// Commit what is done, and do the rest apart.
    SplitTask,
    /// Continue from the best state so far.
    ReturnToBest,
    /// Write into the documents what holds.
    UpdateDocs,
}

impl AdvisedStep {
    /// Every step with its code in JSON and in the ledger.
    pub const ALL: [(Self, &'static str); 16] = [
        (Self::AskPerson, "ask_person"),
        (Self::SwitchToInteractive, "switch_to_interactive"),
        (Self::ChangeApproach, "change_approach"),
        (Self::TightenContext, "tighten_context"),
        (Self::ClarifyTask, "clarify_task"),
        (Self::ReadFirstError, "read_first_error"),
        (Self::NarrowTask, "narrow_task"),
        (Self::HandOver, "hand_over"),
        (Self::ChooseState, "choose_state"),
        (Self::ExplainStates, "explain_states"),
        (Self::Reconcile, "reconcile"),
        (Self::CompactContext, "compact_context"),
        (Self::RaiseBudget, "raise_budget"),
        (Self::SplitTask, "split_task"),
        (Self::ReturnToBest, "return_to_best"),
        (Self::UpdateDocs, "update_docs"),
    ];
}

named!(AdvisedStep, "the code of a step");

/// A next step for the person or the agent, with what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// What kind of step; `None` in ledgers of earlier versions, and of a kind that a later one has.
    #[serde(rename = "code")]
    pub step: Option<AdvisedStep>,
    /// In words. May hold untrusted text.
    pub text: String,
}

impl Suggestion {
    /// A suggestion of a known kind.
    pub fn new(step: AdvisedStep, text: impl Into<String>) -> Self {
        Self { step: Some(step), text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_read_back() {
        for (step, code) in AdvisedStep::ALL {
            assert_eq!((step.as_str(), AdvisedStep::from_name(code)), (code, Some(step)));
        }
        assert_eq!(AdvisedStep::from_name("dance"), None);
    }
}
