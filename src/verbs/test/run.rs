//! `andon test`: runs the tests and keeps what they prove.
//!
//! The code fingerprint is taken before and after the run: a run during which the code changed proves nothing,
//! and neither does one of another command, or one that was stopped.

mod arguments;
mod preset;
pub mod scopes;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use andon_config::TestCommand;
use andon_core::change::secrets;
use andon_core::domain::ids::{CodeId, TreeId};
use andon_core::domain::tests::{RunValidity, TestRun, TestStatus};
use andon_core::domain::veil::HiddenPath;
use andon_core::escape::shell_quote_bytes;
use andon_engine::apart::{self, Checkout, TestedSubject};
use andon_engine::context::Context;
use andon_engine::earlier_runs::{compare, passed_unread_before, without_its_reports};
use andon_engine::effect::best_effort;
use andon_engine::effect::private::PrivateDir;
use andon_engine::effect::program::{
    self, CommandExit, ProgramEnd, ProgramError, Screens, StopCause, Surroundings,
};
use andon_engine::effect::report_files::{self, ReportCandidate};
use andon_engine::error::OpsError;
use andon_engine::pending;
use andon_engine::test_sets;
use andon_engine::tested::{CommandResult, Since, TestedCode};
use andon_engine::workspace::Workspace;
use andon_git::platform::test_seam::stop_point;
use andon_store::fingerprint::Fingerprinter;
use testreport::{ExitKind, ParsedRun, RUNNER_EXIT, Root, RunReader, Stream};

use self::preset::Unseen;

pub use andon_engine::pending::RunDestination;

/// Largest file of the project that is looked into for a runner's configuration, in bytes.
const MAX_PROJECT_FILE: usize = 1 << 20;

/// Inside a hook git points these at its own index; the tests must not see them.
const OF_GIT: [&str; 4] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"];

/// What a run left behind.
pub struct Ran {
    /// The run as the journal has it.
    pub run: TestRun,
    /// The exit code to pass on.
    pub code: u8,
    /// Where it is kept.
    pub kept: RunDestination,
    /// What was wrong with its reports.
    pub warnings: Vec<String>,
    /// The remarks about a test run without a report.
    pub unread: Unread,
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
pub enum Unread {
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
) -> Result<Ran, OpsError> {
    ws.top()?;
    let (command, configured) = choose(ws, &wanted)?;
    let apart = apart::checkout(ctx, ws, subject)?;
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
struct OneRun {
    run: TestRun,
    code: u8,
    warnings: Vec<String>,
    unread: Unread,
}

impl OneRun {
    /// The tests ran in a checkout, whose code is known by its tree.
    fn happened_in(&mut self, checkout: &Checkout, code: CodeId) {
        self.run.evidence.code = code;
        self.warnings.extend(if self.code == 0 { Vec::new() } else { checkout.differs() });
    }

    fn kept(self, kept: RunDestination, asked: WantedTests) -> Ran {
        let Self { run, code, warnings, unread } = self;
        Ran { run, code, kept, warnings, unread, asked }
    }
}

/// Runs tests and says what they are worth; keeps nothing but the names of the tests. A command that could not be started
/// gives a run, too, and why.
fn one_run(
    ctx: &Context,
    ws: &Workspace,
    what: RunRequest<'_>,
    shown: OutputTarget<'_>,
) -> Result<Result<OneRun, (TestRun, ProgramError)>, OpsError> {
    let RunRequest { at, tested, command, configured } = what;
    let (tested, executed) = execute_on(ctx, at, tested, command, shown)?;
    let CommandResult { end, parsed, since, warnings } = match executed {
        Ok(executed) => executed,
        Err(error) => return Ok(Err((not_started(ctx, tested, command, &error), error))),
    };
    let unread = match configured {
        CommandOrigin::Configured => unread(at, &parsed, command),
        CommandOrigin::Other => Unread::No,
    };
    let validity = validity(configured, &end, &since, &parsed);
    test_sets::keep(ws, &parsed);
    let run = tested.run(Some(ctx.later()), parsed, &command.display(), validity);
    Ok(Ok(OneRun { run, code: end.code(), warnings, unread }))
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
    execute_on(ctx, ws, TestedCode::now(ws)?, command, shown)
}

/// The same on code that was just looked at.
fn execute_on(
    ctx: &Context,
    ws: &Workspace,
    mut tested: TestedCode,
    command: &TestCommand,
    shown: OutputTarget<'_>,
) -> Result<(TestedCode, Result<CommandResult, ProgramError>), OpsError> {
    let top = ws.top()?.to_owned();
    stop_point("test:begin");
    let started = newest_reports(ws, &top);
    let (asked, private) = with_report(ws, &top, command);
    let root = Root::new(&top.to_string_lossy()).with_patterns(&ws.config.normalize);
    let mut reader = RunReader::new(root).only(ws.config.test.format);
    let mut mentions = tested.mentions(ws);
    let OutputTarget { screens, pass } = shown;
    let mut pass = |stream: Stream, bytes: &[u8]| {
        mentions.push(stream, bytes);
        pass(stream, bytes);
    };
    let shown = OutputTarget { screens, pass: &mut pass };
    let end = match watched(ctx, ws, &asked, &mut reader, shown) {
        Err(OpsError::Program(error @ (ProgramError::NotFound { .. } | ProgramError::Start { .. }))) => {
            return Ok((tested, Err(error)));
        }
        end => end?,
    };
    stop_point("test:ran");
    let since = tested.since(ws)?;
    let (mut warnings, mut written) = read_reports(ws, &top, &started, &mut reader);
    if let (Some(_dir), Some(path)) = (private, &asked.report) {
        let mut report = reader.open_report("the report of test.runner");
        // A runner that wrote none has said on its output what it has to say.
        if report_files::stream(path, &mut |bytes| report.push(bytes)).is_ok() {
            reader.close_report(report);
            written += 1;
        }
    }
    let mut parsed = reader.finish(exit_kind(&end));
    warnings.extend(parsed.warnings.iter().cloned());
    warnings.extend(without_its_reports(ws, written, &mut parsed));
    warnings.extend(without_the_added_report(&asked, &mut parsed));
    parsed.not_started = parsed.not_started.map(|said| secrets::masked(&said).into_owned());
    let first = parsed.errors.first().map_or_else(String::new, |first| {
        let test = first.test.as_ref().map_or_else(String::new, |test| format!("{test}: "));
        secrets::masked(&format!("{test}{}", first.text)).into_owned()
    });
    best_effort::remember_error(ws.repo.git_dir(), &first);
    tested.bind(ws, &mentions.named_in(&parsed))?;
    warnings.extend(changed_paths(&since));
    warnings.extend(hidden_paths(tested.hidden()));
    Ok((tested, Ok(CommandResult { end, parsed, since, warnings })))
}

/// Whether no report was recognised, though one could have been. A run that passes says so once.
fn unread(ws: &Workspace, parsed: &ParsedRun, command: &TestCommand) -> Unread {
    let wanted = ws.config.test.format.is_none_or(|format| format.name() != RUNNER_EXIT);
    if parsed.runner != RUNNER_EXIT || !wanted || parsed.not_started.is_some() {
        return Unread::No;
    }
    if let Some(line) = &parsed.doubt {
        return Unread::NamesFailures(secrets::masked(line).into_owned());
    }
    let green = parsed.status == TestStatus::Passed && !parsed.silent;
    let says =
        parsed.status == TestStatus::RunnerError || green && !passed_unread_before(ws, &command.display());
    if says { Unread::ByExitCode } else { Unread::No }
}

/// That the tests of this code were to run and could not.
fn not_started(ctx: &Context, tested: TestedCode, command: &TestCommand, error: &ProgramError) -> TestRun {
    // 127: what a shell says of a program that is not there.
    let mut parsed = RunReader::new(Root::none()).finish(ExitKind::Code(127));
    parsed.not_started = Some(error.to_string());
    tested.run(Some(ctx.later()), parsed, &command.display(), RunValidity::NotStarted)
}

/// A command as it is started.
struct CommandLaunch {
    directory: PathBuf,
    command: program::CommandLine,
    /// The report that `test.runner` adds.
    report: Option<PathBuf>,
    unseen: Option<String>,
}

/// Adds the report of `test.runner`. Whatever is in the way of that leaves the command as it is: the tests come first.
fn with_report(ws: &Workspace, top: &Path, command: &TestCommand) -> (CommandLaunch, Option<PrivateDir>) {
    let plain = || {
        (
            CommandLaunch {
                directory: top.to_path_buf(),
                command: spec(command),
                report: None,
                unseen: None,
            },
            None,
        )
    };
    let (Some(runner), TestCommand::Argv(argv)) = (ws.config.test.runner, command) else { return plain() };
    let Ok(dir) = PrivateDir::create(ws.repo.git_dir()) else { return plain() };
    let project = |name: &str| {
        let bytes = report_files::read(&top.join(name), MAX_PROJECT_FILE).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let Some(made) = preset::prepare(runner, argv, dir.path(), &project) else { return plain() };
    if made.file.is_some_and(|(path, text)| dir.write(&path, &text).is_err()) {
        return plain();
    }
    let command = program::CommandLine::Argv(made.argv);
    (CommandLaunch { command, report: Some(made.report), unseen: made.unseen, ..plain().0 }, Some(dir))
}

/// Runs the command; its output goes to the reader and is passed on, but for the line about our own report.
fn watched(
    ctx: &Context,
    ws: &Workspace,
    asked: &CommandLaunch,
    reader: &mut RunReader,
    shown: OutputTarget<'_>,
) -> Result<ProgramEnd, OpsError> {
    let OutputTarget { screens, pass } = shown;
    let mut unseen = Unseen::new(asked.unseen.clone());
    let mut sink = |stream: Stream, bytes: &[u8]| {
        let mut both = |bytes: &[u8]| {
            pass(stream, bytes);
            reader.push(stream, bytes);
        };
        match stream {
            Stream::Stdout => unseen.push(bytes, &mut both),
            Stream::Stderr => both(bytes),
        }
    };
    let timeout = ws.config.test.timeout;
    let mut environment = ctx.environment_without(&OF_GIT);
    environment.retain(|(name, _)| !ws.variables.iter().any(|(own, _)| own == name));
    environment.extend(ws.variables.iter().cloned());
    let around = Surroundings { directory: &asked.directory, environment: &environment, screens };
    let end = program::run_test_command(&asked.command, around, timeout, &mut sink)?;
    unseen.finish(&mut |bytes| {
        pass(Stream::Stdout, bytes);
        reader.push(Stream::Stdout, bytes);
    });
    Ok(end)
}

/// A runner that had to write a report, wrote none and said nothing about tests did not reach its end, whatever its
/// exit code says: a test that ends the process with 0 looks like that.
fn without_the_added_report(asked: &CommandLaunch, parsed: &mut ParsedRun) -> Option<String> {
    let exit_only = parsed.runner == RUNNER_EXIT && parsed.status == TestStatus::Passed;
    if !exit_only || asked.report.is_none() {
        return None;
    }
    parsed.status = TestStatus::Incomplete;
    Some("the run ended without the report that test.runner asked for".to_owned())
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

fn spec(command: &TestCommand) -> program::CommandLine {
    match command {
        TestCommand::Shell(line) => program::CommandLine::Shell(line.clone()),
        TestCommand::Argv(words) => program::CommandLine::Argv(words.clone()),
    }
}

fn exit_kind(end: &ProgramEnd) -> ExitKind {
    match (end.stopped, end.exit) {
        (StopCause::TimedOut, _) => ExitKind::TimedOut,
        (StopCause::No | StopCause::Forwarded(_), CommandExit::Code(code)) => ExitKind::Code(code),
        (StopCause::No | StopCause::Forwarded(_), CommandExit::Signal(signal)) => ExitKind::Signal(signal),
    }
}

/// How many paths are named.
const NAMED: usize = 3;

/// Which files changed while the tests ran, in words.
fn changed_paths(since: &Since) -> Option<String> {
    let Since::Changed(paths) = since else { return None };
    let named: Vec<_> = paths.iter().take(NAMED).map(|path| String::from_utf8_lossy(path)).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        let named = named.join(", ");
        format!("changed while the tests ran: {named}{more} (git add it, or name it in .gitignore or paths.ignore)")
    })
}

/// Which files the tests saw that git does not see, in words.
fn hidden_paths(hidden: &[HiddenPath]) -> Vec<String> {
    let mut hints: Vec<String> = hidden
        .iter()
        .take(NAMED)
        .map(|one| {
            let path = one.full_path();
            let (path, reason) = (String::from_utf8_lossy(&path), one.veil.reason());
            let command = one.command(shell_quote_bytes);
            format!(
                "the tests ran with {path} as it is on disk, and git does not see it: {reason} ({command})"
            )
        })
        .collect();
    let more = hidden.len().saturating_sub(NAMED);
    hints.extend((more > 0).then(|| format!("git does not see {more} more such paths")));
    hints
}

fn validity(configured: CommandOrigin, end: &ProgramEnd, since: &Since, parsed: &ParsedRun) -> RunValidity {
    match (end.stopped, configured) {
        (StopCause::TimedOut | StopCause::Forwarded(_), _) => RunValidity::Interrupted,
        (StopCause::No, CommandOrigin::Other) => RunValidity::OtherCommand,
        (StopCause::No, CommandOrigin::Configured) if parsed.not_started.is_some() => RunValidity::NotStarted,
        (StopCause::No, CommandOrigin::Configured) if *since == Since::Unchanged => RunValidity::Valid,
        (StopCause::No, CommandOrigin::Configured) => RunValidity::CodeChanged,
    }
}

/// The report files that are there, with when each was written.
fn newest_reports(ws: &Workspace, top: &Path) -> Vec<ReportCandidate> {
    report_files::matching(top, &ws.config.test.reports)
}

/// Reads the report files that the run wrote: what is to be said of them, and how many there are. One that is as it was
/// before the run is stale: it says nothing.
fn read_reports(
    ws: &Workspace,
    top: &Path,
    before: &[ReportCandidate],
    reader: &mut RunReader,
) -> (Vec<String>, usize) {
    let (mut warnings, mut written) = (Vec::new(), 0);
    for (path, at) in newest_reports(ws, top) {
        let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        if before.iter().any(|(known, then)| *known == path && *then == at) {
            warnings.push(format!("{name} was not written by this run: not read"));
            continue;
        }
        written += 1;
        let mut report = reader.open_report(&name);
        match report_files::stream(&path, &mut |bytes| report.push(bytes)) {
            Ok(()) => reader.close_report(report),
            Err(why) => reader.unreadable(&name, &why.to_string()),
        }
    }
    (warnings, written)
}
