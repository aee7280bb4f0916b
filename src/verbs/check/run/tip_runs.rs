//! `andon check --test`: the tests of the code at the tip, run here or reported by the CI job that ran them.
//!
//! They run with the command of the base of the range, which no commit of the range can change. Where the tip has another
//! command, both run: the new one has to pass as well, and the old one may object.

use std::path::{Path, PathBuf};

use super::{RangeRequest, counting, sides, source, spelled};
use andon_config::{self as config, Config, TestCommand};
use andon_core::domain::{
    CommitId, Counts, Hint, OverlayEntry, PathClass, PathRules, TestEvidence, TestStatus, Tracking, TreeId,
};
use andon_core::{change::secrets, escape::shell_quote};
use andon_engine::effect::{ProgramEnd, StopCause, report_files};
use andon_engine::evidence::{CodeComparison, CommandResult, untracked};
use andon_engine::view::{TipOutcome, TipRun, TipRunSource, TipTests};
use andon_engine::{Context, OpsError, Result, Workspace};
use andon_git::Repo;
use andon_store::{Content, Fingerprinter};
use testreport::{ExitKind, ParsedRun, Root, RunReader};

/// The source of the tests of the tip.
#[derive(Debug, Clone)]
pub enum TestsWanted {
    /// Run them here.
    Run,
    /// They ran elsewhere: the report files, and how the command ended.
    Report {
        /// The files, from the working directory.
        files: Vec<PathBuf>,
        exit_code: i32,
    },
}

/// The two sides of a range, as far as the tests go.
struct RangeEnds {
    tip: CommitId,
    tree: TreeId,
    /// The tree of the base.
    before: Option<TreeId>,
    base_config: Option<Config>,
    tip_config: Config,
}

/// Runs a test command in a workspace and keeps nothing; the words that say why, where it could not be started.
pub type CommandRunner<'a> =
    dyn FnMut(&Workspace, &TestCommand) -> Result<Result<CommandResult, String>> + 'a;

/// Runs the tests of the tip, or reads a report about them. Files that the check itself writes (`own`) are no change of
/// the code.
///
/// # Errors
/// The checkout is not the code of the tip, there is no test command, or a report cannot be read.
pub fn run(
    ctx: &Context,
    asked: &RangeRequest,
    wanted: &TestsWanted,
    own: &[PathBuf],
    runner: &mut CommandRunner<'_>,
) -> Result<TipTests> {
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let ends = ends(ctx, &repo, asked)?;
    let display = |config: &Config| config.test.command.as_ref().map(TestCommand::display);
    let mut tests = TipTests {
        tip: ends.tip,
        at_base: ends.base_config.as_ref().and_then(display),
        at_tip: display(&ends.tip_config),
        base_cannot_run: None,
        runs: Vec::new(),
        warnings: Vec::new(),
    };
    if let TestsWanted::Report { files, exit_code } = wanted {
        tests.runs.push(reported(ctx, &repo, &ends.tip_config, files, *exit_code)?);
        return Ok(tests);
    }
    let (tip, tree) = (ends.tip, ends.tree);
    for (by, command, config) in planned(&repo, ends, &mut tests)? {
        let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
        let ws = Workspace::at(repo, config, ctx.now);
        // Files that a first run leaves behind are no part of the tip either.
        if tests.runs.is_empty() {
            refuse_other_code(ctx, &ws, tip, own, asked)?;
        }
        let (run, warnings) = ran(&ws, tree, by, &command, runner)?;
        tests.warnings.extend(warnings);
        tests.runs.push(run);
    }
    Ok(tests)
}

/// The commands that are to run, each with the configuration that it comes from: that of the base, and that of the tip
/// where it is another one.
fn planned(
    repo: &Repo,
    ends: RangeEnds,
    tests: &mut TipTests,
) -> Result<Vec<(TipRunSource, TestCommand, Config)>> {
    let RangeEnds { tree, before, base_config, tip_config, .. } = ends;
    let at_base = base_config.as_ref().and_then(|config| config.test.command.clone());
    let at_tip = tip_config.test.command.clone().filter(|_| tests.at_base != tests.at_tip);
    let mut planned = Vec::new();
    if let (Some(command), Some(config)) = (at_base, base_config) {
        if at_tip.is_some() {
            tests.base_cannot_run = gone(repo, &command, before, tree)?;
        }
        if tests.base_cannot_run.is_none() {
            planned.push((TipRunSource::Base, command, config));
        }
    }
    planned.extend(at_tip.map(|command| (TipRunSource::Tip, command, tip_config)));
    if !planned.is_empty() {
        return Ok(planned);
    }
    Err(OpsError::usage(
        "no test.command is configured at the base of the range or at its tip",
        Hint::CheckReport.led("set it in andon.toml: [test] command = \"cargo test\"; or hand in a report"),
    ))
}

fn ends(ctx: &Context, repo: &Repo, asked: &RangeRequest) -> Result<RangeEnds> {
    let asked = spelled(ctx, asked)?;
    let (base, tip) = sides(repo, &asked)?;
    let (base, tip) = (base.map(|base| base.id), tip.id);
    let of_base = |base| counting(repo, base, repo.merge_base(base, tip)?, tip);
    Ok(RangeEnds {
        tip,
        tree: repo.tree_of(tip)?,
        before: base.map(|base| repo.tree_of(base)).transpose()?,
        base_config: base.map(of_base).transpose()?,
        tip_config: config::load(source(repo, tip)?.as_slice())?,
    })
}

/// A file that the command names, that the base has and the tip has not: then the command cannot run any more.
fn gone(repo: &Repo, command: &TestCommand, before: Option<TreeId>, tree: TreeId) -> Result<Option<String>> {
    let Some(before) = before else { return Ok(None) };
    let display = command.display();
    for word in display.split_whitespace() {
        let path = word.trim_matches(['"', '\'', ';', '&', '(', ')']);
        let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
        if path.is_empty() || path.starts_with(['/', '-']) || path.contains("..") {
            continue;
        }
        let bytes = path.as_bytes();
        if repo.entry_at(before, bytes)?.is_some() && repo.entry_at(tree, bytes)?.is_none() {
            return Ok(Some(format!("{path} is gone")));
        }
    }
    Ok(None)
}

fn ran(
    ws: &Workspace,
    tree: TreeId,
    by: TipRunSource,
    command: &TestCommand,
    runner: &mut CommandRunner<'_>,
) -> Result<(TipRun, Vec<String>)> {
    let display = command.display();
    let run = |evidence, outcome| TipRun { by, command: display.clone(), evidence, outcome };
    if by == TipRunSource::Tip && runs_nothing(&display) {
        return Ok((run(None, TipOutcome::Unknown(format!("`{display}` runs no test"))), Vec::new()));
    }
    let executed = match runner(ws, command)? {
        Ok(executed) => executed,
        Err(why) => return Ok((run(None, TipOutcome::Unknown(why)), Vec::new())),
    };
    let CommandResult { end, parsed, since, warnings } = executed;
    let disturbed = disturbed(&ws.repo, tree, &since)?;
    // Files that came to be while the tests ran are no part of the tip's code.
    let mut warnings =
        if disturbed.is_none() && since != CodeComparison::Unchanged { Vec::new() } else { warnings };
    let outcome = outcome(Some(&end), disturbed, &parsed);
    let doubt = parsed.doubt.as_ref().filter(|_| outcome == TipOutcome::Passed);
    warnings.extend(doubt.map(|line| {
        let line = secrets::masked(line);
        format!("`{display}` passed by its exit code alone, and its output says: {line}")
    }));
    let code = Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_tree(tree)?;
    Ok((run(Some(TestEvidence::from_run(parsed, code, &display)), outcome), warnings))
}

/// Words of a shell that pass whatever the code is. A new command of that kind is no test; anything longer is for
/// people: a warning says that the command is another one.
fn runs_nothing(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let chained = command.contains([';', '&', '|', '\n', '`', '$']);
    match words.first().map(|word| word.rsplit('/').next().unwrap_or(word)) {
        None => true,
        Some("true" | ":" | "exit" | "echo" | "printf" | "#") => !chained,
        Some(_) => false,
    }
}

/// Tracked files that changed while the tests ran: the run is not one of the tip's code.
fn disturbed(repo: &Repo, tree: TreeId, since: &CodeComparison) -> Result<Option<String>> {
    let paths = match since {
        CodeComparison::Unchanged => return Ok(None),
        CodeComparison::Changed(paths) | CodeComparison::Written(paths) => paths,
        CodeComparison::Replaced(paths) => {
            let named = paths.first().map(|path| String::from_utf8_lossy(path).into_owned());
            return Ok(named.map(|path| format!("{path} was moved away or replaced while the tests ran")));
        }
    };
    if paths.is_empty() {
        return Ok(Some("the code changed while the tests ran".to_owned()));
    }
    for path in paths {
        if repo.entry_at(tree, path)?.is_some() {
            let path = String::from_utf8_lossy(path);
            return Ok(Some(format!("{path} changed while the tests ran")));
        }
    }
    Ok(None)
}

/// The outcome of a run, of one that was handed in without its end.
fn outcome(end: Option<&ProgramEnd>, disturbed: Option<String>, parsed: &ParsedRun) -> TipOutcome {
    let unknown = |why: &str| TipOutcome::Unknown(why.to_owned());
    match end.map_or(StopCause::No, |end| end.stopped) {
        StopCause::TimedOut => return unknown("the tests were stopped by test.timeout"),
        StopCause::Forwarded(_) => return unknown("the tests were stopped"),
        StopCause::No => {}
    }
    if let Some(why) = &parsed.not_started {
        return TipOutcome::Unknown(format!("the tests could not be started: {why}"));
    }
    let ran = Counts::ran(&parsed.counts) > 0;
    match parsed.status {
        TestStatus::Failed | TestStatus::BuildFailed | TestStatus::Crashed => TipOutcome::Failed,
        TestStatus::RunnerError if ran || parsed.runner == TestEvidence::BY_EXIT_CODE => TipOutcome::Failed,
        TestStatus::RunnerError => unknown("the test runner failed before a test ran"),
        TestStatus::TimedOut => unknown("the tests were stopped by a time limit"),
        TestStatus::NoTests => unknown("not one test ran"),
        TestStatus::Incomplete if parsed.unnamed => unknown("no test is named"),
        TestStatus::Incomplete => unknown("the report of the tests is cut short"),
        TestStatus::Passed => disturbed.map_or(TipOutcome::Passed, TipOutcome::Unknown),
    }
}

/// A test run whose report a job of the CI hands in: what ran is the job's claim.
fn reported(
    ctx: &Context,
    repo: &Repo,
    config: &Config,
    files: &[PathBuf],
    exit_code: i32,
) -> Result<TipRun> {
    let root = repo.workdir().unwrap_or(&ctx.cwd);
    let root = Root::new(&root.to_string_lossy()).with_patterns(&config.normalize);
    let mut reader = RunReader::new(root);
    for file in files {
        read(&ctx.cwd, file, &mut reader)?;
    }
    let parsed = reader.finish(ExitKind::Code(exit_code));
    let outcome = outcome(None, None, &parsed);
    let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    let command = names.join(", ");
    let code = Fingerprinter::new(repo, &config.paths.rules).of(Content::Overlay(None, &[]))?;
    let evidence = Some(TestEvidence::from_run(parsed, code, &command));
    Ok(TipRun { by: TipRunSource::Ci, command, evidence, outcome })
}

fn read(cwd: &Path, file: &Path, reader: &mut RunReader) -> Result<()> {
    report_files::take_in(cwd, file, reader).map_err(|err| {
        OpsError::usage(format!("the report {} cannot be read: {err}", file.display()), Hint::CheckReport)
    })
}

/// Paths that a refusal names.
const NAMED: usize = 3;

/// Refuses to take the tests of other code for those of the tip. Files that the check itself writes (`own`) do not
/// count.
///
/// # Errors
/// The checkout is not the tip's code.
pub(super) fn refuse_other_code(
    ctx: &Context,
    ws: &Workspace,
    tip: CommitId,
    own: &[PathBuf],
    asked: &RangeRequest,
) -> Result<()> {
    let top = ws.top()?;
    let ours: Vec<Vec<u8>> = own
        .iter()
        .filter_map(|file| {
            ctx.cwd.join(file).strip_prefix(top).ok().map(|path| path.to_string_lossy().into_owned())
        })
        .map(String::into_bytes)
        .collect();
    let mut overlay = untracked::tested_overlay(ws)?.overlay;
    overlay.entries.retain(|entry| entry.tracking == Tracking::Tracked || !ours.contains(&entry.path));
    let tree = ws.repo.tree_of(tip)?;
    if same_code(ws, &ws.config.paths.rules, tree, overlay.base, &overlay.entries)? {
        return Ok(());
    }
    let rules = &ws.config.paths.rules;
    let head = ws.repo.head()?.commit();
    let moved = match head {
        Some(head) => !same_code(ws, rules, tree, Some(ws.repo.tree_of(head)?), &[])?,
        None => true,
    };
    let why = if moved {
        let head = head.map_or_else(|| "has no commit".to_owned(), |head| format!("is {}", head.short()));
        format!("HEAD {head}")
    } else {
        let dirty = overlay.entries.iter().filter(|entry| rules.class(&entry.path) == PathClass::Code);
        let dirty: Vec<_> = dirty.map(|entry| String::from_utf8_lossy(&entry.path)).collect();
        let more = match dirty.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = dirty.iter().take(NAMED).map(|path| &**path).collect::<Vec<_>>().join(", ");
        format!("not committed: {named}{more}")
    };
    let range = spelled(ctx, asked)?.text;
    let (range, short) = (by_ids(ws, &range, tip), tip.short());
    let folder = format!("../andon-{short}");
    Err(OpsError::usage(
        format!(
            "this checkout is not the code of the tip, {short} ({why}): its tests would say nothing of it"
        ),
        Hint::TestAtTip.with([&folder, &short, &shell_quote(&range)]),
    ))
}

/// The range in words that mean the same in another worktree, whose HEAD is another one.
fn by_ids(ws: &Workspace, range: &str, tip: CommitId) -> String {
    let from = range.split_once("..").map(|(from, _)| from);
    let from = from.and_then(|from| ws.repo.resolve(from).ok());
    from.map_or_else(|| tip.short(), |from| format!("{}..{}", from.short(), tip.short()))
}

fn same_code(
    ws: &Workspace,
    rules: &PathRules,
    tree: TreeId,
    base: Option<TreeId>,
    entries: &[OverlayEntry],
) -> Result<bool> {
    let mut prints = Fingerprinter::new(&ws.repo, rules);
    Ok(prints.of(Content::Overlay(base, entries))? == prints.of_tree(tree)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_engine::effect::CommandExit;

    #[test]
    fn plain_words_that_always_pass_are_no_tests() {
        for command in ["true", ":", "/bin/true", "exit 0", "echo all 9 tests passed", "printf ok", "", "  "]
        {
            assert!(runs_nothing(command), "{command:?}");
        }
        for command in
            ["make test", "true && make test", "echo x; cargo test", "sh exit.sh", "echo $(make test)"]
        {
            assert!(!runs_nothing(command), "{command:?}");
        }
    }

    fn parsed(text: &str, code: i32) -> ParsedRun {
        let mut reader = RunReader::new(Root::none());
        reader.push(testreport::Stream::Stdout, text.as_bytes());
        reader.finish(ExitKind::Code(code))
    }

    #[test]
    fn what_a_run_came_to() {
        let exit =
            |code| ProgramEnd { exit: CommandExit::Code(code), stopped: StopCause::No, started: Vec::new() };
        let of = |text: &str, code: i32| outcome(Some(&exit(code)), None, &parsed(text, code));
        assert_eq!(of("1..1\nok 1 - a\n", 0), TipOutcome::Passed);
        assert_eq!(of("1..1\nnot ok 1 - a\n", 1), TipOutcome::Failed);
        assert!(matches!(of("", 0), TipOutcome::Unknown(_)), "all that is known is the exit code");
        assert_eq!(of("", 1), TipOutcome::Failed);
        assert!(matches!(of("", 127), TipOutcome::Unknown(_)));
        assert_eq!(of("1..0\n", 0), TipOutcome::Unknown("not one test ran".to_owned()));
        let stopped =
            ProgramEnd { exit: CommandExit::Code(0), stopped: StopCause::TimedOut, started: Vec::new() };
        assert!(matches!(
            outcome(Some(&stopped), None, &parsed("1..1\nok 1 - a\n", 0)),
            TipOutcome::Unknown(_)
        ));
        let end = exit(0);
        let changed = Some("a.js changed".to_owned());
        assert!(matches!(
            outcome(Some(&end), changed, &parsed("1..1\nok 1 - a\n", 0)),
            TipOutcome::Unknown(_)
        ));
        assert_eq!(outcome(None, None, &parsed("1..1\nok 1 - a\n", 0)), TipOutcome::Passed);
        assert!(matches!(outcome(None, None, &parsed("no report\n", 0)), TipOutcome::Unknown(_)));
        assert_eq!(outcome(None, None, &parsed("1..1\nok 1 - a\n", 1)), TipOutcome::Failed);
    }
}
