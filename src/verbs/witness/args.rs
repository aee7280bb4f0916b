//! The arguments of `andon witness` and `andon ledger`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::format_arg::FormatArg;

/// `andon witness`
#[derive(Debug, Args)]
pub struct WitnessArgs {
    /// What to do
    #[command(subcommand)]
    pub command: WitnessCommand,
}

/// `andon witness ...`
#[derive(Debug, Subcommand)]
pub enum WitnessCommand {
    /// Make the first policy: your signing key is its only admin and witness
    #[command(after_help = INIT)]
    Init {
        /// What you are called in the ledger, such as human:ann
        #[arg(long, value_name = "human:ID")]
        name: String,
        /// No witness may answer a round that they have a stake in, even while there are only one or two witnesses
        #[arg(long)]
        no_solo: bool,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Grant a key its roles
    Add {
        /// Whose key it is: human:ID, or agent:ID for keys of agents
        who: String,
        /// The .pub file
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// What it may be used for: admin, witness, flag, agent, forge, ci
        #[arg(long, value_name = "ROLES", value_delimiter = ',', default_value = "witness")]
        role: Vec<String>,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Take a key out; what it signed after the last good entries counts no more, whatever its date
    Revoke {
        /// Its fingerprint, its .pub file, or whose it is
        key: String,
        /// The entries up to which it was good; default: everything that is known here
        #[arg(long, value_name = "IDS", value_delimiter = ',')]
        last_good: Vec<String>,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Let a witness begin anew after training: what they decided before no longer counts for their tier
    Reinstate {
        /// Whom, such as human:ann
        who: String,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// List the keys in force
    List {
        /// Print lines for gpg.ssh.allowedSignersFile, so that plain `git verify-commit` verifies entries
        #[arg(long)]
        allowed_signers: bool,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show your own signing key, and what it may be used for
    Key(FormatArg),
    /// Print the next policy as JSON, to be edited; or append it
    Policy {
        /// The edited policy; `-` is standard input
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Sign under a policy or a change of keys that another admin made
    Sign {
        /// Its id, or the first digits
        entry: String,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
}

const INIT: &str = "\
git must be set up to sign with an SSH key (gpg.format=ssh, user.signingKey): a key file, a key of the ssh agent or a
security key. Nothing changes for halts until andon.toml says so.";

/// `andon ledger`
#[derive(Debug, Args)]
pub struct LedgerArgs {
    /// What to do
    #[command(subcommand)]
    pub command: LedgerCommand,
}

/// `andon ledger ...`
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Verify every entry again: signature, role, order, form. Exit code 1 when something is wrong
    Verify(FormatArg),
}
