//! The arguments of `andon check`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::format::WantedFormat;
use crate::cli::args::share;
use andon_core::domain::ids::EntryId;

const HELP: &str = "\
Formats:
  text      lines for people
  json      one line of JSON: andon/check@1
  sarif     SARIF 2.1.0, for code scanning
  junit     JUnit XML, a test case for each kind of message
  github    annotations of GitHub Actions
  gitlab    a code quality report of GitLab
  markdown  a summary for a pull request

--test runs test.command of the base of the range, and that of the tip where it is another one; its output goes to
standard error. What a record contradicts, halts and bypasses stay what they are.

With GITHUB_ACTIONS=true, annotations and the job summary are written as well; with GITLAB_CI=true,
andon-code-quality.json and andon-junit.xml.

Ctrl-C ends it with what was found so far and exit code 3; a second one ends it at once.";

/// `andon check`
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct CheckArgs {
    /// Commits to judge, such as origin/main..HEAD; default: the range that CI or pre-commit names
    #[arg(value_name = "RANGE", conflicts_with_all = ["from_ref", "to_ref"])]
    pub range: Option<String>,
    /// The left side of the range; its configuration is the one that counts
    #[arg(long, value_name = "REV", requires = "to_ref")]
    pub from_ref: Option<String>,
    /// The tip of the range
    #[arg(long, value_name = "REV", requires = "from_ref")]
    pub to_ref: Option<String>,
    /// Run the tests of the code at the tip. When they pass, they count as evidence for commits without a record; when they fail, the
    /// check is red
    #[arg(long, conflicts_with_all = ["test_report", "calibration"])]
    pub test: bool,
    /// Take the report of a run that the CI has made at the tip instead; may be given several times
    #[arg(long, value_name = "FILE", requires = "exit_code", conflicts_with = "calibration")]
    pub test_report: Vec<PathBuf>,
    /// How the command of that run ended
    #[arg(long, value_name = "N", requires = "test_report", allow_negative_numbers = true)]
    pub exit_code: Option<i32>,
    /// Prove that a commit (given as RANGE; default HEAD) is the squash of these commits, and judge them
    #[arg(long, value_name = "RANGE", conflicts_with_all = ["from_ref", "to_ref"])]
    pub squash_of: Option<String>,
    /// The ledger whose witnesses must have answered the halts; default: guard.ledger at the base of the range
    #[arg(long, value_name = "ID")]
    pub policy_id: Option<EntryId>,
    /// Trust what an earlier run derived (git directory, andon/cache/derived), to continue one that was stopped
    #[arg(long)]
    pub cached: bool,
    /// Derive the calibration of RANGE (default HEAD) again instead, and say whether the thresholds of andon.toml still
    /// hold its promise: a good run is halted with a chance of SHARE at most
    #[arg(long, value_name = "SHARE", require_equals = true, num_args = 0..=1, default_missing_value = "0.01",
        value_parser = share, conflicts_with_all = ["from_ref", "to_ref", "squash_of", "policy_id", "cached"])]
    pub calibration: Option<f64>,
    /// Threads; default: one per processor
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Output format; may be given several times, each further one with its file
    #[arg(long = "format", value_name = "FORMAT[=FILE]", default_value = "text")]
    pub formats: Vec<WantedFormat>,
}
