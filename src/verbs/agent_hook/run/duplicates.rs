//! An event that two settings files report, the project's and the user's, counts once.

use super::place::Place;
use crate::install::clients::place::{Scope, SettingsFile, files};
use crate::install::clients::programs;
use crate::setup::clients::roots;
use andon_agents::HookPayload;
use andon_core::domain::agent_door::{AgentAction, HookMoment};
use andon_core::domain::client_spec::FileOwner;
use andon_core::domain::ids::ShortHash;
use andon_engine::error::OpsError;

/// Whether another hook of the same client was given this very report, and took it in. Each comes twice where both files start
/// us: every second one is the same.
pub(super) fn is_second(
    place: &Place<'_>,
    (event, moment): (&str, HookMoment),
    payload: &HookPayload,
    report: ShortHash,
) -> Result<bool, OpsError> {
    let has_id = !payload.calls.is_empty() && payload.calls.iter().all(|call| call.used.id.is_some());
    let is_counted = match moment {
        HookMoment::AfterTool => !has_id,
        HookMoment::TurnEnd
        | HookMoment::Prompt
        | HookMoment::SessionStart
        | HookMoment::Compacting
        | HookMoment::Compacted
        | HookMoment::Answered => true,
        HookMoment::BeforeTool | HookMoment::SettingsChanged | HookMoment::Aside => false,
    };
    if !is_counted || !are_both_there(place) {
        return Ok(false);
    }
    let _alone = place.alone();
    let times = place.remembered().heard.get(&report).copied().unwrap_or(0);
    place.remember(AgentAction::Heard, event, Some(report))?;
    Ok(!times.is_multiple_of(2))
}

/// Whether the settings of the project and those of the user start us.
fn are_both_there(place: &Place<'_>) -> bool {
    let roots = roots(place.ctx, Some(&place.ws.repo));
    let starts = |scope| {
        let files = files(place.client, scope, &roots);
        let is_ours = |file: &SettingsFile| file.way != FileOwner::Shared || !programs(file).is_empty();
        files.iter().any(|file| file.path.is_file() && is_ours(file))
    };
    starts(Scope::User) && starts(Scope::Project)
}
