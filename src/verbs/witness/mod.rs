//! `andon witness`, `andon ledger`.

pub mod args;
pub mod ledger;
pub mod run;

use self::args::{LedgerArgs, LedgerCommand, WitnessArgs, WitnessCommand};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::report::json;
use crate::verbs::witness::ledger as verify;
use crate::verbs::witness::{
    run as witness,
    run::{ChangeStatus, KeyChange, NewLedger, OwnKey},
};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::Level;
use andon_core::domain::plural::count;
use andon_engine::asking::short;
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;
use andon_review::payload::fields::names;

/// Does what was asked.
pub fn run(shell: &Shell, args: &WitnessArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    match &args.command {
        WitnessCommand::Init { name, no_solo, format } => {
            let begun = witness::init(ctx, &ws, name, !no_solo)?;
            shell.out.result(&match format.format {
                Format::Text => begun_text(&begun),
                Format::Json => json::document("witness-init", &witness::begun_json(&begun)),
            });
        }
        WitnessCommand::Add { who, key, role, format } => {
            tell(shell, "granted", &witness::add(ctx, &ws, who, key, role)?, format.format);
        }
        WitnessCommand::Revoke { key, last_good, format } => {
            tell(shell, "revoked", &witness::revoke(ctx, &ws, key, last_good)?, format.format);
        }
        WitnessCommand::Reinstate { who, format } => {
            tell(shell, "reinstated", &witness::reinstate(ctx, &ws, who)?, format.format);
        }
        WitnessCommand::List { allowed_signers, format } => {
            let ledger = witness::keys(&ws)?;
            let list = || witness::list_json(&ledger);
            shell.out.result(&match (allowed_signers, format.format) {
                (true, _) => witness::allowed_signers(&ledger),
                (false, Format::Text) => witness::list_text(&list()),
                (false, Format::Json) => json::document("witness-list", &list()),
            });
        }
        WitnessCommand::Key(format) => {
            let own = witness::own_key(ctx, &ws)?;
            shell.out.result(&match format.format {
                Format::Text => own_key_text(&own),
                Format::Json => json::document("witness-key", &witness::own_key_json(&own)),
            });
        }
        WitnessCommand::Policy { from: None, format } => {
            let next = witness::next_policy(&ws)?;
            shell.out.result(&match format.format {
                Format::Text => serde_json::to_string_pretty(&next).unwrap_or_default() + "\n",
                Format::Json => json::line(&next),
            });
        }
        WitnessCommand::Policy { from: Some(file), format } => {
            tell(shell, "appended", &witness::policy(ctx, &ws, file)?, format.format);
        }
        WitnessCommand::Sign { entry, format } => {
            tell(shell, "signed", &witness::sign(ctx, &ws, entry)?, format.format);
        }
    }
    Ok(Exit::Allowed)
}

fn begun_text(begun: &NewLedger) -> String {
    let print = begun.key.fingerprint();
    format!(
        "ledger {}\n{} is its admin and witness, with key {print}\n  help: send it to the others: andon sync\n  \
         help: so that only a signature ends a halt, in andon.toml:\n        [guard]\n        ack = \"signed\"\n        \
         ledger = \"{}\"\n",
        begun.ledger, begun.who, begun.ledger
    )
}

fn own_key_text(own: &OwnKey) -> String {
    let roles = own.grant.as_ref().map_or_else(
        || "unknown to the policy here".to_owned(),
        |grant| format!("{}: {}", grant.who, names(&grant.roles)),
    );
    format!("{}\n{}\n{roles}\n", own.key, own.key.fingerprint())
}

fn tell(shell: &Shell, done: &str, changed: &KeyChange, format: Format) {
    if format == Format::Json {
        return shell.out.result(&json::document("witness-change", &witness::change_json(changed)));
    }
    let about = short(changed.about);
    let text = match changed.standing {
        ChangeStatus::InForce => {
            format!("{done}: entry {about} is in force\n  help: send it to the others: andon sync\n")
        }
        ChangeStatus::Waits { signed, threshold } => format!(
            "{done}: entry {about} has {signed} of {}\n  help: another admin: andon sync && andon witness sign {about}\n",
            count(threshold, "signature")
        ),
    };
    shell.out.result(&text);
}

/// Verifies the ledger.
pub fn ledger(shell: &Shell, args: &LedgerArgs) -> Result<Exit, OpsError> {
    let LedgerCommand::Verify(format) = &args.command;
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let found = verify::verify(&ws)?;
    match format.format {
        Format::Json => shell.out.result(&json::document("ledger-verify", &found)),
        Format::Text => {
            let shown = found.faults.iter().map(|fault| {
                let diagnostic = if fault.level < Level::Block {
                    Diagnostic::warning(fault.message.clone())
                } else {
                    Diagnostic::error(fault.message.clone())
                };
                diagnostic.code("witness").help(fault.help.clone())
            });
            let shown: Vec<Diagnostic> = shown.collect();
            shell.out.message(&message::diagnostics(&shown, shell.out.err));
            let wrong = found.wrong();
            let entries = count(found.entries, "entry");
            shell.out.result(&format!("{entries}, {} signed, {wrong} wrong\n", found.signed));
        }
    }
    Ok(if found.wrong() == 0 { Exit::Allowed } else { Exit::Refused })
}
