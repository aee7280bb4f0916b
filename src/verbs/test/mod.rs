//! `andon test`: the output of the tests goes through untouched; what Andon says comes after, on standard error.

mod calls;
mod execution;
mod preset;
pub mod run;
pub mod scoped_run;
pub mod scopes;
mod side_by_side;
mod whereabouts;

use std::ffi::OsString;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Exit, Format, FormatArg, Shell, error, output};
use crate::setup::live;
use crate::verbs::{hook::complete, test::run as test};
use andon_core::domain::{Decision, Diagnostic, Hint, RunValidity, TestRun, TestStatus, plural::count};
use andon_engine::{Result, Workspace, evidence::TestedSubject, gate::rule_feed, json};
use andon_store::ResultIndex;
use testreport::Stream;

/// Runs the tests and passes their exit code on.
pub fn run(shell: &Shell, args: &TestArgs) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let (out, format) = (shell.out, args.format.format);
    // JSON is alone on standard output, as with other runners.
    let mut pass = |stream: Stream, bytes: &[u8]| match (stream, format) {
        (Stream::Stdout, Format::Text) => out.pass_out(bytes),
        (Stream::Stdout, Format::Json) | (Stream::Stderr, _) => out.pass_err(bytes),
    };
    let shown = test::OutputTarget { screens: &output::screens(), pass: &mut pass };
    let subject = subject(args);
    if args.command.is_empty() && args.scopes {
        return scopes::graph(shell, &ws, args);
    }
    if args.command.is_empty() && args.dry_run {
        return scopes::dry_run(shell, &ws, &subject, args);
    }
    if args.command.is_empty()
        && let Some(choice) = scoped_run::choice(&ws, args)?
    {
        let wanted = scoped_run::ScopeRequest { subject: &subject, choice: &choice, jobs: args.jobs.into() };
        return scopes::run(shell, &ws, &wanted, shown, format);
    }
    let asked = match (args.arguments.as_slice(), args.command.as_slice()) {
        ([], []) => test::WantedTests::Configured,
        ([], command) => test::WantedTests::Other(command.to_vec()),
        (arguments, _) => test::WantedTests::Part(arguments.to_vec()),
    };
    let ran = test::run(&shell.ctx, &ws, &subject, &asked, shown)?;
    let mut shown = remarks(&ran);
    shown.extend([live::warning(&shell.ctx, &ws.repo), waits(&ran), passed_on(args)].into_iter().flatten());
    let decision = after_run(shell, &ws, ran.kept, &mut shown);
    say(shell, &shown, decision.as_ref());
    if format == Format::Json {
        out.result(&ran_json(&ran.run, ran.code, &shown, Vec::new(), decision.as_ref()));
    }
    Ok(Exit::Passed(ran.code))
}

/// The decision of the rules after a run that is in the journal. The exit code is passed on, whatever can be read of the loop.
fn after_run(
    shell: &Shell,
    ws: &Workspace,
    kept: Option<test::RunDestination>,
    said: &mut Vec<Diagnostic>,
) -> Option<Decision> {
    if kept != Some(test::RunDestination::InJournal) {
        return None;
    }
    // Hooks read little of what came since the index was remembered, and so it is remembered here.
    said.extend(ResultIndex::keep(&ws.repo, shell.ctx.now).warnings);
    let head = ws.repo.head().ok().and_then(|head| head.commit());
    let completed = head.map(|head| complete(&shell.ctx, ws, head)).transpose();
    said.extend(completed.err().iter().flat_map(error::diagnostics));
    match rule_feed::after_run(&shell.ctx, ws) {
        Ok(decided) => decided.map(|(decision, warnings)| {
            said.extend(warnings);
            decision
        }),
        Err(err) => {
            said.extend(error::diagnostics(&err));
            None
        }
    }
}

fn say(shell: &Shell, said: &[Diagnostic], decision: Option<&Decision>) {
    shell.tell(said);
    if let Some(decision) = decision {
        shell.tell_decision(decision);
    }
}

/// The run, the remarks about it, and the decision after it, where the run belongs to an iteration.
fn ran_json(
    run: &TestRun,
    code: u8,
    said: &[Diagnostic],
    scopes: Vec<Value>,
    decision: Option<&Decision>,
) -> String {
    let mut shown = json::record::test_run(run);
    shown["exit_code"] = code.into();
    shown["warnings"] = json!(said);
    if !scopes.is_empty() {
        shown["scopes"] = scopes.into();
    }
    if let Some(decision) = decision {
        shown["decision"] = json!(decision);
    }
    json::line(&shown)
}

fn subject(args: &TestArgs) -> TestedSubject {
    match &args.tree {
        Some(tree) => TestedSubject::Tree(tree.clone()),
        None if args.staged => TestedSubject::Staged,
        None => TestedSubject::WorkTree,
    }
}

/// The remarks on one run.
fn remarks(ran: &test::TestOutcome) -> Vec<Diagnostic> {
    let warnings = ran.warnings.iter().map(Diagnostic::warning);
    warnings.chain([proves_nothing(ran), unread(ran), flaky(ran)].into_iter().flatten()).collect()
}

fn remark(what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(what).code("test-run").help(help)
}

/// `andon test -k NAME --format json`: what follows an argument is one too, and some runners have such an option.
fn passed_on(args: &TestArgs) -> Option<Diagnostic> {
    let (arguments, format) = (&args.arguments, args.format.format);
    let two = |two: &[std::ffi::OsString]| matches!(two, [option, value] if option == "--format" && value == "json");
    let asked = arguments.windows(2).any(two) || arguments.iter().any(|one| one == "--format=json");
    let what = "--format json went to the tests, as all that follows their first argument";
    (asked && format == Format::Text).then(|| Diagnostic::note(what).code("test-run").help(Hint::TestJson))
}

/// A shell that may write the working tree alone leaves the run to a hook outside of it.
fn waits(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let what = "the run waits in .andon/pending-run.jsonl: this shell cannot write the git directory";
    let hints = [
        &Hint::AgentList.led("the next hook of the agent's client takes it in as handed in"),
        "[test] handed_in = \"count\" in andon.toml lets such runs prove something",
        "commit from a shell that may write the git directory",
    ];
    let diagnostic = Diagnostic::warning(what).code("test-run").helps(hints);
    (ran.kept == Some(test::RunDestination::Pending)).then_some(diagnostic)
}

/// Silent when the run proves something; otherwise it says why not.
fn proves_nothing(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let status = ran.run.evidence.status;
    let (what, help) = match ran.run.validity {
        RunValidity::OtherCommand if ran.origin == test::CommandOrigin::Part => (
            "this was a part of the tests; the run is kept, and proves nothing",
            Hint::Test.led("run them all"),
        ),
        RunValidity::OtherCommand => (
            "this is not the configured test.command; the run is kept, and proves nothing",
            Hint::Test.into(),
        ),
        RunValidity::CodeChanged => {
            ("the code changed while the tests ran; the run proves nothing", Hint::Test.into())
        }
        RunValidity::Interrupted if status == TestStatus::TimedOut => {
            ("the tests were stopped by test.timeout; the run proves nothing", Hint::MoreTime.into())
        }
        RunValidity::Interrupted => ("the tests were stopped; the run proves nothing", Hint::Test.into()),
        RunValidity::NotStarted => return Some(not_started(ran)),
        RunValidity::HandedIn | RunValidity::Seen => {
            ("the run was handed in; it proves nothing", Hint::Test.into())
        }
        RunValidity::Filtered => return Some(filtered(ran, "proves nothing")),
        RunValidity::Valid => return valid(ran, status),
    };
    Some(remark(what, help))
}

/// There was nothing to run: that is no fault of the code.
fn not_started(ran: &test::TestOutcome) -> Diagnostic {
    let said = ran.run.evidence.not_started.as_deref().unwrap_or("its program is not there");
    let what = format!("the tests could not be started, so the run proves nothing: {said}");
    remark(what, Hint::Doctor.led("see what is missing")).help(Hint::ShowConfigOf.with(["test"]))
}

/// No report was recognised, or no test is named: what to say, and the line that says that there is none.
fn unread(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let command = &ran.run.evidence.command;
    let (section, what) = match &ran.unread {
        test::MissingReport::No => return None,
        test::MissingReport::ByExitCode => {
            let what = "no test report was recognised in the output: only the exit code is known, not which tests fail";
            ("test", what.to_owned())
        }
        test::MissingReport::Unnamed { section, doubt } => {
            let failures =
                doubt.as_ref().map_or_else(String::new, |line| format!(", which names failures: {line}"));
            let what = format!(
                "no test is named in the output of `{command}`{failures}; the run does not count as passed"
            );
            (section.as_str(), what)
        }
        test::MissingReport::CountsOnceMore { section } => {
            let what = format!(
                "no test is named in the output of `{command}`; its exit code counts once more, as before, and not from the next run on"
            );
            (section.as_str(), what)
        }
    };
    Some(
        Diagnostic::warning(what)
            .code("test-run")
            .help(Hint::WithReport)
            .help(Hint::ByExitCode.with([section])),
    )
}

/// The same code gave another result before.
fn flaky(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let names = &ran.run.evidence.flaky;
    let (first, more) = (names.first()?, names.len() - 1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!("flaky: the same code gave other results before for {first}{more}");
    Some(Diagnostic::note(what).code("test-run").help(Hint::Status))
}

/// A run of a part of the tests.
fn filtered(ran: &test::TestOutcome, worth: &str) -> Diagnostic {
    let (ran, full) = (ran.run.evidence.counts().ran(), ran.run.evidence.full_run.unwrap_or_default());
    let full = count(full, "test");
    remark(
        format!("{ran} of {full} ran that the last full run had; the run {worth}"),
        Hint::Test.led("run them all"),
    )
}

fn valid(ran: &test::TestOutcome, status: TestStatus) -> Option<Diagnostic> {
    if ran.run.evidence.full_run.is_some() {
        return Some(filtered(ran, "counts all the same (test.full = true refuses it)"));
    }
    let (what, help) = match status {
        TestStatus::NoTests => {
            ("not one test ran; the run proves nothing", Hint::ShowConfigOf.with(["test"]))
        }
        TestStatus::Incomplete => return cut_short(ran),
        // A run that exits with 0 and still did not pass needs a word, since the shell sees none.
        TestStatus::Failed | TestStatus::BuildFailed | TestStatus::RunnerError | TestStatus::Crashed
            if ran.code == 0 =>
        {
            (
                "the exit code is 0, but the report says otherwise; the run counts as failed",
                "look at the report".to_owned(),
            )
        }
        TestStatus::Passed
        | TestStatus::Failed
        | TestStatus::BuildFailed
        | TestStatus::RunnerError
        | TestStatus::TimedOut
        | TestStatus::Crashed => return None,
    };
    Some(remark(what, help))
}

/// The report is not whole. Behind a pipe a run that passed looks like one that failed.
fn cut_short(ran: &test::TestOutcome) -> Option<Diagnostic> {
    let evidence = &ran.run.evidence;
    let Some(hiding) = test::cuts_the_end(&evidence.command) else {
        if matches!(ran.unread, test::MissingReport::Unnamed { .. }) {
            return None;
        }
        return Some(if evidence.is_by_exit_code() {
            let help = Hint::EndWithTests;
            remark("nothing tells how the tests ended; the run does not count as passed", help)
        } else {
            remark("the test report is cut short; the run does not count as passed", Hint::Test)
        });
    };
    let what = format!(
        "`{hiding}` hides how the tests ended, their summary and their exit code; the run does not count as passed"
    );
    Some(remark(what, Hint::WithoutPipe).help(Hint::ShortenShown.with([&hiding])))
}

/// `andon test`
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Test what is staged, in a checkout of its own: working tree, index and a merge under way stay as they are
    #[arg(long, conflicts_with = "tree")]
    pub staged: bool,
    /// Test this tree, or that of this commit, in the same way
    #[arg(long, value_name = "TREE")]
    pub tree: Option<String>,
    /// Test everything at once with test.command, also where each scope passed
    #[arg(long, conflicts_with_all = ["command", "scopes"])]
    pub all: bool,
    /// Test up to this many scopes at once, where none needs the other; what each prints is shown when it ends
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Say what would run and what not, and why
    #[arg(long)]
    pub dry_run: bool,
    /// Show the scopes ([test.scopes]) and what is known of their tests
    #[arg(long, conflicts_with_all = ["command", "dry_run", "arguments"])]
    pub scopes: bool,
    /// Names of scopes to test, or arguments for test.command, such as -k NAME or a path: a part of the tests, which proves nothing
    #[arg(allow_hyphen_values = true, value_name = "ARG", conflicts_with = "command")]
    pub arguments: Vec<OsString>,
    /// A command to run instead of test.command; recorded, but it proves nothing unless it is the same
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Output format, before any argument; with json the tests' own output goes to standard error
    #[command(flatten)]
    pub format: FormatArg,
}
