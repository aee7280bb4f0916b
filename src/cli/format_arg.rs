//! The option that nearly every verb has.

use clap::Args;

use super::output::Format;

/// `--format`
#[derive(Debug, Clone, Copy, Args)]
pub struct FormatArg {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
