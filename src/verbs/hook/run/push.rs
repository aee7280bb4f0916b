//! pre-push: the tips that leave this clone are judged like a finished task.

use andon_core::domain::decision::Decision;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::CommitId;
use andon_engine::adapter::git_hook::PushedRef;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::gate::guard;
use andon_engine::workspace::Workspace;

/// The judgement of one tip.
pub struct JudgedTip {
    /// The remote ref.
    pub remote_ref: String,
    /// The commit that is pushed to it.
    pub tip: CommitId,
    /// What the rules say.
    pub decision: Decision,
}

/// Judges every branch tip that is pushed, and says what was skipped on the way. Deletions, tags, notes and the
/// ledger pass.
pub fn pre_push(
    ctx: &Context,
    ws: &Workspace,
    pushed: &[PushedRef],
) -> Result<(Vec<JudgedTip>, Vec<Diagnostic>), OpsError> {
    let (mut judged, mut warnings) = (Vec::new(), Vec::<Diagnostic>::new());
    for (push, tip) in
        pushed.iter().filter(|push| push.is_branch()).filter_map(|push| Some((push, push.tip?)))
    {
        let (decision, skipped) = guard::judge_tip(ctx, ws, tip, push.there)?;
        for warning in skipped {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        judged.push(JudgedTip { remote_ref: push.remote_ref.clone(), tip, decision });
    }
    Ok((judged, warnings))
}
