//! `andon test` where the code has scopes: what is said, and the other ways to ask.

use serde_json::{Value, json};

use super::scoped_run::{self, Plan, ScopeRequest, ScopesRan, Session, SkippedScope, TestProgress, TestStep};
use super::{TestArgs, after_run, proves_nothing, ran_json, remarks, run as test, say};
use crate::cli::{Exit, Format, Printer, Shell};
use crate::setup::live;
use andon_config::TestCommand;
use andon_core::domain::{Diagnostic, Hint, REST, plural::count, scopes::called};
use andon_engine::evidence::{Demand, ScopeState, Subject, TestedSubject, scopes::states, untracked};
use andon_engine::{Result, Workspace, json, recording::timeline, text::message};

/// Runs the scopes that are wanted and passes the worst exit code on.
pub fn run(
    shell: &Shell,
    ws: &Workspace,
    wanted: &ScopeRequest<'_>,
    shown: test::OutputTarget<'_>,
    format: Format,
) -> Result<Exit> {
    let out = shell.out;
    let mut tell = progress(out);
    let done = scoped_run::run(&shell.ctx, ws, wanted, shown, &mut tell)?;
    let mut said: Vec<Diagnostic> = live::warning(&shell.ctx, &ws.repo).into_iter().collect();
    let kept = Some(done.kept).filter(|_| !done.ran.is_empty());
    let decision = after_run(shell, ws, kept, &mut said);
    out.message(&format!("andon: {}\n", summary(&done)));
    say(shell, &said, decision.as_ref());
    if format == Format::Json {
        said.extend(done.ran.iter().flat_map(|(step, ran)| about(&step.name, remarks(ran))));
        let newest = done.together.as_ref().or_else(|| done.ran.last().map(|(_, ran)| &ran.run));
        if let Some(run) = newest {
            out.result(&ran_json(run, done.code, &said, rows(&done), decision.as_ref()));
        }
    }
    Ok(Exit::Passed(done.code))
}

/// Says on standard error what is left out, what begins, and what is to be said of each end.
pub fn progress(out: Printer) -> impl FnMut(TestProgress<'_>) {
    let (mut step, mut steps) = (0, 0);
    move |progress| match progress {
        TestProgress::Planned(plan) => {
            steps = plan.steps.len();
            for line in lines_of(&plan.left_out) {
                out.message(&format!("andon: {line}\n"));
            }
        }
        TestProgress::Begins(next) => {
            step += 1;
            out.message(&format!("andon: [{step}/{steps}] {}\n", begins(next)));
        }
        TestProgress::Printed(step) => out.message(&format!("andon: {} printed:\n", called(&step.name))),
        TestProgress::Ended(step, ran) => {
            let said = about(&step.name, remarks(ran));
            out.message(&message::diagnostics(&said, out.err));
        }
    }
}

/// Shows the plan. Without scopes, it is the one command.
pub fn dry_run(shell: &Shell, ws: &Workspace, subject: &TestedSubject, args: &TestArgs) -> Result<Exit> {
    let plan = if let Some(choice) = scoped_run::choice(ws, args)? {
        Session::begin(&shell.ctx, ws, subject)?.plan(&choice)?
    } else {
        let command = test::configured(ws)?.display();
        Plan { steps: vec![TestStep { name: REST.to_owned(), command }], left_out: Vec::new() }
    };
    if args.format.format == Format::Json {
        let would = plan.steps.iter();
        let would = would.map(|step| json!({"name": step.name, "did": "would_run", "command": step.command}));
        let left = plan.left_out.iter().map(left_out_row);
        return Ok(plan_json(shell, &would.chain(left).collect::<Vec<_>>()));
    }
    let mut text = String::new();
    for step in &plan.steps {
        text.push_str(&format!("would run {}\n", begins(step)));
    }
    for line in lines_of(&plan.left_out) {
        text.push_str(&format!("{line}\n"));
    }
    shell.out.result(&text);
    Ok(Exit::Allowed)
}

/// The scopes with their paths, needs and commands, and what is known of the working tree as it is.
pub fn graph(shell: &Shell, ws: &Workspace, args: &TestArgs) -> Result<Exit> {
    let declared = &ws.config.test.scopes;
    let loaded = timeline::load(ws)?;
    let overlay = untracked::tested_overlay(ws)?.overlay;
    let states = states(ws, &loaded, &Subject::WorkTree(overlay), Demand::Everything)?;
    if args.format.format == Format::Json {
        let rows = states.iter().map(|state| {
            let own = declared.get(&state.scope.name);
            without_nulls(json!({
                "name": state.scope.name,
                "did": "known",
                "status": state.found.as_ref().map(|found| found.tests.status),
                "from": state.found.as_ref().and_then(|found| found.from),
                "needs": own.map(|own| &own.scope.needs),
                "paths": own.map(|own| &own.scope.paths),
            }))
        });
        return Ok(plan_json(shell, &rows.collect::<Vec<_>>()));
    }
    if declared.settings.is_empty() {
        shell.out.result("no scopes are declared: test.command tests all of the code\n");
        return Ok(Exit::Allowed);
    }
    shell.out.result(&states.iter().map(|state| shown(ws, state)).collect::<String>());
    Ok(Exit::Allowed)
}

fn shown(ws: &Workspace, state: &ScopeState) -> String {
    let own = ws.config.test.scopes.get(&state.scope.name);
    let known = match &state.found {
        None => "not tested as it is".to_owned(),
        Some(found) => match found.from {
            Some(commit) => format!("{}, tested at {}", found.tests.status.as_str(), commit.short()),
            None => found.tests.status.as_str().to_owned(),
        },
    };
    let mut text = format!("{}: {known}\n", state.scope.name);
    let mut line = |what: &str, value: &str| text.push_str(&format!("  {what:<9}{value}\n"));
    if let Some(own) = own {
        line("paths", &own.scope.paths.join(" "));
        if !own.scope.needs.is_empty() {
            line("needs", &own.scope.needs.join(" "));
        }
        line("command", &own.command.display());
    } else {
        let command = ws.config.test.command.as_ref().map(TestCommand::display);
        line("paths", "code that belongs to no scope; every scope needs it");
        line("command", &command.unwrap_or_default());
    }
    text
}

fn begins(step: &TestStep) -> String {
    if step.name == REST {
        format!("all tests: {}", step.command)
    } else {
        format!("{}: {}", called(&step.name), step.command)
    }
}

/// Scopes that are left out and named one by one.
const NAMED: usize = 8;

/// Names the scopes that are left out, and the reason.
fn lines_of(left_out: &[SkippedScope]) -> Vec<String> {
    if left_out.len() > NAMED {
        let many = count(left_out.len(), "scope");
        return vec![format!("left out {many}, whose tests passed on their code ({})", Hint::TestScopes)];
    }
    let line = |left: &SkippedScope| {
        let at = left.from.map(|commit| format!(" at {}", commit.short())).unwrap_or_default();
        format!("left out {}: its tests passed on this code{at}", called(&left.name))
    };
    left_out.iter().map(line).collect()
}

fn summary(done: &ScopesRan) -> String {
    let names = |of: &dyn Fn(&test::TestOutcome) -> bool| {
        let ran = done.ran.iter().filter(|(_, ran)| of(ran));
        let names = ran.map(|(step, _)| if step.name == REST { "all tests" } else { &step.name });
        names.collect::<Vec<_>>().join(", ")
    };
    let is_nothing = |ran: &test::TestOutcome| ran.code == 0 && proves_nothing(ran).is_some();
    let mut parts: Vec<String> = Vec::new();
    for (how, names) in [
        ("failed", names(&|ran| ran.code != 0)),
        ("proved nothing", names(&is_nothing)),
        ("passed", names(&|ran| ran.code == 0 && !is_nothing(ran))),
        ("not started, for what they need failed", done.held.join(", ")),
    ] {
        if !names.is_empty() {
            parts.push(format!("{how}: {names}"));
        }
    }
    if !done.left_out.is_empty() {
        parts.push(format!("{} left out", count(done.left_out.len(), "scope")));
    }
    if parts.is_empty() { "no scope has code".to_owned() } else { parts.join("; ") }
}

fn about(scope: &str, said: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if scope == REST {
        return said;
    }
    let named = |one: Diagnostic| Diagnostic { message: format!("scope {scope}: {}", one.message), ..one };
    said.into_iter().map(named).collect()
}

fn rows(done: &ScopesRan) -> Vec<Value> {
    let ran = done.ran.iter().map(|(step, ran)| {
        let status = ran.run.evidence.status;
        json!({"name": step.name, "did": "ran", "command": step.command, "status": status, "exit_code": ran.code})
    });
    let held = done.held.iter().map(|name| json!({"name": name, "did": "not_started"}));
    ran.chain(done.left_out.iter().map(left_out_row)).chain(held).collect()
}

fn left_out_row(left: &SkippedScope) -> Value {
    without_nulls(json!({"name": left.name, "did": "left_out", "from": left.from}))
}

/// A row without the members that nothing is known of.
fn without_nulls(mut row: Value) -> Value {
    if let Value::Object(members) = &mut row {
        members.retain(|_, value| !value.is_null());
    }
    row
}

fn plan_json(shell: &Shell, scopes: &[Value]) -> Exit {
    shell.out.result(&json::document("test-plan", &json!({ "scopes": scopes })));
    Exit::Allowed
}
