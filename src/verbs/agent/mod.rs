//! `andon agent`: Andon's hooks in the settings of agents' clients.

mod launch;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};

use super::agent_hook;
use crate::cli::{Exit, FormatArg, Shell};
use crate::install::clients::{self, memory, place::files, place::next_step};
use crate::install::{
    EditRemoval, InstalledFile, MemoryFile, Roots, SavedFiles, Scope, SettingsFile, SettingsState,
    steps::apply,
};
use crate::setup::{ClientHooks, Trust, clients as here, clients::gather};
use andon_core::domain::{Client, Hint, HookMoment};
use andon_core::escape::{self, shell_quote};
use andon_engine::{Context, OpsError, Result, json};
use andon_git::Repo;

/// Runs one of them.
pub fn run(shell: &Shell, args: &AgentArgs) -> Result<Exit> {
    match &args.command {
        AgentCommand::Install(args) if args.command => {
            let (client, place) = (args.client.unwrap_or(Client::Generic), &args.place);
            let hooks = commands(&shell.ctx, client, place.scope());
            let document = json!({ "client": client, "hooks": hooks });
            shell.show(place.format.format, "agent-command", &document, |_| commands_text(client, &hooks));
        }
        AgentCommand::Install(args) => {
            let report = install(&shell.ctx, args)?;
            shell.show(args.place.format.format, "agent-install", &report, |_| install_text(&report));
        }
        AgentCommand::Uninstall(ClientArgs { client, place }) => {
            let report = uninstall(&shell.ctx, *client, place.scope())?;
            shell.show(place.format.format, "agent-uninstall", &report, |_| uninstall_text(&report));
        }
        AgentCommand::Run(args) => return launch::run(shell, args.client, &args.arguments),
        // As an editor takes it, or as a document of ours.
        AgentCommand::Schema(format) => {
            let schema: Value = serde_json::from_str(PAYLOAD).unwrap_or_default();
            shell.show(format.format, "agent-payload-schema", &schema, |_| PAYLOAD.to_owned());
        }
        AgentCommand::List(format) => {
            let clients = gather(&shell.ctx, Repo::open(&shell.ctx.cwd, &shell.ctx.repo_env).ok().as_ref());
            let document = json!({ "clients": clients.iter().map(client_json).collect::<Value>() });
            shell.show(format.format, "agents", &document, |_| list_text(&clients));
        }
        AgentCommand::Hook(args) => {
            return Ok(agent_hook::main(shell.ctx.clone(), &args.client, &args.event));
        }
    }
    Ok(Exit::Allowed)
}

/// True for what the hooks of clients call.
pub(super) fn is_hook(args: &AgentArgs) -> bool {
    matches!(args.command, AgentCommand::Hook(_))
}

fn shown(text: &str) -> String {
    escape::terminal(text).into_owned()
}

fn path_text(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

fn install_text(report: &ClientInstall) -> String {
    let (title, scope) = (report.client.title(), report.scope.as_str());
    let (starts, hooks, lines) = if report.dry_run {
        ("would start", "hooks would be added", "lines would be added:")
    } else {
        ("starts", "hooks added", "lines added")
    };
    let line = |file: &InstalledFile, added: &str| {
        format!("  {}: {}\n", path_text(&file.path), if file.changed { added } else { "there" })
    };
    let mut text = if report.changed {
        let files: String = report.files.iter().map(|file| line(file, hooks)).collect();
        format!("{title} {starts} Andon ({scope}):\n{files}")
    } else {
        format!("the hooks are in the settings of {title} already; nothing changed\n")
    };
    if let Some(memory) = &report.memory {
        text.push_str(&line(memory, lines));
        if report.dry_run && memory.changed {
            text.extend(memory::lines(report.client).lines().map(|line| format!("    {line}\n")));
        }
    }
    text.extend(report.steps.iter().map(|step| format!("next: {}\n", shown(step))));
    text
}

fn uninstall_text(report: &ClientUninstall) -> String {
    let cleaned = report.files.iter().filter(|file| file.state != EditRemoval::Nothing);
    let line = |file: &CleanedFile| format!("  {}: {}\n", path_text(&file.path), file.state.as_str());
    let text: String = cleaned.map(line).collect();
    let (title, scope) = (report.client.title(), report.scope.as_str());
    if text.is_empty() {
        format!("no hooks of Andon were in the settings of {title} ({scope})\n")
    } else {
        format!("{title} no longer starts Andon ({scope}):\n{text}")
    }
}

fn state_word(state: &SettingsState) -> &'static str {
    match state {
        SettingsState::Absent => "-",
        SettingsState::Installed => "installed",
        SettingsState::Outdated => "outdated",
        SettingsState::Foreign => "not ours",
        SettingsState::Broken(_) => "broken",
    }
}

fn place_of(hooks: &ClientHooks, scope: Scope) -> Option<&SettingsState> {
    hooks.places.iter().find(|place| place.scope == scope).map(|place| &place.state)
}

fn list_text(clients: &[ClientHooks]) -> String {
    let mut text =
        format!("{:<10} {:<10} {:<10} {:<11} {:<8} heard\n", "client", "project", "user", "trusted", "live");
    for hooks in clients {
        let word = |scope| place_of(hooks, scope).map_or("-", state_word);
        let there = hooks.installed().next().is_some();
        let live = match hooks.live() {
            _ if !there => "-",
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        let trust = if there { hooks.trust.as_str() } else { "-" };
        let heard =
            hooks.heard.map_or_else(|| (if there { "never" } else { "-" }).to_owned(), |at| at.to_string());
        let (name, project, user) = (hooks.client.as_str(), word(Scope::Project), word(Scope::User));
        text.push_str(&format!("{name:<10} {project:<10} {user:<10} {trust:<11} {live:<8} {heard}\n"));
        let broken = hooks.places.iter().filter_map(|place| place.state.problem());
        text.extend(broken.map(|why| format!("  error: {}\n", shown(why))));
        if there {
            text.extend(hooks.steps().iter().map(|step| format!("  help: {}\n", shown(step))));
        }
    }
    text
}

fn client_json(hooks: &ClientHooks) -> Value {
    let places = hooks.places.iter().map(|place| {
        let why = place.state.problem();
        let state = if place.state == SettingsState::Absent { "absent" } else { state_word(&place.state) };
        let scope = place.scope.as_str();
        json!({"scope": scope, "path": place.path.to_string_lossy(), "state": state, "error": why})
    });
    let there = hooks.installed().next().is_some();
    let trusted = match hooks.trust {
        Trust::NotNeeded | Trust::Given => Some(true),
        Trust::Missing => Some(false),
        Trust::Unknown => None,
    };
    json!({
        "client": Client::as_str(hooks.client),
        "title": hooks.client.title(),
        "installed": there,
        "settings": places.collect::<Value>(),
        "missing_program": hooks.missing_program,
        "trusted": trusted.filter(|_| there),
        "live": hooks.live(),
        "heard_at": hooks.heard.map(|at| at.to_string()),
        "next_steps": if there { hooks.steps() } else { Vec::new() },
    })
}

/// `andon agent`
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// `andon agent ...`
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Merge Andon's hooks into the settings of a client; comments, order and what is there are kept
    Install(InstallClientArgs),
    /// Take them out again; the settings are as before, byte for byte
    Uninstall(ClientArgs),
    /// Print the JSON Schema of the payload that `andon agent hook generic` reads, for a client without a row of its own
    Schema(FormatArg),
    /// List the clients: what is installed, what the client trusts, whether it runs the hooks
    List(FormatArg),
    /// Start a client unless the loop is halted, and end with 1 when it is halted afterwards
    Run(AgentRunArgs),
    /// Handle a call from the hooks of agents' clients: read the client's JSON, and answer in the client's way
    Hook(AgentHookArgs),
}

/// `andon agent run`
#[derive(Debug, Args)]
pub struct AgentRunArgs {
    /// The client whose program is started
    #[arg(value_name = "CLIENT", value_parser = client())]
    pub client: Client,
    /// Its arguments. For a client without a program of its own they begin with the program to start
    #[arg(value_name = "ARGS", last = true)]
    pub arguments: Vec<String>,
}

/// `andon agent hook`
#[derive(Debug, Args)]
pub struct AgentHookArgs {
    /// One of the clients
    #[arg(value_name = "CLIENT", help = names())]
    pub client: String,
    /// The client's own name of the event, such as `PreToolUse`
    #[arg(value_name = "EVENT")]
    pub event: String,
}

/// `andon agent install`
#[derive(Debug, Args)]
pub struct InstallClientArgs {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = client(), required_unless_present = "command")]
    pub client: Option<Client>,
    /// The file of settings, and how it is shown
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Print the command of each event, for the settings of any client with hooks, and write nothing; CLIENT is `generic` where it is not given
    #[arg(long, conflicts_with_all = ["memory", "dry_run"])]
    pub command: bool,
    /// Add one marked line about `andon test` to the file that the client gives its model, such as CLAUDE.md or AGENTS.md
    #[arg(long, conflicts_with = "user")]
    pub memory: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `andon agent uninstall`
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = client())]
    pub client: Client,
    /// The file of settings, and how it is shown
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Whose settings are meant.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// In this repository, for everybody who works on it (the default)
    #[arg(long)]
    pub project: bool,
    /// In your own settings, for every repository
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

impl PlaceArgs {
    pub fn scope(&self) -> Scope {
        if self.user { Scope::User } else { Scope::Project }
    }
}

/// The names of the clients, as a sentence lists them.
fn names() -> String {
    let mut names: Vec<&str> = Client::ALL.iter().map(|(_, name)| *name).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} or {last}", names.join(", "))
}

/// Reads the name of a client, and lists all of them in the help.
pub fn client() -> impl clap::builder::TypedValueParser<Value = Client> {
    let unknown = "no client of that name";
    PossibleValuesParser::new(Client::ALL.map(|(_, name)| name))
        .try_map(move |name| Client::from_name(&name).ok_or(unknown))
}

/// The schema of the generic payload.
const PAYLOAD: &str = include_str!("../../../hooks/agents/generic/payload.schema.json");

/// The commands for a person.
fn commands_text(client: Client, hooks: &[EventCommand]) -> String {
    let title = client.title();
    let mut text = format!("{title}: let it start these, with the event as JSON on standard input\n");
    for hook in hooks {
        text.push_str(&format!("  {:<24} {}\n", hook.moment, hook.line));
    }
    text.push_str("exit code 2 refuses; the reason is on standard error\n");
    if client == Client::Generic {
        text.push_str(&format!("help: {}\n", Hint::AgentSchema.led("the members of the JSON")));
    }
    text
}

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

/// The commands that `client` has to start, for each event that something follows from.
pub fn commands(ctx: &Context, client: Client, scope: Scope) -> Vec<EventCommand> {
    let program = here::program(ctx, scope);
    let heard = client.spec().events().filter(|(_, moment)| *moment != HookMoment::Aside);
    let one = |(event, moment): (&'static str, HookMoment)| {
        let argv: Vec<String> =
            [program.as_str(), "agent", "hook", client.as_str(), event].map(str::to_owned).into();
        let line = argv.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
        EventCommand { event, moment: moment.as_str(), argv, line }
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

fn target(ctx: &Context, client: Client, scope: Scope) -> Result<Target> {
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
            (format!("{title} has hooks of a {scope} alone"), Hint::AgentInstall.with([name, scope]))
        }
        None => (format!("where {title} keeps its hooks is not known"), Hint::AgentCommand.into()),
    };
    OpsError::usage(what, help)
}

/// Installs our hooks. Nothing is changed when it fails.
///
/// # Errors
/// When the settings cannot be read or written.
pub fn install(ctx: &Context, args: &InstallClientArgs) -> Result<ClientInstall> {
    let (client, scope) = (args.client.unwrap_or(Client::Generic), args.place.scope());
    let target = target(ctx, client, scope)?;
    let program = here::program(ctx, scope);
    let planned = clients::planned(&target.files, &program, &target.saved)?;
    let memory = target.memory.filter(|_| args.memory);
    let line = memory.as_ref().map(MemoryFile::insertion).transpose()?.flatten();
    let memory = memory.map(|file| InstalledFile { path: file.path(), changed: line.is_some() });
    if !args.dry_run {
        if let Ok(repo) = Repo::open(&ctx.cwd, &ctx.repo_env) {
            here::by_hand(ctx, &repo);
        }
        planned.make(&target.saved)?;
        apply(None, line.as_slice())?;
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
pub fn uninstall(ctx: &Context, client: Client, scope: Scope) -> Result<ClientUninstall> {
    if let Some(marker) = ctx.agent_mark() {
        return Err(OpsError::in_agent_shell("agent uninstall", &marker));
    }
    if let Ok(repo) = Repo::open(&ctx.cwd, &ctx.repo_env) {
        here::by_hand(ctx, &repo);
    }
    let target = target(ctx, client, scope)?;
    // Before the settings: a folder that was made for those is taken away once it is empty.
    let line = target.memory.as_ref().map(MemoryFile::removal).transpose()?.flatten();
    apply(None, line.as_slice())?;
    let memory = target.memory.map(|file| (file.path(), EditRemoval::of(line.as_ref())));
    let memory = memory.filter(|_| line.is_some());
    let files = clients::uninstall(&target.files, &target.saved)?;
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
pub fn take_along(ctx: &Context, repo: &Repo) -> Result<ClientRemovals> {
    let mut along = ClientRemovals::default();
    let saved = here::saved_path(ctx, Some(repo), Scope::Project);
    let saved = saved.map(|path| SavedFiles::read(&path)).unwrap_or_default();
    for hooks in here::gather(ctx, Some(repo)) {
        let (client, title) = (hooks.client, hooks.client.title());
        for place in hooks.installed() {
            let command = Hint::AgentUninstall.with([client.as_str(), place.scope.as_str()]);
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
