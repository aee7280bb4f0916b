//! `andon agent`: Andon's hooks in the settings of agents' clients.

pub mod install;
mod launch;

use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::install::{CleanedFile, ClientInstall, ClientUninstall, EventCommand};
use super::agent_hook;
use crate::cli::{Shell, error::Exit, format_arg::FormatArg};
use crate::install::clients::{InstalledFile, SettingsState, memory, place::Scope};
use crate::install::steps::EditRemoval;
use crate::setup::clients::{ClientHooks, Trust, gather};
use andon_core::domain::agent::Client;
use andon_core::escape;
use andon_engine::error::OpsError;
use andon_git::Repo;

/// Runs one of them.
pub fn run(shell: &Shell, args: &AgentArgs) -> Result<Exit, OpsError> {
    match &args.command {
        AgentCommand::Install(args) if args.command => {
            let (client, place) = (args.client.unwrap_or(Client::Generic), &args.place);
            let hooks = install::commands(&shell.ctx, client, place.scope());
            let document = json!({ "client": client, "hooks": hooks });
            shell.show(place.format.format, "agent-command", &document, |_| commands_text(client, &hooks));
        }
        AgentCommand::Install(args) => {
            let report = install::install(&shell.ctx, args)?;
            shell.show(args.place.format.format, "agent-install", &report, |_| install_text(&report));
        }
        AgentCommand::Uninstall(ClientArgs { client, place }) => {
            let report = install::uninstall(&shell.ctx, *client, place.scope())?;
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
    /// Where, and how it is shown
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
    /// Where, and how it is shown
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
        text.push_str("help: andon agent schema  (the members of the JSON)\n");
    }
    text
}
