//! The result of a calibration, as `andon calibrate` shows it.

use serde::Serialize;

use andon_core::detect::{calibration::Promise, ladder::LADDER};
use andon_core::domain::Diagnostic;

/// One step of the ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderStep {
    /// The factor in hundredths.
    pub factor: u64,
    /// Good runs that are halted there.
    pub halted: u64,
    /// The chance that the next one is, at most, over all the runs that might have been drawn.
    pub chance: f64,
    /// The rate at which runs like these are halted, at most, with a confidence of 95 %.
    pub exact: f64,
    /// True when it keeps the promise that was asked for.
    pub holds: bool,
}

/// One rule at the step that is promised, or else as configured.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleBound {
    /// Its id.
    pub rule: &'static str,
    /// Good runs that it halts.
    pub halted: u64,
    /// The rate that this bears out at most, with a confidence of 95 %.
    pub bound: f64,
}

/// A rule without a conclusion: the runs have nothing that it judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnaskedRule {
    /// Its id.
    pub rule: &'static str,
    /// The facts that the runs lack.
    pub lacks: &'static str,
}

/// The counts of a rule that differ from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaledCounts {
    /// Its id.
    pub rule: &'static str,
    /// Name, count as configured, count that is promised.
    pub counts: Vec<(&'static str, u64, u64)>,
    /// The line of the rule for `andon.toml`.
    pub line: String,
}

/// Halts that a person called mistaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MistakenHalts {
    /// Counted as halts of good runs.
    #[serde(skip)]
    pub counted: u64,
    /// Not counted: the rule was made looser since, or halts no more.
    pub mended: u64,
    /// Not counted: they are of budgets, which the promise does not cover.
    pub of_budgets: u64,
    /// Not counted: the run was halted rightly as well, and is left out.
    pub beside_right_ones: u64,
}

/// Good runs that budgets halt, as configured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HaltsOfBudgets {
    /// Runs in all.
    #[serde(rename = "halted_by_budgets")]
    pub all: u64,
    /// The budgets that halt any.
    pub budgets: Vec<HaltsOfBudget>,
}

/// A budget that halts good runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HaltsOfBudget {
    pub rule: &'static str,
    /// Good runs that it halts.
    pub halted: u64,
}

/// The source of good runs, with all that does not count among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CalibrationGround {
    /// Commits that were looked at; none of event streams.
    pub commits: usize,
    /// Runs that were halted, and not marked as mistaken: they are not counted.
    pub left_out: u64,
    /// Halts of those runs that a person called mistaken.
    pub mistaken: MistakenHalts,
    /// Files that are not counted, as they have no event.
    pub skipped_files: u64,
    /// Files that are not counted, as another one has the same content.
    pub duplicate_files: u64,
    /// Files and lines that do not count.
    pub warnings: Vec<Diagnostic>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The chance that was asked for.
    pub alpha: f64,
    /// The source of the runs.
    pub ground: CalibrationGround,
    /// Good runs.
    pub runs: u64,
    /// Good runs that budgets halt, as configured.
    pub by_budgets: HaltsOfBudgets,
    pub promised: Promise,
    /// The ladder, the strictest step first.
    pub curve: Vec<LadderStep>,
    /// The rules on it that had something to judge.
    pub bounds: Vec<RuleBound>,
    /// Those that had not.
    pub unasked: Vec<UnaskedRule>,
    /// Changes for the configuration.
    pub changed: Vec<ScaledCounts>,
    /// True if it has settings of rules already.
    pub own_rules: bool,
}

/// The outcome of a calibration.
#[derive(Debug, Clone, PartialEq)]
pub enum CalibrationResult<T = Box<Calibration>> {
    /// It saw all of what it was given.
    Whole(T),
    /// It did not, and says nothing of the rest, nor of the part.
    Undecided { commits: usize, why: Diagnostic },
}

/// The verdict on the present configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum PromiseStatus {
    /// It does, at this step.
    Yes(LadderStep),
    /// It does not.
    No(LadderStep),
    /// Too few runs to tell; so many are needed.
    TooFew(u64),
}

impl Calibration {
    /// The verdict on the counts as configured.
    pub fn kept(&self) -> PromiseStatus {
        let as_configured = self.curve.iter().find(|step| step.factor == 100).cloned();
        match (self.promised, as_configured) {
            (Promise::TooFew { needed }, _) => PromiseStatus::TooFew(needed),
            (_, Some(step)) if step.holds => PromiseStatus::Yes(step),
            (_, Some(step)) => PromiseStatus::No(step),
            (_, None) => PromiseStatus::TooFew(0),
        }
    }

    /// The step that is promised.
    pub fn promised_step(&self) -> Option<&LadderStep> {
        let Promise::Step(at) = self.promised else { return None };
        self.curve.iter().find(|step| step.factor == LADDER[at])
    }
}
