//! The arguments of `andon config`.

use clap::{Args, Subcommand};

use crate::cli::format_arg::FormatArg;

/// `andon config`
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What to do with it
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// `andon config ...`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every key with its value and the file that set it
    Show(ConfigShowArgs),
    /// Check the configuration and name every mistake
    Check(FormatArg),
    /// Print the JSON Schema of andon.toml; json is one line, with the name of its own schema
    Schema(FormatArg),
}

/// `andon config show`
#[derive(Debug, Args)]
pub struct ConfigShowArgs {
    /// Only this key or section, such as test or rules.iteration-cap
    #[arg(value_name = "KEY")]
    pub key: Option<String>,

    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
