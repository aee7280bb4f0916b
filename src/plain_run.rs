//! A run of tests that was made past `andon test`, as a client's hook or an orchestrator reports the call. One of the configured
//! command alone is kept as handed in: a failing one is evidence of a loop; a passing one proves nothing, whatever
//! `test.handed_in` says, for what a tool answers may be cut short. Any other is known by what it printed, and is an attempt and
//! never evidence.

use std::path::Path;

use andon_agents::CompletedCall;
use andon_agents::ruling::{TestPlace, Tests, decided_by, only_reads};
use andon_core::command_words::{ShellLine, innermost, program_name};
use andon_core::domain::{CallEnd, RunOrigin, RunValidity, TestStatus, ToolKind};
use andon_core::shell_reading::Reading;
use andon_engine::evidence::{TestedCode, earlier_runs::compare};
use andon_engine::{Context, Result, Workspace, adapter::events::words_of};
use andon_store::JournalLine;
use testreport::{ExitKind, ParsedRun, RUNNER_COUNTED, RUNNER_EXIT, Root, RunReader, Stream, counted_red};

/// Most bytes of an answer that are read, from its end.
const MAX_ANSWER: usize = 1 << 20;

/// A call that ran tests.
pub(crate) struct PlainRun {
    command: String,
    exit: i32,
    /// The end of what it printed.
    printed: Vec<u8>,
    validity: RunValidity,
}

impl PlainRun {
    /// Returns the plain run if `call`, which ended like that and was made in `cwd`, was one: the configured command and nothing
    /// else. Reads nothing but the call.
    pub(crate) fn recognize(
        ctx: &Context,
        ws: &Workspace,
        cwd: Option<&str>,
        call: &CompletedCall,
        end: CallEnd,
    ) -> Option<Self> {
        let [script] = call.used.commands.as_slice() else { return None };
        let exit = match end {
            CallEnd::Done => 0,
            CallEnd::Failed => 1,
            CallEnd::Unknown => return None,
        };
        if call.used.kind != ToolKind::Shell {
            return None;
        }
        let tests = configured(ws);
        let command = at_work(ctx, ws, cwd, |at| decided_by(script, &tests, at))?.command.clone();
        Some(Self { command, exit, printed: printed(call), validity: RunValidity::HandedIn })
    }

    /// Returns the run of any tests that a shell call made, by the summary of a runner in what it printed, whatever was typed.
    /// Commands that read files print the summaries of others, and `andon test` keeps its run itself.
    pub(crate) fn seen(ws: &Workspace, call: &CompletedCall, end: CallEnd) -> Option<Self> {
        let used = &call.used;
        if used.kind != ToolKind::Shell || only_reads(used) || used.commands.iter().any(|one| runs_ours(one))
        {
            return None;
        }
        let printed = printed(call);
        let run = Self { command: used.commands.join("\n"), exit: 0, printed, validity: RunValidity::Seen };
        let read = run.read(ws, Root::none().with_patterns(&ws.config.normalize));
        let is_known = read.runner != RUNNER_EXIT;
        let ended = read.status == TestStatus::Failed || end != CallEnd::Failed;
        (read.counts.ran() > 0 && is_known && ended).then_some(run)
    }

    /// The run as a line of the journal. This looks at the working tree: without its code the run says nothing.
    pub(crate) fn line(&self, ctx: &Context, ws: &Workspace) -> Result<JournalLine> {
        let tested = TestedCode::now(ws)?;
        let top = ws.repo.workdir().unwrap_or(&ctx.cwd);
        let root = Root::new(&top.to_string_lossy()).with_patterns(&ws.config.normalize);
        let parsed = self.read(ws, root);
        let validity = if parsed.not_started.is_some() { RunValidity::NotStarted } else { self.validity };
        let mut run = tested.run(Some(ctx.now), parsed, &self.command, validity);
        compare(ws, &mut run)?;
        run.evidence.origin = RunOrigin::HandedIn;
        Ok(JournalLine::TestRun(Box::new(run)))
    }

    fn read(&self, ws: &Workspace, root: Root) -> ParsedRun {
        let by_exit = ws
            .config
            .test
            .format
            .filter(|format| self.validity == RunValidity::HandedIn && format.name() == RUNNER_EXIT);
        let mut reader = RunReader::new(root).only(by_exit);
        reader.push(Stream::Stdout, &self.printed);
        let mut run = reader.finish(ExitKind::Code(self.exit));
        // Of a run that was seen the beginning or the end may be all that was shown: what fails in it fails.
        if self.validity == RunValidity::Seen
            && run.status == TestStatus::Incomplete
            && run.counts.failing() > 0
        {
            run.status = TestStatus::Failed;
        }
        // Whose words no reader knows has no names, and counts all the same.
        if self.validity == RunValidity::Seen
            && run.runner == RUNNER_EXIT
            && let Some(counts) = counted_red(&String::from_utf8_lossy(&self.printed))
        {
            (run.status, run.counts, run.runner) = (TestStatus::Failed, counts, RUNNER_COUNTED.to_owned());
        }
        run
    }
}

/// The end of what a call printed.
fn printed(call: &CompletedCall) -> Vec<u8> {
    let text = call.result.as_ref().map(words_of).unwrap_or_default().into_bytes();
    text[text.len().saturating_sub(MAX_ANSWER)..].to_vec()
}

/// A line of which a command is `andon test`.
fn runs_ours(script: &str) -> bool {
    Reading::through(script).commands().iter().any(|command| {
        let words = command.values();
        let words = innermost(&words);
        matches!(words, [program, "test" | "t", ..] if program_name(program) == "andon")
            || ShellLine::of_words(words).is_some_and(|shell| runs_ours(shell.line))
    })
}

/// The configured commands: `test.command`, and those of the scopes.
pub(crate) fn configured(ws: &Workspace) -> Vec<Tests> {
    let test = &ws.config.test;
    let whole = test.command.iter().map(|command| Tests { name: None, command: command.display() });
    let scopes = test.scopes.settings.iter();
    let scopes =
        scopes.map(|one| Tests { name: Some(one.scope.name.clone()), command: one.command.display() });
    whole.chain(scopes).collect()
}

/// Reads something of a line that runs in `cwd`, or where this process is.
pub(crate) fn at_work<T>(
    ctx: &Context,
    ws: &Workspace,
    cwd: Option<&str>,
    read: impl FnOnce(TestPlace<'_>) -> Option<T>,
) -> Option<T> {
    let top = ws.repo.workdir()?.canonicalize().ok()?;
    let cwd = cwd.map_or(ctx.cwd.as_path(), Path::new).canonicalize().ok()?;
    read(TestPlace { cwd: &cwd, top: &top })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_run_is_known_by_the_commands_of_a_line() {
        for (line, ours) in [
            ("cd api && andon test 2>&1 | tail -20", true),
            ("timeout 60 /usr/bin/andon t", true),
            ("bash -lc 'andon test'", true),
            ("git commit -m 'run andon test'; pytest", false),
            ("echo andon test; pytest", false),
        ] {
            assert_eq!(runs_ours(line), ours, "{line}");
        }
    }
}
