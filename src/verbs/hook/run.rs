//! `andon hook NAME`: one entrance for every hook of git, pre-commit and prek.

pub mod chain;
mod gate_hook;
mod layers;
mod origin;
pub mod push;
pub mod record_commit;
mod rewrite;

use std::ffi::OsString;

use self::push::JudgedTip;
use self::record_commit::RecordReport;
use crate::setup::live;
use andon_config::{AtCommit, ConfigErrors};
use andon_core::domain::decision::{Decision, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::git_hook::{ConfigGate, GitHook, Work};
use andon_core::domain::ids::{CommitId, TreeId};
use andon_engine::adapter::framework::{self, HookRunner};
use andon_engine::adapter::git_hook::{self, PushedRef, Rewrite, RewriteCommand};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::gate::guard::{self, UntestedTree};
use andon_engine::recording::bound;
use andon_engine::recording::skip;
use andon_engine::sync;
use andon_engine::workspace::Workspace;
use andon_git::platform::test_seam::stop_point;
use andon_git::{Operation, Repo};

/// A hook as git or the framework called it.
pub struct HookCall {
    /// The hook that git runs.
    pub name: GitHook,
    /// The arguments that git passes to the hook.
    pub args: Vec<OsString>,
    /// Its standard input, for the hooks that have one.
    pub stdin: Vec<u8>,
    /// What was to be committed before the hook that was here before Andon ran; `None` where there is none.
    pub before: Option<TreeId>,
}

/// What a hook found.
pub enum HookEnd {
    /// Nothing to say.
    Silent,
    /// A decision about this commit.
    Decided(Decision),
    /// A commit was recorded.
    Recorded(RecordReport),
    /// Tips that are pushed were judged.
    Judged(Vec<JudgedTip>),
}

/// The outcome of a hook.
pub struct HookOutcome {
    /// What was found.
    pub end: HookEnd,
    /// Whether git has to refuse.
    pub refused: Refusal,
    /// What was wrong with the configuration, in place of which the defaults were used.
    pub config_errors: Option<ConfigErrors>,
    /// What git is in the middle of, where the loop is halted: it stops there, and continues after the answer.
    pub underway: Option<Operation>,
    /// What was skipped on the way.
    pub warnings: Vec<Diagnostic>,
}

/// Whether git has to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Exit code 0.
    Pass,
    /// Exit code 1.
    Refuse,
}

/// What is said at each commit where a framework runs this hook and not those that record.
fn unrecorded(ctx: &Context, ws: &Workspace) -> Option<Diagnostic> {
    if framework::runner(&ctx.vars) != HookRunner::Framework {
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
    // What cannot be read is reported when it is judged.
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env).ok()?;
    guard::staged_tree(&repo).ok()
}

/// Runs a hook. A configuration that cannot be read refuses a commit that has to pass the gate: otherwise breaking it
/// would be a way around the guard. The other hooks continue with the defaults and say so.
pub fn run(ctx: &Context, call: &HookCall, tests: &mut TestRunner<'_>) -> Result<HookOutcome, OpsError> {
    stop_point("hook:begin");
    let mut ws = Workspace::open_lenient(ctx)?;
    if ws.config_errors.is_some() && is_gate(ctx, &ws, call.name)? {
        return Workspace::open(ctx).map(|_| HookOutcome::silent());
    }
    let mut outcome = match call.name.spec().work {
        Work::Mark if !bound::binds(ctx, &ws) => {
            HookOutcome { warnings: guard::let_pass_early(ctx, &ws)?, ..HookOutcome::silent() }
        }
        Work::Mark => {
            run_missing(ctx, &ws, None, tests)?;
            let mut outcome = HookOutcome::of_gate(guard::early(ctx, &ws, call.before)?);
            outcome.warnings.extend(unrecorded(ctx, &ws));
            outcome
        }
        Work::Judge => {
            let judged = if bound::binds_message(ctx, &ws, &call.args) {
                if ws.config.test.at_commit == AtCommit::Run && guard::is_asked(ctx, &ws)? {
                    run_missing(ctx, &ws, call.before, tests)?;
                }
                guard::last(ctx, &ws, call.before)?
            } else {
                guard::let_pass(ctx, &ws, call.before)?
            };
            skip::reason_in_message(ctx, &ws, &call.args)?;
            origin::note(ctx, &ws)?;
            HookOutcome::of_gate(judged)
        }
        // Where a message shows that it is an agent's all the same, prepare-commit-msg judges.
        Work::AskHalts if !bound::binds(ctx, &ws) => HookOutcome::silent(),
        Work::AskHalts => HookOutcome::of_gate(guard::halts_only(ctx, &ws)?),
        Work::Record => HookOutcome::recorded(record_commit::post_commit(ctx, &ws)?),
        Work::RecordMerge => HookOutcome::recorded(record_commit::post_merge(ctx, &ws)?),
        Work::Rewrite => {
            let (command, rewrites, unread) = rewrites(ctx, &ws, call)?;
            let mut warnings: Vec<Diagnostic> = unread.into_iter().collect();
            warnings.extend(rewrite::post_rewrite(ctx, &ws, command, &rewrites)?);
            HookOutcome { warnings, ..HookOutcome::silent() }
        }
        Work::JudgePush => judge_push(ctx, &ws, call)?,
    };
    outcome.config_errors = ws.config_errors.take();
    outcome.underway =
        is_halted(&outcome).then(|| ws.repo.operation()).filter(|_| call.name != GitHook::PrePush);
    Ok(outcome)
}

/// Runs the tests that the gate asks for, on the tree that is to be committed.
pub type TestRunner<'a> = dyn FnMut(&Workspace, &UntestedTree) -> Result<(), OpsError> + 'a;

/// With `test.at_commit = "run"`: what is missing runs now, and then the gate judges as ever.
fn run_missing(
    ctx: &Context,
    ws: &Workspace,
    fixed: Option<TreeId>,
    tests: &mut TestRunner<'_>,
) -> Result<(), OpsError> {
    if ws.config.test.at_commit == AtCommit::Refuse {
        return Ok(());
    }
    guard::untested(ctx, ws, fixed)?.map_or(Ok(()), |untested| tests(ws, &untested))
}

/// Whether the loop is halted now, whatever the hook can still do about it.
fn is_halted(outcome: &HookOutcome) -> bool {
    match &outcome.end {
        HookEnd::Decided(decision) => decision.verdict == Verdict::Halt,
        HookEnd::Recorded(recorded) => recorded.decision.verdict == Verdict::Halt,
        HookEnd::Silent | HookEnd::Judged(_) => false,
    }
}

/// Whether the hook is one at which more than halts binds.
fn is_gate(ctx: &Context, ws: &Workspace, name: GitHook) -> Result<bool, OpsError> {
    match name.spec().gate {
        ConfigGate::Always => Ok(true),
        ConfigGate::WhereAsked => guard::is_asked(ctx, ws),
        ConfigGate::Never => Ok(false),
    }
}

impl HookOutcome {
    fn silent() -> Self {
        Self {
            end: HookEnd::Silent,
            refused: Refusal::Pass,
            config_errors: None,
            underway: None,
            warnings: Vec::new(),
        }
    }

    fn of_gate((decision, warnings): (Decision, Vec<Diagnostic>)) -> Self {
        let refused = if decision.verdict >= Verdict::Block { Refusal::Refuse } else { Refusal::Pass };
        Self { end: HookEnd::Decided(decision), refused, warnings, ..Self::silent() }
    }

    fn recorded(recorded: Option<RecordReport>) -> Self {
        let Some(mut recorded) = recorded else { return Self::silent() };
        let warnings = std::mem::take(&mut recorded.warnings);
        Self { end: HookEnd::Recorded(recorded), warnings, ..Self::silent() }
    }
}

/// Lines of standard input that make no sense: git writes none, so they come from elsewhere.
fn unread(hook: GitHook, lines: usize) -> Option<Diagnostic> {
    let what = format!("{}: {lines} line(s) of standard input could not be read", hook.name());
    (lines > 0).then(|| Diagnostic::warning(what).help(format!("git help githooks, {}", hook.name())))
}

fn judge_push(ctx: &Context, ws: &Workspace, call: &HookCall) -> Result<HookOutcome, OpsError> {
    let (pushed, bad) = match framework::runner(&ctx.vars) {
        HookRunner::Framework => {
            let tip_of = |name: &str| ws.repo.resolve(name).ok();
            let pushed =
                framework::pushed_ref(&ctx.vars).or_else(|| framework::pushed_whole(&ctx.vars, tip_of));
            (pushed.into_iter().collect(), 0)
        }
        HookRunner::Git => git_hook::parse_pushes(&call.stdin),
    };
    let (judged, mut warnings) =
        if bound::binds(ctx, ws) { push::pre_push(ctx, ws, &pushed)? } else { (Vec::new(), Vec::new()) };
    let block = judged.iter().any(|tip| tip.decision.verdict >= Verdict::Block);
    warnings.extend(unread(call.name, bad));
    // Refs of ours that are pushed by name would be found moved by the time that git pushes them.
    let by_name = pushed.iter().any(PushedRef::is_ours);
    if !block && !by_name && pushed.iter().any(|push| push.is_branch() && push.tip.is_some()) {
        warnings.extend(send_along(ctx, ws, call));
    }
    let refused = if block { Refusal::Refuse } else { Refusal::Pass };
    Ok(HookOutcome { end: HookEnd::Judged(judged), refused, warnings, ..HookOutcome::silent() })
}

/// Records go where the branch goes, if the person asked for it.
fn send_along(ctx: &Context, ws: &Workspace, call: &HookCall) -> Option<Diagnostic> {
    if !sync::sends(&ws.repo) {
        return None;
    }
    let (name, url) = match framework::runner(&ctx.vars) {
        HookRunner::Framework => framework::pushed_to(&ctx.vars)?,
        HookRunner::Git => {
            let mut words = call.args.iter().map(|word| word.to_string_lossy().into_owned());
            words.next().zip(words.next())?
        }
    };
    sync::send_along(ctx, ws, &sync::Destination { name, url }, sync::unasked(ctx, ws))
}

/// The rewritten commits: from standard input, or - the framework loses it - from HEAD's reflog and `ORIG_HEAD`.
fn rewrites(
    ctx: &Context,
    ws: &Workspace,
    call: &HookCall,
) -> Result<(RewriteCommand, Vec<Rewrite>, Option<Diagnostic>), OpsError> {
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
fn amended(ws: &Workspace) -> Result<Option<Rewrite>, OpsError> {
    let newest = ws.repo.reflog_head(1)?.into_iter().next();
    Ok(newest
        .filter(|entry| !entry.old.is_zero())
        .map(|entry| Rewrite { old: CommitId(entry.old), new: CommitId(entry.new) }))
}
