//! Arguments of `andon agent`.

use clap::{Args, Subcommand};

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
    /// What the hooks of agents' clients call: reads the client's JSON, and answers in the client's way
    #[command(after_help = AGENT_HOOK)]
    Hook(AgentHookArgs),
}

const AGENT_HOOK: &str = "\
It never fails: what cannot be judged passes with a line on standard error, and is refused while a halt stands. Outside of a
repository, and with ANDON=0, nothing happens.";

/// `andon agent hook`
#[derive(Debug, Args)]
pub struct AgentHookArgs {
    /// claude, codex, gemini, qwen, copilot, cursor, opencode, cline, openhands or goose
    #[arg(value_name = "CLIENT")]
    pub client: String,
    /// The client's own name of the event, such as `PreToolUse`
    #[arg(value_name = "EVENT")]
    pub event: String,
}
