//! Reasons that a later commit of the range gives for tests that are gone. A commit that others build on is not amended
//! any more, so that its reason comes in a commit of its own.

use super::{Diagnostic, ExaminedCommits};
use andon_core::detect;
use andon_core::domain::findings::Level;
use andon_core::domain::ids::CommitId;

/// Characters of a reason that are shown.
const REASON: usize = 120;

/// A commit with a trailer `Tests-Removed`.
pub(super) struct Waiver {
    /// Where it is in the range.
    pub(super) place: usize,
    commit: Option<CommitId>,
    pub(super) reason: String,
}

/// All of them, the oldest first.
pub(super) fn collect(examined: &ExaminedCommits) -> Vec<Waiver> {
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
    let (waivers, last) = (collect(examined), examined.commits().len().saturating_sub(1));
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
                detect::SAY_WHY.clone_into(first);
            }
        }
    }
    one
}
