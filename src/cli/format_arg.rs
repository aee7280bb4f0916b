//! The option that nearly every verb has.

use clap::{Args, ValueEnum};

use super::Format;

/// `--format`
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FormatArg {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// `--format` of verbs that only programs call: they take it, and print JSON without it too.
#[derive(Debug, Default, Clone, Copy, Args)]
pub struct JsonArg {
    /// Output format; there is no other
    #[arg(long, value_enum, default_value = "json", hide_possible_values = true)]
    pub format: JsonOnly,
}

/// The one format of such a verb.
#[derive(Debug, Default, Clone, Copy, ValueEnum)]
pub enum JsonOnly {
    /// One line of JSON a document.
    #[default]
    Json,
}
