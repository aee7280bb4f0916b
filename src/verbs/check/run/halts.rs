//! Commits made while the loop was halted, answers that no person gave, and halts that the ledger does not know.
//!
//! A halt concerns a range when its commit is in it or right below it: what was merged beneath has been judged
//! before, and must not fail every range to come.

use std::collections::BTreeSet;

use super::{Case, Diagnostic, ExaminedCommits, JudgedRange, examined_commits::Link, of_range, violation};
use andon_core::domain::{
    Ack, AckHow, Attempt, CommitFact, CommitId, EntryId, Fact, Halt, HaltReach, Hint, LedgerEvent, Level,
    StopSwitch, Timestamp, Verdict,
};
use andon_core::history::{EventEffect, Fold};
use andon_engine::range::{self, Lineages};
use andon_engine::text::{Style, halt, named_files};
use andon_engine::{Result, asking, context::local, view::check::OPEN_HALT};
use andon_git::Repo;
use andon_store::{EntryEvent, window};

/// Records below the range that give the window in which it begins.
const WINDOW: usize = 24;

/// A halt with the answer it got.
pub(super) struct HaltAndAnswer {
    pub(super) id: EntryId,
    pub(super) halt: Halt,
    /// The commit that was halted, as the range has it now.
    pub(super) head: Option<CommitId>,
    pub(super) ack: Option<Ack>,
}

/// The entries of the ledger, and the violations against them.
pub(super) struct LedgerFindings {
    pub(super) violations: Vec<Diagnostic>,
    pub(super) halts: Vec<HaltAndAnswer>,
    pub(super) answers: Vec<Ack>,
    pub(super) stop_switches: Vec<StopSwitch>,
}

/// Judges the range against the ledger, and against what the rules say of the records themselves.
pub(super) fn judge(whole: JudgedRange<'_>, now: Timestamp) -> Result<LedgerFindings> {
    let JudgedRange { case, examined } = whole;
    let (entries, warnings) = asking::read_all(case.repo, now)?;
    let unreadable = |warning: &Diagnostic| {
        let help = warning.help.first().map_or(Hint::ListLedgers.text(), String::as_str);
        of_range("unreadable-ledger", Level::Block, warning.message.clone(), help)
    };
    let mut violations: Vec<Diagnostic> = warnings.iter().map(unreadable).collect();
    let mut halts: Vec<HaltAndAnswer> = Vec::new();
    let (mut answers, mut stop_switches): (Vec<Ack>, Vec<StopSwitch>) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry.event {
            EntryEvent::Known(LedgerEvent::Halted(halt)) => {
                let head = place(examined, &halt);
                halts.push(HaltAndAnswer { id: entry.id, halt: *halt, head, ack: None });
            }
            EntryEvent::Known(LedgerEvent::Acknowledged(ack)) => {
                let mut ack = *ack;
                if let Some(known) = halts.iter_mut().find(|known| Some(known.id) == ack.halt) {
                    if ack.head == known.halt.head {
                        ack.head = known.head;
                    }
                    known.ack = Some(ack.clone()).filter(|ack| ack.how != AckHow::Unsigned);
                }
                answers.push(ack);
            }
            EntryEvent::Known(LedgerEvent::StopSwitch(switch)) => stop_switches.push(*switch),
            EntryEvent::Unknown { .. } => {}
        }
    }
    for halt in &halts {
        violations.extend(while_halted(whole, halt));
        violations.extend(by_an_agent(examined, halt));
    }
    violations.extend(unrecorded_halts(whole, &halts, &answers));
    violations.extend(missing_at_tip(whole, &halts));
    Ok(LedgerFindings { violations, halts, answers, stop_switches })
}

/// The halted commit. One that was amended or rebased since is known by its change; its number only chooses among several
/// that made the same.
fn place(examined: &ExaminedCommits, halt: &Halt) -> Option<CommitId> {
    let head = halt.head?;
    if examined.concerns(head) {
        return Some(head);
    }
    let carried = |fact: &CommitFact| fact.root() == Some(head);
    if let Some(fact) = examined.rewritten().find(carried) {
        return fact.id;
    }
    let same = |fact: &CommitFact| halt.evidence.diffs.last() == Some(&fact.record.diff.hash);
    let numbered = |fact: &CommitFact| same(fact) && fact.record.iteration == halt.iteration;
    let found = examined.rewritten().find(numbered).or_else(|| examined.rewritten().find(same));
    found.map_or(Some(head), |fact| fact.id)
}

/// The commits of the range on top of `head`, which is in the range or right below it.
fn on_top_of(examined: &ExaminedCommits, head: CommitId) -> BTreeSet<CommitId> {
    let mut found = BTreeSet::new();
    for commit in examined.commits() {
        if commit.parents.iter().any(|parent| *parent == head || found.contains(parent)) {
            found.insert(commit.id);
        }
    }
    found
}

/// The commits of the range up to and with `head`.
fn up_to(JudgedRange { case, examined }: JudgedRange<'_>, head: CommitId) -> BTreeSet<CommitId> {
    if !examined.holds(head) {
        let before = |commit: &&Link| case.repo.is_ancestor(commit.id, head).unwrap_or(false);
        return examined.commits().iter().filter(before).map(|commit| commit.id).collect();
    }
    let mut found = BTreeSet::from([head]);
    for commit in examined.commits().iter().rev() {
        if found.contains(&commit.id) {
            found.extend(&commit.parents);
        }
    }
    found
}

fn while_halted(whole: JudgedRange<'_>, known: &HaltAndAnswer) -> Vec<Diagnostic> {
    let examined = whole.examined;
    let Some(halted) = known.head else { return Vec::new() };
    let mut bound = on_top_of(examined, halted);
    if known.halt.binds == HaltReach::Worktree {
        bound.retain(|commit| is_of_the_halted(examined, *commit, known));
    }
    if bound.is_empty() {
        return Vec::new();
    }
    match known.ack.as_ref().map(|ack| ack.head) {
        // Answered at `head`: everything after that is free again.
        Some(Some(head)) => bound = &bound & &up_to(whole, head),
        Some(None) => bound.clear(),
        None => {}
    }
    bound.retain(|commit| examined.is_bound(*commit));
    let message = format!("made while the loop was halted by {} at {}", known.halt.rule, halted.short());
    let help = Hint::Answer.led("a person answers the halt where it was made");
    let found = examined.commits().iter().filter(|commit| bound.contains(&commit.id));
    let made =
        found.map(|made| violation(examined.at(made.id), "halted-commit", Level::Block, &message, &help));
    made.collect()
}

/// The newest unanswered halt at the tip or below it. A halt of turns or calls binds its worktree alone, and counts only at
/// the tip that it stopped, where that is a commit of the halted run.
pub(super) fn open<'a>(whole: JudgedRange<'_>, halts: &'a [HaltAndAnswer]) -> Option<&'a HaltAndAnswer> {
    let JudgedRange { case, examined } = whole;
    let mut open = halts.iter().rev().filter(|known| known.ack.is_none());
    open.find(|known| {
        known.head.is_some_and(|head| match known.halt.binds {
            HaltReach::Line => examined.concerns(head),
            HaltReach::Worktree => head == case.tip && known.halt.base != known.halt.head,
        })
    })
}

/// The message that the loop is halted: it comes first.
pub(super) fn told(examined: &ExaminedCommits, open: &HaltAndAnswer) -> Diagnostic {
    let halt = &open.halt;
    let message = format!(
        "the loop on this branch is halted by {}: {}",
        halt.rule,
        halt::in_a_line(halt, Style::of_a_file(local))
    );
    let at = open.head.map(|head| examined.at(head));
    let answer = Hint::Answer.led("a person decides, then runs");
    let told = violation(at, OPEN_HALT, Level::Block, message, &answer);
    halt::look(halt).into_iter().fold(told, |told, look| told.help(format!("look at it: {look}")))
}

/// True when a commit was made in the halted worktree, after the halt: its record names the worktree, and the halt as the
/// newest entry of a ledger.
fn is_of_the_halted(examined: &ExaminedCommits, commit: CommitId, known: &HaltAndAnswer) -> bool {
    let fact = examined.fact(commit);
    fact.is_some_and(|CommitFact { record, .. }| {
        let worktree = record.worktree.as_deref().unwrap_or(Attempt::MAIN);
        worktree == known.halt.worktree && record.ledger.values().any(|entry| *entry == known.id)
    })
}

/// An answer by deletion that was first seen in an agent's shell: said, so that a person looks at it.
fn by_an_agent(examined: &ExaminedCommits, known: &HaltAndAnswer) -> Option<Diagnostic> {
    let ack = known.ack.as_ref()?;
    let marker = ack.agent.as_ref().filter(|_| ack.how == AckHow::FileDeleted)?;
    let head = ack.head?;
    if !examined.concerns(head) {
        return None;
    }
    let message = format!(
        "the {} halt was answered by deleting {} in the shell of an agent ({marker})",
        known.halt.rule,
        known.halt.report_file.file_name()
    );
    let help = "a person reads the work since then; guard.ack = \"resume\" closes this way";
    Some(violation(examined.at(head), "agent-answer", Level::Block, message, help))
}

/// The rules over the records of the range: a halt that they give and the ledger does not know was removed, or
/// the ledger was not fetched.
fn unrecorded_halts(whole: JudgedRange<'_>, halts: &[HaltAndAnswer], answers: &[Ack]) -> Vec<Diagnostic> {
    let JudgedRange { case, examined } = whole;
    let parents = examined.commits().iter().filter_map(|commit| commit.parents.first().copied());
    let mut lines = Lineages::new(parents);
    let mut violations = Vec::new();
    for (commit, fact) in examined.commits().iter().zip(examined.facts()) {
        let parent = commit.parents.first().copied();
        let mut fold = lines.before(parent, || below(case, parent, answers));
        if !examined.is_bound(commit.id) {
            lines.after(commit.id, fold);
            continue;
        }
        let counts = fold.push(Fact::Commit(Box::new(fact))) != EventEffect::Nothing;
        let decision = range::verdict(fold.timeline(), &case.config.rules, case.config);
        let decision = named_files::named(case.repo, &case.config.paths.rules, fold.timeline(), decision);
        let halted = counts && decision.verdict == Verdict::Halt;
        let rule = decision.findings.first().map_or("", |finding| finding.rule);
        if halted && lines.goes_on(commit.id) && !is_known(examined, commit.id, rule, halts) {
            let message = format!("{rule} halts here, the ledger has no such halt, and the work went on");
            let (at, help) = (examined.at(commit.id), Hint::FetchRecords.text());
            violations.push(violation(at, "unrecorded-halt", Level::Block, message, help));
        }
        if !answer(&mut fold, commit.id, answers) && halted {
            // Said once; the rest of the range is judged by itself.
            fold = case.config.fold();
        }
        lines.after(commit.id, fold);
    }
    violations
}

/// The record of the tip says that the loop was halted there, and no ledger has a halt: it was removed, or not fetched.
fn missing_at_tip(whole: JudgedRange<'_>, halts: &[HaltAndAnswer]) -> Option<Diagnostic> {
    let JudgedRange { case, examined } = whole;
    let fact = examined.fact(case.tip).filter(|_| examined.is_bound(case.tip))?;
    let finding = fact.record.findings.iter().find(|finding| finding.level == Level::Halt)?;
    let rule = finding.rule.clone();
    if is_known(examined, case.tip, &rule, halts) {
        return None;
    }
    let message = format!(
        "the record says that {rule} halted the loop here, and no ledger has the halt: it was removed or not fetched"
    );
    let help = Hint::FetchRecords.led("where no clone has it, a person finds out who removed it");
    Some(violation(Some(examined.at(case.tip)), "missing-ledger", Level::Block, message, help))
}

/// The window below the range, so that a loop does not restart with every range.
pub(super) fn below(case: &Case<'_>, parent: Option<CommitId>, answers: &[Ack]) -> Fold {
    let mut fold = case.config.fold();
    for fact in window::read_window(case.repo, &case.store, parent, WINDOW).facts {
        let id = fact.id;
        fold.push(Fact::Commit(Box::new(fact)));
        if let Some(id) = id {
            answer(&mut fold, id, answers);
        }
    }
    fold
}

/// True when a halt was answered at `commit`; then a new window starts.
fn answer(fold: &mut Fold, commit: CommitId, answers: &[Ack]) -> bool {
    let here = answers.iter().filter(|ack| ack.head == Some(commit));
    here.map(|ack| fold.push(Fact::Ack(Box::new(ack.clone())))).count() > 0
}

/// True when the ledger has a halt at `commit`, or one of the same rule further up: a halt that is owed for commits
/// made while the hooks were off is written at the next hook.
fn is_known(examined: &ExaminedCommits, commit: CommitId, rule: &str, halts: &[HaltAndAnswer]) -> bool {
    halts.iter().any(|known| {
        let here = known.head == Some(commit);
        here || known.halt.rule == rule
            && known.head.is_some_and(|head| on_top_of(examined, commit).contains(&head))
    })
}

/// Branches that are looked at, at the most.
const MAX_BRANCHES: usize = 256;
/// The largest difference between the clocks of those who commit, in seconds.
const CLOCK: i64 = 24 * 3600;
/// Commits of one branch since the halt that are looked at.
const MAX_COMMITS: usize = 4_096;

/// The commits of the range that leave `head`, where another one, there or on a branch of this clone, left it before; with
/// that other one.
pub(super) fn later_ones(
    JudgedRange { case, examined }: JudgedRange<'_>,
    head: CommitId,
) -> Result<Vec<(CommitId, CommitId)>> {
    // Also as a merge: what was halted goes on from there.
    let leaving = examined.commits().iter().filter(|commit| commit.parents.contains(&head));
    let here: Vec<CommitId> = leaving.map(|commit| commit.id).collect();
    if here.is_empty() {
        return Ok(Vec::new());
    }
    let mut all: BTreeSet<(Timestamp, CommitId)> = BTreeSet::new();
    for id in here.iter().copied().chain(elsewhere(case.repo, head)?) {
        all.insert((case.repo.commit(id)?.committed_at, id));
    }
    let Some((_, first)) = all.first().copied() else { return Ok(Vec::new()) };
    Ok(here.into_iter().filter(|id| *id != first).map(|id| (id, first)).collect())
}

/// The commits that leave `head` on any branch.
fn elsewhere(repo: &Repo, head: CommitId) -> Result<Vec<CommitId>> {
    let mut found = Vec::new();
    for tip in tips(repo, head)? {
        // Commits that cannot be compared here, as in a shallow clone, say nothing.
        if tip == head || !repo.is_ancestor(head, tip).unwrap_or(false) {
            continue;
        }
        for id in repo.range(&format!("{head}..{tip}"))?.into_iter().take(MAX_COMMITS) {
            if repo.commit(id)?.parents.contains(&head) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// The tips of branches that can have grown from `head`, the newest where there are many: what is older than it does not. The
/// copy of a remote may be an older state of the branch of its name: that one counts.
fn tips(repo: &Repo, head: CommitId) -> Result<Vec<CommitId>> {
    let local = repo.refs_with_prefix("refs/heads/")?;
    let names: BTreeSet<&str> =
        local.iter().filter_map(|(name, _)| name.strip_prefix("refs/heads/")).collect();
    let remote = repo.refs_with_prefix("refs/remotes/")?;
    let others = remote.iter().filter(|(name, _)| {
        let name = name.strip_prefix("refs/remotes/").and_then(|name| name.split_once('/'));
        name.is_some_and(|(_, name)| name != "HEAD" && !names.contains(name))
    });
    let ids: BTreeSet<CommitId> = local.iter().chain(others).map(|(_, id)| CommitId(*id)).collect();
    let since = repo.commit(head)?.committed_at.0.saturating_sub(CLOCK);
    let made = |id: CommitId| Some((repo.commit(id).ok()?.committed_at, id));
    let mut tips: Vec<_> = ids.into_iter().filter_map(made).filter(|(at, _)| at.0 >= since).collect();
    tips.sort_unstable_by(|one, two| two.cmp(one));
    Ok(tips.into_iter().take(MAX_BRANCHES).map(|(_, id)| id).collect())
}
