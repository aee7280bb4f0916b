//! The arguments of `andon completions` and `andon man`.

use std::path::PathBuf;

use clap::Args;

/// `andon completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
    /// Print instead a function for bash, zsh or fish that runs the configured test commands, as they are typed, as `andon test`
    #[arg(long)]
    pub wrap: bool,
    /// Print the words of the configured commands for that function
    #[arg(long, hide = true)]
    pub words: bool,
}

/// `andon man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The page of this command, such as `agent install`; default: the page of andon itself
    #[arg(value_name = "COMMAND", num_args = 0..)]
    pub command: Vec<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub all: Option<PathBuf>,
}
