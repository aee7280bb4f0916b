//! `andon test`: the output of the tests goes through untouched; what Andon says comes after, on standard error.

pub mod args;
pub mod run;
pub mod scopes;

use self::args::TestArgs;
use crate::cli::Shell;
use crate::cli::error::{self, Exit};
use crate::cli::output::{self, Format};
use crate::json::{DecisionJson, RanJson, TestRunJson};
use crate::report::json;
use crate::verbs::test::run as test;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::plural::count;
use andon_core::domain::tests::{RunValidity, TestStatus};
use andon_engine::error::OpsError;
use andon_engine::evidence::separate_checkout::TestedSubject;
use andon_engine::gate::rule_feed;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;
use testreport::Stream;

/// Runs the tests and passes their exit code on.
pub fn run(shell: &Shell, args: &TestArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let (out, format) = (shell.out, args.format.format);
    // JSON is alone on standard output, as with other runners.
    let mut pass = |stream: Stream, bytes: &[u8]| match (stream, format) {
        (Stream::Stdout, Format::Text) => out.pass_out(bytes),
        (Stream::Stdout, Format::Json) | (Stream::Stderr, _) => out.pass_err(bytes),
    };
    let shown = test::OutputTarget { screens: &output::screens(), pass: &mut pass };
    let subject = subject(args);
    if args.command.is_empty() && (args.scopes || args.dry_run) {
        return scopes::show(shell, &ws, &subject, args);
    }
    if args.command.is_empty()
        && let Some(choice) = test::scopes::choice(&ws, args.all, &args.arguments)?
    {
        let wanted =
            test::scopes::ScopeRequest { subject: &subject, choice: &choice, jobs: args.jobs.into() };
        return scopes::run(shell, &ws, &wanted, shown, format);
    }
    let asked = match (args.arguments.as_slice(), args.command.as_slice()) {
        ([], []) => test::WantedTests::Configured,
        ([], command) => test::WantedTests::Other(command.to_vec()),
        (arguments, _) => test::WantedTests::Part(arguments.to_vec()),
    };
    let ran = test::run(&shell.ctx, &ws, (&subject, asked), shown)?;
    let mut shown: Vec<Diagnostic> = ran.warnings.iter().map(Diagnostic::warning).collect();
    shown.extend(waits(&ran));
    shown.extend(proves_nothing(&ran));
    shown.extend(unread(&ran));
    shown.extend(passed_on(&ran, format));
    shown.extend(flaky(&ran));
    // The run is kept and its exit code passed on, whatever can be read of the loop.
    let decided = match ran.kept {
        test::RunDestination::InJournal => rule_feed::after_run(&shell.ctx, &ws),
        test::RunDestination::Pending => Ok(None),
    };
    let decision = decided.unwrap_or_else(|err| {
        shown.extend(error::diagnostics(&err));
        None
    });
    if let Some((_, warnings)) = &decision {
        shown.extend(warnings.iter().cloned());
    }
    out.message(&message::diagnostics(&shown, out.err));
    if let Some((decision, _)) = &decision {
        out.message(&message::decision(decision, message::Consequence::Done, out.err));
    }
    if format == Format::Json {
        out.result(&json::line(&RanJson {
            run: TestRunJson::from(&ran.run),
            exit_code: ran.code,
            warnings: json::diagnostics(&shown),
            scopes: Vec::new(),
            decision: decision.as_ref().map(|(decision, _)| DecisionJson::from(decision)),
        }));
    }
    Ok(Exit::Passed(ran.code))
}

fn subject(args: &TestArgs) -> TestedSubject {
    match &args.tree {
        Some(tree) => TestedSubject::Tree(tree.clone()),
        None if args.staged => TestedSubject::Staged,
        None => TestedSubject::WorkTree,
    }
}

/// `andon test -k NAME --format json`: what follows an argument is one too, and some runners have such an option.
fn passed_on(ran: &test::TestOutcome, format: Format) -> Option<Diagnostic> {
    let test::WantedTests::Part(arguments) = &ran.asked else { return None };
    let two = |two: &[std::ffi::OsString]| matches!(two, [option, value] if option == "--format" && value == "json");
    let asked = arguments.windows(2).any(two) || arguments.iter().any(|one| one == "--format=json");
    let what = "--format json went to the tests, as all that follows their first argument";
    (asked && format == Format::Text).then(|| {
        Diagnostic::note(what)
            .code("test-run")
            .help("for the result as JSON, name it before: andon test --format json ARG...")
    })
}

/// A shell that may write the working tree alone leaves the run to a hook outside of it.
fn waits(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let what = "the run waits in .andon/pending-run.jsonl: this shell cannot write the git directory";
    let hints = [
        "the next hook of the agent's client takes it in as handed in: andon agent list",
        "[test] handed_in = \"count\" in andon.toml lets such runs prove something",
        "commit from a shell that may write the git directory",
    ];
    let diagnostic = hints.into_iter().fold(Diagnostic::warning(what).code("test-run"), Diagnostic::help);
    (ran.kept == test::RunDestination::Pending).then_some(diagnostic)
}

/// Silent when the run proves something; otherwise it says why not.
fn proves_nothing(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let status = ran.run.evidence.status;
    let (what, help) = match ran.run.validity {
        RunValidity::OtherCommand if matches!(ran.asked, test::WantedTests::Part(_)) => {
            ("this was a part of the tests; the run is kept, and proves nothing", "run them all: andon test")
        }
        RunValidity::OtherCommand => {
            ("this is not the configured test.command; the run is kept, and proves nothing", "andon test")
        }
        RunValidity::CodeChanged => {
            ("the code changed while the tests ran; the run proves nothing", "andon test")
        }
        RunValidity::Interrupted if status == TestStatus::TimedOut => (
            "the tests were stopped by test.timeout; the run proves nothing",
            "raise [test] timeout in andon.toml",
        ),
        RunValidity::Interrupted => ("the tests were stopped; the run proves nothing", "andon test"),
        RunValidity::NotStarted => return Some(not_started(ran)),
        RunValidity::HandedIn => ("the run was handed in; it proves nothing", "andon test"),
        RunValidity::Filtered => return Some(filtered(ran, "proves nothing (test.full)")),
        RunValidity::Valid => return valid(ran, status),
    };
    Some(Diagnostic::warning(what).code("test-run").help(help))
}

/// There was nothing to run: that is no fault of the code.
fn not_started(ran: &test::TestOutcome) -> Diagnostic {
    let said = ran.run.evidence.not_started.as_deref().unwrap_or("its program is not there");
    Diagnostic::warning(format!("the tests could not be started, so the run proves nothing: {said}"))
        .code("test-run")
        .help("see what is missing: andon doctor")
        .help("or correct test.command: andon config show test")
}

/// No report was recognised: it is unknown which tests fail, and whether fewer do.
fn unread(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let what = match &ran.unread {
        test::MissingReport::No => return None,
        test::MissingReport::NamesFailures(line) => {
            format!("the run passed by its exit code alone, and its output names failures: {line}")
        }
        test::MissingReport::ByExitCode => {
            "no test report was recognised in the output: only the exit code is known, not which tests fail"
                .to_owned()
        }
    };
    let mut shown = Diagnostic::warning(what).code("test-run");
    if matches!(ran.unread, test::MissingReport::NamesFailures(_)) {
        shown = shown
            .help("a pipe or `|| true` hides the exit code: let test.command end with that of the tests");
    }
    let shown = shown.help(
        "have the runner write a report, and name it in andon.toml:  [test]  reports = [\"report.xml\"]",
    );
    Some(shown.help("or, if the exit code is all there is:  [test]  format = \"exit\""))
}

/// The same code gave another result before.
fn flaky(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let names = &ran.run.evidence.flaky;
    let (first, more) = (names.first()?, names.len() - 1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!("flaky: the same code gave other results before for {first}{more}");
    Some(Diagnostic::note(what).code("test-run").help("andon status"))
}

/// A run of a part of the tests.
fn filtered(ran: &test::TestOutcome, worth: &str) -> Diagnostic {
    let (ran, full) = (ran.run.evidence.counts().ran(), ran.run.evidence.full_run.unwrap_or_default());
    Diagnostic::warning(format!(
        "{ran} of {} ran that the last full run had; the run {worth}",
        count(full, "test")
    ))
    .code("test-run")
    .help("run them all: andon test")
}

fn valid(ran: &test::TestOutcome, status: TestStatus) -> Option<Diagnostic> {
    if ran.run.evidence.full_run.is_some() {
        return Some(filtered(ran, "counts all the same (test.full = true refuses it)"));
    }
    let (what, help) = match status {
        TestStatus::NoTests => {
            ("not one test ran; the run proves nothing", "look at test.command: andon config show")
        }
        TestStatus::Incomplete => return Some(cut_short(ran)),
        // A run that exits with 0 and still did not pass needs a word, since the shell sees none.
        TestStatus::Failed | TestStatus::BuildFailed | TestStatus::RunnerError | TestStatus::Crashed
            if ran.code == 0 =>
        {
            (
                "the exit code is 0, but the report says otherwise; the run counts as failed",
                "look at the report",
            )
        }
        TestStatus::Passed
        | TestStatus::Failed
        | TestStatus::BuildFailed
        | TestStatus::RunnerError
        | TestStatus::TimedOut
        | TestStatus::Crashed => return None,
    };
    Some(Diagnostic::warning(what).code("test-run").help(help))
}

/// The report is not whole. Behind a pipe a run that passed looks like one that failed.
fn cut_short(ran: &test::TestOutcome) -> Diagnostic {
    let Some(hiding) = test::cuts_the_end(&ran.run.evidence.command) else {
        if ran.run.evidence.is_by_exit_code() {
            return Diagnostic::warning(
                "nothing tells how the tests ended; the run does not count as passed",
            )
            .code("test-run")
            .help("let test.command end with the tests and with their exit code: andon config show test")
            .help(
                "or have them write a report, and name it in andon.toml:  [test]  reports = [\"report.xml\"]",
            );
        }
        return Diagnostic::warning("the test report is cut short; the run does not count as passed")
            .code("test-run")
            .help("andon test");
    };
    Diagnostic::warning(format!(
        "`{hiding}` hides how the tests ended, their summary and their exit code; the run does not count as passed"
    ))
    .code("test-run")
    .help("in andon.toml, let test.command end with the runner, without the pipe: andon config show test")
    .help(format!("for less on the screen, shorten what andon shows: andon test 2>&1 | {hiding}"))
}
