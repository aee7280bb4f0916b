//! Signed answers, derived again: every entry of the ledger, every halt of the range that only a signature ends, and the
//! configuration that asks for it.

use super::{Case, Conclusion, ExaminedCommits, HaltAndAnswer, JudgedRange, halts, of_range, violation};
use andon_config::Guard;
use andon_core::domain::{AckMode, CommitId, Diagnostic, EntryId, Hint, Level, Timestamp};
use andon_engine::asking::{self, HaltAnswer, LedgerFault, SignedLedger, short};
use andon_engine::{Result, gate::outcomes};
use andon_git::Repo;
use andon_review::Vote;
use andon_store::{EntryFault, Fingerprinter, Ledger};

/// The code of every message of this kind.
const CODE: &str = "witness";
/// The violation of an answer without a sign that a person gave it.
const UNSEEN: &str = "unseen-answer";

/// Judges the range against the signed ledger; nothing where neither the base nor the command line asks for one.
pub(super) fn judge(
    whole: JudgedRange<'_>,
    halts: &[HaltAndAnswer],
    policy: Option<EntryId>,
    now: Timestamp,
) -> Result<Conclusion> {
    let JudgedRange { case, examined } = whole;
    let mut judged = Conclusion::default();
    let base = &case.config.guard;
    let Some(id) = policy.or(base.ledger) else { return Ok(judged) };
    judged.violations.extend(replaced(case)?);
    let ledger = asking::open(case.repo, Some(id), now)?;
    if let Some(why) = unusable(&ledger, id) {
        judged.undecided.push(why);
        return Ok(judged);
    }
    let mut faults = asking::faults(case.repo, &ledger);
    faults.extend(asking::rewound(case.repo)?);
    let of_fault = |fault: &LedgerFault| of_range(CODE, fault.level, fault.message.clone(), &fault.help);
    judged.violations.extend(faults.iter().map(of_fault));
    for halt in halts {
        judged.violations.extend(of_halt(whole, &ledger, halt)?);
        judged.violations.extend(left_again(whole, &ledger, halt)?);
        judged.violations.extend(unseen(examined, &ledger, halt));
    }
    let help = Hint::Log.led("ask the person who wrote the entry, and compare it with the records");
    for (entry, what) in outcomes::unlike_records(case.repo, &ledger, case.tip)? {
        judged.violations.push(refused(format!("outcome {}: {what}", short(entry)), &help));
    }
    judged.violations.extend(loosened(case, &ledger, base, case.tip));
    Ok(judged)
}

fn refused(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    of_range(CODE, Level::Block, message, help)
}

/// git shows other objects in place of those that are there. Andon looks behind them; a person who reads with git does
/// not.
fn replaced(case: &Case<'_>) -> Result<Vec<Diagnostic>> {
    let found = case.repo.refs_with_prefix("refs/replace/")?;
    let found = found.iter().filter_map(|(name, _)| name.strip_prefix("refs/replace/"));
    let diagnostic = |id: &str| {
        let short: String = id.chars().take(8).collect();
        let message = format!("refs/replace/{short} is there; nothing was judged through it");
        refused(message, Hint::Unreplace.with([id]))
    };
    Ok(found.map(diagnostic).collect())
}

/// Returns the reason that the ledger cannot be judged, if there is one.
fn unusable(ledger: &SignedLedger, id: EntryId) -> Option<Diagnostic> {
    let is_here = ledger.entries.iter().any(|entry| entry.id == id);
    (!is_here).then(|| {
        Diagnostic::error(format!("the ledger {} is not here", short(id))).code(CODE).help(Hint::FetchRecords)
    })
}

/// A ledger that a shallow clone cuts off: the answers to halts are then unknown.
///
/// # Errors
/// Its refs cannot be read.
pub(super) fn cut_off(repo: &Repo) -> Result<Option<Diagnostic>> {
    if !repo.is_shallow() {
        return Ok(None);
    }
    let faults = Ledger::open(repo).read_whole(&std::collections::HashMap::new())?.faults;
    let is_cut = faults.iter().any(|faulty| faulty.fault == EntryFault::Missing);
    Ok(is_cut.then(|| {
        Diagnostic::error("the ledger is cut off here: this clone is shallow")
            .code(CODE)
            .help(Hint::Unshallow)
    }))
}

/// A halt of the range that later commits followed: it has an answer, and for the code that was halted.
fn of_halt(
    whole: JudgedRange<'_>,
    ledger: &SignedLedger,
    known: &HaltAndAnswer,
) -> Result<Option<Diagnostic>> {
    let JudgedRange { case, examined } = whole;
    let Some(head) = known.head else { return Ok(None) };
    let follows = |commit: &&super::examined_commits::Link| commit.parents.contains(&head);
    let Some(next) = examined.commits().iter().find(follows) else { return Ok(None) };
    // Answers older than the configuration that asks for signatures needed none.
    let asks = |guard: &Guard| guard.ack == AckMode::Signed;
    let asked = asking::guard_at(case.repo, head).is_some_and(|guard| asks(&guard)) || examined.holds(head);
    if !asked {
        return Ok(None);
    }
    let Some(answer) = ledger.answer_to(known.id) else {
        let never =
            || format!("halt {} ({}) was never answered by a witness", short(known.id), known.halt.message);
        let what = ledger.misdirected(known.id).unwrap_or_else(never);
        let help = Hint::ResolveAndSync.with([&short(known.id)]);
        return Ok(Some(refused(what, &help)));
    };
    let used = code_of(whole, head)?;
    Ok(for_other_code(&answer, &used).map(|what| {
        let help = Hint::Flag.with([&short(known.id)]);
        refused(format!("{what} by {}", next.id.short()), &help)
    }))
}

/// The commits that leave a halted one by an answer that another branch has used.
fn left_again(
    whole: JudgedRange<'_>,
    ledger: &SignedLedger,
    known: &HaltAndAnswer,
) -> Result<Vec<Diagnostic>> {
    let (Some(head), Some(answer)) = (known.head, ledger.answer_to(known.id)) else { return Ok(Vec::new()) };
    let again = |(later, first): (CommitId, CommitId)| {
        let (resolution, halted) = (short(answer.resolution), head.short());
        let message = format!(
            "resolution {resolution} lets one branch leave the halted commit {halted}: {} has used it, and {} leaves \
             it, too",
            first.short(),
            later.short()
        );
        let help =
            "go on with one of the two branches; the other needs a halt of its own that a witness answers";
        violation(whole.examined.at(later), CODE, Level::Block, message, help)
    };
    Ok(halts::later_ones(whole, head)?.into_iter().map(again).collect())
}

/// The votes behind the answer to a halt of the range that neither a terminal nor the environment showed to come from a
/// person, with what is known, for the reader of the check.
fn unseen(examined: &ExaminedCommits, ledger: &SignedLedger, known: &HaltAndAnswer) -> Vec<Diagnostic> {
    let concerned = known.head.is_some_and(|head| examined.concerns(head));
    let votes = if concerned { ledger.votes_on(known.id) } else { Vec::new() };
    let of = |vote: &Vote| {
        let name = asking::subject(&ledger.review[vote.entry]);
        let message = format!("{name} by {} was {}", vote.witness, ledger.given(vote.entry)?);
        let help = format!("ask who gave it; see it: {}", Hint::ReviewShow.with([&short(known.id)]));
        Some(of_range(UNSEEN, Level::Note, message, &help))
    };
    votes.into_iter().filter_map(of).collect()
}

fn code_of(JudgedRange { case, examined }: JudgedRange<'_>, head: CommitId) -> Result<String> {
    if let Some(code) = examined.code(head) {
        return Ok(code.to_string());
    }
    let tree = case.repo.tree_of(head)?;
    Ok(Fingerprinter::new(case.repo, &case.config.paths.rules).of_tree(tree)?.to_string())
}

fn for_other_code(answer: &HaltAnswer, used: &str) -> Option<String> {
    let code = answer.code.as_deref().filter(|code| *code != used)?;
    let cut = |text: &str| text.chars().take(8).collect::<String>();
    Some(format!("resolution {} is for code {}, used on {}", short(answer.resolution), cut(code), cut(used)))
}

/// The tip no longer asks for signatures, and no signed policy allows that.
fn loosened(case: &Case<'_>, ledger: &SignedLedger, base: &Guard, tip: CommitId) -> Option<Diagnostic> {
    if base.ack != AckMode::Signed {
        return None;
    }
    let now = asking::guard_at(case.repo, tip);
    let (ack, named) = now.map_or((AckMode::Delete, None), |guard| (guard.ack, guard.ledger));
    let allowed = ledger.folded.authority.at_end.rules.ack == Some(AckMode::Delete);
    let what = match ack {
        AckMode::Delete if allowed => return None,
        AckMode::Delete => "guard.ack: signed -> delete without a signed policy".to_owned(),
        AckMode::Resume => "guard.ack: signed -> resume without a signed policy".to_owned(),
        AckMode::Signed if named == base.ledger => return None,
        AckMode::Signed => "guard.ledger names another ledger than the base".to_owned(),
    };
    let help = Hint::Policy.led("put it back, or have the admins sign a policy with rules.ack = \"delete\"");
    Some(refused(what, help))
}
