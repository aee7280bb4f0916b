//! `andon calibrate --format json`. Shares and factors are texts of decimal numbers, so that they read alike everywhere.

use serde::Serialize;

use crate::view::calibration::{MistakenHalts, UnaskedRule};

/// `andon/calibration@1`
#[derive(Debug, Serialize)]
pub struct CalibrationJson<'a> {
    /// The name of the document.
    pub schema: &'static str,
    /// The chance that was asked for.
    pub alpha: String,
    /// Good runs.
    pub runs: u64,
    /// Runs that were halted, without a mark as mistaken: not counted.
    pub left_out: u64,
    /// Halts that a person called mistaken: counted as halts of good runs.
    pub mistaken: u64,
    /// Halts that a person called mistaken and that do not count, by reason.
    pub mistaken_not_counted: MistakenHalts,
    /// What the promise is about: `progress`, the rules that see a loop make none. Budgets are no part of it.
    pub covers: &'static str,
    /// Good runs that a budget halts, as configured.
    pub halted_by_budgets: u64,
    /// The same by rule, where any are.
    pub budgets: Vec<BudgetHaltsJson>,
    /// Files that are not counted, as they have no event.
    pub skipped_files: u64,
    /// Files that are not counted, as another one has the same content.
    pub duplicate_files: u64,
    /// The factor that is promised; `null` where nothing can be.
    pub factor: Option<String>,
    /// Good runs that it takes, where there are too few.
    pub needed: Option<u64>,
    /// The ladder, the strictest step first.
    pub curve: Vec<CalibrationStepJson>,
    /// The rules on it.
    pub rules: Vec<CalibrationRuleJson>,
    /// Rules without a statement, because the runs have nothing that they judge.
    pub unasked: &'a [UnaskedRule],
    /// Counts that differ from the configuration.
    pub changes: Vec<CalibrationChangeJson>,
    /// The lines for `[rules]` in `andon.toml`.
    pub lines: Vec<String>,
}

/// A step of the ladder.
#[derive(Debug, Serialize)]
pub struct CalibrationStepJson {
    /// The factor of the counts.
    pub factor: String,
    /// Good runs that are halted.
    pub halted: u64,
    /// The chance that the next one is, at most.
    pub chance: String,
    /// The rate at which runs like these are halted, at most, with a confidence of 95 %.
    pub exact: String,
}

/// A budget.
#[derive(Debug, Serialize)]
pub struct BudgetHaltsJson {
    /// Its rule.
    pub rule: &'static str,
    /// Good runs that it halts.
    pub halted: u64,
}

/// A rule.
#[derive(Debug, Serialize)]
pub struct CalibrationRuleJson {
    /// Its id.
    pub rule: &'static str,
    /// Good runs that it halts.
    pub halted: u64,
    /// The rate that this bears out at most, with a confidence of 95 %.
    pub bound: String,
}

/// A count that differs.
#[derive(Debug, Serialize)]
pub struct CalibrationChangeJson {
    /// The rule.
    pub rule: &'static str,
    /// The parameter.
    pub param: &'static str,
    /// As configured.
    pub was: u64,
    /// As promised.
    pub is: u64,
}
