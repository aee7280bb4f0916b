//! `andon replay`: shows what would have happened over a range of commits, a stream of events or a session.

pub mod run;
mod session;
pub mod text;

use std::collections::btree_map::Entry;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, num::NonZeroUsize};

use clap::Args;

use self::run::{ReplayLine, ReplayStep};
use self::text::Teller;
use crate::cli::progress::{self, stopped};
use crate::cli::{Shell, error::Exit, format_arg::FormatArg, output::Format};
use crate::verbs::test::{run as test, run::OutputTarget};
use andon_config::{self as config, Config, TestCommand};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::{CodeId, CommitId};
use andon_core::domain::tests::TestEvidence;
use andon_engine::effect::program::{ProgramError, Screens, StopCause};
use andon_engine::evidence::separate_checkout::{self, TestedSubject};
use andon_engine::evidence::tested_code::{CommandResult, TestedCode};
use andon_engine::{error::OpsError, workspace::Workspace};
use testreport::Stream;

/// `andon replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Commits to replay, such as v1.0..HEAD; default: all of HEAD. What unrecorded commits took from the tests is judged
    /// in ranges of up to 1,000 commits
    #[arg(value_name = "RANGE", default_value = "HEAD", conflicts_with = "events")]
    pub range: String,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Replay a file of events instead, one JSON object a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Walk through one session instead: state, action, next state and decision of each step
    #[arg(long, value_name = "ID", conflicts_with_all = ["events", "range"])]
    pub session: Option<String>,
    /// Run this test command on each commit first, in a checkout of its own, and judge as the hooks would have: such as
    /// `cargo check` or `python3 -m compileall -q .`. Nothing is kept
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["events", "session"])]
    pub test: Option<String>,
    /// Output format; json is one line a commit
    #[command(flatten)]
    pub format: FormatArg,
}

/// Bytes that are collected before they are printed.
const CHUNK: usize = 1 << 16;

/// Shows what would have happened. Always exit code 0: it shows, it does not judge.
pub fn run(shell: &Shell, args: &ReplayArgs) -> Result<Exit, OpsError> {
    if let Some(file) = &args.events {
        return events(shell, file, args.format.format);
    }
    let ws = Workspace::open(&shell.ctx)?;
    if let Some(session) = &args.session {
        return walk(shell, &ws, session, args.format.format);
    }
    let Some(tests) = tests(shell, &ws, args)? else { return Ok(Exit::Undecided) };
    let mut lines = ShownLines::new(shell, args.format.format);
    let ended = progress::walk(shell, "replay", args.threads, |pace, progress| {
        let mut show = |line| lines.take(&line, || progress.clear());
        run::run(&shell.ctx, &ws, &args.range, &tests, pace, &mut show)
    });
    let ended = ended.inspect_err(|_| lines.flush())?;
    lines.end(&args.range, &ended.warnings);
    Ok(stopped(shell, ended.walked, Exit::Allowed))
}

/// The lines of a replay, printed some at a time.
struct ShownLines<'a> {
    shell: &'a Shell,
    format: Format,
    teller: Teller,
    waiting: String,
}

impl<'a> ShownLines<'a> {
    fn new(shell: &'a Shell, format: Format) -> Self {
        Self { shell, format, teller: Teller::new(shell.out.out), waiting: String::new() }
    }

    /// Takes a line; `before` is done before anything is printed.
    fn take(&mut self, line: &ReplayLine, before: impl Fn()) {
        self.waiting.push_str(&match self.format {
            Format::Text => self.teller.line(line),
            Format::Json => text::document(line),
        });
        if self.waiting.len() > CHUNK {
            before();
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.shell.out.result(&std::mem::take(&mut self.waiting));
    }

    fn end(&mut self, source: &str, warnings: &[Diagnostic]) {
        if self.format == Format::Text {
            self.waiting.push_str(&self.teller.end(source, warnings));
        }
        self.flush();
    }
}

/// Returns the results of `--test` on each commit, reported on standard error as they come; nothing without it, `None` where it
/// was stopped.
fn tests(
    shell: &Shell,
    ws: &Workspace,
    args: &ReplayArgs,
) -> Result<Option<BTreeMap<CommitId, TestEvidence>>, OpsError> {
    let mut found = BTreeMap::new();
    let Some(command) = &args.test else { return Ok(Some(found)) };
    let (parsed, screens) = (TestCommand::Shell(command.clone()), Screens::none());
    let commits = ws.repo.range(&args.range)?;
    let mut known: BTreeMap<CodeId, Result<TestEvidence, String>> = BTreeMap::new();
    for (at, commit) in commits.iter().copied().enumerate() {
        let subject = TestedSubject::Tree(commit.to_string());
        let Some(checkout) = separate_checkout::checkout(&shell.ctx, ws, &subject)? else { continue };
        let (checkout, code) = (&checkout.ws, checkout.code);
        // A commit of documents alone has the code, and so the result, of the one before.
        let result = match known.entry(code) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let shown = OutputTarget { screens: &screens, pass: &mut |_: Stream, _: &[u8]| () };
                let tested = TestedCode::now(checkout)?;
                let (_, executed) = test::execute(&shell.ctx, checkout, tested, &parsed, shown)?;
                let Some(result) = one(executed, code, command) else { return Ok(None) };
                place.insert(result)
            }
        };
        let result = result.as_ref().map_err(String::as_str);
        let place = format!("{} of {}  {}", at + 1, commits.len(), commit.short());
        shell.out.message(&text::tested(&place, result));
        if let Ok(evidence) = result {
            found.insert(commit, evidence.clone());
        }
    }
    Ok(Some(found))
}

/// Walks through one session, and shows its steps.
fn walk(shell: &Shell, ws: &Workspace, session: &str, format: Format) -> Result<Exit, OpsError> {
    let (found, warnings) = session::run(ws, session)?;
    shell.out.result(&match format {
        Format::Text => text::trajectory(&found, shell.out.out),
        Format::Json => text::trajectory_json(&found),
    });
    shell.tell(&warnings);
    Ok(Exit::Allowed)
}

/// Replays a file of events, printed as they are judged. Exit code 2 when a line is no fact.
fn events(shell: &Shell, file: &Path, format: Format) -> Result<Exit, OpsError> {
    let config = config(shell)?;
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(std::fs::File::open(file).map_err(OpsError::Input)?))
    };
    let mut lines = ShownLines::new(shell, format);
    let ended = run::run_events(&config, shell.ctx.now, &mut input, &mut |number, decision| {
        lines.take(&ReplayLine { step: ReplayStep::Event { event: number }, decision }, || ());
    })?;
    lines.end(&file.to_string_lossy(), &[]);
    shell.tell(&ended.remarks);
    Ok(if ended.refused > 0 { Exit::Usage } else { Exit::Allowed })
}

/// The configuration of the repository, or the user's own where there is none: a stream needs no repository.
fn config(shell: &Shell) -> Result<Config, OpsError> {
    match Workspace::open(&shell.ctx) {
        Ok(ws) => Ok(ws.config),
        Err(OpsError::Git(err)) if err.is_usage() => Ok(config::load(&[])?),
        Err(err) => Err(err),
    }
}

/// Returns the result of a run; `None` where a signal stopped it.
fn one(
    executed: Result<CommandResult, ProgramError>,
    code: CodeId,
    command: &str,
) -> Option<Result<TestEvidence, String>> {
    match executed {
        Ok(CommandResult { end, .. }) if matches!(end.stopped, StopCause::Forwarded(_)) => None,
        Ok(CommandResult { mut parsed, .. }) => Some(match parsed.not_started.take() {
            Some(why) => Err(why),
            None => Ok(TestEvidence::from_run(parsed, code, command)),
        }),
        Err(error) => Some(Err(error.to_string())),
    }
}
