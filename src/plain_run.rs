//! A run of the configured test command that was made past `andon test`, as a client's hook or an orchestrator reports the
//! call: it is kept as handed in. A failing one is evidence of a loop; a passing one proves nothing, whatever
//! `test.handed_in` says, for what a tool answers may be cut short.

use std::path::Path;

use serde_json::Value;

use andon_agents::CompletedCall;
use andon_agents::ruling::{TestPlace, Tests, decided_by};
use andon_core::domain::tests::{RunOrigin, RunValidity};
use andon_core::domain::{agent_door::ToolKind, events::CallEnd};
use andon_engine::evidence::{earlier_runs::compare, tested_code::TestedCode};
use andon_engine::{context::Context, error::OpsError, workspace::Workspace};
use andon_store::journal::JournalLine;
use testreport::{ExitKind, Root, RunReader, Stream};

/// Most bytes of an answer that are read, from its end.
const MAX_ANSWER: usize = 1 << 20;

/// A call that was nothing but a run of a configured test command.
pub(crate) struct PlainRun {
    command: String,
    exit: i32,
    /// The end of what it printed.
    printed: Vec<u8>,
}

impl PlainRun {
    /// Returns the plain run if `call`, which ended like that and was made in `cwd`, was one. Reads nothing but the call.
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
        let text = call.result.as_ref().and_then(Value::as_str).unwrap_or_default().as_bytes();
        let printed = text[text.len().saturating_sub(MAX_ANSWER)..].to_vec();
        Some(Self { command, exit, printed })
    }

    /// The run as a line of the journal. This looks at the working tree: without its code the run says nothing.
    pub(crate) fn line(&self, ctx: &Context, ws: &Workspace) -> Result<JournalLine, OpsError> {
        let tested = TestedCode::now(ws)?;
        let top = ws.repo.workdir().unwrap_or(&ctx.cwd);
        let root = Root::new(&top.to_string_lossy()).with_patterns(&ws.config.normalize);
        let mut reader = RunReader::new(root);
        reader.push(Stream::Stdout, &self.printed);
        let parsed = reader.finish(ExitKind::Code(self.exit));
        let validity =
            if parsed.not_started.is_some() { RunValidity::NotStarted } else { RunValidity::HandedIn };
        let mut run = tested.run(Some(ctx.now), parsed, &self.command, validity);
        compare(ws, &mut run)?;
        run.evidence.origin = RunOrigin::HandedIn;
        Ok(JournalLine::TestRun(Box::new(run)))
    }
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
