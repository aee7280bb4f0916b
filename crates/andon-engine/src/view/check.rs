//! The result of a check of a range of commits.

use crate::text::ShownChange;
use andon_core::domain::{CommitId, Diagnostic, Halt, Level, TestEvidence};

/// The outcome of a check; the exit code follows from it (docs/exit-codes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Exit 0.
    Fine,
    /// Exit 1.
    Violated,
    /// Exit 3: nothing is known to be wrong, and not everything is known.
    Undecided,
}

/// The result of `andon check`. Texts raw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The range as it was asked for.
    pub range: String,
    /// The commit whose configuration counted: the left side of the range.
    pub configuration: Option<CommitId>,
    /// The number of commits that were examined.
    pub commits: usize,
    /// Violations, in the order of the commits.
    pub violations: Vec<Diagnostic>,
    /// Questions without enough evidence.
    pub undecided: Vec<Diagnostic>,
    /// Other remarks: skipped lines, unknown versions.
    pub warnings: Vec<Diagnostic>,
    /// The tests at the tip, where the caller asked for them.
    pub tests: Option<TipTests>,
    /// Tests of the tip, by its record.
    pub recorded: Option<TestEvidence>,
    /// The halt that is open at the tip.
    pub halt: Option<Box<Halt>>,
    /// The change that the halt is about, where this clone has it.
    pub change: Option<ShownChange>,
}

/// The tests at the tip of a range: run by the check itself, or handed to it by the CI job that ran them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TipTests {
    /// The commit whose code they ran on.
    pub tip: CommitId,
    /// `test.command` at the base of the range; `None` where it has none.
    pub at_base: Option<String>,
    /// `test.command` at the tip.
    pub at_tip: Option<String>,
    /// The reason why the command of the base was not run although the tip has another one.
    pub base_cannot_run: Option<String>,
    /// Each run. There are two where base and tip have different commands.
    pub runs: Vec<TipRun>,
    /// Problems with reports, or with the code that the tests saw.
    pub warnings: Vec<String>,
}

/// One run of the tests at the tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TipRun {
    /// Whose command it was, or who made it.
    pub by: TipRunSource,
    /// The command, or the files that report the test run.
    pub command: String,
    /// The result of the run; `None` where the command could not be started.
    pub evidence: Option<TestEvidence>,
    /// Its worth.
    pub outcome: TipOutcome,
}

andon_core::named_enum! {
    /// The source of a run of the tests at the tip.
    pub enum TipRunSource, "a source of a run" {
        /// The command that the base of the range configures.
        Base = "base",
        /// The command that the tip configures.
        Tip = "tip",
        /// A job of the CI, which handed in its report.
        Ci = "ci",
    }
}

/// The outcome of the tests at the tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TipOutcome {
    /// They passed.
    Passed,
    /// They failed: the check is red.
    Failed,
    /// Nothing is known, for this reason.
    Unknown(String),
}

impl TipRun {
    fn names_tests(&self) -> bool {
        self.evidence.as_ref().is_some_and(|tests| !tests.is_by_exit_code())
    }
}

impl TipTests {
    /// True when base and tip have different test commands.
    pub fn command_differs(&self) -> bool {
        self.at_base != self.at_tip && self.at_base.is_some()
    }

    /// The outcome of all runs together. Where base and tip have different commands, that of the tip decides, and that of
    /// the base may object: with tests that it names as failing, or by failing where the new one names no test at all.
    pub fn outcome(&self) -> TipOutcome {
        let Some(last) = self.runs.last() else {
            return TipOutcome::Unknown("no test ran".to_owned());
        };
        let [base, tip] = &self.runs[..] else { return last.outcome.clone() };
        match (&base.outcome, &tip.outcome) {
            (_, TipOutcome::Failed | TipOutcome::Unknown(_)) => tip.outcome.clone(),
            (TipOutcome::Failed, TipOutcome::Passed) if base.names_tests() => TipOutcome::Failed,
            (TipOutcome::Failed, TipOutcome::Passed) if !tip.names_tests() => TipOutcome::Unknown(format!(
                "the command of the base (`{}`) fails, and the new one (`{}`) names no test that ran",
                base.command, tip.command
            )),
            (_, TipOutcome::Passed) => TipOutcome::Passed,
        }
    }

    pub fn deciding(&self) -> Option<&TipRun> {
        let outcome = self.outcome();
        let alike = self.runs.iter().rev().find(|run| run.outcome == outcome);
        alike.or(self.runs.last())
    }

    /// True when they replace evidence that is missing.
    pub fn stand_in(&self) -> bool {
        self.outcome() == TipOutcome::Passed
    }
}

/// The code of the halt that is open at the tip.
pub const OPEN_HALT: &str = "open-halt";

/// The code of the message about a rule that was skipped for a commit.
pub const SKIPPED_RULE: &str = "skipped-rule";

/// True for a skip that a person accounted for: with a reason, and not in the shell of an agent.
pub fn accepted(what: &Diagnostic) -> bool {
    what.code.as_deref() == Some(SKIPPED_RULE) && what.level == Level::Warn
}

impl CheckReport {
    /// A violation that is known outweighs what is not known.
    pub fn outcome(&self) -> CheckOutcome {
        if self.violations.iter().any(|violation| violation.level >= Level::Block) {
            CheckOutcome::Violated
        } else if self.undecided.is_empty() {
            CheckOutcome::Fine
        } else {
            CheckOutcome::Undecided
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::{CodeId, Oid};
    use testreport::{ExitKind, ReportInput, Root};

    /// A test run of one test, or one that is known by its exit code alone.
    fn tap(text: &str, code: i32) -> TestEvidence {
        let input = ReportInput { name: "r", bytes: text.as_bytes() };
        let inputs = if text.is_empty() { &[][..] } else { &[input][..] };
        TestEvidence::from_run(
            testreport::read(inputs, ExitKind::Code(code), &Root::none()),
            CodeId([1; 32]),
            "x",
        )
    }

    fn run(by: TipRunSource, evidence: Option<TestEvidence>, outcome: TipOutcome) -> TipRun {
        TipRun { by, command: "x".to_owned(), evidence, outcome }
    }

    #[test]
    fn the_command_of_the_tip_decides_and_that_of_the_base_may_object() {
        use TipOutcome::{Failed, Passed, Unknown};
        let named = |outcome: &TipOutcome| match outcome {
            Failed => Some(tap("1..1\nnot ok 1 - a\n", 1)),
            Passed | Unknown(_) => Some(tap("1..1\nok 1 - a\n", 0)),
        };
        let by_exit = |outcome: &TipOutcome| Some(tap("", i32::from(*outcome == Failed)));
        let why = || Unknown("why".to_owned());
        let both = |base: (TipOutcome, bool), tip: (TipOutcome, bool)| {
            let one = |by, (outcome, is_named): (TipOutcome, bool)| {
                let evidence = if is_named { named(&outcome) } else { by_exit(&outcome) };
                run(by, evidence, outcome)
            };
            TipTests {
                tip: CommitId(Oid::ZERO),
                at_base: Some("a".to_owned()),
                at_tip: Some("b".to_owned()),
                base_cannot_run: None,
                runs: vec![one(TipRunSource::Base, base), one(TipRunSource::Tip, tip)],
                warnings: Vec::new(),
            }
            .outcome()
        };
        for (base, tip, expected) in [
            ((Passed, true), (Passed, true), Some(Passed)),
            ((Passed, true), (Failed, true), Some(Failed)),
            ((Passed, true), (why(), true), Some(why())),
            ((why(), true), (Passed, false), Some(Passed)),
            ((Failed, true), (Passed, true), Some(Failed)),
            ((Failed, false), (Passed, true), Some(Passed)),
            ((Failed, false), (Passed, false), None),
        ] {
            let found = both(base.clone(), tip.clone());
            match expected {
                Some(expected) => assert_eq!(found, expected, "{base:?} {tip:?}"),
                None => assert!(matches!(found, Unknown(_)), "{base:?} {tip:?}"),
            }
        }
    }

    #[test]
    fn one_run_decides_alone_and_none_says_nothing() {
        let tests = |runs| TipTests {
            tip: CommitId(Oid::ZERO),
            at_base: None,
            at_tip: Some("b".to_owned()),
            base_cannot_run: None,
            runs,
            warnings: Vec::new(),
        };
        let passed = tests(vec![run(TipRunSource::Tip, None, TipOutcome::Passed)]);
        assert!(passed.stand_in() && !passed.command_differs());
        assert!(!tests(Vec::new()).stand_in());
    }
}
