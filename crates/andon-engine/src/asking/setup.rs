//! Who signs here, by git's own set-up; and that it is a person.

use std::path::PathBuf;

use crate::context::Context;
use crate::effect::consult;
use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_git::{ConfigScope, GitError, Repo};
use andon_review::payload::vote::VoteSetting;
use andon_signing::{Signer, SigningSetup};
use andon_store::ledger::{AppendError, LedgerError};

/// The key that git would sign commits with.
///
/// # Errors
/// git is not set up to sign with an SSH key.
pub fn signer(ctx: &Context, ws: &Workspace) -> Result<Signer, OpsError> {
    // Asked of git itself, which also knows `git -c` and includes.
    let value = |key: &str| -> Result<Option<String>, GitError> { last(&ws.repo, key) };
    let setup = SigningSetup {
        format: value("gpg.format")?,
        key: value("user.signingKey")?,
        home: ctx.var("HOME").map(PathBuf::from),
        dir: ctx.cwd.clone(),
    };
    Signer::find(&setup).map_err(|err| OpsError::Ledger(LedgerError::Append(AppendError::Signing(err))))
}

fn last(repo: &Repo, key: &str) -> Result<Option<String>, GitError> {
    Ok(repo.config_sources(key)?.pop().map(|found| found.value))
}

/// What is known about the giver of an answer, which goes into the answer: whether there is a terminal, and how many
/// processes above were seen to be no agent's. Where neither is known, readers of the answer see that.
pub fn given(ctx: &Context) -> VoteSetting {
    let unmarked_above = u64::try_from(ctx.unmarked_above()).ok();
    VoteSetting { terminal: Some(consult::has_person()), unmarked_above }
}

/// The person's editor, as git finds it; never one that the repository's configuration names.
///
/// # Errors
/// git's configuration cannot be read.
pub fn editor(ctx: &Context, ws: &Workspace) -> Result<String, OpsError> {
    let set = |name: &str| ctx.var(name).filter(|value| !value.is_empty()).map(str::to_owned);
    if let Some(editor) = set("GIT_EDITOR") {
        return Ok(editor);
    }
    let own = [ConfigScope::System, ConfigScope::Global, ConfigScope::Command];
    let mut configured = ws.repo.config_sources("core.editor")?.into_iter();
    let configured = configured.rfind(|found| own.contains(&found.scope));
    let editor = configured.map(|found| found.value).or_else(|| set("VISUAL")).or_else(|| set("EDITOR"));
    Ok(editor.unwrap_or_else(|| "vi".to_owned()))
}

/// An error in the shell of an agent: people answer, and people name witnesses.
///
/// # Errors
/// A marker of an agent is set.
pub fn not_an_agent(ctx: &Context, verb: &'static str) -> Result<(), OpsError> {
    match ctx.agent_mark() {
        Some(marker) => Err(OpsError::AgentActs { verb, marker }),
        None => Ok(()),
    }
}
