//! Arguments of `andon agent`.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};

use crate::cli::format_arg::FormatArg;
use crate::install::clients::place::Scope;
use andon_core::domain::agent::Client;

/// `andon agent`
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// What to do
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
    #[command(after_help = AGENT_RUN)]
    Run(AgentRunArgs),
    /// What the hooks of agents' clients call: reads the client's JSON, and answers in the client's way
    #[command(after_help = AGENT_HOOK)]
    Hook(AgentHookArgs),
}

const AGENT_HOOK: &str = "\
It never fails: what cannot be judged passes with a line on standard error, and is refused while a halt waits for an answer. Outside of a
repository, and with ANDON=0, nothing happens.";

const AGENT_RUN: &str = "\
While the loop is halted or stopped, nothing is started and the exit code is 1. The same code ends a run in which the loop came to a
halt; the reason is on standard error. Otherwise the exit code is the client's. Input, output and signals go to the client.

  while andon agent run claude -- -p \"$(cat PROMPT.md)\"; do :; done";

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
    /// Where the hooks are meant to be.
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
