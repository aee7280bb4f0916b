//! `andon observe KIND`: facts of any orchestrator, kept in the journal; and what the rules say of them at once, since a
//! tool call that goes round in circles must not wait for a commit.

use std::io::BufRead;

use crate::adapter::events::{self, EventError, Frame, Line, Lines};
use crate::domain::decision::{Decision, Stage};
use crate::domain::events::What;
use crate::domain::facts::Fact;
use crate::domain::tests::{RunOrigin, TestRun};
use crate::ops::context::Context;
use crate::ops::error::OpsError;
use crate::ops::guard;
use crate::ops::safety;
use crate::ops::standing;
use crate::ops::test;
use crate::ops::timeline;
use crate::ops::workspace::Workspace;
use crate::policy;
use crate::record::journal::{Journal, JournalLine};
use crate::report::message::Diagnostic;
use crate::testreport::signature;

use super::test_run::worth;

/// Most remarks about single lines that are kept.
pub(in crate::ops) const MAX_REMARKS: usize = 20;

/// What was observed.
pub struct Observed {
    /// Facts that were kept.
    pub kept: u64,
    /// Lines that are no facts.
    pub refused: u64,
    /// What the rules say now.
    pub decision: Decision,
    /// What was wrong or odd about single lines, and what was skipped.
    pub remarks: Vec<Diagnostic>,
}

/// What is asked for.
pub struct Request<'a> {
    /// The type of every line; `None` when each line names its own.
    pub kind: Option<&'a str>,
    /// The node of lines that name none.
    pub node: Option<String>,
}

/// Reads facts from `input` and keeps them.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    request: &Request<'_>,
    input: &mut dyn BufRead,
) -> Result<Observed, OpsError> {
    let journal = Journal::open(ws.repo.git_dir());
    let mut lines = Lines::new(input);
    let mut tally = Tally::default();
    let mut stage = Stage::Event;
    while let Some(line) = lines.next_line().map_err(OpsError::Input)? {
        tally.line = tally.line.saturating_add(1);
        if line == Line::Text(b"") {
            continue;
        }
        match read((ctx, ws), request, line) {
            Ok((mut kept, odd)) => {
                if let JournalLine::TestRun(run) = &mut kept {
                    test::compare(ws, run)?;
                }
                if ends_turn(&kept) {
                    stage = Stage::Turn;
                }
                journal.append(&kept)?;
                tally.kept = tally.kept.saturating_add(1);
                tally.odd(odd);
            }
            Err(error) => tally.refuse(&error),
        }
    }
    let (decision, warnings) = decide(ctx, ws, stage)?;
    tally.remarks.extend(warnings);
    Ok(Observed { kept: tally.kept, refused: tally.refused, decision, remarks: tally.remarks })
}

fn read(
    (ctx, ws): (&Context, &Workspace),
    request: &Request<'_>,
    line: Line<'_>,
) -> Result<(JournalLine, Option<String>), EventError> {
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong => return Err(EventError::TooLong),
    };
    let frame = Frame { now: ctx.now, kind: request.kind, last: Some(ctx.now) };
    let mut parsed = events::parse(text, frame)?;
    let kept = match parsed.fact {
        Fact::Event(mut event) => {
            event.at = event.at.or(Some(ctx.now));
            event.node = event.node.take().or_else(|| request.node.clone());
            event.session = event.session.take().or_else(|| ctx.actor().session);
            parsed.odd = parsed.odd.or_else(|| undeclared(ws, event.node.as_deref()));
            JournalLine::Event(event)
        }
        Fact::TestRun(mut run) => {
            run.at = run.at.or(Some(ctx.now));
            hand_in(ws, &mut run);
            JournalLine::TestRun(run)
        }
        Fact::Commit(_) => return Err(EventError::NotObservable { found: "commit" }),
        Fact::Ack(_) => return Err(EventError::NotObservable { found: "ack" }),
    };
    Ok((kept, parsed.odd))
}

/// A node that the workflow does not know: its facts count, and no budget of a node binds it.
fn undeclared(ws: &Workspace, node: Option<&str>) -> Option<String> {
    let workflow = &ws.config.workflow;
    let node = node.filter(|_| workflow.is_declared())?;
    let known = workflow.nodes.iter().any(|declared| declared.name == node);
    (!known).then(|| {
        let name: String = node.chars().take(80).collect();
        format!("node {name:?} is not declared in [workflow]: no budget of a node or a cycle binds it")
    })
}

/// What is handed in was not run by `andon test`: it is told, and worth what a report that is handed in is worth.
fn hand_in(ws: &Workspace, run: &mut TestRun) {
    let tests = &mut run.evidence;
    let told = Some(tests.command.as_str()).filter(|command| !command.is_empty());
    let (command, validity) = worth(ws, told);
    if tests.command != command {
        tests.signature = signature(&tests.runner, &command, tests.status, &tests.failing);
        tests.command = command;
    }
    tests.caveats.origin = RunOrigin::HandedIn;
    run.validity = validity;
}

fn ends_turn(line: &JournalLine) -> bool {
    matches!(line, JournalLine::Event(event) if matches!(event.what, What::TurnEnd(_)))
}

/// Asks the rules and carries out what follows.
pub(in crate::ops) fn decide(
    ctx: &Context,
    ws: &Workspace,
    stage: Stage,
) -> Result<(Decision, Vec<Diagnostic>), OpsError> {
    let resolved = standing::resolve(ctx, ws)?;
    let loaded = timeline::load(ws)?;
    let mut warnings = loaded.warnings.clone();
    warnings.extend(resolved.failed.as_ref().map(OpsError::as_warning));
    let decision = guard::decide(ws, &loaded, stage, None, resolved.halt);
    let stops = guard::decide(ws, &loaded, Stage::Halts, None, None);
    let decision =
        policy::decide(decision.findings.into_iter().chain(stops.findings).collect(), decision.standing);
    warnings.extend(guard::settle_or_warn(ctx, ws, &loaded, &decision)?);
    warnings.extend(safety::noticed((ctx, ws), &loaded, &decision));
    warnings.extend(safety::cords((ctx, ws), &loaded, decision.standing.as_ref(), None));
    Ok((decision, warnings))
}

/// Lines as they are counted.
#[derive(Default)]
pub(in crate::ops) struct Tally {
    /// The number of the line, from 1.
    pub(in crate::ops) line: u64,
    /// Facts.
    pub(in crate::ops) kept: u64,
    /// Lines that are none.
    pub(in crate::ops) refused: u64,
    /// The first remarks.
    pub(in crate::ops) remarks: Vec<Diagnostic>,
}

impl Tally {
    /// A line is no fact.
    pub(in crate::ops) fn refuse(&mut self, error: &EventError) {
        self.refused = self.refused.saturating_add(1);
        let what = format!("no fact: {error}");
        self.remark(Diagnostic::warning(what).code("event"));
    }

    /// Something about a fact does not count.
    pub(in crate::ops) fn odd(&mut self, odd: Option<String>) {
        if let Some(odd) = odd {
            self.remark(Diagnostic::warning(odd).code("event"));
        }
    }

    fn remark(&mut self, remark: Diagnostic) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(remark.at(format!("line {}", self.line)));
        }
    }
}
