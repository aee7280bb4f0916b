//! A test run that was made elsewhere: its report files, how it ended, and the code that it ran on.
//!
//! docs/concepts.md: a run counts only if it was the configured `test.command`. For a handed-in test run that is only a
//! claim, so it keeps its mark as handed in, and proves nothing unless the project says that such runs count
//! (`test.handed_in = "count"`). A run that names another command never does.

use std::path::Path;

use serde::Serialize;

use super::ObserveTestRunArgs;
use andon_config::{HandedInRuns, TestCommand};
use andon_core::domain::tests::{RunOrigin, RunValidity, TestRun};
use andon_core::domain::{decision::Decision, diagnostic::Diagnostic, hint::Hint, ids::CodeId};
use andon_engine::evidence::earlier_runs::{compare, without_its_reports};
use andon_engine::evidence::tested_code::TestedCode;
use andon_engine::{
    context::Context, effect::report_files, error::OpsError, evidence::test_sets, gate::rule_feed,
    json::record, workspace::Workspace,
};
use andon_store::journal::{Journal, JournalLine};
use testreport::{ExitKind, RUNNER_EXIT, Root, RunReader};

/// A run that was taken in.
#[derive(Serialize)]
pub struct RunReport {
    /// The run as the journal has it.
    #[serde(flatten, serialize_with = "record::serialize_run")]
    pub run: TestRun,
    /// Remarks on its reports.
    #[serde(skip)]
    pub warnings: Vec<Diagnostic>,
    #[serde(flatten)]
    pub decision: Decision,
}

/// Reads the reports, binds the run to its code and appends it to the journal.
pub fn take(
    ctx: &Context,
    ws: &Workspace,
    handed: &ObserveTestRunArgs,
    exit_code: i32,
) -> Result<RunReport, OpsError> {
    let tested = match &handed.code {
        Some(text) => TestedCode::reported(ws, code_id(text)?)?,
        None => TestedCode::now(ws)?,
    };
    let root = ws.repo.workdir().unwrap_or(&ctx.cwd);
    let root = Root::new(&root.to_string_lossy()).with_patterns(&ws.config.normalize);
    let by_exit = ws.config.test.format.filter(|format| format.name() == RUNNER_EXIT);
    let mut reader = RunReader::new(root).only(by_exit);
    for report in &handed.report {
        read(&ctx.cwd, report, &mut reader)?;
    }
    let mut parsed = reader.finish(ExitKind::Code(exit_code));
    let mut warnings: Vec<Diagnostic> = parsed.warnings.iter().map(Diagnostic::warning).collect();
    warnings.extend(without_its_reports(ws, handed.report.len(), &mut parsed).map(Diagnostic::warning));
    let (command, validity) = worth(ws, handed.command.as_deref());
    test_sets::keep(ws, &parsed);
    // Whatever a run is worth, one in which nothing ran says nothing about the code.
    let validity = if parsed.not_started.is_some() { RunValidity::NotStarted } else { validity };
    let mut run = tested.run(Some(ctx.now), parsed, &command, validity);
    compare(ws, &mut run)?;
    run.evidence.origin = RunOrigin::HandedIn;
    Journal::open(ws.repo.git_dir()).append(&JournalLine::TestRun(Box::new(run.clone())))?;
    let (decision, loaded) = rule_feed::decide(ctx, ws, rule_feed::FeedStage::OfRun)?;
    warnings.extend(loaded.warnings);
    Ok(RunReport { run, warnings, decision })
}

/// The command to record, and what the run is worth. A run that does not say what ran counts as one of `test.command`
/// only where the project lets handed-in runs count.
pub(super) fn worth(ws: &Workspace, reported: Option<&str>) -> (String, RunValidity) {
    let configured = ws.config.test.command.as_ref();
    let reported = reported.map(|text| TestCommand::Shell(text.to_owned()));
    match (reported, configured, ws.config.test.handed_in) {
        (Some(reported), Some(configured), HandedInRuns::Count) if configured.is_same(&reported) => {
            (configured.display(), RunValidity::Valid)
        }
        (Some(reported), _, HandedInRuns::Count) => (reported.display(), RunValidity::OtherCommand),
        (None, Some(configured), HandedInRuns::Count) => (configured.display(), RunValidity::Valid),
        (None, None, HandedInRuns::Count) => (String::new(), RunValidity::OtherCommand),
        (reported, _, HandedInRuns::Record) => {
            (reported.map(|reported| reported.display()).unwrap_or_default(), RunValidity::HandedIn)
        }
    }
}

fn code_id(text: &str) -> Result<CodeId, OpsError> {
    let what = || format!("not a code fingerprint: {text}");
    text.parse().map_err(|_| OpsError::usage(what(), Hint::FindCode))
}

/// A report that was named must be there: a slip in its path is no run without reports.
fn read(cwd: &Path, report: &Path, reader: &mut RunReader) -> Result<(), OpsError> {
    let what = |err| format!("the report {} cannot be read: {err}", report.display());
    report_files::take_in(cwd, report, reader).map_err(|err| OpsError::usage(what(err), Hint::NameReport))
}
