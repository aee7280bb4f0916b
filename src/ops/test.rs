//! `andon test`: runs the tests and keeps what they prove.
//!
//! The code fingerprint is taken before and after the run: a run during which the code changed proves nothing,
//! and neither does one of another command, or one that was stopped.

mod tested;

use std::ffi::OsString;
use std::path::Path;

use super::context::Context;
use super::error::OpsError;
use super::workspace::Workspace;
use crate::action::program::{self, EnvChanges, Exit, ProgramEnd, Stopped};
use crate::action::report_files::{self, Found};
use crate::config::TestCommand;
use crate::domain::tests::{RunValidity, TestRun, TestStatus};
use crate::record::journal::{Journal, JournalLine};
use crate::testreport::{
    ExitKind, MAX_REPORT_BYTES, ParsedRun, RUNNER_EXIT, ReportInput, Root, RunReader, Stream,
};

pub use self::tested::TestedCode;

/// What a run left behind.
pub struct Ran {
    /// The run as the journal has it.
    pub run: TestRun,
    /// The exit code to pass on.
    pub code: u8,
    /// What was wrong with its reports.
    pub warnings: Vec<String>,
}

/// Runs `command`, or the configured one, in the repository root.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    command: &[OsString],
    pass: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ran, OpsError> {
    let top = ws.top()?.to_owned();
    let (command, configured) = choose(ws, command)?;
    let tested = TestedCode::now(ws)?;
    ctx.stop_point("test:begin");
    let started = newest_reports(ws, &top);
    let root = Root::new(&top.to_string_lossy()).with_patterns(&ws.config.normalize);
    let mut reader = RunReader::new(root);
    let mut sink = |stream: Stream, bytes: &[u8]| {
        pass(stream, bytes);
        reader.push(stream, bytes);
    };
    let end =
        program::run_test_command(&spec(&command), &top, &environment(), ws.config.test.timeout, &mut sink)?;
    ctx.stop_point("test:ran");
    let mut warnings = read_reports(ws, &top, &started, &mut reader);
    let mut parsed = reader.finish(exit_kind(&end));
    warnings.extend(parsed.warnings.iter().cloned());
    warnings.extend(without_its_reports(ws, &mut parsed));
    let validity = validity(configured, &end, tested.is_still(ws)?);
    let run = tested.run(Some(ctx.later()), parsed, &command.display(), validity);
    Journal::open(ws.repo.git_dir()).append(&JournalLine::TestRun(Box::new(run.clone())))?;
    ctx.stop_point("test:kept");
    Ok(Ran { run, code: end.code(), warnings })
}

/// Where reports are configured, they are what says that tests ran: an exit code of 0 alone is then no pass.
pub(super) fn without_its_reports(ws: &Workspace, parsed: &mut ParsedRun) -> Option<String> {
    let exit_only = parsed.runner == RUNNER_EXIT && parsed.status == TestStatus::Passed;
    if !exit_only || ws.config.test.reports.is_empty() {
        return None;
    }
    parsed.status = TestStatus::NoTests;
    Some("test.reports is set, and this run wrote no such report".to_owned())
}

/// Whether the command is the one that proves something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Configured {
    Yes,
    No,
}

fn choose(ws: &Workspace, asked: &[OsString]) -> Result<(TestCommand, Configured), OpsError> {
    let configured = ws.config.test.command.clone();
    if asked.is_empty() {
        let command = configured.ok_or_else(|| OpsError::Usage {
            what: "no test command is configured".to_owned(),
            help: "set it in andon.toml: [test] command = \"cargo test\"; or: andon test -- COMMAND"
                .to_owned(),
        })?;
        return Ok((command, Configured::Yes));
    }
    let words: Vec<String> = asked.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let asked = TestCommand::Argv(words);
    let same = configured.is_some_and(|command| command.is_same(&asked));
    Ok((asked, if same { Configured::Yes } else { Configured::No }))
}

fn spec(command: &TestCommand) -> program::TestCommand {
    match command {
        TestCommand::Shell(line) => program::TestCommand::Shell(line.clone()),
        TestCommand::Argv(words) => program::TestCommand::Argv(words.clone()),
    }
}

/// Inside a hook git points these at its own index; the tests must not see them.
fn environment() -> EnvChanges {
    let names = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"];
    EnvChanges { set: Vec::new(), remove: names.map(Into::into).to_vec() }
}

fn exit_kind(end: &ProgramEnd) -> ExitKind {
    match (end.stopped, end.exit) {
        (Stopped::TimedOut, _) => ExitKind::TimedOut,
        (Stopped::No | Stopped::Forwarded(_), Exit::Code(code)) => ExitKind::Code(code),
        (Stopped::No | Stopped::Forwarded(_), Exit::Signal(signal)) => ExitKind::Signal(signal),
    }
}

fn validity(configured: Configured, end: &ProgramEnd, unchanged: bool) -> RunValidity {
    match (end.stopped, configured) {
        (Stopped::TimedOut | Stopped::Forwarded(_), _) => RunValidity::Interrupted,
        (Stopped::No, Configured::No) => RunValidity::OtherCommand,
        (Stopped::No, Configured::Yes) if unchanged => RunValidity::Valid,
        (Stopped::No, Configured::Yes) => RunValidity::CodeChanged,
    }
}

/// The report files that are there, with when each was written.
fn newest_reports(ws: &Workspace, top: &Path) -> Vec<Found> {
    report_files::matching(top, &ws.config.test.reports)
}

/// Reads the report files that the run wrote. One that is as it was before the run is stale: it says nothing.
fn read_reports(ws: &Workspace, top: &Path, before: &[Found], reader: &mut RunReader) -> Vec<String> {
    let mut warnings = Vec::new();
    for (path, written) in newest_reports(ws, top) {
        let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        if before.iter().any(|(known, then)| *known == path && *then == written) {
            warnings.push(format!("{name} was not written by this run: not read"));
            continue;
        }
        match report_files::read(&path, MAX_REPORT_BYTES) {
            Ok(bytes) => reader.report(ReportInput { name: &name, bytes: &bytes }),
            Err(why) => reader.unreadable(&name, &why.to_string()),
        }
    }
    warnings
}
