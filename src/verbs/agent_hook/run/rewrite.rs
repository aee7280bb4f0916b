//! Calls that run with other arguments: the configured test command becomes `andon test`, and Gemini's shell gets git's
//! hooks back.

use super::place::{Place, hooks_dir};
use crate::install::clients::place::Scope;
use crate::plain_run::{at_work, configured};
use crate::setup::clients::program;
use crate::verbs::agent_hook::text as words;
use andon_agents::ruling::{as_andon_test, runs_git};
use andon_agents::{self as agent, HookPayload, Instruction};
use andon_core::domain::agent_door::ToolKind;
use andon_core::escape::shell_quote;

/// What a call of the shell becomes.
pub(super) fn of_call(place: &Place<'_>, event: &str, payload: &HookPayload) -> Instruction {
    let Some(call) = payload.calls.first().filter(|call| call.used.kind == ToolKind::Shell) else {
        return Instruction::Nothing;
    };
    let Some(given) = call.args.as_ref().filter(|_| agent::rewrites(place.client, event)) else {
        return Instruction::Nothing;
    };
    let (mut args, mut is_changed, mut note) = (given.clone(), false, None);
    // The shell says it then.
    let deaf = place.client.spec().habits.deaf_before_tools;
    for script in &call.used.commands {
        let tested = tested(place, payload, script);
        let told = tested.as_deref().map(words::turned);
        let now = with_hooks(place, tested.as_deref().unwrap_or(script)).or(tested);
        let now = match &told {
            Some(told) if deaf => now.map(|now| format!("printf '%s\\n' {} >&2; {now}", shell_quote(told))),
            Some(_) | None => now,
        };
        let Some(changed) = now.and_then(|now| agent::with_command(&args, script, &now)) else { continue };
        (args, is_changed) = (changed, true);
        note = note.or(told);
    }
    if is_changed { Instruction::Rewrite(args, note.filter(|_| !deaf)) } else { Instruction::Nothing }
}

fn tested(place: &Place<'_>, payload: &HookPayload, script: &str) -> Option<String> {
    let tests = configured(place.ws);
    let program = shell_quote(&program(place.ctx, Scope::Project));
    at_work((place.ctx, place.ws), payload.cwd.as_deref(), |at| as_andon_test(script, &tests, at, &program))
}

/// Gemini's shell switches git's hooks off: a command that runs git there gets the repository's own hooks back.
fn with_hooks(place: &Place<'_>, script: &str) -> Option<String> {
    if !place.client.spec().habits.shell_without_hooks || !runs_git(script) {
        return None;
    }
    let hooks = hooks_dir(place.ws)?.to_string_lossy().into_owned();
    // A path that would need quotes within quotes stays as it is: the catch-up after the tool still records.
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "/._-+@ ,:".contains(c));
    // The shell does not say which session it is of.
    let session = place.session.as_deref().filter(|session| plain(session) && !session.is_empty());
    let session = session.map_or_else(String::new, |session| format!(" ANDON_SESSION='{session}'"));
    plain(&hooks)
        .then(|| format!("export GIT_CONFIG_PARAMETERS=\"'core.hooksPath={hooks}'\"{session}; {script}"))
}
