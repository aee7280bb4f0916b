//! Properties of a rule for the rest of the code. Each rule declares them in its own file, and its findings carry
//! it, so that no other file needs the name of a rule.

use super::Signal;

/// The properties of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The class of its safety events.
    pub event: EventClass,
    /// The dirty bit that it decides. Only such a rule can be skipped for one commit.
    pub dirty: Option<DirtyBit>,
    /// The suggestion when it halts.
    pub advice: Advice,
    /// The way a commit message waives it, as a help text.
    pub waiver: Option<&'static str>,
    /// True if its count is also reset alone, not only when the window starts anew (docs/spec-map.md, loop rules: reset
    /// failure counter).
    pub resets_alone: bool,
    /// The signal that it gives.
    pub signal: Option<Signal>,
    /// The effect of larger counts.
    pub counts: Nesting,
    /// The facts that it needs before it can find anything.
    pub judges: RuleSubject,
    /// True if the files that it names are documents; those of every other rule are code.
    pub names_documents: bool,
    /// Iterations for which its cause may pause at the same files: a warning after that many is still the same one.
    pub pause: usize,
}

impl About {
    /// A rule with nothing to declare but the class of its events.
    pub const fn new(event: EventClass) -> Self {
        Self {
            event,
            dirty: None,
            advice: Advice::ByReason,
            waiver: None,
            resets_alone: false,
            signal: None,
            counts: Nesting::Free,
            judges: RuleSubject::Iterations,
            names_documents: false,
            pause: 0,
        }
    }

    /// A rule about these facts.
    pub(crate) const fn judging(event: EventClass, judges: RuleSubject) -> Self {
        Self { judges, ..Self::new(event) }
    }

    /// A rule about these facts, each of whose counts is a bare threshold.
    pub(crate) const fn nested(event: EventClass, judges: RuleSubject) -> Self {
        Self { counts: Nesting::Nested, ..Self::judging(event, judges) }
    }

    /// The same with a step of its own as its advice.
    pub(crate) const fn advising(self, step: AdvisedStep) -> Self {
        Self { advice: Advice::Own(step), ..self }
    }
}

/// The relation of a rule at smaller counts to the same rule at larger ones, every count times the same factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// A halt at larger counts is one at smaller ones: each count is a bare threshold.
    Nested,
    /// A finding at larger counts is one at smaller ones, at any level.
    Found,
    /// Nothing: windows grow with the counts, or round up otherwise.
    Free,
}

crate::named_enum! {
    /// The facts that a rule judges.
    pub enum RuleSubject {
        /// Commits and turns, with whatever else is known of them.
        Iterations = "commits or turns",
        /// Results of tests.
        Tests = "test results",
        /// Runs of tests within a turn, before any commit.
        Attempts = "test runs",
        /// Turns that ended.
        Turns = "turns",
        /// Tool calls.
        Calls = "tool calls",
        Outputs = "outputs",
        /// Compactions of a context.
        Compactions = "compactions",
        /// Votes of reviewers.
        Votes = "votes",
    }
}

crate::named_enum! {
    /// The classes of safety events, by the names of the document (docs/spec-map.md, loop rules: safety event log).
    pub enum EventClass {
        /// Tool calls go round; level and report file show how badly.
        ToolLoop = "SOFT_LOOP",
        /// Work is not ready: not tested, failing, not documented.
        DirtyBit = "DIRTY_BIT_VIOLATION",
        /// The context window has to be compacted.
        Compaction = "COMPACTION_GATE",
        /// The agent's own configuration is not the pinned one.
        IdentityDrift = "IDENTITY_DRIFT",
        /// Several signals at once.
        Escalation = "ESCALATION",
        /// A commit went around the gate.
        GateBypass = "GATE_BYPASS",
        /// A person stopped the loop.
        UserStop = "USER_STOP",
        /// The cap of all iterations.
        IterationCap = "ITERATION_CAP",
        /// Any other budget.
        Budget = "BUDGET_EXCEEDED",
        /// It fails again and again.
        NoProgress = "NO_PROGRESS",
        /// Earlier states come back.
        Oscillation = "OSCILLATION",
        /// Nothing moves.
        Stall = "STALL",
    }
}

/// A dirty bit (docs/spec-map.md, loop rules: dirty bit checks).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DirtyBit {
    TestsRun,
    TestsPassing,
    DocsUpdated,
}

/// The first suggestion when a rule halts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// The suggestion of its halt reason.
    ByReason,
    /// A step of its own: the section "Advice" of its page says it.
    Own(AdvisedStep),
    /// To raise its parameter `max`.
    RaiseMax,
}

crate::named_enum! {
    /// The kind of a suggested step. The codes are stable: programs rely on them.
    pub enum AdvisedStep, "the code of a step" {
        /// Ask the person who stopped the loop.
        AskPerson = "ask_person",
        /// Continue together with a person.
        SwitchToInteractive = "switch_to_interactive",
        /// Tell the agent what its repeated call answers, and ask for another approach.
        ChangeApproach = "change_approach",
        /// Give the node what it does not know.
        TightenContext = "tighten_context",
        /// Say what has to change, or what is missing.
        ClarifyTask = "clarify_task",
        /// Read the whole error of the first failing test.
        ReadFirstError = "read_first_error",
        /// One test before the others.
        NarrowTask = "narrow_task",
        /// Give the task to another session or model.
        HandOver = "hand_over",
        /// Choose between the two states that alternate.
        ChooseState = "choose_state",
        /// Write down what each of the two states is for.
        ExplainStates = "explain_states",
        /// Put a node between two that undo each other's work.
        Reconcile = "reconcile",
        /// Compact the context window.
        CompactContext = "compact_context",
        /// Raise the limit that was reached.
        RaiseBudget = "raise_budget",
        /// Commit what is done, and do the rest apart.
        SplitTask = "split_task",
        /// Continue from the best state so far.
        ReturnToBest = "return_to_best",
        /// Write into the documents what holds.
        UpdateDocs = "update_docs",
        /// Say which tests were red before the loop began.
        NameKnownRed = "name_known_red",
    }
}

/// The text under a title of a rule's page; empty without it.
pub(crate) fn section<'p>(prose: &'p str, title: &str) -> &'p str {
    let mut sections = prose.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    sections.find(|(name, _)| *name == title).map_or("", |(_, text)| text.trim())
}
