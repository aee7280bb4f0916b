//! The arguments of `andon install` and `andon uninstall`.

use clap::Args;

use crate::cli::format_arg::FormatArg;

/// How git comes to start Andon.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum InstallMode {
    /// Files of its own where git looks for hooks; hooks that were there are called
    Shim,
    /// Hooks in the repository's git configuration, which no manager overwrites (git 2.54)
    Config,
    /// Marked lines in the hooks of husky
    Husky,
    /// Marked lines in lefthook-local.yml
    Lefthook,
    /// Marked lines in .pre-commit-config.yaml
    PreCommit,
}

/// `andon install`
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// How git starts Andon; default: as installed before, else by what hook manager is there
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<InstallMode>,
    /// Have `git log` show the records (notes.displayRef)
    #[arg(long)]
    pub show_notes: bool,
    /// Have every `git fetch` bring the remotes' records and halts, under names of their own
    #[arg(long)]
    pub fetch: bool,
    /// Have every `git push` of a branch send records and halts along (the default; kept as andon.push in git's
    /// configuration)
    #[arg(long, overrides_with = "no_push")]
    pub push: bool,
    /// Leave sending records to `andon sync`
    #[arg(long)]
    pub no_push: bool,
    /// Print what would be written and set, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon uninstall`
#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Delete the records, the halts and `.andon/` too: the evidence is gone for good
    #[arg(long)]
    pub purge: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}
