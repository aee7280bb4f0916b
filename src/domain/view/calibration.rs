//! What calibration found, as `andon calibrate` shows it.

use crate::domain::diagnostic::Diagnostic;

/// What is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promised {
    /// With the counts of the rules times this many hundredths.
    Factor(u64),
    /// Nothing: it takes so many good runs.
    TooFew(u64),
    /// Nothing: even with the largest factor too many are halted.
    Nothing,
}

/// One step of the ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderStep {
    /// The factor in hundredths.
    pub factor: u64,
    /// Good runs that are halted there.
    pub halted: u64,
    /// The chance that the next one is, at most.
    pub chance: f64,
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

/// The counts of a rule that differ from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaledCounts {
    /// Its id.
    pub rule: &'static str,
    /// Name, count as configured, count that is promised.
    pub counts: Vec<(&'static str, u64, u64)>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The chance that was asked for.
    pub alpha: f64,
    /// Commits that were looked at; none of event streams.
    pub commits: usize,
    /// Good runs.
    pub runs: u64,
    /// Runs that were halted, which nobody called mistaken: they are not counted.
    pub left_out: u64,
    /// Halts of those runs that a person called mistaken.
    pub mistaken: u64,
    /// Files that are not counted, as they have no event.
    pub skipped_files: u64,
    /// What is promised.
    pub promised: Promised,
    /// The ladder, the strictest step first.
    pub curve: Vec<LadderStep>,
    /// The rules on it.
    pub bounds: Vec<RuleBound>,
    /// What to write into the configuration.
    pub changed: Vec<ScaledCounts>,
    /// Files and lines that do not count.
    pub warnings: Vec<Diagnostic>,
}

/// Whether the configuration keeps a promise as it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PromiseKept {
    /// It does: so many good runs are halted, and the next one is with this chance at most.
    Yes(u64, f64),
    /// It does not.
    No(u64, f64),
    /// Too few runs to tell; so many are needed.
    TooFew(u64),
}

impl Calibration {
    /// Whether the counts as configured keep the promise.
    pub fn kept(&self) -> PromiseKept {
        if let Promised::TooFew(needed) = self.promised {
            return PromiseKept::TooFew(needed);
        }
        let as_configured = self.curve.iter().find(|step| step.factor == 100);
        let (halted, chance) = as_configured.map_or((0, 1.0), |step| (step.halted, step.chance));
        if chance <= self.alpha + 1e-12 {
            PromiseKept::Yes(halted, chance)
        } else {
            PromiseKept::No(halted, chance)
        }
    }
}
