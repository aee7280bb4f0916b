//! `andon status`: the state of the loop, from the same facts as the hooks.
//!
//! Remarks on HEAD that no run on its code tells: it is red by its record or by what git made it of, and records that are gone.

pub mod text;

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use self::text::StatusDepth;
use crate::cli::{Exit, FormatArg, Shell};
use crate::situation::{self, HookSituation, LoopSituation};
use crate::{setup::place, verbs::round};
use andon_core::detect::{self, Origin, Situation};
use andon_core::domain::{
    CodeId, CommitId, Cycle, Diagnostic, Finding, Halt, Hint, Level, Presence, RunValidity, Stage,
    StandingHalt, plural::count,
};
use andon_core::history::{self, Iteration, Refusals, RefusedCode, Timeline};
use andon_core::{escape::terminal_clip, policy};
use andon_engine::evidence::{self, Asked, Demand, Subject, untracked};
use andon_engine::gate::{fallback, guard};
use andon_engine::halts::{self, HaltFate, PastHalt, decisions, stops};
use andon_engine::text::{Page, Style, phrase};
use andon_engine::view::{
    CycleView, FailureSummary, HeadAndWorkTree, LastHalt, LoopCount, LoopEvidence, LoopState, RefusedCommits,
    RuleCount, SkippedAt, StatusView, TestsOf,
};
use andon_engine::{
    Context, OpsError, Result, Workspace, asking, effect, error::or_warn, range, recording::LoadedTimeline,
};
use andon_git::GitError;
use andon_store::{EntryEvent, Fingerprinter, Ledger, NotesStore};

/// `andon status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// End with 1 while the loop is halted, stopped or paused, with 5 while only a round waits for a person: `until andon status --exit-code; do sleep 60; done`
    #[arg(long)]
    pub exit_code: bool,
    /// Show the rules instead: how often each halted, and how often people called that mistaken
    #[arg(long, conflicts_with = "exit_code")]
    pub rules: bool,
    /// Show the hashes behind the loop as well: diffs, code states, failures, outputs
    #[arg(long, conflicts_with = "rules")]
    pub evidence: bool,
    /// Show the state that counts on one line, for the status line of a client; nothing outside of a repository
    #[arg(long, conflicts_with_all = ["exit_code", "rules", "evidence"])]
    pub line: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Shows the state of the loop. Ends with 0, and with `--exit-code` with 1 while the loop waits for a person, and with 5 while
/// only a round does.
/// A configuration that cannot be read hides no halt; then it ends with 2.
pub fn run(shell: &Shell, args: &StatusArgs) -> Result<Exit> {
    if args.line {
        return line(shell, args);
    }
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.rules {
        return rules(shell, &ws, args);
    }
    // Loops continue by the exit code.
    if !args.exit_code {
        asking::only_look(&ws.repo);
    }
    let mut view = view(&shell.ctx, &ws)?;
    // There is no daemon: the next command finds a round whose time is up.
    if !shell.ctx.is_switched_off() {
        or_warn(round::expire(&shell.ctx, &ws), &mut view.warnings);
        or_warn(halts::resolve::keep_shown(&shell.ctx, &ws), &mut view.warnings);
    }
    view.waiting = or_warn(asking::waiting(&ws).map(|found| found.rounds), &mut view.warnings);
    let depth = if args.evidence { StatusDepth::Evidence } else { StatusDepth::Short };
    shell.show(args.format.format, "status", &view, |style| text::text(&view, depth, style, shell.glyphs()));
    let blocked = args.exit_code && view.state.waits_for_a_person();
    if blocked {
        let failed = remind(&shell.ctx, &ws).unwrap_or_else(|err| vec![err.as_warning()]);
        shell.tell(&failed);
    }
    let waits = args.exit_code && !view.waiting.is_empty();
    Ok(match (blocked, &ws.config_errors) {
        (true, _) => Exit::Refused,
        (false, Some(_)) => Exit::Usage,
        (false, None) if waits => Exit::Waiting,
        (false, None) => Exit::Allowed,
    })
}

/// Shows the line for the status line of a client.
fn line(shell: &Shell, args: &StatusArgs) -> Result<Exit> {
    let Some(found) = status_line(&shell.ctx)? else { return Ok(Exit::Allowed) };
    let document = found.json(shell.out.out);
    shell.show(args.format.format, "status-line", &document, |style| found.text(style) + "\n");
    Ok(Exit::Allowed)
}

/// Shows the rules with their halts.
fn rules(shell: &Shell, ws: &Workspace, args: &StatusArgs) -> Result<Exit> {
    let (counts, warnings) = rule_counts(ws)?;
    shell.show(args.format.format, "rules", &json!({ "rules": counts }), |style| rules_text(&counts, style));
    shell.tell(&warnings);
    Ok(Exit::Allowed)
}

/// Counts the halts of the ledger, rule by rule: those of this version in their order, then others.
fn rule_counts(ws: &Workspace) -> Result<(Vec<RuleCount>, Vec<Diagnostic>)> {
    let (halts, warnings) = decisions::past_halts(ws)?;
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for PastHalt { halt, fate } in halts {
        let count = counts.entry(halt.rule).or_default();
        count.0 += 1;
        count.1 += u64::from(fate == HaltFate::Mistaken);
    }
    let known = detect::REGISTRY.iter().map(|rule| {
        let (halts, mistaken) = counts.remove(rule.id).unwrap_or_default();
        RuleCount { rule: rule.id.to_owned(), level: Some(rule.level_in(&ws.config.rules)), halts, mistaken }
    });
    let mut found: Vec<RuleCount> = known.collect();
    found.extend(counts.into_iter().map(|(rule, (halts, mistaken))| RuleCount {
        rule,
        level: None,
        halts,
        mistaken,
    }));
    Ok((found, warnings))
}

/// Columns of a name.
const NAME: usize = 40;

/// The counts for a person.
fn rules_text(counts: &[RuleCount], style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.dim(&format!("{:<24} {:<6} {:>6} {:>9}", "rule", "level", "halts", "mistaken")));
    for count in counts {
        let level = count.level.map_or("?", Level::as_str);
        let (rule, halts, mistaken) = (terminal_clip(&count.rule, NAME), count.halts, count.mistaken);
        page.line(&format!("{rule:<24} {level:<6} {halts:>6} {mistaken:>9}"));
    }
    page.finish()
}

/// Longest message of a finding, in columns.
const MESSAGE: usize = 60;

/// The content of the line.
struct StatusLine {
    state: LoopState,
    count: LoopCount,
    halt: Option<Halt>,
    /// The gravest of what the rules say, where the loop goes on.
    finding: Option<Finding>,
}

/// Looks at the loop; `None` outside of a repository, where there is nothing to say.
///
/// # Errors
/// The records cannot be read.
fn status_line(ctx: &Context) -> Result<Option<StatusLine>> {
    let ws = match Workspace::open_lenient(ctx) {
        Err(OpsError::Git(GitError::NotARepository { .. })) => return Ok(None),
        opened => opened?,
    };
    let hooks = HookSituation::at(&ws.repo, &place::configured(&ws.repo));
    let LoopSituation { loaded, standing, state, .. } = situation::look(ctx, &ws, &hooks)?;
    let mut findings = guard::decide(&ws, &loaded, Stage::PostCommit, None, standing.clone()).findings;
    findings.retain(|finding| finding.level >= Level::Warn);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    Ok(Some(StatusLine {
        state,
        count: situation::count(&ws, &loaded.timeline),
        halt: standing.map(|standing| standing.halt),
        finding: findings.into_iter().next().filter(|_| !state.waits_for_a_person()),
    }))
}

impl StatusLine {
    /// The state in one word.
    fn word(&self) -> &'static str {
        match self.state {
            LoopState::Halted | LoopState::Stopped | LoopState::Paused => "halted",
            LoopState::HooksGone | LoopState::NotInstalled | LoopState::Disabled => "unguarded",
            LoopState::Running | LoopState::Idle if self.finding.is_some() => "warning",
            LoopState::Running | LoopState::Idle => "ok",
        }
    }

    /// The line, without its end.
    fn text(&self, style: Style) -> String {
        let word = match self.word() {
            "ok" => style.green("ok"),
            "halted" => style.red("HALTED"),
            word => style.yellow(word),
        };
        let turns = self.count.turns();
        match (&self.halt, &self.finding) {
            (Some(halt), _) => {
                format!("andon {word} {}: {}", style.age(halt.at), terminal_clip(&halt.rule, MESSAGE))
            }
            (None, Some(finding)) => {
                let message = terminal_clip(&phrase::message(&finding.message()), MESSAGE);
                format!("andon {word} {turns}: {} ({message})", finding.rule)
            }
            (None, None) => match self.state {
                LoopState::Stopped => format!("andon {word}: .andon/STOP"),
                LoopState::Paused => format!("andon {word}: .andon/PAUSE"),
                LoopState::HooksGone => format!("andon {word}: the hooks are gone"),
                LoopState::NotInstalled => format!("andon {word}: not installed"),
                LoopState::Disabled => format!("andon {word}: ANDON=0"),
                LoopState::Running | LoopState::Idle | LoopState::Halted => format!("andon {word} {turns}"),
            },
        }
    }

    /// The same for a program.
    fn json(&self, style: Style) -> Value {
        json!({
            "word": self.word(),
            "state": self.state.as_str(),
            "iteration": self.count.iteration,
            "cap": self.count.cap,
            "rule": self.halt.as_ref().map(|halt| halt.rule.as_str()).or(self.finding.as_ref().map(|one| one.rule)),
            "since": self.halt.as_ref().map(|halt| halt.at.to_string()),
            "line": self.text(style),
        })
    }
}

/// Hashes of each kind that are shown.
const EVIDENCE: usize = 12;

/// Gathers the status of this worktree.
pub fn view(ctx: &Context, ws: &Workspace) -> Result<StatusView> {
    let LoopSituation { head, loaded, recorded, standing, hooks, state } =
        situation::look(ctx, ws, &HookSituation::read(ctx, &ws.repo))?;
    let mut decision = guard::decide(ws, &loaded, Stage::PostCommit, None, standing.clone());
    decision.findings.retain(|finding| finding.level > Level::Off);
    if recorded.is_some() && standing.is_none() {
        // Answered: the next hook begins a new window.
        decision.findings.retain(|finding| finding.level < Level::Halt);
    }
    let (last_halt, mut warnings) = last_halt(ws, recorded.as_ref())?;
    warnings.extend(ws.config_errors.iter().flat_map(|wrong| wrong.errors.iter().cloned()));
    warnings.extend(loaded.warnings.iter().cloned());
    let lost = lost_records(ws, head.commit(), &loaded);
    let red = or_warn(red_tip(ws, &loaded, head.commit()), &mut warnings);
    warnings.extend(red.into_iter().chain(told_lost(lost)));
    let actor = ctx.actor();
    let at_head = head.commit().and_then(|commit| ws.repo.tree_of(commit).ok()).map(Subject::Tree);
    let top = ws.repo.workdir();
    let at_work = top.and_then(|_| Some(Subject::WorkTree(untracked::tested_overlay(ws).ok()?.overlay)));
    let code =
        HeadAndWorkTree { head: code_of(ws, at_head.as_ref()), work_tree: code_of(ws, at_work.as_ref()) };
    Ok(StatusView {
        state,
        count: situation::count(ws, &loaded.timeline),
        unrecorded: loaded.beside.unknown.saturating_sub(lost),
        head: head.commit(),
        branch: head.branch().map(str::to_owned),
        worktree: ws.repo.worktree_name(),
        cycles: cycles(ws, &loaded.timeline),
        node: actor.node_name(),
        who: policy::makers(&loaded.timeline),
        session: actor.session,
        provider: provider(ws, &loaded),
        provider_reason: provider_reason(&loaded),
        consecutive_failures: consecutive_failures(ws, &loaded),
        last_compaction: loaded.timeline.activity.compactions.newest,
        report: last_halt.as_ref().map_or(Presence::Absent, |it| stops::report_file(ws, it.halt.report_file)),
        last_halt,
        trend: loaded.timeline.trend(),
        trend_in_turn: loaded.timeline.activity.red.counts.clone(),
        uncredited: detect::uncredited_falls(&loaded.timeline),
        flaky: flaky(&loaded),
        known_red: loaded.timeline.known_red.clone(),
        skipped: skipped(&loaded.timeline),
        test_command: ws.config.test.command.as_ref().map(andon_config::TestCommand::display),
        tests: HeadAndWorkTree {
            head: head.commit().map_or(TestsOf::Nothing, |_| tests_of(ws, &loaded, code.head, at_head)),
            work_tree: top.map_or(TestsOf::Nothing, |_| tests_of(ws, &loaded, code.work_tree, at_work)),
        },
        code,
        decided: decisions::all(ws, &loaded.timeline),
        waiting: Vec::new(),
        refused: refused(&loaded.timeline),
        evidence: loop_evidence(&loaded.timeline),
        hooks_gone: hooks,
        findings: decision.findings,
        warnings: once(warnings),
    })
}

/// Each of the warnings once: one thing may be in the way of several readers.
fn once(warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut told: Vec<Diagnostic> = Vec::new();
    for warning in warnings {
        if !told.contains(&warning) {
            told.push(warning);
        }
    }
    told
}

fn consecutive_failures(ws: &Workspace, loaded: &LoadedTimeline) -> u64 {
    let setting = ws.config.rules.get(detect::CONSECUTIVE_FAILURES.id);
    setting.map_or(0, |setting| detect::failures_in_a_row(&loaded.timeline, setting))
}

/// The provider at work: the one that was started at the newest stall, else the first of the chain.
fn provider(ws: &Workspace, loaded: &LoadedTimeline) -> Option<String> {
    let primary = ws.config.response.providers.first().map(|one| one.name.as_str())?;
    Some(fallback::current(loaded).unwrap_or(primary).to_owned())
}

/// The reason for which it was started.
fn provider_reason(loaded: &LoadedTimeline) -> Option<String> {
    fallback::handed_on(loaded).map(|(_, reason)| reason.to_owned())
}

/// Reminds of an unanswered halt, for loops that wait by `--exit-code`; returns what failed.
pub fn remind(ctx: &Context, ws: &Workspace) -> Result<Vec<Diagnostic>> {
    let Some(standing) = halts::binding(ws)? else { return Ok(Vec::new()) };
    let due = policy::reminder(&standing.halt, ctx.now, ws.config.response.again);
    let failed = effect::carry_out(due.as_slice(), &ws.site(ctx))?;
    Ok(failed.into_iter().map(|what| Diagnostic::warning(what).code("response")).collect())
}

/// Refused commits that no commit or test run has followed yet.
fn refused(timeline: &Timeline) -> Option<RefusedCommits> {
    let Refusals { times, newest } = &timeline.activity.refusals;
    let RefusedCode { code, rule, at } = newest.clone()?;
    Some(RefusedCommits { count: *times, code, rule, at })
}

/// The declared cycles with their counters.
fn cycles(ws: &Workspace, timeline: &Timeline) -> Vec<CycleView> {
    let view = |cycle: &Cycle| CycleView {
        id: cycle.id.clone(),
        nodes: cycle.nodes.clone(),
        iterations: timeline.activity.cycle_iterations(cycle),
        max: detect::cycle_limit(cycle, &ws.config.rules),
    };
    timeline.workflow.cycles.iter().map(view).collect()
}

/// The unanswered halt that binds here, of whichever clone; without one the newest of this worktree with its answer.
fn last_halt(ws: &Workspace, recorded: Option<&StandingHalt>) -> Result<(Option<LastHalt>, Vec<Diagnostic>)> {
    if let Some(StandingHalt { id, halt }) = recorded {
        return Ok((Some(LastHalt { id: *id, halt: halt.clone(), ack: None }), Vec::new()));
    }
    let ledger = Ledger::open(&ws.repo);
    let (found, warnings) = ledger.newest_halt(&ws.repo.worktree_name())?;
    let Some(found) = found else { return Ok((None, warnings)) };
    // A worktree of another clone may have the same name: its halt is shown where this work builds on it.
    if ledger.is_own(found.halt.id)? != Some(true) && !builds_on(ws, &found.halt.event)? {
        return Ok((None, warnings));
    }
    let ack = found.ack.as_ref().and_then(|ack| ack.event.answer()).cloned();
    let last = found.halt.event.halt().map(|halt| LastHalt { id: found.halt.id, halt: halt.clone(), ack });
    Ok((last, warnings))
}

/// True when HEAD is, or continues from, the commit that was halted.
fn builds_on(ws: &Workspace, event: &EntryEvent) -> Result<bool> {
    let Some(halt) = event.halt() else { return Ok(false) };
    let head = ws.repo.head()?.commit();
    let is_below = |halted, head| head == halted || ws.repo.is_ancestor(halted, head).unwrap_or(false);
    Ok(halt.head.zip(head).is_some_and(|(halted, head)| is_below(halted, head)))
}

/// The flaky tests of the window and of the journal.
fn flaky(loaded: &LoadedTimeline) -> Vec<String> {
    let valid = loaded.journal.runs.iter().filter(|run| run.validity == RunValidity::Valid);
    let mut flaky = loaded.timeline.flaky().as_ref().clone();
    flaky.extend(history::flaky(valid.map(|run| &run.evidence)));
    flaky.into_iter().collect()
}

/// Rules that were passed over for the commits of the window.
fn skipped(timeline: &Timeline) -> Vec<SkippedAt> {
    let of_one = |iteration: &Iteration| {
        let commit = iteration.commit;
        let skips = iteration.skipped.iter();
        let skips = skips.filter_map(move |skip| Some(SkippedAt { commit: commit?, skip: skip.clone() }));
        skips.collect::<Vec<_>>()
    };
    timeline.iterations.iter().flat_map(of_one).collect()
}

fn code_of(ws: &Workspace, subject: Option<&Subject>) -> Option<CodeId> {
    let mut prints = Fingerprinter::new(&ws.repo, &ws.config.paths.rules);
    prints.of(subject?.content()).ok()
}

fn tests_of(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    code: Option<CodeId>,
    subject: Option<Subject>,
) -> TestsOf {
    let (Some(code), Some(subject)) = (code, subject) else { return TestsOf::Unknown };
    let asked = Asked { ws, loaded, subject: &subject, code };
    let found = evidence::of_subject(asked, Demand::Commit(None));
    if let Some(evidence) = found.ok().flatten() {
        return TestsOf::Ran(evidence);
    }
    // A run on this very code that proves nothing says more than one on other code.
    if let Some(run) = evidence::run_on(ws, loaded, code) {
        return TestsOf::Void(Box::new(run));
    }
    match loaded.journal.runs.last() {
        Some(run) => TestsOf::OtherCode(run.evidence.clone()),
        None => TestsOf::NeverRan,
    }
}

/// "loop safety" (docs/spec-map.md), "Loop Evidence": the hashes of the window and the failures behind them.
fn loop_evidence(timeline: &Timeline) -> LoopEvidence {
    let skip = timeline.iterations.len().saturating_sub(EVIDENCE);
    let window = || timeline.iterations.iter().skip(skip);
    let ran = || window().filter_map(|iteration| iteration.tests.as_ref());
    let red = || ran().filter(|tests| !tests.is_green());
    let mut failures: BTreeMap<_, FailureSummary> = BTreeMap::new();
    let mut order = Vec::new();
    for tests in red() {
        let summary = failures.entry(tests.signature).or_insert_with(|| FailureSummary {
            signature: tests.signature,
            iterations: 0,
            status: tests.status,
            failing: tests.failing.clone(),
        });
        summary.iterations += 1;
        order.retain(|known| *known != tests.signature);
        order.push(tests.signature);
    }
    LoopEvidence {
        diffs: window().map(|iteration| iteration.diff.hash).collect(),
        codes: window().map(|iteration| iteration.code).collect(),
        tests: red().map(|tests| tests.signature).collect(),
        outputs: window().flat_map(|iteration| iteration.outputs.iter().copied()).collect(),
        failures: order.iter().filter_map(|signature| failures.remove(signature)).collect(),
    }
}

/// The failures of the tip that no run on its code shows: its record tells of them, or what git made it of.
fn red_tip(ws: &Workspace, loaded: &LoadedTimeline, head: Option<CommitId>) -> Result<Option<Diagnostic>> {
    let Some(head) = head else { return Ok(None) };
    let (tree, parent) = (ws.repo.tree_of(head)?, ws.repo.commit(head)?.parents.first().copied());
    let before = parent.map(|parent| ws.repo.tree_of(parent)).transpose()?;
    let candidate = evidence::candidate(ws, loaded, &Subject::Tree(tree), Demand::Commit(before))?;
    let candidate = evidence::at_tip(ws, candidate, head)?;
    if candidate.origin == Origin::Work {
        return Ok(None);
    }
    let (timeline, rules) = (&loaded.timeline, &ws.config.rules);
    let situation = Situation { candidate: Some(&candidate), ..range::situation(timeline, Stage::Complete) };
    let found = detect::evaluate(&detect::FAILING_TESTS, &situation, rules);
    Ok(found.map(|found| {
        Diagnostic::warning(format!("HEAD: {}", found.message())).code(found.rule).helps(found.help)
    }))
}

/// Commits at HEAD and below that are looked at for records that are gone.
const LOOKED_AT: usize = 32;

/// The number of commits that the journal calls recorded here and that have no record any more.
fn lost_records(ws: &Workspace, head: Option<CommitId>, loaded: &LoadedTimeline) -> usize {
    let Ok(store) = NotesStore::open(&ws.repo) else { return 0 };
    let below = |id: &CommitId| ws.repo.commit(*id).ok()?.parents.first().copied();
    let line = std::iter::successors(head, below).take(LOOKED_AT);
    let is_lost = |id: &CommitId| loaded.journal.markers.contains(id) && matches!(store.has(*id), Ok(false));
    line.filter(is_lost).count()
}

/// Tells of records that are gone.
fn told_lost(lost: usize) -> Option<Diagnostic> {
    let records = count(lost, "commit");
    let are = if lost == 1 { "was" } else { "were" };
    let what = format!("the records of {records} that {are} made here are gone");
    let told = Diagnostic::warning(what).code("lost-records").help(Hint::Sync.led("where a remote has them"));
    (lost > 0).then(|| told.help("find out what removed refs/notes/andon"))
}
