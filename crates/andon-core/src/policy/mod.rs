//! Findings become a decision, and a decision becomes a list of actions.
//!
//! Deciding and acting are separate: a decision is a value that can be shown, compared and tested; only
//! `andon_engine::effect` carries it out (ARCHITECTURE.md).

mod compaction;
mod dirty;
mod plan;
mod respond;
mod suggest;
mod summarize;

pub use compaction::{briefing, compaction, plan_of};
pub use dirty::{Bit, BitReasons, Completion, DirtyBits, Tests, dirty};
pub use plan::{CYCLE, EVIDENCE, HaltPlace, graver, halt, halting, plan};
pub use respond::{FAILED_GATES, Setup, conditions, deadlock_of, next_provider, reminder, responses};
pub use suggest::suggested_actions;
pub use summarize::makers;

use crate::domain::{Decision, Finding, HaltReason, Level, StandingHalt, Verdict};

/// Decides on `findings` (in registry order) while `standing` may bind.
///
/// The verdict is that of the gravest finding, or `Halt` while a halt is unanswered. The reason is that of the
/// unanswered halt, else of the first finding that halts.
pub fn decide(mut findings: Vec<Finding>, standing: Option<StandingHalt>) -> Decision {
    findings.retain(|finding| finding.level > Level::Off);
    // Stable: within a level the registry's order stays.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let gravest = findings.first().map_or(Verdict::Allow, |finding| Verdict::from(finding.level));
    let verdict = if standing.is_some() { Verdict::Halt } else { gravest };
    if verdict == Verdict::Halt {
        for finding in &mut findings {
            finding.detail = finding.detail.clone().while_halted();
        }
    }
    let reason =
        standing.as_ref().map(|standing| standing.halt.reason).or_else(|| primary(&findings).map(reason_of));
    Decision { verdict, reason, findings, standing, halted: None }
}

/// The finding that halts: the first in registry order, when `findings` are as [`decide`] leaves them.
fn primary(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.level == Level::Halt)
}

/// Its reason. A rule without a reason that was configured to halt means "nothing moves".
fn reason_of(finding: &Finding) -> HaltReason {
    finding.reason.unwrap_or(HaltReason::Stalled)
}

#[cfg(test)]
mod tests;
