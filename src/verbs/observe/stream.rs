//! `andon observe KIND`: facts of any orchestrator, kept in the journal, and the immediate decision of the rules,
//! because a repeated tool call must not wait for a commit.
//!
//! A test run that was made elsewhere: its report files, how it ended, and the code that it ran on.
//!
//! docs/concepts.md: a run counts only if it was the configured `test.command`. For a handed-in test run that is only a
//! claim, so it keeps its mark as handed in, and proves nothing unless the project says that such runs count
//! (`test.handed_in = "count"`). A run that names another command never does.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::ObserveTestRunArgs;
use crate::plain_run::PlainRun;
use andon_config::{HandedInRuns, TestCommand};
use andon_core::domain::{
    CodeId, Decision, Diagnostic, EventKind, Fact, Hint, RunOrigin, RunValidity, Span, TestRun,
    signatures::signature,
};
use andon_engine::adapter::events::{self, Line, Lines};
use andon_engine::adapter::{Dates, EventError, Frame, Purpose};
use andon_engine::evidence::earlier_runs::{compare, without_its_reports};
use andon_engine::evidence::{TestedCode, test_sets, tested_code::head_with};
use andon_engine::gate::{RuleFeed, rule_feed};
use andon_engine::{
    Context, OpsError, Result, Workspace, effect::report_files, json::record, text::LineSummary,
};
use andon_store::{Journal, JournalLine, Reach};
use testreport::{ExitKind, RUNNER_EXIT, Root, RunReader};

/// A call that ended so long ago says nothing of the code as it is.
const RECENT: Span = Span(10);

/// The result of reading a stream.
#[derive(Serialize)]
pub struct ObserveReport {
    /// Facts that were kept.
    pub kept: u64,
    /// Lines that are no facts.
    pub refused: u64,
    /// The gravest that the rules said after any of them.
    #[serde(flatten)]
    pub decision: Decision,
    /// Remarks on single lines and on what was skipped.
    pub remarks: Vec<Diagnostic>,
    /// The error that ended the input early.
    #[serde(skip)]
    pub broken: Option<OpsError>,
}

/// Reads facts from `input` and keeps them. The rules run after each of them, so that a batch gives the same result as
/// its lines one by one. `kind` is the type of every line where each does not name its own, and `node` the node of lines that name none.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    kind: Option<&str>,
    node: Option<&String>,
    input: &mut dyn BufRead,
) -> Result<ObserveReport> {
    let journal = Journal::open(ws.repo.git_dir());
    let mut lines = Lines::new(input);
    let mut tally = LineSummary::default();
    let mut feed = RuleFeed::new(ctx, ws);
    let patterns = ws.normalizer()?;
    let frame = Frame { now: ctx.now, kind, purpose: Purpose::Observe, patterns: &patterns };
    let mut dates = Dates::default();
    let broken = loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break None,
            // The lines so far have been kept and judged: that is said all the same.
            Err(error) => break Some(OpsError::Input(error)),
        };
        tally.line = tally.line.saturating_add(1);
        if line == Line::Text(b"") {
            continue;
        }
        match read(ctx, ws, node, &mut dates, frame, line) {
            Ok((mut kept, odd)) => {
                if let JournalLine::TestRun(run) = &mut kept {
                    bind(ws, line, run)?;
                    compare(ws, run)?;
                }
                let plain = plain_run(ctx, ws, line, &kept);
                let kept = feed.looked(kept)?;
                journal.append(&kept)?;
                tally.kept = tally.kept.saturating_add(1);
                tally.odd(odd);
                feed.take(kept)?;
                if let Some(run) = plain {
                    let run = run.line(ctx, ws)?;
                    journal.append(&run)?;
                    feed.take(run)?;
                }
            }
            Err(error) => tally.refuse(&error),
        }
    };
    let (decision, warnings) = feed.end()?;
    let (kept, refused) = (tally.kept, tally.refused);
    let mut remarks = tally.remarks();
    remarks.extend(warnings);
    Ok(ObserveReport { kept, refused, decision, remarks, broken })
}

fn read(
    ctx: &Context,
    ws: &Workspace,
    node: Option<&String>,
    dates: &mut Dates,
    frame: Frame<'_>,
    line: Line<'_>,
) -> Result<(JournalLine, Option<Diagnostic>), EventError> {
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong => return Err(EventError::TooLong),
    };
    let parsed = dates.date(events::parse(text, frame)?);
    let odd = parsed.odd.map(|odd| Diagnostic::warning(odd).code("event"));
    match parsed.fact {
        Fact::Event(mut event) => {
            if event.at.is_none() {
                // No line before it has a time: it happens now.
                (event.at, event.uptime) = (Some(ctx.now), ctx.uptime());
            }
            event.node = event.node.take().or_else(|| node.cloned());
            event.session = event.session.take().or_else(|| ctx.actor().session);
            let undeclared = || undeclared(ws, event.node.as_deref());
            let odd = odd.or_else(|| undeclared().map(|odd| Diagnostic::warning(odd).code("event")));
            Ok((JournalLine::Event(event), odd))
        }
        Fact::TestRun(mut run) => {
            run.at = run.at.or(Some(ctx.now));
            hand_in(ws, &mut run);
            let odd = odd.or_else(|| unproven(&run));
            Ok((JournalLine::TestRun(run), odd))
        }
        Fact::Commit(_) => Err(EventError::Commit),
        Fact::Ack(_) => Err(EventError::Ack),
    }
}

/// Says that a run is ignored: who hands it in believes that it counts.
fn unproven(run: &TestRun) -> Option<Diagnostic> {
    if run.validity == RunValidity::Valid || run.is_reported_failing() {
        return None;
    }
    let note = Diagnostic::note("this run was handed in and proves nothing; only `andon test` saw what ran");
    Some(note.code("handed-in").help(Hint::CountHandedIn))
}

/// A node that the workflow does not know: its facts count, and no budget of a node binds it.
fn undeclared(ws: &Workspace, node: Option<&str>) -> Option<String> {
    let workflow = &ws.config.workflow;
    let node = node.filter(|_| workflow.is_declared())?;
    let known = workflow.nodes.iter().any(|declared| declared.name == node);
    (!known).then(|| {
        let name: String = node.chars().take(80).collect();
        format!("node {name:?} is not declared in [workflow]: no budget of a node or a cycle binds it")
    })
}

/// A run that names a fingerprint was on HEAD's code or on some that differs from it. Any other name tells neither.
fn bind(ws: &Workspace, line: Line<'_>, run: &mut TestRun) -> Result<()> {
    #[derive(Deserialize)]
    struct NamedCode {
        code: CodeId,
    }
    let Line::Text(text) = line else { return Ok(()) };
    let is_unknown = run.base.is_none() && run.overlay.is_empty() && !run.overlay_truncated;
    if is_unknown && let Ok(NamedCode { code }) = serde_json::from_slice(text) {
        run.base = head_with(ws, code)?;
        run.overlay_truncated = run.base.is_none();
    }
    Ok(())
}

/// The run of the tests that a tool call was, as a client's hook would keep it. A program that reports runs
/// under names of their own reports this one as well.
fn plain_run(ctx: &Context, ws: &Workspace, line: Line<'_>, kept: &JournalLine) -> Option<PlainRun> {
    let (Line::Text(text), JournalLine::Event(event)) = (line, kept) else { return None };
    let is_recent = event.at.is_none_or(|at| ctx.now.since(at) <= RECENT);
    if !is_recent || !matches!(event.what, EventKind::ToolCall(_)) {
        return None;
    }
    let (tool, told) = events::told_call(text)?;
    let mut call = andon_agents::called(&tool, None, told.args);
    call.result = told.result;
    let plain = PlainRun::recognize(ctx, ws, None, &call, told.end);
    let run = plain.or_else(|| PlainRun::seen(ws, &call, told.end))?;
    let reach = Reach { runs: 1, commits: 0, turns: 0, since: None };
    let is_named = |run: &TestRun| {
        run.evidence.origin == RunOrigin::HandedIn && run.base.is_none() && !run.overlay_truncated
    };
    let newest = Journal::open(ws.repo.git_dir()).recent(reach).runs;
    (!newest.last().is_some_and(is_named)).then_some(run)
}

/// A test run of a stream was not run by `andon test`: it counts as a handed-in report does.
fn hand_in(ws: &Workspace, run: &mut TestRun) {
    let tests = &mut run.evidence;
    let reported = Some(tests.command.as_str()).filter(|command| !command.is_empty());
    let (command, validity) = worth(ws, reported);
    if tests.command != command {
        tests.signature = signature(&tests.runner, &command, tests.status, &tests.failing);
        tests.command = command;
    }
    tests.origin = RunOrigin::HandedIn;
    run.validity = validity;
}

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
pub fn take(ctx: &Context, ws: &Workspace, handed: &ObserveTestRunArgs, exit_code: i32) -> Result<RunReport> {
    let tested = match &handed.code {
        Some(text) => {
            let wrong = |_| OpsError::usage(format!("not a code fingerprint: {text}"), Hint::FindCode);
            TestedCode::reported(ws, text.parse().map_err(wrong)?)?
        }
        None => TestedCode::now(ws)?,
    };
    let root = ws.repo.workdir().unwrap_or(&ctx.cwd);
    let root = Root::new(&root.to_string_lossy()).with_patterns(&ws.config.normalize);
    let by_exit = ws.config.test.format.filter(|format| format.name() == RUNNER_EXIT);
    let mut reader = RunReader::new(root).only(by_exit);
    for report in &handed.report {
        // A slip in the path of a report is no run without reports.
        let what = |err| format!("the report {} cannot be read: {err}", report.display());
        let wrong = |err| OpsError::usage(what(err), Hint::NameReport);
        report_files::take_in(&ctx.cwd, report, &mut reader).map_err(wrong)?;
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
