//! What people (or agents for them) overrode in a range: dirty bits that were skipped, stop switches that were pulled,
//! halts that were answered, counters that were reset. A skip lifts the demand that it names, so it is never silent: a
//! warning with its reason, and an error where an agent's shell made it or the reason is missing. The rest is reported
//! as notes, so that a reader of the check sees every intervention.

use super::halts::{HaltAndAnswer, LedgerFindings};
use super::{Diagnostic, ExaminedCommits, at, violation};
use crate::view::check::SKIPPED_RULE;
use andon_core::detect;
use andon_core::domain::facts::{Ack, AckHow, CommitFact, Skip};
use andon_core::domain::findings::{HaltReason, Level, ReportFile};
use andon_core::domain::ids::CommitId;
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
    violation(Some(at(commit)), code, level, message, help)
}

/// Whether a rule was passed over for a commit: what that is worth is said by [`skips`].
pub(super) fn passes_over(skipped: &[Skip], rule: &str) -> bool {
    skipped.iter().any(|skip| skip.rule == rule)
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
        AckHow::FileDeleted if halt.reason == HaltReason::UserStop => {
            "by taking STOP or PAUSE away".to_owned()
        }
        AckHow::FileDeleted => format!("by deleting {}", halt.report_file.file_name()),
    };
    let code =
        if halt.report_file == ReportFile::BlockerReport { "cleared-blocker" } else { "answered-halt" };
    (code, format!("the {} halt was answered by {by} {how}{why}", halt.rule))
}

fn note(examined: &ExaminedCommits, head: CommitId, code: &str, message: String) -> Option<Diagnostic> {
    examined
        .concerns(head)
        .then(|| violation(Some(examined.at(head)), code, Level::Note, message, "andon log --events"))
}
