//! pre-push: the tips that leave this clone are judged like a finished task.

use super::error::OpsError;
use super::guard;
use super::workspace::Workspace;
use crate::adapter::git_hook::PushedRef;
use crate::domain::decision::{Decision, Stage};
use crate::domain::ids::CommitId;

/// The judgement of one tip.
pub struct JudgedTip {
    /// The remote ref.
    pub remote_ref: String,
    /// The commit.
    pub tip: CommitId,
    /// What the rules say.
    pub decision: Decision,
}

/// Judges every branch tip that is pushed. Deletions, tags, notes and the ledger pass.
pub fn pre_push(ws: &Workspace, pushed: &[PushedRef]) -> Result<Vec<JudgedTip>, OpsError> {
    let mut judged = Vec::new();
    for (push, tip) in
        pushed.iter().filter(|push| push.is_branch()).filter_map(|push| Some((push, push.tip?)))
    {
        let decision = guard::judge_tip(ws, tip, Stage::PrePush)?;
        judged.push(JudgedTip { remote_ref: push.remote_ref.clone(), tip, decision });
    }
    Ok(judged)
}
