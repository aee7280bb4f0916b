//! The plan that follows from a decision, and the halt as a value.
//!
//! The outcome of one evaluation.

use super::{primary, reason_of, suggest::suggested_actions, summarize::summary};
use crate::domain::{
    Client, CommitId, Decision, Digest, Effect, Evidence, Finding, Halt, HaltEvidence, HaltReach, Level,
    NamedCall, ReportFile, RuleSubject, Timestamp, Verdict,
};
use crate::history::{Outcome, Source, Timeline, outcome};

/// The cycle of a repository without a declared workflow: the self-loop of its one node.
pub const CYCLE: &str = "agent";

/// Hashes of each kind that a halt carries: "loop safety" (docs/spec-map.md) asks for the "last N".
pub const EVIDENCE: usize = 6;

/// The place where a decision was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HaltPlace {
    /// HEAD; `None` before the first commit.
    pub head: Option<CommitId>,
    /// The branch without `refs/heads/`; `None` when detached.
    pub branch: Option<String>,
    /// Name of the worktree; `main` for the main one.
    pub worktree: String,
    pub at: Timestamp,
    /// The client of the agent at work, where its environment says so.
    pub client: Option<Client>,
}

/// The effects of `decision`. A decision to halt writes the report file first and then the ledger entry, so that a
/// death between the two can never look like a person's deletion. While a halt is unanswered there is no new one; but a
/// finding that has become graver since is shown in the file that it asks for (`INFINITE_LOOP` after `HARD_LOOP`).
pub fn plan(decision: &Decision, timeline: &Timeline, place: &HaltPlace) -> Vec<Effect> {
    if decision.verdict != Verdict::Halt {
        return Vec::new();
    }
    let graver = graver(decision).map(|finding| Box::new(halt(finding, timeline, place)));
    let made = decision.halted.clone().or_else(|| halting(decision, timeline, place));
    let Some(halt) = made.or(graver) else { return Vec::new() };
    let shown = Effect::WriteReportFile { halt: halt.clone(), story: Box::new(timeline.story()) };
    if decision.standing.is_some() { vec![shown] } else { vec![shown, Effect::RecordHalt(halt)] }
}

/// The halt that `decision` makes at `place`; `None` while an older one is unanswered.
pub fn halting(decision: &Decision, timeline: &Timeline, place: &HaltPlace) -> Option<Box<Halt>> {
    if decision.verdict != Verdict::Halt || decision.standing.is_some() {
        return None;
    }
    primary(&decision.findings).map(|finding| Box::new(halt(finding, timeline, place)))
}

/// A finding behind a halt of the same rule that asks for a blocker report, which this halt does not have.
pub fn graver(decision: &Decision) -> Option<&Finding> {
    let standing = decision.standing.as_ref()?;
    let halts = decision.findings.iter().filter(|finding| finding.level == Level::Halt);
    let mut graver = halts.filter(|finding| {
        let shown = standing.halt.report_file == ReportFile::BlockerReport;
        finding.rule == standing.halt.rule && finding.report_file == ReportFile::BlockerReport && !shown
    });
    graver.next()
}

/// The halt that `finding` makes: the payload of `loop.halted` (docs/spec-map.md, loop safety: required output on stall).
pub fn halt(finding: &Finding, timeline: &Timeline, place: &HaltPlace) -> Halt {
    Halt {
        cycle_id: cycle_id(timeline),
        reason: reason_of(finding),
        rule: finding.rule.to_owned(),
        message: finding.message(),
        figures: finding.detail.figures.clone(),
        report_file: finding.report_file,
        evidence: HaltEvidence { calls: calls(finding), ..evidence(timeline) },
        summary: Box::new(summary(finding, timeline, place.client)),
        suggested_actions: suggested_actions(finding, timeline),
        iteration: timeline.counted(),
        head: place.head,
        branch: place.branch.clone(),
        worktree: place.worktree.clone(),
        base: timeline.iterations.iter().find(|one| one.commit.is_some()).and_then(|one| one.parent),
        // Seen where it is recorded.
        beside: Vec::new(),
        binds: binds(finding, timeline),
        at: place.at,
    }
}

/// Turns, calls and outputs leave no commit that another worktree could build on. Commits and their tests do, where the
/// newest iteration is one.
fn binds(finding: &Finding, timeline: &Timeline) -> HaltReach {
    let of_code = [RuleSubject::Iterations, RuleSubject::Tests, RuleSubject::Attempts];
    let by_commits = of_code.contains(&finding.about.judges)
        && timeline.newest().is_none_or(|newest| newest.source == Source::Commit);
    if by_commits { HaltReach::Line } else { HaltReach::Worktree }
}

/// The cycle of the node that acted last.
fn cycle_id(timeline: &Timeline) -> String {
    let node = timeline.newest().map(|newest| newest.node.as_str());
    let node = timeline.activity.newest_turn().map(|turn| turn.node.as_str()).or(node);
    let cycle = node.and_then(|node| timeline.workflow.cycle_of(node));
    cycle.map_or_else(|| CYCLE.to_owned(), |cycle| cycle.id.clone())
}

/// Returns the newest outputs of the nodes, turn by turn; where nothing was observed, the outputs in the records.
fn outputs(timeline: &Timeline) -> Vec<Digest> {
    let hashes: Vec<Digest> = timeline.activity.outputs.iter().map(|output| output.hash).collect();
    if hashes.is_empty() {
        timeline.iterations.iter().flat_map(|iteration| iteration.outputs.iter().copied()).collect()
    } else {
        hashes
    }
}

/// The tool calls that a finding is about.
fn calls(finding: &Finding) -> Vec<NamedCall> {
    let call = |one: &Evidence| if let Evidence::Call(call) = one { Some(call.clone()) } else { None };
    finding.evidence.iter().filter_map(call).collect()
}

fn evidence(timeline: &Timeline) -> HaltEvidence {
    let iterations = &timeline.iterations;
    let failures = iterations
        .iter()
        .filter_map(|iteration| iteration.tests.as_ref())
        .filter(|tests| matches!(outcome(tests), Outcome::Red | Outcome::Stopped));
    HaltEvidence {
        diffs: newest(iterations.iter().map(|iteration| iteration.diff.hash).collect()),
        tests: newest(failures.map(|tests| tests.signature).collect()),
        outputs: newest(outputs(timeline)),
        calls: Vec::new(),
        trend: timeline.trend_of_attempts(),
    }
}

fn newest<T>(mut all: Vec<T>) -> Vec<T> {
    all.drain(..all.len().saturating_sub(EVIDENCE));
    all
}
