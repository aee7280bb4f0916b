//! What people said of the halts in a range of commits.

use std::collections::{BTreeMap, BTreeSet};

use super::ladder::{Ladder, Run};
use super::placement::PlacedRuns;
use crate::view::calibration::MistakenHalts;
use andon_config::{self as config, ConfigSource, Layer, MAX_BYTES};
use andon_core::detect;
use andon_core::detect::{ladder as steps, ladder::LADDER};
use andon_core::domain::findings::HaltReason;
use andon_core::domain::ids::CommitId;
use andon_core::domain::paths::CONFIG_FILE;
use andon_core::domain::settings::RuleSettings;
use andon_engine::error::OpsError;
use andon_engine::halts::halt_fates::{self, HaltFate, PastHalt};
use andon_engine::workspace::Workspace;
use andon_git::{Blob, Repo};

/// The good runs, and what people said about the halts among them.
pub(super) struct GoodRuns {
    pub(super) runs: Vec<Run>,
    /// Runs that are no good work: they were halted, and not marked as mistaken.
    pub(super) left_out: u64,
    pub(super) mistaken: MistakenHalts,
}

/// Leaves out the runs that were halted for being stuck and not marked as mistaken; an unanswered halt is one of those.
/// A mistaken halt counts as the halt of a good run, whether the commits alone show it or not, and at every step: it is
/// unknown at which larger counts it would not have come.
pub(super) fn judged(
    ws: &Workspace,
    ladder: &Ladder<'_>,
    mut runs: Vec<Run>,
    placed: &PlacedRuns,
) -> Result<GoodRuns, OpsError> {
    let mut not_good: BTreeSet<usize> = BTreeSet::new();
    let mut wrong: Vec<(usize, PastHalt)> = Vec::new();
    for past in halt_fates::past_halts(ws)?.0 {
        let Some(at) = placed.run_halted_at(ws, past.halt.head)? else { continue };
        match past.fate {
            HaltFate::Mistaken => wrong.push((at, past)),
            HaltFate::Unanswered | HaltFate::Answered if steps::is_stuck(past.halt.reason) => {
                not_good.insert(at);
            }
            HaltFate::Unanswered | HaltFate::Answered => {}
        }
    }
    let mut mistaken = MistakenHalts::default();
    let mut config = Configurations { ws, known: BTreeMap::new() };
    for (at, past) in wrong {
        let rule = ladder.rules().position(|rule| rule.id == past.halt.rule);
        let count = if not_good.contains(&at) {
            &mut mistaken.beside_right_ones
        } else if past.halt.reason == HaltReason::BudgetExceeded {
            &mut mistaken.of_budgets
        } else if past.halt.reason == HaltReason::UserStop {
            // A person made it, and no rule.
            continue;
        } else if let (Some(rule), false) = (rule, config.was_stricter(&past)) {
            if let Some(run) = runs.get_mut(at) {
                run.halted(rule, LADDER.len() - 1);
            }
            &mut mistaken.counted
        } else {
            &mut mistaken.mended
        };
        *count += 1;
    }
    let kept = runs.into_iter().enumerate().filter(|(at, _)| !not_good.contains(at)).map(|(_, run)| run);
    let left_out = u64::try_from(not_good.len()).unwrap_or(u64::MAX);
    Ok(GoodRuns { runs: kept.collect(), left_out, mistaken })
}

/// The rules as halted commits had them.
struct Configurations<'a> {
    ws: &'a Workspace,
    known: BTreeMap<CommitId, Option<RuleSettings>>,
}

impl Configurations<'_> {
    /// Whether the rule was made looser since that halt.
    fn was_stricter(&mut self, past: &PastHalt) -> bool {
        let (Some(rule), Some(head)) = (detect::rule(&past.halt.rule), past.halt.head) else { return false };
        let repo = &self.ws.repo;
        let then = self.known.entry(head).or_insert_with(|| rules_at(repo, head));
        let now = rule.setting(&self.ws.config.rules);
        then.as_ref().is_some_and(|then| steps::is_looser(rule, &rule.setting(then), &now))
    }
}

/// The rules as `andon.toml` of that commit sets them; `None` where that cannot be read.
fn rules_at(repo: &Repo, commit: CommitId) -> Option<RuleSettings> {
    let tree = repo.tree_of(commit).ok()?;
    let Some(blob) = repo.blob_at(tree, CONFIG_FILE.as_bytes()).ok()? else {
        return config::load(&[]).ok().map(|config| config.rules);
    };
    let Blob::Content(text) = repo.read_blob(blob, MAX_BYTES).ok()? else { return None };
    let source = ConfigSource { layer: Layer::Repository, name: CONFIG_FILE.to_owned(), text };
    config::load(&[source]).ok().map(|config| config.rules)
}
