//! Arguments and help: one source for both.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum as _};

mod attest;
mod check_format;
mod ranges;
mod resume;
mod review;
mod round;
mod views;
mod witness;

use super::agent_args::AgentArgs;
pub use super::format_arg::FormatArg;
use super::observe_args::OBSERVE;
pub use super::observe_args::{ObserveArgs, ObserveKind, ObserveLinesArgs, ObserveTestRunArgs};
use super::output::ColorChoice;

pub use attest::{AttestArgs, AttestCommand};
pub use check_format::{CheckFormat, WantedFormat};
pub use ranges::{BackfillArgs, CalibrateArgs, CheckArgs, ReplayArgs};
use ranges::{CALIBRATE_EXIT_CODES, CHECK_HELP, STOPPED};
pub use resume::{ReasonArg, ResumeArgs};
pub use review::{AnswerArgs, ReviewArgs, ReviewCommand, SimulateArgs};
pub use round::{RoundCommand, RoundCommandArgs};
use views::WATCH_HELP;
pub use views::{DemoArgs, ExportArgs, LogArgs, ReportArgs, ShowArgs, StatusArgs, WatchArgs};
pub use witness::{LedgerArgs, LedgerCommand, WitnessArgs, WitnessCommand};

/// A circuit breaker for coding loops: records every commit in git notes, refuses code whose tests never ran on
/// exactly that code, and halts a loop that no longer makes progress until a person answers.
#[derive(Debug, Parser)]
#[command(name = "andon", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: ColorChoice,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What `--color` says, for messages about arguments that could not be parsed.
pub fn color(args: &[OsString]) -> ColorChoice {
    let mut args = args.iter().filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--");
    let mut choice = ColorChoice::Auto;
    while let Some(arg) = args.next() {
        let value = if arg == "--color" { args.next() } else { arg.strip_prefix("--color=") };
        choice = value.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or(choice);
    }
    choice
}

const EXIT_CODES: &str = "\
Exit codes:
  0   allowed
  1   blocked or halted, or `check` found a violation
  2   wrong usage or configuration
  3   cannot decide: evidence is missing where it is required
  70  internal error

ANDON=0 switches everything off for one command: `ANDON=0 git commit`.";

const SYNC_EXIT_CODES: &str = "\
Exit codes: 0 both sides agree; 1 the remote refuses a ref, or a ledger was rewritten; 3 it was not reached.";

/// What can be asked of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Install the git hooks; hooks that are already there are still called
    Install(InstallArgs),
    /// Remove the hooks and put back what was there, byte for byte
    Uninstall(UninstallArgs),
    /// List what is installed, what is missing and which ways around the guard are open
    Doctor(DoctorArgs),
    /// Run the tests, pass their output and exit code through, and keep the evidence
    #[command(
        after_help = "Without COMMAND, the configured test.command runs. Only that command proves anything.\n\
                      Options of Andon come before the first ARG: andon test --format json -k NAME"
    )]
    Test(TestArgs),
    /// Show what test reports are read as, what each failure became, and why two reports differ
    Explain(ExplainArgs),
    /// Show where the loop stands: state, last halt, trend of failing tests, evidence
    Status(StatusArgs),
    /// Watch the loops of all worktrees: who needs a person first, then what runs; it never acts on them
    #[command(after_help = WATCH_HELP)]
    Watch(WatchArgs),
    /// List the recorded commits, halts and answers, newest first
    Log(LogArgs),
    /// Show one record in full
    Show(ShowArgs),
    /// Make one HTML page of a range: state, trends, iterations, halts, costs; nothing on it is fetched
    Report(ReportArgs),
    /// Write what is recorded of a range for spreadsheets, trace viewers and collectors
    Export(ExportArgs),
    /// Derive every record of a range again and judge it; for CI
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Show what would have happened: the same rules over existing commits
    #[command(after_help = STOPPED)]
    Replay(ReplayArgs),
    /// Find the strictest thresholds that stop good work with a given chance at most
    #[command(after_help = CALIBRATE_EXIT_CODES)]
    Calibrate(CalibrateArgs),
    /// Record commits made before Andon was installed; existing records are never touched
    #[command(after_help = STOPPED)]
    Backfill(BackfillArgs),
    /// Show whom to ask, and which provider comes next, when the loop is stuck
    #[command(after_help = ADVISE_HELP)]
    Advise(AdviseArgs),
    /// Record what an agent or orchestrator reports: JSON lines on standard input
    #[command(after_help = OBSERVE)]
    Observe(ObserveArgs),
    /// Show how full the agent's context window is; exit code 1 when no new turn may begin
    #[command(after_help = CONTEXT)]
    Context(ContextArgs),
    /// End a turn and decide: exit code 1 when the loop must stop
    Tick(TickArgs),
    /// Install Andon's hooks into the clients of coding agents, and see which of them are live
    Agent(AgentArgs),
    /// Pin the agent's own configuration in andon.toml, so that commits that change it are refused
    #[command(after_help = PIN_HELP)]
    Pin(PinArgs),
    /// Exchange records and halts with a remote: both sides get the union, nothing is overwritten
    #[command(after_help = SYNC_EXIT_CODES)]
    Sync(SyncArgs),
    /// Answer a halt, a stop or a pause, so that work may go on
    Resume(ResumeArgs),
    /// Stop the loop: commits are refused until `andon resume`
    Stop(ReasonArg),
    /// Pause the loop for review: commits are refused until `andon resume`
    Pause(ReasonArg),
    /// Answer rounds that wait for people, signed: show, accept, resolve, panels, precedents
    Review(ReviewArgs),
    /// Put a question to agents, and to people where they cannot agree: JSON on standard input
    Round(RoundCommandArgs),
    /// Name the people who may answer rounds, by their signing keys
    Witness(WitnessArgs),
    /// Verify the ledger of halts and answers
    Ledger(LedgerArgs),
    /// Attest a record, a passed check or a decision to other tools: in-toto statements, signed
    Attest(AttestArgs),
    /// Ask whether this task may be called done: tested, passing, documented
    Complete(FormatArg),
    /// Show, check or describe the configuration
    Config(ConfigArgs),
    /// Run a real loop in a scratch repository, up to its halt and on
    Demo(DemoArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print a manual page
    Man(ManArgs),
    /// What the installed hooks call
    #[command(hide = true, disable_help_flag = true)]
    Hook(HookArgs),
}

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
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
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

/// `andon doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Send a canary through the hook of each agent's client that has Andon's: a tool call that is always refused
    #[arg(long)]
    pub live: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon test`
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Test what is staged, in a checkout of its own: working tree, index and a merge under way stay as they are
    #[arg(long, conflicts_with = "tree")]
    pub staged: bool,
    /// Test this tree, or that of this commit, in the same way
    #[arg(long, value_name = "TREE")]
    pub tree: Option<String>,
    /// Arguments for test.command, such as -k NAME or a path: a part of the tests, which proves nothing
    #[arg(allow_hyphen_values = true, value_name = "ARG", conflicts_with = "command")]
    pub arguments: Vec<OsString>,
    /// A command to run instead of test.command; recorded, but it proves nothing unless it is the same
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Output format, before any argument; with json the tests' own output goes to standard error
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Test reports: files that runners wrote, or their saved output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Exit code of the run
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "N")]
    pub exit_code: i32,
    /// The project's directory when the report was made, once or for each file; default: the current one
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Output format; json is one line a file
    #[command(flatten)]
    pub format: FormatArg,
}

const CONTEXT: &str = "\
Counts come from `andon observe usage`: context_tokens, else input_tokens and cached_tokens (usage.cached), else an
estimate from lines of output. `andon observe compaction` and `andon observe session_start` clear the window.";

/// `andon context`
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// Whose window; default: `ANDON_NODE`, else the node that acted last
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// For an agent's hook before a tool call: silent; exit code 1 at the hard block only
    #[arg(long)]
    pub gate: bool,
    /// Write `.andon/MISSION_BRIEFING.md` now, and print what to tell the next session
    #[arg(long, conflicts_with = "gate")]
    pub brief: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon tick`
#[derive(Debug, Args)]
pub struct TickArgs {
    /// Whose turn ends; default: `ANDON_NODE`. With `guard.applies_to = "agents"` a turn without a node, a session or an
    /// agent's mark is a person's, and counts in no rule
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

const PIN_HELP: &str = "\
--check exits with 1 when something differs or nothing is pinned. Only a person pins; the working tree counts.";

/// `andon pin`
#[derive(Debug, Args)]
pub struct PinArgs {
    /// Compare the working tree with what is pinned, and write nothing
    #[arg(long)]
    pub check: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon sync`
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// A git remote, or an address such as that of a fork; default: the branch's remote, else origin
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Exchange with a bundle file instead: read what it holds, and rewrite it if it lacks something
    #[arg(long, value_name = "FILE", conflicts_with = "remote")]
    pub bundle: Option<PathBuf>,
    /// Fetch only: nothing is pushed, no file is written
    #[arg(long)]
    pub fetch_only: bool,
    /// Take the records of clones that have sent nothing for DAYS (30) over, and remove their refs at the remote
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    #[arg(conflicts_with_all = ["bundle", "fetch_only"])]
    pub fold: Option<u32>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

const ADVISE_HELP: &str = "\
A halt writes .andon/ADVISOR_PROMPT.md. The program that [advisor] of your own configuration names gets it; its answer is
in .andon/ADVISOR_ANSWER.md. The loop stays halted until the answer is recorded or a person resumes.";

/// `andon advise`
#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// The provider at work; default: the first of `fallback.providers`
    #[arg(long, value_name = "NAME")]
    pub current: Option<String>,

    /// Accept the advisor's new approach as the answer to the halt
    #[arg(long, conflicts_with = "current")]
    pub record: bool,

    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

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

/// `andon completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `andon man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The page of this command; default: the page of andon itself
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
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

/// `andon hook`
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The hook's name
    pub name: String,
    /// What git passed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}
