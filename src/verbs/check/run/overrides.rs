//! Records of what was passed over: the gate, the hooks of a client, rules, tests that are gone, halts.

use super::{Case, Diagnostic, ExaminedCommits, HaltAndAnswer, LedgerFindings, at, violation};
use andon_core::detect;
use andon_core::domain::{
    Ack, AckHow, CommitFact, CommitId, CommitRecord, Gate, HaltReason, Hint, Level, Recording, ReportFile,
    Skip, agent,
};
use andon_engine::view::check::SKIPPED_RULE;
use andon_git::CommitInfo;

/// The skips of a commit. Records that do not hold have been replaced, and skip nothing.
pub(super) fn skips(commit: &CommitInfo, fact: &CommitFact) -> Vec<Diagnostic> {
    let skipped = fact.record.skipped.iter().filter(|skip| skip.rule != detect::HOOK_BYPASS.id);
    skipped.map(|skip| skipped_rule(commit, skip)).collect()
}

fn skipped_rule(commit: &CommitInfo, skip: &Skip) -> Diagnostic {
    let Skip { rule, reason, agent } = skip;
    let help = "have a person review the commit, then merge it by hand or test it and commit it again";
    let (code, level, message) = match (agent, reason.is_empty()) {
        (Some(marker), _) => {
            let why = if reason.is_empty() { "no reason was given" } else { reason };
            (
                "agent-skip",
                Level::Block,
                format!("{rule} was skipped in the shell of an agent ({marker}): {why}"),
            )
        }
        (None, true) => (
            SKIPPED_RULE,
            Level::Block,
            format!("{rule} was skipped for this commit, and no reason was given"),
        ),
        (None, false) => (SKIPPED_RULE, Level::Warn, format!("{rule} was skipped for this commit: {reason}")),
    };
    violation(at(commit), code, level, message, help)
}

/// Stop switches that were pulled, and answers that were given, at commits of the range or right below it.
pub(super) fn by_people(examined: &ExaminedCommits, ledger: &LedgerFindings) -> Vec<Diagnostic> {
    let LedgerFindings { halts, answers, stop_switches, .. } = ledger;
    let pulled = halts.iter().filter(|known| known.halt.reason == HaltReason::UserStop);
    let pulled = pulled.filter_map(|known| {
        let end = if known.ack.is_some() { "" } else { "; no answer yet" };
        let message = format!("the loop was stopped by hand: {}{end}", known.halt.message);
        note(examined, known.head?, detect::USER_STOP.id, message)
    });
    let answered = answers.iter().filter_map(|ack| {
        let halt = halts.iter().find(|known| Some(known.id) == ack.halt);
        let (code, message) = answer(ack, halt);
        note(examined, ack.head?, code, message)
    });
    let moved = stop_switches.iter().filter_map(|switch| {
        let message = format!("while the loop was halted, by {}: {}", switch.by, switch.message);
        note(examined, switch.head?, detect::USER_STOP.id, message)
    });
    pulled.chain(answered).chain(moved).collect()
}

fn answer(ack: &Ack, halt: Option<&HaltAndAnswer>) -> (&'static str, String) {
    let Ack { by, reason, .. } = ack;
    let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    if let Some(counter) = &ack.counter {
        return ("counter-reset", format!("the counter of {counter} was reset by {by}{why}"));
    }
    let Some(HaltAndAnswer { halt, .. }) = halt else {
        return ("answered-halt", format!("the loop was resumed by {by}{why}"));
    };
    let how = match ack.how {
        _ if ack.provider.is_some() => "as on_stall.policy says".to_owned(),
        AckHow::Resume => "with andon resume".to_owned(),
        AckHow::Unattended => "with andon resume --yes, without a terminal".to_owned(),
        AckHow::Signed => "with a signed resolution".to_owned(),
        AckHow::Unsigned => "without a signature, which ends nothing".to_owned(),
        AckHow::FileDeleted if halt.reason == HaltReason::UserStop => {
            "by taking STOP or PAUSE away".to_owned()
        }
        AckHow::FileDeleted => format!("by deleting {}", halt.report_file.file_name()),
    };
    let not = if ack.how == AckHow::Unsigned { "not " } else { "" };
    let code =
        if halt.report_file == ReportFile::BlockerReport { "cleared-blocker" } else { "answered-halt" };
    (code, format!("the {} halt was {not}answered by {by} {how}{why}", halt.rule))
}

fn note(examined: &ExaminedCommits, head: CommitId, code: &str, message: String) -> Option<Diagnostic> {
    examined.concerns(head).then(|| violation(examined.at(head), code, Level::Note, message, Hint::LogEvents))
}

/// Hooks of Andon ran, and the gate was not among them.
const NOT_RUN: &str = "the gate did not run for the commit";

/// A commit that bypassed the gate, by its record.
pub(super) fn bypassed(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Diagnostic> {
    let by_name = record.skipped.iter().find(|skip| skip.rule == detect::HOOK_BYPASS.id);
    let what = if record.gate == Gate::NotRun { NOT_RUN } else { "the commit bypassed the gate" };
    let by_name = by_name.map(|skip| format!("{what} ({})", skip.reason));
    let (code, what) = match (record.gate, record.kind, record.recording) {
        // Said of the record as a whole.
        (_, _, Recording::Backfilled) => return None,
        (Gate::Bypassed, _, _) => {
            ("bypassed", by_name.as_deref().unwrap_or("the commit bypassed the gate (--no-verify)"))
        }
        (
            Gate::NotRun,
            _,
            Recording::AtCommit | Recording::Moved | Recording::CaughtUp | Recording::Patched,
        ) if by_name.is_some() => {
            // Hooks of Andon ran, and it says which did not.
            ("gate-not-run", by_name.as_deref().unwrap_or_default())
        }
        (Gate::NotRun, _, Recording::CaughtUp) => {
            ("bypassed", "the commit was made while the hooks were off")
        }
        (Gate::NotRun, _, Recording::Patched) => return Some(patch(commit)),
        // A hook recorded it, and git runs no pre-commit for it: a patch, a merge, a step of a rebase.
        (Gate::Passed, _, _)
        | (Gate::NotRun, _, Recording::AtCommit | Recording::Moved | Recording::Derived) => return None,
    };
    let level = detect::bypass_level(&case.config.rules)?;
    let help = "have a person review the commit, then merge it by hand or commit it again with hooks on";
    Some(violation(at(commit), code, level, what.to_owned(), help))
}

/// Nothing was bypassed: no hook of ours exists for what made the commit.
fn patch(commit: &CommitInfo) -> Diagnostic {
    let what = "git am made the commit, which runs the applypatch hooks alone, and post-applypatch was not installed: \
                recorded at a later commit";
    violation(at(commit), "gate-not-run", Level::Note, what.to_owned(), Hint::Doctor)
}

/// A commit by an agent, as its trailers or the shell that made it tell, whose client had no live hook. A record that names no
/// layers says nothing about them.
pub(super) fn unguarded(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Diagnostic> {
    let guarded = |name: &str| record.guards.iter().any(|guard| guard == name);
    let clients = record.guards.iter().filter(|guard| *guard != CommitRecord::GIT).count();
    let (what, name) = match agent::of_trailers(&commit.trailers) {
        _ if record.guards.is_empty() => return None,
        Some(client) if guarded(client.as_str()) => return None,
        Some(client) => {
            (format!("{} made the commit, and its hooks were silent", client.title()), client.as_str())
        }
        None if clients > 0 => return None,
        None => ("an agent made the commit, and no hook of its client was live".to_owned(), "CLIENT"),
    };
    let level = detect::unguarded_level(&case.config.rules)?;
    let help = Hint::AgentInstall.with([name, "project"]);
    Some(violation(at(commit), "unguarded-agent", level, what, &help))
}

/// Characters of a reason that are shown.
const REASON: usize = 120;

/// A commit with a trailer `Tests-Removed`.
pub(super) struct Waiver {
    /// Its place in the range.
    pub(super) place: usize,
    commit: Option<CommitId>,
    pub(super) reason: String,
}

/// All of them, the oldest first.
pub(super) fn waivers(examined: &ExaminedCommits) -> Vec<Waiver> {
    let facts = examined.facts().enumerate();
    let waiver = facts.filter_map(|(place, fact)| {
        Some(Waiver { place, commit: fact.id, reason: fact.record.weakening?.waiver? })
    });
    waiver.collect()
}

/// The message about weakened tests below the tip, with the reason that came later, or with how to give one.
pub(super) fn applied(examined: &ExaminedCommits, said: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let rule = detect::TEST_WEAKENING.id;
    if !said.iter().any(|one| one.code.as_deref() == Some(rule)) {
        return said;
    }
    let (waivers, last) = (waivers(examined), examined.commits().len().saturating_sub(1));
    let apply = |one: Diagnostic| {
        let place = one.commit().and_then(|at| examined.place(at.commit));
        match place {
            Some(place) if one.code.as_deref() == Some(rule) && place < last && !one.help.is_empty() => {
                later(one, waivers.iter().find(|waiver| waiver.place > place))
            }
            Some(_) | None => one,
        }
    };
    said.into_iter().map(apply).collect()
}

/// One that nothing waives in its own commit.
fn later(mut one: Diagnostic, waiver: Option<&Waiver>) -> Diagnostic {
    match waiver {
        Some(Waiver { commit, reason, .. }) => {
            let at = commit.map(|commit| format!(" in {}", commit.short())).unwrap_or_default();
            let reason: String = reason.chars().take(REASON).collect();
            one.message = format!("{}; waived by Tests-Removed{at}: {reason}", one.message);
            one.level = one.level.min(Level::Note);
            one.help.clear();
        }
        None => {
            if let Some(first) = one.help.first_mut() {
                *first = Hint::SayWhyLater.into();
            }
        }
    }
    one
}
