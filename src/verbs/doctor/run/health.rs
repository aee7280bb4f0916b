//! Whether the journal and the ledger can be read, for `andon doctor`.

use super::{Health, LastTests};
use andon_core::domain::plural::count;
use andon_core::domain::response::AckMode;
use andon_core::domain::tests::{RunValidity, TestEvidence};
use andon_engine::asking;
use andon_engine::halts::lost_halts;
use andon_engine::workspace::Workspace;
use andon_store::journal::{Journal, Reach};
use andon_store::ledger::{Entry, Ledger};

fn health(read: usize, what: &str, skipped: &[String], hint: &str) -> Health {
    match skipped.first() {
        None => Health::Fine(format!("{} can be read", count(read, what))),
        Some(first) => Health::Shaky {
            message: format!(
                "{} of {} cannot be read, first: {first}",
                skipped.len(),
                count(read + skipped.len(), what)
            ),
            hint: Some(hint.to_owned()),
        },
    }
}

/// The newest part of the journal.
pub fn journal(ws: &Workspace) -> Health {
    let journal = Journal::open(ws.repo.git_dir());
    let (lines, skipped) = journal.read_tail();
    let skipped: Vec<String> = skipped.iter().map(ToString::to_string).collect();
    let hint = format!(
        "the lost part cannot be brought back; to end this warning, move the file away: {}",
        journal.path().display()
    );
    health(lines.len(), "journal line", &skipped, &hint)
}

/// How the newest run of the tests could be read.
pub fn last_run(ws: &Workspace) -> LastTests {
    let reach = Reach { runs: 1, commits: 0, turns: 0, since: None };
    let recent = Journal::open(ws.repo.git_dir()).recent(reach);
    let Some(run) = recent.runs.last() else { return LastTests::Read };
    let exit_only = ws.config.test.format.is_some_and(|format| format.name() == TestEvidence::BY_EXIT_CODE);
    match (run.validity, &run.evidence.not_started) {
        (RunValidity::NotStarted, said) => {
            LastTests::NotStarted(said.clone().unwrap_or_else(|| run.evidence.command.clone()))
        }
        (RunValidity::Valid, _) if run.evidence.is_by_exit_code() && !exit_only => LastTests::ByExitCode,
        _ => LastTests::Read,
    }
}

/// A halt that left traces and is no more in the ledger.
fn gap(ws: &Workspace, entries: &[Entry]) -> Option<Health> {
    let head = ws.repo.head().ok()?.commit();
    let found = lost_halts::standing(ws, head).ok()??;
    let gone = !entries.iter().any(|entry| entry.id == found.id);
    let hint = "andon sync, where a remote has the ledger; else a person looks and answers: andon resume --reason '<decision>'";
    gone.then(|| Health::Broken { message: found.halt.message, hint: Some(hint.to_owned()) })
}

/// The whole ledger.
pub fn ledger(ws: &Workspace) -> Health {
    match Ledger::open(&ws.repo).read_all() {
        Ok((entries, skipped)) => {
            if let Some(gap) = gap(ws, &entries) {
                return gap;
            }
            let skipped: Vec<String> = skipped.iter().map(ToString::to_string).collect();
            health(entries.len(), "ledger entry", &skipped, "git for-each-ref refs/andon/ledger")
        }
        Err(err) => Health::Broken { message: err.to_string(), hint: err.help() },
    }
}

/// What ends a halt here, and who could do it all the same.
pub fn answers(ws: &Workspace) -> Health {
    match ws.config.guard.ack {
        AckMode::Delete => Health::Shaky {
            message: "guard.ack = \"delete\": an agent that deletes the report file answers its own halt, where nothing shows \
                      that it was the agent"
                .to_owned(),
            hint: Some(
                "in andon.toml under [guard]: ack = \"resume\"; to ask for signatures: andon witness init --name human:ID"
                    .to_owned(),
            ),
        },
        AckMode::Resume => Health::Fine(
            "guard.ack = \"resume\": anyone who can run andon resume ends a halt; in the shell of an agent it refuses as far as \
             that can be seen"
                .to_owned(),
        ),
        AckMode::Signed => signed(ws),
    }
}

fn signed(ws: &Workspace) -> Health {
    let broken = |message: String, hint: &str| Health::Broken { message, hint: Some(hint.to_owned()) };
    let ledger = match asking::load(ws) {
        Ok(ledger) => ledger,
        Err(err) => return broken(err.to_string(), "andon ledger verify"),
    };
    let policy = &ledger.folded.authority.at_end;
    if ledger.policy().is_none() {
        let id = ws.config.guard.ledger.map(asking::short).unwrap_or_default();
        return broken(
            format!("guard.ack = \"signed\", and ledger {id} is not here: no halt can end"),
            "andon sync",
        );
    }
    let witnesses: Vec<&str> = policy.witnesses.iter().map(String::as_str).collect();
    if witnesses.is_empty() {
        return broken(
            "guard.ack = \"signed\", and the policy names no witness".to_owned(),
            "andon witness add human:ID --key FILE",
        );
    }
    let open = if policy.rules.require_touch {
        "a security key must be touched"
    } else {
        "anyone who can use a witness's key signs, such as by an unlocked ssh agent (rules.require_touch asks for a touch)"
    };
    Health::Fine(format!("guard.ack = \"signed\": only {} end a halt; {open}", witnesses.join(", ")))
}
