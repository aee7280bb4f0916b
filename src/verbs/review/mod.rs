//! `andon review`: rounds put to people.

mod act;
pub mod rounds;
pub mod show;
mod standing;
mod template;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use self::act::{Act, ActReport};
use crate::cli::{Exit, Format, FormatArg, Shell, args::read_bytes};
use crate::verbs::round;
use andon_core::domain::Timestamp;
use andon_engine::{OpsError, Result, Workspace, asking, json};
use andon_review::simulation;

/// `andon review`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ReviewArgs {
    /// Command to run; without it the rounds that wait are listed, oldest first
    #[command(subcommand)]
    pub command: Option<ReviewCommand>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon review ...`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Show a round in the order in which it is to be read, and what is known about it
    Show(RoundArgs),
    /// Take a round: its clock starts
    Accept(RoundArgs),
    /// Answer a round, signed; without --from and --decision an editor opens with a template
    Resolve(AnswerArgs),
    /// Ask for a panel of three
    Panel(ReasonedArgs),
    /// Commit to your vote on a panel; it stays secret until all members have committed
    Ballot(AnswerArgs),
    /// Open the vote that you committed to
    Reveal(RoundArgs),
    /// Say that a decision, or a round that agents closed among themselves, was wrong
    Flag(ReasonedArgs),
    /// Show what people decided before, newest first; dissent is marked as such
    Precedents {
        /// A topic
        #[arg(long)]
        tag: Option<String>,
        /// Words that all must be in the question or the reasons
        text: Vec<String>,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show what witnesses flagged about the rules themselves
    Concerns(FormatArg),
    /// Show the standing of witnesses: tier, reputation, what is left of today, attention
    Status {
        /// One witness, such as human:ann
        witness: Option<String>,
        /// Show the result of the whole ledger, as simulate shows it of a file
        #[arg(long, conflicts_with = "witness")]
        ledger: bool,
        /// Output format
        #[command(flatten)]
        format: FormatArg,
    },
    /// Fold ledger entries of a file: who may act, what was decided, reputations, accounts. Reads no repository
    Simulate(SimulateArgs),
}

/// The name of a round.
#[derive(Debug, Args)]
pub struct RoundArgs {
    /// An entry id, its first digits, or `halt` for the unanswered halt here
    pub round: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// A round, and why.
#[derive(Debug, Args)]
pub struct ReasonedArgs {
    /// An entry id, its first digits, or `halt` for the unanswered halt here
    pub round: String,
    /// Why
    #[arg(short, long, value_name = "TEXT")]
    pub reason: String,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// An answer to a round, by an editor, a file or flags.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// An entry id, its first digits, or `halt` for the unanswered halt here
    pub round: String,
    /// The filled template, or JSON; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "decision")]
    pub from: Option<PathBuf>,
    /// `accept_proposer`, `accept_opposer`, `accept_synthesis`, `amend` or `reject_round`
    #[arg(long, requires = "rationale")]
    pub decision: Option<String>,
    /// Why, in one to three sentences
    #[arg(long, value_name = "TEXT", requires = "decision")]
    pub rationale: Option<String>,
    /// For amend: what is to be done instead
    #[arg(long, value_name = "TEXT", requires = "decision")]
    pub amended_recommendation: Option<String>,
    /// A claim that was checked: true, false or unverifiable; the claim; the source. May be given several times
    #[arg(long, num_args = 3, value_names = ["VERDICT", "CLAIM", "SOURCE"], requires = "decision")]
    pub factual_check: Vec<String>,
    /// Judgement on whether the critique only decorates agreement (yes or no), and the reason
    #[arg(long, num_args = 2, value_names = ["YES|NO", "WHY"], requires = "decision")]
    pub sycophancy: Vec<String>,
    /// The rules are wrong: what, in which direction (increase, decrease, tension), and why
    #[arg(long, num_args = 3, value_names = ["SUBJECT", "DIRECTION", "WHY"], requires = "decision")]
    pub concern: Vec<String>,
    /// The strongest claim, and the strongest critique
    #[arg(long, num_args = 2, value_names = ["CLAIM", "CRITIQUE"], requires = "decision")]
    pub strongest: Vec<String>,
    /// The agent whose mistake it was
    #[arg(long, value_name = "AGENT", requires = "decision")]
    pub attributed_to: Option<String>,
    /// For a halt: it was wrong, the loop was not stuck; counted by rule (andon status --rules), known to calibrate
    #[arg(long, requires = "decision")]
    pub mistaken: bool,
    /// A topic. May be given several times
    #[arg(long, value_name = "TAG", requires = "decision")]
    pub tag: Vec<String>,
    /// Time that you worked on it, in seconds; default: since you accepted it
    #[arg(long, value_name = "N", requires = "decision")]
    pub time_spent_seconds: Option<u64>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon review simulate`
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Entries, one JSON object a line
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The reader's clock: seconds since 1970, or RFC 3339
    #[arg(long, value_name = "T", value_parser = time, allow_negative_numbers = true)]
    pub now: Timestamp,
    /// Whose private notices to show, such as human:ann
    #[arg(long = "as", value_name = "WITNESS")]
    pub reader: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Beyond this no reader of JSON has whole numbers.
const FARTHEST: i64 = 1 << 53;

fn time(text: &str) -> Result<Timestamp, String> {
    let time = match text.parse::<i64>() {
        Ok(seconds) => Timestamp(seconds),
        Err(_) => text.parse::<Timestamp>().map_err(|err| err.to_string())?,
    };
    if (-FARTHEST..=FARTHEST).contains(&time.0) {
        Ok(time)
    } else {
        Err("must be a time in seconds since 1970".to_owned())
    }
}

/// The largest file of entries that is read, in bytes: some 100,000 rounds.
const MAX_ENTRIES: u64 = 256 << 20;

pub fn run(shell: &Shell, args: &ReviewArgs) -> Result<Exit> {
    let ctx = &shell.ctx;
    let open = || {
        let ws = Workspace::open_lenient(ctx)?;
        // There is no daemon: the next command finds a round whose time is up.
        round::expire(ctx, &ws)?;
        Ok::<_, OpsError>(ws)
    };
    let told = |acted: ActReport, format: FormatArg| {
        shell.show(format.format, "review-act", &acted, |_| act::acted_text(&acted));
    };
    match &args.command {
        None => list(shell, &open()?, args.format.format)?,
        Some(ReviewCommand::Show(RoundArgs { round, format })) => {
            let shown = show::show(&open()?, round)?;
            shell.show(format.format, "review-show", &shown, |style| show::show_text(&shown, style));
        }
        Some(ReviewCommand::Accept(args)) => {
            told(act::act(ctx, &open()?, &args.round, Act::Accept)?, args.format);
        }
        Some(ReviewCommand::Panel(args)) => {
            told(act::act(ctx, &open()?, &args.round, Act::Panel(&args.reason))?, args.format);
        }
        Some(ReviewCommand::Flag(args)) => {
            told(act::act(ctx, &open()?, &args.round, Act::Flag(&args.reason))?, args.format);
        }
        Some(ReviewCommand::Resolve(args)) => told(act::resolve(ctx, &open()?, args)?, args.format),
        Some(ReviewCommand::Ballot(args)) => told(act::ballot(ctx, &open()?, args)?, args.format),
        Some(ReviewCommand::Reveal(args)) => told(act::reveal(ctx, &open()?, &args.round)?, args.format),
        Some(ReviewCommand::Precedents { tag, text, format }) => {
            let found = rounds::precedents(&open()?, tag.as_deref(), text)?;
            shell.show_all(format.format, "review-precedent", &found, |_| rounds::precedents_text(&found));
        }
        Some(ReviewCommand::Concerns(format)) => {
            let found = rounds::concerns(&open()?)?;
            shell.show_all(format.format, "review-concern", &found, |_| rounds::concerns_text(&found));
        }
        Some(ReviewCommand::Status { witness, ledger, format }) => {
            let scope = if *ledger { StatusScope::Ledger } else { StatusScope::Witnesses };
            status(shell, &open()?, witness.as_deref(), scope, format.format)?;
        }
        Some(ReviewCommand::Simulate(args)) => simulate(shell, args)?,
    }
    Ok(Exit::Allowed)
}

fn list(shell: &Shell, ws: &Workspace, format: Format) -> Result<()> {
    let found = asking::waiting(ws)?;
    shell.tell(found.warning().as_slice());
    shell.show_all(format, "review-waiting", &found.rounds, |style| {
        rounds::waiting_text(&found.rounds, style)
    });
    Ok(())
}

/// The scope of `andon review status` for programs.
#[derive(Clone, Copy)]
enum StatusScope {
    Witnesses,
    Ledger,
}

/// The standing of witnesses, or of the whole ledger.
fn status(
    shell: &Shell,
    ws: &Workspace,
    witness: Option<&str>,
    scope: StatusScope,
    format: Format,
) -> Result<()> {
    // The person at the keyboard is known by their key. Private figures are for them: not in a list that programs pass on.
    let is_for_them = witness.is_some() || format == Format::Text;
    let signer = asking::signer(&shell.ctx, ws).ok().filter(|_| is_for_them);
    let reader = signer.map(|signer| signer.public().to_string());
    let found = standing::standing(ws, witness, reader.as_deref())?;
    shell.out.result(&match (format, scope) {
        (Format::Text, _) => standing::standing_text(&found, shell.out.out),
        (Format::Json, StatusScope::Ledger) => found.ledger.iter().map(json::line).collect(),
        (Format::Json, StatusScope::Witnesses) => json::documents("review-status", &found.witnesses),
    });
    Ok(())
}

/// Folds a file. Invalid entries are part of the answer.
fn simulate(shell: &Shell, args: &SimulateArgs) -> Result<()> {
    let name = args.file.to_string_lossy();
    let bytes = read_bytes(&shell.ctx, &args.file, MAX_ENTRIES).map_err(|why| {
        OpsError::usage(
            format!("{name} cannot be read: {why}"),
            "give a file of entries, one JSON object a line, or `-` for standard input",
        )
    })?;
    let script = simulation::read(&bytes).map_err(|bad| {
        OpsError::usage(format!("{name}, {bad}"), "docs/review.md has the form of an entry")
    })?;
    let found = simulation::simulate(&script, args.now.0, args.reader.as_deref());
    shell.out.result(&match args.format.format {
        Format::Text => standing::summary(&found, shell.out.out),
        Format::Json => json::line(&found),
    });
    Ok(())
}
