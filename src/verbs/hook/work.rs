//! `andon hook NAME`: one entrance for every hook of git, pre-commit and prek.

use super::chain::{self, HookCall};
use super::record_commit::{self, RecordReport};
use super::{gate_hook, origin, rewrite};
use crate::setup::live;
use andon_config::{AtCommit, ConfigErrors};
use andon_core::domain::decision::{Decision, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::git_hook::{ConfigGate, GitHook, Work};
use andon_core::domain::ids::{CommitId, TreeId};
use andon_engine::adapter::git_hook::{self, HookRunner, PushedRef, Rewrite, RewriteCommand};
use andon_engine::gate::guard::{self, UntestedTree};
use andon_engine::recording::{bound, skip};
use andon_engine::{context::Context, error::OpsError, sync, workspace::Workspace};
use andon_git::platform::test_seam::stop_point;
use andon_git::{Operation, Repo};

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
    if git_hook::runner(&ctx.vars) != HookRunner::Framework {
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
pub fn run(ctx: &Context, call: &HookCall, tests: &mut TestRunner<'_>) -> Result<HookOutcome, OpsError> {
    stop_point("hook:begin");
    let mut ws = Workspace::open_lenient(ctx)?;
    if ws.config_errors.is_some() && is_gate(ctx, &ws, call.name)? {
        return Workspace::open(ctx).map(|_| HookOutcome::default());
    }
    let mut outcome = match call.name.spec().work {
        Work::Mark if !bound::binds(ctx, &ws) => {
            HookOutcome { warnings: guard::let_pass_early(ctx, &ws, None)?, ..HookOutcome::default() }
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
        Work::Record => HookOutcome::recorded(record_commit::post_commit(ctx, &ws)?),
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

/// True where the loop is halted now, whatever the hook can still do about it.
fn is_halted(outcome: &HookOutcome) -> bool {
    match &outcome.end {
        HookEnd::Decided(decision) => decision.verdict == Verdict::Halt,
        HookEnd::Recorded(recorded) => recorded.decision.verdict == Verdict::Halt,
        HookEnd::Silent | HookEnd::Judged(_) => false,
    }
}

/// True for hooks at which more than halts binds.
fn is_gate(ctx: &Context, ws: &Workspace, name: GitHook) -> Result<bool, OpsError> {
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
    (lines > 0).then(|| Diagnostic::warning(what).help(format!("git help githooks, {}", hook.name())))
}

fn judge_push(ctx: &Context, ws: &Workspace, call: &HookCall) -> Result<HookOutcome, OpsError> {
    let (pushed, bad) = match git_hook::runner(&ctx.vars) {
        HookRunner::Framework => {
            let tip_of = |name: &str| ws.repo.resolve(name).ok();
            let pushed =
                git_hook::pushed_ref(&ctx.vars).or_else(|| git_hook::pushed_whole(&ctx.vars, tip_of));
            (pushed.into_iter().collect(), 0)
        }
        HookRunner::Git => git_hook::parse_pushes(&call.stdin),
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
    let (name, url) = match git_hook::runner(&ctx.vars) {
        HookRunner::Framework => git_hook::pushed_to(&ctx.vars)?,
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
) -> Result<(Vec<JudgedTip>, Vec<Diagnostic>), OpsError> {
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
