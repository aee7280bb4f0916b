//! The arguments of `andon demo`.

use std::path::PathBuf;

use clap::Args;

/// `andon demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the scratch repository in DIR, which must be new or empty
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}
