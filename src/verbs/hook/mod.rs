//! `andon hook NAME`: what the shims call. Silent when all is well; an internal error warns and lets the commit
//! pass, unless `guard.on_internal_error = "block"`.

pub mod chain;
mod gate_hook;
mod origin;
mod record_commit;
mod rewrite;
pub mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ffi::OsString, io::Read as _};

use clap::Args;

use self::chain::HookCall;
pub(crate) use self::record_commit::complete;
use self::work::{HookEnd, HookOutcome, Refusal};
use crate::cli::error::{self, Exit};
use crate::cli::output::{self, ColorChoice, Printer};
use crate::verbs::test::scoped_run::{self, ScopeChoice, ScopeRequest};
use crate::verbs::test::{run as test, scopes};
use crate::{cli::Shell, verbs::round};
use andon_config::OnInternalError;
use andon_core::domain::git_hook::{GitHook, PreventedStep};
use andon_core::domain::{decision::Decision, diagnostic::Diagnostic, findings::Level, hint::Hint};
use andon_engine::context::Context;
use andon_engine::error::{OpsError, VerbError};
use andon_engine::evidence::separate_checkout::TestedSubject;
use andon_engine::gate::guard::UntestedTree;
use andon_engine::text::message::{self, Consequence};
use andon_engine::workspace::{self, Workspace};
use andon_git::Operation;
use testreport::Stream;

/// Most bytes of a hook's standard input: pre-push of some hundred thousand refs.
const MAX_STDIN: usize = 64 << 20;

/// A call that [`main`] did not take: clap has said so already, but for a name that is not UTF-8.
pub fn run(shell: &Shell, args: &HookArgs) -> Result<Exit, OpsError> {
    Ok(main(shell.ctx.clone(), &args.name, &args.args))
}

/// Runs the hook and the one that was there before.
pub fn main(ctx: Context, name: &str, args: &[OsString]) -> Exit {
    let out = crate::cli::printer(&ctx, ColorChoice::Auto);
    let shell = Shell { ctx, out };
    let Some(name) = GitHook::from_name(name) else {
        return unknown(out, name);
    };
    let stdin = if name.spec().reads_stdin { read_stdin() } else { Vec::new() };
    let mut call = HookCall { name, args: args.to_vec(), stdin, before: None };
    if shell.ctx.is_switched_off() {
        return chained_exit(&shell, &call);
    }
    if let Some(exit) = too_much(&shell, &call) {
        return exit;
    }
    round::expire_first(&shell.ctx);
    call.before = work::tree_before(&shell.ctx, name);
    // Before the fact the older hook goes first: it may still change what is committed. After the fact the record
    // goes first: it must not depend on what others do.
    if call.name.spec().refuses.is_some() {
        let chained = chained_exit(&shell, &call);
        if chained != Exit::Allowed {
            return chained;
        }
        return guarded(&shell, &call);
    }
    let own = guarded(&shell, &call);
    let chained = chained_exit(&shell, &call);
    if chained == Exit::Allowed { own } else { chained }
}

fn unknown(out: Printer, name: &str) -> Exit {
    let known = GitHook::ALL.map(GitHook::name).join(", ");
    let error = Diagnostic::error(format!("no such hook: {name}")).help(format!("one of: {known}"));
    out.message(&message::diagnostic(&error, out.err));
    Exit::Usage
}

fn read_stdin() -> Vec<u8> {
    let mut bytes = Vec::new();
    // Bytes that cannot be read are missing; the parser counts lines that make no sense.
    let _ = std::io::stdin().lock().take(MAX_STDIN as u64 + 1).read_to_end(&mut bytes);
    bytes
}

/// Says so when there is more on standard input than is read. What is not judged is not let through.
fn too_much(shell: &Shell, call: &HookCall) -> Option<Exit> {
    if call.stdin.len() <= MAX_STDIN {
        return None;
    }
    let what = format!("standard input has more than the {MAX_STDIN} bytes that are read");
    if call.name.spec().refuses.is_some() {
        let error = Diagnostic::error(what).help(Hint::PushFewer);
        return Some(refuse(shell, call, vec![error]));
    }
    let warning = Diagnostic::warning(format!("{}: {what}", call.name.name())).help(Hint::Backfill);
    shell.tell(&[warning]);
    None
}

fn chained_exit(shell: &Shell, call: &HookCall) -> Exit {
    match chain::run_for(&shell.ctx, call) {
        Ok(0) => Exit::Allowed,
        // By these the shim knows a program that cannot be started; git makes no difference.
        Ok(2 | 126 | 127) => Exit::Refused,
        Ok(code) => Exit::Passed(code),
        Err(err) => {
            shell.fail(&OpsError::from(err));
            Exit::Refused
        }
    }
}

/// A panic is an internal error like any other.
fn guarded(shell: &Shell, call: &HookCall) -> Exit {
    catch_unwind(AssertUnwindSafe(|| own(shell, call)))
        .unwrap_or_else(|_| internal(shell, call, vec![error::panicked()]))
}

fn own(shell: &Shell, call: &HookCall) -> Exit {
    let mut tests = |ws: &Workspace, untested: &UntestedTree| test_at_commit(shell, ws, untested);
    match work::run(&shell.ctx, call, &mut tests) {
        Ok(outcome) => show(shell, call, &outcome),
        // A skip that is not understood opens nothing.
        Err(err @ (OpsError::Config(_) | OpsError::Verb { kind: VerbError::Skip, .. })) => {
            refuse(shell, call, error::diagnostics(&err))
        }
        // The ledger may hold a halt: an unreadable one ends none.
        Err(err @ OpsError::Ledger(_)) if call.name.spec().refuses.is_some() => {
            let mut shown = error::diagnostics(&err);
            let what = "while the ledger cannot be read, it is not known whether the loop is halted";
            shown.insert(0, Diagnostic::error(what).code("ledger"));
            refuse(shell, call, shown)
        }
        Err(err) => internal(shell, call, error::diagnostics(&err)),
    }
}

/// Runs what is missing, in the working tree where it is what is committed, else in a checkout of its own. Whatever the tests
/// print goes to standard error, as all that hooks say; how they ended is for the gate to read.
fn test_at_commit(shell: &Shell, ws: &Workspace, untested: &UntestedTree) -> Result<(), OpsError> {
    let out = shell.out;
    let mut pass = |_: Stream, bytes: &[u8]| out.pass_err(bytes);
    let shown = test::OutputTarget { screens: &output::screens(), pass: &mut pass };
    let subject = test::subject_of(ws, untested.tree)?;
    let place = if subject == TestedSubject::WorkTree { "" } else { ", in a checkout of its own" };
    out.message(&format!("andon: running the tests that are missing (test.at_commit){place}\n"));
    if ws.config.test.scopes.settings.is_empty() {
        test::run(&shell.ctx, ws, &subject, &test::WantedTests::Configured, shown)?;
    } else {
        let mut tell = scopes::progress(out);
        let choice = ScopeChoice::Needed(untested.before);
        let wanted = ScopeRequest { subject: &subject, choice: &choice, jobs: 1 };
        scoped_run::run(&shell.ctx, ws, &wanted, shown, &mut tell)?;
    }
    Ok(())
}

/// An internal error: loud, and the commit passes unless the project wants it otherwise.
fn internal(shell: &Shell, call: &HookCall, mut shown: Vec<Diagnostic>) -> Exit {
    let block = workspace::on_internal_error(&shell.ctx) == OnInternalError::Block;
    let hook = call.name.name();
    if block && call.name.spec().refuses.is_some() {
        let what = format!("{hook} met an internal error, and guard.on_internal_error is \"block\"");
        shown.insert(0, Diagnostic::error(what));
        return refuse(shell, call, shown);
    }
    let what = format!("{hook}: Andon could not judge this; git goes on without it");
    shown.push(Diagnostic::warning(what).help("andon doctor"));
    shell.tell(&shown);
    if block { Exit::Refused } else { Exit::Allowed }
}

fn show(shell: &Shell, call: &HookCall, outcome: &HookOutcome) -> Exit {
    let consequence = consequence(call, outcome.refused);
    let decided = |decision: &Decision| message::decision(decision, consequence, shell.out.err);
    let mut text = String::new();
    if let Some(errors) = &outcome.config_errors {
        let mut shown = error::config_diagnostics(errors);
        let what = "the defaults are used instead of this configuration until it is fixed";
        shown.push(Diagnostic::warning(what));
        text.push_str(&message::diagnostics(&shown, shell.out.err));
    }
    text.push_str(&message::diagnostics(&outcome.warnings, shell.out.err));
    match &outcome.end {
        HookEnd::Silent => {}
        HookEnd::Decided(decision) => text.push_str(&decided(decision)),
        HookEnd::Recorded(recorded) => {
            for phrase in recorded.caught_up.phrases() {
                let note = Diagnostic::note(format!("recorded {phrase}"));
                text.push_str(&message::diagnostic(&note, shell.out.err));
            }
            text.push_str(&decided(&recorded.decision));
        }
        HookEnd::Judged(tips) => {
            for tip in tips.iter().filter(|tip| tip.decision.findings.iter().any(|f| f.level > Level::Note)) {
                let place = format!("{} ({})", tip.remote_ref, tip.tip.short());
                text.push_str(&decided(&at_place(&tip.decision, &place)));
            }
        }
    }
    if let Some((what, command)) = outcome.underway.and_then(Operation::named) {
        let note = Diagnostic::note(format!("{what} stops here, and nothing is lost"))
            .help(Hint::Continue.with([command]))
            .help(Hint::Abort.with([command]));
        text.push_str(&message::diagnostic(&note, shell.out.err));
    }
    shell.out.message(&text);
    match outcome.refused {
        Refusal::Pass => Exit::Allowed,
        Refusal::Refuse => Exit::Refused,
    }
}

/// Refuses what git is about to do, and says so first.
fn refuse(shell: &Shell, call: &HookCall, messages: Vec<Diagnostic>) -> Exit {
    let messages = consequence(call, Refusal::Refuse).before(messages);
    shell.tell(&messages);
    Exit::Refused
}

fn consequence(call: &HookCall, refused: Refusal) -> Consequence {
    match refused {
        Refusal::Pass => Consequence::Done,
        Refusal::Refuse => Consequence::Refused(call.name.spec().refuses.unwrap_or(PreventedStep::Commit)),
    }
}

/// A decision whose messages say which ref they are about.
fn at_place(decision: &Decision, place: &str) -> Decision {
    let mut decision = decision.clone();
    for finding in &mut decision.findings {
        finding.detail = finding.detail.after(&format!("{place}: "));
    }
    decision
}

/// `andon hook`
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The hook's name
    pub name: String,
    /// Arguments that git passed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}
