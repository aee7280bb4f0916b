//! `andon witness`, `andon ledger`.

mod policy;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use self::policy::{GrantedKey, KeyChange, KeyList, NewLedger, OwnKey, Solo};
use crate::cli::{Exit, Format, FormatArg, Shell};
use andon_core::domain::{Diagnostic, EntryId, Hint, Level, plural::count};
use andon_core::escape;
use andon_engine::asking::{self, LedgerFault, short};
use andon_engine::{Result, Workspace, json};
use andon_review::payload::fields::names;
use andon_store::{Ledger, SignatureState, WholeEntry};

/// `andon witness`
#[derive(Debug, Args)]
pub struct WitnessArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: WitnessCommand,
}

/// `andon witness ...`
#[derive(Debug, Subcommand)]
pub enum WitnessCommand {
    /// Make the first policy: your signing key is its only admin and witness
    Init {
        /// Your name in the ledger, such as human:ann
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
        /// Roles that the key may be used for: admin, witness, flag, agent, forge, ci
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

/// `andon ledger`
#[derive(Debug, Args)]
pub struct LedgerArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: LedgerCommand,
}

/// `andon ledger ...`
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Verify every entry again: signature, role, order, form. Exit code 1 when something is wrong
    Verify(FormatArg),
}

pub fn run(shell: &Shell, args: &WitnessArgs) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    match &args.command {
        WitnessCommand::Init { name, no_solo, format } => {
            let solo = if *no_solo { Solo::Refused } else { Solo::Allowed };
            let begun = policy::init(ctx, &ws, name, solo)?;
            shell.show(format.format, "witness-init", &begun, |_| begun_text(&begun));
        }
        WitnessCommand::Add { who, key, role, format } => {
            tell(shell, "granted", &policy::add(ctx, &ws, who, key, role)?, format.format);
        }
        WitnessCommand::Revoke { key, last_good, format } => {
            tell(shell, "revoked", &policy::revoke(ctx, &ws, key, last_good)?, format.format);
        }
        WitnessCommand::Reinstate { who, format } => {
            tell(shell, "reinstated", &policy::reinstate(ctx, &ws, who)?, format.format);
        }
        WitnessCommand::List { allowed_signers, format } => {
            let ledger = asking::load(&ws)?.with_policy()?;
            let found = policy::list(&ledger);
            if *allowed_signers {
                shell.out.result(&policy::allowed_signers(&ledger));
            } else {
                shell.show(format.format, "witness-list", &found, |_| list_text(&found));
            }
        }
        WitnessCommand::Key(format) => {
            let own = policy::own_key(ctx, &ws)?;
            shell.show(format.format, "witness-key", &own, |_| own_key_text(&own));
        }
        WitnessCommand::Policy { from: None, format } => {
            let next = policy::next_policy(&ws)?;
            let pretty = || serde_json::to_string_pretty(&next).unwrap_or_default() + "\n";
            shell.show(format.format, "policy", &next, |_| pretty());
        }
        WitnessCommand::Policy { from: Some(file), format } => {
            tell(shell, "appended", &policy::append(ctx, &ws, file)?, format.format);
        }
        WitnessCommand::Sign { entry, format } => {
            tell(shell, "signed", &policy::sign(ctx, &ws, entry)?, format.format);
        }
    }
    Ok(Exit::Allowed)
}

fn begun_text(begun: &NewLedger) -> String {
    let print = &begun.fingerprint;
    format!(
        "ledger {}\n{} is its admin and witness, with key {print}\n  help: {}\n  \
         help: so that only a signature ends a halt, in andon.toml:\n        [guard]\n        ack = \"signed\"\n        \
         ledger = \"{}\"\n",
        begun.ledger,
        begun.who,
        Hint::Sync.led("send it to the others"),
        begun.ledger
    )
}

fn own_key_text(own: &OwnKey) -> String {
    let roles = match &own.who {
        Some(who) => format!("{who}: {}", names(&own.roles)),
        None => "unknown to the policy here".to_owned(),
    };
    format!("{}\n{}\n{roles}\n", own.key, own.fingerprint)
}

fn list_text(found: &KeyList) -> String {
    let version = found.version.unwrap_or_default();
    let ledger = found.ledger.map(short).unwrap_or_default();
    let mut text =
        format!("policy {version} of ledger {ledger}, threshold {}\n", found.threshold.unwrap_or(1));
    let mut keys: Vec<&GrantedKey> = found.keys.iter().collect();
    keys.sort_by_key(|key| (&key.who, &key.fingerprint));
    for key in keys {
        let revoked = if key.revoked { "  revoked" } else { "" };
        let who = escape::terminal(&key.who);
        text.push_str(&format!("  {who}  {}  {}{revoked}\n", names(&key.roles), key.fingerprint));
    }
    text
}

fn tell(shell: &Shell, done: &str, changed: &KeyChange, format: Format) {
    let about = short(changed.entry);
    let text = |_| match changed.signed.zip(changed.threshold) {
        None => format!(
            "{done}: entry {about} is in force\n  help: {}\n",
            Hint::Sync.led("send it to the others")
        ),
        Some((signed, threshold)) => format!(
            "{done}: entry {about} has {signed} of {}\n  help: {}\n",
            count(threshold, "signature"),
            Hint::Countersign.with([&about])
        ),
    };
    shell.show(format, "witness-change", changed, text);
}

/// The content of a ledger, and what is wrong with it.
#[derive(Debug, Serialize)]
struct LedgerReport {
    ledger: Option<EntryId>,
    entries: usize,
    /// Entries with a signature that holds.
    signed: usize,
    faults: Vec<LedgerFault>,
}

/// `andon ledger verify`: every entry of every writer again, from the objects alone.
fn verify(ws: &Workspace) -> Result<LedgerReport> {
    let ledger = asking::load(ws)?;
    let is_signed = |entry: &&WholeEntry| matches!(entry.signature, SignatureState::Good { .. });
    let mut faults = asking::faults(&ws.repo, &ledger);
    // A text that is no JSON at all is named already, by its entry.
    if ledger.faulty.is_empty() {
        let (_, misread) = Ledger::open(&ws.repo).read_all()?;
        faults.extend(misread.into_iter().map(|one| {
            let help = one.help.into_iter().next().unwrap_or_default();
            LedgerFault::new(None, &"unreadable", one.message, help)
        }));
    }
    faults.extend(asking::rewound(&ws.repo)?);
    faults.extend(asking::unsigned_answers(ws)?);
    Ok(LedgerReport {
        ledger: ledger.id,
        entries: ledger.entries.len(),
        signed: ledger.entries.iter().filter(is_signed).count(),
        faults,
    })
}

/// `andon ledger verify`
pub fn ledger(shell: &Shell, args: &LedgerArgs) -> Result<Exit> {
    let LedgerCommand::Verify(format) = &args.command;
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let found = verify(&ws)?;
    let wrong = found.faults.iter().filter(|fault| fault.level == Level::Block).count();
    match format.format {
        Format::Json => shell.out.result(&json::document("ledger-verify", &found)),
        Format::Text => {
            let shown = found.faults.iter().map(|fault| {
                let diagnostic = Diagnostic::new(fault.level, fault.message.clone());
                diagnostic.code("witness").help(fault.help.clone())
            });
            shell.tell(&shown.collect::<Vec<_>>());
            let entries = count(found.entries, "entry");
            shell.out.result(&format!("{entries}, {} signed, {wrong} wrong\n", found.signed));
        }
    }
    Ok(if wrong == 0 { Exit::Allowed } else { Exit::Refused })
}
