//! A test run compared with earlier ones: the same code with another result, and fewer tests than before.

use std::collections::BTreeSet;

use crate::{Result, Workspace, effect::report_files, recording::timeline, weakening};
use andon_config::FullRuns;
use andon_core::domain::{CodeId, OverlayEntry, RunValidity, TestEvidence, TestRun};
use andon_core::history;
use andon_git::platform::paths::path_from_bytes;
use andon_store::{Journal, Reach};
use andon_weakening::{TestReader, declared_tests};
use testreport::{ParsedRun, RUNNER_EXIT, TestStatus};

/// Most earlier runs that are looked at.
const RUNS: usize = 32;
/// Paths that are compared at the most; beyond, the lists of tests count as different.
const PATHS: usize = 64;
/// Largest file that is looked into for tests, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// If reports are configured, only they show that tests ran: without a `written` report neither an exit code of 0 nor
/// printed output is a pass.
pub fn without_its_reports(ws: &Workspace, written: usize, parsed: &mut ParsedRun) -> Option<String> {
    let is_green = parsed.status == TestStatus::Passed || parsed.unnamed;
    if !is_green || written > 0 || ws.config.test.reports.is_empty() {
        return None;
    }
    let exit_only = parsed.runner == RUNNER_EXIT;
    parsed.status = if exit_only { TestStatus::NoTests } else { TestStatus::Incomplete };
    parsed.unnamed = false;
    Some("test.reports is set, and this run wrote no such report".to_owned())
}

/// True if the newest run of `command` that passed did so by its exit code alone, which once was enough. That counts for one
/// more run, so that nobody is locked out in the middle of work.
pub fn has_old_habit(ws: &Workspace, command: &str) -> bool {
    let Ok(head) = ws.repo.head() else { return false };
    let loaded = timeline::load_behind(ws, head.commit());
    let recorded = loaded.window.facts.iter().filter_map(|commit| commit.record.tests.as_ref());
    let mut newest_first = loaded.journal.runs.iter().rev().map(|run| &run.evidence).chain(recorded.rev());
    let own = |tests: &&TestEvidence| tests.is_green() && tests.command == command;
    let newest = newest_first.find_map(|tests| {
        let scopes = tests.scopes.iter().map(|scope| &scope.tests);
        std::iter::once(tests).chain(scopes).find(own)
    });
    newest.is_some_and(|tests| tests.runner == TestEvidence::BY_EXIT_CODE)
}

/// Notes in `run` what only the runs before it can tell, and what that makes of it.
pub fn compare(ws: &Workspace, run: &mut TestRun) -> Result<()> {
    compare_with(ws, &valid_runs(ws).collect::<Vec<_>>(), run)
}

/// The same of a run of the tests of one scope, which is compared with earlier results of that scope.
pub fn compare_scope(ws: &Workspace, scope: &str, run: &mut TestRun) -> Result<()> {
    let mut seen = BTreeSet::new();
    let own = valid_runs(ws).filter_map(|mut run| {
        let row = run.evidence.scopes.iter().position(|row| row.name == scope)?;
        run.evidence = run.evidence.scopes.swap_remove(row).tests;
        // Later runs repeat a result beside code that it did not run on.
        seen.insert((run.evidence.code, run.evidence.signature)).then_some(run)
    });
    compare_with(ws, &own.collect::<Vec<_>>(), run)
}

/// The newest run of any kind that saw this code.
pub fn newest_on(ws: &Workspace, code: CodeId) -> Option<TestRun> {
    let saw = |run: &TestRun| run.evidence.code == code && run.validity != RunValidity::NotStarted;
    recent(ws).rev().find(saw)
}

fn valid_runs(ws: &Workspace) -> impl Iterator<Item = TestRun> {
    recent(ws).filter(|run| run.validity == RunValidity::Valid)
}

fn recent(ws: &Workspace) -> impl DoubleEndedIterator<Item = TestRun> {
    let reach = Reach { runs: RUNS, commits: 0, turns: 0, since: None };
    Journal::open(ws.repo.git_dir()).recent(reach).runs.into_iter()
}

fn compare_with(ws: &Workspace, earlier: &[TestRun], run: &mut TestRun) -> Result<()> {
    if run.validity != RunValidity::Valid {
        return Ok(());
    }
    let same_code = earlier.iter().map(|run| &run.evidence).filter(|tests| tests.code == run.evidence.code);
    let flaky = history::flaky(same_code.chain([&run.evidence]));
    run.evidence.flaky = flaky.into_iter().take(TestEvidence::MAX_FLAKY).collect();
    let full = full_run(ws, earlier, run)?;
    run.evidence.full_run = full.map(|before| before.evidence.counts().ran());
    let lost = full.is_some_and(|before| {
        ws.config.test.full == FullRuns::Required || lost_session(&before.evidence, &run.evidence)
    });
    if lost {
        run.validity = RunValidity::Filtered;
    }
    Ok(())
}

/// The last full run, where `run` passed with fewer tests and none has gone since. A run that fails may have stopped early,
/// and claims nothing.
fn full_run<'a>(ws: &Workspace, earlier: &'a [TestRun], run: &TestRun) -> Result<Option<&'a TestRun>> {
    let full = earlier.iter().rev().find(|before| is_full(&before.evidence));
    let Some(full) = full.filter(|_| run.evidence.status == TestStatus::Passed) else { return Ok(None) };
    let (had, ran) = (full.evidence.counts().ran(), run.evidence.counts().ran());
    let fewer = ran > 0 && ran < had && full.evidence.command == run.evidence.command;
    Ok(if fewer && same_tests(ws, full, run)? { Some(full) } else { None })
}

/// True where the same code had more tests, those that were skipped included: a session of them never began, or ended before
/// its tests. On other code a command may choose fewer by itself (`nx affected`).
fn lost_session(full: &TestEvidence, run: &TestEvidence) -> bool {
    let known = |runner: &str| full.runner.split('+').any(|other| other == runner);
    let read_alike = run.runner.split('+').all(known);
    full.code == run.code && read_alike && run.counts().total < full.counts().total
}

fn is_full(tests: &TestEvidence) -> bool {
    matches!(tests.status, TestStatus::Passed | TestStatus::Failed)
        && tests.counts().ran() > 0
        && tests.full_run.is_none()
}

/// Compares the tests that the differing files of two runs declare. Unreadable files count as different.
fn same_tests(ws: &Workspace, before: &TestRun, now: &TestRun) -> Result<bool> {
    if before.evidence.code == now.evidence.code {
        return Ok(true);
    }
    if before.overlay_truncated || now.overlay_truncated {
        return Ok(false);
    }
    let Some(setting) = weakening::setting(&ws.config.rules) else { return Ok(false) };
    let reader = TestReader::new(&setting);
    let paths = differing(ws, before, now)?;
    if paths.len() > PATHS {
        return Ok(false);
    }
    for path in paths {
        let extension = weakening::extension(&path);
        if !reader.knows(&extension) {
            continue;
        }
        let then = text_then(ws, before, &path)?;
        let (Some(then), Some(now)) = (then, text_now(ws, &path)) else { return Ok(false) };
        let names = |text: &str| declared_tests(&reader.text(&extension, text));
        if names(&then) != names(&now) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The code paths that differ between the code of two runs.
fn differing(ws: &Workspace, before: &TestRun, now: &TestRun) -> Result<BTreeSet<Vec<u8>>> {
    let [then, since] = [before, now].map(|run| {
        let seen = run.overlay.iter().map(|entry| (&entry.path, &entry.entry));
        seen.collect::<BTreeSet<_>>()
    });
    let mut paths: BTreeSet<Vec<u8>> =
        then.symmetric_difference(&since).map(|(path, _)| (*path).clone()).collect();
    if before.base != now.base
        && let Some(new) = now.base
    {
        let changes = ws.repo.changes(before.base, new)?;
        paths.extend(changes.into_iter().flat_map(|change| change.old_path.into_iter().chain([change.path])));
    }
    Ok(paths)
}

/// A file as the earlier run saw it: its blob where that was committed since, else that of the commit below.
fn text_then(ws: &Workspace, run: &TestRun, path: &[u8]) -> Result<Option<String>> {
    let in_base = ws.repo.entry_at(run.base, path)?.map(|(_, id)| id);
    match run.overlay.iter().find(|entry| entry.path == path) {
        Some(OverlayEntry { entry: Some((_, id)), .. }) => match weakening::text(&ws.repo, Some(*id))? {
            Some(text) => Ok(Some(text)),
            None => in_base.map_or(Ok(None), |id| weakening::text(&ws.repo, Some(id))),
        },
        Some(OverlayEntry { entry: None, .. }) => Ok(Some(String::new())),
        None => weakening::text(&ws.repo, in_base),
    }
}

fn text_now(ws: &Workspace, path: &[u8]) -> Option<String> {
    let file = ws.repo.workdir()?.join(path_from_bytes(path));
    if !file.exists() {
        return Some(String::new());
    }
    let bytes = report_files::read(&file, MAX_TEXT).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Files that are looked into, at the most.
const MAX_FILES: usize = 1_000;
/// Extensions of files that node's runner takes for tests.
const EXTENSIONS: [&str; 6] = ["js", "cjs", "mjs", "ts", "cts", "mts"];
/// The module whose tests are reported by their names.
const MODULE: &str = "node:test";
/// Beginnings of lines that declare a test wherever the file is run.
const DECLARED: [&str; 6] = ["test(", "it(", "describe(", "suite(", "await test(", "test.only("];

/// A run that passed, with a file of tests of which only the file is reported, is cut short: what to say.
pub fn without_their_tests(ws: &Workspace, parsed: &mut ParsedRun) -> Option<String> {
    let tests = parsed.tests.as_ref().filter(|_| parsed.status == TestStatus::Passed)?;
    let top = ws.repo.workdir()?;
    let files = tests.iter().map(|test| own_name(&test.id)).filter(|id| is_file_of_tests(id));
    let unheard = files.take(MAX_FILES).find(|id| {
        let read = report_files::read(&top.join(path_from_bytes(id.as_bytes())), MAX_TEXT);
        read.is_ok_and(|bytes| declares_tests(&String::from_utf8_lossy(&bytes)))
    })?;
    let what =
        format!("no test of {unheard} is reported, and it declares some: its process was ended before");
    parsed.status = TestStatus::Incomplete;
    parsed.tests = None;
    Some(what)
}

/// The name without its class, which JUnit has.
fn own_name(id: &str) -> &str {
    id.rsplit_once("::").map_or(id, |(_, name)| name)
}

fn is_file_of_tests(id: &str) -> bool {
    let extension = id.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
        && !id.starts_with('/')
        && id.split('/').all(|part| part != "..")
}

/// True if a text surely declares tests of node's: a test within a function or a condition may not run.
fn declares_tests(text: &str) -> bool {
    let declares = |line: &str| DECLARED.iter().any(|begin| line.starts_with(begin));
    text.contains(MODULE) && text.lines().any(declares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_run_in_any_case_declares_a_test() {
        for text in [
            "const {test} = require('node:test');\ntest('a', () => {});\n",
            "import { describe } from \"node:test\";\n\ndescribe('a', () => {\n  it('b');\n});\n",
            "import test from 'node:test';\nawait test('a', t => t.skip());\n",
        ] {
            assert!(declares_tests(text), "{text}");
        }
        for text in [
            "console.log('a script');\ntest('of another runner');\n",
            "import { test } from 'node:test';\nexport function ours(name, run) {\n  test(name, run);\n}\n",
            "import { test } from 'node:test';\nif (process.platform === 'win32') {\n  test('a');\n}\n",
            "import { mock } from 'node:test';\nexport const timers = mock.timers;\n",
            "",
        ] {
            assert!(!declares_tests(text), "{text}");
        }
        assert_eq!((own_name("test::sub/a.test.js"), own_name("a.js")), ("sub/a.test.js", "a.js"));
        assert!(is_file_of_tests("test/a.test.mjs") && is_file_of_tests("a.js"));
        for other in ["a", "adds numbers", "/tmp/a.js", "../a.js", "a/../../b.js", "a.rs"] {
            assert!(!is_file_of_tests(other), "{other}");
        }
    }
}
