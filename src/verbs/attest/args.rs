//! The arguments of `andon attest`.

use clap::{Args, Subcommand};

use crate::cli::format_arg::JsonArg;

/// `andon attest`
#[derive(Debug, Args)]
#[command(after_help = ATTEST)]
pub struct AttestArgs {
    /// What to attest
    #[command(subcommand)]
    pub command: AttestCommand,
}

/// `andon attest ...`
#[derive(Debug, Subcommand)]
pub enum AttestCommand {
    /// What the record of a commit says about its tests (test-result/v0.1)
    Record {
        /// The commit
        #[arg(value_name = "REV", default_value = "HEAD")]
        revision: String,
        /// Output format; always DSSE, which is JSON
        #[command(flatten)]
        format: JsonArg,
    },
    /// That a range passes `andon check` (svr/v0.2); one that does not emits nothing
    Check {
        /// Commits to judge, such as origin/main..HEAD
        #[arg(value_name = "RANGE")]
        range: String,
        /// Output format; always DSSE, which is JSON
        #[command(flatten)]
        format: JsonArg,
    },
    /// What people decided about a round
    Resolution {
        /// An entry id, or its first digits
        round: String,
        /// Output format; always DSSE, which is JSON
        #[command(flatten)]
        format: JsonArg,
    },
}

const ATTEST: &str = "\
Prints one DSSE envelope with an in-toto Statement v1, signed with the key that git's own set-up names (gpg.format=ssh,
user.signingKey). The signature is that of ssh-keygen -Y sign -n dsse, in base64.";
