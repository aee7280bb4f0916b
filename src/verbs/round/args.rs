//! The arguments of `andon round`.

use clap::{Args, Subcommand};

use crate::cli::format_arg::JsonArg;

/// `andon round`
#[derive(Debug, Args)]
#[command(after_help = ROUND)]
pub struct RoundCommandArgs {
    /// What to do
    #[command(subcommand)]
    pub command: RoundCommand,
}

/// `andon round ...`
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum RoundCommand {
    /// Put a question: `question`, `issuer`, `tags`, `precedent_tags`, `bounty`, `min_witnesses`, `expires_at`, `operators`, `authors`, `revises`
    Open(JsonArg),
    /// Claim or criticise: `round`, `role` (`proposer` or `opposer`), `agent`, `text`
    Say(JsonArg),
    /// Judge: `round`, `agent`, `text`, which ends with a trailer
    Verdict(JsonArg),
    /// End the round: `round`, `paid_to`
    Close(JsonArg),
}

const ROUND: &str = "\
Each reads one JSON object from standard input and answers one on standard output. The trailer of a verdict is its last
```json block: {\"deferred\": false, \"recommendation\": \"...\"}, or {\"deferred\": true} to leave it to people.
Exit codes: 0 done among agents, or more is to come; 1 a person is needed: andon review; 2 bad input, and a trailer that
cannot be read for the first time.";
