//! `andon test`: runs the tests and keeps what they prove.
//!
//! The code fingerprint is taken before and after the run: a run during which the code changed proves nothing,
//! and neither does one of another command, or one that was stopped.

mod arguments;
mod calls;
mod execution;
mod preset;
pub mod scopes;
mod side_by_side;

use std::ffi::OsString;

use andon_config::TestCommand;
use andon_core::change::secrets;
use andon_core::domain::ids::{CodeId, TreeId};
use andon_core::domain::tests::{RunValidity, TestRun, TestStatus};
use andon_engine::context::Context;
use andon_engine::effect::program::{ProgramEnd, ProgramError, Screens, Signals, StopCause};
use andon_engine::error::OpsError;
use andon_engine::evidence::earlier_runs::{compare, passed_unread_before};
use andon_engine::evidence::separate_checkout::{self, Checkout, TestedSubject};
use andon_engine::evidence::test_sets;
use andon_engine::evidence::tested_code::{CodeComparison, CommandResult, TestedCode};
use andon_engine::recording::pending;
use andon_engine::workspace::Workspace;
use andon_git::platform::test_seam::stop_point;
use andon_store::fingerprint::Fingerprinter;
use testreport::{ExitKind, ParsedRun, RUNNER_EXIT, Root, RunReader, Stream};

pub(super) use self::calls::cuts_the_end;
use self::execution::Execution;

pub use andon_engine::recording::pending::RunDestination;

/// What a run left behind.
pub struct TestOutcome {
    /// The run as the journal has it.
    pub run: TestRun,
    /// The exit code to pass on.
    pub code: u8,
    /// Where it is kept.
    pub kept: RunDestination,
    /// What was wrong with its reports.
    pub warnings: Vec<String>,
    /// The remarks about a test run without a report.
    pub unread: MissingReport,
    /// What ran.
    pub asked: WantedTests,
}

/// What a person asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedTests {
    /// `test.command`.
    Configured,
    /// `test.command` with these arguments: a part of the tests.
    Part(Vec<OsString>),
    /// Another command.
    Other(Vec<OsString>),
}

/// What is unknown without a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingReport {
    /// A report was read, or none is wanted, or it has been said before.
    No,
    /// Only the exit code is known.
    ByExitCode,
    /// The run passes by its exit code, and this line of what it printed names failures.
    NamesFailures(String),
}

/// Where the output of the tests is shown.
pub struct OutputTarget<'a> {
    /// The terminals that it goes to.
    pub screens: &'a Screens,
    /// Passes it on.
    pub pass: &'a mut dyn FnMut(Stream, &[u8]),
}

/// Runs the requested tests in the repository root, or in a checkout of the subject.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    (subject, wanted): (&TestedSubject, WantedTests),
    shown: OutputTarget<'_>,
) -> Result<TestOutcome, OpsError> {
    ws.top()?;
    let (command, configured) = choose(ws, &wanted)?;
    let apart = separate_checkout::checkout(ctx, ws, subject)?;
    let at = apart.as_ref().map_or(ws, |checkout| &checkout.ws);
    let what = RunRequest { at, tested: TestedCode::now(at)?, command: &command, configured };
    let mut ran = match one_run(ctx, ws, what, shown)? {
        Ok(ran) => ran,
        Err((run, error)) => {
            pending::keep(ctx, ws, &run)?;
            return Err(error.into());
        }
    };
    if let Some(checkout) = &apart {
        ran.happened_in(checkout, checkout.code);
    }
    compare(ws, &mut ran.run)?;
    let kept = pending::keep(ctx, ws, &ran.run)?;
    stop_point("test:kept");
    Ok(ran.kept(kept, wanted))
}

/// What is to run, and where.
struct RunRequest<'a> {
    at: &'a Workspace,
    tested: TestedCode,
    command: &'a TestCommand,
    configured: CommandOrigin,
}

/// A run that is not kept yet.
struct UnsavedRun {
    run: TestRun,
    code: u8,
    warnings: Vec<String>,
    unread: MissingReport,
}

impl TestOutcome {
    /// Whether a signal stopped the tests, and with them what was to run after them.
    fn is_stopped(&self) -> bool {
        self.run.validity == RunValidity::Interrupted && self.run.evidence.status != TestStatus::TimedOut
    }
}

impl UnsavedRun {
    /// A command that could not be started keeps nothing else from running.
    fn not_started(run: TestRun, error: &ProgramError) -> Self {
        Self { run, code: 127, warnings: error.help().into_iter().collect(), unread: MissingReport::No }
    }

    /// The tests ran in a checkout, whose code is known by its tree.
    fn happened_in(&mut self, checkout: &Checkout, code: CodeId) {
        self.run.evidence.code = code;
        self.warnings.extend(if self.code == 0 { Vec::new() } else { checkout.differs() });
    }

    fn kept(self, kept: RunDestination, asked: WantedTests) -> TestOutcome {
        let Self { run, code, warnings, unread } = self;
        TestOutcome { run, code, kept, warnings, unread, asked }
    }
}

/// Runs tests and says what they are worth; keeps nothing but the names of the tests. A command that could not be started
/// gives a run, too, and why.
fn one_run(
    ctx: &Context,
    ws: &Workspace,
    what: RunRequest<'_>,
    shown: OutputTarget<'_>,
) -> Result<Result<UnsavedRun, (TestRun, ProgramError)>, OpsError> {
    let RunRequest { at, tested, command, configured } = what;
    let (tested, executed) = run_on(ctx, at, tested, command, shown)?;
    Ok(match executed {
        Ok(executed) => Ok(judged(ctx, (ws, at), tested, executed, (command, configured))),
        Err(error) => Err((not_started(ctx, tested, command, &error), error)),
    })
}

/// What a run is worth that came to an end.
fn judged(
    ctx: &Context,
    (ws, at): (&Workspace, &Workspace),
    tested: TestedCode,
    executed: CommandResult,
    (command, configured): (&TestCommand, CommandOrigin),
) -> UnsavedRun {
    let CommandResult { end, parsed, since, warnings } = executed;
    let unread = match configured {
        CommandOrigin::Configured => unread(at, &parsed, command),
        CommandOrigin::Other => MissingReport::No,
    };
    let validity = validity(configured, &end, &since, &parsed);
    test_sets::keep(ws, &parsed);
    let run = tested.run(Some(ctx.later()), parsed, &command.display(), validity);
    UnsavedRun { run, code: end.code(), warnings, unread }
}

/// Where `tree` is tested: in the working tree, if that is the same code.
///
/// # Errors
/// The working tree cannot be read.
pub fn subject_of(ws: &Workspace, tree: TreeId) -> Result<TestedSubject, OpsError> {
    let code = Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_tree(tree)?;
    let same = ws.repo.workdir().is_some() && TestedCode::now(ws)?.code() == code;
    Ok(if same { TestedSubject::WorkTree } else { TestedSubject::Tree(tree.to_string()) })
}

/// Runs a test command in the repository root and reads what it says; keeps nothing. The code that it ran on comes back
/// also where the command could not be started.
pub fn execute(
    ctx: &Context,
    ws: &Workspace,
    command: &TestCommand,
    shown: OutputTarget<'_>,
) -> Result<(TestedCode, Result<CommandResult, ProgramError>), OpsError> {
    run_on(ctx, ws, TestedCode::now(ws)?, command, shown)
}

/// The same on code that was just looked at.
fn run_on(
    ctx: &Context,
    ws: &Workspace,
    tested: TestedCode,
    command: &TestCommand,
    OutputTarget { screens, pass }: OutputTarget<'_>,
) -> Result<(TestedCode, Result<CommandResult, ProgramError>), OpsError> {
    let (launch, mut execution) = Execution::prepare(ctx, ws, tested, command)?;
    let ended = Signals::hold().and_then(|held| {
        launch.run(&held, screens, &mut |stream, bytes| execution.push(stream, bytes, pass))
    });
    execution.finish(ws, ended, pass)
}

/// Whether no report was recognised, though one could have been. A run that passes says so once.
fn unread(ws: &Workspace, parsed: &ParsedRun, command: &TestCommand) -> MissingReport {
    let wanted = ws.config.test.format.is_none_or(|format| format.name() != RUNNER_EXIT);
    if parsed.runner != RUNNER_EXIT || !wanted || parsed.not_started.is_some() {
        return MissingReport::No;
    }
    if let Some(line) = &parsed.doubt {
        return MissingReport::NamesFailures(secrets::masked(line).into_owned());
    }
    let green = parsed.status == TestStatus::Passed && !parsed.silent;
    let says =
        parsed.status == TestStatus::RunnerError || green && !passed_unread_before(ws, &command.display());
    if says { MissingReport::ByExitCode } else { MissingReport::No }
}

/// That the tests of this code were to run and could not.
fn not_started(ctx: &Context, tested: TestedCode, command: &TestCommand, error: &ProgramError) -> TestRun {
    // 127: what a shell says of a program that is not there.
    let mut parsed = RunReader::new(Root::none()).finish(ExitKind::Code(127));
    parsed.not_started = Some(error.to_string());
    tested.run(Some(ctx.later()), parsed, &command.display(), RunValidity::NotStarted)
}

/// Whether the command is the one that proves something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandOrigin {
    /// `test.command`, or that of a scope.
    Configured,
    /// Another one, or a part of it.
    Other,
}

/// `test.command`.
///
/// # Errors
/// There is none.
pub fn configured(ws: &Workspace) -> Result<TestCommand, OpsError> {
    ws.config.test.command.clone().ok_or_else(|| OpsError::Usage {
        what: "no test command is configured".to_owned(),
        help: "set it in andon.toml: [test] command = \"cargo test\"; or: andon test -- COMMAND".to_owned(),
    })
}

fn choose(ws: &Workspace, asked: &WantedTests) -> Result<(TestCommand, CommandOrigin), OpsError> {
    let configured = || configured(ws);
    let texts = |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match asked {
        WantedTests::Configured => Ok((configured()?, CommandOrigin::Configured)),
        WantedTests::Part(words) => {
            Ok((arguments::added(&configured()?, texts(words))?, CommandOrigin::Other))
        }
        WantedTests::Other(words) => {
            let asked = TestCommand::Argv(texts(words));
            let same = ws.config.test.command.as_ref().is_some_and(|command| command.is_same(&asked));
            Ok((asked, if same { CommandOrigin::Configured } else { CommandOrigin::Other }))
        }
    }
}

fn validity(
    configured: CommandOrigin,
    end: &ProgramEnd,
    since: &CodeComparison,
    parsed: &ParsedRun,
) -> RunValidity {
    match (end.stopped, configured) {
        (StopCause::TimedOut | StopCause::Forwarded(_), _) => RunValidity::Interrupted,
        (StopCause::No, CommandOrigin::Other) => RunValidity::OtherCommand,
        (StopCause::No, CommandOrigin::Configured) if parsed.not_started.is_some() => RunValidity::NotStarted,
        (StopCause::No, CommandOrigin::Configured) if *since == CodeComparison::Unchanged => {
            RunValidity::Valid
        }
        (StopCause::No, CommandOrigin::Configured) => RunValidity::CodeChanged,
    }
}
