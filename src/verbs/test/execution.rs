//! One run of a test command, in three steps: the launch, the output while it runs, and the result. Several can run at once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::preset::{self, LineFilter};
use super::{calls, whereabouts::Whereabouts};
use andon_config::TestCommand;
use andon_core::domain::{HiddenPath, Hint, Span, TestStatus};
use andon_core::{change::secrets, escape::shell_quote_bytes};
use andon_engine::effect::{
    CommandExit, Environment, MatchingFiles, PrivateDir, ProgramEnd, ProgramError, Signals, StartedProgram,
    StopCause, Surroundings, best_effort, program::Screens, report_files,
};
use andon_engine::evidence::earlier_runs::{without_its_reports, without_their_tests};
use andon_engine::evidence::{CodeComparison, CommandResult, Mentions, Places, TestedCode};
use andon_engine::{Context, Result, Workspace};
use andon_git::platform::test_seam::stop_point;
use testreport::{ExitKind, ParsedRun, Promise, Root, RunReader, Stream};

/// Inside a hook git points these at its own index; the tests must not see them.
const OF_GIT: [&str; 4] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"];

/// A command as it is started.
pub(super) struct CommandLaunch {
    directory: PathBuf,
    command: TestCommand,
    environment: Environment,
    timeout: Option<Span>,
    globs: Vec<String>,
    max_reports: u64,
    at_end: FinalReports,
}

/// The reports that were there when the command had ended. What is written after that is of a process that it left behind.
type FinalReports = Arc<Mutex<Option<MatchingFiles>>>;

impl CommandLaunch {
    /// Runs it to its end; `sink` gets what it prints.
    pub(super) fn run(
        &self,
        held: &Signals,
        screens: &Screens,
        sink: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<ProgramEnd, ProgramError> {
        let Self { directory, environment, globs, max_reports, at_end, .. } = self;
        let look = || {
            let reports = report_files::matching(directory, globs, *max_reports);
            *at_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(reports);
        };
        let around = Surroundings { directory, environment, screens, at_end: &look };
        held.run(&self.command, around, self.timeout, sink)
    }
}

/// The code that a command ran on, and what came of it, or the error of one that could not be started.
pub type Executed = (TestedCode, Result<CommandResult, ProgramError>);

/// A run that is under way: the code that it runs on, and what it has said so far.
pub(super) struct Execution {
    tested: TestedCode,
    /// The places of its code.
    places: Places,
    top: PathBuf,
    /// The reports that were there before.
    before: MatchingFiles,
    at_end: FinalReports,
    reader: RunReader,
    mentions: Mentions,
    unseen: LineFilter,
    whereabouts: Whereabouts,
    /// The report that `test.runner` adds.
    added: Option<AddedReport>,
}

/// A report that `test.runner` adds, in a directory that goes with it.
struct AddedReport {
    path: PathBuf,
    _dir: PrivateDir,
}

impl Execution {
    /// Looks at what is there before the command starts.
    pub(super) fn prepare(
        ctx: &Context,
        ws: &Workspace,
        tested: TestedCode,
        asked: &TestCommand,
    ) -> Result<(CommandLaunch, Self)> {
        let top = ws.top()?.to_owned();
        stop_point("test:begin");
        let max_reports = ws.config.test.max_reports;
        let before = report_files::matching(&top, &ws.config.test.reports, max_reports);
        let (command, unseen, added) = match with_report(ws, &top, asked) {
            Some((command, unseen, added)) => (command, unseen, Some(added)),
            None => (asked.clone(), None, None),
        };
        let root = Root::new(&top.to_string_lossy()).with_patterns(&ws.config.normalize);
        let mut reader = RunReader::new(root).only(ws.config.test.format);
        let mut whereabouts = Whereabouts::of(&top);
        let sure = calls::of_command(&top, asked, &|name| ctx.var(name).map(str::to_owned));
        sure.calls.into_iter().for_each(|call| reader.expect(call));
        sure.directories.iter().for_each(|directory| whereabouts.ran_in(directory));
        sure.paths.iter().for_each(|named| whereabouts.asked_for(named));
        whereabouts.worked_in(&sure.others_in);
        if let Some(by) = calls::masks_exit(&top, asked) {
            reader.exit_masked_by(by);
        }
        let mentions = tested.mentions(ws);
        let (directory, environment, timeout) = (top.clone(), environment(ctx, ws), ws.config.test.timeout);
        let (globs, at_end) = (ws.config.test.reports.clone(), FinalReports::default());
        let ours = Arc::clone(&at_end);
        let launch = CommandLaunch { directory, command, environment, timeout, globs, max_reports, at_end };
        let unseen = LineFilter::new(unseen);
        let places = Places::now(ws);
        let execution =
            Self { tested, places, top, before, at_end: ours, reader, mentions, unseen, whereabouts, added };
        Ok((launch, execution))
    }

    /// Takes what the command printed, and passes it on but for the line about our own report.
    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8], pass: &mut dyn FnMut(Stream, &[u8])) {
        let Self { reader, mentions, unseen, whereabouts, .. } = self;
        let mut both = |bytes: &[u8]| {
            mentions.push(stream, bytes);
            pass(stream, bytes);
            reader.push(stream, bytes);
        };
        match stream {
            Stream::Stdout => unseen.push(bytes, &mut both),
            Stream::Stderr => both(bytes),
        }
        reader.take_roots().iter().for_each(|root| whereabouts.stated(Path::new(root)));
    }

    /// Reads what the command left behind. The code that it ran on comes back also where the command could not be started.
    pub(super) fn finish(
        mut self,
        ws: &Workspace,
        ended: Result<ProgramEnd, ProgramError>,
        pass: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Executed> {
        let end = match ended {
            Ok(end) => end,
            Err(error @ (ProgramError::NotFound { .. } | ProgramError::Start { .. })) => {
                return Ok((self.tested, Err(error)));
            }
            Err(error) => return Err(error.into()),
        };
        let (reader, mentions) = (&mut self.reader, &mut self.mentions);
        self.unseen.finish(&mut |bytes| {
            mentions.push(Stream::Stdout, bytes);
            pass(Stream::Stdout, bytes);
            reader.push(Stream::Stdout, bytes);
        });
        stop_point("test:ran");
        let mut since = self.tested.since(ws)?;
        if since == CodeComparison::Unchanged {
            let replaced = Some(self.places.replaced()).filter(|replaced| !replaced.is_empty());
            since = replaced.map_or(since, CodeComparison::Replaced);
        }
        note_started(&mut self.reader, &mut self.whereabouts, &end.started);
        let at_end = self.at_end.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let (mut warnings, mut written) =
            read_reports(ws, &self.top, &self.before, &at_end, &mut self.reader);
        if let Some(added) = &self.added {
            let mut report = self.reader.open_report("the report of test.runner");
            // A runner that wrote none has said on its output what it has to say.
            if report_files::stream(&added.path, &mut |bytes| report.push(bytes)).is_ok() {
                self.reader.close_report(report);
                written += 1;
            }
        }
        let mut parsed = self.reader.finish(exit_kind(&end));
        warnings.extend(parsed.warnings.iter().cloned());
        warnings.extend(doubts(ws, written, &mut self.whereabouts, self.added.as_ref(), &mut parsed));
        parsed.not_started = parsed.not_started.map(|said| secrets::masked(&said).into_owned());
        let first = parsed.errors.first().map_or_else(String::new, |first| {
            let test = first.test.as_ref().map_or_else(String::new, |test| format!("{test}: "));
            secrets::masked(&format!("{test}{}", first.text)).into_owned()
        });
        best_effort::remember_error(ws.repo.git_dir(), &first);
        let mut tested = self.tested;
        tested.bind(ws, &self.mentions.named_in(&parsed))?;
        warnings.extend(changed_paths(&since));
        warnings.extend(hidden_paths(tested.hidden()));
        Ok((tested, Ok(CommandResult { end, parsed, since, warnings })))
    }
}

/// Takes note of the runners that were seen at work, and of where they were, or of where other programs were.
fn note_started(reader: &mut RunReader, whereabouts: &mut Whereabouts, programs: &[StartedProgram]) {
    let seen: Vec<_> = programs
        .iter()
        .filter_map(|started| Some((calls::call_of(&started.directory, &started.words, &|_| None)?, started)))
        .collect();
    let others = programs.iter().filter(|started| started.words.is_empty() && started.directory.is_dir());
    let others: Vec<_> = others.map(|started| started.directory.clone()).collect();
    reader.saw(seen.iter().map(|(call, _)| *call));
    if seen.is_empty() {
        whereabouts.worked_in(&others);
    }
    for (_, started) in seen.iter().filter(|(call, _)| call.promise != Promise::NoTest) {
        whereabouts.ran_in(&started.directory);
        calls::paths(&started.directory, &started.words).for_each(|named| whereabouts.asked_for(&named));
    }
}

fn environment(ctx: &Context, ws: &Workspace) -> Environment {
    let mut environment = ctx.environment_without(&OF_GIT);
    environment.retain(|(name, _)| !ws.variables.iter().any(|(own, _)| own == name));
    environment.extend(ws.variables.iter().cloned());
    environment
}

/// The command with the report of `test.runner`, and the line about it that is not to be seen. Whatever is in the way of
/// that leaves the command as it is: the tests come first.
fn with_report(
    ws: &Workspace,
    top: &Path,
    command: &TestCommand,
) -> Option<(TestCommand, Option<String>, AddedReport)> {
    let (Some(runner), TestCommand::Argv(argv)) = (ws.config.test.runner, command) else { return None };
    let dir = PrivateDir::create(ws.repo.git_dir()).ok()?;
    let made = preset::prepare(runner, argv, dir.path(), &|name| calls::project_file(top, name))?;
    if made.file.is_some_and(|(path, text)| dir.write(&path, &text).is_err()) {
        return None;
    }
    let added = AddedReport { path: made.report, _dir: dir };
    Some((TestCommand::Argv(made.argv), made.unseen, added))
}

/// Drops a pass that the facts beside the output contradict: what to say.
fn doubts(
    ws: &Workspace,
    written: usize,
    seen: &mut Whereabouts,
    added: Option<&AddedReport>,
    parsed: &mut ParsedRun,
) -> Vec<String> {
    seen.reported(&parsed.places);
    let elsewhere = ran_elsewhere(seen, parsed);
    let without_reports = without_its_reports(ws, written, parsed);
    let without_tests = without_their_tests(ws, parsed);
    // A runner that had to write a report and wrote none did not reach its end: a test that ends the process with 0.
    let without_added = (added.is_some() && parsed.unnamed)
        .then(|| "the run ended without the report that test.runner asked for".to_owned());
    [elsewhere, without_reports, without_tests, without_added].into_iter().flatten().collect()
}

/// A pass of tests that ran outside of the working tree is none.
fn ran_elsewhere(seen: &Whereabouts, parsed: &mut ParsedRun) -> Option<String> {
    let place = seen.elsewhere().filter(|_| parsed.status == TestStatus::Passed)?;
    parsed.status = TestStatus::Incomplete;
    parsed.tests = None;
    Some(format!("tests ran in {}, which is no part of this working tree", place.display()))
}

fn exit_kind(end: &ProgramEnd) -> ExitKind {
    match (end.stopped, end.exit) {
        (StopCause::TimedOut, _) => ExitKind::TimedOut,
        (StopCause::No | StopCause::Forwarded(_), CommandExit::Code(code)) => ExitKind::Code(code),
        (StopCause::No | StopCause::Forwarded(_), CommandExit::Signal(signal)) => ExitKind::Signal(signal),
    }
}

/// Most paths that are named.
const NAMED: usize = 3;

/// Names the files that changed while the tests ran.
fn changed_paths(since: &CodeComparison) -> Option<String> {
    let (paths, why, help) = match since {
        CodeComparison::Unchanged => return None,
        CodeComparison::Changed(paths) => {
            let help = " (stage it, or name it in .gitignore or paths.ignore)".to_owned();
            (paths, "changed while the tests ran", help)
        }
        CodeComparison::Written(paths) => {
            let help =
                format!(" ({}; or, if it is no code, name it in .gitignore or paths.ignore)", Hint::Test);
            (paths, "written by this run, such as a new snapshot, so that it needs one more", help)
        }
        CodeComparison::Replaced(paths) => {
            (paths, "moved away or replaced while the tests ran, and put back", String::new())
        }
    };
    let named: Vec<_> = paths.iter().take(NAMED).map(|path| String::from_utf8_lossy(path)).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = named.join(", ");
    (!named.is_empty()).then(|| format!("{why}: {named}{more}{help}"))
}

/// Names the files that the tests saw and git does not see.
fn hidden_paths(hidden: &[HiddenPath]) -> Vec<String> {
    let mut hints: Vec<String> = hidden
        .iter()
        .take(NAMED)
        .map(|one| {
            let path = one.full_path();
            let (path, reason) = (String::from_utf8_lossy(&path), one.veil.reason());
            match one.command(shell_quote_bytes) {
                Some(command) => format!(
                    "the tests ran with {path} as it is on disk, and git does not see it: {reason} ({command})"
                ),
                None => format!("{path} is left out of the code: {reason} (name it in paths.ignore)"),
            }
        })
        .collect();
    let more = hidden.len().saturating_sub(NAMED);
    hints.extend((more > 0).then(|| format!("git does not see {more} more such paths")));
    hints
}

/// Reads the report files that the run wrote: what is to be said of them, and how many there are. One that is as it was
/// before the run is stale, and one that came after the end of the command is of a process that it left behind: they say
/// nothing.
fn read_reports(
    ws: &Workspace,
    top: &Path,
    before: &MatchingFiles,
    at_end: &MatchingFiles,
    reader: &mut RunReader,
) -> (Vec<String>, usize) {
    let (mut warnings, mut written) = (Vec::new(), 0);
    let now = report_files::matching(top, &ws.config.test.reports, ws.config.test.max_reports);
    if let Some(bound) = before.left_out.as_ref().or(now.left_out.as_ref()) {
        reader.unreadable("test.reports", bound);
    }
    for report in &now.found {
        let (path, _) = report;
        let name = path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned();
        if before.has(report) {
            warnings.push(format!("{name} was not written by this run: not read"));
            continue;
        }
        if !at_end.has(report) {
            warnings.push(format!("{name} was written after the test command had ended: not read"));
            continue;
        }
        written += 1;
        let mut report = reader.open_report(&name);
        match report_files::stream(path, &mut |bytes| report.push(bytes)) {
            Ok(()) => reader.close_report(report),
            Err(why) => reader.unreadable(&name, &why.to_string()),
        }
    }
    (warnings, written)
}
