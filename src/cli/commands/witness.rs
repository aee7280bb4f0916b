//! `andon witness`, `andon ledger`.

use crate::cli::Shell;
use crate::cli::args::{LedgerCommand, WitnessCommand};
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::domain::diagnostic::Diagnostic;
use crate::domain::findings::Level;
use crate::engine::error::OpsError;
use crate::engine::witnessing::short;
use crate::engine::workspace::Workspace;
use crate::ops::ledger as verify;
use crate::ops::witness::{self, ChangeStanding, KeyChange};
use crate::report::json;
use crate::report::message;

/// Does what was asked.
pub fn run(shell: &Shell, command: &WitnessCommand) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let ctx = &shell.ctx;
    match command {
        WitnessCommand::Init { name, no_solo } => {
            let begun = witness::init(ctx, &ws, name, !no_solo)?;
            let print = begun.key.fingerprint();
            shell.out.result(&format!(
                "ledger {}\n{} is its admin and witness, with key {print}\n  help: send it to the others: andon sync\n  \
                 help: so that only a signature ends a halt, in andon.toml:\n        [guard]\n        ack = \"signed\"\n        \
                 ledger = \"{}\"\n",
                begun.ledger, begun.who, begun.ledger
            ));
        }
        WitnessCommand::Add { who, key, role } => {
            tell(shell, "granted", &witness::add(ctx, &ws, who, key, role)?);
        }
        WitnessCommand::Revoke { key, last_good } => {
            tell(shell, "revoked", &witness::revoke(ctx, &ws, key, last_good)?);
        }
        WitnessCommand::List { allowed_signers, format } => {
            let ledger = witness::keys(&ws)?;
            let list = || witness::list_json(&ledger);
            shell.out.result(&match (allowed_signers, format.format) {
                (true, _) => witness::allowed_signers(&ledger),
                (false, Format::Text) => witness::list_text(&list()),
                (false, Format::Json) => json::line(&list()),
            });
        }
        WitnessCommand::Key => {
            let own = witness::own_key(ctx, &ws)?;
            let roles = own.grant.map_or_else(
                || "unknown to the policy here".to_owned(),
                |grant| {
                    let roles: Vec<&str> = grant.roles.iter().map(|role| role.name()).collect();
                    format!("{}: {}", grant.who, roles.join(", "))
                },
            );
            shell.out.result(&format!("{}\n{}\n{roles}\n", own.key, own.key.fingerprint()));
        }
        WitnessCommand::Policy { from: None } => shell.out.result(&witness::next_policy(&ws)?),
        WitnessCommand::Policy { from: Some(file) } => {
            tell(shell, "appended", &witness::policy(ctx, &ws, file)?);
        }
        WitnessCommand::Sign { entry } => tell(shell, "signed", &witness::sign(ctx, &ws, entry)?),
    }
    Ok(Exit::Allowed)
}

fn tell(shell: &Shell, done: &str, changed: &KeyChange) {
    let about = short(changed.about);
    let text = match changed.standing {
        ChangeStanding::InForce => {
            format!("{done}: entry {about} is in force\n  help: send it to the others: andon sync\n")
        }
        ChangeStanding::Waits { signed, threshold } => format!(
            "{done}: entry {about} has {signed} of {threshold} signatures\n  help: another admin: andon sync && andon witness sign {about}\n"
        ),
    };
    shell.out.result(&text);
}

/// Verifies the ledger.
pub fn ledger(shell: &Shell, command: &LedgerCommand) -> Result<Exit, OpsError> {
    let LedgerCommand::Verify(format) = command;
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let found = verify::verify(&ws)?;
    match format.format {
        Format::Json => shell.out.result(&json::line(&verify::json(&found))),
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
            let (entries, signed) = (found.entries, found.signed);
            shell.out.result(&format!("{entries} entries, {signed} signed, {wrong} wrong\n"));
        }
    }
    Ok(if found.wrong() == 0 { Exit::Allowed } else { Exit::Refused })
}
