//! `andon agent install CLIENT`, `andon agent uninstall CLIENT`.

use std::path::PathBuf;

use serde::Serialize;

use super::InstallClientArgs;
use crate::install::clients::place::{Roots, Scope, SettingsFile, files, next_step};
use crate::install::clients::{self, InstalledFile, memory::MemoryFile, saved_files::SavedFiles};
use crate::install::steps::{EditRemoval, apply};
use crate::setup::{SetupError, clients as here};
use andon_core::domain::{agent::Client, client_spec::HookMoment};
use andon_core::escape::shell_quote;
use andon_engine::{context::Context, error::OpsError, json};
use andon_git::Repo;

/// The result of an installation: `andon/agent-install@1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientInstall {
    /// The client whose settings they are.
    pub client: Client,
    /// The scope of the settings: project or user.
    pub scope: Scope,
    /// A file of settings was written.
    pub changed: bool,
    /// The program that the hooks start.
    pub program: String,
    pub files: Vec<InstalledFile>,
    /// The memory file of the client; `None` where that is not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<InstalledFile>,
    /// Steps that are left to a person, a sentence each.
    #[serde(rename = "next_steps")]
    pub steps: Vec<String>,
    /// True where nothing was written, as was asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The result of a removal: `andon/agent-uninstall@1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientUninstall {
    /// The client whose settings they are.
    pub client: Client,
    /// The scope of the settings: project or user.
    pub scope: Scope,
    /// True where something was taken out.
    pub changed: bool,
    pub files: Vec<CleanedFile>,
}

/// A file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CleanedFile {
    #[serde(serialize_with = "json::serialize_path")]
    pub path: PathBuf,
    pub state: EditRemoval,
}

/// The command that a client starts at one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventCommand {
    /// The client's name of the event.
    pub event: &'static str,
    /// The moment as people know it.
    pub moment: &'static str,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The same as a shell reads it.
    #[serde(rename = "command")]
    pub line: String,
}

/// A moment as people know it.
fn at(moment: HookMoment) -> &'static str {
    match moment {
        HookMoment::BeforeTool => "before a tool",
        HookMoment::AfterTool => "after a tool",
        HookMoment::TurnEnd => "end of a turn",
        HookMoment::SessionStart => "a session begins",
        HookMoment::Prompt => "a prompt",
        HookMoment::Compacting => "before a compaction",
        HookMoment::Compacted => "after a compaction",
        HookMoment::SettingsChanged => "settings change",
        HookMoment::Answered => "the model has answered",
        HookMoment::Aside => "anything else",
    }
}

/// The commands that `client` has to start, for each event that something follows from.
pub fn commands(ctx: &Context, client: Client, scope: Scope) -> Vec<EventCommand> {
    let program = here::program(ctx, scope);
    let heard = client.spec().events().filter(|(_, moment)| *moment != HookMoment::Aside);
    let one = |(event, moment): (&'static str, HookMoment)| {
        let argv: Vec<String> =
            [program.as_str(), "agent", "hook", client.as_str(), event].map(str::to_owned).into();
        let line = argv.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
        EventCommand { event, moment: at(moment), argv, line }
    };
    heard.map(one).collect()
}

/// The files of settings, and the file that keeps the changes made in them.
struct Target {
    files: Vec<SettingsFile>,
    saved: PathBuf,
    /// None for a user: those files are not read from a repository.
    memory: Option<MemoryFile>,
}

fn target(ctx: &Context, client: Client, scope: Scope) -> Result<Target, OpsError> {
    let repo = match scope {
        Scope::Project => Some(Repo::open(&ctx.cwd, &ctx.repo_env)?),
        Scope::User => None,
    };
    let has_own = |scope| !files(client, scope, &Roots::everywhere()).is_empty();
    let nowhere = || match &repo {
        _ if !has_own(scope) => elsewhere(client, Scope::ALL.into_iter().find(|(other, _)| has_own(*other))),
        Some(repo) => OpsError::NoWorkTree(repo.git_dir().to_owned()),
        None => OpsError::usage(
            "HOME names no directory, so that a user's settings cannot be found",
            "set HOME, or install into the project: --project",
        ),
    };
    let files = files(client, scope, &here::roots(ctx, repo.as_ref()));
    let saved = here::saved_path(ctx, repo.as_ref(), scope).filter(|_| !files.is_empty());
    let top = repo.as_ref().and_then(|repo| Some(repo.workdir()?.to_owned()));
    let memory = top.map(|top| MemoryFile { client, top });
    Ok(Target { files, saved: saved.ok_or_else(nowhere)?, memory })
}

/// A client without settings of the scope that was asked for; `other` is the one of which it has some.
fn elsewhere(client: Client, other: Option<(Scope, &'static str)>) -> OpsError {
    let (title, name) = (client.title(), client.as_str());
    let (what, help) = match other {
        Some((_, scope)) => {
            (format!("{title} has hooks of a {scope} alone"), format!("andon agent install {name} --{scope}"))
        }
        None => (
            format!("where {title} keeps its hooks is not known"),
            "put these commands into its settings: andon agent install --command".to_owned(),
        ),
    };
    OpsError::usage(what, help)
}

/// Installs our hooks. Nothing is changed when it fails.
///
/// # Errors
/// When the settings cannot be read or written.
pub fn install(ctx: &Context, args: &InstallClientArgs) -> Result<ClientInstall, OpsError> {
    let (client, scope) = (args.client.unwrap_or(Client::Generic), args.place.scope());
    let target = target(ctx, client, scope)?;
    let program = here::program(ctx, scope);
    let planned = clients::planned(&target.files, &program, &target.saved).map_err(SetupError::from)?;
    let memory = target.memory.filter(|_| args.memory);
    let line = memory.as_ref().map(MemoryFile::insertion).transpose().map_err(SetupError::from)?.flatten();
    let memory = memory.map(|file| InstalledFile { path: file.path(), changed: line.is_some() });
    if !args.dry_run {
        if let Ok(repo) = Repo::open(&ctx.cwd, &ctx.repo_env) {
            here::by_hand(ctx, &repo);
        }
        planned.make(&target.saved).map_err(SetupError::from)?;
        apply(None, line.as_slice()).map_err(SetupError::from)?;
    }
    let files = planned.outcomes;
    let (changed, dry_run) = (files.iter().any(|file| file.changed), args.dry_run);
    let mut steps: Vec<String> = next_step(client, scope).map(str::to_owned).into_iter().collect();
    if scope == Scope::Project && program != "andon" {
        steps.push(format!(
            "this program is not on the PATH, so that the hooks name {program}, which others do not have: before you \
             commit them, put it on the PATH and install again"
        ));
    }
    Ok(ClientInstall { client, scope, changed, program, files, memory, steps, dry_run })
}

/// Takes our hooks out again.
///
/// # Errors
/// When the settings cannot be read or written.
pub fn uninstall(ctx: &Context, client: Client, scope: Scope) -> Result<ClientUninstall, OpsError> {
    if let Some(marker) = ctx.agent_mark() {
        return Err(OpsError::in_agent_shell("agent uninstall", &marker));
    }
    if let Ok(repo) = Repo::open(&ctx.cwd, &ctx.repo_env) {
        here::by_hand(ctx, &repo);
    }
    let target = target(ctx, client, scope)?;
    // Before the settings: a folder that was made for those is taken away once it is empty.
    let line =
        target.memory.as_ref().map(MemoryFile::removal).transpose().map_err(SetupError::from)?.flatten();
    apply(None, line.as_slice()).map_err(SetupError::from)?;
    let memory = target.memory.map(|file| (file.path(), EditRemoval::of(line.as_ref())));
    let memory = memory.filter(|_| line.is_some());
    let files = clients::uninstall(&target.files, &target.saved).map_err(SetupError::from)?;
    let files = files.into_iter().chain(memory).map(|(path, state)| CleanedFile { path, state });
    let files: Vec<CleanedFile> = files.collect();
    let changed = files.iter().any(|file| file.state != EditRemoval::Nothing);
    Ok(ClientUninstall { client, scope, changed, files })
}

/// Hooks in agents' clients when Andon is taken out of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientRemovals {
    /// The files of the project that they are out of.
    pub taken: Vec<(Client, PathBuf)>,
    /// Hooks that stay, with the command that takes them out, a sentence each.
    pub stay: Vec<String>,
}

/// Takes out what this clone had put into the project's settings of clients. What it did not write, or what holds for
/// all repositories of the user, is named.
///
/// # Errors
/// When settings cannot be read or written.
pub fn take_along(ctx: &Context, repo: &Repo) -> Result<ClientRemovals, OpsError> {
    let mut along = ClientRemovals::default();
    let saved = here::saved_path(ctx, Some(repo), Scope::Project);
    let saved = saved.map(|path| SavedFiles::read(&path)).unwrap_or_default();
    for hooks in here::gather(ctx, Some(repo)) {
        let (client, title) = (hooks.client, hooks.client.title());
        for place in hooks.installed() {
            let command = format!("andon agent uninstall {} --{}", client.as_str(), place.scope.as_str());
            let path = &place.path;
            let own = saved.files.iter().any(|file| file.path.starts_with(path));
            if place.scope == Scope::Project && own {
                let done = uninstall(ctx, client, Scope::Project)?;
                let changed = done.files.into_iter().filter(|file| file.state != EditRemoval::Nothing);
                along.taken.extend(changed.map(|file| (client, file.path)));
                continue;
            }
            let whose = match place.scope {
                Scope::Project => "of the project",
                Scope::User => "for all your repositories",
            };
            along.stay.push(format!("the hooks of andon in the settings of {title} {whose} stay: {command}"));
        }
    }
    Ok(along)
}
