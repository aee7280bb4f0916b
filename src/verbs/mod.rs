//! The verbs, a folder each: `args` is what is asked, `run` finds it out, `text` shows it, and `mod.rs` leads from one to
//! the next, down to the exit code. A verb shares nothing with another but through the crates, and through `view`, `json` and
//! `report` where several show the same. A new one is a folder, its `mod` line and its line of the registry.

pub mod advise;
pub mod agent;
pub mod agent_hook;
pub mod attest;
pub mod backfill;
pub mod calibrate;
pub mod check;
pub mod complete;
pub mod config;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod generated;
pub mod hook;
pub mod install;
pub mod log;
pub mod observe;
pub mod pin;
pub mod replay;
pub mod report;
pub mod resume;
pub mod review;
pub mod round;
pub mod show;
pub mod status;
pub mod sync;
pub mod test;
pub mod tick;
pub mod watch;
pub mod witness;

use clap::Subcommand;

use crate::cli::{Exit, FormatArg, Shell, args::with_arguments};
use andon_core::domain::Diagnostic;
use andon_engine::Result;

/// The commands of the program, each with the function that answers, in the groups and the order of `andon --help`.
macro_rules! registry {
    ($($title:literal: $($(#[$about:meta])* $verb:ident($args:ty) => $run:path, $is_off:path;)*)*) => {
        /// The verbs of the program.
        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        pub(crate) enum Command {
            $($($(#[$about])* $verb($args),)*)*
            /// The entry of the installed hooks
            #[command(hide = true, disable_help_flag = true)]
            Hook(hook::HookArgs),
        }

        /// The verbs of each group.
        pub(crate) const GROUPS: &[(&str, &[&str])] = &[$(($title, &[$(stringify!($verb)),*])),*];

        /// The function that adds the arguments of a verb to its command.
        pub(crate) fn arguments_of(name: &str) -> Option<fn(clap::Command) -> clap::Command> {
            match name {
                $($(name if name.eq_ignore_ascii_case(stringify!($verb)) => Some(with_arguments::<$args>),)*)*
                "hook" => Some(with_arguments::<hook::HookArgs>),
                _ => None,
            }
        }

        impl Command {
            /// True when the master switch turns the command off: it takes facts in, or tells the loop whether it may go on. What
            /// a person runs to look, to set up or to answer is still there. A git hook knows the switch itself: the hooks before
            /// it run all the same.
            fn obeys_the_switch(&self) -> bool {
                match self {
                    $($(Self::$verb(args) => $is_off(args),)*)*
                    Self::Hook(args) => stays_on(args),
                }
            }
        }

        /// Answers. While `ANDON=0` is set, what observes or judges the loop does nothing.
        pub(crate) fn dispatch(shell: &Shell, command: &Command) -> Result<Exit> {
            if shell.ctx.is_switched_off() && command.obeys_the_switch() {
                return Ok(switched_off(shell, command));
            }
            if command.obeys_the_switch() {
                round::expire_first(&shell.ctx);
            }
            match command {
                $($(Command::$verb(args) => $run(shell, args),)*)*
                Command::Hook(args) => hook::run(shell, args),
            }
        }
    };
}

/// The command is there whatever the master switch says.
fn stays_on<A>(_: &A) -> bool {
    false
}

/// The master switch turns the command off.
fn goes_off<A>(_: &A) -> bool {
    true
}

/// Lets everything pass. Only tests that did not run are worth a word: the exit code could be taken for theirs.
fn switched_off(shell: &Shell, command: &Command) -> Exit {
    if matches!(command, Command::Test(_)) {
        let what = "ANDON=0 switches andon off: no tests were run";
        let said = Diagnostic::note(what).help("unset ANDON, or run the test command itself");
        shell.tell(&[said]);
    }
    Exit::Allowed
}

registry! {
    "Set up":
    /// Install the git hooks; hooks that are already there are still called
    Install(install::InstallArgs) => install::install, stays_on;
    /// Remove the hooks and put back what was there, byte for byte
    Uninstall(install::UninstallArgs) => install::uninstall, stays_on;
    /// Install Andon's hooks into the clients of coding agents, and see which of them are live
    Agent(agent::AgentArgs) => agent::run, agent::is_hook;
    /// List what is installed, what is missing and which ways around the guard are open
    Doctor(doctor::DoctorArgs) => doctor::run, stays_on;
    /// Show, check or describe the configuration
    Config(config::ConfigArgs) => config::run, stays_on;
    /// Pin the agent's own configuration in andon.toml, so that commits that change it are refused
    Pin(pin::PinArgs) => pin::run, stays_on;
    /// Show a real loop from start to halt and back, in a scratch repository
    Demo(demo::DemoArgs) => demo::run, stays_on;
    "Work":
    /// Run the tests, pass their output and exit code through, and keep the evidence
    #[command(visible_alias = "t")]
    Test(test::TestArgs) => test::run, goes_off;
    /// Check whether the task is done: tested, passing, documented
    Complete(FormatArg) => complete::run, goes_off;
    /// Show the state of the loop: iterations, last halt, trend of failing tests, evidence
    Status(status::StatusArgs) => status::run, stays_on;
    /// Watch the loops of all worktrees: who needs a person first, then what runs; `R` answers a halt
    Watch(watch::WatchArgs) => watch::run, stays_on;
    /// List the recorded commits, halts and answers, newest first
    Log(log::LogArgs) => log::run, stays_on;
    /// Show one record in full
    Show(show::ShowArgs) => show::run, stays_on;
    /// Make one HTML page of a range: state, trends, iterations, halts, costs; nothing on it is fetched
    Report(report::ReportArgs) => report::run, stays_on;
    /// Show what test reports are read as, what each failure became, and why two reports differ
    Explain(explain::ExplainArgs) => explain::run, stays_on;
    "Answer a halt":
    /// Answer a halt, a stop or a pause, so that work may go on
    Resume(resume::ResumeArgs) => resume::resume, stays_on;
    /// Stop the loop: commits are refused until `andon resume`
    Stop(resume::ReasonArg) => resume::stop, stays_on;
    /// Pause the loop for review: commits are refused until `andon resume`
    Pause(resume::ReasonArg) => resume::pause, stays_on;
    /// Show who can help and which provider to try next
    Advise(advise::AdviseArgs) => advise::run, stays_on;
    /// Answer rounds that wait for people, signed: show, accept, resolve, panels, precedents
    Review(review::ReviewArgs) => review::run, stays_on;
    /// Name the people who may answer rounds, by their signing keys
    Witness(witness::WitnessArgs) => witness::run, stays_on;
    "Share and check":
    /// Verify a range of commits: derive every record again and judge it (for CI)
    Check(check::CheckArgs) => check::run, stays_on;
    /// Export the records of a range as CSV, a trace or OTLP
    Export(export::ExportArgs) => export::run, stays_on;
    /// Attest a record, a passed check or a decision to other tools: in-toto statements, signed
    Attest(attest::AttestArgs) => attest::run, stays_on;
    /// Verify the ledger of halts and answers
    Ledger(witness::LedgerArgs) => witness::ledger, stays_on;
    /// Exchange records and halts with a remote: both sides get the union, nothing is overwritten
    Sync(sync::SyncArgs) => sync::run, stays_on;
    /// Show what would have happened: the same rules over existing commits
    Replay(replay::ReplayArgs) => replay::run, stays_on;
    /// Find the strictest thresholds that stop good work with a given chance at most
    Calibrate(calibrate::CalibrateArgs) => calibrate::run, stays_on;
    /// Record commits made before Andon was installed; existing records are never touched
    Backfill(backfill::BackfillArgs) => backfill::run, stays_on;
    "Agents and shells":
    /// Record what an agent or orchestrator reports: JSON lines on standard input
    Observe(observe::ObserveArgs) => observe::run, goes_off;
    /// Put a question to agents, and to people where they cannot agree: JSON on standard input
    Round(round::RoundCommandArgs) => round::run, goes_off;
    /// End a turn and decide: exit code 1 when the loop must stop, 4 when it must compact first
    Tick(tick::TickArgs) => tick::run, goes_off;
    /// Show how full the agent's context window is; exit code 1 when no new turn may begin
    Context(context::ContextArgs) => context::run, goes_off;
    /// Print the completions of a shell
    Completions(generated::CompletionsArgs) => generated::completions, stays_on;
    /// Print a manual page
    Man(generated::ManArgs) => generated::man, stays_on;
}
