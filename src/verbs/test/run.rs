//! `andon test`: runs the tests and keeps what they prove.
//!
//! The code fingerprint is taken before and after the run: a run during which the code changed proves nothing,
//! and neither does one of another command, or one that was stopped.

use std::ffi::OsString;

pub(super) use super::calls::cuts_the_end;
use super::execution::{Executed, Execution};
use andon_config::TestCommand;
use andon_core::domain::{CodeId, Hint, RunValidity, TestEvidence, TestRun, TestStatus, TreeId};
use andon_core::{change::secrets, escape::shell_quote};
use andon_engine::effect::{ProgramError, Signals, StopCause, program::Screens};
use andon_engine::evidence::earlier_runs::{compare, has_old_habit};
use andon_engine::evidence::{
    Checkout, CodeComparison, CommandResult, TestedCode, TestedSubject, separate_checkout, test_guess,
    test_sets,
};
pub use andon_engine::recording::RunDestination;
use andon_engine::{Context, OpsError, Result, VerbError, Workspace, recording::pending};
use andon_git::platform::test_seam::stop_point;
use andon_store::Fingerprinter;
use testreport::{ExitKind, ParsedRun, RUNNER_EXIT, Root, RunReader, Stream};

/// A run and what it is worth.
pub struct TestOutcome {
    /// The run as the journal has it.
    pub run: TestRun,
    /// The exit code to pass on.
    pub code: u8,
    /// The place that keeps the run; `None` until it does.
    pub kept: Option<RunDestination>,
    /// Remarks on the reports of the run.
    pub warnings: Vec<String>,
    /// The remarks about a test run without a report.
    pub unread: MissingReport,
    /// The origin of the command that ran.
    pub origin: CommandOrigin,
    /// The error of a command that could not be started.
    pub start_error: Option<ProgramError>,
}

/// The tests that a person asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedTests {
    /// `test.command`.
    Configured,
    /// `test.command` with these arguments: a part of the tests.
    Part(Vec<OsString>),
    /// A command that is not the configured one.
    Other(Vec<OsString>),
}

/// Whose command runs: only the configured one proves something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOrigin {
    /// `test.command`, or that of a scope.
    Configured,
    /// The same with arguments that leave out tests.
    Part,
    /// A command that is not the configured one.
    Other,
}

/// A command that is to run.
pub(super) struct ChosenCommand {
    pub(super) command: TestCommand,
    pub(super) origin: CommandOrigin,
}

/// The report of a run that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingReport {
    /// A report was read, or none is wanted.
    No,
    /// The run failed, and only its exit code is known.
    ByExitCode,
    /// No test is named, so that the run does not count; the line to add to this section says that none is.
    Unnamed {
        /// The section of `andon.toml`.
        section: String,
        /// A line of the output that names failures.
        doubt: Option<String>,
    },
    /// The same, and it counts once more, as it did before.
    CountsOnceMore {
        /// The section of `andon.toml`.
        section: String,
    },
}

/// The way of the tests' output to the person.
pub struct OutputTarget<'a> {
    /// The terminals that it goes to.
    pub screens: &'a Screens,
    /// Passes a piece of the output on.
    pub pass: &'a mut dyn FnMut(Stream, &[u8]),
}

/// Runs the requested tests in the repository root, or in a checkout of the subject.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    subject: &TestedSubject,
    wanted: &WantedTests,
    shown: OutputTarget<'_>,
) -> Result<TestOutcome> {
    ws.top()?;
    let chosen = choose(ws, wanted)?;
    let apart = separate_checkout::checkout(ctx, ws, subject)?;
    let at = apart.as_ref().map_or(ws, |checkout| &checkout.ws);
    let mut ran = TestJob { ctx, ws, at, chosen: &chosen }.run(TestedCode::now(at)?, shown)?;
    if let Some(error) = ran.start_error {
        pending::keep(ctx, ws, &ran.run)?;
        return Err(error.into());
    }
    if let Some(checkout) = &apart {
        ran.happened_in(checkout, checkout.code);
    }
    compare(ws, &mut ran.run)?;
    ran.kept = Some(pending::keep(ctx, ws, &ran.run)?);
    stop_point("test:kept");
    Ok(ran)
}

impl TestOutcome {
    /// True where a signal stopped the tests, and with them what was to run after them.
    pub(super) fn is_stopped(&self) -> bool {
        self.run.validity == RunValidity::Interrupted && self.run.evidence.status != TestStatus::TimedOut
    }

    /// The tests ran in a checkout, whose code is known by its tree.
    pub(super) fn happened_in(&mut self, checkout: &Checkout, code: CodeId) {
        self.run.evidence.code = code;
        self.warnings.extend(if self.code == 0 { Vec::new() } else { checkout.differs() });
    }
}

/// A command that is to run, and where.
pub(super) struct TestJob<'a> {
    pub(super) ctx: &'a Context,
    /// The workspace that keeps the names of the tests.
    pub(super) ws: &'a Workspace,
    /// The workspace that the tests run in: a checkout, or the one with the settings of a scope.
    pub(super) at: &'a Workspace,
    pub(super) chosen: &'a ChosenCommand,
}

impl TestJob<'_> {
    /// Runs tests and says what they are worth; keeps nothing but the names of the tests.
    pub(super) fn run(&self, tested: TestedCode, shown: OutputTarget<'_>) -> Result<TestOutcome> {
        Ok(self.judged(execute(self.ctx, self.at, tested, &self.chosen.command, shown)?))
    }

    /// The worth of a run. A command that could not be started keeps nothing else from running: it gives a run, too.
    pub(super) fn judged(&self, (tested, executed): Executed) -> TestOutcome {
        let mut ran = match executed {
            Ok(ran) => ran,
            Err(error) => return self.not_started(tested, error),
        };
        let ChosenCommand { command, origin } = self.chosen;
        let unread = match origin {
            CommandOrigin::Configured => self.unread(&mut ran.parsed),
            CommandOrigin::Part | CommandOrigin::Other => MissingReport::No,
        };
        let validity = validity(*origin, &ran);
        test_sets::keep(self.ws, &ran.parsed);
        let (code, warnings) = (ran.end.code(), ran.warnings);
        let run = tested.run(Some(self.ctx.later()), ran.parsed, &command.display(), validity);
        TestOutcome { run, code, kept: None, warnings, unread, origin: *origin, start_error: None }
    }

    /// The tests of this code were to run and could not.
    fn not_started(&self, tested: TestedCode, error: ProgramError) -> TestOutcome {
        let ChosenCommand { command, origin } = self.chosen;
        // 127: what a shell says of a program that is not there.
        let mut parsed = RunReader::new(Root::none()).finish(ExitKind::Code(127));
        parsed.not_started = Some(error.to_string());
        let later = Some(self.ctx.later());
        let run = tested.run(later, parsed, &command.display(), RunValidity::NotStarted);
        let (warnings, unread) = (error.help().into_iter().collect(), MissingReport::No);
        let start_error = Some(error);
        TestOutcome { run, code: 127, kept: None, warnings, unread, origin: *origin, start_error }
    }

    /// Tells that no test is named, though some could have been. A command that has always passed so passes once more.
    fn unread(&self, parsed: &mut ParsedRun) -> MissingReport {
        let test = &self.at.config.test;
        let wanted = test.format.is_none_or(|format| format.name() != RUNNER_EXIT);
        let scope = test.scopes.of.as_ref();
        let section = scope.map_or_else(|| "test".to_owned(), |name| format!("test.scopes.{name}"));
        if !wanted || parsed.not_started.is_some() {
            MissingReport::No
        } else if parsed.unnamed && has_old_habit(self.ws, &self.chosen.command.display()) {
            (parsed.status, parsed.runner) = (TestStatus::Passed, TestEvidence::BY_OLD_HABIT.to_owned());
            MissingReport::CountsOnceMore { section }
        } else if parsed.unnamed {
            let doubt = parsed.doubt.as_deref().map(|line| secrets::masked(line).into_owned());
            MissingReport::Unnamed { section, doubt }
        } else if parsed.runner == RUNNER_EXIT && parsed.status == TestStatus::RunnerError {
            MissingReport::ByExitCode
        } else {
            MissingReport::No
        }
    }
}

/// The subject for testing `tree`: the working tree, if that is the same code.
///
/// # Errors
/// The working tree cannot be read.
pub fn subject_of(ws: &Workspace, tree: TreeId) -> Result<TestedSubject> {
    let code = Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_tree(tree)?;
    let same = ws.repo.workdir().is_some() && TestedCode::now(ws)?.code() == code;
    Ok(if same { TestedSubject::WorkTree } else { TestedSubject::Tree(tree.to_string()) })
}

/// Runs a test command in the repository root, on code that was just looked at, and reads what it says; keeps nothing.
pub fn execute(
    ctx: &Context,
    ws: &Workspace,
    tested: TestedCode,
    command: &TestCommand,
    OutputTarget { screens, pass }: OutputTarget<'_>,
) -> Result<Executed> {
    let (launch, mut execution) = Execution::prepare(ctx, ws, tested, command)?;
    let ended = Signals::hold().and_then(|held| {
        launch.run(&held, screens, &mut |stream, bytes| execution.push(stream, bytes, pass))
    });
    execution.finish(ws, ended, pass)
}

/// `test.command`.
///
/// # Errors
/// There is none.
pub fn configured(ws: &Workspace) -> Result<TestCommand> {
    ws.config.test.command.clone().ok_or_else(|| {
        let advice = ws.repo.workdir().map(test_guess::advice).unwrap_or_default();
        let help = vec![advice, format!("or run one command: {}", Hint::TestCommand.with(["COMMAND"]))];
        OpsError::Verb { kind: VerbError::Usage, what: "no test command is configured".to_owned(), help }
    })
}

fn choose(ws: &Workspace, asked: &WantedTests) -> Result<ChosenCommand> {
    let (command, origin) = match asked {
        WantedTests::Configured => (configured(ws)?, CommandOrigin::Configured),
        WantedTests::Part(words) => (added(&configured(ws)?, texts(words))?, CommandOrigin::Part),
        WantedTests::Other(words) => {
            let asked = TestCommand::Argv(texts(words));
            let same = ws.config.test.command.as_ref().is_some_and(|command| command.is_same(&asked));
            (asked, if same { CommandOrigin::Configured } else { CommandOrigin::Other })
        }
    };
    Ok(ChosenCommand { command, origin })
}

pub(super) fn texts(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn validity(origin: CommandOrigin, ran: &CommandResult) -> RunValidity {
    if ran.end.stopped != StopCause::No {
        RunValidity::Interrupted
    } else if origin != CommandOrigin::Configured {
        RunValidity::OtherCommand
    } else if ran.parsed.not_started.is_some() {
        RunValidity::NotStarted
    } else if ran.since == CodeComparison::Unchanged {
        RunValidity::Valid
    } else {
        RunValidity::CodeChanged
    }
}

/// Programs that take arguments for what they start behind `--`.
const BEHIND_DASHES: [&str; 3] = ["npm", "tox", "nox"];

/// The command with these arguments at its end.
///
/// # Errors
/// A line of several commands, as it is unknown which of them is meant; arguments that begin with the
/// command's own program.
pub(super) fn added(command: &TestCommand, arguments: Vec<String>) -> Result<TestCommand> {
    let words: Vec<String> = match command {
        TestCommand::Shell(line) if is_compound(line) => {
            let what = "arguments cannot be added to test.command, which is more than one command";
            return Err(OpsError::usage(format!("{what}: {line}"), Hint::NameCommand));
        }
        TestCommand::Shell(line) => line.split_whitespace().map(str::to_owned).collect(),
        TestCommand::Argv(words) => words.clone(),
    };
    if arguments.first().is_some_and(|first| words.first() == Some(first)) {
        return Err(OpsError::usage(
            "these words are added to test.command as arguments",
            Hint::TestCommand.with([&quoted(&arguments)]),
        ));
    }
    let dashes = needs_dashes(&words) && arguments.first().is_none_or(|first| first != "--");
    Ok(match command {
        TestCommand::Shell(line) => {
            let dashes = if dashes { " --" } else { "" };
            TestCommand::Shell(format!("{}{dashes} {}", line.trim_end(), quoted(&arguments)))
        }
        TestCommand::Argv(words) => {
            let dashes = dashes.then(|| "--".to_owned());
            TestCommand::Argv(words.iter().cloned().chain(dashes).chain(arguments).collect())
        }
    })
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")
}

fn needs_dashes(words: &[String]) -> bool {
    let program = words.first().and_then(|first| first.rsplit(['/', '\\']).next()).unwrap_or_default();
    let program = program.strip_suffix(".cmd").unwrap_or(program);
    BEHIND_DASHES.contains(&program) && !words.iter().any(|word| word == "--")
}

/// True where a line for `sh` is more than one command with its arguments.
fn is_compound(line: &str) -> bool {
    let (mut quote, mut chars) = (None, line.trim().chars());
    while let Some(one) = chars.next() {
        match (quote, one) {
            (None, '|' | '&' | ';' | '<' | '>' | '\n' | '#' | '`') => return true,
            (None, '\'' | '"') => quote = Some(one),
            (Some(open), _) if open == one => quote = None,
            (None | Some('"'), '\\') => {
                chars.next();
            }
            _ => {}
        }
    }
    quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn arguments_stand_where_the_runner_reads_them() {
        let shell = |line: &str| TestCommand::Shell(line.to_owned());
        let table = [
            (shell("pytest -q"), "-k name", Some("pytest -q -k name")),
            (shell("pytest -q"), "tests/a.py", Some("pytest -q tests/a.py")),
            (shell("npm test"), "-t adds", Some("npm test -- -t adds")),
            (shell("npm test -- --ci"), "-t adds", Some("npm test -- --ci -t adds")),
            (shell("npm test"), "-- -t adds", Some("npm test -- -t adds")),
            (shell("FOO='a;b' pytest"), "-x", Some("FOO='a;b' pytest -x")),
            (shell("pytest -k 'a b'"), "it's", Some("pytest -k 'a b' 'it'\\''s'")),
            (TestCommand::Argv(words("cargo test")), "parse", Some("cargo test parse")),
            (TestCommand::Argv(words("npm test")), "-t adds", Some("npm test -- -t adds")),
            (shell("ruff check && pytest"), "-x", None),
            (shell("pytest | tail"), "-x", None),
            (shell("pytest"), "pytest -x", None),
        ];
        for (command, arguments, expected) in table {
            let added = added(&command, words(arguments)).ok();
            assert_eq!(added.map(|one| one.display()).as_deref(), expected, "{arguments}");
        }
    }
}
