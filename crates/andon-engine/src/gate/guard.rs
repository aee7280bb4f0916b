//! The gate: what pre-commit, prepare-commit-msg, pre-merge-commit and pre-push decide.
//!
//! There is one gate for commits, at prepare-commit-msg: the only moment at which git has fixed the tree, and
//! `--no-verify` does not skip it. The shim of pre-commit only marks git's process ([`pre_commit_mark`]). Where a framework or an
//! older hook has the program called at pre-commit, the same judgement is made there, early, and prepare-commit-msg
//! judges again only if the tree is another one.

use crate::effect::{self, Site};
use crate::evidence::{self, Demand, Subject, docs, untracked};
use crate::gate::{GateContext, compaction, fallback, identity, safety};
use crate::halts::{self, stops};
use crate::recording::{self, LoadedTimeline, bound, skip, timeline};
use crate::{Context, OpsError, Result, Workspace, adapter::git_hook, range::uncertainty, text::named_files};
use andon_core::detect::{
    self, Candidate, CodeChange, CommitDraft, EvidenceState, IndexUse, RuleInput, Situation, Stops,
};
use andon_core::domain::{
    CommitId, Decision, Diagnostic, DirtyBit, Effect, EntryId, EventClass, Finding, Hint, Level, Pressure,
    SafetyKind, Stage, StandingHalt, TreeId, Verdict,
};
use andon_core::policy::{self, HaltPlace};
use andon_git::{GitError, IndexTree, Operation, Repo};
use andon_store::{
    Content, GitProcess, Journal, Receipt, pre_commit_mark, process::git_above, receipt, window,
};

/// A decision, and what was odd on the way to it.
pub type Judged = (Decision, Vec<Diagnostic>);

/// pre-commit of a commit that the guard does not bind: nothing is judged, and the message is seen later.
pub fn let_pass_early(ctx: &Context, ws: &Workspace) -> Result<Vec<Diagnostic>> {
    pass_unjudged(ctx, ws, None, git_above(ctx.parent))
}

fn pass_unjudged(
    ctx: &Context,
    ws: &Workspace,
    fixed: Option<TreeId>,
    asked_by: Vec<GitProcess>,
) -> Result<Vec<Diagnostic>> {
    let tree = fixed.map_or_else(|| staged_tree(&ws.repo), Ok)?;
    let receipt = Receipt { tree, head: ws.repo.head()?.commit(), skipped: Vec::new(), asked_by };
    Ok(leave_receipt(ctx, ws, &receipt).into_iter().collect())
}

/// prepare-commit-msg of a commit that the guard does not bind: a report file that a person deleted is an answer all the
/// same, and the commit did not go around the gate.
pub fn let_pass(ctx: &Context, ws: &Workspace, fixed: Option<TreeId>) -> Result<Judged> {
    let (mut notes, now) = (halts::resolve(ctx, ws)?.notes, git_above(ctx.parent));
    let asks = is_asked_by(ws, &now)?;
    pre_commit_mark::sweep(ws.repo.git_dir(), &now);
    if asks {
        notes.extend(pass_unjudged(ctx, ws, fixed, now)?);
    }
    Ok((policy::decide(Vec::new(), None), notes))
}

/// The tree of the index, which git has fixed at prepare-commit-msg.
pub fn staged_tree(repo: &Repo) -> Result<TreeId, GitError> {
    match repo.index_tree()? {
        IndexTree::Known(tree) => Ok(tree),
        IndexTree::Unknown => repo.write_tree(),
    }
}

/// pre-commit, where the program is called at it: judges early. `before` is the tree before a chained hook ran.
pub fn early(ctx: &Context, ws: &Workspace, before: Option<TreeId>) -> Result<Judged> {
    let tree = staged_tree(&ws.repo)?;
    let asking = CommitRequest { tree, before, now: git_above(ctx.parent) };
    judge(ctx, ws, asking)
}

/// prepare-commit-msg: the gate, where the commit asks for it; halts and stops bind in any case. `fixed` is the tree of
/// the index before a chained hook ran: it cannot change the commit any more.
pub fn last(ctx: &Context, ws: &Workspace, fixed: Option<TreeId>) -> Result<Judged> {
    let now = git_above(ctx.parent);
    let early = judged_early(ws, &now)?;
    let asks = early.is_some() || pre_commit_mark::is_marked(ws.repo.git_dir(), &now);
    let tree = asks.then(|| fixed.map_or_else(|| staged_tree(&ws.repo), Ok)).transpose()?;
    // Without a message nothing showed that the guard binds this commit, and nothing was judged.
    let before = early.map(|receipt| receipt.tree).filter(|_| bound::binds(ctx, ws));
    let judged = match tree.filter(|tree| Some(*tree) != before) {
        Some(tree) => judge(ctx, ws, CommitRequest { tree, before, now: now.clone() }),
        None => halts_only(ctx, ws),
    };
    if judged.is_ok() {
        pre_commit_mark::sweep(ws.repo.git_dir(), &now);
    }
    judged
}

/// The tree that the gate is about to refuse for nothing but tests that did not run on it; `None` while the loop is halted,
/// and where the rule is off or passed over.
pub fn untested(ctx: &Context, ws: &Workspace, fixed: Option<TreeId>) -> Result<Option<UntestedTree>> {
    let level = ws.config.rules.get(detect::UNTESTED_EDIT.id).map_or(Level::Block, |setting| setting.level);
    let skips = skip::asked(ctx)?.is_some_and(|skip| skip.names(detect::UNTESTED_EDIT.id));
    let standing = halts::unanswered(ctx, ws)?;
    if level < Level::Block || skips || standing.is_some() || stops(ws) != Stops::NONE {
        return Ok(None);
    }
    let tree = fixed.map_or_else(|| staged_tree(&ws.repo), Ok)?;
    let before = ws.head_tree()?;
    let loaded = timeline::load(ws)?;
    let candidate = evidence::candidate(ws, &loaded, &Subject::Tree(tree), Demand::Commit(before))?;
    let missing = candidate.evidence.lacks_a_run() && candidate.code_changed == CodeChange::Changed;
    Ok(missing.then_some(UntestedTree { tree, before }))
}

/// A tree whose tests are missing.
pub struct UntestedTree {
    /// The tree that is to be committed.
    pub tree: TreeId,
    /// The tree of the commit before it.
    pub before: Option<TreeId>,
}

/// True if the commit that is being made asks for the gate: pre-commit ran, in one way or another.
pub fn is_asked(ctx: &Context, ws: &Workspace) -> Result<bool> {
    is_asked_by(ws, &git_above(ctx.parent))
}

fn is_asked_by(ws: &Workspace, now: &[GitProcess]) -> Result<bool> {
    Ok(pre_commit_mark::is_marked(ws.repo.git_dir(), now) || judged_early(ws, now)?.is_some())
}

/// The receipt that the program left at pre-commit of the same commit.
fn judged_early(ws: &Workspace, now: &[GitProcess]) -> Result<Option<Receipt>> {
    let mut receipts = receipt::read(ws.repo.git_dir());
    receipts.retain(|receipt| receipt.is_nearest_of(now));
    // Not asked in the common case.
    let head = if receipts.is_empty() { None } else { ws.repo.head()?.commit() };
    Ok(receipts.into_iter().rev().find(|receipt| receipt.head == head))
}

/// A tree that asks to pass.
struct CommitRequest {
    tree: TreeId,
    /// The tree from before another hook changed it.
    before: Option<TreeId>,
    /// The git processes that ask.
    now: Vec<GitProcess>,
}

/// Judges the tree that is about to be committed and leaves the receipt when it may pass.
fn judge(ctx: &Context, ws: &Workspace, asking: CommitRequest) -> Result<Judged> {
    let CommitRequest { tree, before, now } = asking;
    let asked = skip::asked(ctx)?;
    let resolved = halts::resolve(ctx, ws)?;
    let parent = ws.repo.head()?.commit();
    let receipt = Receipt { tree, head: parent, skipped: Vec::new(), asked_by: now };
    if let (None, None, Some(head)) = (&resolved.halt, &resolved.failed, parent)
        && resolved.notes.is_empty()
        && let Some((decision, mut loaded)) = settled(ctx, ws, tree, head)?
    {
        loaded.warnings.extend(leave_receipt(ctx, ws, &receipt));
        return Ok((decision, loaded.warnings));
    }
    let mut loaded = timeline::load(ws)?;
    loaded.warnings.extend(resolved.failed.as_ref().map(OpsError::as_warning));
    loaded.warnings.extend(resolved.notes);
    let parent = parent.map(|head| ws.repo.tree_of(head)).transpose()?;
    let candidate = evidence::candidate(ws, &loaded, &Subject::Tree(tree), Demand::Commit(parent))?;
    let identity = identity::of_candidate(ctx, ws, tree)?;
    let changed_by_hook = evidence::changed_by_hook(ws, &loaded, before, tree)?;
    let making = Some(draft(ws, tree));
    let is_tested = matches!(candidate.evidence, EvidenceState::Tested(_));
    let release = if is_tested { Vec::new() } else { evidence::release::ways(ws, parent, tree)? };
    let hidden_program = git_hook::hidden_program(&ctx.vars, ctx.program.as_deref());
    let candidate = Candidate { identity, making, changed_by_hook, release, hidden_program, ..candidate };
    loaded.warnings.extend(evidence::notices(&candidate, &loaded));
    loaded.warnings.extend(untracked::notice(&candidate, &loaded));
    let decision = decide(ws, &loaded, Stage::PreCommit, Some(&candidate), resolved.halt);
    let decision = heal(ctx, ws, &loaded, decision)?;
    let (mut decision, skipped) = skip::apply(asked.as_ref(), decision);
    if decision.verdict == Verdict::Block && cannot_keep_runs(ws, &mut decision) {
        return Ok((decision, Vec::new()));
    }
    if decision.verdict == Verdict::Block && safety::keep_refusal(ctx, ws, &mut loaded, &decision, tree)? {
        decision = with_refusals(ws, &loaded, decision);
    }
    let gate = GateContext { ctx, ws, loaded: &loaded };
    let mut warnings = gate.settle_or_warn(&mut decision)?;
    let moved = gate.stop_switches(decision.standing.as_ref(), None);
    let reported = if decision.verdict < Verdict::Block {
        let reported = gate.skipped(&skipped, tree);
        warnings.extend(leave_receipt(ctx, ws, &Receipt { skipped, ..receipt }));
        reported
    } else {
        gate.refused(&decision, SafetyKind::Refused, Some(tree))
    };
    loaded.warnings.extend(warnings.into_iter().chain(moved).chain(reported));
    Ok((decision, loaded.warnings))
}

/// Has a refusal for want of tests say that their runs cannot be kept, where that is so: to run them again is no way out.
fn cannot_keep_runs(ws: &Workspace, decision: &mut Decision) -> bool {
    let untested = |finding: &&mut Finding| finding.about.dirty == Some(DirtyBit::TestsRun);
    let Some(finding) = decision.findings.iter_mut().find(untested) else { return false };
    let Some(denied) = Journal::open(ws.repo.git_dir()).denied() else { return false };
    let found = detect::UNTESTED_EDIT.finding(finding.level, denied.to_string());
    *finding = Finding { help: denied.help().into_iter().collect(), ..found };
    true
}

/// Without a receipt the record will say that the commit went around the gate: said now, not refused.
fn leave_receipt(ctx: &Context, ws: &Workspace, receipt: &Receipt) -> Option<Diagnostic> {
    let left = receipt::write(ws.repo.git_dir(), receipt, ctx.now).map_err(OpsError::from);
    left.err().as_ref().map(OpsError::as_warning)
}

/// The common case, without reading the window: post-commit found no halt owed behind `head`, the journal has grown by
/// nothing but test runs since, and the newest of them passed on exactly this tree. Anything else is `None`, and looked
/// at in full.
fn settled(
    ctx: &Context,
    ws: &Workspace,
    tree: TreeId,
    head: CommitId,
) -> Result<Option<(Decision, LoadedTimeline)>> {
    let rules = &ws.config.rules;
    let by_the_tree = detect::active(Stage::PreCommit, rules).all(|rule| rule.reads == RuleInput::Tree);
    if stops(ws) != Stops::NONE || !by_the_tree {
        return Ok(None);
    }
    let since = window::settled(&ws.repo, head, timeline::reach(rules));
    let Some(run) = since.and_then(|len| Journal::open(ws.repo.git_dir()).newest_run_since(len)) else {
        return Ok(None);
    };
    let loaded = timeline::of_run(ws, run);
    let demand = Demand::Commit(Some(ws.repo.tree_of(head)?));
    let candidate = evidence::candidate(ws, &loaded, &Subject::Tree(tree), demand)?;
    let is_quiet = evidence::notices(&candidate, &loaded).is_empty() && !untracked::has_any(&candidate);
    if !matches!(candidate.evidence, EvidenceState::Tested(_)) || !is_quiet {
        return Ok(None);
    }
    let candidate = Candidate { identity: identity::of_candidate(ctx, ws, tree)?, ..candidate };
    let decision = decide(ws, &loaded, Stage::PreCommit, Some(&candidate), None);
    Ok((decision.verdict == Verdict::Allow).then_some((decision, loaded)))
}

/// pre-merge-commit, and prepare-commit-msg where no pre-commit ran: only halts and stops bind.
pub fn halts_only(ctx: &Context, ws: &Workspace) -> Result<Judged> {
    let resolved = halts::resolve(ctx, ws)?;
    if resolved.halt.is_none() && stops(ws) == Stops::NONE && !may_owe(ws)? {
        return Ok((policy::decide(Vec::new(), None), resolved.notes));
    }
    let loaded = timeline::load(ws)?;
    let mut warnings: Vec<Diagnostic> = resolved.failed.iter().map(OpsError::as_warning).collect();
    warnings.extend(resolved.notes);
    let decision = decide(ws, &loaded, Stage::Halts, None, resolved.halt);
    let mut decision = heal(ctx, ws, &loaded, decision)?;
    let gate = GateContext { ctx, ws, loaded: &loaded };
    warnings.extend(gate.settle_or_warn(&mut decision)?);
    warnings.extend(gate.refused(&decision, SafetyKind::Refused, None));
    warnings.extend(gate.stop_switches(decision.standing.as_ref(), None));
    Ok((decision, warnings))
}

/// True unless the records behind HEAD are known to owe no halt. In the middle of a rebase they are not asked: its commits get
/// their records at its end.
fn may_owe(ws: &Workspace) -> Result<bool> {
    let Some(head) = ws.repo.head()?.commit() else { return Ok(false) };
    let is_judged = || window::settled(&ws.repo, head, timeline::reach(&ws.config.rules)).is_some();
    Ok(!matches!(ws.repo.operation(), Operation::Rebase | Operation::Patches) && !is_judged())
}

/// Judges a tip that is being pushed where the remote has `there`. No halt is written or answered here.
pub fn judge_tip(ctx: &Context, ws: &Workspace, tip: CommitId, there: Option<CommitId>) -> Result<Judged> {
    let mut loaded = timeline::load_behind(ws, Some(tip));
    let tree = ws.repo.tree_of(tip)?;
    let began = docs::began(ws, &loaded.timeline)?;
    let docs = docs::between(&ws.repo, &ws.config, began, Content::Tree(tree))?;
    let known = evidence::at_the_remote(ws, tip, tree, there)?;
    let candidate = evidence::candidate(ws, &loaded, &Subject::Tree(tree), Demand::Commit(known))?;
    let candidate = match ws.config.test.scopes.settings.as_slice() {
        // Whatever is pushed, the tests of all scopes have to have run at its tip.
        [_, ..] if candidate.code_changed == CodeChange::Changed => {
            evidence::candidate(ws, &loaded, &Subject::Tree(tree), Demand::Everything)?
        }
        _ => candidate,
    };
    let identity = identity::of_tip(ws, tip, known)?;
    let candidate = Candidate { docs, identity, ..evidence::at_tip(ws, candidate, tip)? };
    loaded.warnings.extend(evidence::notices(&candidate, &loaded));
    let decision = decide(ws, &loaded, Stage::PrePush, Some(&candidate), None);
    let gate = GateContext { ctx, ws, loaded: &loaded };
    let reported = gate.refused(&decision, SafetyKind::RefusedPush, Some(tree));
    loaded.warnings.extend(reported);
    Ok((decision, loaded.warnings))
}

/// Runs the rules of a stage over what was loaded.
pub fn decide(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    stage: Stage,
    candidate: Option<&Candidate>,
    standing: Option<StandingHalt>,
) -> Decision {
    policy::decide(asked(ws, loaded, stage, candidate), standing)
}

/// The findings of a stage's rules about the loaded timeline, with files by name.
pub fn asked(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    stage: Stage,
    candidate: Option<&Candidate>,
) -> Vec<Finding> {
    let (timeline, rules) = (&loaded.timeline, &ws.config.rules);
    let looks_at_the_loop = matches!(stage, Stage::PostCommit | Stage::Turn);
    let episode = looks_at_the_loop
        .then(|| uncertainty::episode(timeline, rules, uncertainty::mode(&ws.config)))
        .flatten();
    let situation = Situation { timeline, stage, candidate, stops: stops(ws), episode: episode.as_ref() };
    let mut findings = detect::run(&situation, rules);
    named_files::name(&ws.repo, &ws.config.paths.rules, timeline, &mut findings);
    findings
}

/// The decision with the findings about the refusals so far, this one included.
fn with_refusals(ws: &Workspace, loaded: &LoadedTimeline, decision: Decision) -> Decision {
    let Decision { mut findings, standing, .. } = decision;
    let counted = asked(ws, loaded, Stage::Event, None);
    let by_refusals = [detect::REFUSED_COMMITS.id, detect::ITERATION_CAP.id];
    findings.extend(counted.into_iter().filter(|finding| by_refusals.contains(&finding.rule)));
    policy::decide(findings, standing)
}

/// A halt that post-commit owed but did not write (it was killed, or the hooks were off) is written now.
fn heal(ctx: &Context, ws: &Workspace, loaded: &LoadedTimeline, decision: Decision) -> Result<Decision> {
    let owed = (decision.verdict < Verdict::Halt).then(|| owed(ws, loaded)).flatten();
    let Some(owed) = owed else { return Ok(decision) };
    let rule = owed.findings.first().map_or("", |finding| finding.rule);
    let what = format!("wrote the halt of {rule}, which was owed since an earlier hook");
    recording::tell_repair(ctx, ws, what)?;
    Ok(owed)
}

/// The decision to halt that the records behind HEAD give, where no halt is open: no ledger has it, or has it any more.
pub fn owed(ws: &Workspace, loaded: &LoadedTimeline) -> Option<Decision> {
    Some(decide(ws, loaded, Stage::PostCommit, None, None)).filter(|owed| owed.verdict == Verdict::Halt)
}

/// The same as a halt, for those who only look: it is written by the next commit, and has the null id until then.
pub fn owed_halt(ctx: &Context, ws: &Workspace, loaded: &LoadedTimeline) -> Result<Option<StandingHalt>> {
    let Some(owed) = owed(ws, loaded) else { return Ok(None) };
    let halt = policy::halting(&owed, &loaded.timeline, &compaction::place(ctx, ws)?);
    Ok(halt.map(|halt| StandingHalt { id: EntryId([0; 32]), halt: *halt }))
}

/// Writes the halt that the records behind HEAD owe, where they came from clones that did not know of each other or a ledger
/// lost it; whether there is one.
pub fn settle_owed(ctx: &Context, ws: &Workspace) -> Result<bool> {
    if halts::resolve(ctx, ws)?.halt.is_some() {
        return Ok(false);
    }
    let loaded = timeline::load(ws)?;
    let mut owed = heal(ctx, ws, &loaded, policy::decide(Vec::new(), None))?;
    GateContext { ctx, ws, loaded: &loaded }.settle_or_warn(&mut owed)?;
    Ok(owed.verdict == Verdict::Halt)
}

impl GateContext<'_> {
    /// A refusal remains one even when its files cannot be written: otherwise making `.andon/` unwritable would be a way
    /// around the guard.
    pub fn settle_or_warn(&self, decision: &mut Decision) -> Result<Vec<Diagnostic>> {
        match self.settle(decision) {
            Err(err) if decision.verdict >= Verdict::Block => Ok(vec![err.as_warning()]),
            other => other,
        }
    }

    /// Plans what follows from a decision and carries it out; returns the failures that do not change it. A decision that
    /// halts carries its halt from here on, so that the caller can show all of it.
    pub fn settle(&self, decision: &mut Decision) -> Result<Vec<Diagnostic>> {
        let Self { ctx, ws, loaded } = *self;
        // The common case: nothing is owed, so that where it would be is not asked.
        if decision.verdict < Verdict::Warn {
            return recording::tell_healed_locks(ctx, ws).map(|()| Vec::new());
        }
        let place = compaction::place(ctx, ws)?;
        decision.halted = policy::halting(decision, &loaded.timeline, &place);
        let plan = policy::plan(decision, &loaded.timeline, &place);
        let site = ws.site(ctx);
        effect::carry_out(&plan, &site)?;
        recording::tell_healed_locks(ctx, ws)?;
        self.respond(decision, &place, &site)
    }

    /// The responses in addition to the verdict, after the halt is written; returns what failed.
    fn respond(&self, decision: &Decision, place: &HaltPlace, site: &Site<'_>) -> Result<Vec<Diagnostic>> {
        let Self { ws, loaded, .. } = *self;
        let fill = self.context_window(decision);
        let pressure = fill.as_ref().map_or(Pressure::Free, |found| found.pressure);
        let due = fill.map_or(Ok(Vec::new()), |found| self.compaction(place, found));
        let (mut responses, unbriefed) = match due {
            Ok(responses) => (responses, None),
            Err(err) => (Vec::new(), Some(err.as_warning())),
        };
        let response = &ws.config.response;
        let escalates = decision.findings.iter().any(|finding| finding.about.event == EventClass::Escalation);
        let episode = escalates
            .then(|| uncertainty::episode(&loaded.timeline, &ws.config.rules, uncertainty::mode(&ws.config)))
            .flatten();
        let setup = policy::Setup {
            on_stall: response.on_stall,
            providers: &response.providers,
            current: fallback::current(loaded),
            episode: episode.as_ref(),
            signal_name: detect::signal_name,
            pressure,
            again: response.again,
        };
        responses.extend(policy::responses(decision, &loaded.timeline, place, &setup));
        let (starts, rest): (Vec<Effect>, Vec<Effect>) =
            responses.into_iter().partition(|one| matches!(one, Effect::Start(_)));
        let failed = effect::carry_out(&rest, site).unwrap_or_else(|err| vec![err.to_string()]);
        let failed = failed.into_iter().map(|what| Diagnostic::warning(what).code("response"));
        let mut reported: Vec<Diagnostic> = unbriefed.into_iter().chain(failed).collect();
        for effect in &starts {
            if let Effect::Start(start) = effect {
                reported.extend(self.start(start, site)?);
            }
        }
        Ok(reported)
    }
}

/// Digits of a tree's id in a command.
const TREE_DIGITS: usize = 12;

/// The commit that is being made of `tree`.
fn draft(ws: &Workspace, tree: TreeId) -> CommitDraft {
    let index = index_use(ws);
    let exact = match index {
        IndexUse::AsIs => Hint::TestStaged.into(),
        IndexUse::All | IndexUse::Paths => {
            Hint::TestTree.with([&tree.to_string().chars().take(TREE_DIGITS).collect::<String>()])
        }
    };
    CommitDraft { underway: ws.repo.operation() != Operation::None, index, exact }
}

/// Recognized by the name of the index that git gives its hooks (docs/git-facts.md).
fn index_use(ws: &Workspace) -> IndexUse {
    let path = ws.repo.index_path();
    match path.file_name().and_then(|name| name.to_str()) {
        Some("index") => IndexUse::AsIs,
        Some("index.lock") => IndexUse::All,
        Some(_) | None => IndexUse::Paths,
    }
}
