//! `andon hook NAME`: what the shims call. Silent when all is well; an internal error warns and lets the commit
//! pass, unless `guard.on_internal_error = "block"`. One entrance for every hook of git, pre-commit and prek.

pub mod chain;
mod gate_hook;
mod origin;
mod record_commit;
mod rewrite;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ffi::OsString, io::Read as _};

use clap::Args;

use self::chain::HookCall;
use self::record_commit::RecordReport;
pub(crate) use self::record_commit::complete;
use crate::cli::{ColorChoice, Exit, Printer, Shell, error, output};
use crate::verbs::test::{
    run as test, scoped_run, scoped_run::ScopeChoice, scoped_run::ScopeRequest, scopes,
};
use crate::{setup::live, verbs::round};
use andon_config::{AtCommit, ConfigErrors, OnInternalError};
use andon_core::domain::{
    CommitId, ConfigGate, Decision, Diagnostic, GitHook, Hint, Level, PreventedStep, TreeId, Verdict, Work,
};
use andon_engine::adapter::{PushedRef, Rewrite, RewriteCommand, git_hook};
use andon_engine::gate::{UntestedTree, guard};
use andon_engine::recording::{bound, skip};
use andon_engine::text::{Consequence, message};
use andon_engine::{
    Context, OpsError, Result, VerbError, Workspace, evidence::TestedSubject, sync, workspace,
};
use andon_git::{Operation, Repo, platform::test_seam::stop_point};
use testreport::Stream;

/// Most bytes of a hook's standard input: pre-push of some hundred thousand refs.
const MAX_STDIN: usize = 64 << 20;

/// A call that [`main`] did not take: clap has said so already, but for a name that is not UTF-8.
pub fn run(shell: &Shell, args: &HookArgs) -> Result<Exit> {
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
    call.before = tree_before(&shell.ctx, name);
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
    match work(&shell.ctx, call, &mut tests) {
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
fn test_at_commit(shell: &Shell, ws: &Workspace, untested: &UntestedTree) -> Result<()> {
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
    shown.push(Diagnostic::warning(what).help(Hint::Doctor));
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

/// The finding of a hook.
#[derive(Default)]
pub enum HookEnd {
    /// Nothing to say.
    #[default]
    Silent,
    /// A decision about this commit.
    Decided(Decision),
    /// A commit was recorded.
    Recorded(RecordReport),
    /// Tips that are pushed were judged.
    Judged(Vec<JudgedTip>),
}

/// The outcome of a hook.
#[derive(Default)]
pub struct HookOutcome {
    pub end: HookEnd,
    pub refused: Refusal,
    /// The mistakes of a configuration in place of which the defaults were used.
    pub config_errors: Option<ConfigErrors>,
    /// The operation that git is in the middle of, where the loop is halted: it stops there, and continues after the answer.
    pub underway: Option<Operation>,
    pub warnings: Vec<Diagnostic>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refusal {
    /// Exit code 0.
    #[default]
    Pass,
    /// Exit code 1.
    Refuse,
}

/// Warns at each commit where a framework runs this hook and not those that record.
fn unrecorded(ctx: &Context, ws: &Workspace) -> Option<Diagnostic> {
    if !git_hook::is_by_framework(&ctx.vars) {
        return None;
    }
    let gone = live::half_installed(ws.repo.workdir()?, &gate_hook::hooks_dir(ctx, ws))?;
    let message = format!("this commit will not be recorded: {}", gone.what);
    Some(Diagnostic::warning(message).code("hooks").help(gone.help))
}

/// The tree that is to be committed before the chained hook runs, for the hooks that need it.
pub fn tree_before(ctx: &Context, name: GitHook) -> Option<TreeId> {
    if !matches!(name.spec().work, Work::Mark | Work::Judge) || !chain::is_there(ctx, name) {
        return None;
    }
    // An unreadable repository is reported when the commit is judged.
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env).ok()?;
    guard::staged_tree(&repo).ok()
}

/// Runs a hook. A configuration that cannot be read refuses a commit that has to pass the gate: otherwise breaking it
/// would be a way around the guard. The other hooks continue with the defaults and say so.
pub fn work(ctx: &Context, call: &HookCall, tests: &mut TestRunner<'_>) -> Result<HookOutcome> {
    stop_point("hook:begin");
    let mut ws = Workspace::open_lenient(ctx)?;
    if ws.config_errors.is_some() && is_gate(ctx, &ws, call.name)? {
        return Workspace::open(ctx).map(|_| HookOutcome::default());
    }
    let mut outcome = match call.name.spec().work {
        Work::Mark if !bound::binds(ctx, &ws) => {
            HookOutcome { warnings: guard::let_pass_early(ctx, &ws)?, ..HookOutcome::default() }
        }
        Work::Mark => {
            run_missing(ctx, &ws, None, tests)?;
            let (decision, mut warnings) = guard::early(ctx, &ws, call.before)?;
            warnings.extend(unrecorded(ctx, &ws));
            HookOutcome::of_gate(decision, warnings)
        }
        Work::Judge => {
            let (decision, warnings) = if bound::binds_message(ctx, &ws, &call.args) {
                if ws.config.test.at_commit == AtCommit::Run && guard::is_asked(ctx, &ws)? {
                    run_missing(ctx, &ws, call.before, tests)?;
                }
                guard::last(ctx, &ws, call.before)?
            } else {
                guard::let_pass(ctx, &ws, call.before)?
            };
            skip::reason_in_message(ctx, &ws, &call.args)?;
            origin::note(ctx, &ws)?;
            HookOutcome::of_gate(decision, warnings)
        }
        // prepare-commit-msg judges a message that shows an agent all the same.
        Work::AskHalts if !bound::binds(ctx, &ws) => HookOutcome::default(),
        Work::AskHalts => {
            let (decision, warnings) = guard::halts_only(ctx, &ws)?;
            HookOutcome::of_gate(decision, warnings)
        }
        Work::Record => HookOutcome::recorded(record_commit::post_commit(ctx, &ws, call.name)?),
        Work::RecordMerge => HookOutcome::recorded(record_commit::post_merge(ctx, &ws)?),
        Work::Rewrite => {
            let (command, rewrites, unread) = rewrites(ctx, &ws, call)?;
            let mut warnings: Vec<Diagnostic> = unread.into_iter().collect();
            warnings.extend(rewrite::post_rewrite(ctx, &ws, command, &rewrites)?);
            HookOutcome { warnings, ..HookOutcome::default() }
        }
        Work::JudgePush => judge_push(ctx, &ws, call)?,
    };
    outcome.config_errors = ws.config_errors.take();
    outcome.underway =
        is_halted(&outcome).then(|| ws.repo.operation()).filter(|_| call.name != GitHook::PrePush);
    Ok(outcome)
}

/// Runs the tests that the gate asks for, on the tree that is to be committed.
pub type TestRunner<'a> = dyn FnMut(&Workspace, &UntestedTree) -> Result<()> + 'a;

/// With `test.at_commit = "run"`: what is missing runs now, and then the gate judges as ever.
fn run_missing(
    ctx: &Context,
    ws: &Workspace,
    fixed: Option<TreeId>,
    tests: &mut TestRunner<'_>,
) -> Result<()> {
    if ws.config.test.at_commit == AtCommit::Refuse {
        return Ok(());
    }
    guard::untested(ctx, ws, fixed)?.map_or(Ok(()), |untested| tests(ws, &untested))
}

/// True where the loop is halted now, whatever the hook can still do about it.
fn is_halted(outcome: &HookOutcome) -> bool {
    match &outcome.end {
        HookEnd::Decided(decision) => decision.verdict == Verdict::Halt,
        HookEnd::Recorded(recorded) => recorded.decision.verdict == Verdict::Halt,
        HookEnd::Silent | HookEnd::Judged(_) => false,
    }
}

/// True for hooks at which more than halts binds.
fn is_gate(ctx: &Context, ws: &Workspace, name: GitHook) -> Result<bool> {
    match name.spec().gate {
        ConfigGate::Always => Ok(true),
        ConfigGate::WhereAsked => guard::is_asked(ctx, ws),
        ConfigGate::Never => Ok(false),
    }
}

impl HookOutcome {
    fn of_gate(decision: Decision, warnings: Vec<Diagnostic>) -> Self {
        let refused = if decision.verdict >= Verdict::Block { Refusal::Refuse } else { Refusal::Pass };
        Self { end: HookEnd::Decided(decision), refused, warnings, ..Self::default() }
    }

    fn recorded(recorded: Option<RecordReport>) -> Self {
        let Some(mut recorded) = recorded else { return Self::default() };
        let warnings = std::mem::take(&mut recorded.warnings);
        Self { end: HookEnd::Recorded(recorded), warnings, ..Self::default() }
    }
}

/// Lines of standard input that make no sense: git writes none, so they come from elsewhere.
fn unread(hook: GitHook, lines: usize) -> Option<Diagnostic> {
    let what = format!("{}: {lines} line(s) of standard input could not be read", hook.name());
    (lines > 0).then(|| Diagnostic::warning(what).help(Hint::Githooks))
}

fn judge_push(ctx: &Context, ws: &Workspace, call: &HookCall) -> Result<HookOutcome> {
    let (pushed, bad) = if git_hook::is_by_framework(&ctx.vars) {
        let tip_of = |name: &str| ws.repo.resolve(name).ok();
        let pushed = git_hook::pushed_ref(&ctx.vars).or_else(|| git_hook::pushed_whole(&ctx.vars, tip_of));
        (pushed.into_iter().collect(), 0)
    } else {
        git_hook::parse_pushes(&call.stdin)
    };
    let (judged, mut warnings) =
        if bound::binds(ctx, ws) { pre_push(ctx, ws, &pushed)? } else { (Vec::new(), Vec::new()) };
    let block = judged.iter().any(|tip| tip.decision.verdict >= Verdict::Block);
    warnings.extend(unread(call.name, bad));
    // Refs of ours that are pushed by name would be found moved by the time that git pushes them.
    let by_name = pushed.iter().any(PushedRef::is_ours);
    if !block && !by_name && pushed.iter().any(|push| push.is_branch() && push.tip.is_some()) {
        warnings.extend(send_along(ctx, ws, call));
    }
    let refused = if block { Refusal::Refuse } else { Refusal::Pass };
    Ok(HookOutcome { end: HookEnd::Judged(judged), refused, warnings, ..HookOutcome::default() })
}

/// Records go where the branch goes, if the person asked for it.
fn send_along(ctx: &Context, ws: &Workspace, call: &HookCall) -> Option<Diagnostic> {
    if !sync::sends(&ws.repo) {
        return None;
    }
    let mut words = call.args.iter().map(|word| word.to_string_lossy().into_owned());
    let by_framework = git_hook::is_by_framework(&ctx.vars);
    let (name, url) =
        if by_framework { git_hook::pushed_to(&ctx.vars) } else { words.next().zip(words.next()) }?;
    sync::send_along(ctx, ws, &sync::Destination { name, url }, sync::unasked(ctx, ws))
}

/// The rewritten commits: from standard input, or - the framework loses it - from HEAD's reflog and `ORIG_HEAD`.
fn rewrites(
    ctx: &Context,
    ws: &Workspace,
    call: &HookCall,
) -> Result<(RewriteCommand, Vec<Rewrite>, Option<Diagnostic>)> {
    let named = call.args.first().map(|word| word.to_string_lossy().into_owned());
    let command =
        named.or_else(|| ctx.var("PRE_COMMIT_REWRITE_COMMAND").map(str::to_owned)).unwrap_or_default();
    let command = RewriteCommand::from_name(&command);
    let (rewrites, bad) = git_hook::parse_rewrites(&call.stdin);
    if !rewrites.is_empty() || bad > 0 {
        return Ok((command, rewrites, unread(call.name, bad)));
    }
    let guessed = match command {
        RewriteCommand::Amend => amended(ws)?.into_iter().collect(),
        RewriteCommand::Rebase => rewrite::pair_by_change(ws)?,
    };
    Ok((command, guessed, None))
}

/// The commit that `--amend` replaced: what HEAD was before its newest move.
fn amended(ws: &Workspace) -> Result<Option<Rewrite>> {
    let newest = ws.repo.reflog_head(1)?.into_iter().next();
    Ok(newest
        .filter(|entry| !entry.old.is_zero())
        .map(|entry| Rewrite { old: CommitId(entry.old), new: CommitId(entry.new) }))
}

/// The judgement of one tip.
pub struct JudgedTip {
    pub remote_ref: String,
    /// The commit that is pushed to it.
    pub tip: CommitId,
    pub decision: Decision,
}

/// Judges every branch tip that is pushed, and says what was skipped on the way. Deletions, tags, notes and the
/// ledger pass.
pub fn pre_push(
    ctx: &Context,
    ws: &Workspace,
    pushed: &[PushedRef],
) -> Result<(Vec<JudgedTip>, Vec<Diagnostic>)> {
    let (mut judged, mut warnings) = (Vec::new(), Vec::<Diagnostic>::new());
    for (push, tip) in
        pushed.iter().filter(|push| push.is_branch()).filter_map(|push| Some((push, push.tip?)))
    {
        let (decision, skipped) = guard::judge_tip(ctx, ws, tip, push.there)?;
        for warning in skipped {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        if decision.verdict < Verdict::Block {
            warnings.extend(record_commit::complete(ctx, ws, tip).err().as_ref().map(OpsError::as_warning));
        }
        judged.push(JudgedTip { remote_ref: push.remote_ref.clone(), tip, decision });
    }
    Ok((judged, warnings))
}
