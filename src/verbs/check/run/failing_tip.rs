//! A tip on which the tests fail: by the record of its code, or as the check itself has seen.

use super::{Case, CommitRef, Diagnostic, ExaminedCommits, Location, level_of, violation};
use crate::view::check::{TipOutcome, TipRun, TipRunSource, TipTests};
use andon_core::detect;
use andon_core::domain::findings::Level;
use andon_core::domain::paths::CONFIG_FILE;
use andon_core::domain::tests::TestEvidence;
use andon_engine::error::OpsError;
use andon_git::Repo;

/// The tests of the tip's code must pass. Commits on the way may fail: that is how tests drive work.
pub(super) fn tip(case: &Case<'_>, examined: &ExaminedCommits) -> Option<Diagnostic> {
    let tip = examined.commits().last()?.id;
    if level_of(case, &detect::FAILING_TESTS) == Level::Off || !examined.is_bound(tip) {
        return None;
    }
    let code = examined.code(tip)?;
    let tests = examined.tested().filter_map(|fact| fact.record.tests).find(|tests| tests.code == code)?;
    (!tests.is_green()).then(|| failing(examined.at(tip), &tests))
}

fn failing(tip: CommitRef, tests: &TestEvidence) -> Diagnostic {
    let message = format!("the tests of this code do not pass: {}", figures(tests));
    violation(Some(tip), detect::FAILING_TESTS.id, Level::Block, message, "andon test")
}

/// `failed, 1 of 2 failing, first: b`
fn figures(tests: &TestEvidence) -> String {
    let named: Vec<&str> = tests.failing.iter().take(3).map(String::as_str).collect();
    let which = if named.is_empty() { String::new() } else { format!(", first: {}", named.join(", ")) };
    format!("{}, {} of {} failing{which}", tests.status.as_str(), tests.counts().failing(), tests.total)
}

/// What the tests at the tip say, as the check has seen them.
#[derive(Default)]
pub(super) struct TipReport {
    pub(super) violations: Vec<Diagnostic>,
    pub(super) undecided: Option<Diagnostic>,
}

/// Judges the tests that ran at the tip. They were asked for, so that no level of a rule silences them.
pub(super) fn at_tip(repo: &Repo, tests: &TipTests) -> Result<TipReport, OpsError> {
    let at = CommitRef { commit: tests.tip, subject: repo.commit(tests.tip)?.subject };
    let mut said = TipReport::default();
    match (tests.outcome(), tests.deciding()) {
        (TipOutcome::Failed, Some(run)) => said.violations.push(fails(at.clone(), run)),
        (TipOutcome::Failed | TipOutcome::Passed, _) => {}
        (TipOutcome::Unknown(why), _) => {
            let message = format!("nothing is known of the tests of the tip: {why}");
            let missing = Diagnostic::error(message).code("tip-untested").at(Location::Commit(at.clone()));
            said.undecided = Some(missing.help("look at test.command: andon config show"));
        }
    }
    said.violations.extend(other_command(at, tests));
    Ok(said)
}

fn fails(tip: CommitRef, run: &TipRun) -> Diagnostic {
    let figures = run.evidence.as_ref().map(figures).unwrap_or_default();
    let by = match run.by {
        TipRunSource::Base => format!("`{}`, the command of the base", run.command),
        TipRunSource::Tip => format!("`{}`", run.command),
        TipRunSource::Ci => run.command.clone(),
    };
    let message = format!("the tests of the tip fail: {figures}, by {by}");
    violation(Some(tip), detect::FAILING_TESTS.id, Level::Block, message, "andon test")
}

/// The tip has another test command than the base. The check names both, whatever the result.
fn other_command(tip: CommitRef, tests: &TipTests) -> Option<Diagnostic> {
    let base = tests.at_base.as_ref().filter(|_| tests.command_differs())?;
    let now = tests.at_tip.as_ref().map_or_else(|| "not set".to_owned(), |command| format!("`{command}`"));
    let how = match &tests.runs[..] {
        [TipRun { by: TipRunSource::Ci, .. }] => "which of them ran is the word of the job".to_owned(),
        [base, tip] => format!("the one of the base {}, that of the tip {}", word(base), word(tip)),
        [TipRun { by: TipRunSource::Tip, .. }] => match &tests.base_cannot_run {
            Some(why) => format!("only that of the tip could run: {why}"),
            None => "only that of the tip ran".to_owned(),
        },
        _ => "that of the base ran".to_owned(),
    };
    let message = format!("test.command is {now} at the tip and `{base}` at the base of the range; {how}");
    let help = format!("a person looks at the change: git log -p -- {CONFIG_FILE}");
    Some(violation(Some(tip), "test-command-changed", Level::Warn, message, &help))
}

fn word(run: &TipRun) -> String {
    match &run.outcome {
        TipOutcome::Passed => "passed".to_owned(),
        TipOutcome::Failed => "failed".to_owned(),
        TipOutcome::Unknown(why) => format!("proves nothing ({why})"),
    }
}
